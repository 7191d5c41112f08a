"""Exercise of chapter 18: how far heads attend to earlier copies of a token."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.several_ways import several


def _same(ids):
    return ids[:, None] == ids[None, :]


def _copies(ids):
    return _same(ids).tril(-1)


def _asked(ids):
    return _copies(ids).any(dim=-1)


def score(weights, ids):
    """Right."""
    return (weights * _copies(ids)).sum(dim=-1)[:, _asked(ids)].mean(dim=-1)


def _over(marks, asked):
    """The mean, over the rows that ``asked`` marks, of the weight on the marks."""

    def found(weights, ids):
        return (weights * marks(ids)).sum(dim=-1)[:, asked(ids)].mean(dim=-1)

    return found


def _shifted(steps):
    """Marks so many places behind an earlier copy."""

    def marks(ids):
        moved = torch.zeros_like(_same(ids))
        rows, columns = _copies(ids).nonzero(as_tuple=True)
        kept = (columns + steps >= 0) & (columns + steps < len(ids))
        moved[rows[kept], columns[kept] + steps] = True
        return moved

    return marks


def _one_copy(latest):
    """A mark on one of the earlier copies alone."""

    def marks(ids):
        copies = _copies(ids)
        order = torch.arange(len(ids))
        order = order if latest else order.flip(0)
        best = (copies * (order + 1)).argmax(dim=-1)
        return copies & (torch.arange(len(ids)) == best[:, None])

    return marks


def _everyone(ids):
    return torch.ones_like(ids, dtype=torch.bool)


def _with_a_copy_anywhere(ids):
    return _same(ids).sum(dim=-1) > 1


def _where_it_looks(weights, ids):
    on_copies = (weights * _copies(ids)).sum(dim=-1)
    return on_copies.sum(dim=-1) / (on_copies > 0).sum(dim=-1).clamp(min=1)


def _mean_of_pairs(weights, ids):
    return weights[:, _copies(ids)].mean(dim=-1)


EARLIER = "Only copies that stand before the token that asks are meant, tril(-1)."

MISTAKES = (
    *several(
        "the token itself counted as a copy",
        [
            _over(lambda ids: _same(ids).tril(), _asked),
            _over(lambda ids: _same(ids).tril(), _everyone),
            _over(_same, _asked),
            _over(_same, _everyone),
        ],
        "Each token equals itself, so the diagonal is marked, too. " + EARLIER,
    ),
    *several(
        "copies that come later counted, too",
        [
            _over(lambda ids: _same(ids) & ~torch.eye(len(ids), dtype=torch.bool), of)
            for of in (_asked, _with_a_copy_anywhere)
        ],
        "A token's later copies are marked, too. " + EARLIER,
    ),
    Mistake(
        "the mean over all positions",
        _over(_copies, _everyone),
        "A position whose token is new has no copy to look at, and its 0 pulls the "
        "mean down. Average over the rows that have a mark.",
    ),
    Mistake(
        "the mean over all tokens that have a copy anywhere",
        _over(_copies, _with_a_copy_anywhere),
        "The first of two equal tokens has no earlier copy, so it isn't asked. A "
        "position counts if its row of earlier copies has a mark.",
    ),
    Mistake(
        "the mean over positions that look at a copy",
        _where_it_looks,
        "A position whose token has come before counts, even if it gives its copies "
        "nothing.",
    ),
    Mistake(
        "the mean over pairs",
        _mean_of_pairs,
        "Where a token has come twice before, two weights belong to one position: add "
        "them up, and average over positions.",
    ),
    Mistake(
        "the sum in place of the mean",
        lambda weights, ids: (weights * _copies(ids)).sum(dim=(-1, -2)),
        "Divide by how many positions have an earlier copy.",
    ),
    *several(
        "behind the copy in place of the copy",
        [
            _over(lambda ids: _shifted(1)(ids).tril(), _asked),
            _over(lambda ids: _shifted(1)(ids).tril(-1), _asked),
        ],
        "That is prefix matching, an induction head's score. Here the copy itself is "
        "asked for.",
    ),
    Mistake(
        "before the copy in place of the copy",
        _over(_shifted(-1), _asked),
        "The weight on the copy itself is asked for, one place further.",
    ),
    *several(
        "one copy where there are several",
        [_over(_one_copy(True), _asked), _over(_one_copy(False), _asked)],
        "A token may have come several times before; the weights on all of these "
        "places count.",
    ),
    Mistake(
        "rows and columns swapped",
        lambda weights, ids: score(weights.mT, ids),
        "weights[h, t, s] is what the query at t gives to the key at s, so the copy is "
        "the column.",
    ),
    Mistake(
        "one score for all heads",
        lambda weights, ids: score(weights, ids).mean(),
        "Each head has a score of its own, (H,).",
    ),
)


def _texts():
    generator = torch.Generator().manual_seed(18)

    def draw(H, T, *, masked=True):
        scores = torch.randn(H, T, T, generator=generator)
        if masked:
            future = torch.ones_like(scores).triu(1).bool()
            scores = scores.masked_fill(future, -torch.inf)
        return scores.softmax(-1)

    small = torch.tensor(
        [[[1.0, 0.0, 0.0], [0.4, 0.6, 0.0], [0.7, 0.2, 0.1]]]  # (1, 3, 3)
    )
    nothing = torch.eye(5)[None].clone()  # rows 2 and 3 give their copies nothing
    nothing[0, 4] = torch.tensor([0.5, 0.0, 0.25, 0.0, 0.25])
    texts = {
        "two of three equal": ([5, 3, 5], small),
        "three of five equal": ([2, 2, 7, 1, 2], draw(2, 5)),
        "a text told twice": ([4, 9, 1, 4, 9, 1], draw(3, 6)),
        "one pair, far apart": ([3, 1, 4, 0, 5, 9, 2, 6, 3], draw(2, 9)),
        "copies at the end": ([8, 6, 7, 7, 7, 6], draw(4, 6)),
        "all of them equal": ([1, 1, 1, 1], draw(2, 4)),
        "nothing for some copies": ([0, 3, 0, 3, 0], nothing),
        "without a mask": ([7, 2, 7, 2, 4, 7], draw(2, 6, masked=False)),
    }
    return [
        Case(name, {"weights": weights, "ids": torch.tensor(ids)})
        for name, (ids, weights) in texts.items()
    ]


EXERCISE = Exercise(
    name="duplicate_token_score",
    stub="my_duplicate_token_score(weights, ids)",
    asks=(
        "a function of the weights (H, T, T) of one layer's heads and of the ids (T,) "
        "that they read. It returns for each head, (H,), the mean, over the positions "
        "whose token has come before, of the weight on all earlier positions with the "
        "same token."
    ),
    returns={"scores": "(H,)"},
    reference=score,
    cases=_texts,
    mistakes=MISTAKES,
)
