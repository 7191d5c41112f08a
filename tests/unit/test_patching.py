"""helpers.models.patching: against runs that are known, and weights set by hand."""

import itertools

import pytest
import torch

from helpers import checks
from helpers.models import induction
from helpers.models.language_model import TransformerLM
from helpers.models.patching import KINDS, Part, PathPatched, replaced, watched
from helpers.models.transformer_block import TransformerConfig

B, T, V, H, D, L = 2, 7, 11, 3, 4, 2
C = H * D
OF_LAYER1 = [Part(kind, 1) for kind in ("queries", "keys", "values")]


def make(**changes):
    torch.manual_seed(0)
    model = TransformerLM(TransformerConfig(V, T, C, H, L, **changes)).double()
    with torch.no_grad():
        for weight in model.parameters():  # large, so that each part matters
            weight.add_(0.3 * torch.randn_like(weight))
    return model.eval().requires_grad_(False)


@pytest.fixture
def model():
    return make()


@pytest.fixture
def ids():
    generator = torch.Generator().manual_seed(1)
    return torch.randint(V, (B, T), generator=generator)


@pytest.fixture
def other(ids):
    """Another text of the same length."""
    return (ids + 3) % V


def parts_of(model):
    """All of its parts, of single heads and of whole layers."""
    kinds = [kind for kind in KINDS if kind != "mlp" or model.config.mlp]
    whole = [Part(*one) for one in itertools.product(kinds, range(L))]
    single = itertools.product(KINDS[:4], range(L), range(H))
    return [*whole, *(Part(*one) for one in single)]


def run(model, ids, instead):
    with replaced(model, instead):
        return model(ids)


def test_what_is_watched_is_what_the_layers_compute(model, ids):
    with watched(model, parts_of(model)) as given:
        model(ids)
    assert set(given) == set(parts_of(model))
    first = model.blocks[0]
    embedded = model.token_embedding(ids) + model.position_embedding(torch.arange(T))
    assert torch.equal(given[Part("stream", 0)], embedded)
    queries = first.attention.W_query(first.attention_norm(embedded))
    assert torch.equal(given[Part("queries", 0)], queries)
    assert torch.equal(given[Part("queries", 0, 2)], queries[..., 8:12])
    assert given[Part("keys", 1, 0)].shape == given[Part("context", 1, 2)].shape
    assert given[Part("context", 1, 2)].shape == (B, T, D)
    added = first.attention.out_proj(given[Part("context", 0)])
    after = embedded + added + given[Part("mlp", 0)]
    torch.testing.assert_close(given[Part("stream", 1)], after)
    middle = embedded + added
    mlp = first.mlp(first.mlp_norm(middle))
    torch.testing.assert_close(given[Part("mlp", 0)], mlp)


def test_values_are_what_the_weights_average(model, ids):
    with watched(model, [Part("values", 1, 1), Part("context", 1, 1)]) as given:
        _, weights = model(ids, return_weights=True)
    values, context = given.values()
    torch.testing.assert_close(weights[1][:, 1] @ values, context)


def test_what_a_part_gives_in_its_own_run_changes_nothing(model, ids):
    logits = model(ids)
    with watched(model, parts_of(model)) as given:
        model(ids)
    for part, tensor in given.items():
        torch.testing.assert_close(run(model, ids, {part: tensor}), logits)
    torch.testing.assert_close(run(model, ids, given), logits)
    assert torch.equal(run(model, ids, {}), logits)


def test_each_part_of_another_run_changes_something(model, ids, other):
    logits = model(ids)
    with watched(model, parts_of(model)) as given:
        model(other)
    for part, tensor in given.items():
        assert (run(model, ids, {part: tensor}) - logits).abs().max() > 1e-3, part
    assert torch.equal(model(ids), logits)  # and no longer


def test_all_that_a_block_reads_makes_the_other_run(model, ids, other):
    for layer in range(L):
        with watched(model, [Part("stream", layer)]) as given:
            expected = model(other)
        torch.testing.assert_close(run(model, ids, given), expected)


def test_all_that_is_added_makes_the_other_run_of_the_same_text(model, ids):
    """That in which a head of layer 0 gives nothing."""
    added = [Part(kind, layer) for kind in ("context", "mlp") for layer in range(L)]
    with replaced(model, {Part("context", 0, 1): 0.0}), watched(model, added) as given:
        expected = model(ids)
    torch.testing.assert_close(run(model, ids, given), expected)
    assert not torch.allclose(expected, model(ids))


def test_a_head_of_a_part_is_replaced_and_no_other(model, ids):
    instead = torch.randn(T, D, dtype=torch.float64)
    for kind in KINDS[:4]:
        with (
            replaced(model, {Part(kind, 1, 1): instead}),
            watched(model, [Part(kind, 1, head) for head in range(H)]) as given,
        ):
            model(ids)
        with watched(model, list(given)) as before:
            model(ids)
        assert torch.equal(given[Part(kind, 1, 1)], instead.expand(B, T, D))
        for head in (0, 2):
            assert torch.equal(given[Part(kind, 1, head)], before[Part(kind, 1, head)])


def test_the_exercise_asks_for_what_a_run_with_a_mean_gives(model, ids):
    real = torch.arange(T) < torch.tensor([T, T - 2])[:, None]
    whole, head = Part("context", 1), Part("context", 1, 2)
    with watched(model, [whole, head]) as given:
        model(ids)
    contexts = given[whole].unflatten(-1, (H, D)).transpose(1, 2)
    asked = checks.replace_head_by_mean.reference(contexts, 2, real)
    instead = {head: given[head][real].mean(dim=0)}
    with replaced(model, instead), watched(model, [whole]) as given:
        model(ids)
    assert torch.equal(asked.transpose(1, 2).flatten(2), given[whole])


@pytest.mark.parametrize("part", [Part("stream", 0), Part("mlp", 1), Part("keys", 0)])
def test_what_was_given_before_stays_as_it_was(model, ids, part):
    with watched(model, [part]) as before:
        model(ids)
    with watched(model, [part]) as given, replaced(model, {part: 0.0}):
        model(ids)
    assert torch.equal(given[part], before[part])
    assert before[part].any()


def test_what_is_linear_adds_up(ids, other):
    """Without norms and MLPs, the last layer's heads are summed into the logits."""
    model = make(norm="none", mlp=False)
    logits = model(ids)
    with watched(model, [Part("context", 1, head) for head in range(H)]) as given:
        model(other)
    each = [run(model, ids, {part: given[part]}) - logits for part in given]
    torch.testing.assert_close(run(model, ids, given) - logits, sum(each))


def test_in_the_model_by_hand_one_path_carries_it_all():
    """Layer 0 tells the keys of layer 1 what stood before; nobody else needs it."""
    model = induction.by_hand(5, 9)
    ids = torch.tensor([[0, 1, 2, 3, 4, 1, 2, 3, 4]])
    logits = model(ids)
    sender = {Part("context", 0, 0): 0.0}
    moved = {
        kind: (PathPatched(model, sender, [Part(kind, 1, 0)])(ids) - logits).abs().max()
        for kind in ("queries", "keys", "values")
    }
    assert moved["queries"] == moved["values"] == 0
    assert moved["keys"] > 10
    blind = PathPatched(model, sender, [Part("keys", 1, 0)])
    assert induction.losses_of_copies(blind, ids)[1] > 1
    assert induction.losses_of_copies(model, ids)[1] < 1e-3


def test_what_a_path_leaves_out_is_what_goes_to_the_logits_directly(ids):
    """Where nothing is between the head, layer 1 and the logits but sums."""
    model = make(norm="none", mlp=False)
    head = Part("context", 0, 2)
    with watched(model, [head]) as given:
        model(ids)
    by_path = PathPatched(model, {head: 0.0}, OF_LAYER1)(ids)
    out_proj = model.blocks[0].attention.out_proj.weight[:, 8:12]
    directly = given[head] @ out_proj.T @ model.head.weight.T
    expected = run(model, ids, {head: 0.0})
    torch.testing.assert_close(by_path - directly, expected)
    assert not torch.allclose(by_path, expected)


@pytest.mark.parametrize("sender", [Part("context", 0), Part("values", 0, 1)])
def test_every_way_to_the_next_layer_is_the_whole_change(model, ids, sender):
    silent = run(model, ids, {sender: 0.0})
    stream = [Part("stream", 1)]
    through = PathPatched(model, {sender: 0.0}, stream, through_mlps=True)
    torch.testing.assert_close(through(ids), silent)
    assert not torch.allclose(PathPatched(model, {sender: 0.0}, stream)(ids), silent)


def test_what_lies_between_is_held(ids):
    """Of three layers, the last one's keys see what the first adds, and no more."""
    torch.manual_seed(0)
    model = TransformerLM(TransformerConfig(V, T, C, H, 3)).double().eval()
    sender, receiver = Part("context", 0, 1), Part("keys", 2)
    with torch.no_grad(), watched(model, [sender, Part("stream", 2)]) as given:
        model(ids)
        last = model.blocks[2]
        out_proj = model.blocks[0].attention.out_proj.weight[:, 4:8]
        stream = given[Part("stream", 2)] - given[sender] @ out_proj.T
        keys = last.attention.W_key(last.attention_norm(stream))
        found = PathPatched(model, {sender: 0.0}, [receiver])(ids)
        torch.testing.assert_close(found, run(model, ids, {receiver: keys}))
        assert not torch.allclose(found, model(ids))


def test_a_path_from_another_text(model, ids, other):
    sender, receivers = Part("context", 0, 1), [Part("queries", 1, 2)]
    same = PathPatched(model, {sender: lambda found: found}, receivers)
    torch.testing.assert_close(same(ids), model(ids))
    with watched(model, [sender]) as given:
        model(other)
    by_tensor = PathPatched(model, given, receivers)(ids)
    by_text = PathPatched(model, {sender: lambda found: (found + 3) % V}, receivers)
    assert torch.equal(by_text(ids), by_tensor)
    assert (by_tensor - model(ids)).abs().max() > 1e-3


@pytest.mark.parametrize("name", ["W_query", "W_key", "W_value"])
def test_reading_what_a_silent_layer_would_have_written(model, ids, name):
    """With two hooks in two runs, as one does it by hand."""
    first, second = model.blocks
    first.attention.out_proj.bias.zero_()
    part, kept = getattr(second.attention, name), []
    hooks = [
        first.attention.register_forward_hook(lambda _, x, y: torch.zeros_like(y)),
        part.register_forward_pre_hook(lambda _, x: kept.append(x)),
    ]
    model(ids)
    for hook in hooks:
        hook.remove()
    hook = part.register_forward_pre_hook(lambda _, x: kept.pop())
    expected = model(ids)
    hook.remove()
    kind = {"W_query": "queries", "W_key": "keys", "W_value": "values"}[name]
    silent = {Part("context", 0): 0.0}
    patched = PathPatched(model, silent, [Part(kind, 1)], through_mlps=True)
    torch.testing.assert_close(patched(ids), expected)
    assert not torch.allclose(expected, model(ids))


def test_no_hook_is_left_behind(model, ids):
    with pytest.raises(ZeroDivisionError), replaced(model, {Part("mlp", 0): 0.0}):
        raise ZeroDivisionError
    PathPatched(model, {Part("mlp", 0): 0.0}, [Part("stream", 1)])(ids)
    hooks = [(*m._forward_hooks, *m._forward_pre_hooks) for m in model.modules()]
    assert not any(hooks)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (Part("query", 0), "must be a Part of kind 'queries', .*, got .*'query'"),
        (("queries", 0, 0), r"must be a Part .*, got \('queries', 0, 0\)"),
        (Part("keys", 2), "layer must be an integer from 0 to 1, got 2"),
        (Part("keys", 0, 3), "head must be an integer from 0 to 2, got 3"),
        (Part("stream", 0, 1), "head must be None for kind 'stream', got 1"),
    ],
)
def test_a_part_that_is_not_there_is_named(model, part, message):
    good = Part("keys", 1)
    for use in (
        lambda: watched(model, [part]).__enter__(),
        lambda: replaced(model, {part: 0.0}).__enter__(),
        lambda: PathPatched(model, {part: 0.0}, [good]),
        lambda: PathPatched(model, {good: 0.0}, [part]),
    ):
        with pytest.raises(ValueError, match=message):
            use()


def test_a_head_of_keys_that_queries_share_is_counted_among_the_keys(ids):
    shared = make(num_kv_heads=1)
    with watched(shared, [Part("keys", 1, 0), Part("queries", 1, 2)]) as given:
        shared(ids)
    assert given[Part("keys", 1, 0)].shape == given[Part("queries", 1, 2)].shape
    for kind in ("keys", "values"):
        for use in (
            watched(shared, [Part(kind, 1, 1)]),
            replaced(shared, {Part(kind, 1, 1): 0.0}),
        ):
            with pytest.raises(ValueError, match=f"from 0 to 0 for '{kind}'.*, got 1"):
                use.__enter__()


def test_what_does_not_fit_is_named(model, ids):
    mlp = Part("mlp", 0)
    with pytest.raises(ValueError, match="the model's, which has no MLPs"):
        watched(make(mlp=False), [mlp]).__enter__()
    with pytest.raises(ValueError, match="receivers must hold at least one part"):
        PathPatched(model, {mlp: 0.0}, [])
    with pytest.raises(ValueError, match="senders must hold at least one part"):
        PathPatched(model, {}, [mlp])
    for wrong in (torch.zeros(C - 1), torch.zeros(1, B, T, C), torch.zeros(T + 1, C)):
        with pytest.raises(ValueError, match=r"broadcast to \(2, 7, 12\), got \("):
            run(model, ids, {mlp: wrong})
