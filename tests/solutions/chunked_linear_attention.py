"""Linear attention chunk by chunk."""

import torch


def walk_by_slices(queries, keys, values, chunk_size):
    state = torch.zeros(keys.shape[1], values.shape[1])
    contexts = []
    for start in range(0, len(queries), chunk_size):
        q, k, v = (one[start : start + chunk_size] for one in (queries, keys, values))
        contexts.append(q @ state + (q @ k.T).tril() @ v)
        state = state + k.T @ v
    return torch.cat(contexts)


def walk_by_split(queries, keys, values, chunk_size):
    state, out = 0, []
    parts = (one.split(chunk_size) for one in (queries, keys, values))
    for q, k, v in zip(*parts, strict=True):
        mask = torch.ones(len(q), len(q)).tril()
        out.append((q @ k.mT * mask) @ v)
        if torch.is_tensor(state):
            out[-1] = out[-1] + q @ state
        state = state + k.mT @ v
    return torch.cat(out, dim=0)


def walk_into_zeros(queries, keys, values, chunk_size):
    context = torch.zeros_like(values)
    S = queries.new_zeros(keys.shape[-1], values.shape[-1])
    for i in range(0, queries.shape[0], chunk_size):
        j = min(i + chunk_size, queries.shape[0])
        scores = torch.einsum("td,sd->ts", queries[i:j], keys[i:j])
        future = torch.ones(j - i, j - i).triu(1).bool()
        context[i:j] = scores.masked_fill(future, 0.0) @ values[i:j]
        context[i:j] += queries[i:j] @ S
        S += torch.einsum("td,te->de", keys[i:j], values[i:j])
    return context


def walk_word_by_word(queries, keys, values, chunk_size):
    state = torch.zeros(keys.shape[1], values.shape[1])
    contexts = []
    for query, key, value in zip(queries, keys, values, strict=True):
        state = state + torch.outer(key, value)
        contexts.append(query @ state)
    return torch.stack(contexts)


def all_at_once(queries, keys, values, chunk_size):
    return (queries @ keys.T).tril() @ values


def walk_without_mask(queries, keys, values, chunk_size):
    state, contexts = torch.zeros(keys.shape[1], values.shape[1]), []
    parts = (one.split(chunk_size) for one in (queries, keys, values))
    for q, k, v in zip(*parts, strict=True):
        contexts.append(q @ state + q @ k.T @ v)
        state = state + k.T @ v
    return torch.cat(contexts)


def walk_that_writes_first(queries, keys, values, chunk_size):
    state, contexts = torch.zeros(keys.shape[1], values.shape[1]), []
    parts = (one.split(chunk_size) for one in (queries, keys, values))
    for q, k, v in zip(*parts, strict=True):
        state = state + k.T @ v
        contexts.append(q @ state + (q @ k.T).tril() @ v)
    return torch.cat(contexts)


def walk_that_forgets(queries, keys, values, chunk_size):
    state, contexts = torch.zeros(keys.shape[1], values.shape[1]), []
    parts = (one.split(chunk_size) for one in (queries, keys, values))
    for q, k, v in zip(*parts, strict=True):
        contexts.append(q @ state + (q @ k.T).tril() @ v)
        state = k.T @ v
    return torch.cat(contexts)


def walk_that_skips_its_chunk(queries, keys, values, chunk_size):
    state, contexts = torch.zeros(keys.shape[1], values.shape[1]), []
    parts = (one.split(chunk_size) for one in (queries, keys, values))
    for q, k, v in zip(*parts, strict=True):
        contexts.append(q @ state)
        state = state + k.T @ v
    return torch.cat(contexts)


RIGHT = [
    walk_by_slices,
    walk_by_split,
    walk_into_zeros,
    walk_word_by_word,
    all_at_once,
]
WRONG = [
    (walk_without_mask, "no mask inside a chunk"),
    (walk_that_writes_first, "a state that holds the chunk itself already"),
    (walk_that_skips_its_chunk, "nothing from the word's own chunk"),
    (walk_that_forgets, "the state of the last chunk alone"),
]
