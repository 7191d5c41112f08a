"""Scores without making the keys."""

import math

import torch


def by_matmul(queries, latents, W_key):
    absorbed = queries @ W_key
    return absorbed, absorbed @ latents.T / math.sqrt(queries.shape[-1])


def by_einsum(queries, latents, W_key):
    absorbed = torch.einsum("htd,hdl->htl", queries, W_key)
    scores = torch.einsum("htl,sl->hts", absorbed, latents)
    return absorbed, scores / queries.shape[-1] ** 0.5


def head_by_head(queries, latents, W_key):
    absorbed, scores = [], []
    for query, matrix in zip(queries, W_key, strict=True):
        absorbed.append(query @ matrix)
        scores.append(absorbed[-1] @ latents.T / math.sqrt(query.shape[-1]))
    return torch.stack(absorbed), torch.stack(scores)


def query_by_query(queries, latents, W_key):
    H, T, D = queries.shape
    absorbed = torch.zeros(H, T, latents.shape[-1])
    scores = torch.zeros(H, T, len(latents))
    for h in range(H):
        for t in range(T):
            absorbed[h, t] = W_key[h].T @ queries[h, t]
            scores[h, t] = latents @ absorbed[h, t] * D**-0.5
    return absorbed, scores


def over_root_of_latents(queries, latents, W_key):
    absorbed = queries @ W_key
    return absorbed, absorbed @ latents.T / math.sqrt(absorbed.shape[-1])


def undivided(queries, latents, W_key):
    absorbed = queries @ W_key
    return absorbed, absorbed @ latents.T


def first_head_for_all(queries, latents, W_key):
    absorbed = torch.einsum("htd,dl->htl", queries, W_key[0])
    return absorbed, absorbed @ latents.T / math.sqrt(queries.shape[-1])


def turned_round(queries, latents, W_key):
    absorbed = queries @ W_key.transpose(1, 2)
    return absorbed, absorbed @ latents.T / math.sqrt(queries.shape[-1])


def divided_first(queries, latents, W_key):
    absorbed = queries / math.sqrt(queries.shape[-1]) @ W_key
    return absorbed, absorbed @ latents.T


def divided_twice(queries, latents, W_key):
    absorbed = queries @ W_key / math.sqrt(queries.shape[-1])
    return absorbed, absorbed @ latents.T / math.sqrt(queries.shape[-1])


RIGHT = [by_matmul, by_einsum, head_by_head, query_by_query]
WRONG = [
    (over_root_of_latents, "scores over the root of the latents' width"),
    (undivided, "scores that aren't divided"),
    (first_head_for_all, "one head's matrix for all heads"),
    (turned_round, "W_key turned round"),
    (divided_first, "absorbed queries that are divided"),
    (divided_twice, "a division that comes twice"),
]
