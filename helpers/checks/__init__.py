"""Checks for the exercises: each names the mistake that a solution behaves like.

``checks.causal_mask(my_causal_mask)`` prints a verdict and returns it. No check raises
on what a reader wrote. ``checks.audit(layer, d_in, context_length)`` puts any attention
layer to the tests of the bug museum.
"""

from helpers.checks.audit import audit
from helpers.checks.exercises.attention_with_dropout import (
    ATTENTION_WITH_DROPOUT,
    attention_with_dropout,
)
from helpers.checks.exercises.averages import (
    ATTEND,
    CONTEXT_BY_LOOPS,
    attend,
    context_by_loops,
)
from helpers.checks.exercises.backward import (
    ATTENTION_BACKWARD,
    SOFTMAX_BACKWARD,
    attention_backward,
    softmax_backward,
)
from helpers.checks.exercises.block_parameters import BLOCK_PARAMETERS, block_parameters
from helpers.checks.exercises.causal_attention import CAUSAL_ATTENTION, causal_attention
from helpers.checks.exercises.causal_weights import CAUSAL_WEIGHTS, causal_weights
from helpers.checks.exercises.count_parameters import COUNT_PARAMETERS, count_parameters
from helpers.checks.exercises.cross_attention import CROSS_ATTENTION, cross_attention
from helpers.checks.exercises.cross_entropy import CROSS_ENTROPY, cross_entropy
from helpers.checks.exercises.decode import DECODE, decode
from helpers.checks.exercises.encode import ENCODE, encode
from helpers.checks.exercises.get_batch import GET_BATCH, get_batch
from helpers.checks.exercises.heads_from_multi_head import (
    HEADS_FROM_MULTI_HEAD,
    heads_from_multi_head,
)
from helpers.checks.exercises.inverted_dropout import INVERTED_DROPOUT, inverted_dropout
from helpers.checks.exercises.kv_cache_step import KV_CACHE_STEP, kv_cache_step
from helpers.checks.exercises.masks import (
    CAUSAL_MASK,
    PADDING_MASK,
    SLIDING_WINDOW_MASK,
    causal_mask,
    padding_mask,
    sliding_window_mask,
)
from helpers.checks.exercises.multi_head_from_heads import (
    MULTI_HEAD_FROM_HEADS,
    multi_head_from_heads,
)
from helpers.checks.exercises.padded_cross_attention import (
    PADDED_CROSS_ATTENTION,
    padded_cross_attention,
)
from helpers.checks.exercises.scaled_weights import SCALED_WEIGHTS, scaled_weights
from helpers.checks.exercises.self_attention import SELF_ATTENTION, self_attention
from helpers.checks.exercises.softmax import SOFTMAX, softmax
from helpers.checks.exercises.split_and_merge import (
    MERGE_HEADS,
    SPLIT_HEADS,
    merge_heads,
    split_heads,
)
from helpers.checks.exercises.top_k import TOP_K, top_k
from helpers.checks.exercises.top_p import TOP_P, top_p
from helpers.checks.exercises.transformer_block import (
    TRANSFORMER_BLOCK,
    transformer_block,
)
from helpers.checks.exercises.v1_from_v2 import V1_FROM_V2, v1_from_v2
from helpers.checks.verdict import Verdict

# In the order of the chapters.
EXERCISES = {
    one.name: one
    for one in (
        SOFTMAX,
        CONTEXT_BY_LOOPS,
        ATTEND,
        SELF_ATTENTION,
        V1_FROM_V2,
        SCALED_WEIGHTS,
        SOFTMAX_BACKWARD,
        ATTENTION_BACKWARD,
        CAUSAL_MASK,
        SLIDING_WINDOW_MASK,
        PADDING_MASK,
        CAUSAL_WEIGHTS,
        CAUSAL_ATTENTION,
        INVERTED_DROPOUT,
        ATTENTION_WITH_DROPOUT,
        SPLIT_HEADS,
        MERGE_HEADS,
        COUNT_PARAMETERS,
        MULTI_HEAD_FROM_HEADS,
        HEADS_FROM_MULTI_HEAD,
        CROSS_ATTENTION,
        PADDED_CROSS_ATTENTION,
        ENCODE,
        DECODE,
        GET_BATCH,
        CROSS_ENTROPY,
        TOP_K,
        TOP_P,
        TRANSFORMER_BLOCK,
        BLOCK_PARAMETERS,
        KV_CACHE_STEP,
    )
}

__all__ = [
    "EXERCISES",
    "Verdict",
    "attend",
    "attention_backward",
    "attention_with_dropout",
    "audit",
    "block_parameters",
    "causal_attention",
    "causal_mask",
    "causal_weights",
    "context_by_loops",
    "count_parameters",
    "cross_attention",
    "cross_entropy",
    "decode",
    "encode",
    "get_batch",
    "heads_from_multi_head",
    "inverted_dropout",
    "kv_cache_step",
    "merge_heads",
    "multi_head_from_heads",
    "padded_cross_attention",
    "padding_mask",
    "scaled_weights",
    "self_attention",
    "sliding_window_mask",
    "softmax",
    "softmax_backward",
    "split_heads",
    "top_k",
    "top_p",
    "transformer_block",
    "v1_from_v2",
]
