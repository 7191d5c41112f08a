"""All heads of all layers of a model for one text: where each of them looks."""

import base64
import binascii
import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from helpers import validation
from helpers.views.explore_choices import Text, checked
from helpers.views.explore_live import LiveView, live_box, message, report_of
from helpers.views.view import Table, View, to_json

SIGNS = str.maketrans({" ": "␣", "\n": "↵", "\t": "⇥"})
NEEDED = ("text", "tokens", "same", "layers", "heads", "causal", "weights", "next")
MOST_BYTES = 400_000  # of a page's weights
BEST = 3  # heads in each row of a table
SQUARE = 20  # of the still picture, in pixels
Reading = Mapping[str, Any]
Head = tuple[int, int]


class Reader(Protocol):
    """What reads a text live: a ``helpers.models.head_reading.HeadReader``."""

    def read(self, text: str, /) -> Reading:
        """A reading of a text."""

    def next_without(
        self, text: str, off: Sequence[Head], /
    ) -> Sequence[tuple[str, float]]:
        """The next tokens while some heads are switched off."""


def all_heads(
    readings: Sequence[Reading],
    *,
    reader: Reader | None = None,
    head: Head = (0, 0),
    query: int | None = None,
    key: int | None = None,
    title: str = "Every head of every layer",
) -> View:
    """Show where every head of a model looks, rank the heads, and switch them off.

    A square for each head of each layer shows all its weights; where one token looks,
    or who looks at it, once that token is chosen; and how much the one looks at the
    other, once two are. One head is shown large. The heads are ranked by that weight or
    by a habit, such as resting on the first token. Switching a head off shows what that
    makes of the next token.

    On a page the readings are all there is, and one head at a time is off. In a
    notebook with a kernel and a ``reader`` any text is read, and any heads are off.

    Args:
        readings: what ``HeadReader.read_without_each`` has returned for each text, or
            ``read``, which doesn't know what is lost without a head; all of one model.
            About 70 bytes for each head of a text of 8 tokens, 240 of 16.
        reader: the ``HeadReader`` of the same model; without it, the view stays as it
            is on a page.
        head: layer and head to begin with, each counted from 0.
        query: place in the first text of the token that looks, to begin with; None: no
            token is chosen.
        key: place of the token that is looked at.
        title: what is shown, in a few words.

    Returns:
        view: a View that is also an ipywidgets box where there are a kernel and a
            reader.

    Raises:
        ValueError: no readings, something else than readings, readings of models of
            different sizes, or too many for a page; a head, a query or a key that isn't
            there; a reader that doesn't read.

    Source: Vig 2019, A Multiscale Visualization of Attention in the Transformer Model
    (its "model view": all heads of a model at once). Chapter 18.
    """
    readings = _checked(readings)
    first = readings[0]
    if reader is not None:
        for name in ("read", "next_without"):
            if not callable(getattr(reader, name, None)):
                raise ValueError(
                    "reader must have read and next_without, as a HeadReader, got "
                    f"{type(reader).__name__}"
                )
    require_head("head", head, first)
    T = len(first["tokens"])
    for name, place in (("query", query), ("key", key)):
        if place is not None and not (validation.is_whole(place) and 0 <= place < T):
            raise ValueError(
                f"{name} must be a place from 0 to {T - 1} in the first text, got "
                f"{place!r}"
            )
    start = {"head": list(head), "query": query, "key": key}
    return AllHeads(readings, reader, start, title)


class AllHeads(LiveView):
    """The view of some readings; see ``all_heads``.

    Args:
        readings: checked ones.
        reader: what reads other texts, or None.
        start: a dict of the "head", the "query" and the "key" to begin with.
        title: what is shown.
    """

    def __init__(
        self,
        readings: Sequence[Reading],
        reader: Reader | None,
        start: dict[str, Any],
        title: str,
    ) -> None:
        self.reader = reader
        looks = _looks(readings[0], start["query"], start["key"])
        tables = [_habits(one) for one in readings]
        if readings[0]["next"]:
            tables.append(_next_table(readings))
        state = {"readings": [dict(one) for one in readings], "start": start}
        super().__init__(
            *("all_heads", title, state, [_table(*looks), *tables]),
            summary="Some of the numbers, as tables",
            picture=_picture(*looks),
        )
        self._good: dict[str, Any] = {
            "reading": dict(readings[0]),
            "off": [],
            "after": None,
            "error": "",
        }
        self._box: Any = None

    def widget(self) -> Any:
        """The ipywidgets box whose fields ask the reader; None without ipywidgets.

        Returns:
            box: a field for a text, one for heads, and an ``HTML`` that all_heads.js
                reads; None without a reader, too.
        """
        if self.reader is None:
            return None
        if self._box is None:
            try:
                import ipywidgets
            except ImportError:
                return None
            text = self._good["reading"]["text"]
            choices = checked({"any_text": Text(text), "heads_off": Text("")})
            first = message(to_json(self._good), html.escape(text))
            self._box = live_box(ipywidgets, choices, first, self._computed)
            self._box.children[0].layout.width = "min(36rem, 100%)"
            self._box.children[1].placeholder = "such as 13.8, 5.2"
        return self._box

    def _computed(self, values: tuple[Any, ...]) -> str:
        """What the box holds for a text and heads: an error leaves the last reading."""
        text, heads = values
        reader, good = self.reader, self._good
        assert reader is not None  # noqa: S101 - else there is no box
        try:
            off = parse_heads(heads)
            reading = good["reading"]
            if text != reading["text"]:
                reading = dict(reader.read(text))
            after = (
                [list(one) for one in reader.next_without(text, off)] if off else None
            )
            names = [f"{layer}.{head}" for layer, head in off]
            self._good = {"reading": reading, "off": names, "after": after}
            self._good["error"] = ""
            return message(to_json(self._good), html.escape(text))
        except Exception as error:
            report = report_of(error)
            shown = f"\nBelow is still: {good['reading']['text']}"
            words = f"<pre>{html.escape(report + shown)}</pre>"
            return message(to_json(good | {"error": report + shown}), words)


def parse_heads(text: str) -> list[Head]:
    """Heads as a reader types them.

    Args:
        text: such as "13.8, 5.2": layer and head, each counted from 0, with a comma or
            a space between two of them; nothing for none.

    Returns:
        heads: pairs of a layer and a head, each once.

    Raises:
        ValueError: anything else.
    """
    heads = []
    for word in text.replace(",", " ").split():
        layer, _, head = word.partition(".")
        if not (layer.isdecimal() and head.isdecimal()):
            raise ValueError(f"heads off must be written as 13.8, 5.2, got {word!r}")
        heads.append((int(layer), int(head)))
    return list(dict.fromkeys(heads))


# --- what came ------------------------------------------------------------------------


def _checked(readings: Sequence[Reading]) -> list[Reading]:
    """Readings of one model, not too many."""
    if not isinstance(readings, (list, tuple)) or not readings:
        raise ValueError(
            "readings must be a list of at least one reading, as from HeadReader.read, "
            f"got {readings!r:.60}"
        )
    for number, one in enumerate(readings):
        if not isinstance(one, Mapping) or any(name not in one for name in NEEDED):
            raise ValueError(
                f"readings[{number}] must be what HeadReader.read returns, got "
                f"{one!r:.60}"
            )
        _require_bytes(number, one)
    texts = [one["text"] for one in readings]
    if len(set(texts)) < len(texts):
        raise ValueError(f"readings must be of different texts, got {texts}")
    sizes = {(one["layers"], one["heads"], one["causal"]) for one in readings}
    if len(sizes) > 1:
        raise ValueError(
            "readings must be of one model, got layers, heads and causal "
            f"{sorted(sizes)}"
        )
    count = sum(len(one["weights"]) * 3 // 4 for one in readings)
    if count > MOST_BYTES:
        raise ValueError(
            f"readings must have at most {MOST_BYTES:,} weights, so that a page can "
            f"carry them, got {count:,}: take fewer or shorter texts"
        )
    return list(readings)


def _require_bytes(number: int, reading: Reading) -> None:
    """As many weights as the tokens, layers and heads need."""
    T = len(reading["tokens"])
    needed = T * (T + 1) // 2 if reading["causal"] else T * T
    needed *= reading["layers"] * reading["heads"]
    try:
        got = len(base64.b64decode(reading["weights"], validate=True))
    except (binascii.Error, TypeError):
        got = -1
    if T == 0 or got != needed or len(reading["same"]) != T:
        raise ValueError(
            f"readings[{number}] must have {needed} weights in base64 for its {T} "
            f"tokens, got {'none' if got < 0 else got}"
        )


def require_head(name: str, head: Head, reading: Reading) -> None:
    """Refuse what isn't a head of the model.

    Args:
        name: the argument's.
        head: what came.
        reading: one of the model.

    Raises:
        ValueError: anything but a pair of a layer and a head that are there.
    """
    sizes = (reading["layers"], reading["heads"])
    pair = isinstance(head, (tuple, list)) and len(head) == 2
    if not pair or not all(
        validation.is_whole(i) and 0 <= i < n for i, n in zip(head, sizes, strict=True)
    ):
        raise ValueError(
            f"{name} must be a layer below {sizes[0]} and a head below {sizes[1]}, got "
            f"{head!r}"
        )


# --- for readers without scripts ------------------------------------------------------


def unpack_weights(reading: Reading) -> Tensor:
    """The weights of a reading as numbers.

    Args:
        reading: what ``HeadReader.read`` returns.

    Returns:
        weights: (L, H, T, T), multiples of 1 / 255.
    """
    T = len(reading["tokens"])
    numbers = torch.frombuffer(
        bytearray(base64.b64decode(reading["weights"])), dtype=torch.uint8
    )
    kept = torch.ones(T, T, dtype=torch.bool)
    kept = kept.tril() if reading["causal"] else kept
    weights = torch.zeros(reading["layers"], reading["heads"], T, T)
    weights[..., kept] = numbers.float().view(*weights.shape[:2], -1) / 255
    return weights


def _looks(reading: Reading, query: int | None, key: int | None) -> tuple[str, Tensor]:
    """What the still picture shows, in words, and its number for each head (L, H)."""
    weights, tokens = unpack_weights(reading), _shown(reading["tokens"])
    if query is None and key is None:
        return "how much of a token's weight rests on the first token", _first(weights)
    rows = weights if query is None else weights[..., query : query + 1, :]
    rows = rows if key is None else rows[..., key : key + 1]
    looking = "any token" if query is None else f"“{tokens[query]}” at {query}"
    most = "any token" if query is None else "the token it looks at most"
    asked = most if key is None else f"“{tokens[key]}” at {key}"
    words = f"how much {looking} looks at {asked} in “{reading['text']}”"
    return words, rows.amax(dim=(-2, -1))


def _table(words: str, scores: Tensor) -> Table:
    """The first heads by what the picture shows."""
    best = _best(scores, 2 * BEST)
    caption = f"The first heads of the picture: {words}"
    names = [name for name, _ in best]
    return Table(caption, [[number for _, number in best]], columns=names, decimals=2)


def _picture(words: str, scores: Tensor) -> str:
    """A square for each head, with layers across, as strong as its number."""
    L, H = scores.shape
    left, top = 24, 20
    every = []
    by_shade: dict[int, list[str]] = {}
    for layer in range(L):
        for head in range(H):
            place = f"M{left + SQUARE * layer} {top + SQUARE * head}h18v18h-18z"
            every.append(place)
            shade = min(20, max(0, round(20 * float(scores[layer, head]))))
            by_shade.setdefault(shade, []).append(place)
    squares = f'<path d="{"".join(every)}" fill="#808080" fill-opacity="0.12"/>\n'
    squares += "\n".join(
        f'<path d="{"".join(places)}" fill="#CC79A7" fill-opacity="{shade / 20:.2f}"/>'
        for shade, places in sorted(by_shade.items())
        if shade
    )
    best = ", ".join(f"{name} with {number:.2f}" for name, number in _best(scores))
    told = html.escape(f"A square for each head: {words}. The first ones are {best}.")
    step = 5 if L > 12 else 1
    numbers = "".join(
        f'<text x="{left + SQUARE * i + 9}" y="{top - 6}" text-anchor="middle">{i}'
        "</text>"
        for i in range(0, L, step)
    ) + "".join(
        f'<text x="{left - 6}" y="{top + SQUARE * i + 13}" text-anchor="end">{i}</text>'
        for i in range(H)
    )
    width, height = left + SQUARE * L, top + SQUARE * H
    return (
        f'<div class="aos-heads-still"><p>{told} Layers go across, heads down; '
        "13.8 is head 8 of layer 13.</p>\n"
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" role="img" aria-label="{told}" '
        'style="max-width: 100%; height: auto" font-size="11" fill="currentColor">\n'
        f"{squares}\n{numbers}\n</svg></div>\n"
    )


def _habits(reading: Reading) -> Table:
    """For each habit the heads that have most of it."""
    weights = unpack_weights(reading)
    habits: dict[str, Callable[[], Tensor]] = {
        "rests on the first token": lambda: _first(weights),
        "looks one token back": lambda: _later(
            weights.diagonal(offset=-1, dim1=-2, dim2=-1)
        ),
    }
    same = torch.tensor(reading["same"])
    again = (same < torch.arange(len(same))).nonzero()[:, 0]
    if len(again):
        behind = (same[:, None] == same[None, :]).roll(1, dims=1).tril()
        behind[:, 0] = False
        habits["looks behind an earlier copy"] = lambda: (
            (weights * behind).sum(-1)[..., again].mean(-1)
        )
    rows = []
    for score in habits.values():
        best = [f"{name}: {number:.2f}" for name, number in _best(score())]
        rows.append(best + [""] * (BEST - len(best)))
    columns = ["first", "second", "third"]
    caption = f"“{reading['text']}”: heads with the most of a habit"
    return Table(caption, rows, columns=columns, rows=list(habits))


def _next_table(readings: Sequence[Reading]) -> Table:
    """The most probable next tokens of each text."""
    rows = [
        [f"{_shown([token])[0]}: {share:.2f}" for token, share in one["next"]]
        for one in readings
    ]
    texts = [f"“{one['text']}”" for one in readings]
    columns = list(range(1, 1 + len(rows[0])))
    return Table("The most probable next tokens", rows, columns=columns, rows=texts)


def _best(scores: Tensor, count: int = BEST) -> list[tuple[str, float]]:
    """The names and numbers of the first heads, of equal ones the first first."""
    H = scores.shape[1]
    numbers = scores.flatten().tolist()
    order = sorted(range(len(numbers)), key=lambda i: -numbers[i])[:count]
    return [(f"{i // H}.{i % H}", numbers[i]) for i in order]


def _first(weights: Tensor) -> Tensor:
    return _later(weights[..., 1:, 0])


def _later(numbers: Tensor) -> Tensor:
    """The mean over all queries but the first; 0 where there are no others."""
    return numbers.mean(-1) if numbers.shape[-1] else torch.zeros(numbers.shape[:-1])


def _shown(tokens: Sequence[str]) -> list[str]:
    return [token.translate(SIGNS) or "∅" for token in tokens]
