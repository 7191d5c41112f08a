"""Exercise of the page about a circuit: the share of a change that a patch brings."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.several_ways import several


def _leads(logits, right, wrong):
    rows = torch.arange(len(right))
    return logits[rows, right] - logits[rows, wrong]


def _of_leads(share):
    """A function of the three runs' leads, each (N,), as one of the logits."""

    def found(clean, other, patched, right, wrong):
        return share(*(_leads(one, right, wrong) for one in (clean, other, patched)))

    return found


def _of_means(share):
    """The same of the three runs' mean leads."""
    return _of_leads(lambda *leads: share(*(one.mean() for one in leads)))


def _of_changed(change):
    """The right share of logits that were changed before."""

    def found(clean, other, patched, right, wrong):
        return brought(change(clean), change(other), change(patched), right, wrong)

    return found


def _of_one_logit(clean, other, patched, right, wrong):
    rows = torch.arange(len(right))
    a, b, c = (one[rows, right].mean() for one in (clean, other, patched))
    return (a - c) / (a - b)


brought = _of_means(lambda clean, other, patched: (clean - patched) / (clean - other))

MISTAKES = (
    Mistake(
        "the share that is left",
        _of_means(lambda clean, other, patched: (patched - other) / (clean - other)),
        "That is 1 where the patch changes nothing. Asked is how far it has come: 0 "
        "there, and 1 where the lead is the other prompt's.",
    ),
    Mistake(
        "a share of the clean lead",
        _of_means(lambda clean, other, patched: (clean - patched) / clean),
        "A patch that does all it can leads to the other prompt's lead, and not to 0: "
        "divide by the fall from clean to other.",
    ),
    Mistake(
        "the change in logits, not divided",
        _of_means(lambda clean, other, patched: clean - patched),
        "Divide by the fall from clean to other, so that prompts with large and small "
        "leads can be compared.",
    ),
    Mistake(
        "the patched lead over the clean one",
        _of_means(lambda clean, other, patched: patched / clean),
        "Both ends matter: where the lead begins (clean), and where it would end "
        "(other).",
    ),
    Mistake(
        "the change looked at without its sign",
        _of_means(
            lambda clean, other, patched: ((clean - patched) / (clean - other)).abs()
        ),
        "A patch may work the other way; then its share is below 0.",
    ),
    Mistake(
        "the mean of each prompt's share",
        _of_leads(
            lambda clean, other, patched: ((clean - patched) / (clean - other)).mean()
        ),
        "A prompt on which the two runs hardly differ has a share of any size, and "
        "rules the mean. Take the means of the leads first, and divide once.",
    ),
    Mistake(
        "the right token's logit alone",
        _of_one_logit,
        "Its logit also rises where all do. The lead is the right token's logit less "
        "the wrong one's.",
    ),
    *several(
        "probabilities in place of logits",
        [_of_changed(lambda one: one.softmax(-1))],
        "Near 0 and 1 probabilities hardly move, whatever the patch does. Take "
        "differences of logits.",
    ),
    Mistake(
        "clean and other exchanged",
        _of_means(lambda clean, other, patched: (other - patched) / (clean - other)),
        "The fall begins at the clean lead: it is clean less patched.",
    ),
)


def _patches():
    generator = torch.Generator().manual_seed(41)

    def draw(*shape):
        return torch.randn(shape, generator=generator).round(decimals=1)

    def case(name, *logits, right, wrong):
        clean, other, patched = (
            torch.as_tensor(one, dtype=torch.get_default_dtype()) for one in logits
        )
        tokens = {"right": torch.tensor(right), "wrong": torch.tensor(wrong)}
        return Case(
            name, {"clean": clean, "other": other, "patched": patched, **tokens}
        )

    one = [[5.0, 1.0, 0.0]], [[1.0, 5.0, 0.0]], [[4.0, 2.0, 0.0]]
    mean = draw(3, 5), draw(3, 5), draw(3, 5)
    several_prompts = [one + draw(4, 6) for one in (2.0, 0.0, 1.0)]
    return [
        case("one prompt", *one, right=[0], wrong=[1]),
        case("three prompts", *mean, right=[0, 2, 4], wrong=[1, 3, 0]),
        case(
            "it works the other way",
            *([[3.0, 1.0]], [[1.0, 2.0]], [[4.0, 0.0]]),
            right=[0],
            wrong=[1],
        ),
        case(
            "four prompts of other tokens",
            *several_prompts,
            right=[5, 1, 0, 3],
            wrong=[2, 2, 4, 1],
        ),
    ]


EXERCISE = Exercise(
    name="patched_share",
    stub="my_patched_share(clean, other, patched, right, wrong)",
    asks=(
        "a function of the logits (N, vocab_size) of three runs, clean, other and "
        "patched, and of the right and the wrong token of each prompt, (N,). The lead "
        "is the right token's logit less the wrong one's, averaged over prompts. It "
        "returns how far the patch has brought the lead from that of clean, which is "
        "0, to that of other, which is 1."
    ),
    returns={"share": "a number"},
    reference=lambda *runs: brought(*runs).item(),
    cases=_patches,
    mistakes=MISTAKES,
)
