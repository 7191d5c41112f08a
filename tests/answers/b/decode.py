"""Answers to decode by hand b."""

import numpy as np


def right_loop(ids, alphabet):
    """right: checks 0 <= id < len for each id, then joins."""
    text = ""
    for position, i in enumerate(ids):
        if not 0 <= i < len(alphabet):
            raise ValueError(f"id {i} at position {position} is outside the alphabet")
        text += alphabet[i]
    return text


def right_dict(ids, alphabet):
    """right: looks ids up in a dict, so that negative ids are unknown; KeyError becomes ValueError."""
    names = dict(enumerate(alphabet))
    pieces = []
    for position, i in enumerate(ids):
        try:
            pieces.append(names[i])
        except KeyError:
            raise ValueError(f"position {position}: no character has the id {i}") from None
    return "".join(pieces)


def right_numpy_names_all(ids, alphabet):
    """right: tests all ids at once in an object array (no overflow); the message lists every outside id with its position."""
    a = np.array(list(ids), dtype=object)
    outside = [k for k in range(len(a)) if bool(a[k] < 0) or bool(a[k] >= len(alphabet))]
    if outside:
        raise ValueError("; ".join(f"id {a[k]} at position {k}" for k in outside) + " not in the alphabet")
    return "".join(map(alphabet.__getitem__, a.tolist()))


def wrong_negative_from_the_end(ids, alphabet):
    """wrong: tests only for ids that are too large; a negative id counts from the end of the alphabet."""
    n = len(alphabet)
    for position, i in enumerate(ids):
        if i >= n:
            raise ValueError(f"id {i} at position {position} is too large")
    return "".join(alphabet[i] for i in ids)


def wrong_like_r(ids, alphabet):
    """wrong: takes ids as counted from 1: gives the character one place too early (id 0 gives the last one)."""
    out = []
    for position, i in enumerate(ids):
        if i < 0 or i >= len(alphabet):
            raise ValueError(f"id {i} at position {position} is outside")
        out.append(alphabet[i - 1])
    return "".join(out)


def wrong_sorts(ids, alphabet):
    """wrong: looks the ids up in the sorted alphabet, not in the alphabet as given."""
    levels = sorted(alphabet)
    for position, i in enumerate(ids):
        if i < 0 or i >= len(levels):
            raise ValueError(f"id {i} at position {position} is outside the alphabet")
    return "".join([levels[i] for i in ids])


def wrong_list_of_characters(ids, alphabet):
    """wrong: returns a list of characters; they are never joined to a text."""
    result = []
    for position, i in enumerate(ids):
        if i < 0 or i >= len(alphabet):
            raise ValueError(f"id {i} at position {position} is outside the alphabet")
        result.append(alphabet[i])
    return result


def wrong_one_too_many(ids, alphabet):
    """wrong: off by one in the test (> for >=): the id len(alphabet) passes it and ends in an IndexError, not a ValueError."""
    for position, i in enumerate(ids):
        if i < 0 or i > len(alphabet):
            raise ValueError(f"id {i} at position {position} is outside the alphabet")
    return "".join(alphabet[i] for i in ids)


def wrong_min_and_max(ids, alphabet):
    """wrong: tests the list's smallest and largest id, so the empty list raises a ValueError in place of giving the empty text."""
    for extreme in (min(ids), max(ids)):
        if extreme < 0 or extreme >= len(alphabet):
            raise ValueError(f"id {extreme} at position {ids.index(extreme)} is outside the alphabet")
    return "".join(alphabet[i] for i in ids)


def wrong_bytes(ids, alphabet):
    """wrong: stores the ids as uint8, so they wrap around at 256: 256 decodes as 0, and -1 is reported as 255."""
    small = np.array(ids, dtype=np.int64).astype(np.uint8)
    for position, i in enumerate(small.tolist()):
        if i >= len(alphabet):
            raise ValueError(f"id {i} at position {position} is outside the alphabet")
    return "".join(alphabet[i] for i in small.tolist())


_pieces = []


def wrong_never_emptied(ids, alphabet):
    """wrong: collects characters in a list that is kept between calls: the result starts with the text of all earlier calls."""
    for position, i in enumerate(ids):
        if i < 0 or i >= len(alphabet):
            raise ValueError(f"id {i} at position {position} is outside the alphabet")
        _pieces.append(alphabet[i])
    return "".join(_pieces)


def wrong_padding_and_no_position(ids, alphabet):
    """wrong: two mistakes: drops every id 0 as if it were padding, and the message names the id but not its position."""
    text = ""
    for i in ids:
        if i < 0 or i >= len(alphabet):
            raise ValueError(f"there is no character with id {i}")
        if i:
            text = text + alphabet[i]
    return text


ANSWERS = [
    right_loop,
    right_dict,
    right_numpy_names_all,
    wrong_negative_from_the_end,
    wrong_like_r,
    wrong_sorts,
    wrong_list_of_characters,
    wrong_one_too_many,
    wrong_min_and_max,
    wrong_bytes,
    wrong_never_emptied,
    wrong_padding_and_no_position,
]
