"""Answers to my_waiting_share as different students might write them."""

from fractions import Fraction

import torch


def right_formula(boxes, texts, stretches):
    """right: the turns waited, divided by the turns worked and waited together"""
    waited = (boxes - 1) / stretches
    return waited / (texts + waited)


def right_fraction(boxes, texts, stretches):
    """right: exact, returns a Fraction"""
    waited = Fraction(boxes - 1, stretches)
    return waited / (waited + texts)


def right_cleared(boxes, texts, stretches):
    """right: above and below multiplied by stretches, so only one division is left"""
    return (boxes - 1) / (texts * stretches + boxes - 1)


def right_rest(boxes, texts, stretches):
    """right: one minus the share of a step in which the box works"""
    step = texts + (boxes - 1) / stretches
    working = texts / step
    return 1 - working


def right_turns(boxes, texts, stretches):
    """right: plays short turns, one for each text and stretch, and watches one box"""
    box = boxes // 2
    works = texts * stretches
    table = []
    turn = 0
    while turn < works + boxes - 1:
        if box <= turn < box + works:
            table.append("text")
        else:
            table.append("waits")
        turn += 1
    return table.count("waits") / len(table)


def right_recursion(boxes, texts, stretches):
    """right: recursion, each box more adds a stretches-th of a turn of waiting"""

    def waited(count):
        if count == 1:
            return 0
        return 1 / stretches + waited(count - 1)

    idle = waited(boxes)
    return idle / (texts + idle)


def right_torch(boxes, texts, stretches):
    """right: a table of boxes and short turns in torch, the mean of what is idle"""
    short_turns = torch.arange(texts * stretches + boxes - 1)
    since_first = short_turns[None, :] - torch.arange(boxes)[:, None]
    idle = (since_first < 0) | (since_first >= texts * stretches)
    return idle.double().mean().item()


def right_upside_down(boxes, texts, stretches):
    """right: one over (1 + work / waiting), with a pipeline of one box taken apart"""
    if boxes == 1:
        return 0.0
    return 1 / (1 + texts * stretches / (boxes - 1))


def wrong_against_work(boxes, texts, stretches):
    """wrong: divides the waiting by the work and not by the whole step"""
    waited = (boxes - 1) / stretches
    return waited / texts


def wrong_working_share(boxes, texts, stretches):
    """wrong: returns the share in which the box works"""
    waited = (boxes - 1) / stretches
    return texts / (texts + waited)


def wrong_no_brackets_below(boxes, texts, stretches):
    """wrong: no brackets around the step, so the waiting is added to the quotient"""
    waited = (boxes - 1) / stretches
    return waited / texts + waited


def wrong_no_brackets_above(boxes, texts, stretches):
    """wrong: no brackets around boxes - 1, so only the 1 is divided by stretches"""
    waited = boxes - 1 / stretches
    return waited / (texts + waited)


def wrong_whole_turns(boxes, texts, stretches):
    """wrong: integer division, so parts of a turn are lost"""
    waited = (boxes - 1) // stretches
    return waited / (texts + waited)


def wrong_percent(boxes, texts, stretches):
    """wrong: returns percent, from 0 to 100"""
    waited = (boxes - 1) / stretches
    return 100 * waited / (texts + waited)


def wrong_stretches_forgotten(boxes, texts, stretches):
    """wrong: takes stretches and never uses it"""
    waited = boxes - 1
    return waited / (texts + waited)


def wrong_swapped(boxes, texts, stretches):
    """wrong: hands texts and boxes to its helper in the wrong order"""

    def share(count_texts, count_boxes):
        waited = (count_boxes - 1) / stretches
        return waited / (count_texts + waited)

    return share(boxes, texts)


def wrong_every_box(boxes, texts, stretches):
    """wrong: off by one, a turn of waiting for each box, its own too"""
    waited = boxes / stretches
    return waited / (texts + waited)


def wrong_twice(boxes, texts, stretches):
    """wrong: waits boxes - 1 turns before the first text and again after the last"""
    before = (boxes - 1) / stretches
    after = (boxes - 1) / stretches
    return (before + after) / (before + texts + after)


def wrong_share_divided(boxes, texts, stretches):
    """wrong: divides the share by stretches, so the step does not become shorter"""
    share = (boxes - 1) / (texts + boxes - 1)
    return share / stretches


def wrong_times_stretches(boxes, texts, stretches):
    """wrong: multiplies by stretches, as if every stretch had to be filled anew"""
    waited = 0
    for _ in range(stretches):
        waited += boxes - 1
    return waited / (texts + waited)


def wrong_turns(boxes, texts, stretches):
    """wrong: returns how many turns the box waits, not the share"""
    step = texts + (boxes - 1) / stretches
    return step - texts


def wrong_rounded(boxes, texts, stretches):
    """wrong: rounds to three digits"""
    waited = (boxes - 1) / stretches
    return round(waited / (texts + waited), 3)


def wrong_one_wait_missed(boxes, texts, stretches):
    """wrong: plays short turns, but > in place of >= misses the first one waited"""
    works = texts * stretches
    waits = 0
    turns = 0
    for turn in range(works + boxes - 1):
        turns += 1
        if turn > works:
            waits += 1
    return waits / turns


def wrong_forward_and_back(boxes, texts, stretches):
    """wrong: counts two turns of work for each text, one forward and one back"""
    work = 2 * texts
    waited = (boxes - 1) / stretches
    return waited / (work + waited)


def wrong_all_boxes(boxes, texts, stretches):
    """wrong: adds up the waiting of all boxes, but divides by the step of one"""
    waited = 0
    for _ in range(boxes):
        waited += (boxes - 1) / stretches
    step = texts + (boxes - 1) / stretches
    return waited / step


def wrong_only_before(boxes, texts, stretches):
    """wrong: averages the waits before the first text and forgets those after"""
    works = texts * stretches
    turns = works + boxes - 1
    shares = []
    for box in range(boxes):
        waits = [turn for turn in range(turns) if turn < box]
        shares.append(len(waits) / turns)
    return sum(shares) / boxes


def wrong_halved_each_time(boxes, texts, stretches):
    """wrong: halves the waiting for each further stretch (right for one and two)"""
    waited = boxes - 1
    for _ in range(stretches - 1):
        waited /= 2
    return waited / (texts + waited)


_waits = []


def wrong_kept_list(boxes, texts, stretches):
    """wrong: fills a list outside the function, which the next call finds still full"""
    for _ in range(boxes - 1):
        _waits.append(1 / stretches)
    return sum(_waits) / (texts + sum(_waits))


def wrong_string(boxes, texts, stretches):
    """wrong: returns a string that looks like the number"""
    waited = (boxes - 1) / stretches
    return f"{waited / (texts + waited)}"


def wrong_one_by_one(boxes, texts, stretches):
    """wrong: lets the next text in only when the one before has left the last box"""
    step = 0
    work = 0
    for _ in range(texts):
        work += 1
        step += 1 + (boxes - 1) / stretches
    return (step - work) / step


def wrong_one_box(boxes, texts, stretches):
    """wrong: one over (1 + work / waiting), which divides by zero for one box"""
    waited = (boxes - 1) / stretches
    return 1 / (1 + texts / waited)


def wrong_only_if_divisible(boxes, texts, stretches):
    """wrong: uses the stretches only if the texts divide evenly among the boxes"""
    waited = boxes - 1
    if texts % boxes == 0:
        waited /= stretches
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
