"""A memory of fixed size, written and read: keys and values added, or overwritten."""

from collections.abc import Sequence

from torch import Tensor

from helpers import validation
from helpers.linear_attention import recurrent_delta_rule, recurrent_linear_attention
from helpers.views.view import Table, View


def memory_state(
    keys: Tensor,
    values: Tensor,
    names: Sequence[str],
    *,
    writes: Sequence[int] = (),
) -> View:
    """Write pairs into two memories, and see what each key finds there.

    One memory adds each pair, as linear attention does; the other follows the delta
    rule, and replaces what it has under the key. Both states are shown, and for each
    key what it reads from them beside the value that was written last.

    Args:
        keys: (N, D), of length 1 where the delta rule shall replace all of a value.
        values: (N, D_v), what each key writes at first; it can be changed in the view.
        names: N names of the keys.
        writes: places of keys that have written, in their order, when the view opens.

    Returns:
        view: a View.

    Raises:
        ValueError: shapes that don't fit, names that don't count the keys, or a place
            outside them.

    Source: Schlag et al. 2021; Yang et al. 2024. Chapter 16.
    """
    validation.require_float(keys=keys, values=values)
    for name, tensor in {"keys": keys, "values": values}.items():
        shape = validation.shape_of(tensor)
        if len(shape) != 2 or 0 in shape:
            raise ValueError(
                f"{name} must have two axes that aren't empty, got {shape}"
            )
    N, D = keys.shape
    validation.require_same(
        "the number of rows (N)",
        keys=(N, validation.shape_of(keys)),
        values=(len(values), validation.shape_of(values)),
    )
    names = [str(name) for name in names]
    if len(names) != N:
        raise ValueError(f"names must hold {N} names, got {len(names)}")
    for place in writes:
        if not validation.is_whole(place) or not 0 <= place < N:
            raise ValueError(
                f"writes must hold whole numbers from 0 to {N - 1}, got {place!r}"
            )
    keys, values = keys.detach().cpu(), values.detach().cpu()
    states = dict.fromkeys(("added", "overwritten"), keys.new_zeros(D, values.shape[1]))
    if writes:
        some = keys[list(writes)], keys[list(writes)], values[list(writes)]
        states = {
            "added": recurrent_linear_attention(*some)[1],
            "overwritten": recurrent_delta_rule(*some, keys.new_ones(len(writes)))[1],
        }
    return View(
        "memory_state",
        "A memory of fixed size",
        {
            "keys": keys.tolist(),
            "values": values.tolist(),
            "names": names,
            "writes": [int(place) for place in writes],
        },
        [
            *(
                Table(f"The state, {how}", state.tolist())
                for how, state in states.items()
            ),
            *(
                Table(
                    f"What each key reads, {how}", (keys @ state).tolist(), rows=names
                )
                for how, state in states.items()
            ),
        ],
        decimals=6,  # so that the places shown are right after the browser's arithmetic
    )
