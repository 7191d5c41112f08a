"""How well a model reads dates that people wrote, and where it looks for each digit.

The model of the page on cross-attention, from several seeds and at three rates. Beside
it stand one whose queries know nothing of what was written; two that can't choose where
to look, but have a residual path, and one of them an MLP; and one with a layer of
self-attention before the memory, so that a row of it may know the whole text.
"""

import datetime
import itertools
import random
import string
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from experiments import many, running
from helpers import attention
from helpers.text import dates
from helpers.text.tokenizer import CharTokenizer

LETTERS = CharTokenizer("_ ',-./" + string.digits + string.ascii_letters)  # _ pads
DIGITS = CharTokenizer("0123456789->")  # > stands before the first
C, WINDOW, LENGTH = 48, 5, len("1998-03-03")
STEPS, BATCH = 1_000, 64
RATE = 0.01  # and a third of it, and three times
RATES = (0.0033, RATE, 0.03)
SIDES = (
    *("as on the page", "place alone", "equal weights", "equal weights and an MLP"),
    "self-attention first",
)
LOCAL, PLACE, EQUAL, EQUAL_MLP, MIXED = SIDES
HELD_OUT = 2_000
MOST_DRAWS = 100_000  # the rarest shape of the record needed 1,815
ANSWERS = "yyyy mm dd"  # which part of a date each character of the answer states
SWAPPED = (0, 1, 2, 3, 4, 8, 9, 7, 5, 6)  # month for day, day for month
NEW_FORMS = (
    "{Weekday} the {nth} of {Month}, {year}",
    "{Month} the {nth}, {yy}",
    "{day} {MON} {yy}",
    "{year}, {day} {Month}",
    "{Wd} {month}/{day}/{yy}",
)
Pairs = Sequence[tuple[datetime.date, str]]


class Batch(NamedTuple):
    """Dates in some forms: ids (B, S), mask (B, 1, S), targets (B, 10), and texts."""

    ids: Tensor
    mask: Tensor
    targets: Tensor
    written: list[dates.Written]


def split_dates() -> tuple[list[datetime.date], list[datetime.date]]:
    """The dates held out, which are seen in no form, and those to learn from."""
    every = dates.every_date()
    random.Random(0).shuffle(every)
    return every[:HELD_OUT], every[HELD_OUT:]


def make_batch(pairs: Pairs) -> Batch:
    """Write each date in its form, and pad the texts to the longest of them."""
    written = [dates.write(date, form) for date, form in pairs]
    lengths = [len(one.text) for one in written]
    S = max(lengths)
    ids = [LETTERS.encode(one.text.ljust(S, "_")) for one in written]
    targets = [DIGITS.encode(date.isoformat()) for date, _ in pairs]
    mask = attention.padding_mask(lengths, S)
    return Batch(torch.tensor(ids), mask, torch.tensor(targets), written)


def draw(days: Sequence[datetime.date], B: int, rng: random.Random) -> Batch:
    """A batch of random dates in random forms."""
    return make_batch([(rng.choice(days), rng.choice(dates.FORMS)) for _ in range(B)])


class DateReader(nn.Module):
    """An encoder and a decoder with nothing between them but cross-attention.

    Args:
        side: one of ``SIDES``.
    """

    def __init__(self, side: str = LOCAL) -> None:
        super().__init__()
        self.side = side
        self.letters = nn.Embedding(LETTERS.vocab_size, C, padding_idx=0)
        self.neighbours = nn.Conv1d(C, C, WINDOW, padding="same")
        self.norm = nn.LayerNorm(C)
        self.written = nn.Embedding(DIGITS.vocab_size, C)
        self.places = nn.Embedding(LENGTH, C)
        self.attention = attention.CrossAttention(C, C, C, 0.0, num_heads=1)
        self.to_logits = nn.Linear(C, DIGITS.vocab_size)
        if side == EQUAL_MLP:
            self.mlp = nn.Sequential(
                nn.Linear(C, 4 * C), nn.GELU(), nn.Linear(4 * C, C), nn.LayerNorm(C)
            )
        if side == MIXED:
            self.first_places = nn.Embedding(40, C)
            self.first = attention.CrossAttention(C, C, C, 0.0, num_heads=4)

    def encode(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The memory (B, S, C) of letters (B, S)."""
        letters = self.letters(ids)
        if self.side == MIXED:
            letters = letters + self.first_places.weight[: ids.shape[1]]
            letters = letters + self.first(letters, letters, mask)
            letters = letters * mask.mT  # padding stays zeros beside the last letters
        around = self.neighbours(letters.mT).mT
        return self.norm(letters + F.gelu(around))

    def forward(
        self, ids: Tensor, mask: Tensor, written: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Logits (B, T, 12) and weights (B, 1, T, S), of what comes next."""
        memory = self.encode(ids, mask)
        B, T = written.shape
        x = self.places.weight[:T].expand(B, T, C)
        if self.side != PLACE:
            x = x + self.written(written)
        if self.side in (EQUAL, EQUAL_MLP):
            weights = (mask / mask.sum(dim=-1, keepdim=True)).expand(-1, T, -1)
            x = x + self.look(weights.unsqueeze(1), memory)  # else all places are alike
            x = x + self.mlp(x) if self.side == EQUAL_MLP else x
            return self.to_logits(x), weights.unsqueeze(1)
        output, weights = self.attention(x, memory, mask, return_weights=True)
        return self.to_logits(output), weights

    def look(self, weights: Tensor, memory: Tensor) -> Tensor:
        """What attention returns (B, T, C) by given weights (B, 1, T, S)."""
        context = weights.squeeze(1) @ self.attention.W_value(memory)
        return self.attention.out_proj(context)


def before(targets: Tensor) -> Tensor:
    """What stands before each character of the answers."""
    return F.pad(targets[:, :-1], (1, 0), value=DIGITS.vocab_size - 1)


def train(model: DateReader, days: Sequence[datetime.date], rate: float) -> list[float]:
    """Teacher forcing: each character is predicted behind those that are right."""
    rng = random.Random(torch.initial_seed())
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, STEPS)
    losses = []
    for _ in range(STEPS):
        ids, mask, targets, _ = draw(days, BATCH, rng)
        logits, _ = model(ids, mask, before(targets))
        loss = F.cross_entropy(logits.mT, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


@torch.no_grad()
def write(model: DateReader, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Write greedily, one character after the other; and where each one looked."""
    written = torch.full((len(ids), 1), DIGITS.vocab_size - 1)
    for _ in range(LENGTH):
        logits, weights = model(ids, mask, written)
        likeliest = logits[:, -1:].argmax(dim=-1)
        written = torch.cat([written, likeliest], dim=1)
    return written[:, 1:], weights


def share_exact(answers: Tensor, targets: Tensor) -> float:
    """How many answers have every character right, as a share."""
    return (answers == targets).all(dim=-1).float().mean().item()


def near_parts(written: Sequence[dates.Written], S: int, reach: int) -> Tensor:
    """(B, 10, S), True at letters of what a character states, or ``reach`` beside."""
    parts = [one.parts.ljust(S, "_") for one in written]
    on = torch.tensor([[[c == part for c in row] for part in ANSWERS] for row in parts])
    return F.max_pool1d(on.float(), 2 * reach + 1, 1, padding=reach).bool()


def same_shape(pairs: Pairs, days: Sequence[datetime.date]) -> Pairs:
    """For each date and form, a different date with its parts at the same letters.

    Raises:
        ValueError: days among which no such date is found in ``MOST_DRAWS``.
    """
    rng, others = random.Random(5), []
    for day, form in pairs:
        parts = dates.write(day, form).parts
        drawn = (rng.choice(days) for _ in range(MOST_DRAWS))
        fitting = (
            other
            for other in drawn
            if other != day and dates.write(other, form).parts == parts
        )
        other = next(fitting, None)
        if other is None:
            raise ValueError(
                f"days must hold another date that is written like {day} in {form!r}, "
                f"but none was found among {len(days)}"
            )
        others.append((other, form))
    return others


@torch.no_grad()
def change_the_text(
    model: DateReader, batch: Batch, others: Batch, weights: Tensor
) -> dict[str, list[float]]:
    """Keep each map, and exchange letters of the text for those of another date.

    Args:
        model: a DateReader.
        batch: B dates.
        others: B others, from ``same_shape``.
        weights: (B, 1, 10, S), the maps of the batch.

    Returns:
        shares: "stays", for each character of the answer: how often it stays as it was
            when all letters out of reach of the row it looks at most are those of the
            other date; "follows": how often it is the other date's when only those in
            reach are. Both of the dates in whose answers the character differs.
    """

    def write_by_map(ids: Tensor) -> Tensor:
        memory = model.encode(ids, batch.mask)
        return model.to_logits(model.look(weights, memory)).argmax(dim=-1)

    before, S = write_by_map(batch.ids), weights.shape[-1]
    shares: dict[str, list[float]] = {"stays": [], "follows": []}
    for t in range(LENGTH):
        most = F.one_hot(weights[:, 0, t].argmax(dim=-1), S).float().unsqueeze(1)
        near = F.max_pool1d(most, WINDOW, 1, padding=WINDOW // 2).squeeze(1).bool()
        kept = write_by_map(torch.where(near, batch.ids, others.ids))[:, t]
        put = write_by_map(torch.where(near, others.ids, batch.ids))[:, t]
        differ = batch.targets[:, t] != others.targets[:, t]
        if not differ.any():  # a dash
            differ = torch.ones_like(differ)
        for name, same in {
            "stays": kept == before[:, t],
            "follows": put == others.targets[:, t],
        }.items():
            shares[name].append(running.rounded(same[differ].float().mean().item()))
    return shares


def train_one(settings: many.Settings) -> many.Run:
    """Train one model and measure it on held-out dates.

    Args:
        settings: a dict of "side", "rate" and "seed".

    Returns:
        run: a dict of the "loss" in nats a character and the share of "exact" answers;
            the same without the mask of padding ("unmasked"); the share for each form
            that no text had in training ("new"); that of answers with month and day
            exchanged when the weights' rows are ("swapped"), and of right ones by the
            weights of another date ("others_map"). And of each character's weight, what
            lies "on" the part that it states, within "reach", and there by the weights
            of another date ("control"). Of the page's model and of the one with
            self-attention, at the page's rate, also what ``change_the_text`` returns.
    """
    held_out, days = split_dates()
    torch.manual_seed(settings["seed"])
    model = DateReader(settings["side"])
    train(model, days, settings["rate"])
    batch = draw(held_out, HELD_OUT, random.Random(999))
    ids, mask, targets, written = batch
    answers, weights = write(model, ids, mask)
    unmasked, _ = write(model, ids, torch.ones_like(mask))
    S, swapped = ids.shape[1], list(SWAPPED)
    with torch.no_grad():
        logits, _ = model(ids, mask, before(targets))
        memory = model.encode(ids, mask)
        exchanged, others = (
            model.to_logits(model.look(some, memory)).argmax(dim=-1)
            for some in (weights[:, :, swapped], weights.roll(1, dims=0))
        )
    measured = {}
    if settings["side"] in (LOCAL, MIXED) and settings["rate"] == RATE:
        rng = random.Random(999)
        pairs = [
            (rng.choice(held_out), rng.choice(dates.FORMS)) for _ in range(HELD_OUT)
        ]
        others_batch = make_batch(same_shape(pairs, held_out))
        measured = change_the_text(model, batch, others_batch, weights)
    new = [make_batch([(date, form) for date in held_out[:500]]) for form in NEW_FORMS]
    looks = {
        "on": (weights, 0),
        "reach": (weights, WINDOW // 2),
        "control": (weights.roll(1, dims=0), WINDOW // 2),
    }
    return (
        {
            "loss": running.rounded(F.cross_entropy(logits.mT, targets).item()),
            "exact": running.rounded(share_exact(answers, targets)),
            "unmasked": running.rounded(share_exact(unmasked, targets)),
            "swapped": running.rounded(share_exact(exchanged, targets[:, swapped])),
            "others_map": running.rounded(share_exact(others, targets)),
            "new": [
                running.rounded(share_exact(write(model, *one[:2])[0], one.targets))
                for one in new
            ],
        }
        | {
            name: [
                running.rounded(number)
                for number in (
                    (some.squeeze(1) * near_parts(written, S, reach))
                    .sum(dim=-1)
                    .mean(dim=0)
                    .tolist()
                )
            ]
            for name, (some, reach) in looks.items()
        }
        | measured
    )


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The runs that a record lacks."""
    had = [[run[name] for name in ("side", "rate", "seed")] for run in record["runs"]]
    return [
        {"side": side, "rate": rate, "seed": seed}
        for side, rate in itertools.product(SIDES, RATES)
        for seed in _seeds(side, rate)
        if [side, rate, seed] not in had
    ]


def _seeds(side: str, rate: float) -> range:
    """Five for the page's model; three for the others, and one at another rate."""
    if side == LOCAL:
        return range(5)
    if rate == RATE:
        return range(3)
    return range(1 if side in (EQUAL, EQUAL_MLP) else 0)


if __name__ == "__main__":
    sys.exit(many.main("dates", wanted, train_one))
