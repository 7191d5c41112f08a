"""Language models, their blocks and their cache: against oracles, by properties."""

import copy
import dataclasses
import itertools
import json
import math
import pickle
import re
from unittest import mock

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from helpers.attention import MultiHeadAttention, split_heads
from helpers.models.encoder import TransformerEncoder
from helpers.models.kv_cache import KVCache
from helpers.models.language_model import CharLanguageModel, TransformerLM
from helpers.models.positions import rotary_angles, rotate
from helpers.models.transformer_block import TransformerConfig

pytestmark = pytest.mark.usefixtures("one_thread")
B, T, H, D, LAYERS, VOCAB, CONTEXT = 2, 5, 3, 4, 2, 11, 9
C = H * D
SIZES = {
    "vocab_size": VOCAB,
    "context_length": CONTEXT,
    "d_model": C,
    "num_heads": H,
    "num_layers": LAYERS,
}
VARIANTS = {
    "learned": {},
    "rotary": {"positions": "rotary"},
    "none": {"positions": "none"},
    "rms": {"norm": "rms", "activation": "squared_relu", "positions": "rotary"},
    "no norm": {"norm": "none"},
    "no residual": {"residual": False},
    "no mlp": {"mlp": False},
    "pairs": {"pair_embedding": True},
    "tied": {"tie_weights": True, "qkv_bias": True},
    "bare": {"norm": "none", "residual": False, "mlp": False, "positions": "none"},
    "rms alone": {"norm": "rms", "residual": False},
    "Llama's": {
        **{"positions": "rotary", "rotary_base": 100.0, "norm": "rms"},
        **{"activation": "swiglu", "mlp_hidden": 7, "bias": False},
        **{"num_kv_heads": 1, "norm_eps": 0.01, "tie_weights": True},
    },
    "no biases": {"bias": False, "mlp_hidden": 7, "norm_eps": 0.01},
}
ALL = ("char", *VARIANTS)


def make(name="learned", **changes):
    torch.manual_seed(0)
    if name == "char":
        sizes = {key: size for key, size in SIZES.items() if key != "num_layers"}
        return CharLanguageModel(**sizes | changes)
    return TransformerLM(TransformerConfig(**SIZES | VARIANTS[name] | changes))


def some_ids(*shape, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(VOCAB, shape or (B, T), generator=generator)


def livelier(model):
    """Larger weights, so that predictions differ between positions and models."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.mul_(3)
    return model


# --- what a model is --------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("length", [1, T, CONTEXT])
def test_logits_and_weights_have_their_shapes(name, length):
    model, ids = make(name), some_ids(B, length)
    logits, weights = model(ids, return_weights=True)
    assert logits.shape == (B, length, VOCAB)
    assert len(weights) == (1 if name == "char" else LAYERS)
    for layer in weights:
        assert layer.shape == (B, H, length, length)
        torch.testing.assert_close(layer.sum(-1), torch.ones(B, H, length))
    torch.testing.assert_close(model(ids), logits)
    assert (model.vocab_size, model.context_length) == (VOCAB, CONTEXT)


@pytest.mark.parametrize("name", ALL)
def test_a_changed_future_leaves_the_past_as_it_was(name):
    model, ids = livelier(make(name)), some_ids()
    changed = ids.clone()
    changed[:, 3:] = (ids[:, 3:] + 1) % VOCAB
    before, after = model(ids), model(changed)
    torch.testing.assert_close(before[:, :3], after[:, :3], rtol=0, atol=0)
    assert (before[:, 3:] - after[:, 3:]).abs().amax(-1).min() > 1e-4


@pytest.mark.parametrize("name", ALL)
def test_every_parameter_gets_a_gradient(name):
    model, ids = make(name), some_ids(B, CONTEXT)
    F.cross_entropy(model(ids).flatten(0, 1), ids.roll(-1).flatten()).backward()
    for key, parameter in model.named_parameters():
        # A key's bias adds the same to all of a query's scores: it has no effect.
        if key.endswith("W_key.bias"):
            continue
        assert parameter.grad is not None, key
        assert parameter.grad.abs().max() > 0, key


def test_the_char_model_is_its_four_parts_in_a_row():
    model, ids = make("char"), some_ids()
    x = model.token_embedding.weight[ids] + model.position_embedding.weight[:T]
    assert type(model.attention) is MultiHeadAttention
    torch.testing.assert_close(model(ids), model.head(model.attention(x)))


def test_every_head_of_the_char_model_sees_all_features():
    # A head that gets a slice of the features would have zeros in this gradient.
    model, x = make("char"), torch.randn(1, T, C)
    model.attention.fused = False
    contexts = []
    model.attention.out_proj.register_forward_pre_hook(lambda _, x: contexts.append(*x))
    for h in range(H):
        leaf = x.clone().requires_grad_()
        model.attention(leaf)
        split_heads(contexts.pop(), H)[:, h].sum().backward()
        assert leaf.grad.abs().amin() > 0
    assert model.attention.W_query.weight.shape == (C, C)


def test_a_blocks_attention_names_what_is_wrong_with_its_tokens():
    attention = make().blocks[0].attention
    with pytest.raises(ValueError, match=r"x .*\(d_in\)"):
        attention(torch.randn(1, T, C + 1))
    with pytest.raises(TypeError, match=r"forward\(\).*positional"):
        attention(torch.randn(1, T, C), True)


def test_a_transformer_is_its_parts_in_a_row():
    model, ids = livelier(make()), some_ids()
    x = model.token_embedding.weight[ids] + model.position_embedding.weight[:T]
    for block in model.blocks:
        plain = MultiHeadAttention(C, C, CONTEXT, 0.0, H)
        plain.load_state_dict(block.attention.state_dict())
        x = x + plain(F.layer_norm(x, (C,)))
        first, _, second = block.mlp
        x = x + second(F.gelu(first(F.layer_norm(x, (C,)))))
    expected = F.layer_norm(x, (C,)) @ model.head.weight.T
    torch.testing.assert_close(model(ids), expected)


def test_a_pair_adds_its_embedding_behind_the_first_character():
    model, ids = make("pairs"), some_ids()
    x = model.token_embedding.weight[ids] + model.position_embedding.weight[:T]
    table = model.pair_embedding.weight.view(VOCAB, VOCAB, C)
    for t in range(1, T):
        x[:, t] += table[ids[:, t - 1], ids[:, t]]
    received = []
    model.blocks[0].register_forward_pre_hook(lambda _, args: received.append(args[0]))
    model(ids)
    torch.testing.assert_close(received[0], x)


def test_norm_activation_and_residual_are_what_the_options_say():
    model, ids = livelier(make("rms alone", activation="squared_relu")), some_ids()
    x = model.token_embedding.weight[ids] + model.position_embedding.weight[:T]

    def rms(x):
        return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt()

    for block in model.blocks:
        x = block.attention(rms(x))
        first, _, second = block.mlp
        x = second(first(rms(x)).clamp(min=0) ** 2)
    torch.testing.assert_close(model(ids), rms(x) @ model.head.weight.T)


def test_without_positions_an_order_before_the_last_character_is_not_seen():
    ids = some_ids(1, T)
    shuffled = ids[:, [2, 0, 3, 1, 4]]
    for name, differs in (("none", False), ("learned", True), ("rotary", True)):
        model = livelier(make(name, num_layers=1))
        apart = (model(ids)[:, -1] - model(shuffled)[:, -1]).abs().max()
        assert (apart > 1e-4) == differs, name


# --- parameters and initial weights -----------------------------------------------


def count(model):
    return sum(parameter.numel() for parameter in model.parameters())


def expected_count(config):
    width, vocab = config.d_model, config.vocab_size
    norm = {"layer": 2 * width, "rms": width, "none": 0}[config.norm]
    shared = (config.num_kv_heads or config.num_heads) / config.num_heads
    attention = (2 + 2 * shared) * width**2 + width * config.bias
    attention += (1 + 2 * shared) * width * config.qkv_bias
    hidden = config.mlp_hidden or config.mlp_ratio * width
    mlp = 2 * width * hidden + (hidden + width) * config.bias
    if config.activation == "swiglu":
        mlp = 3 * width * hidden
    block = norm + attention + config.mlp * (norm + mlp)
    embeddings = vocab * width * (2 - config.tie_weights)
    positions = config.context_length * width * (config.positions == "learned")
    embeddings += vocab**2 * width * config.pair_embedding
    return embeddings + positions + config.num_layers * block + norm


@pytest.mark.parametrize("name", VARIANTS)
def test_parameters_are_counted_by_a_formula(name):
    model = make(name, mlp_ratio=3)
    assert count(model) == expected_count(model.config)


def test_the_char_model_counts_its_parameters():
    expected = VOCAB * C + CONTEXT * C + 4 * C**2 + C + VOCAB * C + VOCAB
    assert count(make("char")) == expected


@pytest.mark.parametrize(
    ("positions", "tied", "total"),
    [
        ("learned", False, 115_584),
        ("rotary", False, 107_392),
        ("rotary", True, 103_552),
    ],
)
def test_the_model_for_the_page_is_small_enough(positions, tied, total):
    config = TransformerConfig(60, 128, 64, 4, 2, positions=positions, tie_weights=tied)
    assert count(TransformerLM(config)) == expected_count(config) == total < 120_000


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_first_loss_is_near_ln_vocab_size(name, seed):
    sizes = {"vocab_size": 60, "context_length": 64, "d_model": 64, "num_heads": 4}
    torch.manual_seed(seed)
    if name == "char":
        model = CharLanguageModel(**sizes)
    else:
        options = VARIANTS[name] | {"num_layers": LAYERS}
        model = TransformerLM(TransformerConfig(**sizes, **options))
    ids = torch.randint(60, (4, 65))
    for targets in (ids[:, 1:], ids[:, :-1]):  # the next character, and the same one
        loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), targets.flatten())
        assert loss.item() == pytest.approx(math.log(60), rel=0.05)


def test_the_first_loss_on_eleven_characters_is_near_ln_vocab_size():
    ids = torch.tensor([[3, 2, 4, 4, 5, 0, 6, 5, 7, 4, 1]])  # hello world
    for seed in range(5):
        torch.manual_seed(seed)
        logits = CharLanguageModel(8, 16, 32, 4)(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        assert loss.item() == pytest.approx(math.log(8), rel=0.05)


def test_the_char_model_learns_hello_world_in_200_steps():
    ids = torch.tensor([[3, 2, 4, 4, 5, 0, 6, 5, 7, 4, 1]])
    torch.manual_seed(0)
    model = CharLanguageModel(8, 16, 32, 4)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    for _ in range(200):
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.4


def test_initial_weights_are_as_documented():
    model = TransformerLM(TransformerConfig(60, 128, 64, 4, 2))
    parameters = dict(model.named_parameters())
    for key, std in {
        "token_embedding.weight": 0.1,
        "position_embedding.weight": 0.1,
        "head.weight": 0.02,
        "blocks.1.attention.W_query.weight": 1 / math.sqrt(3 * 64),
        "blocks.1.mlp.2.weight": 1 / math.sqrt(3 * 256),
    }.items():
        assert parameters[key].std().item() == pytest.approx(std, rel=0.05)
    assert all(
        (value == 0).all() for key, value in parameters.items() if key.endswith("bias")
    )
    tied = TransformerLM(TransformerConfig(60, 128, 64, 4, 2, tie_weights=True))
    assert tied.token_embedding.weight.std().item() == pytest.approx(0.02, rel=0.05)


@pytest.mark.parametrize("name", ["char", "rotary"])
def test_a_seed_gives_the_same_weights(name):
    one, other = make(name).state_dict(), make(name).state_dict()
    assert all(one[key].equal(other[key]) for key in one)


def test_tied_weights_are_one_parameter_that_both_ends_train():
    model, ids = livelier(make("tied")), some_ids()
    assert not [key for key in model.state_dict() if key.startswith("head")]
    hidden = []
    model.final_norm.register_forward_hook(lambda *call: hidden.append(call[-1]))
    logits = model(ids)
    torch.testing.assert_close(logits, hidden[0] @ model.token_embedding.weight.T)
    unused = [i for i in range(VOCAB) if i not in ids]
    logits.square().sum().backward()
    assert model.token_embedding.weight.grad[unused].abs().amax(-1).min() > 0


# --- rotary positions ----------------------------------------------------------------


def test_a_rotation_is_a_complex_product():
    heads, angles = torch.randn(B, H, T, D), rotary_angles(3, T, D)
    positions, pairs = torch.arange(3, 3 + T), torch.arange(D // 2)
    torch.testing.assert_close(angles, positions[:, None] / 10000 ** (2 * pairs / D))
    turned = rotate(heads, angles.cos(), angles.sin())
    numbers = torch.complex(*heads.chunk(2, dim=-1)) * torch.exp(1j * angles)
    torch.testing.assert_close(turned, torch.cat([numbers.real, numbers.imag], -1))


def test_turned_scores_depend_on_distance_alone():
    query, key = torch.randn(2, 1, D)

    def score(i, j):
        angles = [rotary_angles(position, 1, D) for position in (i, j)]
        one, other = (
            rotate(x, angle.cos(), angle.sin())
            for x, angle in zip((query, key), angles, strict=True)
        )
        return (one * other).sum()

    torch.testing.assert_close(score(7, 4), score(53, 50), rtol=1e-4, atol=1e-5)
    assert (score(7, 4) - score(8, 4)).abs() > 1e-3


# --- the paths of attention, devices, dtypes ---------------------------------------


@pytest.mark.parametrize("name", ["char", "learned", "rotary"])
def test_the_fused_path_is_taken_where_no_weights_are_asked_for(monkeypatch, name):
    spy = mock.Mock(wraps=F.scaled_dot_product_attention)
    monkeypatch.setattr(F, "scaled_dot_product_attention", spy)
    model = make(name)
    model(some_ids(), return_weights=True)
    assert spy.call_count == 0
    model(some_ids())
    assert spy.call_count == (1 if name == "char" else LAYERS)


@pytest.mark.parametrize("name", ALL)
def test_dropout_acts_in_train_and_not_in_eval(name):
    model, ids = make(name, dropout=0.5), some_ids()
    model.train()
    assert not model(ids).equal(model(ids))
    model.eval()
    torch.testing.assert_close(model(ids), make(name)(ids))


@pytest.mark.parametrize("layer", ["", "blocks.1.", "blocks.1.attention."])
def test_dropout_acts_on_embeddings_on_updates_and_on_weights(layer):
    model, ids = make(dropout=0.5).eval(), some_ids()
    model.get_submodule(f"{layer}dropout").train()
    assert not model(ids).equal(model(ids))


def test_dropout_acts_on_what_the_mlp_adds():
    model, ids = make(dropout=0.5).eval(), some_ids()
    torch.nn.init.zeros_(model.blocks[1].attention.out_proj.weight)
    model.blocks[1].dropout.train()
    assert not model(ids).equal(model(ids))


@pytest.mark.parametrize("name", ALL)
def test_models_run_wholly_on_another_device(name):
    # The meta device stands in for a GPU: mixing it with the CPU is an error.
    logits, weights = make(name).to("meta")(some_ids().to("meta"), return_weights=True)
    assert logits.is_meta
    assert all(layer.is_meta for layer in weights)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_models_run_in_half_precision_and_under_autocast(name, dtype):
    model, ids = make(name), some_ids()
    expected = model(ids)
    with torch.autocast("cpu", dtype=dtype):
        mixed = model(ids)
    halved = model.to(dtype)(ids)
    assert halved.dtype == dtype
    for logits in (mixed, halved):
        assert (logits.float() - expected).abs().max() <= 3e-2 * expected.abs().max()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["char", "rms", "tied"])
def test_models_compile_into_one_graph(name):
    model, ids = make(name), some_ids()
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(ids), model(ids))


@pytest.mark.parametrize("name", ALL)
def test_models_made_without_memory_load_and_are_copied(name):
    expected, ids = make(name), some_ids()
    with torch.device("meta"):
        model = make(name)
    model.load_state_dict(expected.state_dict(), assign=True)
    copies = (copy.deepcopy(model), pickle.loads(pickle.dumps(model)))
    for each in (model, *copies):
        assert each(ids).equal(expected(ids))


# --- the cache ------------------------------------------------------------------------


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("pieces", [[1] * CONTEXT, [4, 5], [3, 1, 2, 3], [CONTEXT]])
def test_a_cache_gives_the_logits_of_the_whole_text(name, pieces):
    model, ids = livelier(make(name)), some_ids(B, CONTEXT)
    expected, expected_weights = model(ids, return_weights=True)
    fused, explicit = model.new_cache(), model.new_cache()
    # Rounding errors of float32 grow with the numbers.
    tolerance = {"rtol": 0, "atol": 1e-5 * max(1.0, expected.abs().max().item())}
    start = 0
    for size in pieces:
        stop = start + size
        piece = ids[:, start:stop]
        logits = model(piece, cache=fused)
        torch.testing.assert_close(logits, expected[:, start:stop], **tolerance)
        _, weights = model(piece, cache=explicit, return_weights=True)
        for layer, whole in zip(weights, expected_weights, strict=True):
            torch.testing.assert_close(layer, whole[:, :, start:stop, :stop])
        start = stop
        assert fused.length == explicit.length == stop


@pytest.mark.parametrize("options", [{}, {"window": 5}, {"window": 4, "sinks": 2}])
def test_a_step_writes_behind_what_is_kept_and_copies_none_of_it(options):
    """Room is made in steps of twice as much, and moved to once in a window."""
    model, length = make(context_length=200, **options), 200
    cache, rooms, steps = model.new_cache(), [], []
    with torch.inference_mode():
        for ids in some_ids(B, length).split(1, dim=1):
            model(ids, cache=cache)
            keys = cache.extend(1, *torch.zeros(2, B, H, 0, D))[0]
            rooms.append(keys.untyped_storage().data_ptr())
            steps.append(keys.storage_offset() // D)
    moves = sum(one != other for one, other in itertools.pairwise(rooms))
    assert moves <= (8 if not options else length / 3)
    if options:  # the window's end goes on through the room
        assert len(set(steps)) > 3


@pytest.mark.parametrize("options", [{}, {"window": 3}, {"window": 3, "sinks": 2}])
@pytest.mark.parametrize("frozen", [None, "W_key"])
def test_gradients_go_back_through_a_cache(options, frozen):
    model, ids = livelier(make(**options)).double(), some_ids(B, CONTEXT)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(frozen is None or frozen not in name)
    trained = [one for one in model.parameters() if one.requires_grad]
    cache, arriving = model.new_cache(), torch.randn(B, CONTEXT, VOCAB).double()
    parts = [model(part, cache=cache) for part in ids.split([4, 1, 1, 2, 1], dim=1)]
    found = torch.autograd.grad(torch.cat(parts, dim=1), trained, arriving)
    expected = torch.autograd.grad(model(ids), trained, arriving)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-9)


def test_a_cache_filled_in_inference_mode_goes_on_outside_of_it():
    model, ids = livelier(make()), some_ids(B, CONTEXT)
    cache = model.new_cache()
    with torch.inference_mode():
        model(ids[:, :3], cache=cache)
    with torch.no_grad():
        logits = model(ids[:, 3:5], cache=cache)
    torch.testing.assert_close(logits, model(ids)[:, 3:5], rtol=0, atol=1e-5)


def test_a_call_that_failed_leaves_the_cache_as_it_was():
    model, ids = livelier(make()), some_ids(B, CONTEXT)
    cache = model.new_cache()
    model(ids[:, :3], cache=cache)
    broken = model.blocks[1].mlp.register_forward_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model(ids[:, 3:5], cache=cache)
    broken.remove()
    assert cache.length == 3
    logits = model(ids[:, 3:], cache=cache)
    torch.testing.assert_close(logits, model(ids)[:, 3:], rtol=0, atol=1e-5)


def test_a_cache_that_does_not_fit_is_named():
    model, ids = make(), some_ids(B, CONTEXT)
    cache = model.new_cache()
    model(ids[:, :7], cache=cache)
    encoder = TransformerEncoder(TransformerConfig(**SIZES, causal=False))
    for call, message in (
        (lambda: model(ids[:, :3], cache=cache), r"T = 3 tokens behind the 7.*1 more"),
        (lambda: model(ids[:1, :2], cache=cache), r"texts \(B\).*\(1, 2\).*\(2, 3, 7"),
        (lambda: make()(ids[:, :1], cache=cache), r"cache .*another model"),
        (lambda: model(ids, cache=[]), r"cache must be a KVCache, got list"),
        (lambda: KVCache(make("char")), r"model must be a TransformerLM.*CharLang"),
        (lambda: KVCache(encoder), r"model must be a TransformerLM.*TransformerEnc"),
        (lambda: model.double()(ids[:, :1], cache=cache), r"cache.*keys.*float64"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
        assert cache.length == 7
    with pytest.raises(ValueError, match=r"device.*meta.*cpu"):
        model.to("meta")(ids[:, :1].to("meta"), cache=cache)


# --- bad input ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["char", "learned", "rotary"])
@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (torch.tensor([[0, 4, 11]]), r"ids .*vocab_size - 1 = 10, got 11 .*\[0, 2\]"),
        (torch.tensor([[0], [-1]]), r"ids .*got -1 at index \[1, 0\]"),
        (torch.ones(B, T), r"ids .*int64.*float32.*\(2, 5\)"),
        (torch.ones(B, T, dtype=torch.int32), r"ids .*int64.*int32"),
        (torch.ones(B, T, dtype=torch.bool), r"ids .*int64.*bool"),
        (some_ids(B, CONTEXT + 2), r"T = 11 tokens, 2 more than context_length 9"),
        (some_ids(B, 0), r"ids .*\(B, T\).*\(2, 0\)"),
        (some_ids(0, T), r"ids .*\(B, T\).*\(0, 5\)"),
        (some_ids(T), r"ids .*\(B, T\).*\(5,\)"),
        (some_ids(1, B, T), r"ids .*\(B, T\).*\(1, 2, 5\)"),
        ([[1, 2]], r"ids .*torch\.Tensor.*list"),
        (some_ids().to("meta"), r"ids and the model's weights .*device.*meta.*cpu"),
    ],
    ids=str,
)
def test_bad_ids_are_named(name, ids, message):
    with pytest.raises(ValueError, match=message):
        make(name)(ids)


def test_a_part_of_a_text_can_begin_at_its_place():
    model, ids = make(), some_ids(B, CONTEXT)
    model.blocks = torch.nn.ModuleList()  # nothing but embeddings and the head
    whole = model(ids)
    torch.testing.assert_close(model(ids[:, 3:], start=3), whole[:, 3:])
    torch.testing.assert_close(model(ids[:, 3:], start=np.int64(3)), whole[:, 3:])
    for start, message in (
        (-1, "start must be an integer of at least 0, got -1"),
        (1.0, r"start .*got 1\.0"),
        (True, r"start .*True"),
        (7, r"T = 9 tokens behind the 7 before start, \d+ more than context_length"),
    ):
        with pytest.raises(ValueError, match=message):
            model(ids, start=start)
    with pytest.raises(ValueError, match="got start 2 and a cache"):
        model(ids, cache=model.new_cache(), start=2)


NOT_SIZES = (0, -1, 2.0, True, "3", None, (4,))
BAD_OPTIONS = {
    **dict.fromkeys([*SIZES, "mlp_ratio", "convolution"], NOT_SIZES),
    **dict.fromkeys(
        [
            *("residual", "mlp", "tie_weights", "qkv_bias", "pair_embedding"),
            *("qk_norm", "embedding_skip", "zero_init", "bias", "norm_first", "causal"),
            "attention_gate",
        ],
        (0, 1, "no", None),
    ),
    **dict.fromkeys(
        ["positions", "norm", "activation", "attention", "rotary_scaling"],
        ("cosine", None, 1, ["none"]),
    ),
    "dropout": (1, 1.0, -0.1, math.nan, True, "0.1", None),
    "num_kv_heads": (*(one for one in NOT_SIZES if one is not None), 5),
    **dict.fromkeys(
        ["mlp_hidden", "full_attention_interval", "global_interval"],
        tuple(one for one in NOT_SIZES if one is not None),
    ),
    **dict.fromkeys(["rotary_base", "norm_eps"], (0, -1.0, math.inf, True, "3", None)),
    "rotary_fraction": (0, -1.0, math.inf, True, "3", None, 1.5),
    "rotary_scaling_factor": (0, -1.0, math.inf, True, "3", None, 0.5),
    **dict.fromkeys(
        ["trained_length", "no_rope_interval"],
        tuple(one for one in NOT_SIZES if one is not None),
    ),
    **dict.fromkeys(["t5_buckets", "t5_max_distance"], (*NOT_SIZES, 1)),
    "window": tuple(one for one in NOT_SIZES if one is not None),
    "sinks": (-1, 2.0, True, "3", None, (4,)),
}


@pytest.mark.parametrize("option", BAD_OPTIONS)
def test_bad_options_are_named(option):
    for value in BAD_OPTIONS[option]:
        message = f"^{option} must .*{re.escape(repr(value))}"
        with pytest.raises(ValueError, match=message):
            make(**{option: value})
        if option in ("vocab_size", "context_length", "d_model", "num_heads"):
            with pytest.raises(ValueError, match=message):
                make("char", **{option: value})


def test_every_option_of_the_config_is_tested():
    fields = {field.name for field in dataclasses.fields(TransformerConfig)}
    assert fields == set(BAD_OPTIONS)


@pytest.mark.parametrize("name", ["char", "learned"])
def test_heads_that_do_not_divide_the_width_are_named(name):
    with pytest.raises(ValueError, match=r"num_heads .*divide d_model.*5.*d_model 12"):
        make(name, num_heads=5)


def test_rotary_positions_need_heads_of_even_width():
    with pytest.raises(ValueError, match=r"even width.*d_model 12 and num_heads 4"):
        make("rotary", num_heads=4)
    make("learned", num_heads=4)


def test_a_config_is_taken_and_nothing_else():
    with pytest.raises(ValueError, match=r"config .*TransformerConfig, got dict"):
        TransformerLM(SIZES)
    with pytest.raises(dataclasses.FrozenInstanceError):
        make().config.d_model = 3


def test_a_config_of_numpys_numbers_can_be_written_as_json():
    sizes = {key: np.int64(size) for key, size in SIZES.items()}
    options = {"num_kv_heads": 1, "window": 4, "sinks": 2, "mlp_hidden": 7}
    others = {name: np.int32(size) for name, size in options.items()}
    base = np.float64(500)
    config = TransformerConfig(
        **sizes, **others, dropout=np.float32(0.5), rotary_base=base
    )
    expected = TransformerConfig(**SIZES, **options, dropout=0.5, rotary_base=500)
    assert config == expected
    assert TransformerConfig(**json.loads(json.dumps(dataclasses.asdict(config))))


def test_every_public_class_is_documented_with_its_source():
    for kind in (CharLanguageModel, TransformerConfig, TransformerLM, KVCache):
        documentation = kind.__doc__
        assert "Source: " in documentation
        assert "Raises:" in documentation
