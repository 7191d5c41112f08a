"""The share of a step that a box of a pipeline waits."""

from fractions import Fraction


def formula(boxes, texts, stretches):
    waiting = (boxes - 1) / stretches
    return waiting / (texts + waiting)


def exact(boxes, texts, stretches):
    return Fraction(boxes - 1, texts * stretches + boxes - 1)


def what_is_left(boxes, texts, stretches):
    return 1 - texts / (texts + (boxes - 1) / stretches)


def turn_by_turn(boxes, texts, stretches):
    # In units of a stretch's turn: box 0 has each text in each of its stretches.
    works = texts * stretches
    lasts = works + (boxes - 1)
    return sum(turn >= works for turn in range(lasts)) / lasts


def counts_itself(boxes, texts, stretches):
    return boxes / stretches / (texts + boxes / stretches)


def forgets_stretches(boxes, texts, stretches):
    return (boxes - 1) / (texts + boxes - 1)


def multiplies(boxes, texts, stretches):
    waiting = (boxes - 1) * stretches
    return waiting / (texts + waiting)


def floored(boxes, texts, stretches):
    waiting = (boxes - 1) // stretches
    return waiting / (texts + waiting)


def both_ends(boxes, texts, stretches):
    waiting = 2 * (boxes - 1) / stretches
    return waiting / (texts + waiting)


def beside_the_work(boxes, texts, stretches):
    return (boxes - 1) / stretches / texts


def working(boxes, texts, stretches):
    return texts / (texts + (boxes - 1) / stretches)


def turns(boxes, texts, stretches):
    return (boxes - 1) / stretches


def no_brackets_above(boxes, texts, stretches):
    waiting = boxes - 1 / stretches
    return waiting / (texts + waiting)


def no_brackets_below(boxes, texts, stretches):
    waiting = (boxes - 1) / stretches
    return waiting / texts + waiting


def percent(boxes, texts, stretches):
    return 100 * formula(boxes, texts, stretches)


def long_step(boxes, texts, stretches):
    return (boxes - 1) / stretches / (texts + boxes - 1)


def exchanged(boxes, texts, stretches):
    return formula(texts, boxes, stretches)


RIGHT = [formula, exact, what_is_left, turn_by_turn]
WRONG = [
    (counts_itself, "a turn of waiting for each box"),
    (forgets_stretches, "stretches that don't matter"),
    (multiplies, "stretches that make it wait longer"),
    (floored, "waiting that is rounded down"),
    (both_ends, "waiting at both ends"),
    (beside_the_work, "waiting per text, not a share of the step"),
    (working, "the share that it works"),
    (turns, "turns, not a share"),
    (no_brackets_above, "1 divided by the stretches"),
    (no_brackets_below, "waiting by texts, and then a sum"),
    (percent, "a share in percent"),
    (long_step, "the step without stretches"),
    (exchanged, "boxes and texts exchanged"),
]
