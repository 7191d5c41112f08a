"""What a reader's function leaves behind, in words."""

from collections.abc import Sequence

from helpers.checks.calling import Outcome

# By what of an argument a function has changed: see Outcome.changed.
_CHANGED = {
    "tensor": "its argument {}. Whoever calls it keeps that tensor: work on a copy.",
    "list": "its argument {}. Whoever calls it keeps that list: build a new one.",
    "tensors in a list": (
        "the tensors in its argument {}. Whoever calls it keeps them, and a copy of "
        "the list holds the same tensors: work on a clone() of each."
    ),
    "modules in a list": (
        "the layers in its argument {}: their weights, or whether these are trained. "
        "Whoever calls it keeps the layers: leave them as they are."
    ),
    "object": "its argument {}. Whoever calls it keeps it: work on a copy.",
}


def harm_of(outcomes: Sequence[Outcome]) -> list[str]:
    """What the calls left behind that a caller would suffer from."""
    changed = {name: part for one in outcomes for name, part in one.changed.items()}
    lines = [
        f"the function changes {_CHANGED[part].format(name)}"
        for name, part in sorted(changed.items())
    ]
    shared = {name for outcome in outcomes for name in outcome.shared}
    for name in sorted(shared - changed.keys()):  # the same clone() cures both
        lines.append(
            f"the function returns tensors of its argument {name}, not new ones. "
            "Whoever changes the result changes the argument, too. clone() makes a new "
            "tensor; a view and detach() don't."
        )
    if any(outcome.reseeded for outcome in outcomes):
        lines.append(
            "the function sets PyTorch's seed. Every later random number of the "
            "caller would repeat: leave the seed to the caller."
        )
    return lines
