"""For the exercise on a layer's heads: inputs, and builds to compare with."""

import torch

from helpers import attention
from helpers.checks.cases import Case

MATRICES = ("W_query", "W_key", "W_value")

# --- inputs ---------------------------------------------------------------------------


def layers_and_inputs():
    """A list of Case with a ``layer`` and ``x``.

    The first is small enough for a calculation by hand: one token's context is its own
    value, and all weights are whole numbers.
    """
    generator = torch.Generator().manual_seed(6)
    cases = []
    for name, B, T, context_length, d_in, H, D in (
        ("one token, two heads of width 1", 1, 1, 2, 2, 2, 1),
        ("two tokens, as many as the context", 1, 2, 2, 2, 2, 1),
        ("one head", 1, 3, 3, 3, 1, 4),
        ("two tokens in a context of five", 2, 2, 5, 2, 3, 4),
        ("as wide inside as outside", 2, 3, 3, 4, 2, 2),
        ("inputs in the hundreds", 1, 4, 6, 5, 3, 2),
    ):
        # Making a layer draws numbers: the caller's must stay as they are.
        with torch.random.fork_rng(devices=[]):
            sizes = (d_in, H * D, context_length, 0.0, H)
            layer = attention.MultiHeadAttention(*sizes)
            _fill(layer, None if T == 1 else generator)
            heads = heads_of(layer) if T == 1 else []
        x = torch.randn(B, T, d_in, generator=generator)
        if T == 1:
            x = torch.tensor([[[10.0, 1.0]]])
        if name.startswith("inputs"):
            x = 300 * x
        shown = {"num_heads": H, "d_in": d_in, "width of a head": D, "x": x}
        for h, head in enumerate(heads):
            shown[f"W_value of head {h}"] = head.W_value.weight.detach()
        cases.append(Case(name, {"layer": layer, "x": x}, shown))
    return cases


def _fill(layer, generator):
    """Weights that are the same wherever the check runs: drawn, or 1, 2, 3, …"""
    count = 0
    for values in layer.parameters():
        numbers = torch.arange(count, count + values.numel()) + 1.0
        count += values.numel()
        if generator is not None:
            numbers = torch.randn(values.numel(), generator=generator)
        values.data = numbers.view(values.shape)


def settle(layers, others):
    """Name what two builds left at different random values, and set that to 1.

    So a result is the same whenever a check runs, whatever was drawn before.

    Args:
        layers: a list of modules; they are changed.
        others: the modules of a second build from equal arguments.

    Returns:
        names: of the parameters, the first two in one text, or "nothing".
    """
    drawn = set()
    with torch.no_grad():
        for layer, other in zip(layers, others, strict=False):
            twins = dict(other.named_parameters())
            for name, values in layer.named_parameters():
                if name in twins and not torch.equal(values, twins[name]):
                    drawn.add(name)
                    values.fill_(1.0)
    first, rest = sorted(drawn)[:2], len(drawn) - 2
    more = f" and {rest} more" if rest > 0 else ""
    return f"{', '.join(first)}{more}" if drawn else "nothing"


def longest_text(module, d_in, expected):
    """Whether a module takes texts as long as it should: "right", "longer", "shorter".

    Args:
        module: it maps (B, T, d_in) to a tensor, and raises an error at longer texts.
        d_in: the width of a token.
        expected: the longest T that it should take.
    """

    def takes(T):
        try:
            module(torch.zeros(1, T, d_in))
        except (IndexError, RuntimeError, ValueError):
            return False
        return True

    if takes(expected + 1):
        return "longer"
    return "right" if takes(expected) else "shorter"


@torch.no_grad()
def changes_with(given, output):
    """Whether an output becomes another one when the weights of ``given`` change.

    Args:
        given: a list of modules; they are as before at the end.
        output: a function without arguments that computes it.
    """
    before = output()
    weights = [values for module in given for values in module.parameters()]
    saved = [values.clone() for values in weights]
    for values in weights:
        values.add_(1.0)
    after = output()
    for values, old in zip(weights, saved, strict=True):
        values.copy_(old)
    return before is not None and not torch.equal(before, after)


# --- builds ---------------------------------------------------------------------------


def _own_rows(weight, h, D):
    return weight[h * D : (h + 1) * D]


@torch.no_grad()
def heads_of(layer, *, rows=_own_rows, names=MATRICES, share=False, longer=0):
    """Heads from one layer; where an option says so, with a mistake.

    Args:
        layer: a ``MultiHeadAttention``.
        rows: ``rows(weight, h, D)`` takes the rows of head h.
        names: of the matrices that are copied.
        share: give the heads the layer's memory instead of a copy.
        longer: by how much their ``context_length`` exceeds the layer's.

    Returns:
        heads: a list of ``CausalAttention`` modules.
    """
    d_out, d_in = layer.W_query.weight.shape
    D = d_out // layer.num_heads
    heads = []
    for h in range(layer.num_heads):
        length = layer.context_length + longer
        head = attention.CausalAttention(d_in, D, length, 0.0)
        for name in names:
            part = rows(getattr(layer, name).weight, h, D)
            if share:
                getattr(head, name).weight.data = part
            else:
                getattr(head, name).weight.copy_(part)
        heads.append(head)
    return heads


def exchanged(module):
    """The module with its query and key layers in each other's places."""
    module.W_query, module.W_key = module.W_key, module.W_query
    return module
