"""Exercise of the page "Sampling the next character": top-k, with a temperature."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.models import generation

FIVE = torch.tensor([0.15, 0.50, 0.06, 0.25, 0.04])


def largest_first(probabilities):
    """What doesn't depend on which of several equal logits are kept.

    Args:
        probabilities: anything; a tensor is sorted.

    Returns:
        part: a dict with one entry.
    """
    fits = isinstance(probabilities, torch.Tensor) and probabilities.dim() > 0
    if fits and probabilities.layout == torch.strided:
        probabilities = probabilities.sort(dim=-1, descending=True).values
    return {"the largest first": probabilities}


def _rows_to_cut():
    generator = torch.Generator().manual_seed(8)

    def case(name, logits, k, temperature=1.0, ties=False):
        arguments = {"logits": logits, "k": k, "temperature": temperature}
        return Case(name, arguments | {"ties": ties}, arguments)

    rows = torch.randn(3, 7, generator=generator)
    low = torch.tensor([[-3000.0, -3001.0, -3002.0, -2999.0]])
    equal = torch.tensor([1.0, 1.0, 0.0, 1.0, 1.0]).repeat(3, 1)
    return [
        case("one row, one kept", FIVE[None].log(), 1),
        case(
            "two rows, temperature 0.5", torch.stack([FIVE, FIVE.flip(0)]).log(), 2, 0.5
        ),
        case("three rows, temperature 2", rows, 3, 2.0),
        case("logits all above 0", rows + 4, 2),
        case("logits in the thousands", 3000 * rows, 2),
        case("logits of minus thousands, temperature 0.25", low, 2, 0.25),
        case("a kept logit is 0", torch.tensor([[2.0, 0.0, -1.0, -3.0]]), 2),
        case("four equal logits, two kept", equal, 2, ties=True),
    ]


def _use_top_k(top_k, logits, k, temperature, ties):
    probabilities = top_k(logits, k, temperature)
    return largest_first(probabilities) if ties else probabilities


def _exactly(logits, k, dim=-1):
    """True at k logits of each row."""
    best = logits.topk(k, dim=dim).indices
    return torch.zeros_like(logits).scatter(dim, best, 1.0).bool()


def _no_less(logits, k, dim=-1):
    """True at the logits that are no less than the k-th."""
    return logits >= logits.topk(k, dim=dim).values.amin(dim, keepdim=True)


def _one_less(logits, k):
    return _exactly(logits, k - 1)


def _larger(logits, k):
    return logits > logits.topk(k).values.amin(-1, keepdim=True)


def _open(logits, kept, temperature=1.0):
    return (logits / temperature).masked_fill(~kept, -torch.inf).softmax(dim=-1)


def _sorted_first(logits, k, temperature):
    best = logits.topk(k).values / temperature
    rest = logits.shape[-1] - k
    return torch.cat([best.softmax(-1), torch.zeros(*logits.shape[:-1], rest)], dim=-1)


def _mistakes(keep, keep_too_few):
    """Mistakes that come with either way to find the k most probable."""
    return (
        Mistake(
            "top-k with logits set to 0 where they are cut",
            lambda logits, k, temperature: (
                logits * keep(logits, k) / temperature
            ).softmax(dim=-1),
            "A logit of 0 is a logit like another, and larger than any below 0. What "
            "gets no probability has a logit of minus infinity.",
        ),
        Mistake(
            "top-k that is not divided by its sum",
            lambda logits, k, temperature: (
                (logits / temperature).softmax(dim=-1) * keep(logits, k)
            ),
            "What is left sums to less than 1. Divide it by its sum, or cut before "
            "softmax, with minus infinity.",
        ),
        Mistake(
            "logits multiplied by the temperature",
            lambda logits, k, temperature: _open(
                logits, keep(logits, k), 1 / temperature
            ),
            "Divide: a temperature below 1 makes the row sharper, one above 1 more "
            "even. Yours does the reverse.",
        ),
        Mistake(
            "a temperature without effect",
            lambda logits, k, temperature: _open(logits, keep(logits, k)),
            "Divide the logits by it, before softmax. Divided out of probabilities, "
            "it cancels when they are divided by their sum.",
        ),
    )


EXERCISE = Exercise(
    name="top_k",
    stub="my_top_k(logits, k, temperature)",
    asks=(
        "a function of (B, vocab_size) logits, the number to keep in each row and a "
        "temperature above 0 that returns (B, vocab_size) probabilities, 0 for all but "
        "exactly k characters. Which of equal logits it keeps is free."
    ),
    returns={"probabilities": "(B, vocab_size)"},
    reference=lambda logits, k, temperature: generation.next_probabilities(
        logits, temperature=temperature, top_k=k
    ),
    cases=_rows_to_cut,
    run=_use_top_k,
    mistakes=(
        *_mistakes(_exactly, _one_less),
        *_mistakes(_no_less, _larger),
        Mistake(
            "probabilities in sorted order",
            _sorted_first,
            "The numbers are right and stand in the order of their size. Index i must "
            "hold the probability of character i.",
        ),
        Mistake(
            "top-k that keeps more where logits are equal",
            lambda logits, k, temperature: _open(
                logits, _no_less(logits, k), temperature
            ),
            "A comparison with the k-th logit keeps all that equal it. Right for "
            "logits that differ; to keep exactly k, use the indices that topk returns.",
        ),
    ),
)
