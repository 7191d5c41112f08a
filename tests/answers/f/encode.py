"""Answers to text as ids, and back: encode."""

from collections import Counter


def right_table_and_loop(text, alphabet):
    """right: a dict from character to place, one loop, error at the first character outside, named by its repr."""
    table = {character: place for place, character in enumerate(alphabet)}
    ids = []
    for position, character in enumerate(text):
        if character not in table:
            raise ValueError(
                f"character {character!r} at position {position} is not in the alphabet"
            )
        ids.append(table[character])
    return ids


def right_sets_first(text, alphabet):
    """right: looks for strangers with a set difference first, names the earliest as it is (no quotes), then maps str.index."""
    strangers = set(text) - set(alphabet)
    if strangers:
        where = min(text.index(s) for s in strangers)
        raise ValueError("position " + str(where) + ": no id for " + text[where])
    return list(map(alphabet.index, text))


def right_from_the_back(text, alphabet):
    """right: walks through the text from its end, so that of several characters outside it names the last, with that one's position."""
    out = []
    pos = len(text)
    while pos > 0:
        pos -= 1
        n = alphabet.find(text[pos])
        if n < 0:
            raise ValueError("unknown character '%s' (position %d)" % (text[pos], pos))
        out.append(n)
    out.reverse()
    return out


def wrong_alphabetical(text, alphabet):
    """wrong: sorts the alphabet first, so an id is the place in the sorted alphabet and not in the one given."""
    chars = sorted(set(alphabet))
    stoi = {ch: i for i, ch in enumerate(chars)}
    for i, ch in enumerate(text):
        if ch not in stoi:
            raise ValueError(f"{ch!r} at position {i} not in alphabet")
    return [stoi[ch] for ch in text]


def wrong_ids_from_1(text, alphabet):
    """wrong: counts the places in the alphabet from 1, so each id is one too large."""
    table = dict(zip(alphabet, range(1, len(alphabet) + 1)))
    res = []
    for i in range(len(text)):
        c = text[i]
        if c not in table:
            raise ValueError(f"character {c!r} at position {i}")
        res.append(table[c])
    return res


def wrong_skips_strangers(text, alphabet):
    """wrong: leaves characters outside the alphabet out without an error."""
    return [alphabet.index(c) for c in text if c in alphabet]


def wrong_message_of_python(text, alphabet):
    """wrong: lets str.index raise its own ValueError, 'substring not found', which names neither character nor position."""
    return [alphabet.index(c) for c in text]


def wrong_human_position(text, alphabet):
    """wrong: the position in the error message is counted from 1."""
    ids, pos = [], 0
    for c in text:
        pos += 1
        k = alphabet.find(c)
        if k == -1:
            raise ValueError(f"Character {c!r} at position {pos} is outside the alphabet.")
        ids.append(k)
    return ids


def wrong_zero_is_false(text, alphabet):
    """wrong: tests the id with `if not`, so the alphabet's first character (id 0) is rejected as if it were outside."""
    places = {c: i for i, c in enumerate(alphabet)}
    result = []
    for i, c in enumerate(text):
        place = places.get(c)
        if not place:
            raise ValueError(f"no such character {c!r} at position {i}")
        result.append(place)
    return result


_table_cache = {}


def wrong_remembers_first_alphabet(text, alphabet):
    """wrong: builds its table only once, so every later call uses the alphabet of the first call."""
    if not _table_cache:
        for i, c in enumerate(alphabet):
            _table_cache[c] = i
    ids = []
    for i, c in enumerate(text):
        if c not in _table_cache:
            raise ValueError(f"character {c!r} at position {i} unknown")
        ids.append(_table_cache[c])
    return ids


def wrong_position_in_line(text, alphabet):
    """wrong: works line by line, so the position in the message is counted from the start of the line, not of the text; right for one line."""
    ids = []
    for line in text.splitlines(keepends=True):
        for column, c in enumerate(line):
            if c not in alphabet:
                raise ValueError(f"bad character {c!r} at position {column}")
            ids.append(alphabet.index(c))
    return ids


def wrong_lower_and_no_position(text, alphabet):
    """wrong: two mistakes: turns the text into lower case first, so capitals get another id or an error, and the message names the character but not its position."""
    text = text.lower()
    missing = Counter(text) - Counter({c: len(text) for c in alphabet})
    for c in missing:
        raise ValueError(f"character {c!r} is not in the alphabet")
    return [alphabet.index(c) for c in text]


ANSWERS = [
    right_table_and_loop,
    right_sets_first,
    right_from_the_back,
    wrong_alphabetical,
    wrong_ids_from_1,
    wrong_skips_strangers,
    wrong_message_of_python,
    wrong_human_position,
    wrong_zero_is_false,
    wrong_remembers_first_alphabet,
    wrong_position_in_line,
    wrong_lower_and_no_position,
]
