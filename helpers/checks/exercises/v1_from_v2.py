"""Exercise of chapter 2: V2's entries in a V1."""

import copy

import torch
from torch import nn

from attention_audit.wording import sort_of
from helpers import attention
from helpers.checks.cases import Case, Mistake
from helpers.checks.comparing import difference
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.readers_layer import with_parameters
from helpers.checks.stubs import attempted

ROLES = ("W_query", "W_key", "W_value")
FACTS = ("output", "training", "memory", "v2")


def _layers():
    generator = torch.Generator().manual_seed(7)

    def case(name, d_in, d_out):
        drawn = {
            f"{role}.weight": torch.randn(d_out, d_in, generator=generator)
            for role in ROLES
        }
        with torch.random.fork_rng(devices=[]):  # a new layer draws its entries
            layer = attention.SelfAttentionV2(d_in, d_out)
        shown = {"d_in": d_in, "d_out": d_out, "v2": layer}
        return Case(name, {"v2": with_parameters(layer, drawn)}, shown)

    return [
        case("2 numbers in, 2 out", 2, 2),
        case("3 numbers in, 2 out", 3, 2),
        case("3 numbers in, 5 out", 3, 5),
        case("1 number in, 2 out", 1, 2),
    ]


def _use_v1_from_v2(attempt, v2):
    """What the new layer is made of, and whether it does what v2 does, in words."""
    given = copy.deepcopy(v2)  # what is copied must be what was handed over
    layer = attempted(attempt(v2))
    # A second layer of these widths must leave the first one as it is.
    others = {name: entries + 1 for name, entries in v2.state_dict().items()}
    attempt(with_parameters(copy.deepcopy(v2), others))
    if not isinstance(layer, nn.Module):
        return {"layer": sort_of(layer)} | dict.fromkeys([*ROLES, *FACTS])
    own = dict(layer.named_parameters())
    shapes = {name: tuple(tensor.shape) for name, tensor in own.items()}
    d_out, d_in = v2.W_query.weight.shape
    fits = shapes == dict.fromkeys(ROLES, (d_in, d_out))
    trained = fits and _is_trained(layer)
    shared = {*map(_memory, own.values())} & {*map(_memory, v2.parameters())}
    return {
        "layer": _listed(shapes),
        **{role: f"{role} = {_origin(layer, role, given)}" for role in ROLES},
        "output": "v2's output"
        if fits and _agrees(layer, given, d_in)
        else "another output",
        "training": "can be trained" if trained else "cannot be trained",
        "memory": "shares memory with v2" if shared else "has memory of its own",
        "v2": "can be trained" if _is_trained(v2) else "cannot be trained",
    }


def _listed(shapes):
    listed = ", ".join(f"{name} {shape}" for name, shape in sorted(shapes.items()))
    return f"a layer with {listed or 'no parameter'}"


def _is_trained(layer):
    return all(tensor.requires_grad for tensor in layer.parameters())


def _memory(tensor):
    return tensor.untyped_storage().data_ptr()


def _origin(layer, role, v2):
    """Which of v2's entries a matrix holds, in words."""
    own = getattr(layer, role, None)
    if not isinstance(own, nn.Parameter):
        return "no parameter" if isinstance(own, torch.Tensor) else "no tensor"
    weights = {f"{one}.weight": getattr(v2, one).weight for one in ROLES}
    turned = {f"{name}.T": weight.T for name, weight in weights.items()}
    for name, weight in (turned | weights).items():
        if difference(weight, own) is None:
            return f"v2.{name}"
    for name, weight in weights.items():
        theirs, mine = (one.flatten().sort()[0] for one in (weight, own))
        if difference(theirs, mine) is None:
            return f"the numbers of v2.{name} in another order"
    drawn = bool(((own >= 0) & (own < 1)).all())
    return "numbers from 0 to 1, not v2's" if drawn else "other numbers than v2's"


def _agrees(layer, v2, d_in):
    x = torch.randn(5, d_in, generator=torch.Generator().manual_seed(8))
    return difference(v2(x), layer(x)) is None


def _new(v2):
    d_out, d_in = v2.W_query.weight.shape
    return attention.SelfAttentionV1(d_in, d_out)


def _copied(v2, roles=None, change=lambda weight, shape: weight.T):
    """A new V1; roles maps each of its matrices to the one of v2 that it takes."""
    layer = _new(v2)
    with torch.no_grad():
        for to, source in (roles or dict(zip(ROLES, ROLES, strict=True))).items():
            own = getattr(layer, to)
            own.copy_(change(getattr(v2, source).weight, own.shape))
    return layer


def _replaced(v2, make):
    """A new V1 whose parameters are made anew from v2's matrices."""
    layer = _new(v2)
    for role in ROLES:
        delattr(layer, role)
        setattr(layer, role, make(getattr(v2, role).weight))
    return layer


EXERCISE = Exercise(
    name="v1_from_v2",
    stub="my_v1_from_v2(v2)",
    asks=(
        "a function of a ``SelfAttentionV2`` without biases that returns a new "
        "``SelfAttentionV1`` with the same output, in memory of its own."
    ),
    returns={"layer": "a SelfAttentionV1"},
    reference=_copied,
    cases=_layers,
    run=_use_v1_from_v2,
    mistakes=(
        Mistake(
            "a V1 whose matrices are (d_out, d_in)",
            lambda v2: _replaced(v2, lambda weight: nn.Parameter(weight.clone())),
            "V1 computes x @ W_query, so W_query must be (d_in, d_out): v2's matrices "
            "transposed.",
        ),
        Mistake(
            "a reshape in place of the transpose",
            lambda v2: _copied(v2, change=lambda weight, shape: weight.view(shape)),
            "view and reshape keep the numbers in their order and only cut the rows "
            "anew. The transpose swaps rows and columns.",
        ),
        Mistake(
            "a copy with query and key exchanged",
            lambda v2: _copied(
                v2, {"W_query": "W_key", "W_key": "W_query", "W_value": "W_value"}
            ),
            "Your W_query holds the numbers of v2's W_key, and your W_key those of its "
            "W_query. Look at the names on both sides of each line.",
        ),
        Mistake(
            "a V1 that no training can change",
            lambda v2: _copied(v2).requires_grad_(False),
            "Its parameters ask for no gradients: requires_grad is False.",
        ),
        Mistake(
            "a copy that leaves v2 without training",
            lambda v2: _copied(v2.requires_grad_(False)),
            "The new layer is right, but v2's parameters no longer ask for gradients. "
            "torch.no_grad() around the copy leaves them as they are.",
        ),
        Mistake(
            "a V1 whose matrices are no parameters",
            lambda v2: _replaced(v2, lambda weight: weight.detach().T.clone()),
            "A plain tensor is no parameter: training never sees it, and the "
            "state_dict lacks it. Wrap it in nn.Parameter, or copy into V1's own.",
        ),
        Mistake(
            "a V1 that shares its numbers with v2",
            lambda v2: _replaced(v2, lambda weight: nn.Parameter(weight.T)),
            "The outputs agree, but .T is a view of the same memory: training one "
            "layer changes the other. Clone the tensor, or copy it with copy_.",
        ),
    ),
)
