"""Answers to encode by hand b."""

import numpy as np
import torch


def right_with_a_dict(text, alphabet):
    """right: dict from character to place; the first outside character is named as repr."""
    place = {ch: i for i, ch in enumerate(alphabet)}
    ids = []
    for position, ch in enumerate(text):
        if ch not in place:
            raise ValueError(f"character {ch!r} at position {position} is not in the alphabet")
        ids.append(place[ch])
    return ids


def right_with_find(text, alphabet):
    """right: str.find for each character; position before the character in the message, character as it is."""
    out = []
    for n in range(len(text)):
        k = alphabet.find(text[n])
        if k < 0:
            raise ValueError("at " + str(n) + " the text has " + text[n] + ", which is unknown")
        out += [k]
    return out


def right_numpy_names_all(text, alphabet):
    """right: compares code points in NumPy; the message lists every outside character, each with its position."""
    codes = np.array([ord(c) for c in text], dtype=np.int64)
    letters = np.array([ord(c) for c in alphabet], dtype=np.int64)
    same = codes[:, None] == letters[None, :]
    outside = np.flatnonzero(~same.any(axis=1))
    if outside.size > 0:
        what = ", ".join(f"{text[i]!r} at position {i}" for i in outside.tolist())
        raise ValueError("outside the alphabet: " + what)
    if codes.size == 0:
        return []
    return same.argmax(axis=1).tolist()


def wrong_like_r(text, alphabet):
    """wrong: ids are counted from 1, not from 0."""
    place = dict(zip(alphabet, range(1, len(alphabet) + 1)))
    for position, ch in enumerate(text):
        if ch not in place:
            raise ValueError(f"{ch!r} at position {position} is not in the alphabet")
    return [place[ch] for ch in text]


def wrong_sorts(text, alphabet):
    """wrong: ids are places in the sorted alphabet, not in the alphabet as given."""
    levels = sorted(alphabet)
    result = []
    for position, ch in enumerate(text):
        try:
            result.append(levels.index(ch))
        except ValueError:
            raise ValueError(f"unknown character {ch!r}, position {position}") from None
    return result


def wrong_find_only(text, alphabet):
    """wrong: an outside character gets id -1 (from str.find) and nothing is raised."""
    return [alphabet.find(c) for c in text]


def wrong_index_only(text, alphabet):
    """wrong: leaves the error to str.index: a ValueError, but its message names neither the character nor its position."""
    return [alphabet.index(c) for c in text]


def wrong_zero_is_false(text, alphabet):
    """wrong: tests the id by its truth, so the alphabet's first character (id 0) is refused as outside."""
    place = {ch: i for i, ch in enumerate(alphabet)}
    ids = []
    for position, ch in enumerate(text):
        number = place.get(ch)
        if not number:
            raise ValueError(f"character {ch!r} at position {position} is outside the alphabet")
        ids.append(number)
    return ids


_TABLES = {}


def wrong_old_table(text, alphabet):
    """wrong: keeps its table from an earlier call, by the alphabet's length: another alphabet of the same length gets the old ids."""
    n = len(alphabet)
    if n not in _TABLES:
        _TABLES[n] = {ch: i for i, ch in enumerate(alphabet)}
    table = _TABLES[n]
    for position, ch in enumerate(text):
        if ch not in table:
            raise ValueError(f"character {ch!r} at position {position} is outside the alphabet")
    return [table[ch] for ch in text]


def wrong_position_from_one(text, alphabet):
    """wrong: the ids are right, but the position in the message is counted from 1."""
    ids = []
    for position, ch in enumerate(text, start=1):
        if ch not in alphabet:
            raise ValueError(f"character {ch!r} at position {position} is outside the alphabet")
        ids.append(alphabet.index(ch))
    return ids


def wrong_strips(text, alphabet):
    """wrong: strips spaces and newlines from both ends of the text before encoding it."""
    ids = []
    for position, ch in enumerate(text.strip()):
        i = alphabet.find(ch)
        if i == -1:
            raise ValueError(f"{ch!r} (position {position}) isn't in the alphabet")
        ids.append(i)
    return ids


def wrong_skips_and_tensor(text, alphabet):
    """wrong: two mistakes: silently leaves out characters outside the alphabet, and returns a tensor in place of a list."""
    known = [c for c in text if c in alphabet]
    return torch.tensor([alphabet.index(c) for c in known], dtype=torch.long)


ANSWERS = [
    right_with_a_dict,
    right_with_find,
    right_numpy_names_all,
    wrong_like_r,
    wrong_sorts,
    wrong_find_only,
    wrong_index_only,
    wrong_zero_is_false,
    wrong_old_table,
    wrong_position_from_one,
    wrong_strips,
    wrong_skips_and_tensor,
]
