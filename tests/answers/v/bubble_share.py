"""Answers to my_bubble_share as different students might write them."""

from fractions import Fraction

import torch


def right_formula(stages, texts, chunks):
    """right: the turns waited, divided by the turns worked and waited together"""
    waited = (stages - 1) / chunks
    return waited / (texts + waited)


def right_fraction(stages, texts, chunks):
    """right: exact, returns a Fraction"""
    waited = Fraction(stages - 1, chunks)
    return waited / (waited + texts)


def right_cleared(stages, texts, chunks):
    """right: above and below multiplied by chunks, so only one division is left"""
    return (stages - 1) / (texts * chunks + stages - 1)


def right_rest(stages, texts, chunks):
    """right: one minus the share of a step in which the stage works"""
    step = texts + (stages - 1) / chunks
    working = texts / step
    return 1 - working


def right_turns(stages, texts, chunks):
    """right: plays short turns, one for each text and chunk, and watches one stage"""
    stage = stages // 2
    works = texts * chunks
    table = []
    turn = 0
    while turn < works + stages - 1:
        if stage <= turn < stage + works:
            table.append("text")
        else:
            table.append("waits")
        turn += 1
    return table.count("waits") / len(table)


def right_recursion(stages, texts, chunks):
    """right: recursion, each stage more adds a chunks-th of a turn of waiting"""

    def waited(count):
        if count == 1:
            return 0
        return 1 / chunks + waited(count - 1)

    idle = waited(stages)
    return idle / (texts + idle)


def right_torch(stages, texts, chunks):
    """right: a table of stages and short turns in torch, the mean of what is idle"""
    short_turns = torch.arange(texts * chunks + stages - 1)
    since_first = short_turns[None, :] - torch.arange(stages)[:, None]
    idle = (since_first < 0) | (since_first >= texts * chunks)
    return idle.double().mean().item()


def right_upside_down(stages, texts, chunks):
    """right: one over (1 + work / waiting), with a pipeline of one stage taken apart"""
    if stages == 1:
        return 0.0
    return 1 / (1 + texts * chunks / (stages - 1))


def wrong_against_work(stages, texts, chunks):
    """wrong: divides the waiting by the work and not by the whole step"""
    waited = (stages - 1) / chunks
    return waited / texts


def wrong_working_share(stages, texts, chunks):
    """wrong: returns the share in which the stage works"""
    waited = (stages - 1) / chunks
    return texts / (texts + waited)


def wrong_no_brackets_below(stages, texts, chunks):
    """wrong: no brackets around the step, so the waiting is added to the quotient"""
    waited = (stages - 1) / chunks
    return waited / texts + waited


def wrong_no_brackets_above(stages, texts, chunks):
    """wrong: no brackets around stages - 1, so only the 1 is divided by chunks"""
    waited = stages - 1 / chunks
    return waited / (texts + waited)


def wrong_whole_turns(stages, texts, chunks):
    """wrong: integer division, so parts of a turn are lost"""
    waited = (stages - 1) // chunks
    return waited / (texts + waited)


def wrong_percent(stages, texts, chunks):
    """wrong: returns percent, from 0 to 100"""
    waited = (stages - 1) / chunks
    return 100 * waited / (texts + waited)


def wrong_stretches_forgotten(stages, texts, chunks):
    """wrong: takes chunks and never uses it"""
    waited = stages - 1
    return waited / (texts + waited)


def wrong_swapped(stages, texts, chunks):
    """wrong: hands texts and stages to its helper in the wrong order"""

    def share(count_texts, count_boxes):
        waited = (count_boxes - 1) / chunks
        return waited / (count_texts + waited)

    return share(stages, texts)


def wrong_every_box(stages, texts, chunks):
    """wrong: off by one, a turn of waiting for each stage, its own too"""
    waited = stages / chunks
    return waited / (texts + waited)


def wrong_twice(stages, texts, chunks):
    """wrong: waits stages - 1 turns before the first text and again after the last"""
    before = (stages - 1) / chunks
    after = (stages - 1) / chunks
    return (before + after) / (before + texts + after)


def wrong_share_divided(stages, texts, chunks):
    """wrong: divides the share by chunks, so the step does not become shorter"""
    share = (stages - 1) / (texts + stages - 1)
    return share / chunks


def wrong_times_stretches(stages, texts, chunks):
    """wrong: multiplies by chunks, as if every chunk had to be filled anew"""
    waited = 0
    for _ in range(chunks):
        waited += stages - 1
    return waited / (texts + waited)


def wrong_turns(stages, texts, chunks):
    """wrong: returns how many turns the stage waits, not the share"""
    step = texts + (stages - 1) / chunks
    return step - texts


def wrong_rounded(stages, texts, chunks):
    """wrong: rounds to three digits"""
    waited = (stages - 1) / chunks
    return round(waited / (texts + waited), 3)


def wrong_one_wait_missed(stages, texts, chunks):
    """wrong: plays short turns, but > in place of >= misses the first one waited"""
    works = texts * chunks
    waits = 0
    turns = 0
    for turn in range(works + stages - 1):
        turns += 1
        if turn > works:
            waits += 1
    return waits / turns


def wrong_forward_and_back(stages, texts, chunks):
    """wrong: counts two turns of work for each text, one forward and one back"""
    work = 2 * texts
    waited = (stages - 1) / chunks
    return waited / (work + waited)


def wrong_all_boxes(stages, texts, chunks):
    """wrong: adds up the waiting of all stages, but divides by the step of one"""
    waited = 0
    for _ in range(stages):
        waited += (stages - 1) / chunks
    step = texts + (stages - 1) / chunks
    return waited / step


def wrong_only_before(stages, texts, chunks):
    """wrong: averages the waits before the first text and forgets those after"""
    works = texts * chunks
    turns = works + stages - 1
    shares = []
    for stage in range(stages):
        waits = [turn for turn in range(turns) if turn < stage]
        shares.append(len(waits) / turns)
    return sum(shares) / stages


def wrong_halved_each_time(stages, texts, chunks):
    """wrong: halves the waiting for each further chunk (right for one and two)"""
    waited = stages - 1
    for _ in range(chunks - 1):
        waited /= 2
    return waited / (texts + waited)


_waits = []


def wrong_kept_list(stages, texts, chunks):
    """wrong: fills a list outside the function, which the next call finds still full"""
    for _ in range(stages - 1):
        _waits.append(1 / chunks)
    return sum(_waits) / (texts + sum(_waits))


def wrong_string(stages, texts, chunks):
    """wrong: returns a string that looks like the number"""
    waited = (stages - 1) / chunks
    return f"{waited / (texts + waited)}"


def wrong_one_by_one(stages, texts, chunks):
    """wrong: lets the next text in only when the one before has left the last stage"""
    step = 0
    work = 0
    for _ in range(texts):
        work += 1
        step += 1 + (stages - 1) / chunks
    return (step - work) / step


def wrong_one_box(stages, texts, chunks):
    """wrong: one over (1 + work / waiting), which divides by zero for one stage"""
    waited = (stages - 1) / chunks
    return 1 / (1 + texts / waited)


def wrong_only_if_divisible(stages, texts, chunks):
    """wrong: uses the chunks only if the texts divide evenly among the stages"""
    waited = stages - 1
    if texts % stages == 0:
        waited /= chunks
    return waited / (texts + waited)


ANSWERS = [
    right_formula,
    right_fraction,
    right_cleared,
    right_rest,
    right_turns,
    right_recursion,
    right_torch,
    right_upside_down,
    wrong_against_work,
    wrong_working_share,
    wrong_no_brackets_below,
    wrong_no_brackets_above,
    wrong_whole_turns,
    wrong_percent,
    wrong_stretches_forgotten,
    wrong_swapped,
    wrong_every_box,
    wrong_twice,
    wrong_share_divided,
    wrong_times_stretches,
    wrong_turns,
    wrong_rounded,
    wrong_one_wait_missed,
    wrong_forward_and_back,
    wrong_all_boxes,
    wrong_only_before,
    wrong_halved_each_time,
    wrong_kept_list,
    wrong_string,
    wrong_one_by_one,
    wrong_one_box,
    wrong_only_if_divisible,
]
