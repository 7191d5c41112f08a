"""Scores with a cache in place of keys."""

import math

import torch


def by_one_wide_head(queries, W_key, latents, short_keys):
    D = W_key.shape[1]
    wide = torch.cat([queries[..., :D] @ W_key, queries[..., D:]], dim=-1)
    cache = torch.cat([latents, short_keys], dim=-1)
    return wide, wide @ cache.T / math.sqrt(queries.shape[-1])


def by_einsum(queries, W_key, latents, short_keys):
    R = short_keys.shape[-1]
    own, turned = queries[..., :-R], queries[..., -R:]
    absorbed = torch.einsum("htd,hdl->htl", own, W_key)
    scores = torch.einsum("htl,sl->hts", absorbed, latents)
    scores += torch.einsum("htr,sr->hts", turned, short_keys)
    wide = torch.cat((absorbed, turned), -1)
    return wide, scores / queries.shape[-1] ** 0.5


def head_by_head(queries, W_key, latents, short_keys):
    D = W_key.shape[1]
    wide, scores = [], []
    for query, matrix in zip(queries, W_key, strict=True):
        absorbed, turned = query[:, :D] @ matrix, query[:, D:]
        wide.append(torch.hstack([absorbed, turned]))
        both = absorbed @ latents.T + turned @ short_keys.T
        scores.append(both / math.sqrt(query.shape[-1]))
    return torch.stack(wide), torch.stack(scores)


def query_by_query(queries, W_key, latents, short_keys):
    H, T, width = queries.shape
    _, D, L = W_key.shape
    wide = torch.zeros(H, T, L + width - D)
    scores = torch.zeros(H, T, len(latents))
    for h in range(H):
        for t in range(T):
            wide[h, t, :L] = W_key[h].T @ queries[h, t, :D]
            wide[h, t, L:] = queries[h, t, D:]
            for s in range(len(latents)):
                key = torch.cat([latents[s], short_keys[s]])
                scores[h, t, s] = wide[h, t] @ key * width**-0.5
    return wide, scores


def with_keys_made_after_all(queries, W_key, latents, short_keys):
    H, D, _ = W_key.shape
    keys = torch.cat([latents @ W_key.mT, short_keys.expand(H, -1, -1)], dim=-1)
    wide = torch.cat([queries[..., :D] @ W_key, queries[..., D:]], dim=-1)
    return wide, queries @ keys.mT / math.sqrt(keys.shape[-1])


def over_root_of_the_cache(queries, W_key, latents, short_keys):
    wide, scores = by_one_wide_head(queries, W_key, latents, short_keys)
    return wide, scores * math.sqrt(queries.shape[-1] / wide.shape[-1])


def over_root_of_D(queries, W_key, latents, short_keys):
    D = W_key.shape[1]
    wide = torch.cat([queries[..., :D] @ W_key, queries[..., D:]], dim=-1)
    return wide, wide @ torch.cat([latents, short_keys], -1).T / math.sqrt(D)


def undivided(queries, W_key, latents, short_keys):
    own, turned = queries.split([W_key.shape[1], short_keys.shape[1]], dim=-1)
    absorbed = own @ W_key
    scores = absorbed @ latents.T + turned @ short_keys.T
    return torch.cat([absorbed, turned], -1), scores


def two_roots(queries, W_key, latents, short_keys):
    D, R = W_key.shape[1], short_keys.shape[1]
    absorbed, turned = queries[..., :D] @ W_key, queries[..., D:]
    scores = absorbed @ latents.T / D**0.5 + turned @ short_keys.T / R**0.5
    return torch.cat([absorbed, turned], dim=-1), scores


def positions_forgotten(queries, W_key, latents, short_keys):
    D = W_key.shape[1]
    absorbed, turned = queries[..., :D] @ W_key, queries[..., D:]
    scores = absorbed @ latents.T / math.sqrt(queries.shape[-1])
    return torch.cat([absorbed, turned], dim=-1), scores


def absorbed_part_alone(queries, W_key, latents, short_keys):
    absorbed = queries[..., : W_key.shape[1]] @ W_key
    turned = queries[..., W_key.shape[1] :]
    scores = absorbed @ latents.T + turned @ short_keys.T
    return absorbed, scores / queries.shape[-1] ** 0.5


def turned_part_in_front(queries, W_key, latents, short_keys):
    D = W_key.shape[1]
    wide = torch.cat([queries[..., D:], queries[..., :D] @ W_key], dim=-1)
    cache = torch.cat([short_keys, latents], dim=-1)
    return wide, wide @ cache.T / math.sqrt(queries.shape[-1])


def split_the_other_way(queries, W_key, latents, short_keys):
    R = short_keys.shape[1]
    wide = torch.cat([queries[..., R:] @ W_key, queries[..., :R]], dim=-1)
    cache = torch.cat([latents, short_keys], dim=-1)
    return wide, wide @ cache.T / math.sqrt(queries.shape[-1])


def first_head_for_all(queries, W_key, latents, short_keys):
    D = W_key.shape[1]
    absorbed = torch.einsum("htd,dl->htl", queries[..., :D], W_key[0])
    wide = torch.cat([absorbed, queries[..., D:]], dim=-1)
    cache = torch.cat([latents, short_keys], dim=-1)
    return wide, wide @ cache.T / math.sqrt(queries.shape[-1])


def turned_round(queries, W_key, latents, short_keys):
    D = W_key.shape[1]
    absorbed = queries[..., :D] @ W_key.transpose(1, 2)
    wide = torch.cat([absorbed, queries[..., D:]], dim=-1)
    cache = torch.cat([latents, short_keys], dim=-1)
    return wide, wide @ cache.T / math.sqrt(queries.shape[-1])


def divided_first(queries, W_key, latents, short_keys):
    queries = queries / math.sqrt(queries.shape[-1])
    D = W_key.shape[1]
    wide = torch.cat([queries[..., :D] @ W_key, queries[..., D:]], dim=-1)
    return wide, wide @ torch.cat([latents, short_keys], dim=-1).T


def divided_twice(queries, W_key, latents, short_keys):
    wide, scores = divided_first(queries, W_key, latents, short_keys)
    return wide, scores / math.sqrt(queries.shape[-1])


RIGHT = [
    by_one_wide_head,
    by_einsum,
    head_by_head,
    query_by_query,
    with_keys_made_after_all,
]
WRONG = [
    (over_root_of_the_cache, "scores over the root of the cache's width"),
    (over_root_of_D, "scores over the root of D"),
    (undivided, "scores that aren't divided"),
    (two_roots, "two products, each over its own root"),
    (positions_forgotten, "scores without the short keys"),
    (absorbed_part_alone, "wide queries without their turned part"),
    (turned_part_in_front, "wide queries with the turned part in front"),
    (split_the_other_way, "the first R features taken as the turned ones"),
    (first_head_for_all, "one head's matrix for all heads"),
    (turned_round, "W_key turned round"),
    (divided_first, "wide queries that are divided"),
    (divided_twice, "a division that comes twice"),
]
