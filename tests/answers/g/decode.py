"""Answers to decode by hand g."""

import torch


def right_loop(ids, alphabet):
    """right: a loop that checks each id before it looks it up."""
    text = ""
    for position, i in enumerate(ids):
        if not 0 <= i < len(alphabet):
            raise ValueError(f"id {i} at position {position} isn't in the alphabet")
        text += alphabet[i]
    return text


def right_dictionary(ids, alphabet):
    """right: a dictionary from id to character; negative ids aren't in it."""
    table = dict(enumerate(alphabet))
    missing = [(n, i) for n, i in enumerate(ids) if i not in table]
    if missing:
        n, i = missing[0]
        raise ValueError("position %d: no character has the id %d" % (n, i))
    return "".join(map(table.__getitem__, ids))


def wrong_negative_wraps(ids, alphabet):
    """wrong: catches the IndexError of ids that are too large, but a negative id is
    taken from the end of the alphabet, with no error."""
    out = []
    for position, i in enumerate(ids):
        try:
            out.append(alphabet[i])
        except IndexError:
            raise ValueError(f"id {i} at position {position} is outside") from None
    return "".join(out)


def wrong_index_error(ids, alphabet):
    """wrong: refuses negative ids rightly, but an id that is too large raises an
    IndexError instead of a ValueError."""
    for position, i in enumerate(ids):
        if i < 0:
            raise ValueError(f"id {i} at position {position} is negative")
    return "".join([alphabet[i] for i in ids])


def wrong_list(ids, alphabet):
    """wrong: returns a list of characters instead of a text."""
    chars = []
    for position, i in enumerate(ids):
        if i < 0 or i >= len(alphabet):
            raise ValueError(f"id {i} at position {position} is outside")
        chars.append(alphabet[i])
    return chars


def wrong_joined_with_spaces(ids, alphabet):
    """wrong: puts a space between the characters."""
    for position, i in enumerate(ids):
        if i < 0 or i >= len(alphabet):
            raise ValueError(f"id {i} at position {position} is outside")
    return " ".join(alphabet[i] for i in ids)


def wrong_question_mark(ids, alphabet):
    """wrong: an id outside the alphabet becomes a question mark, with no error."""
    return "".join(alphabet[i] if 0 <= i < len(alphabet) else "?" for i in ids)


def wrong_one_too_far(ids, alphabet):
    """wrong: the test is i > len(alphabet) instead of >=, so that the id just behind
    the last one raises an IndexError instead of the ValueError."""
    text = []
    for position, i in enumerate(ids):
        if i < 0 or i > len(alphabet):
            raise ValueError(f"id {i} at position {position} is outside")
        text.append(alphabet[i])
    return "".join(text)


def wrong_empty_list(ids, alphabet):
    """wrong: looks at min and max of the ids first, which fails for an empty list with
    a ValueError of its own, where the empty text is due; right for all others."""
    if min(ids) < 0 or max(ids) >= len(alphabet):
        for position, i in enumerate(ids):
            if i < 0 or i >= len(alphabet):
                raise ValueError(f"id {i} at position {position} is outside")
    return "".join(alphabet[i] for i in ids)


def wrong_zero_is_padding(ids, alphabet):
    """wrong: drops the id 0, as if it were padding; the error is right."""
    text = ""
    for position, i in enumerate(ids):
        if not i:
            continue
        if i not in range(len(alphabet)):
            raise ValueError(f"id {i} at position {position} is outside")
        text += alphabet[i]
    return text


def wrong_sorted_and_no_position(ids, alphabet):
    """wrong: two mistakes: looks the ids up in the sorted alphabet (right where it comes
    sorted), and the error names the id but not its position."""
    chars = sorted(alphabet)
    for i in ids:
        if i < 0 or i >= len(chars):
            raise ValueError(f"id {i} is outside")
    return "".join(chars[i] for i in ids)


def wrong_slices(ids, alphabet):
    """wrong: no error at all in an unusual form: slices of length 1 are empty for ids
    that are too large and for -1, so that these vanish, and lower negative ids count
    from the end."""
    return "".join(alphabet[i : i + 1] for i in ids)


ANSWERS = [
    right_loop,
    right_dictionary,
    wrong_negative_wraps,
    wrong_index_error,
    wrong_list,
    wrong_joined_with_spaces,
    wrong_question_mark,
    wrong_one_too_far,
    wrong_empty_list,
    wrong_zero_is_padding,
    wrong_sorted_and_no_position,
    wrong_slices,
]
