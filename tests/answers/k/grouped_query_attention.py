"""Answers to grouped_query_attention by hand k."""

import math

import torch
import torch.nn.functional as F


def right_five_axes_einsum(queries, keys, values):
    """right: splits the query heads into (key head, member) and names the five axes in
    an einsum, without a copy of the keys."""
    B, H, T, D = queries.shape
    n = keys.shape[1]
    q = queries.reshape(B, n, H // n, T, D)
    scores = torch.einsum("bkgtd,bksd->bkgts", q, keys) * D**-0.5
    later = torch.arange(T)[None, :] > torch.arange(T)[:, None]
    weights = scores.masked_fill(later, -torch.inf).softmax(-1)
    return torch.einsum("bkgts,bksd->bkgtd", weights, values).reshape(B, H, T, D)


def right_repeat_kv_sdpa(queries, keys, values):
    """right: Llama's repeat_kv (expand and reshape) for keys and values, and PyTorch's
    own causal attention."""

    def repeat_kv(h):
        b, n, t, d = h.shape
        g = queries.shape[1] // n
        return h[:, :, None].expand(b, n, g, t, d).reshape(b, n * g, t, d)

    return F.scaled_dot_product_attention(
        queries, repeat_kv(keys), repeat_kv(values), is_causal=True
    )


def right_prefix_loops(queries, keys, values):
    """right: no mask at all: loops over heads and positions, and each query sees only
    the keys and values up to its own position."""
    H, T, D = queries.shape[1:]
    group = H // keys.shape[1]
    contexts = torch.empty_like(queries)
    for h in range(H):
        k, v = keys[:, h // group], values[:, h // group]
        for t in range(T):
            seen = k[:, : t + 1]
            scores = (seen @ queries[:, h, t, :, None]).squeeze(-1) / math.sqrt(D)
            weights = F.softmax(scores, dim=-1)
            contexts[:, h, t] = (weights[..., None] * v[:, : t + 1]).sum(dim=1)
    return contexts


def right_group_folded_into_time(queries, keys, values):
    """right: lays the queries of a group one after the other along the time axis,
    (B, H_kv, g * T, D), with the causal mask repeated g times downwards."""
    B, H, T, D = queries.shape
    n = keys.size(1)
    q = queries.reshape(B, n, (H // n) * T, D)
    allowed = torch.ones(T, T).tril().bool().repeat(H // n, 1)
    scores = (q @ keys.mT) / D**0.5
    scores = torch.where(allowed, scores, torch.finfo(scores.dtype).min)
    return (torch.softmax(scores, dim=-1) @ values).reshape(B, H, T, D)


def right_running_softmax(queries, keys, values):
    """right: copies the keys by index (head // group) and goes through the keys one at
    a time with a running maximum, sum and context, as flash attention does."""
    B, H, T, D = queries.shape
    which = torch.arange(H) // (H // keys.shape[1])
    keys, values = keys[:, which], values[:, which]
    top = torch.full((B, H, T, 1), -math.inf, dtype=queries.dtype)
    total = torch.zeros_like(top)
    context = torch.zeros_like(queries)
    # From s on, the queries see key s; all have seen key 0, so top is finite after it.
    for s in range(T):
        score = (queries * keys[:, :, s : s + 1]).sum(-1, keepdim=True) / math.sqrt(D)
        score[:, :, :s] = -math.inf
        new_top = torch.maximum(top, score)
        old, new = (top - new_top).exp(), (score - new_top).exp()
        total = total * old + new
        context = context * old + new * values[:, :, s : s + 1]
        top = new_top
    return context / total


def wrong_tiled_heads(queries, keys, values):
    """wrong: repeat instead of repeat_interleave, so that head h uses key head h modulo
    H_kv; right for H_kv = H and for H_kv = 1."""
    g = queries.shape[1] // keys.shape[1]
    keys = keys.repeat(1, g, 1, 1)
    values = values.repeat(1, g, 1, 1)
    return F.scaled_dot_product_attention(queries, keys, values, is_causal=True)


def wrong_forgot_the_mask(queries, keys, values):
    """wrong: groups and scales well, but has no causal mask, so that every position
    sees the later ones too; right for T = 1."""
    B, H, T, D = queries.shape
    n = keys.shape[1]
    q = queries.view(B, n, H // n, T, D)
    scores = q @ keys.unsqueeze(2).transpose(-2, -1) / math.sqrt(D)
    return (scores.softmax(dim=-1) @ values.unsqueeze(2)).view(B, H, T, D)


def wrong_one_ahead(queries, keys, values):
    """wrong: tril with diagonal=1, so that each position sees the next one, too; right
    for T = 1 (and for the last position)."""
    B, H, T, D = queries.shape
    n = keys.shape[1]
    q = queries.view(B, n, H // n, T, D)
    scores = q @ keys[:, :, None].mT / math.sqrt(D)
    mask = torch.tril(torch.ones(T, T), diagonal=1)
    weights = scores.masked_fill(mask == 0, float("-inf")).softmax(dim=-1)
    return (weights @ values[:, :, None]).view(B, H, T, D)


def wrong_integer_root(queries, keys, values):
    """wrong: divides by int(sqrt(D)), rounded down; right only where D is a square such
    as 16 or 64 (or T = 1)."""
    B, H, T, D = queries.shape
    g = H // keys.shape[1]
    k = keys.repeat_interleave(g, dim=1)
    v = values.repeat_interleave(g, dim=1)
    q_dot_k = queries @ k.transpose(2, 3)
    scores = q_dot_k / int(D**0.5)
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    return scores.masked_fill(later, -math.inf).softmax(-1) @ v


def wrong_zero_scores_for_later(queries, keys, values):
    """wrong: multiplies the scores by the triangle of ones, so that later positions get
    the score 0 instead of minus infinity, and still a weight."""
    B, H, T, D = queries.shape
    g = H // keys.shape[1]
    k = keys.repeat_interleave(g, dim=1)
    v = values.repeat_interleave(g, dim=1)
    scores = (queries @ k.mT) / math.sqrt(D)
    scores = torch.tril(scores)
    return F.softmax(scores, dim=-1) @ v


def wrong_mask_after_softmax(queries, keys, values):
    """wrong: sets the weights of later positions to 0 after the softmax, without
    dividing by their new sum, so that the weights of a row sum to less than 1."""
    B, H, T, D = queries.shape
    n = keys.shape[1]
    q = queries.reshape(B, n, -1, T, D)
    weights = torch.softmax(q @ keys[:, :, None].mT / D**0.5, dim=-1).tril()
    return (weights @ values[:, :, None]).reshape(B, H, T, D)


def wrong_values_tiled(queries, keys, values):
    """wrong: shares the keys as asked, but repeats the values with repeat instead of
    repeat_interleave; right for H_kv = H and for H_kv = 1."""
    g = queries.size(1) // keys.size(1)
    k = torch.repeat_interleave(keys, g, dim=1)
    v = values.repeat(1, g, 1, 1)
    return F.scaled_dot_product_attention(queries, k, v, is_causal=True)


def wrong_repeats_by_key_heads(queries, keys, values):
    """wrong: repeats each key head H_kv times instead of H / H_kv times; right where
    the two are equal (H = 4, H_kv = 2) and, thanks to broadcasting, for H_kv = 1; an
    error elsewhere."""
    n_rep = keys.shape[1]
    k = keys.repeat_interleave(n_rep, dim=1)
    v = values.repeat_interleave(n_rep, dim=1)
    return F.scaled_dot_product_attention(queries, k, v, is_causal=True)


def wrong_scaled_twice(queries, keys, values):
    """wrong: divides the queries by sqrt(D), and scaled_dot_product_attention does so
    again, so that the scores are divided by D; right for D = 1 and for T = 1."""
    B, H, T, D = queries.shape
    g = H // keys.shape[1]
    return F.scaled_dot_product_attention(
        queries / math.sqrt(D),
        keys.repeat_interleave(g, 1),
        values.repeat_interleave(g, 1),
        is_causal=True,
    )


def wrong_unshifted_softmax(queries, keys, values):
    """wrong: a softmax by hand without subtracting the maximum; right for ordinary
    scores, NaN for scores above 88 (float32), or where all of a row are very low."""
    B, H, T, D = queries.shape
    n = keys.shape[1]
    q = queries.reshape(B, n, H // n, T, D)
    e = torch.exp(q @ keys[:, :, None].mT / math.sqrt(D)).tril()
    weights = e / e.sum(dim=-1, keepdim=True)
    return (weights @ values[:, :, None]).reshape(B, H, T, D)


def wrong_mask_of_folded_queries(queries, keys, values):
    """wrong: lays a group's queries one after the other along the time axis and takes
    one triangle of (g * T, T), so that only the first head of each group is causal;
    right for H_kv = H."""
    B, H, T, D = queries.shape
    n = keys.shape[1]
    q = queries.reshape(B, n, H // n * T, D)
    scores = q @ keys.mT / math.sqrt(D)
    mask = torch.ones_like(scores, dtype=torch.bool).tril()
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    return (weights @ values).reshape(B, H, T, D)


def wrong_heads_merged_in_wrong_order(queries, keys, values):
    """wrong: computes the right contexts, but swaps the axes of key head and member
    before merging them, so that the heads come out in another order; right for
    H_kv = H and for H_kv = 1."""
    B, H, T, D = queries.shape
    n = keys.shape[1]
    q = queries.reshape(B, n, H // n, T, D)
    scores = q @ keys[:, :, None].mT / math.sqrt(D)
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(later, float("-inf")).softmax(-1)
    return (weights @ values[:, :, None]).transpose(1, 2).reshape(B, H, T, D)


def wrong_fill_of_minus_hundred(queries, keys, values):
    """wrong: fills in -100 for the later positions instead of minus infinity; right for
    ordinary scores, but where the allowed ones are about -100 or lower, the later
    positions are seen."""
    B, H, T, D = queries.shape
    n = keys.shape[1]
    q = queries.reshape(B, n, H // n, T, D)
    scores = torch.einsum("bngtd,bnsd->bngts", q, keys) / math.sqrt(D)
    mask = torch.tril(torch.ones(T, T))
    weights = F.softmax(scores.masked_fill(mask == 0, -1e2), dim=-1)
    return torch.einsum("bngts,bnsd->bngtd", weights, values).reshape(B, H, T, D)


ANSWERS = [
    right_five_axes_einsum,
    right_repeat_kv_sdpa,
    right_prefix_loops,
    right_group_folded_into_time,
    right_running_softmax,
    wrong_tiled_heads,
    wrong_forgot_the_mask,
    wrong_one_ahead,
    wrong_integer_root,
    wrong_zero_scores_for_later,
    wrong_mask_after_softmax,
    wrong_values_tiled,
    wrong_repeats_by_key_heads,
    wrong_scaled_twice,
    wrong_unshifted_softmax,
    wrong_mask_of_folded_queries,
    wrong_heads_merged_in_wrong_order,
    wrong_fill_of_minus_hundred,
]
