"""Does it matter for what SmolLM2 says where a word lies between its two meanings?

Two ways to ask. Where no noun tells the meaning, the word is moved along the axis, as
far as nouns move it; where one tells it, what it moved is taken away again.

Source: Turner et al. 2023 (steering by adding to the residual stream); Ravfogel et al.
2020 (projecting a direction out).
"""

import dataclasses
from collections.abc import Mapping, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from experiments import many
from experiments.real_model.intervals import interval
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.prompts import as_ids
from experiments.real_model.reading import single_tokens
from experiments.real_model.two_meanings_heads import LAYER
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, replaced, watched
from helpers.text.ambiguous_words import FRAMES, PLAIN_WORDS, WORDS

FITTED, TESTED = FRAMES[:5], FRAMES[5:8]
PLAIN = PLAIN_WORDS[0]
UNTOLD = "man"  # says nothing of any meaning
SHARE = 0.19  # of the axis, as far as nouns move a word
TOLD = 3  # nouns of either meaning that are told; the last six are scored
DRAWS = 4
WORD = -3  # its place: "and the" follow


def measure() -> many.Run:
    """What the next token owes to a word's place on its axis.

    All are differences of logits: the first meaning's last six nouns, minus the
    second's, where the word is moved or told toward the first, minus the same toward
    the second.

    Returns:
        found: intervals over words. "steered": moved by ``SHARE`` of its "own" axis,
            by as much of each "other" word's or in "drawn" directions (of both, the
            mean and the mean "size"); "plain", a plain word moved along the word's
            axis; "beyond plain".
            "told", where nouns of one meaning or the other stand before the word:
            "whole"; what of it is lost where the word's move along its "own" axis is
            taken away at ``LAYER``, or a move of that size along each "other" word's
            or in "drawn" directions (of both, the mean "size"); and the "move", in
            shares of the axis. "above 0": in how many sentences steering along the own
            axis brings something.
    """
    axes = {word: axis_of(word) for word in WORDS}
    steering = {word: steered(word, axes) for word in WORDS}
    telling = {word: told(word, axes) for word in WORDS}
    above = sum(int((one["own"] > 0).sum()) for one in steering.values())
    return {
        "steered": _over_words(steering),
        "told": _over_words(telling),
        "above 0": above,
    }


def axis_of(word: str) -> Tensor:
    """The way (C,) from the second meaning's relatives to the first's at ``LAYER``."""
    first, second = (
        torch.stack(
            [
                read_at(frame, [UNTOLD], relative)[0][0, WORD]
                for frame in FITTED
                for relative in sense.relatives
            ]
        ).mean(dim=0)
        for sense in WORDS[word]
    )
    return first - second


def steered(word: str, axes: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What moves along some axes bring, each a mean over axes, by frame (frames,)."""
    generator = torch.Generator().manual_seed(list(WORDS).index(word))
    own = SHARE * axes[word]
    drawn = torch.randn(DRAWS, len(own), generator=generator)
    others = [axis for name, axis in axes.items() if name != word]
    moves = torch.stack([own, *others, *drawn])
    moves = F.normalize(moves, dim=1) * own.norm()
    rows = []
    for frame in TESTED:
        stream, plain = (read_at(frame, [UNTOLD], one)[0] for one in (word, PLAIN))
        moved = stream.repeat(2 * len(moves), 1, 1)
        moved[:, WORD] += torch.cat([moves, -moves]) / 2
        of_plain = plain.repeat(2, 1, 1)
        of_plain[:, WORD] += torch.stack([own, -own]) / 2
        lead = lead_of(word, go_on(torch.cat([moved, of_plain])))
        toward, away = lead[:-2].chunk(2)
        rows.append(torch.cat([toward - away, lead[-2:-1] - lead[-1:]]))
    gains = torch.stack(rows)  # (frames, moves and plain)
    others_gains = gains[:, 1 : 1 + len(others)]
    of_drawn = gains[:, 1 + len(others) : -1]
    return {
        "own": gains[:, 0],
        "other": others_gains.mean(dim=1),
        "other, size": others_gains.mean(dim=0).abs().mean().expand(len(gains)),
        "drawn": of_drawn.mean(dim=1),
        "drawn, size": of_drawn.mean(dim=0).abs().mean().expand(len(gains)),
        "plain": gains[:, -1],
        "beyond plain": gains[:, 0] - gains[:, -1],
    }


def told(word: str, axes: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What nouns bring, and what is lost without some of the word, by frame."""
    generator = torch.Generator().manual_seed(list(WORDS).index(word))
    nouns = [clue for sense in WORDS[word] for clue in sense.clues[:TOLD]]
    axis = axes[word]
    others = [one for name, one in axes.items() if name != word]
    drawn = torch.randn(DRAWS, len(axis), generator=generator)
    directions = F.normalize(torch.stack([axis, *others, *drawn]), dim=1)
    rows: dict[str, list[Tensor]] = {"whole": [], "move": [], "lost": []}
    for frame in TESTED:
        stream, logits = read_at(frame, nouns, word)
        whole = gap_of(lead_of(word, logits))
        moved = stream[:, WORD] - stream[:, WORD].mean(dim=0)
        along = moved @ directions[0]  # (nouns,): as much is taken in each direction
        without = stream.repeat(len(directions), 1, 1)
        without[:, WORD] -= torch.cat([along[:, None] * one for one in directions])
        leads = lead_of(word, go_on(without)).view(len(directions), -1)
        rows["lost"].append(torch.stack([whole - gap_of(one) for one in leads]))
        rows["whole"].append(whole)
        rows["move"].append(gap_of(along) / axis.norm())
    found = {name: torch.stack(one) for name, one in rows.items()}
    lost = found.pop("lost")  # (frames, directions)
    sizes = lost.mean(dim=0).abs()
    of_others, of_drawn = sizes[1 : 1 + len(others)], sizes[1 + len(others) :]
    return {
        **found,
        "own": lost[:, 0],
        "other, size": of_others.mean().expand(len(lost)),
        "drawn, size": of_drawn.mean().expand(len(lost)),
    }


def gain(word: str, said: str) -> float:
    """What the clues bring with this word in the word's place: "whole" of ``told``."""
    nouns = [clue for sense in WORDS[word] for clue in sense.clues[:TOLD]]
    rows = [gap_of(lead_of(word, read_at(frame, nouns, said)[1])) for frame in TESTED]
    return float(torch.stack(rows).mean())


@torch.no_grad()
def read_at(frame: str, nouns: Sequence[str], word: str) -> tuple[Tensor, Tensor]:
    """The stream (nouns, T, C) that ``LAYER`` reads, and the last logits."""
    model, tokenizer = smollm2()
    texts = [frame.format(noun, word) + " and the" for noun in nouns]
    ids = as_ids(tokenizer, texts, start=False)
    part = Part("stream", LAYER)
    with watched(model, [part]) as given:
        logits = model(ids)[:, -1]
    return given[part], logits


@torch.no_grad()
def go_on(stream: Tensor) -> Tensor:
    """The last logits (B, vocab_size) that come of a stream (B, T, C) at ``LAYER``."""
    upper = last_blocks(smollm2()[0], LAYER)
    ids = torch.zeros(stream.shape[:2], dtype=torch.int64)  # replaced at once
    with replaced(upper, {Part("stream", 0): stream}):
        logits: Tensor = upper(ids)[:, -1]
    return logits


def last_blocks(model: TransformerLM, layer: int) -> TransformerLM:
    """A model of the blocks from one layer on, with the same weights."""
    config = dataclasses.replace(model.config, num_layers=len(model.blocks) - layer)
    with torch.device("meta"):
        upper = TransformerLM(config)
    state = {}
    for name, weight in model.state_dict().items():
        parts = name.split(".")
        if parts[0] == "blocks":
            if int(parts[1]) < layer:
                continue
            parts[1] = str(int(parts[1]) - layer)
        state[".".join(parts)] = weight
    upper.load_state_dict(state, assign=True)
    return upper.eval()


def lead_of(word: str, logits: Tensor) -> Tensor:
    """The mean logit of the first meaning's last nouns minus the second's (B,)."""
    _, tokenizer = smollm2()
    first, second = (
        logits[:, single_tokens(sense.clues[6:], tokenizer)].mean(dim=1)
        for sense in WORDS[word]
    )
    return first - second


def gap_of(rows: Tensor) -> Tensor:
    """The mean of the first half of some numbers minus the other half's."""
    first, second = rows.chunk(2)
    return first.mean() - second.mean()


def _over_words(found: Mapping[str, Mapping[str, Tensor]]) -> dict[str, list[float]]:
    """Mean and interval over words of the means over frames."""
    names = next(iter(found.values()))
    return {
        name: interval([float(one[name].mean()) for one in found.values()])
        for name in names
    }
