"""Exercise of the page "Sampling the next character": top-p, or nucleus sampling."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.top_k import FIVE, largest_first
from helpers.models import generation

SURE = torch.tensor([0.04, 0.90, 0.03, 0.02, 0.01])


def _rows():
    generator = torch.Generator().manual_seed(9)

    def case(name, logits, p, ties=False):
        arguments = {"logits": logits, "p": p}
        return Case(name, arguments | {"ties": ties}, arguments)

    # No sum of probabilities comes near its p, or it is p exactly, in float32 and in
    # float64: which side it falls on is certain.
    rows = torch.randn(3, 7, generator=generator)
    low = torch.tensor([[-3000.0, -3001.0, -3002.0, -2999.0]])
    return [
        case("one row", FIVE[None].log(), 0.8),
        case("a row that is nearly sure", SURE[None].log(), 0.8),
        case("three rows", rows, 0.6),
        case("a small p", rows + 4, 0.01),
        case("logits in the thousands", 3000 * rows, 0.5),
        case("logits of minus thousands", low, 0.8),
        case("four equal logits", torch.zeros(1, 4), 0.6, ties=True),
        case("two of four reach p exactly", torch.zeros(1, 4), 0.5, ties=True),
    ]


def _use_top_p(top_p, logits, p, ties):
    probabilities = top_p(logits, p)
    return largest_first(probabilities) if ties else probabilities


def _sort(logits, descending=True):
    """Sorted probabilities, their ids, and the sums of those before each of them."""
    ordered, ids = logits.softmax(dim=-1).sort(
        dim=-1, descending=descending, stable=True
    )
    return ordered, ids, ordered.cumsum(dim=-1) - ordered


def _normalise(probabilities):
    return probabilities / probabilities.sum(dim=-1, keepdim=True)


def _put_back(ordered, ids):
    return torch.zeros_like(ordered).scatter(-1, ids, ordered)


def _without_crossing(logits, p, always=0, fits=torch.le):
    """Keep while the sum, the entry itself included, is at most p, or below it."""
    ordered, ids, before = _sort(logits)
    kept = fits(before + ordered, p)
    kept[..., :always] = True
    return _normalise(_put_back(ordered * kept, ids))


def _one_more(logits, p):
    ordered, ids, before = _sort(logits)
    kept = before < p
    kept[..., 1:] = kept[..., :-1].clone()
    return _normalise(_put_back(ordered * kept, ids))


def _gathered(logits, p):
    ordered, ids, before = _sort(logits)
    return _normalise((ordered * (before < p)).gather(-1, ids))


def _on_at_a_tie(logits, p):
    ordered, ids, before = _sort(logits)
    return _normalise(_put_back(ordered * (before <= p), ids))


def _unsorted(logits, p):
    probabilities = logits.softmax(dim=-1)
    before = probabilities.cumsum(dim=-1) - probabilities
    return _normalise(probabilities * (before < p))


def _ascending(logits, p):
    ordered, ids, before = _sort(logits, descending=False)
    return _normalise(_put_back(ordered * (before < p), ids))


def _in_sorted_order(logits, p):
    ordered, _, before = _sort(logits)
    return _normalise(ordered * (before < p))


def _undivided(logits, p):
    ordered, ids, before = _sort(logits)
    return _put_back(ordered * (before < p), ids)


def _all_that_equal(logits, p):
    ordered, _, before = _sort(logits)
    smallest = ordered.masked_fill(before >= p, 1.0).amin(dim=-1, keepdim=True)
    probabilities = logits.softmax(dim=-1)
    return _normalise(probabilities * (probabilities >= smallest))


def _over_the_rows(logits, p):
    """The longest of the rows' counts, for all of them."""
    ordered, ids, before = _sort(logits)
    return _normalise(_put_back(ordered * (before < p).any(dim=0), ids))


def _set_to_zero(logits, p):
    _, ids, before = _sort(logits)
    return (logits * _put_back((before < p).to(logits.dtype), ids)).softmax(dim=-1)


EXERCISE = Exercise(
    name="top_p",
    stub="my_top_p(logits, p)",
    asks=(
        "a function of (B, vocab_size) logits and a number between 0 and 1 that "
        "returns (B, vocab_size) probabilities: the most probable characters of each "
        "row until their sum reaches p, the one that crosses it included, divided by "
        "their sum. Which of equal ones it keeps is free."
    ),
    returns={"probabilities": "(B, vocab_size)"},
    reference=lambda logits, p: generation.next_probabilities(logits, top_p=p),
    cases=_rows,
    run=_use_top_p,
    mistakes=(
        Mistake(
            "gather in place of scatter",
            _gathered,
            "gather reads from the places that it is given, scatter writes there. "
            "What sort brought into order goes back by scatter.",
        ),
        *(
            Mistake(
                "top-p without the character that crosses p",
                wrong,
                "The sum of what is kept must reach p, so the character with which it "
                "does is kept as well. Compare p with the sum before each character.",
            )
            for wrong in (
                _without_crossing,
                lambda logits, p: _without_crossing(logits, p, always=1),
                lambda logits, p: _without_crossing(logits, p, fits=torch.lt),
                lambda logits, p: _without_crossing(logits, p, 1, torch.lt),
            )
        ),
        Mistake(
            "top-p that goes on when the sum is exactly p",
            _on_at_a_tie,
            "Where the sum of what is kept equals p, it has reached p, and the next "
            "character is one too many. Keep a character while the sum before it is "
            "below p, not while it is at most p.",
        ),
        Mistake(
            "top-p that keeps one character too many",
            _one_more,
            "The character that crosses p is the last to be kept. Yours keeps the one "
            "after it, too.",
        ),
        Mistake(
            "sums over characters that were not sorted",
            _unsorted,
            "Which characters are kept then depends on their ids. Sort the "
            "probabilities, the largest first, before cumsum.",
        ),
        Mistake(
            "sums that begin with the least probable",
            _ascending,
            "sort begins with the smallest unless told descending=True. Yours keeps "
            "the tail.",
        ),
        Mistake(
            "probabilities in sorted order",
            _in_sorted_order,
            "The numbers are right and stand in the order of their size. sort also "
            "returns where each came from; scatter puts them back.",
        ),
        Mistake(
            "top-p that is not divided by its sum",
            _undivided,
            "What is left sums to less than 1.",
        ),
        Mistake(
            "one number of characters for all rows",
            _over_the_rows,
            "Each row keeps as many as it needs to reach p.",
        ),
        Mistake(
            "top-p that keeps more where probabilities are equal",
            _all_that_equal,
            "A comparison with the smallest that is kept also keeps all that equal "
            "it. Right for probabilities that differ; else use the places in the "
            "sorted row.",
        ),
        Mistake(
            "top-p with logits set to 0 where they are cut",
            _set_to_zero,
            "A logit of 0 is a logit like another. What gets no probability has a "
            "logit of minus infinity.",
        ),
    ),
)
