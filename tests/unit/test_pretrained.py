"""Models of others in this book's layers, against ``transformers`` on small ones."""

import json
import shutil

import gguf
import numpy as np
import pytest
import safetensors.torch
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers.models.llama import modeling_llama

from helpers.models import pretrained
from helpers.models.encoder import TransformerEncoder
from helpers.models.generation import generate
from helpers.models.pretrained.reading import read_gguf

VOCAB = 50
IDS = torch.randint(VOCAB, (2, 11), generator=torch.Generator().manual_seed(0))


def llama(**options):
    return transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            **{
                "vocab_size": VOCAB,
                "hidden_size": 32,
                "intermediate_size": 40,
                "num_hidden_layers": 3,
                "num_attention_heads": 4,
                "num_key_value_heads": 2,
                "max_position_embeddings": 24,
                "rope_parameters": {"rope_theta": 500.0, "rope_type": "default"},
                "initializer_range": 0.3,
                "tie_word_embeddings": True,
            }
            | options
        )
    )


def gpt2(**options):
    sizes = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 24}
    options = sizes | options
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(vocab_size=VOCAB, initializer_range=0.3, **options)
    )


def bert(**options):
    return transformers.BertModel(
        transformers.BertConfig(
            vocab_size=VOCAB,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=40,
            max_position_embeddings=24,
            initializer_range=0.3,
            **options,
        )
    )


def randomised(model):
    """Norms and biases, too, have numbers that show where they belong."""
    with torch.no_grad():
        for one in model.parameters():
            if one.ndim == 1:
                one.add_(torch.randn_like(one) * 0.3)
    return model.eval()


def saved(model, folder):
    model.save_pretrained(folder)
    words = {f"[{name}]": i for i, name in enumerate(("CLS", "SEP", "UNK"))}
    words |= {f"w{i}": i for i in range(3, VOCAB)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture(scope="module", params=[llama, gpt2, bert])
def pair(request, tmp_path_factory):
    """A model of theirs, and the folder it is saved in."""
    torch.manual_seed(1)
    theirs = randomised(request.param())
    return theirs, saved(theirs, tmp_path_factory.mktemp("model"))


@pytest.fixture
def folder(tmp_path):
    torch.manual_seed(1)
    return saved(llama(), tmp_path)


def results(model, ids):
    found = model(ids)
    return found.logits if hasattr(found, "logits") else found.last_hidden_state


def rewrite(folder, **settings):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


def test_the_same_weights_compute_the_same(pair):
    theirs, folder = pair
    real = pretrained.load(folder)
    with torch.no_grad():
        torch.testing.assert_close(
            real.model(IDS), results(theirs, IDS), rtol=0, atol=1e-4
        )
    pooler = {"pooler.dense.weight", "pooler.dense.bias"}
    encodes = isinstance(real.model, TransformerEncoder)
    assert set(real.unused) == (pooler if encodes else set())


def test_in_float64_they_agree_to_rounding(pair, monkeypatch):
    theirs, folder = pair
    real = pretrained.load(folder, dtype=torch.float64)
    theirs = type(theirs).from_pretrained(folder, dtype=torch.float64).eval()
    if isinstance(theirs, transformers.LlamaForCausalLM):
        without_casts(theirs, monkeypatch)
    with torch.no_grad():
        torch.testing.assert_close(
            real.model(IDS), results(theirs, IDS), rtol=0, atol=1e-10
        )


def without_casts(model, monkeypatch):
    """Their Llama computes norms, angles and softmax in float32: no more."""

    def norm(self, x):
        variance = x.pow(2).mean(-1, keepdim=True)
        return self.weight * x * torch.rsqrt(variance + self.variance_epsilon)

    def rotary(self, x, position_ids):
        base = model.config.rope_parameters["rope_theta"]
        D = model.config.hidden_size // model.config.num_attention_heads
        pairs = torch.arange(0, D, 2, dtype=torch.float64)
        angles = position_ids[..., None].double() * base ** (-pairs / D)
        both = torch.cat([angles, angles], dim=-1)
        return both.cos(), both.sin()

    monkeypatch.setattr(modeling_llama.LlamaRMSNorm, "forward", norm)
    monkeypatch.setattr(modeling_llama.LlamaRotaryEmbedding, "forward", rotary)
    model.set_attn_implementation("sdpa")


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (llama, {"rms_norm_eps": 0.3}),
        (gpt2, {"layer_norm_epsilon": 0.3}),
        (gpt2, {"n_inner": 24}),
        (bert, {"layer_norm_eps": 0.3}),
    ],
)
def test_settings_that_these_layers_have(tmp_path, make, options):
    torch.manual_seed(4)
    theirs = randomised(make(**options))
    with torch.no_grad():
        found = pretrained.load(saved(theirs, tmp_path)).model(IDS)
        torch.testing.assert_close(found, results(theirs, IDS), rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    "settings",
    [{"rope_theta": 500.0}, {"rope_scaling": {"type": "default", "rope_theta": 500.0}}],
)
def test_a_rotation_as_older_files_write_it(folder, settings):
    expected = pretrained.load(folder).model(IDS)
    rewrite(folder, rope_parameters=None, **settings)
    torch.testing.assert_close(pretrained.load(folder).model(IDS), expected)


def test_keys_of_their_own_for_each_head_need_no_setting(tmp_path):
    folder = saved(llama(num_key_value_heads=4), tmp_path)
    expected = pretrained.load(folder).model(IDS)
    rewrite(folder, num_key_value_heads=None)
    torch.testing.assert_close(pretrained.load(folder).model(IDS), expected)


def test_a_llama_with_a_table_of_its_own_at_the_end(tmp_path):
    torch.manual_seed(2)
    theirs = randomised(llama(tie_word_embeddings=False))
    real = pretrained.load(saved(theirs, tmp_path))
    assert real.model.head is not None
    with torch.no_grad():
        torch.testing.assert_close(real.model(IDS), theirs(IDS).logits)


def test_weights_in_several_files(tmp_path):
    torch.manual_seed(3)
    theirs = randomised(llama())
    theirs.save_pretrained(tmp_path / "parts", max_shard_size="20KB")
    folder = saved(theirs, tmp_path)
    (folder / "model.safetensors").unlink()
    for part in (tmp_path / "parts").glob("model*"):
        shutil.copy(part, folder)
    with torch.no_grad():
        torch.testing.assert_close(
            pretrained.load(folder).model(IDS), theirs(IDS).logits
        )


def rename_tensors(folder, name):
    path = folder / "model.safetensors"
    tensors = safetensors.torch.load_file(path)
    safetensors.torch.save_file({name(one): tensors[one] for one in tensors}, path)


def with_old_norms(name):
    name = name.replace("LayerNorm.weight", "LayerNorm.gamma")
    return "bert." + name.replace("LayerNorm.bias", "LayerNorm.beta")


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (llama, lambda one: one.removeprefix("model.")),
        (gpt2, lambda one: one.removeprefix("transformer.")),
        (bert, with_old_norms),
    ],
)
def test_the_names_of_other_files(tmp_path, make, name):
    theirs = randomised(make())
    rename_tensors(saved(theirs, tmp_path), name)
    with torch.no_grad():
        found = pretrained.load(tmp_path).model(IDS)
        torch.testing.assert_close(found, results(theirs, IDS), rtol=0, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_narrow_weights(pair, dtype):
    theirs, folder = pair
    real = pretrained.load(folder, dtype=dtype)
    with torch.no_grad():
        found, exact = real.model(IDS), results(theirs, IDS)
    assert found.dtype == dtype
    error = (found.float() - exact).square().mean() / exact.square().mean()
    assert error < (3e-3 if dtype == torch.bfloat16 else 1e-4)


def test_what_is_written_ends_at_a_stop_token(folder):
    model = pretrained.load(folder).model
    whole = generate(model, IDS[:1, :4], 8, temperature=0)
    third = whole[0, 6].item()
    first = whole[0, 4:].tolist().index(third)
    ended = generate(model, IDS[:1, :4], 8, temperature=0, stop_ids=(third,))
    assert torch.equal(ended, whole[:, : 5 + first])
    with pytest.raises(ValueError, match=r"stop_ids must lie in 0 to .* 49, got 50"):
        generate(model, IDS, 1, stop_ids=(50,))


def test_the_model_only_computes_and_lies_where_it_was_asked_for(folder):
    real = pretrained.load(folder, device="meta")
    assert not real.model.training
    assert {one.device.type for one in real.model.state_dict().values()} == {"meta"}


def test_a_shorter_context(pair):
    theirs, folder = pair
    model = pretrained.load(folder, context_length=11).model
    with torch.no_grad():
        torch.testing.assert_close(model(IDS), results(theirs, IDS), rtol=0, atol=1e-4)
    with pytest.raises(ValueError, match="more than context_length 11"):
        model(torch.zeros(1, 12, dtype=torch.int64))
    with pytest.raises(ValueError, match="context_length must be at most 24"):
        pretrained.load(folder, context_length=25)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model_type": "qwen3"}, "got 'qwen3': queries and keys have a norm there"),
        ({"model_type": "mamba"}, "got 'mamba': it would need a table"),
        ({"attention_bias": True}, "attention_bias must be False, got True"),
        ({"head_dim": 16}, "head_dim must be 8 or None, got 16"),
        ({"rope_parameters": {"rope_type": "llama3"}}, "'default', got 'llama3'"),
        ({"hidden_act": "gelu"}, "hidden_act must be 'silu', got 'gelu'"),
        ({"intermediate_size": 41}, r"mlp.gate.weight must have shape \(41, 32\)"),
        ({"num_hidden_layers": 4}, "lacks the tensor model.layers.3.input_layernorm"),
        ({"vocab_size": 49}, r"token_embedding.weight must have shape \(49, 32\)"),
        ({"num_hidden_layers": 2}, r"got the tensor model\.layers\.2\.input_layernorm"),
        ({"sliding_window": 4}, "sliding_window must be None, got 4"),
        ({"rope_scaling": {"rope_type": "linear", "factor": 2}}, "got 'linear'"),
        ({"rope_scaling": {"type": "dynamic", "factor": 2}}, "got 'dynamic'"),
        ({"rope_parameters": {"partial_rotary_factor": 0.5}}, "be 1.0, got 0.5"),
        ({"rope_parameters": "linear"}, "must be objects, got 'linear'"),
        ({"rope_scaling": [2]}, r"must be objects, got \[2\]"),
        ({"hidden_size": None}, "hidden_size must be an integer .* got None"),
        ({"hidden_size": "32"}, "hidden_size must be an integer .* got '32'"),
        ({"hidden_size": []}, r"hidden_size must be an integer .* got \[\]"),
        ({"num_attention_heads": 0}, "num_attention_heads must be an integer .* got 0"),
        ({"quantization_config": {}}, "quantization_config must be None, got {}"),
    ],
)
def test_settings_that_these_layers_do_not_have(folder, settings, message):
    rewrite(folder, **settings)
    with pytest.raises(ValueError, match=message) as caught:
        pretrained.load(folder)
    assert str(folder) in str(caught.value)


@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (gpt2, {"activation_function": "relu"}),
        (gpt2, {"scale_attn_weights": False}),
        (gpt2, {"scale_attn_by_inverse_layer_idx": True}),
        (gpt2, {"add_cross_attention": True}),
        (gpt2, {"tie_word_embeddings": False}),
        (bert, {"hidden_act": "relu"}),
        (bert, {"position_embedding_type": "relative_key"}),
        (bert, {"is_decoder": True}),
        (bert, {"add_cross_attention": True}),
        (bert, {"quantization_config": {"load_in_8bit": True}}),
    ],
)
def test_settings_that_gpt2_and_bert_do_not_have_here(tmp_path, make, settings):
    rewrite(saved(make(), tmp_path), **settings)
    (name,) = settings
    with pytest.raises(ValueError, match=f"{name} must be .* the layers of this book"):
        pretrained.load(tmp_path)


def add_tensors(folder, **tensors):
    path = folder / "model.safetensors"
    safetensors.torch.save_file(safetensors.torch.load_file(path) | tensors, path)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (llama, "model.layers.1.self_attn.q_proj.bias"),
        (llama, "model.layers.0.self_attn.q_proj.weight_scale_inv"),
        (gpt2, "transformer.h.1.attn.c_attn.SCB"),
        (bert, "encoder.layer.1.attention.self.distance_embedding.weight"),
    ],
)
def test_a_block_with_a_tensor_that_its_layers_do_not_use(tmp_path, make, name):
    add_tensors(saved(make(), tmp_path), **{name: torch.ones(96)})
    with pytest.raises(ValueError, match=r"hold nothing in a block .* got the tensor"):
        pretrained.load(tmp_path)


def test_weights_that_are_whole_numbers(folder):
    name = "model.layers.1.mlp.up_proj.weight"
    add_tensors(folder, **{name: torch.ones(40, 32, dtype=torch.int8)})
    with pytest.raises(ValueError, match=rf"{name} must be floating .* got torch.int8"):
        pretrained.load(folder)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (llama, "model.layers.0.self_attn.rotary_emb.inv_freq"),
        (llama, "lm_head.weight"),
        (gpt2, "transformer.h.0.attn.bias"),
        (gpt2, "transformer.h.1.attn.masked_bias"),
        (bert, "embeddings.position_ids"),
    ],
)
def test_what_older_files_hold_twice_is_neither_refused_nor_told(tmp_path, make, name):
    folder = saved(make(), tmp_path)
    before = pretrained.load(folder).unused
    add_tensors(folder, **{name: torch.ones(4)})
    assert pretrained.load(folder).unused == before


def test_a_missing_setting(folder):
    path = folder / "config.json"
    settings = json.loads(path.read_text())
    del settings["hidden_size"]
    path.write_text(json.dumps(settings))
    with pytest.raises(ValueError, match=r"config\.json lacks hidden_size"):
        pretrained.load(folder)


def test_damaged_files(folder):
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(ValueError, match="must be a whole safetensors file"):
        pretrained.load(folder)
    (folder / "config.json").write_text("{")
    with pytest.raises(ValueError, match=r"config.json is broken: it isn't JSON"):
        pretrained.load(folder)


@pytest.mark.parametrize(
    "index",
    [
        {},
        {"weight_map": None},
        {"weight_map": ["a.safetensors"]},
        {"weight_map": {"a": 3}},
        {"weight_map": {"a": ""}},
        {"weight_map": {"a": "../other/model.safetensors"}},
    ],
)
def test_an_index_names_files_beside_it(tmp_path, index):
    for name in ("model", "other"):
        (tmp_path / name).mkdir()
        saved(llama(), tmp_path / name)
    (tmp_path / "model" / "model.safetensors").unlink()
    path = tmp_path / "model" / "model.safetensors.index.json"
    path.write_text(json.dumps(index))
    with pytest.raises(ValueError, match=r"index.json is broken: weight_map must give"):
        pretrained.load(tmp_path / "model")


def test_pickled_weights_are_never_opened(folder):
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n")
    with pytest.raises(ValueError, match="holds pickled weights, which can run code"):
        pretrained.load(folder)


def test_a_tokenizer_of_another_model(folder):
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text())
    content["model"]["vocab"]["more"] = VOCAB
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="at most 50 tokens, got 51"):
        pretrained.load(folder)
    path.write_text("{}")
    with pytest.raises(ValueError, match=r"tokenizer.json is broken"):
        pretrained.load(folder)
    path.write_bytes(b"\xff")
    with pytest.raises(ValueError, match=r"tokenizer.json is broken"):
        pretrained.load(folder)


GGUF = {
    "block_count": 1,
    "context_length": 8,
    "embedding_length": 4,
    "feed_forward_length": 4,
    "attention.head_count": 2,
    "attention.head_count_kv": 2,
    "rope.dimension_count": 2,
}


def write_gguf(path, kind="llama", **settings):
    writer = gguf.GGUFWriter(path, kind)
    writer.add_string("tokenizer.ggml.pre", "smollm")
    for name, value in (GGUF | settings).items():
        writer.add_uint32(f"{kind}.{name}", value)
    writer.add_tensor("token_embd.weight", np.ones((3, 4), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_a_gguf_of_another_kind(tmp_path):
    with pytest.raises(ValueError, match=r"must hold a Llama .* got 'gpt2' with"):
        read_gguf(write_gguf(tmp_path / "x.gguf", "gpt2"))


def test_a_gguf_without_a_setting(tmp_path):
    with pytest.raises(ValueError, match=r"x.gguf must hold the setting 'attention"):
        read_gguf(write_gguf(tmp_path / "x.gguf"))


def test_names_that_are_nowhere(tmp_path):
    with pytest.raises(ValueError, match=r"'smollm2-135m', 'minilm'\] or a folder"):
        pretrained.load("gpt5")
    with pytest.raises(ValueError, match="name must be a string or a path, got 3"):
        pretrained.load(3)
    with pytest.raises(FileNotFoundError, match=r"config\.json"):
        pretrained.load(tmp_path)
    for nowhere in ("", "~nobody99/x"):
        with pytest.raises(ValueError, match=f"or a folder, got '{nowhere}'"):
            pretrained.load(nowhere)
    for device in ("gpu", [], "cuda:99", torch.device("cuda", 99)):
        with pytest.raises(ValueError, match="device must be one that PyTorch has"):
            pretrained.load(tmp_path, device=device)
    with pytest.raises(ValueError, match="dtype must be a floating point one"):
        pretrained.load(tmp_path, dtype=torch.int8)


def test_nothing_is_shared_with_the_file(folder):
    model = pretrained.load(folder).model
    before = model(IDS).detach()
    path = folder / "model.safetensors"
    with open(path, "r+b") as file:  # the same file, not another of its name
        file.write(bytes(path.stat().st_size))
    torch.testing.assert_close(model(IDS).detach(), before, rtol=0, atol=0)
