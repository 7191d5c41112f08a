"""What every head of a model does with one text, packed small enough for a page.

A reading holds the text's tokens, the weights of all heads of all layers in 8 bits, the
next token's probabilities, and what these become where one head is switched off. It is
made of plain values, so that a record keeps it as JSON and ``views.all_heads`` shows
it.
"""

import base64
from collections.abc import Collection, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from helpers import validation
from helpers.models.encoder import TransformerEncoder
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, replaced, require_head, watched
from helpers.modes import eval_mode

SHOWN = 5  # most probable next tokens
MOST_TOKENS = 32
LARGEST = 2**15 - 1  # of a signed number of 16 bits
Head = tuple[int, int]
Next = list[tuple[str, float]]
Reading = dict[str, Any]


class Tokenizer(Protocol):
    """What a reading needs of a tokenizer."""

    def encode(self, text: str, /) -> list[int]:
        """Turn a text into ids."""

    def decode(self, ids: list[int], /) -> str:
        """Turn ids into a text."""


class HeadReader:
    """Reads texts with a model, and says what each of its heads does with them.

    Args:
        model: a ``TransformerLM``, or a ``TransformerEncoder``, which predicts no next
            token. It is put into eval mode for the length of each call.
        tokenizer: the model's, with ``encode`` and ``decode``; its ``pieces`` name the
            tokens, where it has them.
        most_tokens: longer texts are refused: of T tokens a reading has about T² / 2
            numbers for each head.

    Raises:
        ValueError: a model or a tokenizer of another kind, or ``most_tokens`` below 1.

    Built with in chapter 18.
    """

    def __init__(
        self,
        model: TransformerLM | TransformerEncoder,
        tokenizer: Tokenizer,
        *,
        most_tokens: int = MOST_TOKENS,
    ) -> None:
        validation.require_type("model", model, TransformerLM, TransformerEncoder)
        for name in ("encode", "decode"):
            if not callable(getattr(tokenizer, name, None)):
                raise ValueError(
                    "tokenizer must have encode and decode, got "
                    f"{type(tokenizer).__name__}"
                )
        validation.require_integers(most_tokens=most_tokens)
        self.model, self.tokenizer, self.most_tokens = model, tokenizer, most_tokens
        self.layers, self.heads = len(model.blocks), model.config.num_heads

    def read(self, text: str) -> Reading:
        """The tokens of a text, all heads' weights, and the next token.

        Args:
            text: of 1 to ``most_tokens`` tokens.

        Returns:
            reading: a dict of the "text"; its "tokens", texts; "same", for each token
                the place of the first one like it; how many "layers" and "heads" there
                are; whether they are "causal"; their "weights", L layers of H heads of
                T rows, of which a causal model's row t has t + 1 numbers and another's
                T: a byte for each, 255 for 1, in base64; and the five most probable
                "next" tokens as pairs of a text and a probability, or None.

        Raises:
            ValueError: a text that isn't a string, has no or too many tokens, or that
                the tokenizer refuses.
        """
        ids = self._ids(text)
        with eval_mode(self.model), torch.no_grad():
            result, weights = self.model(ids, return_weights=True)
        every = torch.stack(list(weights), dim=1)[0]  # (L, H, T, T)
        causal = bool(self.model.config.causal)
        row: list[int] = ids[0].tolist()
        return {
            "text": text,
            "tokens": self._pieces(row),
            "same": [row.index(one) for one in row],
            "layers": self.layers,
            "heads": self.heads,
            "causal": causal,
            "weights": pack_weights(every, causal=causal),
            "next": self._next(result[0, -1]) if causal else None,
        }

    def read_without_each(self, text: str) -> Reading:
        """The same, and what the next token becomes where one head is switched off.

        A head that is off adds nothing at any position (zero ablation). The model runs
        once for each layer, on as many copies of the text as there are heads.

        Args:
            text: as for ``read``.

        Returns:
            reading: as from ``read``, with "without" behind the rest: a dict of a
                "vocabulary", texts; "next", for each head of each layer five pairs of a
                place in it and of a probability, 65535 for 1, numbers of 16 bits; and
                "lost", for each head the nats that the most probable token loses, in
                thousandths, signed numbers of 16 bits; both are little-endian, in
                base64.

        Raises:
            ValueError: as for ``read``, or a model that predicts no next token.
        """
        reading, model = self.read(text), self._predicting()
        ids = self._ids(text)
        found = []
        with eval_mode(model), torch.no_grad():
            before = model(ids)[0, -1]
            for layer in range(self.layers):
                part = Part("context", layer)
                with watched(model, [part]) as given:
                    model(ids)
                context = given[part].unflatten(-1, (self.heads, -1))  # (1, T, H, D)
                others = 1 - torch.eye(self.heads).to(context)  # row h lacks head h
                lacking = (context * others[:, None, :, None]).flatten(-2)
                with replaced(model, {part: lacking}):
                    found.append(model(ids.expand(self.heads, -1))[:, -1])
        logits = torch.cat(found)  # (L H, vocab_size)
        return reading | {"without": self._packed(before, logits)}

    def next_without(self, text: str, off: Collection[Head]) -> Next:
        """The most probable next tokens while some heads are switched off.

        Args:
            text: as for ``read``.
            off: pairs of a layer and a head, each counted from 0.

        Returns:
            next: five pairs of a text and a probability, the largest first.

        Raises:
            ValueError: a text as for ``read``, a head that the model doesn't have, or a
                model that predicts no next token.
        """
        model = self._predicting()
        for layer, head in off:
            require_head(model, layer, head)
        ids = self._ids(text)
        parts = {Part("context", layer, head): 0.0 for layer, head in off}
        with eval_mode(model), torch.no_grad(), replaced(model, parts):
            return self._next(model(ids)[0, -1])

    def _predicting(self) -> TransformerLM:
        """The model, if it predicts a next token."""
        if not isinstance(self.model, TransformerLM):
            raise ValueError(
                "model must be a TransformerLM, which predicts a next token, got "
                f"{type(self.model).__name__}"
            )
        return self.model

    def _ids(self, text: str) -> Tensor:
        """The ids (1, T) of a text that isn't too long."""
        validation.require_type("text", text, str)
        ids = self.tokenizer.encode(text)
        most = min(self.most_tokens, self.model.context_length)
        if not 1 <= len(ids) <= most:
            raise ValueError(
                f"text must have 1 to {most} tokens, got {len(ids)} from {text!r:.60}"
            )
        return torch.tensor([ids], device=self.model.token_embedding.weight.device)

    def _pieces(self, ids: list[int]) -> list[str]:
        pieces = getattr(self.tokenizer, "pieces", None)
        if pieces is not None:
            return list(pieces(ids))
        return [self.tokenizer.decode([one]) for one in ids]

    def _next(self, logits: Tensor) -> Next:
        best = logits.float().softmax(-1).topk(min(SHOWN, len(logits)))
        texts = self._pieces(best.indices.tolist())
        shares = [round(share, 4) for share in best.values.tolist()]
        return list(zip(texts, shares, strict=True))

    def _packed(self, before: Tensor, logits: Tensor) -> dict[str, Any]:
        """What is kept of the logits (L H, vocab_size) without each head."""
        logs = logits.float().log_softmax(-1)
        best = logs.topk(min(SHOWN, logs.shape[-1]))
        ids = best.indices.flatten().tolist()
        places = {one: i for i, one in enumerate(dict.fromkeys(ids))}
        shares = (65535 * best.values.exp()).round().flatten().tolist()
        pairs = [[places[one], int(p)] for one, p in zip(ids, shares, strict=True)]
        top = int(before.argmax())
        lost = before.float().log_softmax(-1)[top] - logs[:, top]
        return {
            "vocabulary": self._pieces(list(places)),
            "next": _base64([number for pair in pairs for number in pair], 2),
            "lost": _base64(
                (1000 * lost).round().clamp(-LARGEST, LARGEST).long().tolist(), 2
            ),
        }


def pack_weights(weights: Tensor, *, causal: bool) -> str:
    """Attention weights in 8 bits.

    Args:
        weights: (..., T, T), from 0 to 1.
        causal: leave out what lies behind each row's own position.

    Returns:
        packed: a byte for each weight, 255 for 1, row by row, in base64.
    """
    T = weights.shape[-1]
    kept = torch.ones(T, T, dtype=torch.bool, device=weights.device)
    kept = kept.tril() if causal else kept
    numbers = (255 * weights.float()).round().clamp(0, 255)[..., kept]
    return _base64(numbers.long().flatten().tolist(), 1)


def _base64(numbers: Sequence[int], size: int) -> str:
    """Whole numbers as little-endian bytes, negative ones in two's complement."""
    wrapped = (number % 256**size for number in numbers)
    packed = b"".join(number.to_bytes(size, "little") for number in wrapped)
    return base64.b64encode(packed).decode()
