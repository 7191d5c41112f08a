"""Linear attention, decay and the delta rule: three forms, oracles, and bad input."""

import itertools
import json
import math
import pathlib
import re

import pytest
import torch
import torch.nn.functional as F

from helpers import linear_attention

B, H, T, D, D_V, CHUNK = 2, 3, 11, 4, 5, 4
FORMS = ("recurrent", "parallel", "chunked")
RULES = ("linear_attention", "delta_rule")
DECAYS = {"none": None, "a position": (B, H, T), "a feature": (B, H, T, D)}
CASES = list(itertools.product(RULES, DECAYS))
REFERENCE = pathlib.Path(__file__).parents[1] / "data/linear_attention_reference.json"


def function(form, rule):
    return getattr(linear_attention, f"{form}_{rule}")


def inputs(rule, decay="none", *, dtype=torch.float64, length=T):
    """Tensors and options of one call; keys have length 1."""
    torch.manual_seed(0)
    queries, keys, values = (
        torch.randn(B, H, T, width, dtype=dtype) for width in (D, D, D_V)
    )
    tensors = [queries, F.normalize(keys, dim=-1), values]
    if rule == "delta_rule":
        tensors.append(torch.rand(B, H, T, dtype=dtype))
    tensors = [one[:, :, :length] for one in tensors]
    options = {"initial_state": torch.randn(B, H, D, D_V, dtype=dtype)}
    if DECAYS[decay] is not None:
        fading = -torch.rand(DECAYS[decay], dtype=dtype)
        options["log_decay"] = fading[:, :, :length]
    return tensors, options


def call(form, rule, tensors, options):
    chunk = {"chunk_size": CHUNK} if form == "chunked" else {}
    return function(form, rule)(*tensors, **options, **chunk)


def with_gradients(form, rule, decay, **options_of_call):
    """Context, state, and the gradients of all that came in."""
    tensors, options = inputs(rule, decay)
    given = [one.requires_grad_() for one in (*tensors, *options.values())]
    context, state = call(form, rule, tensors, options | options_of_call)
    weights = torch.linspace(1, 2, context.numel()).view_as(context)
    loss = (context * weights).sum() + state.square().sum()
    return [context, state, *torch.autograd.grad(loss, given)]


def naive(tensors, options):
    """Every number by itself, in loops over batch, heads and positions."""
    queries, keys, values, *rest = tensors
    length = keys.shape[2]
    contexts = torch.zeros(B, H, length, D_V, dtype=keys.dtype)
    states = options["initial_state"].clone()
    for b, h in itertools.product(range(B), range(H)):
        state = states[b, h]
        for t in range(length):
            if "log_decay" in options:
                factor = options["log_decay"][b, h, t].exp()
                for d in range(D):
                    state[d] *= factor if factor.dim() == 0 else factor[d]
            written = values[b, h, t]
            if rest:
                found = torch.zeros(D_V, dtype=keys.dtype)
                for d in range(D):
                    found += keys[b, h, t, d] * state[d]
                written = rest[0][b, h, t] * (written - found)
            for d in range(D):
                state[d] += keys[b, h, t, d] * written
            for d in range(D):
                contexts[b, h, t] += queries[b, h, t, d] * state[d]
    return contexts, states


@pytest.mark.parametrize(("rule", "decay"), CASES)
@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_a_loop_over_numbers(form, rule, decay):
    tensors, options = inputs(rule, decay)
    found = call(form, rule, tensors, options)
    for one, other in zip(found, naive(tensors, options), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("rule", "decay"), CASES)
@pytest.mark.parametrize("form", FORMS[1:])
def test_three_forms_are_equal_forward_and_backward(form, rule, decay):
    found = with_gradients(form, rule, decay)
    expected = with_gradients("recurrent", rule, decay)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("rule", "decay"), CASES)
@pytest.mark.parametrize("form", FORMS)
def test_gradients_agree_with_finite_differences(form, rule, decay):
    tensors, options = inputs(rule, decay, length=CHUNK + 1)
    names = list(options)
    given = [one[:1, :2].clone().requires_grad_() for one in tensors]
    given += [one[:1, :2].clone().requires_grad_() for one in options.values()]

    def of_all(*flat):
        rest = dict(zip(names, flat[len(tensors) :], strict=True))
        return call(form, rule, flat[: len(tensors)], rest)

    # The decay is at most 0 beside every number that is tried.
    with torch.no_grad():
        if "log_decay" in names:
            given[-1].sub_(0.1)
    assert torch.autograd.gradcheck(of_all, given)


@pytest.mark.parametrize(("rule", "decay"), CASES)
@pytest.mark.parametrize("form", FORMS)
def test_a_text_may_be_read_in_parts(form, rule, decay):
    tensors, options = inputs(rule, decay)
    whole, end = call(form, rule, tensors, options)
    contexts, state = [], options["initial_state"]
    for part in (slice(0, 3), slice(3, 4), slice(4, T)):
        some = {"initial_state": state}
        if "log_decay" in options:
            some["log_decay"] = options["log_decay"][:, :, part]
        context, state = call(form, rule, [one[:, :, part] for one in tensors], some)
        contexts.append(context)
    torch.testing.assert_close(torch.cat(contexts, dim=2), whole, rtol=0, atol=1e-12)
    torch.testing.assert_close(state, end, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("rule", "decay"), CASES)
@pytest.mark.parametrize("form", FORMS)
def test_a_changed_future_leaves_the_past_as_it_was(form, rule, decay):
    tensors, options = inputs(rule, decay)
    before, _ = call(form, rule, tensors, options)
    changed = [one.clone() for one in tensors]
    for one in changed:
        one[:, :, 6:] *= 0.3
    after, _ = call(form, rule, changed, options)
    assert torch.equal(before[:, :, :6], after[:, :, :6])
    assert not torch.allclose(before[:, :, 6:], after[:, :, 6:])


@pytest.mark.parametrize(("rule", "decay"), CASES)
@pytest.mark.parametrize("form", FORMS)
def test_what_comes_in_stays_as_it_was(form, rule, decay):
    tensors, options = inputs(rule, decay)
    kept = [one.clone() for one in (*tensors, *options.values())]
    call(form, rule, tensors, options)
    assert all(map(torch.equal, kept, (*tensors, *options.values())))


@pytest.mark.parametrize("form", FORMS)
def test_a_state_of_zeros_is_the_default(form):
    for rule in RULES:
        tensors, options = inputs(rule)
        options["initial_state"] = torch.zeros_like(options["initial_state"])
        with_zeros = call(form, rule, tensors, options)
        without = call(form, rule, tensors, {})
        assert all(map(torch.equal, with_zeros, without))


@pytest.mark.parametrize("form", FORMS)
def test_normalized_it_is_an_average_as_attention_without_its_exponential(form):
    (queries, keys, values), _ = inputs("linear_attention")
    queries, keys = map(linear_attention.elu_feature_map, (queries, keys))
    products = (queries @ keys.transpose(-2, -1)).tril()
    expected = products / products.sum(dim=-1, keepdim=True) @ values
    found, state = call(
        form, "linear_attention", (queries, keys, values), {"normalize": True}
    )
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    assert state.shape == (B, H, D, D_V + 1)
    torch.testing.assert_close(state[..., -1], keys.sum(dim=-2), rtol=0, atol=1e-12)
    again, _ = call(
        form,
        "linear_attention",
        [one[:, :, 5:] for one in (queries, keys, values)],
        {
            "normalize": True,
            "initial_state": call(
                form,
                "linear_attention",
                [one[:, :, :5] for one in (queries, keys, values)],
                {"normalize": True},
            )[1],
        },
    )
    torch.testing.assert_close(again, expected[:, :, 5:], rtol=0, atol=1e-12)


def test_the_feature_map_is_positive_everywhere():
    x = torch.tensor([-30.0, -1.0, 0.0, 2.0])
    features = linear_attention.elu_feature_map(x)
    expected = torch.tensor([0.0, math.exp(-1), 1.0, 3.0])
    torch.testing.assert_close(features, expected)
    with pytest.raises(ValueError, match="x must be floating point"):
        linear_attention.elu_feature_map(torch.arange(3))


@pytest.mark.parametrize("form", FORMS)
def test_the_delta_rule_overwrites_what_a_key_had(form):
    keys = torch.eye(3, dtype=torch.float64)[[0, 1, 0, 2]]
    values = torch.arange(1.0, 9.0, dtype=torch.float64).view(4, 2)
    beta = torch.ones(4, dtype=torch.float64)
    _, state = call(form, "delta_rule", (keys, keys, values, beta), {})
    torch.testing.assert_close(state, values[[2, 1, 3]], rtol=0, atol=1e-15)
    _, summed = call(form, "linear_attention", (keys, keys, values), {})
    torch.testing.assert_close(summed[0], values[0] + values[2], rtol=0, atol=1e-15)


@pytest.mark.parametrize("form", FORMS)
def test_beta_0_writes_nothing(form):
    (queries, keys, values, _), options = inputs("delta_rule")
    tensors = (queries, keys, values, torch.zeros(B, H, T, dtype=keys.dtype))
    context, state = call(form, "delta_rule", tensors, options)
    assert torch.equal(state, options["initial_state"])
    torch.testing.assert_close(context, queries @ state, rtol=0, atol=1e-14)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("decay", ["a position", "a feature"])
def test_a_strong_decay_overflows_nowhere(form, decay):
    """The factor between two distant positions is e^-4000, its inverse infinite."""
    for rule in RULES:
        tensors, options = inputs(rule, decay, dtype=torch.float32)
        options["log_decay"] = torch.full_like(options["log_decay"], -400.0)
        given = [one.requires_grad_() for one in (*tensors, *options.values())]
        context, state = call(form, rule, tensors, options)
        gradients = torch.autograd.grad(context.sum() + state.sum(), given)
        assert all(one.isfinite().all() for one in (context, state, *gradients))


@pytest.mark.parametrize("rule", RULES)
def test_one_chunk_of_any_size_gives_the_same(rule):
    tensors, options = inputs(rule, "a position")
    expected, _ = call("recurrent", rule, tensors, options)
    for size in (1, 2, T, 100):
        found, _ = function("chunked", rule)(*tensors, **options, chunk_size=size)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def reference():
    record = json.loads(REFERENCE.read_text(encoding="utf-8"))
    shape = record["shape"]
    rows = (shape["B"], shape["H"], shape["T"])
    widths = {"queries": "D", "keys": "D", "values": "D_v", "log_decay_each": "D"}
    tensors = {}
    for name, numbers in record["inputs"].items():
        size = (*rows, shape[widths[name]]) if name in widths else rows
        if name == "initial_state":
            size = (shape["B"], shape["H"], shape["D"], shape["D_v"])
        tensors[name] = torch.tensor(numbers, dtype=torch.float64).view(size)
    return tensors, record["results"]


REFERENCES = {
    "delta_rule.delta_rule_recurrence": ("delta_rule", None),
    "gated_delta_rule.naive_recurrent_gated_delta_rule": ("delta_rule", "log_decay"),
    "kda.naive_recurrent_kda": ("delta_rule", "log_decay_each"),
    "simple_gla.naive_recurrent_simple_gla": ("linear_attention", "log_decay"),
    "gla.naive_recurrent_gla": ("linear_attention", "log_decay_each"),
    "retention.naive_retention": ("linear_attention", "retention"),
    "linear_attn.naive_recurrent_linear_attn": ("linear_attention", "normalize"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", REFERENCES)
def test_they_give_what_the_authors_library_gives(form, name):
    given, results = reference()
    rule, how = REFERENCES[name]
    queries, keys = given["queries"], given["keys"]
    options = {}
    if how == "normalize":
        queries, keys = map(linear_attention.elu_feature_map, (queries, keys))
        options["normalize"] = True
    else:
        queries = queries / math.sqrt(queries.shape[-1])
    if how == "retention":  # 1 - 2^-5 for the first head, 1 - 2^-6 for the second
        factors = 1 - 2.0 ** (-5 - torch.arange(queries.shape[1], dtype=torch.float64))
        options["log_decay"] = factors.log()[:, None].expand(queries.shape[:-1])
    elif how in given:
        options["log_decay"] = given[how]
    if "state" in results[name]:
        options["initial_state"] = given["initial_state"]
    tensors = [queries, keys, given["values"]]
    tensors += [given["beta"]] if rule == "delta_rule" else []
    both = zip(("context", "state"), call(form, rule, tensors, options), strict=True)
    for key, found in both:
        if key in results[name]:
            expected = torch.tensor(results[name][key], dtype=torch.float64)
            torch.testing.assert_close(found.flatten(), expected, rtol=0, atol=2e-5)


def bad(**changes):
    names = ("queries", "keys", "values", "beta")
    given = dict(zip(names, inputs("delta_rule")[0], strict=True))
    return given | changes


ROWS = torch.zeros(B, H, T, dtype=torch.float64)
BAD = {
    "values must be a torch.Tensor, got list": bad(values=[1.0]),
    "keys and values must agree in the number of rows (S)": bad(
        values=torch.zeros(B, H, T + 1, D_V, dtype=torch.float64)
    ),
    "queries and keys must agree in the number of positions (T)": bad(
        queries=torch.zeros(B, H, T - 1, D, dtype=torch.float64)
    ),
    "queries and keys must agree in the last axis (D)": bad(
        queries=torch.zeros(B, H, T, D + 1, dtype=torch.float64)
    ),
    f"beta must have shape (..., T) = {(B, H, T)}, got {(B, H, T, 1)}": bad(
        beta=ROWS[..., None]
    ),
    "keys and beta must share one dtype": bad(beta=ROWS.float()),
    f"log_decay must have shape (..., T) = {(B, H, T)} or (..., T, D) = "
    f"{(B, H, T, D)}, got {(T,)}": bad(log_decay=ROWS[0, 0]),
    "log_decay must hold finite logarithms of factors in (0, 1], so none above 0, got "
    "0.5 to 0.5": bad(log_decay=ROWS + 0.5),
    "got -inf to -inf": bad(log_decay=ROWS - math.inf),
    f"initial_state must have shape (..., D, D_v) = {(B, H, D, D_V)}, got "
    f"{(B, H, D_V, D)}": bad(
        initial_state=torch.zeros(B, H, D_V, D, dtype=torch.float64)
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_named(form, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        function(form, "delta_rule")(**BAD[message])


def test_bad_options_are_named():
    (queries, keys, values), _ = inputs("linear_attention")
    chunked = linear_attention.chunked_linear_attention
    with pytest.raises(ValueError, match="chunk_size must be an integer"):
        chunked(queries, keys, values, chunk_size=0)
    with pytest.raises(ValueError, match="normalize must be True or False"):
        chunked(queries, keys, values, normalize=1)
    state = torch.zeros(B, H, D, D_V, dtype=torch.float64)
    message = f"(..., D, D_v + 1) = {(B, H, D, D_V + 1)}, got {(B, H, D, D_V)}"
    with pytest.raises(ValueError, match=re.escape(message)):
        chunked(queries, keys, values, normalize=True, initial_state=state)
