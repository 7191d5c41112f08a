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


RIGHT = [by_a_list, by_an_index, by_tensors, by_text]
WRONG = [
    (by_masks, "tokens that are lost in a run"),
    (once, "only the first place merged"),
    (with_the_second, "a second token that stays"),
    (in_twos, "pairs counted in twos"),
]
