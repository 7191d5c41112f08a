"""What each check asks, and what to look at where it fails. It needs no torch."""

import textwrap
from collections.abc import Collection, Mapping
from typing import NamedTuple

from attention_audit.causes import CAUSES, Told

WIDTH, NAME_WIDTH = 80, 16
MARGIN = " " * NAME_WIDTH


class Explained(NamedTuple):
    """What must hold for a check to pass, and the usual places of its mistakes."""

    holds: str
    look_at: str


def explanation() -> str:
    """All checks as text: what must hold, and what to look at."""
    return "\n".join(
        _filled(f"{name:{NAME_WIDTH}}", one.holds)
        + "\n"
        + _filled(" " * NAME_WIDTH, f"if it fails, look at: {one.look_at}")
        for name, one in CHECKS.items()
    )


def advice(failed: Mapping[str, Told]) -> str:
    """For each check that fails, with what is told of it: what to look at.

    That is what was asked, what the failure would mean in use, the two likeliest
    causes, and, where these are the usual ones, what to look at. Of checks that are
    told the same, it stands once.
    """
    lines = []
    told: dict[Told, str] = {}
    for name, one in failed.items():
        lines.append(_filled(f"{name:{NAME_WIDTH}}", f"asked: {CHECKS[name].holds}"))
        if one in told:
            lines.append(_filled(MARGIN, f"as above: {told[one]}"))
            continue
        told[one] = name
        means, (first, second) = one
        lines += [
            _filled(MARGIN, f"means: {means}"),
            _filled(MARGIN, f"likely: {first}; or {second}"),
        ]
        if one == CAUSES[name]:
            lines.append(_filled(MARGIN, f"look at: {CHECKS[name].look_at}"))
    return "\n".join(lines)


def _filled(start: str, words: str) -> str:
    return textwrap.fill(
        words.replace("`", ""),
        WIDTH,
        initial_indent=start,
        subsequent_indent=" " * NAME_WIDTH,
    )


def require_names(option: str, names: str | Collection[str]) -> tuple[str, ...]:
    """The names of checks that an option has; a string is one name.

    Raises:
        ValueError: a name that no check has, or something else than names.
    """
    if not isinstance(names, Collection):
        raise ValueError(f"{option} must name checks, got {names!r}")
    named = (names,) if isinstance(names, str) else tuple(names)
    for name in named:
        if name not in CHECKS:
            raise ValueError(
                f"{option} must name checks, got {name!r}; "
                f"these are {', '.join(map(repr, CHECKS))}"
            )
    return named


# In the order of the table.
CHECKS: dict[str, Explained] = {
    "output shape": Explained(
        "x `(B, T, d_in)` becomes `(B, T, d_out)`, all finite",
        "the error; if NaN, positions that attend to nothing",
    ),
    "short sequences": Explained(
        "a shorter sequence gives the beginning of a longer one",
        "where the mask is cut to `[:T, :T]`",
    ),
    "one token": Explained(
        "so does one token",
        "`squeeze()`",
    ),
    "empty batch": Explained(
        'a batch of 0 gives 0 sequences; an error is "not applicable"',
        "each `reshape` that names B",
    ),
    "future changed": Explained(
        "later tokens change no earlier position, in 40 tokens neither",
        "the mask; norms and means over T or B",
    ),
    "future grads": Explained(
        "a position's gradient is 0 for later tokens",
        "the mask; softmax's axis; a missing transpose",
    ),
    "tokens reached": Explained(
        "each position and head reads all that it may, and nothing beyond the window",
        "the mask's diagonal; an undeclared window",
    ),
    "features read": Explained(
        "each output feature, and each head, depends on each input feature",
        "heads split before the projection",
    ),
    "batch": Explained(
        "a sequence gives the same alone as in a batch, a document as among others",
        "`batch_first`; norms over the batch",
    ),
    "order": Explained(
        "without positions, the order of tokens changes nothing",
        "undeclared positions; a missing transpose",
    ),
    "hidden weights": Explained(
        "tokens that a position may not attend to have weight 0",
        "the mask; the returned weights",
    ),
    "row sums": Explained(
        "each row of weights sums to 1, or less with a sink; unseen, equal tokens give "
        "what one gives",
        "softmax's axis; a mask after softmax",
    ),
    "weights shown": Explained(
        "returned weights are those that were used",
        "code that computes them again",
    ),
    "scale": Explained(
        "queries · keys are divided by √D, D the width of a head",
        "the divisor in the reason",
    ),
    "dropped weights": Explained(
        "weights are dropped independently; the others grow by 1 / (1 − p)",
        "dropout before softmax",
    ),
    "heads": Explained(
        "as many heads as declared, each with its own features",
        "`repeat` in place of `repeat_interleave`",
    ),
    "queries, keys": Explained(
        "three projections of the same tokens make them and values, as named",
        "the parameter in the reason",
    ),
    "distances": Explained(
        "among equal tokens only the distance counts; ALiBi has the published slopes",
        "the positions of queries and of keys",
    ),
    "padding": Explained(
        "left and right padding change no real position; no NaN",
        "the mask's polarity and axis",
    ),
    "cache": Explained(
        "a sequence in pieces gives what one pass gives; caches don't mix",
        "by the first wrong position: 0, a cache not empty at first; 1 or 2, "
        "the offset of positions or mask, or what is cached; where a window "
        "fills, eviction; only in pieces, the mask for several tokens",
    ),
    "dtypes": Explained(
        "float64, bfloat16 and float16 stay what they are, and leave nothing behind",
        "tensors made without `dtype=`",
    ),
    "large inputs": Explained(
        "tokens times 1000 give finite numbers and no future",
        "a mask of −10,000; a softmax that overflows",
    ),
    "gradients": Explained(
        "each parameter gets a finite gradient, no slice only 0; small steps agree",
        "what detaches it, or never reads it",
    ),
    "input kept": Explained(
        "x holds the same numbers afterwards",
        "`x += …`",
    ),
    "dropout": Explained(
        "if there is dropout, calls in train mode differ; without, modes agree",
        "`dropout_p`",
    ),
    "eval repeats": Explained(
        "calls in eval mode agree, whatever was called before",
        "dropout as a function, without `self.training`",
    ),
    "mode kept": Explained(
        "each part stays in train or eval mode",
        "`.eval()` inside a method",
    ),
    "state dict": Explained(
        "another instance that loads it gives the same, called before or not",
        "layers in a Python list",
    ),
    "devices": Explained(
        "moved to `meta` or CUDA, no tensor stays behind",
        "`register_buffer`, `device=x.device`",
    ),
    "compiled": Explained(
        "`torch.compile` compiles it, and it gives the same",
        "branches that look at numbers",
    ),
}
