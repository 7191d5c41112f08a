"""An audit of attention layers: checks from outside, and a look at what is computed.

``audit`` runs the checks, and gives an ``Audit`` with a ``Row`` for each of ``CHECKS``,
which ``explained`` explains. The command ``attention-audit`` and the pytest fixture
``attention_audit`` call it.

``checklist`` runs all checks, and ``report`` is the table of results. Each check is a
function of the layer in ``subject``. Most see it from outside: what reads what
(``reading``), sizes, types, modes and devices (``handling``), padding, caches and
compilation (``contracts``). Others look ``inside`` a call, at its ``weights`` and its
``heads``: all that it computes is kept by ``recording``, and ``sources`` finds where
queries, keys and values come from. Where a check passes, others ask ``further``: in
train mode (``training``), after other calls (``sequences``), by small steps
(``derivatives``), why 16 bits are refused (``refusals``); where one fails, ``excuses``
ask whether that is meant. ``calling`` and ``limits`` run a check so that it ends and
nothing of it gets out; ``causes`` says what a failure would mean.

To import torch takes seconds. So this module, from which the command reads its options,
imports no torch; the first audit does.
"""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Literal

from attention_audit.explained import CHECKS

if TYPE_CHECKING:
    import torch

    from attention_audit.report import Audit, Row

__all__ = ["CHECKS", "Audit", "Row", "audit"]
__version__ = "0.1.0"


def audit(
    module: "torch.nn.Module",
    d_in: int,
    context_length: int,
    *,
    causal: bool = True,
    window: int | tuple[int | None, ...] | None = None,
    softmax: bool = True,
    positions: bool | Literal["rotary", "alibi", "relative"] = False,
    num_heads: int | None = None,
    num_kv_heads: int | None = None,
    scale: float | None = None,
    dropout: float | None = None,
    padding: Callable[..., Any] | None = None,
    step: Callable[..., Any] | None = None,
    compiled: bool = False,
    make: Callable[[], "torch.nn.Module"] | None = None,
    documents: Callable[..., Any] | None = None,
    require: Collection[str] = (),
    seconds: float = 10.0,
) -> "Audit":
    """Run all checks on an attention layer, and print a table.

    The layer is called as ``module(x)`` and returns the context, or a pair of context
    and weights, or a dict; weights are also asked for by ``return_weights=True`` where
    ``forward`` knows that option. A layer that is called in another way gets a wrapper
    of a few lines. All calls are made on copies: the module itself, its mode and the
    caller's random numbers stay as they were. Whatever the module does, nothing is
    raised. The time grows with the square of ``context_length``: audit a small one.

    The copies are in eval mode unless a check is about train mode. Those of a layer in
    16 bits are in float32, or stay as they are where the layer refuses float32. Where a
    parameter is 0 throughout, a copy has small random numbers.

    Some checks look inside: they find the layer's own queries, keys, values and weights
    among the matrix products of a call, whatever the parts are named. What a layer
    refuses with an error, such as a dtype, is "not applicable" where only some layers
    promise it.

    Args:
        module: an ``nn.Module`` that maps x (B, T, d_in) to a context (B, T, d_out).
        d_in: width of a token.
        context_length: T, the longest sequence it takes.
        causal: whether no position may depend on later tokens.
        window: W, where position t attends to tokens t - W + 1 to t and no older ones;
            with ``causal=False`` as many ahead, too, to t + W - 1. ``context_length``
            must exceed it by 2 at least, or the window shows nowhere. Where windows
            differ, a tuple has one for each head, None where a head has none.
        softmax: whether each row of weights is a softmax of queries · keys. Declare
            False for sigmoid, ReLU, differential or linear attention, talking heads,
            retention, scores times log T: then sums, scale, dropped weights and
            distances aren't asked, and all else is.
        positions: whether the order of tokens may matter. "rotary" (queries and keys
            turn with their positions), "alibi" (the published linear biases) and
            "relative" (scores depend on what two tokens are and how far apart) say
            more, and more is asked.
        num_heads: H, where the module has no ``num_heads`` of its own.
        num_kv_heads: heads of keys and values, where they are fewer: query heads
            hg to hg + g - 1 share key and value head h, with g = H / num_kv_heads.
        scale: what query · key is multiplied by, where it isn't 1 / √D.
        dropout: the probability of dropping a weight in train mode.
        padding: a function (module, x, real) that calls the module with a padding mask;
            real (B, T) is True at tokens and False at padding.
        step: a function (module, x, cache) that feeds the next tokens x (B, t, d_in)
            and returns (context, cache); the first cache is None. t is 1 or more; a
            step that takes single tokens only raises NotImplementedError, ValueError
            or AssertionError for more.
        compiled: also run the layer under ``torch.compile``, which takes seconds.
        make: a function without arguments that makes another such module with other
            initial weights; the state dict is then loaded into that.
        documents: a function (module, x, ids) that calls the module with several
            documents in each sequence; ids (B, T) says which one a token belongs to,
            0 and up.
        require: names of checks that must not be "not applicable"; then they fail.
        seconds: how long one check may take; 10 unless you say.

    Returns:
        found: an Audit; ``found.ok`` says whether no check fails.

    Raises:
        ValueError: sizes that aren't whole numbers of at least 1, a window that never
            fills, switches that aren't True or False, a probability out of [0, 1), a
            scale or seconds that are no number above 0, unknown positions, a
            ``padding``, ``step``, ``make`` or ``documents`` that can't be called, or a
            name in ``require`` that no check has.

    Source: the bug museum of "Attention, One Step at a Time", one check for each
    mistake that a layer can make.
    """
    from attention_audit.checklist import ask
    from attention_audit.subject import Declared

    declared = Declared(
        causal=causal,
        window=window,
        softmax=softmax,
        positions=positions,
        num_heads=num_heads,
        num_kv_heads=num_kv_heads,
        scale=scale,
        dropout=dropout,
        padding=padding,
        step=step,
        compiled=compiled,
        make=make,
        documents=documents,
    )
    return ask(module, d_in, context_length, declared, require, seconds)


def __getattr__(name: str) -> Any:
    """The classes of what an audit finds, imported when asked for."""
    if name in ("Audit", "Row"):
        from attention_audit import report

        return getattr(report, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
