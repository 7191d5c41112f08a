"""Answers to text as ids, and back: decode."""


def right_plain_loop(ids, alphabet):
    """right: a loop with both bounds tested before each look-up."""
    text = ""
    for position, i in enumerate(ids):
        if i < 0 or i >= len(alphabet):
            raise ValueError(f"id {i} at position {position} is outside the alphabet")
        text += alphabet[i]
    return text


def right_dict_lists_all(ids, alphabet):
    """right: a dict from id to character; the message lists every id outside with its position."""
    by_id = dict(enumerate(alphabet))
    bad = [(p, i) for p, i in enumerate(ids) if i not in by_id]
    if bad:
        raise ValueError("; ".join(f"id {i} at position {p}" for p, i in bad))
    return "".join(map(by_id.__getitem__, ids))


def right_halves(ids, alphabet):
    """right: recursion on halves of the list, which hands on where each half begins."""

    def piece(lo, hi):
        if hi == lo:
            return ""
        if hi - lo == 1:
            if ids[lo] not in range(len(alphabet)):
                raise ValueError("position %d: there is no id %d" % (lo, ids[lo]))
            return alphabet[ids[lo]]
        mid = (lo + hi) // 2
        return piece(lo, mid) + piece(mid, hi)

    return piece(0, len(ids))


def wrong_negative_counts_back(ids, alphabet):
    """wrong: tests only for ids that are too large, so a negative id is taken from the end of the alphabet."""
    chars = []
    for pos, i in enumerate(ids):
        try:
            chars.append(alphabet[i])
        except IndexError:
            raise ValueError(f"id {i} at position {pos} is not in the alphabet")
    return "".join(chars)


def wrong_leaves_out(ids, alphabet):
    """wrong: leaves ids outside the alphabet out without an error."""
    n = len(alphabet)
    return "".join([alphabet[i] for i in ids if 0 <= i < n])


def wrong_list_of_chars(ids, alphabet):
    """wrong: returns a list of characters, not a text."""
    itos = {i: c for i, c in enumerate(alphabet)}
    for pos, i in enumerate(ids):
        if i not in itos:
            raise ValueError(f"id {i} at position {pos}")
    return [itos[i] for i in ids]


def wrong_ids_from_one(ids, alphabet):
    """wrong: takes ids as counted from 1, so each character is the one before, and id 0 is an error."""
    s = ""
    for pos in range(len(ids)):
        i = ids[pos]
        if i < 1 or i > len(alphabet):
            raise ValueError(f"id {i} at position {pos} out of range")
        s = s + alphabet[i - 1]
    return s


def wrong_bound_too_far(ids, alphabet):
    """wrong: the upper bound is one too large (`>` for `>=`), so the id len(alphabet) gives an IndexError and not a ValueError."""
    out = []
    for pos, i in enumerate(ids):
        if i < 0 or i > len(alphabet):
            raise ValueError(f"Invalid id {i} at position {pos}!")
        out.append(alphabet[i])
    return "".join(out)


def wrong_empty_list(ids, alphabet):
    """wrong: tests min and max of the list first, so an empty list raises a ValueError where it should give an empty text."""
    low, high = min(ids), max(ids)
    if low < 0:
        raise ValueError(f"id {low} at position {ids.index(low)} is negative")
    if high >= len(alphabet):
        raise ValueError(f"id {high} at position {ids.index(high)} is too large")
    return "".join(alphabet[i] for i in ids)


def wrong_position_when_sorted(ids, alphabet):
    """wrong: tests the ids in sorted order, so the position in the message is that in the sorted list, not in the list given."""
    for position, i in enumerate(sorted(ids)):
        if not 0 <= i < len(alphabet):
            raise ValueError(f"id {i}, position {position}, is outside")
    return "".join(alphabet[i] for i in ids)


def wrong_strips(ids, alphabet):
    """wrong: strips the finished text, so spaces and newlines at its two ends are lost."""
    text = str()
    for where, i in enumerate(ids):
        if not (0 <= i <= len(alphabet) - 1):
            raise ValueError("id " + str(i) + " at position " + str(where))
        text += alphabet[i]
    return text.strip()


def wrong_sorted_and_no_position(ids, alphabet):
    """wrong: two mistakes: takes the characters from the sorted alphabet, and the message names the id but not its position."""
    chars = sorted(alphabet)
    for i in ids:
        if i < 0 or i >= len(chars):
            raise ValueError(f"unknown id: {i}")
    return "".join(chars[i] for i in ids)


ANSWERS = [
    right_plain_loop,
    right_dict_lists_all,
    right_halves,
    wrong_negative_counts_back,
    wrong_leaves_out,
    wrong_list_of_chars,
    wrong_ids_from_one,
    wrong_bound_too_far,
    wrong_empty_list,
    wrong_position_when_sorted,
    wrong_strips,
    wrong_sorted_and_no_position,
]
