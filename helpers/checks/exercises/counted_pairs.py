"""Exercise of chapter 8: what follows a character, by counts that fall back."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def mixed(counts, shorter, times=None):
    """Witten and Bell's rule, along the last axis.

    Args:
        counts: (..., vocab_size), how often each character followed a context.
        shorter: what the shorter context gives to each of them, or one number for all.
        times: how often that counts, where it isn't once for each kind.

    Returns:
        chances: (..., vocab_size); what ``shorter`` says where nothing was counted.
    """
    seen = counts.sum(dim=-1, keepdim=True)
    kinds = (counts > 0).sum(dim=-1, keepdim=True)
    chances = (counts + (times or kinds) * shorter) / (seen + kinds)
    return torch.where(seen > 0, chances, shorter)


def even(pairs):
    """An even guess."""
    return 1 / len(pairs)


def alone(pairs, times=None):
    """The chances of each character whatever was before it."""
    return mixed(pairs.sum(dim=0), even(pairs), times)


def chances(pairs):
    """The right answer."""
    return mixed(pairs, alone(pairs))


def _rule(pairs, shorter, axis=-1, keepdim=True, divisor=torch.add):
    """The rule without the case of a context that was never seen."""
    seen = pairs.sum(dim=axis, keepdim=keepdim)
    kinds = (pairs > 0).sum(dim=axis, keepdim=keepdim)
    return (pairs + kinds * shorter) / divisor(seen, kinds)


def _nan_as(shorter):
    def filled(pairs):
        found = _rule(pairs, alone(pairs))
        return torch.where(found.isnan(), shorter(pairs), found)

    return filled


def _shares(counts):
    return counts / counts.sum(dim=-1, keepdim=True)


def _tables():
    generator = torch.Generator().manual_seed(8)
    drawn = torch.randint(0, 4, (7, 7), generator=generator)
    drawn[2] = 0  # never before another one
    drawn[:, 5] = 0  # never after another one
    return [
        Case(
            "three characters",
            {"pairs": torch.tensor([[0, 3, 1], [2, 0, 0], [1, 1, 2]])},
        ),
        Case(
            "a character that nothing followed",
            {
                "pairs": torch.tensor(
                    [[0, 2, 0, 1], [4, 0, 1, 1], [0] * 4, [2, 1, 0, 0]]
                )
            },
        ),
        Case("seven characters", {"pairs": drawn}),
        Case("counts in the thousands", {"pairs": 1000 * drawn}),
    ]


EXERCISE = Exercise(
    name="counted_pairs",
    stub="my_counted_pairs(pairs)",
    asks=(
        "a function of counts (vocab_size, vocab_size), where pairs[i, j] is how often "
        "character j followed character i. It returns the chances of what follows "
        "each character (vocab_size, vocab_size): its counts mixed with the chances "
        "of each character whatever was before it, and these with an even guess."
    ),
    returns={"chances": "(vocab_size, vocab_size)"},
    reference=chances,
    cases=_tables,
    mistakes=(
        Mistake(
            "nan after a character that nothing followed",
            lambda pairs: _rule(pairs, alone(pairs)),
            "Its row of counts is all 0, and so is what you divide by. A context that "
            "was never seen leaves everything to the shorter one.",
        ),
        Mistake(
            "zeros after a character that nothing followed",
            _nan_as(lambda pairs: torch.zeros(len(pairs))),
            "Something will follow, so the row must sum to 1. A context that was never "
            "seen leaves everything to the shorter one.",
        ),
        Mistake(
            "an even guess after a character that nothing followed",
            _nan_as(lambda pairs: torch.tensor(even(pairs))),
            "The next shorter context is no character at all, and there some "
            "characters are more frequent than others.",
        ),
        *(
            Mistake(
                "an even guess in place of the shorter context",
                function,
                "Two steps are asked for. First mix the counts of each character, "
                "whatever was before it, with the even guess; then mix the pairs with "
                "the result.",
            )
            for function in (
                lambda pairs: mixed(pairs, torch.tensor(even(pairs))),
                lambda pairs: _rule(pairs, even(pairs)),
            )
        ),
        *(
            Mistake(
                "a shorter context without its own fallback",
                lambda pairs, rule=rule: rule(pairs, _shares(pairs.sum(dim=0))),
                "A character that was never seen then gets a chance of 0, and a text "
                "that holds it an infinite loss. Mix these counts with the even guess.",
            )
            for rule in (mixed, _rule)
        ),
        *(
            Mistake(
                "shares of the counts alone",
                function,
                "A pair that was never seen then gets a chance of 0, and a text that "
                "holds it an infinite loss. That is what kinds is for.",
            )
            for function in (_shares, lambda pairs: _shares(pairs).nan_to_num())
        ),
        Mistake(
            "one added to every count",
            lambda pairs: _shares(pairs + 1),
            "That is another rule, Laplace's. Here a context gives kinds / (seen + "
            "kinds) to the shorter one.",
        ),
        Mistake(
            "rows that aren't divided by seen + kinds",
            lambda pairs: _rule(pairs, alone(pairs), divisor=lambda seen, _: seen),
            "The counts sum to seen, and the shorter context adds kinds: divide by "
            "both, or a row sums to more than 1.",
        ),
        Mistake(
            "a shorter context that isn't multiplied by kinds",
            lambda pairs: mixed(pairs, alone(pairs, times=1), times=1),
            "What the shorter context gives sums to 1, and kinds times it to kinds. "
            "You divide by seen + kinds, so without kinds a row sums to less than 1.",
        ),
        Mistake(
            "sums without keepdim",
            lambda pairs: _rule(pairs, alone(pairs), keepdim=False),
            "Without keepdim=True the sums are (vocab_size,), and broadcasting lays "
            "them along the columns: each row is divided by the sums of others.",
        ),
        Mistake(
            "sums over the columns",
            lambda pairs: _rule(pairs, alone(pairs), axis=0),
            "A row holds what followed one character, so its sum runs along the last "
            "axis, dim=-1.",
        ),
    ),
)
