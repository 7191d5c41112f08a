"""helpers.models.model_file: a model comes back as it was, and a bad file is named."""

import json
import os
import pathlib

import pytest
import safetensors.torch
import torch

from helpers.models.language_model import CharLanguageModel
from helpers.models.model_file import FORMAT, load_model, save_model
from helpers.text.tokenizer import CharTokenizer
from tests.samples.models import ids, model

TOKENIZER = CharTokenizer('\n"\\aé🐚 bcde')  # what JSON must escape, and UTF-8
CONFIGS = {
    "of the page": {},
    "rotary": {"positions": "rotary", "norm": "rms", "activation": "squared_relu"},
    "tied, in groups": {"tie_weights": True, "num_kv_heads": 2, "qkv_bias": True},
    "one-minute's": {"pair_embedding": True, "embedding_skip": True, "zero_init": True},
    "alibi": {"positions": "alibi", "norm": "none", "activation": "swiglu"},
    "Llama's": {
        **{"positions": "rotary", "rotary_base": 500.0, "norm": "rms", "bias": False},
        **{"activation": "swiglu", "mlp_hidden": 7, "norm_eps": 0.01},
    },
    "without MLP": {"positions": "none", "mlp": False, "dropout": 0.1, "qk_norm": True},
}


@pytest.fixture(autouse=True)
def _on_one_thread(one_thread):
    """The models are tiny."""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.fixture
def saved(path):
    """A model's file."""
    save_model(path, model(), TOKENIZER)
    return path


@pytest.mark.parametrize("name", CONFIGS)
def test_a_model_comes_back_with_its_logits(path, name):
    ours = model(**CONFIGS[name])
    save_model(path, ours.train(), TOKENIZER)
    assert ours.training
    random = torch.get_rng_state()
    theirs, tokenizer = load_model(str(path))
    assert torch.equal(torch.get_rng_state(), random)
    assert (theirs.config, theirs.training) == (ours.config, False)
    assert tokenizer.alphabet == TOKENIZER.alphabet
    assert tokenizer.start_character == "\n"
    tensors = [*theirs.parameters(), *theirs.buffers()]
    assert {tensor.device.type for tensor in tensors} == {"cpu"}
    assert all(parameter.requires_grad for parameter in theirs.parameters())
    with torch.no_grad():
        assert torch.equal(theirs(ids(2, 12)), ours.eval()(ids(2, 12)))


def test_the_file_is_a_safetensors_file_with_the_models_own_names(saved):
    weights = safetensors.torch.load_file(saved)
    assert weights.keys() == model().state_dict().keys()
    with safetensors.safe_open(saved, "pt") as file:
        metadata = file.metadata()
    assert metadata.keys() == {"format", "config", "alphabet"}
    assert (metadata["format"], metadata["alphabet"]) == (FORMAT, TOKENIZER.alphabet)
    config = json.loads(metadata["config"])
    assert config == model().config.__dict__


def test_a_loaded_model_is_not_the_file(saved):
    theirs, _ = load_model(saved)
    before = theirs.head.weight.clone()
    saved.write_bytes(bytes(saved.stat().st_size))
    assert torch.equal(theirs.head.weight, before)


def test_tensors_that_share_their_numbers_are_written_twice(path):
    ours = model()
    ours.head.weight = ours.token_embedding.weight
    save_model(path, ours, TOKENIZER)
    theirs, _ = load_model(path)
    assert torch.equal(theirs.head.weight, theirs.token_embedding.weight)


# --- what can't be saved ------------------------------------------------------------


def with_weight(change):
    """A model whose weight of the last layer is replaced."""
    changed = model()
    changed.head.weight = torch.nn.Parameter(change(changed.head.weight.detach()))
    return changed


@pytest.mark.parametrize(
    ("make", "tokenizer", "message"),
    [
        (
            lambda: CharLanguageModel(11, 12, 24, 6),
            TOKENIZER,
            "model must be a TransformerLM, got Char",
        ),
        (model, TOKENIZER.alphabet, "tokenizer must be a CharTokenizer, got str"),
        (model, CharTokenizer("abc"), "alphabet of vocab_size 11 characters, got 3"),
        (model, CharTokenizer("\ud83dbcdefghijk"), "surrogates not allowed"),
        (lambda: model().half(), TOKENIZER, "as F32 .*, got torch.float16 with"),
        (
            lambda: with_weight(lambda w: w[1:]),
            TOKENIZER,
            r"head.*\(11, 24\), got .*10",
        ),
        (
            lambda: with_weight(lambda w: 0 * w + torch.inf),
            TOKENIZER,
            "finite .* inf in head.weight",
        ),
    ],
)
def test_what_cannot_be_saved_is_named_and_leaves_the_file(
    saved, make, tokenizer, message
):
    before = saved.read_bytes()
    with pytest.raises(ValueError, match=message):
        save_model(saved, make(), tokenizer)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


@pytest.mark.parametrize("place", [(os, "fsync"), (pathlib.Path, "replace")])
@pytest.mark.parametrize("killed", [False, True])
def test_whoever_is_interrupted_leaves_the_old_file(saved, monkeypatch, place, killed):
    """Where it is killed, nobody tidies up, and the next one finds a leftover."""
    before = saved.read_bytes()

    def interrupt(*_):
        raise KeyboardInterrupt

    other = with_weight(torch.zeros_like)
    with monkeypatch.context() as patch:
        patch.setattr(*place, interrupt)
        if killed:
            patch.setattr(pathlib.Path, "unlink", lambda *_, **__: None)
        with pytest.raises(KeyboardInterrupt):
            save_model(saved, other, TOKENIZER)
    assert saved.read_bytes() == before
    assert len(os.listdir(saved.parent)) == 1 + killed
    save_model(saved, other, TOKENIZER)
    assert os.listdir(saved.parent) == [saved.name]
    assert not load_model(saved)[0].head.weight.any()


# --- what can't be loaded -----------------------------------------------------------


def test_a_path_that_is_not_there_is_no_value_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        load_model(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError):
        save_model(tmp_path / "nothing" / "model.safetensors", model(), TOKENIZER)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: b"a text, and no model at all",
        lambda content: content[:7],
        lambda content: content[:100],
        lambda content: content[:-1],
        lambda content: content + b"0",
        lambda content: content.replace(b"data_offsets", b"other_things"),
    ],
)
def test_what_is_no_whole_safetensors_file_is_named(saved, damage):
    saved.write_bytes(damage(saved.read_bytes()))
    with pytest.raises(
        ValueError, match=r"whole safetensors file, .* or cut off"
    ) as why:
        load_model(saved)
    assert str(saved) in str(why.value)


def rewrite(path, change):
    """Write a file anew after a change of its weights, its metadata and its config."""
    weights = safetensors.torch.load_file(path)
    with safetensors.safe_open(path, "pt") as file:
        metadata = file.metadata()
    config = json.loads(metadata["config"])
    before = json.dumps(config)
    change(weights, metadata, config)
    if json.dumps(config) != before:
        metadata["config"] = json.dumps(config)
    safetensors.torch.save_file(weights, path, metadata)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda w, m, c: m.clear(), "no model of this book: .*, got None"),
        (lambda w, m, c: m.update(format="model 2"), "1', got 'model 2'"),
        (lambda w, m, c: m.pop("config"), "its metadata must have 'config'"),
        (lambda w, m, c: m.pop("alphabet"), "its metadata must have 'alphabet'"),
        (lambda w, m, c: m.update(config="{"), "its config isn't JSON"),
        (lambda w, m, c: m.update(config="[1]"), r"must be an object, got \[1\]"),
        (lambda w, m, c: m.update(config="[" * 10**5), "is broken: .*recursion"),
        (lambda w, m, c: c.pop("num_heads"), "its config must have num_heads"),
        (lambda w, m, c: c.update(rank=3), "unknown option, rank 3"),
        (lambda w, m, c: c.update(norm="batch"), "norm must be one of .* got 'batch'"),
        (lambda w, m, c: c.update(num_heads=5), "num_heads must divide d_model"),
        (lambda w, m, c: c.update(d_model=24.0), "d_model must be an int.* got 24.0"),
        (lambda w, m, c: c.update(mlp_ratio=10**30), "numbers in its tensors, its"),
        (lambda w, m, c: c.update(d_model=6 * 10**9), "numbers in its tensors, its"),
        (lambda w, m, c: c.update(num_layers=3), "lacks the tensor blocks.2."),
        (lambda w, m, c: c.update(pair_embedding=True), "lacks the tensor pair_emb"),
        (lambda w, m, c: c.update(d_model=30), r"token_emb.*\(11, 30\), got .*24"),
        (lambda w, m, c: c.update(num_layers=10**9), "numbers in its tensors, its"),
        (lambda w, m, c: c.update(mlp_hidden=10**30), "numbers in its tensors, its"),
        (lambda w, m, c: c.update(bias=False), "a tensor that its config doesn't have"),
        (lambda w, m, c: c.update(norm_eps=0), "norm_eps must be a finite number abov"),
        (lambda w, m, c: m.update(alphabet="abc"), "of vocab_size 11 .*, got 3"),
        (lambda w, m, c: m.update(alphabet="a" * 11), "not repeat a .*, got 'a' 11"),
        (lambda w, m, c: m.update(alphabet=""), "at least one character"),
        (lambda w, m, c: w.pop("head.weight"), "lacks the tensor head.weight"),
        (lambda w, m, c: w.update(a=torch.ones(1)), "its config doesn't have, a$"),
        (
            lambda w, m, c: w.update({"head.weight": torch.ones(24, 11)}),
            r"head.weight as F32 with shape \(11, 24\), got F32 with shape \(24, 11\)",
        ),
        (
            lambda w, m, c: w.update({"head.weight": torch.ones(11, 24).half()}),
            r"head.weight as F32 with shape \(11, 24\), got F16 with shape \(11, 24\)",
        ),
        (
            lambda w, m, c: w["head.weight"][3].fill_(torch.nan),
            "got nan in head.weight",
        ),
        (lambda w, m, c: w["head.weight"][3].fill_(-torch.inf), "got -inf in head"),
    ],
)
def test_each_defect_of_a_file_is_named(saved, change, message):
    rewrite(saved, change)
    with pytest.raises(ValueError, match=message) as why:
        load_model(saved)
    assert str(saved) in str(why.value)


def test_an_option_that_an_older_file_lacks_has_its_default(saved):
    for name in ("embedding_skip", "rotary_base", "norm_eps", "mlp_hidden", "bias"):
        rewrite(saved, lambda w, m, c, name=name: c.pop(name))
    assert load_model(saved)[0].config == model().config


def test_a_file_of_a_long_context_is_no_danger(path):
    """A model holds no mask, so that a short file makes no large one."""
    save_model(path, model(positions="none", context_length=10**6), TOKENIZER)
    theirs, _ = load_model(path)
    assert not list(theirs.buffers())
    assert torch.equal(theirs(ids(1, 9)), model(positions="none")(ids(1, 9)))


def test_a_model_to_be_loaded_draws_no_weights(saved, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        torch.nn.init,
        "normal_",
        lambda weight, **_: drawn.append(weight.device.type),
    )
    load_model(saved)
    assert set(drawn) == {"meta"}
