"""The picture that grows: nine diagrams in one layout, each with a part more."""

import math

import torch
import torch.nn.functional as F

from helpers import views
from helpers.attention import causal_mask, merge_heads, softmax, split_heads
from tests.samples.six_words import INPUTS, WORDS

NAMES = {"T": WORDS, "S": WORDS}


def drawn(*shape, seed=0):
    """Numbers from a seed."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def dot_products():
    """Chapter 1."""
    inputs = INPUTS
    scores = inputs @ inputs.T
    weights = softmax(scores)
    context = weights @ inputs
    return views.diagram(
        {
            "inputs": (inputs, "T, C"),
            "scores": (scores, "T, S", "inputs @ inputs.T"),
            "weights": (weights, "T, S", "softmax(scores)"),
            "context": (context, "T, C", "weights @ inputs"),
        },
        names=NAMES,
    )


def projections():
    """Chapter 2."""
    inputs, (W_query, W_key, W_value) = INPUTS, drawn(3, 3, 2).unbind()
    queries, keys, values = inputs @ W_query, inputs @ W_key, inputs @ W_value
    scores = queries @ keys.T
    weights = softmax(scores)
    context = weights @ values
    return views.diagram(
        {
            "inputs": (inputs, "T, C"),
            "W_query": (W_query, "C, D"),
            "W_key": (W_key, "C, D"),
            "W_value": (W_value, "C, D"),
            "queries": (queries, "T, D", "inputs @ W_query"),
            "keys": (keys, "S, D", "inputs @ W_key"),
            "values": (values, "S, D", "inputs @ W_value"),
            "scores": (scores, "T, S", "queries @ keys.T"),
            "weights": (weights, "T, S", "softmax(scores)"),
            "context": (context, "T, D", "weights @ values"),
        },
        names=NAMES,
        new=["W_query", "W_key", "W_value", "queries", "keys", "values"],
    )


def scaling():
    """Chapter 3."""
    queries, keys, values = drawn(3, 6, 2, seed=1).unbind()
    scores = queries @ keys.T
    scaled = scores / math.sqrt(2)
    weights = softmax(scaled)
    context = weights @ values
    return views.diagram(
        {
            "queries": (queries, "T, D"),
            "keys": (keys, "S, D"),
            "values": (values, "S, D"),
            "scores": (scores, "T, S", "queries @ keys.T"),
            "scaled": (scaled, "T, S", "scores / √D"),
            "weights": (weights, "T, S", "softmax(scaled)"),
            "context": (context, "T, D", "weights @ values"),
        },
        names=NAMES,
        new=["scaled"],
    )


def masking():
    """Chapter 4."""
    queries, keys, values = drawn(3, 6, 2, seed=1).unbind()
    scaled = queries @ keys.T / math.sqrt(2)
    masked = scaled.masked_fill(~causal_mask(6), -math.inf)
    weights = softmax(masked)
    context = weights @ values
    return views.diagram(
        {
            "queries": (queries, "T, D"),
            "keys": (keys, "S, D"),
            "values": (values, "S, D"),
            "scaled": (scaled, "T, S", "queries @ keys.T / √D"),
            "masked": (masked, "T, S", "mask(scaled)"),
            "weights": (weights, "T, S", "softmax(masked)"),
            "context": (context, "T, D", "weights @ values"),
        },
        names=NAMES,
        new=["masked"],
    )


def dropping():
    """Chapter 5."""
    queries, keys, values = drawn(3, 6, 2, seed=1).unbind()
    masked = (queries @ keys.T / math.sqrt(2)).masked_fill(~causal_mask(6), -math.inf)
    weights = softmax(masked)
    kept = drawn(6, 6, seed=2) > -0.5
    dropped = weights * kept / 0.7
    context = dropped @ values
    return views.diagram(
        {
            "queries": (queries, "T, D"),
            "keys": (keys, "S, D"),
            "values": (values, "S, D"),
            "masked": (masked, "T, S", "mask(queries @ keys.T / √D)"),
            "weights": (weights, "T, S", "softmax(masked)"),
            "dropped": (dropped, "T, S", "dropout(weights)"),
            "context": (context, "T, D", "dropped @ values"),
        },
        names=NAMES,
        new=["dropped"],
    )


def many_heads():
    """Chapter 6."""
    H, queries, keys, values = 2, *drawn(3, 4, 4, seed=3).unbind()
    q, k, v = (split_heads(x, H) for x in (queries, keys, values))
    masked = (q @ k.mT / math.sqrt(2)).masked_fill(~causal_mask(4), -math.inf)
    weights = softmax(masked)
    context = weights @ v
    merged = merge_heads(context)
    return views.diagram(
        {
            "queries": (queries, "T, C"),
            "keys": (keys, "S, C"),
            "values": (values, "S, C"),
            "head_queries": (q, "H, T, D", "split(queries)"),
            "head_keys": (k, "H, S, D", "split(keys)"),
            "head_values": (v, "H, S, D", "split(values)"),
            "weights": (
                weights,
                "H, T, S",
                "softmax(mask(head_queries @ head_keys.T / √D))",
            ),
            "contexts": (context, "H, T, D", "weights @ head_values"),
            "merged": (merged, "T, C", "merge(contexts)"),
        },
        names={"T": WORDS[:4], "S": WORDS[:4]},
        new=["head_queries", "head_keys", "head_values", "contexts", "merged"],
    )


def second_sequence():
    """Two sequences: cross-attention."""
    x, memory = drawn(3, 4, seed=4), drawn(5, 4, seed=5)
    W_query, W_key, W_value = drawn(3, 4, 2, seed=6).unbind()
    queries, keys, values = x @ W_query, memory @ W_key, memory @ W_value
    weights = softmax(queries @ keys.T / math.sqrt(2))
    context = weights @ values
    return views.diagram(
        {
            "x": (x, "T, C"),
            "memory": (memory, "S, C"),
            "W_query": (W_query, "C, D"),
            "W_key": (W_key, "C, D"),
            "W_value": (W_value, "C, D"),
            "queries": (queries, "T, D", "x @ W_query"),
            "keys": (keys, "S, D", "memory @ W_key"),
            "values": (values, "S, D", "memory @ W_value"),
            "weights": (weights, "T, S", "softmax(queries @ keys.T / √D)"),
            "context": (context, "T, D", "weights @ values"),
        },
        names={"T": ["le", "chat", "noir"], "S": ["the", "cat", "is", "so", "black"]},
        new=["memory"],
    )


def characters():
    """Chapter 7."""
    ids = torch.tensor([2, 0, 3, 3, 4])
    table, position_table, out = drawn(6, 4), drawn(5, 4, seed=1), drawn(4, 6, seed=2)
    tokens = table[ids]
    x = tokens + position_table
    context = softmax((x @ x.T / 2).masked_fill(~causal_mask(5), -math.inf)) @ x
    logits = context @ out
    return views.diagram(
        {
            "ids": (ids, "T"),
            "token_table": (table, "vocab_size, C"),
            "tokens": (tokens, "T, C", "embed(ids, token_table)"),
            "positions": (position_table, "T, C"),
            "x": (x, "T, C", "tokens + positions"),
            "context": (context, "T, C", "causal_attention(x)"),
            "W_vocab": (out, "C, vocab_size"),
            "logits": (logits, "T, vocab_size", "context @ W_vocab"),
        },
        names={"T": list("hello"), "vocab_size": list("ehl o!")},
        new=["ids", "token_table", "tokens", "positions", "x", "W_vocab", "logits"],
    )


def block():
    """Chapter 9."""
    x = drawn(5, 4)
    normed = F.layer_norm(x, (4,))
    update = softmax(normed @ normed.T / 2) @ normed
    between = x + update
    normed_again = F.layer_norm(between, (4,))
    thought = F.gelu(normed_again @ drawn(4, 8, seed=1)) @ drawn(8, 4, seed=2)
    output = between + thought
    return views.diagram(
        {
            "x": (x, "T, C"),
            "normed": (normed, "T, C", "norm(x)"),
            "update": (update, "T, C", "attention(normed)"),
            "middle": (between, "T, C", "x + update"),
            "normed_again": (normed_again, "T, C", "norm(middle)"),
            "thought": (thought, "T, C", "MLP(normed_again)"),
            "output": (output, "T, C", "middle + thought"),
        },
        names={"T": list("hello")},
        new=["normed", "middle", "normed_again", "thought", "output"],
    )


CHAPTERS = {
    "dot_products": dot_products,
    "projections": projections,
    "scaling": scaling,
    "masking": masking,
    "dropping": dropping,
    "many_heads": many_heads,
    "second_sequence": second_sequence,
    "characters": characters,
    "block": block,
}
