"""The share of a step that a stage of a pipeline waits."""

from fractions import Fraction


def formula(stages, micro_batches, chunks):
    waiting = (stages - 1) / chunks
    return waiting / (micro_batches + waiting)


def exact(stages, micro_batches, chunks):
    return Fraction(stages - 1, micro_batches * chunks + stages - 1)


def what_is_left(stages, micro_batches, chunks):
    return 1 - micro_batches / (micro_batches + (stages - 1) / chunks)


def turn_by_turn(stages, micro_batches, chunks):
    # In units of a chunk's turn: stage 0 has each micro-batch in each of its chunks.
    works = micro_batches * chunks
    lasts = works + (stages - 1)
    return sum(turn >= works for turn in range(lasts)) / lasts


def counts_itself(stages, micro_batches, chunks):
    return stages / chunks / (micro_batches + stages / chunks)


def forgets_chunks(stages, micro_batches, chunks):
    return (stages - 1) / (micro_batches + stages - 1)


def multiplies(stages, micro_batches, chunks):
    waiting = (stages - 1) * chunks
    return waiting / (micro_batches + waiting)


def floored(stages, micro_batches, chunks):
    waiting = (stages - 1) // chunks
    return waiting / (micro_batches + waiting)


def both_ends(stages, micro_batches, chunks):
    waiting = 2 * (stages - 1) / chunks
    return waiting / (micro_batches + waiting)


def beside_the_work(stages, micro_batches, chunks):
    return (stages - 1) / chunks / micro_batches


def working(stages, micro_batches, chunks):
    return micro_batches / (micro_batches + (stages - 1) / chunks)


def turns(stages, micro_batches, chunks):
    return (stages - 1) / chunks


def no_brackets_above(stages, micro_batches, chunks):
    waiting = stages - 1 / chunks
    return waiting / (micro_batches + waiting)


def no_brackets_below(stages, micro_batches, chunks):
    waiting = (stages - 1) / chunks
    return waiting / micro_batches + waiting


def percent(stages, micro_batches, chunks):
    return 100 * formula(stages, micro_batches, chunks)


def long_step(stages, micro_batches, chunks):
    return (stages - 1) / chunks / (micro_batches + stages - 1)


def exchanged(stages, micro_batches, chunks):
    return formula(micro_batches, stages, chunks)


RIGHT = [formula, exact, what_is_left, turn_by_turn]
WRONG = [
    (counts_itself, "a turn of waiting for each stage"),
    (forgets_chunks, "chunks that don't matter"),
    (multiplies, "chunks that make it wait longer"),
    (floored, "waiting that is rounded down"),
    (both_ends, "waiting at both ends"),
    (beside_the_work, "waiting per micro-batch, not a share of the step"),
    (working, "the share that it works"),
    (turns, "turns, not a share"),
    (no_brackets_above, "1 divided by the chunks"),
    (no_brackets_below, "waiting by micro-batches, and then a sum"),
    (percent, "a share in percent"),
    (long_step, "the step without chunks"),
    (exchanged, "stages and micro-batches exchanged"),
]
