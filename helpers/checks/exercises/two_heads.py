"""Exercise of chapter 6: two heads by design."""

import torch
import torch.nn.functional as F

from attention_audit.wording import sort_of
from helpers import attention
from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.stubs import attempted

SHARP = 200.0


def _sentences():
    cases = []
    for name, vocab_size, context_length, ids in (
        ("two words", 3, 2, [1, 0]),
        ("three words", 4, 3, [2, 0, 1]),
        ("a sentence shorter than the context", 4, 6, [3, 1, 0]),
        ("words that come twice", 3, 5, [1, 1, 0, 2, 1]),
        ("one word", 2, 3, [1]),
        ("twelve words", 5, 12, [4, 0, 3, 3, 1, 2, 0, 4, 1, 1, 2, 3]),
    ):
        sizes = {"vocab_size": vocab_size, "context_length": context_length}
        cases.append(Case(name, {**sizes, "ids": torch.tensor(ids)}))
    return cases


def _designed(vocab_size, context_length, *, looks, factor=SHARP, handed=(True, True)):
    """Heads whose position t looks for position ``looks[h](t)``."""
    V, P = vocab_size, context_length
    W_query, W_key = torch.zeros(2, V + P, 2 * P).unbind()
    W_value = torch.zeros(V + P, 2 * V)
    for h, look in enumerate(looks):
        W_key[V:, h * P : (h + 1) * P] = torch.eye(P)
        W_value[:V, h * V : (h + 1) * V] = handed[h] * torch.eye(V)
        for t in range(P):
            if 0 <= look(t) < P:
                W_query[V + t, h * P + look(t)] = factor
    return W_query, W_key, W_value


def _before(t):
    return t - 1


def _itself(t):
    return t


def _first(t):
    return 0


def _two_heads(vocab_size, context_length):
    return _designed(vocab_size, context_length, looks=(_before, _first))


def _looking(*looks, **options):
    return lambda V, P: _designed(V, P, looks=looks, **options)


def _exchanged(vocab_size, context_length):
    W_query, W_key, W_value = _two_heads(vocab_size, context_length)
    return W_key, W_query, W_value


def _interleaved(vocab_size, context_length):
    return [
        W.unflatten(1, (2, -1)).transpose(1, 2).flatten(1)
        for W in _two_heads(vocab_size, context_length)
    ]


def _fitting(vocab_size, context_length):
    C, wide = vocab_size + context_length, 2 * vocab_size
    return f"matrices of the shapes ({C}, 2 D), ({C}, 2 D), ({C}, {wide})"


def _sort(found, vocab_size, context_length):
    if not isinstance(found, (list, tuple)):
        return sort_of(found)
    if len(found) != 3:
        return f"{sort_of(found)} of {len(found)}"
    if not all(isinstance(W, torch.Tensor) for W in found):
        return f"three things: {', '.join(sort_of(W) for W in found)}"
    shapes = [tuple(W.shape) for W in found]
    C, wide = vocab_size + context_length, 2 * vocab_size
    if all(len(shape) == 2 and shape[0] == C for shape in shapes):
        (_, asking), (_, answering), (_, handed) = shapes
        if asking == answering and asking % 2 == 0 < asking and handed == wide:
            return _fitting(vocab_size, context_length)
    return f"matrices of the shapes {', '.join(map(str, shapes))}"


def _use(build, vocab_size, context_length, ids):
    found = attempted(build(vocab_size, context_length))
    sort = _sort(found, vocab_size, context_length)
    if sort != _fitting(vocab_size, context_length):
        return _facts(sort)
    T = len(ids)
    places = torch.eye(context_length)[:T].float()
    x = torch.cat([F.one_hot(ids, vocab_size).float(), places], dim=-1)
    parts = [attention.split_heads((x @ W.float())[None], 2) for W in found]
    context, weights = attention.scaled_dot_product_attention(
        *parts, mask=attention.causal_mask(T)
    )
    return _facts(sort, weights[0], attention.merge_heads(context)[0])


def _facts(sort, weights=None, context=None):
    """Rounded, so that every sharp design gives the same."""
    shown = [
        None if one is None else one.round(decimals=2) for one in (weights, context)
    ]
    return {"result": sort, "weights": shown[0], "context": shown[1]}


EXERCISE = Exercise(
    name="two_heads",
    stub="my_two_heads(vocab_size, context_length)",
    asks=(
        "a function of two sizes that returns W_query, W_key and W_value of two heads. "
        "Head 0 looks at the word before, head 1 at the first word, and both hand over "
        "which word it is."
    ),
    returns={"weights": "(H, T, T)", "context": "(T, H vocab_size)"},
    reference=_two_heads,
    cases=_sentences,
    run=_use,
    mistakes=(
        Mistake(
            "heads in each other's places",
            _looking(_first, _before),
            "Head 0 has the left half of the columns, and looks at the word before; "
            "the right half belongs to head 1.",
        ),
        Mistake(
            "weights that aren't sharp",
            _looking(_before, _first, factor=1.0),
            "Each head prefers the right word, but a score of 1 is hardly more than a "
            "score of 0, and is divided by the root of D besides. Multiply the "
            "queries, or the keys, by a large number.",
        ),
        *(
            Mistake(
                "weights that aren't sharp",
                _looking(_before, _first, factor=factor),
                "Each head prefers the right word, but the score is divided by the "
                "root of D, and many zeros together get a share. Take a larger factor.",
            )
            for factor in (2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0)
        ),
        Mistake(
            "a head 0 that looks at its own word",
            _looking(_itself, _first),
            "Position t finds the key of position t. The query of position t must "
            "match the key of position t - 1: shift one of the two.",
        ),
        Mistake(
            "a head 0 whose queries meet no key",
            _looking(lambda t: t + 1, _first),
            "Its weights are even. Either a matrix has only zeros there, or the shift "
            "goes the wrong way: position t asks for position t + 1, which the mask "
            "hides.",
        ),
        Mistake(
            "queries that meet no key",
            _exchanged,
            "The weights are even. Either W_query or W_key has only zeros, or the two "
            "are exchanged: W_query holds what a word looks for, and W_key what it can "
            "be found by.",
        ),
        Mistake(
            "matrices whose columns take the heads in turn",
            _interleaved,
            "The columns are cut in blocks: the left half is head 0, the right half "
            "is head 1.",
        ),
    ),
)
