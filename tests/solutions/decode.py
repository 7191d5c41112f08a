"""Ids as text."""


def decode_by_join(ids, alphabet):
    for position, one in enumerate(ids):
        if one < 0 or one >= len(alphabet):
            raise ValueError(f"no character has the id {one} (position {position})")
    return "".join(alphabet[one] for one in ids)


def decode_by_dictionary(ids, alphabet):
    character_of = dict(enumerate(alphabet))
    text = ""
    for position in range(len(ids)):
        try:
            text += character_of[ids[position]]
        except KeyError as error:
            raise ValueError(f"id {error} at position {position}") from error
    return text


def decode_by_range(ids, alphabet):
    wrong = [(i, one) for i, one in enumerate(ids) if one not in range(len(alphabet))]
    if wrong:
        raise ValueError("wrong (position, id) pairs", wrong)
    return "".join(map(alphabet.__getitem__, ids))


def decode_by_slices(ids, alphabet):
    pieces = [alphabet[one : one + 1] if one >= 0 else "" for one in ids]
    if "" in pieces:
        where = pieces.index("")
        raise ValueError(f"ids[{where}] = {ids[where]}")
    return "".join(pieces)


def decode_to_a_list(ids, alphabet):
    return [alphabet[one] for one in ids]


def decode_to_a_list_with_care(ids, alphabet):
    for position, one in enumerate(ids):
        if not 0 <= one < len(alphabet):
            raise ValueError(f"{one} at {position}")
    return [alphabet[one] for one in ids]


def decode_with_spaces(ids, alphabet):
    return " ".join([alphabet[one] for one in ids])


def decode_from_one(ids, alphabet):
    return "".join(alphabet[one - 1] for one in ids)


def decode_only_too_large(ids, alphabet):
    for position, one in enumerate(ids):
        if one > len(alphabet) - 1:
            raise ValueError(f"{one} at {position}")
    return "".join(alphabet[one] for one in ids)


def decode_skips(ids, alphabet):
    return "".join(alphabet[one] for one in ids if one in range(len(alphabet)))


def decode_without_the_sign(ids, alphabet):
    for position, one in enumerate(ids):
        if not 0 <= one < len(alphabet):
            raise ValueError(f"unknown id {abs(one)} at position {position}")
    return "".join(alphabet[one] for one in ids)


RIGHT = [
    decode_by_join,
    decode_by_dictionary,
    decode_by_range,
    decode_by_slices,
]
WRONG = [
    (decode_to_a_list, "a decoder that returns a list of characters"),
    (decode_to_a_list_with_care, "a decoder that returns a list of characters"),
    (decode_with_spaces, "a decoder that puts spaces between the characters"),
    (decode_from_one, "a decoder that counts from 1"),
    (decode_only_too_large, "a decoder that takes negative ids"),
    (decode_skips, "a decoder that skips ids outside the alphabet"),
    (decode_without_the_sign, None),
]
