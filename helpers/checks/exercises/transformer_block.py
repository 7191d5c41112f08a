"""Exercise of chapter 9: how a block is wired."""

import torch
from torch import nn

from helpers.attention import MultiHeadAttention
from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise

# --- the parts ------------------------------------------------------------------------


def _layers(C, num_heads):
    """Real parts of a block; drawing their numbers moves no caller's seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(9)
        norms = nn.LayerNorm(C), nn.LayerNorm(C)
        for norm in norms:
            nn.init.normal_(norm.weight)
            nn.init.normal_(norm.bias)
        attention = MultiHeadAttention(C, C, 5, 0.0, num_heads)
        mlp = nn.Sequential(nn.Linear(C, C), nn.GELU(), nn.Linear(C, C))
    return [norms[0], attention, norms[1], mlp]


def _as_it_is(x):
    return x


def _plus(number):
    return lambda x: x + number


def _times(number):
    return lambda x: x * number


def _parts():
    generator = torch.Generator().manual_seed(9)
    x = torch.randn(2, 5, 4, generator=generator)
    names = ("attention_norm", "attention", "mlp_norm", "mlp")

    def case(name, x, parts, words):
        described = dict(zip(names, words, strict=True))
        arguments = {"x": x} | dict(zip(names, parts, strict=True))
        return Case(name, arguments, {"x": x} | described)

    real = _layers(4, 2)
    layers = ["LayerNorm", "two causal heads", "another LayerNorm", "an MLP"]
    silent = [_as_it_is, torch.zeros_like, _as_it_is, torch.zeros_like]
    return [
        case(
            "parts that add or multiply",
            torch.ones(1, 1, 1),
            [_plus(0.1), _times(10), _plus(0.01), _times(100)],
            ["adds 0.1", "times 10", "adds 0.01", "times 100"],
        ),
        case(
            "attention and MLP give zeros",
            torch.tensor([[[1.0, -2.0]]]),
            silent,
            ["changes nothing", "gives zeros"] * 2,
        ),
        case(
            "parts that hand on what they get",
            torch.tensor([[[1.0, -2.0]]]),
            [_as_it_is] * 4,
            ["changes nothing"] * 4,
        ),
        case("layers", x, real, layers),
        case("layers, inputs in the hundreds", 300 * x[:1], real, layers),
    ]


# --- the wiring -----------------------------------------------------------------------


def _pre_norm(x, attention_norm, attention, mlp_norm, mlp):
    x = x + attention(attention_norm(x))
    return x + mlp(mlp_norm(x))


def _post_norm(x, attention_norm, attention, mlp_norm, mlp):
    x = attention_norm(x + attention(x))
    return mlp_norm(x + mlp(x))


def _late_norms(x, attention_norm, attention, mlp_norm, mlp):
    x = x + attention_norm(attention(x))
    return x + mlp_norm(mlp(x))


def _without_second_path(x, attention_norm, attention, mlp_norm, mlp):
    return mlp(mlp_norm(x + attention(attention_norm(x))))


def _normed_path(x, attention_norm, attention, mlp_norm, mlp):
    x = attention_norm(x)
    x = mlp_norm(x + attention(x))
    return x + mlp(x)


def _shortened_path(x, attention_norm, attention, mlp_norm, mlp):
    return x + mlp(mlp_norm(x + attention(attention_norm(x))))


EXERCISE = Exercise(
    name="transformer_block",
    stub="my_transformer_block(x, attention_norm, attention, mlp_norm, mlp)",
    asks=(
        "a function of x (B, T, C) and of four functions from (B, T, C) to (B, T, C) "
        "that returns what a pre-norm block makes of x, (B, T, C)."
    ),
    returns={"x": "(B, T, C)"},
    reference=_pre_norm,
    cases=_parts,
    mistakes=(
        Mistake(
            "a post-norm block",
            _post_norm,
            "Here a norm stands before each layer and leaves the residual path as it "
            "is. Yours norms the residual path itself, as Vaswani et al. did.",
        ),
        Mistake(
            "a block whose norms come after its layers",
            _late_norms,
            "Yours norms what attention and the MLP give. Here a norm stands before "
            "each of them: layer(norm(x)), not norm(layer(x)).",
        ),
        Mistake(
            "a block whose MLP replaces its input",
            _without_second_path,
            "The output of attention is added to the residual path, that of the MLP "
            "is not.",
        ),
        Mistake(
            "a block that puts the normed vectors on the path",
            _normed_path,
            "A norm's output goes into a layer and nowhere else. What is added to "
            "must be the vector from before the norm: was x overwritten?",
        ),
        Mistake(
            "a block that uses the first norm twice",
            lambda x, norm_1, attend, norm_2, mlp: _pre_norm(
                x, norm_1, attend, norm_1, mlp
            ),
            "Each norm has a scale and a shift of its own; the MLP reads what "
            "mlp_norm gives.",
        ),
        Mistake(
            "a block whose MLP doesn't see what attention found",
            lambda x, norm_1, attend, norm_2, mlp: (
                x + attend(norm_1(x)) + mlp(norm_2(x))
            ),
            "Both layers read the block's input, side by side. The MLP must read the "
            "path after attention has been added.",
        ),
        Mistake(
            "a block that adds the MLP's output to the block's input",
            _shortened_path,
            "The MLP reads the right thing, but its output is added to the old x: "
            "what attention found is not on the path that leaves the block.",
        ),
    ),
)
