"""Prompts of two names as ids, with the positions that count, and what is asked."""

import random
from typing import Any, NamedTuple

import torch
from torch import Tensor

from experiments.real_model.heads import Head, features, output_of
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.reading import ids_of, single_tokens
from helpers.models.language_model import TransformerLM
from helpers.text.indirect_objects import FRAMES, NAMES, prompt
from helpers.text.subwords import SubwordTokenizer

HALVES = {
    "choosing": (FRAMES[:5], NAMES[:15]),
    "testing": (FRAMES[5:], NAMES[15:]),
}


class Prompts(NamedTuple):
    """Prompts of one frame, B of them, and their variations.

    Attributes:
        clean: (B, T), such as "When Mary and John …, John gave a drink to".
        swapped: (B, T), where the other name comes again, and the answer is the other.
        third: (B, T), where a third name gives, and nothing tells the two apart.
        renamed: (B, T), where the subject has a third name at the beginning and its own
            at the end: each name comes once.
        answer: (B,), the token of the indirect object.
        subject: (B,), the token of the subject.
        stranger: (B,), the token of the third name.
        others: (N,), the tokens of all names of that half.
        again: the position at which the giver's name stands.
    """

    clean: Tensor
    swapped: Tensor
    third: Tensor
    renamed: Tensor
    answer: Tensor
    subject: Tensor
    stranger: Tensor
    others: Tensor
    again: int

    def difference(self, logits: Tensor) -> Tensor:
        """logit(indirect object) - logit(subject) at the last position, (B,)."""
        rows = torch.arange(len(logits))
        last = logits[:, -1]
        return last[rows, self.answer] - last[rows, self.subject]

    def above_others(self, logits: Tensor, token: Tensor) -> Tensor:
        """The logits (B, V) of tokens (B,) above the mean over all names."""
        rows = torch.arange(len(logits))
        return logits[rows, token] - logits[:, self.others].mean(dim=1)

    def place(self, token: Tensor) -> Tensor:
        """Where tokens (B,) first stand, (B,)."""
        return (self.clean == token[:, None]).int().argmax(dim=1)


def prompts(half: str, frame: str, count: int, *, start: bool = False) -> Prompts:
    """Prompts of a frame; in every second one the subject is named first.

    Args:
        half: "choosing" or "testing", whose names are taken.
        frame: one of ``FRAMES``.
        count: B.
        start: put SmolLM2's ``<|endoftext|>`` in front.
    """
    _, tokenizer = smollm2()
    names, rng = HALVES[half][1], random.Random(frame)
    rows: list[tuple[str, str, str, str]] = []
    for row in range(count):
        first, second, stranger = rng.sample(names, 3)
        rows.append((first, second, stranger, (first, second)[row % 2]))
    of = [prompt(frame, (a, b), subject) for a, b, _, subject in rows]
    texts = {
        "clean": [one.text for one in of],
        "swapped": [
            prompt(frame, (a, b), b if s == a else a).text for a, b, _, s in rows
        ],
        "third": [prompt(frame, (a, b), c).text for a, b, c, _ in rows],
        "renamed": [
            prompt(frame, (c, b) if s == a else (a, c), s).text for a, b, c, s in rows
        ],
    }
    ids = {name: as_ids(tokenizer, one, start=start) for name, one in texts.items()}
    return Prompts(
        **ids,
        answer=single_tokens([one.answer for one in of], tokenizer),
        subject=single_tokens([one.subject for one in of], tokenizer),
        stranger=single_tokens([stranger for _, _, stranger, _ in rows], tokenizer),
        others=single_tokens(names, tokenizer),
        again=int((ids["clean"] != ids["swapped"]).nonzero()[0, 1]),
    )


def as_ids(tokenizer: SubwordTokenizer, texts: list[str], *, start: bool) -> Tensor:
    """Texts of as many tokens each, (B, T)."""
    return torch.tensor([ids_of(text, tokenizer, start=start) for text in texts])


def direct_effect(
    model: TransformerLM, context: Tensor, head: Head, stream: Tensor
) -> Tensor:
    """What a head adds to all logits by itself, (B, V): direct logit attribution.

    Args:
        model: the model.
        context: (B, D), the head's, at the position of the logits.
        head: its layer and number.
        stream: (B, C), what the final norm reads there; its size is held still.
    """
    layer, number = head
    norm: Any = model.final_norm
    added = context @ output_of(model, layer)[:, features(model, number)].T
    size = stream.square().mean(dim=-1, keepdim=True).add(model.config.norm_eps).sqrt()
    result: Tensor = (added * norm.weight / size) @ model.token_embedding.weight.T
    return result
