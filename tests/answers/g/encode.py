"""Answers to encode by hand g."""

import torch


def right_dictionary(text, alphabet):
    """right: a dictionary from character to id, and a loop."""
    ids = {c: i for i, c in enumerate(alphabet)}
    out = []
    for position, c in enumerate(text):
        if c not in ids:
            raise ValueError(f"{c!r} at position {position} isn't in the alphabet")
        out.append(ids[c])
    return out


def right_find_first_then_report(text, alphabet):
    """right: map with find, and reports the first -1 afterwards."""
    found = list(map(alphabet.find, text))
    if -1 in found:
        where = found.index(-1)
        raise ValueError("position " + str(where) + ": unknown character " + text[where])
    return found


def right_except_chain(text, alphabet):
    """right: catches the error of str.index and raises a better one from it."""

    def place(position):
        try:
            return alphabet.index(text[position])
        except ValueError as error:
            message = "can't encode '{}' (position {})".format(text[position], position)
            raise ValueError(message) from error

    return [place(position) for position in range(len(text))]


def wrong_bare_index(text, alphabet):
    """wrong: relies on str.index, whose ValueError ("substring not found") names
    neither the character nor its position."""
    return [alphabet.index(c) for c in text]


def wrong_key_error(text, alphabet):
    """wrong: a character outside the alphabet raises a KeyError, not a ValueError."""
    table = dict(zip(alphabet, range(len(alphabet))))
    return [table[c] for c in text]


def wrong_skips_unknown(text, alphabet):
    """wrong: leaves out characters that aren't in the alphabet, with no error."""
    stoi = {c: i for i, c in enumerate(alphabet)}
    return [stoi[c] for c in text if c in stoi]


def wrong_from_one(text, alphabet):
    """wrong: counts the ids from 1 instead of 0 (the error is right)."""
    stoi = {c: i for i, c in enumerate(alphabet, start=1)}
    for position, c in enumerate(text):
        if c not in stoi:
            raise ValueError(f"character {c!r} at position {position} is unknown")
    return [stoi[c] for c in text]


def wrong_sorted_alphabet(text, alphabet):
    """wrong: sorts the alphabet first, so that the ids are places in the sorted one;
    right where the alphabet comes sorted."""
    chars = sorted(set(alphabet))
    stoi = {c: i for i, c in enumerate(chars)}
    ids = []
    for position, c in enumerate(text):
        if c not in stoi:
            raise ValueError(f"character {c!r} at position {position} is unknown")
        ids.append(stoi[c])
    return ids


def wrong_lower_case(text, alphabet):
    """wrong: lowers the text first, so that capitals get the ids of small letters, or
    are reported as small letters, or as unknown though they are in the alphabet."""
    ids = []
    for position, c in enumerate(text.lower()):
        if c not in alphabet:
            raise ValueError(f"character {c!r} at position {position} is unknown")
        ids.append(alphabet.index(c))
    return ids


def wrong_strip(text, alphabet):
    """wrong: strips white space from both ends of the text, so that ids are missing
    and the reported position shifts; right for texts without white space at the ends."""
    ids = []
    for position, c in enumerate(text.strip()):
        if c not in alphabet:
            raise ValueError(f"character {c!r} at position {position} is unknown")
        ids.append(alphabet.index(c))
    return ids


def wrong_position_from_one(text, alphabet):
    """wrong: the message counts the position from 1 instead of 0; the ids are right."""
    ids = []
    for position, c in enumerate(text, 1):
        if c not in alphabet:
            raise ValueError(f"character {c!r} at position {position} is unknown")
        ids.append(alphabet.index(c))
    return ids


def wrong_code_points_and_no_position(text, alphabet):
    """wrong: two mistakes: an id is the distance of the code point from that of the
    alphabet's first character (right only for an alphabet of consecutive characters),
    and the error names the characters but no position."""
    unknown = set(text) - set(alphabet)
    if unknown:
        raise ValueError(f"not in the alphabet: {sorted(unknown)}")
    return [ord(c) - ord(alphabet[0]) for c in text]


def wrong_unknown_as_minus_one_in_tensor(text, alphabet):
    """wrong: two mistakes: a character outside the alphabet gets the id -1 with no
    error, and a tensor is returned instead of a list."""
    return torch.tensor([alphabet.find(c) for c in text], dtype=torch.long)


ANSWERS = [
    right_dictionary,
    right_find_first_then_report,
    right_except_chain,
    wrong_bare_index,
    wrong_key_error,
    wrong_skips_unknown,
    wrong_from_one,
    wrong_sorted_alphabet,
    wrong_lower_case,
    wrong_strip,
    wrong_position_from_one,
    wrong_code_points_and_no_position,
    wrong_unknown_as_minus_one_in_tensor,
]
