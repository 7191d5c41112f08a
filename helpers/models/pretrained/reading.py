"""A model's files as tensors, settings and a tokenizer; no code in them is run.

Settings are those of a ``config.json``, whatever the file: a GGUF's own names are
translated into those of the hub.
"""

import json
import pathlib
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import gguf
import numpy as np
import tokenizers
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from helpers.models.positions import halves_from_pairs
from helpers.models.pretrained.architectures import LLAMA, LLAMA_BLOCK
from helpers.text.subwords import SubwordTokenizer

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
CONTROL = 3  # GGUF's mark of a special token


class Contents(NamedTuple):
    """What the files of a model hold.

    Attributes:
        settings: a ``config.json``.
        tensors: from each tensor's name to its numbers, as the file has them.
        tokenizer: a SubwordTokenizer.
    """

    settings: Mapping[str, Any]
    tensors: Mapping[str, Tensor]
    tokenizer: SubwordTokenizer


def read_folder(folder: pathlib.Path) -> Contents:
    """Read ``config.json``, safetensors and tokenizer, as the hub has them.

    Args:
        folder: where they are.

    Returns:
        contents: a Contents.

    Raises:
        OSError: a folder or a file that isn't there or can't be read.
        ValueError: a file that is cut off or something else; weights that are pickled.
    """
    settings = _read_json(folder / "config.json")
    return Contents(settings, _read_weights(folder), _read_tokenizer(folder))


class _Reader(gguf.GGUFReader):  # type: ignore[misc, unused-ignore]
    """Its vocabulary is 100,000 slices, each of which NumPy's memmap makes slowly."""

    def _get(self, *arguments: Any, **options: Any) -> Any:
        # The same memory, and no copy.
        self.data = np.asarray(self.data)  # type: ignore[assignment, unused-ignore]
        return super()._get(*arguments, **options)


def open_gguf(path: pathlib.Path) -> gguf.GGUFReader:
    """Open a GGUF file, in less than half of the time that ``GGUFReader`` takes.

    Args:
        path: the file.

    Returns:
        reader: a ``gguf.GGUFReader``, with "fields" and "tensors" as the file has them.

    Raises:
        OSError: a file that isn't there or can't be read.
        ValueError: a file that is something else.
    """
    return _Reader(path)


def read_gguf(path: pathlib.Path) -> Contents:
    """Read a Llama from a GGUF file, its numbers as float32.

    Args:
        path: the file.

    Returns:
        contents: a Contents, with the names and the order of features that Llama has
            on the hub.

    Raises:
        OSError: a file that isn't there or can't be read.
        ValueError: a file that is cut off, something else, or of another architecture.
    """
    try:
        reader = open_gguf(path)
        fields = {name: field.contents() for name, field in reader.fields.items()}
        found = {one.name: _numbers(one) for one in reader.tensors}
    except OSError:
        raise
    except Exception as error:  # the library raises whatever it stumbles over
        raise ValueError(
            f"{path} must be a whole GGUF file, but it is something else or cut off: "
            f"{error}"
        ) from error
    kind = fields.get("general.architecture")
    if kind != "llama" or fields.get("tokenizer.ggml.pre") != "smollm":
        raise ValueError(
            f"{path} must hold a Llama with SmolLM's tokenizer, got {kind!r} with "
            f"{fields.get('tokenizer.ggml.pre')!r}"
        )
    try:
        return _llama_contents(fields, found)
    except KeyError as error:
        raise ValueError(f"{path} must hold the setting {error}") from error


def _llama_contents(fields: Mapping[str, Any], found: Mapping[str, Tensor]) -> Contents:
    settings = _llama_settings(fields, found)
    tokens, kinds = fields["tokenizer.ggml.tokens"], fields["tokenizer.ggml.token_type"]
    tokenizer = SubwordTokenizer.from_merges(
        tokens,
        (tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"]),
        special=(
            token for token, one in zip(tokens, kinds, strict=True) if one == CONTROL
        ),
        split_digits=True,
    )
    return Contents(settings, _llama_tensors(found, settings), tokenizer)


def _numbers(tensor: Any) -> Tensor:
    # The library gives read-only memory where nothing has to be computed.
    numbers = gguf.dequantize(tensor.data, tensor.tensor_type)
    return torch.from_numpy(numbers.copy() if not numbers.flags.writeable else numbers)


def _llama_settings(
    fields: Mapping[str, Any], found: Mapping[str, Tensor]
) -> dict[str, Any]:
    own = {name.removeprefix("llama."): value for name, value in fields.items()}
    return {
        "model_type": "llama",
        "hidden_act": "silu",
        "vocab_size": len(found["token_embd.weight"]),
        "max_position_embeddings": own["context_length"],
        "hidden_size": own["embedding_length"],
        "num_attention_heads": own["attention.head_count"],
        "num_key_value_heads": own["attention.head_count_kv"],
        "num_hidden_layers": own["block_count"],
        "intermediate_size": own["feed_forward_length"],
        "rms_norm_eps": own["attention.layer_norm_rms_epsilon"],
        "rope_theta": own["rope.freq_base"],
        "head_dim": own["rope.dimension_count"],
        "tie_word_embeddings": "output.weight" not in found,
    }


GGUF_NAMES = {
    "token_embedding.weight": "token_embd.weight",
    "final_norm.weight": "output_norm.weight",
    "head.weight": "output.weight",
}
GGUF_BLOCK = {
    "attention_norm": "attn_norm",
    "attention.W_query": "attn_q",
    "attention.W_key": "attn_k",
    "attention.W_value": "attn_v",
    "attention.out_proj": "attn_output",
    "mlp_norm": "ffn_norm",
    "mlp.gate": "ffn_gate",
    "mlp.up": "ffn_up",
    "mlp.down": "ffn_down",
}


def _llama_tensors(
    found: Mapping[str, Tensor], settings: Mapping[str, Any]
) -> dict[str, Tensor]:
    """Under the hub's names, and with its pairs of features."""
    theirs = {f"{of}.weight": f"{name}.weight" for of, name in GGUF_BLOCK.items()}
    outer = {**LLAMA, "head.weight": "lm_head.weight"}
    names = {GGUF_NAMES[of]: hub for of, hub in outer.items() if of != "blocks"}
    for i in range(settings["num_hidden_layers"]):
        prefix = LLAMA["blocks"].format(i)
        for ours, hub in LLAMA_BLOCK.items():
            names[f"blk.{i}.{theirs[ours]}"] = f"{prefix}.{hub}"
    tensors = {names.get(name, name): one for name, one in found.items()}
    for name, one in tensors.items():
        for part, heads in (("q", "attention"), ("k", "key_value")):
            if name.endswith(f"{part}_proj.weight"):
                tensors[name] = halves_from_pairs(one, settings[f"num_{heads}_heads"])
    return tensors


def _read_json(path: pathlib.Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is broken: it isn't JSON ({error})") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} is broken: it must hold an object")
    return content


def _read_index(path: pathlib.Path) -> list[str]:
    """The names of the files that hold the weights, all of them beside the index."""
    table = _read_json(path).get("weight_map")
    parts: list[Any] = list(table.values()) if isinstance(table, dict) else [table]
    for part in parts:
        plain = isinstance(part, str) and pathlib.Path(part).name == part
        if not plain or not part.endswith(".safetensors"):
            raise ValueError(
                f"{path} is broken: weight_map must give each tensor the name of a "
                f"safetensors file beside it, got {part!r}"
            )
    return sorted(set(parts))


def _read_weights(folder: pathlib.Path) -> dict[str, Tensor]:
    parts = [WEIGHTS]
    if not (folder / WEIGHTS).is_file() and (folder / INDEX).is_file():
        parts = _read_index(folder / INDEX)
    tensors: dict[str, Tensor] = {}
    for part in parts:
        path = folder / part
        if not path.is_file() and list(folder.glob("*.bin")):
            raise ValueError(
                f"{folder} holds pickled weights, which can run code when they are "
                f"read; it must hold {WEIGHTS}"
            )
        try:
            with safe_open(path, "pt", device="cpu") as file:
                for name in file.keys():  # noqa: SIM118
                    # Copies: what the file gives changes with the file.
                    tensors[name] = file.get_tensor(name).clone()
        except SafetensorError as error:
            raise ValueError(
                f"{path} must be a whole safetensors file, but it is something else or "
                f"cut off: {error}"
            ) from error
    return tensors


def _read_tokenizer(folder: pathlib.Path) -> SubwordTokenizer:
    path = folder / "tokenizer.json"
    content = path.read_bytes()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            inner = tokenizers.Tokenizer.from_buffer(content)
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(f"{path} is broken: {error}") from error
    return SubwordTokenizer(inner)
