"""Text as ids."""


def encode_by_dictionary(text, alphabet):
    id_of = {character: i for i, character in enumerate(alphabet)}
    ids = []
    for position, character in enumerate(text):
        if character not in id_of:
            raise ValueError(f"unknown character {character!r} at {position}")
        ids.append(id_of[character])
    return ids


def encode_by_find(text, alphabet):
    ids = [alphabet.find(character) for character in text]
    if -1 in ids:
        position = ids.index(-1)
        raise ValueError(f"{text[position]} (position {position}) isn't in {alphabet}")
    return ids


class UnknownCharacter(ValueError):
    """An error of one's own is a ValueError, too."""


def encode_with_an_error_of_its_own(text, alphabet):
    def id_of(position):
        try:
            return alphabet.index(text[position])
        except ValueError:
            raise UnknownCharacter(text[position], position) from None

    return tuple(map(id_of, range(len(text))))


def encode_by_translation(text, alphabet):
    unknown = sorted(set(text) - set(alphabet))
    if unknown:
        places = {one: text.index(one) for one in unknown}
        raise ValueError(f"not in the alphabet: {places}")
    codes = text.translate({ord(c): chr(i) for i, c in enumerate(alphabet)})
    return [ord(code) for code in codes]


def encode_plainly(text, alphabet):
    id_of = dict(zip(alphabet, range(len(alphabet)), strict=True))
    return [id_of[character] for character in text]


def encode_with_index(text, alphabet):
    return list(map(alphabet.index, text))


def encode_sorted(text, alphabet):
    alphabet = sorted(set(alphabet))
    return [alphabet.index(character) for character in text]


def encode_sorted_and_plain(text, alphabet):
    id_of = {character: i for i, character in enumerate(sorted(alphabet))}
    return [id_of[character] for character in text]


def encode_from_one(text, alphabet):
    id_of = {character: i + 1 for i, character in enumerate(alphabet)}
    for position, character in enumerate(text):
        if character not in id_of:
            raise ValueError(f"{character} at {position}")
    return [id_of[character] for character in text]


def encode_skips(text, alphabet):
    ids = []
    for character in text:
        if character in alphabet:
            ids.append(alphabet.index(character))
    return ids


def encode_minus_one(text, alphabet):
    return [alphabet.find(character) for character in text]


def encode_asserts(text, alphabet):
    for position, character in enumerate(text):
        assert character in alphabet, f"{character} at {position}"
    return [alphabet.index(character) for character in text]


def encode_repeating_the_text(text, alphabet):
    for position, character in enumerate(text):
        if character not in alphabet:
            raise ValueError(f"cannot encode {text!r}, see position {position}")
    return [alphabet.index(character) for character in text]


RIGHT = [
    encode_by_dictionary,
    encode_by_find,
    encode_with_an_error_of_its_own,
    encode_by_translation,
]
WRONG = [
    (encode_plainly, "an encoder that fails with a KeyError"),
    (
        encode_with_index,
        "an encoder whose error says neither what is unknown nor where",
    ),
    (encode_sorted, "an encoder that sorts the alphabet first"),
    (encode_sorted_and_plain, "an encoder that sorts the alphabet first"),
    (encode_from_one, "an encoder that counts from 1"),
    (encode_skips, "an encoder that skips unknown characters"),
    (encode_minus_one, "an encoder that gives unknown characters the id -1"),
    (encode_repeating_the_text, None),
    (encode_asserts, None),
]
