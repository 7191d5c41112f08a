"""Causes that only several checks together tell, or where a cache first goes wrong."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from attention_audit.causes import CAUSES, PARTS, Told


class Pattern(NamedTuple):
    """Checks that fail or hold together, and what is told of one that fails.

    Args:
        checks: of which it is told.
        told: what is told.
        reason: what the check's reason must match.
        fails: checks that must fail, too.
        holds: checks that must pass.
        spared: checks that may pass or be not applicable, but must not fail.
    """

    checks: tuple[str, ...]
    told: Told
    reason: str = ""
    fails: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()

    def fits(self, check: str, reason: str, results: Mapping[str, str]) -> bool:
        """Whether a check, its reason and the results of all checks are of it."""
        return (
            check in self.checks
            and re.search(self.reason, reason) is not None
            and all(results.get(one) == "FAILS" for one in self.fails)
            and all(results.get(one) == "passes" for one in self.holds)
            and all(results.get(one) != "FAILS" for one in self.spared)
        )


def told(check: str, reason: str, results: Mapping[str, str]) -> Told:
    """What is told of a check that fails: by its reason, by others, or as usual.

    Args:
        check: the check's name.
        reason: its reason.
        results: of all checks, "passes", "FAILS" and so on, by their names.
    """
    for words, one in PARTS.items():
        if re.search(words, reason):
            return one
    for pattern in PATTERNS:
        if pattern.fits(check, reason, results):
            return pattern.told
    return CAUSES[check]


REPEATS = "eval repeats"
FUTURES = (
    *("short sequences", "one token", "future changed", "future grads"),
    "large inputs",
)
FUTURE = "in training it copies the next token, and can't in use"
PROMPT = "a prompt gives something else than the same text in a longer one"
NEIGHBOURS = "what stands beside a text in a batch changes it"
UNREAD = "part of the text is never read"
GENERATION = "generation with a cache goes on otherwise than without"

# The first that fits counts.
PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        (*FUTURES, "tokens reached", "order"),
        Told(
            "tokens and heads are mixed, and no mask stops that",
            (
                "heads split or merged without `transpose(1, 2)`",
                "an axis order that another library has, (B, T, H, D) and (B, H, T, D)",
            ),
        ),
        fails=("heads", "order", "tokens reached"),
        spared=(REPEATS,),
    ),
    Pattern(
        ("short sequences", "one token", "future changed", "future grads", "batch"),
        Told(
            f"{FUTURE}; {NEIGHBOURS}",
            (
                "a norm, a maximum or a rounding over the whole tensor: no `dim`",
                "sequences and tokens that change places in a `reshape`",
            ),
        ),
        fails=("future changed", "batch"),
        spared=(REPEATS, "hidden weights"),
    ),
    Pattern(
        ("short sequences", "one token", "future changed"),
        Told(
            FUTURE,
            (
                "what lets no gradient through, over all tokens: a `topk` before the "
                "mask, a rounding, a maximum, a statistic",
                "a mask that goes by the mode or the length",
            ),
        ),
        fails=("future changed",),
        spared=(REPEATS, "future grads"),
    ),
    Pattern(
        FUTURES,
        Told(
            FUTURE,
            (
                "the weights' mask is right; a norm, a mean, a gate or a "
                "log-sum-exp runs over all tokens",
                "`roll`, a shift or a convolution that reaches the next token",
            ),
        ),
        fails=("future changed", "future grads"),
        holds=("hidden weights",),
        spared=(REPEATS,),
    ),
    Pattern(
        ("short sequences", "one token"),
        Told(
            PROMPT,
            (
                "a mask or a table not cut to `[:T, :T]`, or kept from the first call",
                "a size in `reshape` that is one length's",
            ),
        ),
        reason="Error",
        fails=("short sequences",),
        spared=(REPEATS, "future changed"),
    ),
    Pattern(
        ("short sequences", "one token"),
        Told(
            PROMPT,
            (
                "positions, a bias or a table that go by T: counted from the end, or "
                "stretched",
                "a division by T, or by its root",
            ),
        ),
        reason="differs from the whole",
        fails=("short sequences",),
        spared=(REPEATS, "future changed"),
    ),
    Pattern(
        ("one token",),
        Told(
            "generation from a single token goes wrong",
            (
                "a path of its own for one token, which leaves something out",
                "`squeeze()`, which drops the axis of 1",
            ),
        ),
        reason="differs from the whole",
        spared=(REPEATS, "short sequences"),
    ),
    Pattern(
        ("batch",),
        Told(
            NEIGHBOURS,
            (
                "attention over the batch: no `batch_first`, or axes exchanged",
                "softmax over the batch",
            ),
        ),
        fails=("tokens reached",),
        spared=(REPEATS,),
    ),
    Pattern(
        ("batch",),
        Told(
            NEIGHBOURS,
            (
                "positions added along the batch, from a table for (T, B, d_in)",
                "softmax, a sum or an einsum over the batch, or heads folded into it "
                "in another order than they come out",
            ),
        ),
        reason="alone differs",
        spared=(REPEATS, "future changed"),
    ),
    Pattern(
        ("tokens reached", "order"),
        Told(
            UNREAD,
            (
                "fixed blocks in place of a window, or a mask that begins anew in each "
                "chunk",
                "tokens mixed in a `reshape`: a fused projection is (B, T, 3, H, D)",
            ),
        ),
        fails=("tokens reached", "order"),
        spared=(REPEATS, "short sequences"),
    ),
    Pattern(
        ("order",),
        Told(
            "positions come in unseen, or tokens don't count alike",
            (
                "positions that weren't declared",
                "a softmax in blocks whose sums aren't rescaled to a new maximum",
            ),
        ),
        spared=(
            REPEATS,
            *("short sequences", "tokens reached", "heads", "row sums", "scale"),
        ),
    ),
    Pattern(
        ("cache",),
        Told(
            "texts that are served at once read one another's tokens",
            (
                "keys and values kept on `self`, or room that belongs to the layer",
                "a position or a mask kept there",
            ),
        ),
        reason="^two sequences in turn",
    ),
    Pattern(
        ("cache",),
        Told(
            GENERATION,
            (
                "a path for single new tokens that leaves out a cap, a gate, a bias or "
                "a scale",
                "a mask or positions that are right for several new tokens only",
            ),
        ),
        reason="first wrong at position 1.*fine:.*1 token then",
    ),
    Pattern(
        ("cache",),
        Told(
            "generation is coarser than one pass",
            (
                "a cache in another dtype than the layer's, such as bfloat16",
                "keys or values rounded to fewer digits",
            ),
        ),
        reason=r"by (\de-\d|0\.00[0-2])",
    ),
    Pattern(
        ("cache",),
        Told(
            GENERATION,
            (
                "empty places of a cache made in advance, or slots written wrongly, "
                "that take part",
                "a path for single tokens that leaves out a gate, a bias or a scale",
            ),
        ),
        reason="first wrong at position 0",
    ),
    Pattern(
        ("cache",),
        Told(
            "a prompt in several pieces, or a draft that is checked, goes wrong",
            (
                "the mask of several new tokens: none, aligned at the upper left, or "
                "for new keys behind the old ones, which stand before them",
                "keys evicted before the first of several new tokens has read them",
            ),
        ),
        reason="fine:.*one token at a time",
    ),
    Pattern(
        ("cache",),
        Told(
            GENERATION,
            (
                "keys rotated again at each step, or cached before the rotation",
                "an average of parts that aren't weighed by their sums",
            ),
        ),
        reason="first wrong at position 2.*fine:.*1 token then",
    ),
    Pattern(
        ("cache",),
        Told(
            GENERATION,
            (
                "what is evicted: the new token and the window less 1 before it are "
                "read; or positions counted by what is left",
                "parts of a cache put together without their sums, or pages mixed up",
            ),
        ),
        reason=r"first wrong at position ([3-9]|\d\d)",
    ),
    Pattern(
        ("cache",),
        Told(
            GENERATION,
            (
                "positions, bias or mask rows of new tokens that begin at 0 again: of "
                "S tokens, the last T are S - T to S - 1",
                "what one pass reads isn't all cached: keys before their norm, twice "
                "or behind the new ones; or the past of a sum, a shift, a convolution",
            ),
        ),
        reason="first wrong at position [12]",
    ),
)
