"""Which checks fail together leads to the bug, in layers whose authors name it."""

import contextlib
import io

import pytest
import torch

import attention_audit
import corpus
from attention_audit.patterns import PATTERNS, told

BY_NAME = {str(one): one for one in corpus.LAYERS}

# A layer with one bug, and what stands among its likely causes.
LEADS = [
    ("k-KwTopKRow", "future changed", "a `topk` before the mask"),
    ("k-KwGateMean", "future grads", "a gate or a log-sum-exp runs over all tokens"),
    ("k-KwRollShift", "future grads", "`roll`, a shift"),
    ("k-KwConvSame", "future grads", "a convolution that reaches the next token"),
    ("j-BatchNormKeys", "future changed", "a batch norm"),
    ("j-ConvTailLost", "cache", "the past of a sum, a shift, a convolution"),
    ("k-KwPosPerBatch", "batch", "positions added along the batch"),
    ("v-PadReplacesCausal", "padding", "the padding mask in place of the causal one"),
    ("v-PadAfterSoftmax", "padding", "put on after softmax"),
    ("v-OneTokenShortcut", "one token", "a path of its own for one token"),
    ("v-UnfoldUnmasked", "row sums", "zeros by `pad` or `unfold`"),
    ("v-MergeSwappedAxes", "heads", "`transpose(1, 2)` must come first"),
    ("k-KwBlockWindow", "tokens reached", "fixed blocks in place of a window"),
    ("j-ChunkOffsetMissing", "tokens reached", "a mask that begins anew in each chunk"),
    ("k-KwOnlineNoRescale", "order", "a softmax in blocks whose sums aren't rescaled"),
    ("k-KwSeededDrop", "dropout", "a seed set in `forward`"),
    ("j-UpperLeft", "cache", "mask rows of new tokens that begin at 0 again"),
    ("k-KwT5LastRow", "cache", "the mask of several new tokens"),
    ("k-KwRotatedTwice", "cache", "keys rotated again at each step"),
    ("j-HalfCache", "cache", "a cache in another dtype"),
]


@pytest.mark.parametrize(("name", "check", "cause"), LEADS, ids=[e[0] for e in LEADS])
def test_the_likely_causes_name_the_bug(name, check, cause):
    entry = BY_NAME[name].entry
    torch.manual_seed(0)
    with contextlib.redirect_stdout(io.StringIO()):
        found = attention_audit.audit(
            entry["layer"](),
            entry["d_in"],
            entry["context_length"],
            **entry["options"],
        )
    assert [one for one in found.told()[check].causes if cause in one]


def test_a_cache_that_goes_wrong_late_has_lost_something():
    late = told("cache", "one token at a time: first wrong at position 5, by 0.1", {})
    assert "what is evicted" in late.causes[0]


def test_a_layer_whose_calls_differ_is_told_that_and_nothing_else():
    results = {"eval repeats": "FAILS", "batch": "FAILS"}
    assert told("batch", "alone differs by 1.0", results) not in [
        one.told for one in PATTERNS
    ]
