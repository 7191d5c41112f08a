"""Text as ids, ids as text, and batches of windows."""

import random

import torch

# --- encode ---------------------------------------------------------------------------


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


def encode_with_list_index(text, alphabet):
    characters = list(alphabet)
    return [characters.index(character) for character in text]


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


def encode_text_alphabet(text, alphabet):
    alphabet = sorted(set(text))
    return [alphabet.index(character) for character in text]


def encode_skips(text, alphabet):
    ids = []
    for character in text:
        if character in alphabet:
            ids.append(alphabet.index(character))
    return ids


def encode_default_zero(text, alphabet):
    id_of = {character: i for i, character in enumerate(alphabet)}
    return [id_of.get(character, 0) for character in text]


def encode_default_none(text, alphabet):
    id_of = {character: i for i, character in enumerate(alphabet)}
    return [id_of.get(character) for character in text]


def encode_minus_one(text, alphabet):
    return [alphabet.find(character) for character in text]


def encode_code_points(text, alphabet):
    return list(map(ord, text))


def encode_asserts(text, alphabet):
    for position, character in enumerate(text):
        assert character in alphabet, f"{character} at {position}"
    return [alphabet.index(character) for character in text]


def encode_repeating_the_text(text, alphabet):
    for position, character in enumerate(text):
        if character not in alphabet:
            raise ValueError(f"cannot encode {text!r}, see position {position}")
    return [alphabet.index(character) for character in text]


# --- decode ---------------------------------------------------------------------------


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


def decode_plainly(ids, alphabet):
    text = ""
    for one in ids:
        text = text + alphabet[one]
    return text


def decode_to_a_list(ids, alphabet):
    return [alphabet[one] for one in ids]


def decode_to_a_list_with_care(ids, alphabet):
    for position, one in enumerate(ids):
        if not 0 <= one < len(alphabet):
            raise ValueError(f"{one} at {position}")
    return [alphabet[one] for one in ids]


def decode_with_spaces(ids, alphabet):
    return " ".join([alphabet[one] for one in ids])


def decode_backwards(ids, alphabet):
    text = ""
    for one in ids:
        text = alphabet[one] + text
    return text


def decode_from_one(ids, alphabet):
    return "".join(alphabet[one - 1] for one in ids)


def decode_only_too_large(ids, alphabet):
    for position, one in enumerate(ids):
        if one > len(alphabet) - 1:
            raise ValueError(f"{one} at {position}")
    return "".join(alphabet[one] for one in ids)


def decode_skips(ids, alphabet):
    return "".join(alphabet[one] for one in ids if one in range(len(alphabet)))


def decode_without_a_place(ids, alphabet):
    for one in ids:
        if one not in range(len(alphabet)):
            raise ValueError(f"id {one} is not in the alphabet")
    return "".join(alphabet[one] for one in ids)


def decode_with_a_vague_error(ids, alphabet):
    if min(ids, default=0) < 0 or max(ids, default=0) >= len(alphabet):
        raise ValueError("bad ids")
    return "".join(alphabet[one] for one in ids)


def decode_without_the_sign(ids, alphabet):
    for position, one in enumerate(ids):
        if not 0 <= one < len(alphabet):
            raise ValueError(f"unknown id {abs(one)} at position {position}")
    return "".join(alphabet[one] for one in ids)


def decode_repeating_the_ids(ids, alphabet):
    if any(one not in range(len(alphabet)) for one in ids):
        raise ValueError(f"an unknown id in {ids}")
    return "".join(alphabet[one] for one in ids)


# --- get_batch ------------------------------------------------------------------------


def batch_by_indexing(ids, batch_size, context_length, generator):
    N, T = len(ids), context_length
    starts = torch.randint(N - T, (batch_size, 1), generator=generator)
    places = starts + torch.arange(T)
    return ids[places], ids[places + 1]


def batch_by_stacking(ids, batch_size, context_length, generator):
    inputs, targets = [], []
    for _ in range(batch_size):
        end = len(ids) - context_length
        start = torch.randint(0, end, (1,), generator=generator).item()
        inputs.append(ids[start : start + context_length])
        targets.append(ids[start + 1 : start + 1 + context_length])
    return torch.stack(inputs), torch.stack(targets)


def batch_by_unfolding(ids, batch_size, context_length, generator):
    windows = ids.unfold(0, context_length + 1, 1)
    chances = torch.ones(len(windows))
    chosen = chances.multinomial(batch_size, replacement=True, generator=generator)
    return windows[chosen][:, :-1], windows[chosen][:, 1:]


def batch_by_rand(ids, batch_size, context_length, generator):
    numbers = torch.rand(batch_size, generator=generator)
    starts = (numbers * (len(ids) - context_length)).long().tolist()
    rows = torch.tensor([ids[s : s + context_length + 1].tolist() for s in starts])
    return [rows[:, :-1], rows[:, 1:]]


def batch_by_python(ids, batch_size, context_length, generator):
    seed = torch.randint(2**31, (1,), generator=generator).item()
    dice = random.Random(seed)
    last = len(ids) - context_length - 1
    rows = [dice.randint(0, last) for _ in range(batch_size)]
    places = torch.tensor(rows)[:, None] + torch.arange(context_length)[None, :]
    return ids.gather(0, places.flatten()).view_as(places), ids[places + 1]


def batch_of_eight(ids, batch_size, context_length, generator):
    starts = torch.randint(len(ids) - context_length, (8,), generator=generator)
    inputs = torch.stack([ids[s : s + context_length] for s in starts])
    targets = torch.stack([ids[s + 1 : s + context_length + 1] for s in starts])
    return inputs, targets


def batch_unshifted(ids, batch_size, context_length, generator):
    end = len(ids) - context_length
    starts = torch.randint(end, (batch_size,), generator=generator)
    rows = torch.stack([ids[s : s + context_length] for s in starts])
    return rows, rows.clone()


def batch_rolled(ids, batch_size, context_length, generator):
    end = len(ids) - context_length
    starts = torch.randint(end, (batch_size,), generator=generator)
    rows = torch.stack([ids[s : s + context_length] for s in starts])
    return rows, torch.cat([rows[:, 1:], rows[:, :1]], dim=1)


def batch_two_later(ids, batch_size, context_length, generator):
    end = len(ids) - context_length - 1
    starts = torch.randint(end, (batch_size, 1), generator=generator)
    places = starts + torch.arange(context_length)
    return ids[places], ids[places + 2]


def batch_without_the_last(ids, batch_size, context_length, generator):
    end = len(ids) - context_length - 1
    starts = (torch.rand(batch_size, generator=generator) * end).long()
    inputs = torch.stack([ids[s : s + context_length] for s in starts])
    targets = torch.stack([ids[s + 1 : s + context_length + 1] for s in starts])
    return inputs, targets


def batch_over_the_end(ids, batch_size, context_length, generator):
    end = len(ids) - context_length + 1
    starts = torch.randint(end, (batch_size,), generator=generator)
    inputs = torch.stack([ids[s : s + context_length] for s in starts])
    targets = torch.stack([ids[s + 1 : s + context_length + 1] for s in starts])
    return inputs, targets


def batch_from_anywhere(ids, batch_size, context_length, generator):
    starts = torch.randint(len(ids), (batch_size, 1), generator=generator)
    places = starts + torch.arange(context_length)
    return ids[places], ids[places + 1]


def batch_of_one_window(ids, batch_size, context_length, generator):
    start = torch.randint(len(ids) - context_length, (1,), generator=generator).item()
    window = ids[start : start + context_length + 1].repeat(batch_size, 1)
    return window[:, :-1], window[:, 1:]


def batch_without_the_generator(ids, batch_size, context_length, generator):
    starts = torch.randint(len(ids) - context_length, (batch_size, 1))
    places = starts + torch.arange(context_length)
    return ids[places], ids[places + 1]


def batch_in_order(ids, batch_size, context_length, generator):
    starts = torch.arange(batch_size)[:, None] % (len(ids) - context_length)
    places = starts + torch.arange(context_length)
    return ids[places], ids[places + 1]


def batch_by_permutation(ids, batch_size, context_length, generator):
    order = torch.randperm(len(ids) - context_length, generator=generator)
    places = order[:batch_size, None] + torch.arange(context_length)
    return ids[places], ids[places + 1]


def batch_in_pieces(ids, batch_size, context_length, generator):
    pieces = (len(ids) - 1) // context_length
    starts = torch.randint(pieces, (batch_size, 1), generator=generator)
    places = starts * context_length + torch.arange(context_length)
    return ids[places], ids[places + 1]


def batch_of_neighbours(ids, batch_size, context_length, generator):
    windows = ids.unfold(0, context_length + 1, 1)
    first = torch.randint(len(windows), (1,), generator=generator)
    chosen = windows[(first + torch.arange(batch_size)) % len(windows)]
    return chosen[:, :-1], chosen[:, 1:]


def batch_of_twins(ids, batch_size, context_length, generator):
    windows = ids.unfold(0, context_length + 1, 1)
    half = (batch_size + 1) // 2
    starts = torch.randint(len(windows), (half,), generator=generator)
    chosen = windows[starts.repeat(2)[:batch_size]]
    return chosen[:, :-1], chosen[:, 1:]


def batch_without_an_axis(ids, batch_size, context_length, generator):
    end = len(ids) - context_length
    starts = torch.randint(end, (batch_size,), generator=generator)
    places = starts + torch.arange(context_length)
    return ids[places], ids[places + 1]


RIGHT = {
    "encode": [
        encode_by_dictionary,
        encode_by_find,
        encode_with_an_error_of_its_own,
        encode_by_translation,
    ],
    "decode": [
        decode_by_join,
        decode_by_dictionary,
        decode_by_range,
        decode_by_slices,
    ],
    "get_batch": [
        batch_by_indexing,
        batch_by_stacking,
        batch_by_unfolding,
        batch_by_rand,
        batch_by_python,
    ],
}
WRONG = {
    "encode": [
        (encode_plainly, "an encoder that fails with a KeyError"),
        (
            encode_with_index,
            "an encoder whose error says neither what is unknown nor where",
        ),
        (
            encode_with_list_index,
            "an encoder whose error names the character and no position",
        ),
        (encode_sorted, "an encoder that sorts the alphabet first"),
        (encode_sorted_and_plain, "an encoder that sorts the alphabet first"),
        (encode_from_one, "an encoder that counts from 1"),
        (encode_text_alphabet, "an encoder that takes its alphabet from the text"),
        (encode_skips, "an encoder that skips unknown characters"),
        (encode_default_zero, "an encoder that gives unknown characters the id 0"),
        (encode_default_none, "an encoder that puts None for unknown characters"),
        (encode_minus_one, "an encoder that gives unknown characters the id -1"),
        (encode_code_points, "an encoder that returns code points"),
        (encode_repeating_the_text, None),
        (encode_asserts, None),
    ],
    "decode": [
        (decode_plainly, "a decoder that leaves the errors to Python's indexing"),
        (decode_to_a_list, "a decoder that returns a list of characters"),
        (decode_to_a_list_with_care, "a decoder that returns a list of characters"),
        (decode_with_spaces, "a decoder that puts spaces between the characters"),
        (decode_backwards, "a decoder that writes the text backwards"),
        (decode_from_one, "a decoder that counts from 1"),
        (decode_only_too_large, "a decoder that takes negative ids"),
        (decode_skips, "a decoder that skips ids outside the alphabet"),
        (
            decode_without_a_place,
            "a decoder whose error names the id and no position",
        ),
        (decode_without_the_sign, None),
        (
            decode_repeating_the_ids,
            "a decoder whose error says neither which id nor where",
        ),
        (
            decode_with_a_vague_error,
            "a decoder whose error says neither which id nor where",
        ),
    ],
    "get_batch": [
        (batch_of_eight, "a batch of one size, whatever batch_size is"),
        (batch_unshifted, "targets that equal the inputs"),
        (batch_rolled, "targets rolled around within the window"),
        (batch_two_later, "targets two places later"),
        (batch_without_the_last, "a last window that is never drawn"),
        (batch_over_the_end, "windows that run over the end of the text"),
        (batch_from_anywhere, "windows that run over the end of the text"),
        (batch_of_one_window, "one start for all rows"),
        (batch_without_the_generator, "a generator that is ignored"),
        (batch_in_order, "the same windows at each call"),
        (batch_by_permutation, "starts drawn without replacement"),
        (batch_in_pieces, "windows laid side by side"),
        (batch_of_neighbours, "windows one behind the other"),
        (batch_of_twins, None),
        (batch_without_an_axis, None),
    ],
}
