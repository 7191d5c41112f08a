"""Exercise of chapter 17: one merge of byte-pair encoding."""

import itertools
from collections import Counter

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.several_ways import several


def _pairs(ids):
    return list(itertools.pairwise(ids.tolist()))


def _most_frequent(pairs):
    """Of equally frequent ones, the first."""
    return Counter(pairs).most_common(1)[0][0]


def _last_of_equals(pairs):
    return _most_frequent(pairs[::-1])


def _smallest_of_equals(pairs):
    return _most_frequent(sorted(pairs))


def _largest_of_equals(pairs):
    return _most_frequent(sorted(pairs, reverse=True))


def merge(ids, new_id, *, choose=_most_frequent, pairs=_pairs, most=None):
    """Right where nothing is given; each option is one mistake."""
    pair = choose(pairs(ids))
    merged, left, done = [], ids.tolist(), 0
    while left:
        if tuple(left[:2]) == pair and (most is None or done < most):
            merged.append(new_id)
            left, done = left[2:], done + 1
        else:
            merged.append(left.pop(0))
    return torch.tensor(merged)


def _with(**options):
    return lambda ids, new_id: merge(ids, new_id, **options)


def _found(ids):
    """Where the most frequent pair begins, (N - 1,) boolean."""
    first, second = _most_frequent(_pairs(ids))
    return (ids[:-1] == first) & (ids[1:] == second)


def _by_masks(ids, new_id):
    """Every second token of a pair is dropped, one that begins a pair, too."""
    found = _found(ids)
    merged = ids.clone()
    merged[:-1][found] = new_id
    keep = torch.ones_like(ids, dtype=torch.bool)
    keep[1:][found] = False
    return merged[keep]


def _second_kept(ids, new_id):
    merged = ids.clone()
    merged[:-1][_found(ids)] = new_id
    return merged


def _inserted(ids, new_id):
    merged: list[int] = []
    for one, begins in zip(ids.tolist(), [*_found(ids).tolist(), False], strict=True):
        merged += [new_id, one] if begins else [one]
    return torch.tensor(merged)


def _not_taken_out(ids, new_id):
    """The new token comes behind the pair's first, which stays."""
    pair = _most_frequent(_pairs(ids))
    merged: list[int] = []
    for one in ids.tolist():
        made = bool(merged) and (merged[-1], one) == pair
        merged.append(new_id if made else one)
    return torch.tensor(merged)


def _added_up(ids, new_id):
    """As if ids were texts, whose sum is the piece."""
    pair = _most_frequent(_pairs(ids))
    merged: list[int] = []
    for one in ids.tolist():
        made = bool(merged) and (merged[-1], one) == pair
        merged.append(merged.pop() + one if made else one)
    return torch.tensor(merged)


def _from_the_right(ids, new_id):
    first, second = _most_frequent(_pairs(ids))
    turned = merge(ids.flip(0), new_id, choose=lambda _: (second, first))
    return turned.flip(0)


def _last_lost(ids, new_id):
    merged = merge(ids, new_id)
    return merged if merged[-1] == new_id else merged[:-1]


def _last_twice(ids, new_id):
    merged = merge(ids, new_id)
    return torch.cat([merged, ids[-1:]]) if merged[-1] == new_id else merged


def _in_twos(ids):
    """Pairs that don't overlap."""
    return list(zip(ids.tolist()[0::2], ids.tolist()[1::2], strict=False))


def _without_overlap(ids, new_id):
    """Of 5 5 5, one pair is counted: as many as can be merged."""
    found = Counter(_pairs(ids))
    for pair in found:
        merged = merge(ids, new_id, choose=lambda _, pair=pair: pair)
        found[pair] = len(ids) - len(merged)
    return merge(ids, new_id, choose=lambda _: max(found, key=lambda one: found[one]))


def _round_the_end(ids):
    return [*_pairs(ids), (ids[-1].item(), ids[0].item())]


def _either_order(ids, new_id):
    both = [tuple(sorted(pair)) for pair in _pairs(ids)]
    pair = _most_frequent(both)
    merged: list[int] = []
    left = ids.tolist()
    while left:
        if len(left) > 1 and tuple(sorted(left[:2])) == pair:
            merged, left = [*merged, new_id], left[2:]
        else:
            merged.append(left.pop(0))
    return torch.tensor(merged)


def _every_repeated_pair(ids, new_id):
    counts = Counter(_pairs(ids))
    merged: list[int] = []
    left = ids.tolist()
    while left:
        if len(left) > 1 and counts[tuple(left[:2])] > 1:
            merged, left = [*merged, new_id], left[2:]
        else:
            merged.append(left.pop(0))
    return torch.tensor(merged)


MISTAKES = (
    Mistake(
        "tokens that are lost in a run",
        _by_masks,
        "In 5 5 5 with the pair 5 5, the second 5 ends one pair and begins another. "
        "Once it is merged it is gone: go from left to right, and step over both.",
    ),
    Mistake(
        "only the first place merged",
        _with(most=1),
        "The new token takes the place of the pair everywhere in the text.",
    ),
    Mistake(
        "a second token that stays",
        _second_kept,
        "The new token stands for both, so the text becomes shorter by one token for "
        "each merge.",
    ),
    Mistake(
        "a first token that stays",
        _not_taken_out,
        "The new token stands for both: the pair's first, which your list has already, "
        "must go out of it.",
    ),
    Mistake(
        "two ids added up",
        _added_up,
        "What stands for the pair is new_id. Texts are joined by +, but the sum of two "
        "ids is the id of some other token.",
    ),
    Mistake(
        "merged from right to left",
        _from_the_right,
        "In 5 5 5 with the pair 5 5, the first two are merged, and the third stays: go "
        "from left to right.",
    ),
    Mistake(
        "the last token lost",
        _last_lost,
        "A last token that ends no pair has no neighbour to its right, and must still "
        "be kept.",
    ),
    Mistake(
        "the last token twice",
        _last_twice,
        "Where the last two tokens are the pair, the new one stands for both: the last "
        "one doesn't come again.",
    ),
    Mistake(
        "a new token beside the pair",
        _inserted,
        "The new token stands in place of the two, not beside them.",
    ),
    Mistake(
        "pairs counted in twos",
        _with(pairs=_in_twos),
        "Every two neighbours are a pair, also the second token and the third: of N "
        "tokens there are N - 1 pairs.",
    ),
    Mistake(
        "pairs counted without overlap",
        _without_overlap,
        "Every two neighbours count: 5 5 5 has two pairs, though only one of them can "
        "be merged.",
    ),
    Mistake(
        "a pair round the end",
        _with(pairs=_round_the_end),
        "The last token has no neighbour to its right: it and the first are no pair.",
    ),
    Mistake(
        "the first pair",
        _with(choose=lambda pairs: pairs[0]),
        "Count the pairs as numbers: two tensors that hold the same id are two keys of "
        "a dict, so that every pair counts once. ids.tolist() has numbers.",
    ),
    Mistake(
        "pairs in either order",
        _either_order,
        "a b and b a are two pairs: what the new token stands for has an order.",
    ),
    Mistake(
        "every pair that occurs twice",
        _every_repeated_pair,
        "One merge is of one pair, the most frequent. The others get tokens of their "
        "own later.",
    ),
    *several(
        "another one of equally frequent pairs",
        [
            _with(choose=choose)
            for choose in (_last_of_equals, _smallest_of_equals, _largest_of_equals)
        ],
        "Of pairs that occur equally often, take the one that comes first in the text.",
    ),
)


def _texts():
    texts = {
        "two pairs alike": ([1, 2, 3, 1, 2], 4),
        "a run of five": ([5, 5, 5, 5, 5, 2], 9),
        "a pair and its mirror image": ([2, 1, 3, 1, 2, 4, 1, 2, 5, 2, 1, 7, 1, 2], 9),
        "equally frequent pairs": ([4, 6, 1, 3, 4, 6, 1, 3, 9, 1, 2, 8, 1, 2], 10),
        "pairs at odd places": ([0, 3, 8, 1, 3, 8, 7, 3, 8, 6], 10),
        "a run inside": ([8, 8, 1, 8, 8, 8, 2, 8, 8, 1, 0, 1], 11),
        "ids of several digits": ([412, 300, 412, 3001, 7, 412, 300], 50000),
        "a pair twice, and a run of four": ([1, 2, 3, 1, 2, 5, 5, 5, 5], 9),
        "a pair from the end to the start": ([2, 4, 3, 1, 2, 4, 1, 2, 9, 1], 10),
        "no pair twice": ([3, 1, 4, 0], 5),
        "two tokens": ([1, 0], 2),
        "one pair, again and again": ([6, 2, 6, 2, 6, 2, 6], 7),
    }
    return [
        Case(name, {"ids": torch.tensor(ids), "new_id": new_id})
        for name, (ids, new_id) in texts.items()
    ]


EXERCISE = Exercise(
    name="merge_pair",
    stub="my_merge_pair(ids, new_id)",
    asks=(
        "a function of a text's token ids (N,), at least two, and of a new id, that "
        "puts the new id in place of the most frequent pair of neighbours, wherever it "
        "stands; returns the ids that are left, (M,)."
    ),
    returns={"ids": "(M,)"},
    reference=merge,
    cases=_texts,
    mistakes=MISTAKES,
)
