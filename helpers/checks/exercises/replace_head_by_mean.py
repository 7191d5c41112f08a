"""Exercise of chapter 11: one head's context, replaced by its mean."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support import head_means
from helpers.checks.exercises.support.head_means import (
    mean,
    of_all_heads,
    put_everywhere,
    put_where_real,
    replacing,
)


def _runs():
    generator = torch.Generator().manual_seed(12)

    def case(name, contexts, head, lengths, *, flip=False):
        contexts = torch.as_tensor(contexts, dtype=torch.get_default_dtype())
        real = torch.arange(contexts.shape[2]) < torch.tensor(lengths)[:, None]
        real = real.flip(-1) if flip else real
        return Case(name, {"contexts": contexts, "head": head, "real": real})

    def draw(*shape):
        return torch.randn(shape, generator=generator).round(decimals=1)

    # Heads and positions differ in number: contexts[real] must not choose heads.
    one = [[[[1.0], [2.0], [6.0]], [[10.0], [20.0], [60.0]]]]
    padded = [[[[3.0], [8.0]]], [[[1.0], [6.0]]]]
    return [
        case("one text, no padding", one, 1, [3]),
        case("one head, the second text padded", padded, 0, [2, 1]),
        case("padding in front", draw(2, 3, 4, 2), 1, [1, 4], flip=True),
        case("three texts, the first of two heads", draw(3, 2, 5, 3), 0, [2, 5, 4]),
        case("the last of four heads", draw(2, 4, 3, 2), 3, [3, 2]),
        case("no padding", draw(2, 3, 5, 2), 2, [5, 5]),
    ]


# --- where it is put ------------------------------------------------------------------


def _in_head(other):
    """What the right one does to a head, done to another one."""

    def replace(contexts, head, real):
        return replacing(mean)(contexts, other(head), real)

    return replace


def _mean_in_another(contexts, head, real):
    return put_everywhere(contexts, head - 1, real, mean(contexts, head, real))


def _mean_of_another(contexts, head, real):
    return put_everywhere(contexts, head, real, mean(contexts, head - 1, real))


def _means(contexts, head, real):
    """Each head's own mean, everywhere."""
    means = of_all_heads(contexts, head, real).mean(dim=0)
    return means[:, None].expand_as(contexts)


def _mean_everywhere(contexts, head, real):
    return mean(contexts, head, real).expand_as(contexts)


def _where_real(replace):
    """The same, with padding left as it was."""

    def replaced(contexts, head, real):
        return torch.where(
            real[:, None, :, None], replace(contexts, head, real), contexts
        )

    return replaced


def _this_head(ours, others):
    """A new tensor with this head's contexts from one function, the others' from one.

    Args:
        ours, others: functions of contexts, head and real, whose results broadcast to
            (B, H, T, D).
    """

    def replace(contexts, head, real):
        chosen = torch.arange(contexts.shape[1]) == head
        both = (one(contexts, head, real) for one in (ours, others))
        return torch.where(chosen[:, None, None], *both)

    return replace


def _as_it_was(contexts, head, real):
    return contexts


def _nothing(contexts, head, real):
    return torch.zeros_like(contexts)


def _moved_to_the_end(contexts, head, real):
    replaced = replacing(mean)(contexts, head, real)
    others = [one for one in range(contexts.shape[1]) if one != head]
    return replaced[:, [*others, head]]


def _text_by_text(contexts, head, real):
    changed = contexts.clone()
    for text in range(len(contexts)):
        changed[text, head] = mean(changed, head, real)
    return changed


def _last_text_alone(contexts, head, real):
    changed = contexts.clone()
    changed[-1, head] = mean(contexts, head, real)
    return changed


FROM_0 = "Heads are counted from 0: this one's contexts are contexts[:, head]."
EVERYWHERE = (
    "The mean is right. It is to stand at every position, at those of padding, too, so "
    "that one run gives this head one vector."
)
ONE_AT_A_TIME = (
    "Only the one head is to be replaced, so that a change in the loss is due to it: "
    "choose contexts[:, head]."
)
STAY = "The other heads' contexts stay as they are: begin with contexts.clone()."
ALL_HEADS = (
    "The layer goes on with the contexts of all heads: return a copy of contexts in "
    "which this head's are replaced."
)


EXERCISE = Exercise(
    name="replace_head_by_mean",
    stub="my_replace_head_by_mean(contexts, head, real)",
    asks=(
        "a function of the contexts that the heads of a layer found, (B, H, T, D), of "
        "a head's number from 0, and of real, (B, T) boolean, True where there is a "
        "character and no padding. It returns a new tensor (B, H, T, D): the same "
        "contexts, but that head's are their mean over all real positions of all "
        "texts, everywhere."
    ),
    returns={"contexts": "(B, H, T, D)"},
    reference=replacing(mean),
    cases=_runs,
    mistakes=(
        *head_means.MISTAKES,
        Mistake(
            "a function that replaces nothing",
            lambda contexts, head, real: contexts.clone(),
            "The contexts come back as they were. An index by a mask makes a copy: "
            "x[real].fill_(0) changes that, and x[real] = 0 changes x.",
        ),
        Mistake("padding left as it was", replacing(mean, put_where_real), EVERYWHERE),
        Mistake(
            "padding set to 0",
            replacing(lambda *run: mean(*run) * run[-1][..., None]),
            EVERYWHERE,
        ),
        Mistake(
            "the padding of all heads set to 0",
            lambda *run: replacing(mean)(*run) * run[-1][:, None, :, None],
            EVERYWHERE + " " + STAY,
        ),
        Mistake(
            "a mean that replaces padding only",
            lambda contexts, head, real: put_where_real(
                contexts, head, ~real, mean(contexts, head, real)
            ),
            "real is True where there is a character: the places that you chose are "
            "the others.",
        ),
        Mistake(
            "texts that are replaced one by one",
            _text_by_text,
            "From the second text on, your mean holds what was replaced already. "
            "Compute the mean once, from contexts, before you change anything.",
        ),
        Mistake(
            "the last text alone replaced",
            _last_text_alone,
            "Only the last text is changed. Does your loop begin with a new copy each "
            "time? contexts[:, head] chooses all texts at once.",
        ),
        Mistake(
            "heads counted from 1",
            _in_head(lambda head: head - 1),
            FROM_0 + " Yours replaces the one before.",
        ),
        Mistake(
            "heads counted from the end",
            _in_head(lambda head: -1 - head),
            FROM_0,
        ),
        Mistake("the mean put into the head before", _mean_in_another, FROM_0),
        Mistake("the mean of the head before", _mean_of_another, FROM_0),
        Mistake(
            "the head moved after the others",
            _moved_to_the_end,
            "The heads must keep their order: the output projection tells them apart "
            "by their places.",
        ),
        *(
            Mistake("all heads replaced, each by its own mean", one, ONE_AT_A_TIME)
            for one in (_means, _where_real(_means))
        ),
        *(
            Mistake("all heads replaced by this one's mean", one, ONE_AT_A_TIME)
            for one in (_mean_everywhere, _where_real(_mean_everywhere))
        ),
        *(
            Mistake(
                "all heads replaced but this one",
                one,
                "It is this head that is to go, while the others stay.",
            )
            for one in (
                _this_head(_as_it_was, _means),
                _this_head(_as_it_was, _mean_everywhere),
            )
        ),
        Mistake(
            "all heads set to 0 but this one",
            _this_head(_as_it_was, _nothing),
            "It is this head that is to go, while the others stay.",
        ),
        Mistake(
            "the other heads set to 0",
            _this_head(_means, _nothing),
            STAY,
        ),
        Mistake("the mean alone", mean, ALL_HEADS),
        Mistake(
            "the head's part alone",
            lambda *run: mean(*run).expand_as(run[0][:, run[1]]),
            ALL_HEADS,
        ),
    ),
)
