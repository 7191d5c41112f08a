"""The exercises, each in the module of its name, where its references and words are."""

import importlib

from helpers.checks.exercise import Exercise

# In the order of the chapters, then of the pages beside them.
NAMES = (
    "softmax",
    "context_by_loops",
    "attend",
    "self_attention",
    "v1_from_v2",
    "scaled_weights",
    "slope",
    "causal_mask",
    "sliding_window_mask",
    "padding_mask",
    "causal_weights",
    "causal_attention",
    "inverted_dropout",
    "attention_with_dropout",
    "split_heads",
    "merge_heads",
    "count_parameters",
    "two_heads",
    "multi_head_from_heads",
    "heads_from_multi_head",
    "cross_attention",
    "padded_cross_attention",
    "encode",
    "decode",
    "get_batch",
    "cross_entropy",
    "top_k",
    "top_p",
    "transformer_block",
    "block_parameters",
    "learning_rate",
    "clip_gradients",
    "mean_gradient",
    "excess_nats",
    "replace_head_by_mean",
    "prefix_matching_score",
    "sinusoidal_positions",
    "rotate",
    "alibi_bias",
    "rms_norm",
    "grouped_query_attention",
    "tiles_to_walk",
    "merge_partial_results",
    "orthogonalise",
    "lead",
    "softmax_backward",
    "attention_backward",
    "layer_norm_backward",
    "cross_entropy_backward",
    "kv_cache_step",
    "cache_bytes",
    "read_pages",
)
EXERCISES: dict[str, Exercise] = {
    name: importlib.import_module(f"{__name__}.{name}").EXERCISE for name in NAMES
}
