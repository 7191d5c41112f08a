"""One merge of byte-pair encoding."""

import itertools
from collections import Counter

import torch


def by_a_list(ids, new_id):
    ids = ids.tolist()
    pair, _ = Counter(itertools.pairwise(ids)).most_common(1)[0]
    merged = []
    for one in ids:
        if merged and (merged[-1], one) == pair:
            merged[-1] = new_id
        else:
            merged.append(one)
    return torch.tensor(merged)


def by_an_index(ids, new_id):
    counts = {}
    for i in range(len(ids) - 1):
        pair = (ids[i].item(), ids[i + 1].item())
        counts[pair] = counts.get(pair, 0) + 1
    best = max(counts, key=counts.get)
    out = []
    i = 0
    while i < len(ids):
        if i + 1 < len(ids) and (ids[i].item(), ids[i + 1].item()) == best:
            out.append(new_id)
            i += 2
        else:
            out.append(ids[i].item())
            i += 1
    return torch.tensor(out)


def by_tensors(ids, new_id):
    pairs = torch.stack([ids[:-1], ids[1:]], dim=1)
    same = (pairs[:, None] == pairs[None]).all(dim=-1).sum(dim=1)
    best = pairs[same.argmax()]
    starts = (pairs == best).all(dim=1).tolist()
    for i in range(1, len(starts)):
        if starts[i - 1]:
            starts[i] = False
    merged = ids.clone()
    keep = torch.ones(len(ids), dtype=torch.bool)
    for i, start in enumerate(starts):
        if start:
            merged[i] = new_id
            keep[i + 1] = False
    return merged[keep]


def by_text(ids, new_id):
    import re

    words = ids.tolist()
    a, b = Counter(itertools.pairwise(words)).most_common(1)[0][0]
    text = "".join(f"<{one}>" for one in words).replace(f"<{a}><{b}>", f"<{new_id}>")
    return torch.tensor([int(one) for one in re.findall(r"\d+", text)])


def by_masks(ids, new_id):
    a, b = Counter(itertools.pairwise(ids.tolist())).most_common(1)[0][0]
    starts = (ids[:-1] == a) & (ids[1:] == b)
    result = ids.clone()
    result[:-1][starts] = new_id
    ends = torch.cat([torch.tensor([False]), starts])
    return result[~ends]


def once(ids, new_id):
    ids = ids.tolist()
    pair = Counter(itertools.pairwise(ids)).most_common(1)[0][0]
    for i in range(len(ids) - 1):
        if (ids[i], ids[i + 1]) == pair:
            return torch.tensor([*ids[:i], new_id, *ids[i + 2 :]])
    return torch.tensor(ids)


def with_the_second(ids, new_id):
    pair = Counter(itertools.pairwise(ids.tolist())).most_common(1)[0][0]
    result = ids.clone()
    for i in range(len(ids) - 1):
        if (ids[i].item(), ids[i + 1].item()) == pair:
            result[i] = new_id
    return result


def in_twos(ids, new_id):
    ids = ids.tolist()
    twos = [(ids[i], ids[i + 1]) for i in range(0, len(ids) - 1, 2)]
    pair = max(twos, key=twos.count)
    merged = []
    for one in ids:
        if merged and (merged[-1], one) == pair:
            merged[-1] = new_id
        else:
            merged.append(one)
    return torch.tensor(merged)


def counted_without_overlap(ids, new_id):
    ids = ids.tolist()
    counts = {}
    for pair in dict.fromkeys(itertools.pairwise(ids)):
        i = counts[pair] = 0
        while i + 1 < len(ids):
            found = (ids[i], ids[i + 1]) == pair
            counts[pair] += found
            i += 2 if found else 1
    return _merged(ids, max(counts, key=counts.get), new_id)


def counted_round_the_end(ids, new_id):
    ids = ids.tolist()
    pairs = zip(ids, ids[1:] + ids[:1], strict=True)
    return _merged(ids, Counter(pairs).most_common(1)[0][0], new_id)


def by_tensors_as_keys(ids, new_id):
    pair = Counter(itertools.pairwise(ids)).most_common(1)[0][0]
    return _merged(ids.tolist(), tuple(one.item() for one in pair), new_id)


def from_right_to_left(ids, new_id):
    ids = ids.tolist()
    pair = Counter(itertools.pairwise(ids)).most_common(1)[0][0]
    i = len(ids) - 1
    while i > 0:
        if (ids[i - 1], ids[i]) == pair:
            ids[i - 1 : i + 1] = [new_id]
            i -= 1
        i -= 1
    return torch.tensor(ids)


def without_the_last(ids, new_id):
    ids = ids.tolist()
    pair = Counter(itertools.pairwise(ids)).most_common(1)[0][0]
    merged, i = [], 0
    while i < len(ids) - 1:
        found = (ids[i], ids[i + 1]) == pair
        merged.append(new_id if found else ids[i])
        i += 2 if found else 1
    return torch.tensor(merged)


def with_the_last_again(ids, new_id):
    ids = ids.tolist()
    pair = Counter(itertools.pairwise(ids)).most_common(1)[0][0]
    merged, i = [], 0
    while i < len(ids) - 1:
        found = (ids[i], ids[i + 1]) == pair
        merged.append(new_id if found else ids[i])
        i += 2 if found else 1
    return torch.tensor([*merged, ids[-1]])


def as_texts_are_joined(ids, new_id):
    ids = ids.tolist()
    pair = Counter(itertools.pairwise(ids)).most_common(1)[0][0]
    merged = []
    for piece in ids:
        if merged and (merged[-1], piece) == pair:
            piece = merged.pop() + piece
        merged.append(piece)
    return torch.tensor(merged)


def without_a_pop(ids, new_id):
    ids = ids.tolist()
    pair = Counter(itertools.pairwise(ids)).most_common(1)[0][0]
    merged = []
    for one in ids:
        if merged and (merged[-1], one) == pair:
            merged.append(new_id)
        else:
            merged.append(one)
    return torch.tensor(merged)


def _merged(ids, pair, new_id):
    merged = []
    for one in ids:
        if merged and (merged[-1], one) == pair:
            merged[-1] = new_id
        else:
            merged.append(one)
    return torch.tensor(merged)


RIGHT = [by_a_list, by_an_index, by_tensors, by_text]
WRONG = [
    (by_masks, "tokens that are lost in a run"),
    (once, "only the first place merged"),
    (with_the_second, "a second token that stays"),
    (in_twos, "pairs counted in twos"),
    (counted_without_overlap, "pairs counted without overlap"),
    (counted_round_the_end, "a pair round the end"),
    (by_tensors_as_keys, "the first pair"),
    (from_right_to_left, "merged from right to left"),
    (without_the_last, "the last token lost"),
    (with_the_last_again, "the last token twice"),
    (as_texts_are_joined, "two ids added up"),
    (without_a_pop, "a first token that stays"),
]
