"""What one head and two learn of a task with two alignments, over seeds and rates."""

import copy
import sys
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, func, nn

from experiments import running
from helpers import attention
from helpers.validation import unchecked

SYMBOLS, T, S = 10, 5, 8  # T queries; the longest memory has S places
TASKS = ("from start", "from end")
FEW_STEPS = 200
RATES = (0.003, 0.01, 0.03)
SEEDS = range(8)
VARIANTS: dict[str, dict[str, Any]] = {
    "two heads": {},
    "one head": {"num_heads": 1},
    "no places from the end": {"use_end": False},
}
LONG = ("one head", "no places from the end")  # trained on, because they need it

# The seeds are computed side by side, by vmap, through which no check can look.
_attend = unchecked(attention.CrossAttention.forward)


def draw_batch(
    B: int, generator: torch.Generator
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Sequences, and what query t has to report of them.

    Returns:
        ids: (B, S), padded with 0, which is a symbol, too.
        lengths: (B,), from T to S.
        places: (B, 2, T), of the symbol t places from the start, and from the end.
        targets: (B, 2, T), the ids at those places.
    """
    lengths = torch.randint(T, S + 1, (B,), generator=generator)
    ids = torch.randint(SYMBOLS, (B, S), generator=generator)
    real = attention.padding_mask(lengths, S).squeeze(1)  # (B, S)
    ids = ids.masked_fill(~real, 0)
    places = places_of(lengths)
    targets = ids.gather(1, places.flatten(1)).view(B, 2, T)
    return ids, lengths, places, targets


def places_of(lengths: Tensor) -> Tensor:
    """Of lengths (B,), the places (B, 2, T) from the start and from the end."""
    same = torch.arange(T).expand(len(lengths), T)
    mirrored = lengths.unsqueeze(1) - 1 - same  # (B, T)
    return torch.stack([same, mirrored], dim=1)


class Reporter(nn.Module):
    """Queries that know their number, and attend to a sequence.

    Args:
        num_heads: H, of the attention.
        use_end: whether the sequence's tokens say how far from the end they stand.
        halved: whether the weights, of one head, are replaced by one half at each of
            the query's two places.
    """

    def __init__(
        self,
        num_heads: int = 2,
        use_end: bool = True,
        halved: bool = False,
    ) -> None:
        super().__init__()
        self.use_end, self.halved = use_end, halved
        self.query = nn.Embedding(T, 16)
        self.symbol = nn.Embedding(SYMBOLS, 24)
        self.from_start = nn.Embedding(S, 24)
        self.from_end = nn.Embedding(S, 24)
        self.attention = attention.CrossAttention(16, 24, 32, 0.0, num_heads)
        self.to_logits = nn.Linear(32, 2 * SYMBOLS)

    def forward(self, ids: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """From ids (B, S) to logits (B, 2, T, SYMBOLS) and weights (B, H, T, S)."""
        place = torch.arange(S)
        end = lengths.unsqueeze(1) - 1 - place  # (B, S), negative at the padding
        memory = self.symbol(ids) + self.from_start(place)  # (B, S, 24)
        if self.use_end:
            memory = memory + self.from_end(end.clamp(min=0))
        x = self.query.weight.expand(len(ids), T, 16)
        mask = (end >= 0).unsqueeze(1)  # (B, 1, S)
        output, weights = _attend(self.attention, x, memory, mask, return_weights=True)
        if self.halved:
            weights = F.one_hot(places_of(lengths), S).float().mean(1, keepdim=True)
            context = weights.squeeze(1) @ self.attention.W_value(memory)  # (B, T, 32)
            output = self.attention.out_proj(context)
        logits = self.to_logits(output).view(-1, T, 2, SYMBOLS)
        return logits.transpose(1, 2), weights


def run(size: running.Size) -> dict[str, Any]:
    """Train every variant at every rate, from several seeds.

    Returns:
        rows: for each variant, rate and number of steps, what was measured on fresh
            sequences, as lists over the seeds: "accuracy" by task and query;
            "pointing" and "weight" by head and task, how often the head's largest
            weight stands at the task's place, and the mean weight there. Of one head
            also "halves", the share of right reports when the weights are one half at
            each place, where the letters differ.
    """
    seeds = SEEDS[: size.variants]
    return {
        name: {
            str(rate): _trained(
                options,
                rate,
                seeds,
                size.steps if name in LONG else min(size.steps, FEW_STEPS),
            )
            for rate in RATES
        }
        for name, options in running.first_of(VARIANTS, size)
    }


def _trained(
    options: dict[str, Any], rate: float, seeds: range, steps: int
) -> dict[str, Any]:
    """What the models of all seeds can do after few steps, and at the end."""
    models = []
    for seed in seeds:
        torch.manual_seed(seed)
        models.append(Reporter(**options))
    parameters, _ = func.stack_module_state(models)

    def calling(model: Reporter) -> Any:
        return func.vmap(
            lambda own, ids, lengths: func.functional_call(model, own, (ids, lengths))
        )

    forward = calling(copy.deepcopy(models[0]))
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    optimiser = torch.optim.AdamW(parameters.values(), lr=rate)
    measured = {}
    for step in range(1, steps + 1):
        batches = zip(*(draw_batch(64, own) for own in generators), strict=True)
        ids, lengths, _, targets = map(torch.stack, batches)
        logits, _ = forward(parameters, ids, lengths)
        loss = F.cross_entropy(logits.flatten(0, 3), targets.flatten())
        optimiser.zero_grad()
        (len(seeds) * loss).backward()  # each seed's own mean, added up
        optimiser.step()
        if step in {FEW_STEPS, steps}:
            fresh = draw_batch(2000, torch.Generator().manual_seed(999))
            every = [part.expand(len(seeds), *part.shape) for part in fresh]
            with torch.no_grad():
                outputs = forward(parameters, *every[:2])
                measured[str(step)] = _measured(*outputs, *every[2:])
                if options.get("num_heads") == 1:
                    halved = calling(Reporter(**options, halved=True))
                    logits, _ = halved(parameters, *every[:2])
                    measured[str(step)] |= _mixed(logits, fresh[3])
    return measured


def _measured(
    logits: Tensor, weights: Tensor, places: Tensor, targets: Tensor
) -> dict[str, Any]:
    """Right answers, and where the heads look; the seeds are the first axis."""
    right = (logits.argmax(dim=-1) == targets).float().mean(dim=1)  # (N, 2, T)
    at = F.one_hot(places, S).unsqueeze(2)  # (N, B, 1, 2, T, S)
    peaks = F.one_hot(weights.argmax(dim=-1), S).unsqueeze(3)  # (N, B, H, 1, T, S)
    pointing = (peaks * at).sum(dim=-1).float().mean(dim=(1, 4))  # (N, H, 2)
    weight = (weights.unsqueeze(3) * at).sum(dim=-1).mean(dim=(1, 4))  # (N, H, 2)
    heads = [f"head {h}" for h in range(weight.shape[1])]
    return {
        "accuracy": _named(right, TASKS, [f"query {t}" for t in range(T)]),
        "pointing": _named(pointing, heads, TASKS),
        "weight": _named(weight, heads, TASKS),
    }


def _mixed(logits: Tensor, targets: Tensor) -> dict[str, Any]:
    """What one head gets right if its weights don't vary."""
    right = (logits.argmax(dim=-1) == targets).float().mean(dim=2)  # (N, B, T)
    differ = targets[:, 0] != targets[:, 1]  # (B, T)
    shares = right[:, differ].mean(dim=1)[:, None, None]  # (N, 1, 1)
    return {"halves": _named(shares, ["accuracy"], ["letters differ"])}


def _named(table: Tensor, rows: Any, columns: Any) -> dict[str, dict[str, list[float]]]:
    """(N, rows, columns) as nested dicts of N numbers."""
    return {
        row: {
            column: [running.rounded(number) for number in table[:, i, j].tolist()]
            for j, column in enumerate(columns)
        }
        for i, row in enumerate(rows)
    }


if __name__ == "__main__":
    sys.exit(running.main(["alignments"]))
