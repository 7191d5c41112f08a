"""Exercise of "What does it mean?": how far a meaning moves a word along an axis."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.several_ways import several


def _means(*vectors):
    return [one.mean(dim=0) for one in vectors]


def _with(rule):
    """What a rule gives for the move and the axis."""

    def found(river, money, shore, treasury):
        river, money, shore, treasury = _means(river, money, shore, treasury)
        return rule(money - river, treasury - shore)

    return found


share = _with(lambda moved, axis: (moved @ axis / (axis @ axis)).item())


def _cosine(moved, axis):
    return moved @ axis / (moved.norm() * axis.norm())


def _of_the_money_alone(river, money, shore, treasury):
    money, shore, treasury = _means(money, shore, treasury)
    axis = treasury - shore
    return (money - shore) @ axis / (axis @ axis)


def _along_the_treasury(river, money, shore, treasury):
    river, money, treasury = _means(river, money, treasury)
    return (money - river) @ treasury / (treasury @ treasury)


def _where_money_lies(river, money, shore, treasury):
    money, shore, treasury = _means(money, shore, treasury)
    axis = treasury - shore
    return money @ axis / (axis @ axis)


def _of_first_rows(river, money, shore, treasury):
    return share(river[:1], money[:1], shore[:1], treasury[:1])


def _in_sums(river, money, shore, treasury):
    moved = money.sum(dim=0) - river.sum(dim=0)
    axis = treasury.sum(dim=0) - shore.sum(dim=0)
    return moved @ axis / (axis @ axis)


MISTAKES = (
    Mistake(
        "the cosine of the move and the axis",
        _with(_cosine),
        "A cosine says which way the word moved, not how far. Divide by the axis times "
        "itself alone.",
    ),
    Mistake(
        "divided by the axis' norm once",
        _with(lambda moved, axis: moved @ axis / axis.norm()),
        "That is how far it moved in the vectors' own unit. A share of the axis is "
        "divided by its norm once more: axis @ axis in all.",
    ),
    Mistake(
        "the dot product, not divided",
        _with(lambda moved, axis: moved @ axis),
        "Divide by axis @ axis, so that the whole way counts 1.",
    ),
    Mistake(
        "the norm of the move over the axis'",
        _with(lambda moved, axis: moved.norm() / axis.norm()),
        "Only what lies along the axis counts, with its sign: take a dot product.",
    ),
    Mistake(
        "divided by the move instead of the axis",
        _with(lambda moved, axis: moved @ axis / (moved @ moved)),
        "The axis is the whole way: divide by axis @ axis.",
    ),
    Mistake(
        "from money to river",
        _with(lambda moved, axis: -(moved @ axis) / (axis @ axis)),
        "One of the two differences is turned round. The axis leads to treasury, and "
        "the move to money.",
    ),
    Mistake(
        "how far money lies from the shore",
        _of_the_money_alone,
        "Where the river was told, bank doesn't lie at the shore. Measure from the "
        "mean of river.",
    ),
    Mistake(
        "the mean of treasury as the axis",
        _along_the_treasury,
        "The axis leads from shore to treasury: it is the difference of their means.",
    ),
    Mistake(
        "where money lies, not how far it moved",
        _where_money_lies,
        "Measure from the mean of river: how far it moved is their difference.",
    ),
    *several(
        "one row in place of the mean",
        [_of_first_rows],
        "Average each of the four over its rows, mean(dim=0).",
    ),
    Mistake(
        "sums in place of means",
        _in_sums,
        "The four have different numbers of rows: take means.",
    ),
)


def _words():
    generator = torch.Generator().manual_seed(4)

    def draw(name, *rows, C, steps=1):
        four = [
            torch.randn(count, C, generator=generator).round(decimals=steps)
            for count in rows
        ]
        names = ("river", "money", "shore", "treasury")
        return Case(name, dict(zip(names, four, strict=True)))

    plain = Case(
        "half of the way",
        {
            "river": torch.tensor([[1.0, 3.0]]),
            "money": torch.tensor([[3.0, 2.0]]),
            "shore": torch.tensor([[0.0, 0.0]]),
            "treasury": torch.tensor([[4.0, 0.0]]),
        },
    )
    return [
        plain,
        draw("two sentences of each", 2, 2, 2, 2, C=3),
        draw("other numbers of rows", 4, 3, 2, 5, C=4),
        draw("one word of each meaning", 3, 5, 1, 1, C=6),
        draw("a wide stream", 6, 7, 3, 2, C=20),
    ]


EXERCISE = Exercise(
    name="share_of_the_way",
    stub="my_share_of_the_way(river, money, shore, treasury)",
    asks=(
        "a function of a word's vectors where one meaning was told, river (N, C), and "
        "where the other was, money (M, C), and of words of one meaning each, shore "
        "(K, C) and treasury (L, C). It returns how far the mean of money lies beyond "
        "that of river, along the axis from the mean of shore to the mean of treasury, "
        "as a share of that axis."
    ),
    returns={"share": "a number"},
    reference=share,
    cases=_words,
    mistakes=MISTAKES,
)
