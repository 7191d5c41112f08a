"""What the README and the explanations say of patterns holds for layers by others.

What is wrong with a layer of the corpus, its author has said: in its docstring.
"""

import contextlib
import io
import pathlib
import re

import pytest
import torch

import attention_audit
import corpus
from attention_audit.checklist import FUNCTIONS
from attention_audit.subject import Declared, Subject
from steps import D_IN, H, Steps, T, rotated

README = pathlib.Path(__file__).resolve().parent.parent / "README.md"
BULLETS = re.findall(r"^- (.*)$", README.read_text(encoding="utf-8"), re.M)
EXPECTED = corpus.expected()
WRONG = {str(one): one for one in corpus.LAYERS if not one.right}


# --- patterns of checks ---------------------------------------------------------------


def having(*names, without=()):
    """Whether checks that fail are a pattern."""
    return lambda failed: {*names} <= failed and not {*without} & failed


def alone(*names):
    return lambda failed: failed and failed <= {*names}


# How a bullet begins, its pattern, and what a docstring says of such a mistake: of how
# large a share at least.
CLAIMS = [
    (
        "`future grads` and `hidden weights`: the mask",
        having("future grads", "hidden weights", without=["row sums"]),
        r"mask|tri[lu]|triangle|hid(e|den)|window|causal|softmax"
        r"|smoothed|later tokens are seen|forbidden|one token ahead",
        1.0,
    ),
    (
        "`future grads` and `row sums` without `hidden weights`: the future is mostly",
        having("future grads", "row sums", without=["hidden weights"]),
        r"softmax|column sums|divided by the sum over queries",
        0.9,
    ),
    (
        "`future grads` without both: something beside the weights",
        having("future grads", without=["hidden weights", "row sums"]),
        r"[Mm]ean|[Nn]orm|unit length|shift|convolution|gate|transpose|reshape|view"
        r"|centred|denominator|summed|backward|roll",
        0.9,
    ),
    (
        "`future changed` without `future grads`: only in train mode",
        having("future changed", without=["future grads"]),
        r"train|eval|[Bb]atch ?[Nn]orm|each call|(the )?call(s)? (before|moves|counts)"
        r"|last call|between calls|next (one|call)|moves at each call|in the next call"
        r"|longer seq|17th|above \d+ tokens|maximum|largest|gradients don't show",
        0.9,
    ),
    (
        "`short sequences` or `one token` alone: the mask, the positions or a divisor",
        alone("short sequences", "one token"),
        r"mask|position|skew|table|length|shorter|(one|single) token|last whole chunk",
        1.0,
    ),
    (
        "`large inputs` alone: mostly a mask of −10,000",
        alone("large inputs"),
        r"10000|1e4|maximum|float16|0 / 0",
        0.9,
    ),
]


@pytest.mark.parametrize(
    ("bullet", "pattern", "says", "share"), CLAIMS, ids=[one[0] for one in CLAIMS]
)
def test_a_pattern_of_checks_means_what_the_readme_says(bullet, pattern, says, share):
    assert [one for one in BULLETS if one.startswith(bullet)]
    found = [
        member for id_, member in WRONG.items() if pattern({*EXPECTED[id_]["fails"]})
    ]
    assert len(found) >= 10
    others = [one for one in found if not re.search(says, one.says)]
    assert len(others) <= (1 - share) * len(found), [one.says for one in others]


def test_every_pattern_of_the_readme_is_asked_here():
    of_checks = [one for one in BULLETS if re.match(r"`[\w ]+`.*: ", one)]
    known = [one[0] for one in CLAIMS]
    known += [
        "`output shape` and `eval repeats` first: ",
        "`order`, `tokens reached`, ",
    ]
    assert len(of_checks) == len(known)
    assert all(any(one.startswith(start) for start in known) for one in of_checks)


class Rotary(Steps):
    def placed(self, heads, name):
        return heads if name == "values" else rotated(heads)


class Window(Steps):
    def seen(self, T, device):
        return super().seen(T, device).triu(-3)


class Grouped(Steps):
    shared_keys = 2


@pytest.mark.parametrize(
    ("layer", "declared", "check"),
    [
        (Rotary, {"positions": "rotary"}, "order"),
        (Window, {"window": 4}, "tokens reached"),
        (Grouped, {"num_kv_heads": 2}, "heads"),
    ],
)
def test_what_is_not_declared_fails_the_checks_that_the_readme_names(
    layer, declared, check
):
    (bullet,) = (one for one in BULLETS if one.startswith("`order`, `tokens reached`"))
    torch.manual_seed(3)
    failed = attention_audit.audit(layer(), D_IN, T, num_heads=H).failed
    assert check in failed
    assert {*failed} <= {*re.findall(r"`([^`]+)`", bullet)}
    assert attention_audit.audit(layer(), D_IN, T, num_heads=H, **declared).ok


# --- where a cache is first wrong -----------------------------------------------------

# What four of five docstrings say, by the first wrong position, or where pieces alone
# are wrong.
CACHES = {
    "0, a cache not empty at first": r"default|empty|slots|attribute|(on|in) the module"
    r"|never written",
    "1 or 2, the offset of positions or mask, or what is cached": r"again|once more"
    r"|is_causal"
    r"|count from zero|first rows|offset|rotary base|written|put before|holds only"
    r"|stored as|pre-made|from position 0|from 0|began anew|twice|before its own"
    r"|number of heads|left out|begin at 0|skipped|bfloat16|keys"
    r"|starts? |handed back|cache (holds|keeps|is returned)|within the piece|caches",
    "where a window fills, eviction": r"window|slides|rolling|W keys|evict|overflow",
    "only in pieces, the mask for several tokens": r"several|chunk|piece",
}


def reason_of(member):
    """What the check says of a layer's cache."""
    torch.manual_seed(0)
    entry = member.entry
    options = entry["options"] if "options" in entry else corpus.options_of(entry)
    declared = Declared(**options)
    layer = entry["layer"]()
    subject = Subject(layer, entry["d_in"], entry["context_length"], declared)
    with contextlib.redirect_stdout(io.StringIO()):
        return FUNCTIONS["cache"](subject)[1]


def cause_of(reason):
    """Which of CACHES a reason belongs to."""
    by_piece, by_position = "only in pieces", ("0,", "1 or 2,", "where a window fills")
    found = re.match(r"(.*?): first wrong at position (\d+)", reason)
    if not found or "turn" in found[1] or "padding" in found[1]:
        return None
    if found[1].startswith("pieces") and "one token at a time" in reason:
        start = by_piece
    elif found[1].startswith("one token"):
        t = int(found[2])
        start = by_position[0 if t == 0 else 1 if t < 3 else 2]
    else:
        return None
    return next(cause for cause in CACHES if cause.startswith(start))


def test_where_a_cache_is_first_wrong_means_what_is_explained():
    said = attention_audit.CHECKS["cache"].look_at
    assert all(cause in said for cause in CACHES)
    found = {cause: [] for cause in CACHES}
    for id_, member in WRONG.items():
        if "cache" not in EXPECTED[id_]["fails"]:
            continue
        reason = reason_of(member)
        if (cause := cause_of(reason)) is not None:
            found[cause].append((member.says, reason))
    for cause, layers in found.items():
        others = [one for one in layers if not re.search(CACHES[cause], one[0])]
        assert len(layers) >= 5
        assert len(others) <= 0.2 * len(layers), others
