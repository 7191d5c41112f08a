def encode_dict(text, alphabet):
    """right: looks each character up in a dictionary and names character and position in the error."""
    ids = {ch: i for i, ch in enumerate(alphabet)}
    result = []
    for position, ch in enumerate(text):
        if ch not in ids:
            raise ValueError(f"{ch!r} at position {position} is not in the alphabet")
        result.append(ids[ch])
    return result


def encode_find(text, alphabet):
    """right: uses str.find and checks for -1."""
    out = []
    for i in range(len(text)):
        place = alphabet.find(text[i])
        if place == -1:
            raise ValueError("unknown character '" + text[i] + "' at position " + str(i))
        out += [place]
    return out


def encode_sorted(text, alphabet):
    """wrong: sorts the alphabet first, so ids are wrong where it isn't in order already."""
    chars = sorted(set(alphabet))
    stoi = {c: i for i, c in enumerate(chars)}
    for i, c in enumerate(text):
        if c not in stoi:
            raise ValueError(f"character {c!r} at position {i} is unknown")
    return [stoi[c] for c in text]


def encode_bare_index(text, alphabet):
    """wrong: relies on str.index, whose ValueError names neither the character nor its position."""
    return [alphabet.index(c) for c in text]


def encode_first_is_false(text, alphabet):
    """wrong: tests the id for truth, so the character with id 0 is taken for unknown and raises the error."""
    lookup = {}
    for number, char in enumerate(alphabet):
        lookup[char] = number
    ids = []
    for position, char in enumerate(text):
        number = lookup.get(char)
        if not number:
            raise ValueError(f"character {char} at position {position} is not in the alphabet")
        ids.append(number)
    return ids


def encode_key_error(text, alphabet):
    """wrong: a dictionary look-up without a test, so what is outside the alphabet raises KeyError, not ValueError."""
    char_to_id = dict(zip(alphabet, range(len(alphabet))))
    return [char_to_id[char] for char in text]


def encode_from_one(text, alphabet):
    """wrong: names the position from 1 instead of 0 in the error (the ids are right)."""
    ids = []
    for pos, ch in enumerate(text, start=1):
        if ch not in alphabet:
            raise ValueError(f"{ch!r} at position {pos} isn't in the alphabet")
        ids.append(alphabet.index(ch))
    return ids


def encode_skips(text, alphabet):
    """wrong: leaves out characters that aren't in the alphabet, without any error."""
    table = {c: n for n, c in enumerate(alphabet)}
    ids = []
    for c in text:
        try:
            ids.append(table[c])
        except KeyError:
            continue
    return ids


ANSWERS = [
    encode_dict,
    encode_find,
    encode_sorted,
    encode_bare_index,
    encode_first_is_false,
    encode_key_error,
    encode_from_one,
    encode_skips,
]
