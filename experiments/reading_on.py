"""Models that read four times their trained length, before and after fine-tuning.

Two blocks are trained on windows of 64 tokens: half of them little-world's stories,
which don't need the distant past, and half with notes that are asked for later
(``helpers.text.recall``), which do. Then they read 256: as they are, with rotary
positions scaled in several ways, and after 100 steps of fine-tuning at that length, or,
as a control, at the old one. At last, a real model reads beyond its trained length
(``experiments.real_model.long_texts``).
"""

import dataclasses
import itertools
import sys
from collections.abc import Iterable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from experiments import many, running, sweeps
from experiments.real_model import long_texts
from helpers.models.language_model import TransformerLM
from helpers.recorded.sweeps import best_rate, has
from helpers.text import corpus, recall
from helpers.text.batches import NOTHING, Windows
from helpers.text.tokenizer import CharTokenizer
from helpers.training.config import TrainConfig
from helpers.training.optimizers import learning_rate_at, make_optimizers

TRAINED, LONGER = 64, 256  # tokens in a window
FACTOR = LONGER / TRAINED
KINDS: dict[str, dict[str, Any]] = {
    "rotary": {"positions": "rotary"},
    "alibi": {"positions": "alibi"},
    "a quarter rotary": {"positions": "rotary", "rotary_fraction": 0.25},
    "every other layer": {"positions": "rotary", "no_rope_interval": 2},
    "none": {"positions": "none"},
    "t5": {"positions": "t5", "t5_buckets": 16, "t5_max_distance": 32},
}
SCALED = {"rotary_scaling_factor": FACTOR, "trained_length": TRAINED}
WAYS: dict[str, dict[str, Any]] = {
    "as trained": {},
    "larger base": {"rotary_base": 500_000.0},
    "interpolation": {"rotary_scaling": "interpolation", **SCALED},
    "ntk": {"rotary_scaling": "ntk", **SCALED},
    "yarn": {"rotary_scaling": "yarn", **SCALED},
}
BEGIN = (0.002, 0.004, 0.008)
STEPS, TUNED_STEPS, WARMUP = 600, 100, 10
TOKENS = 512  # in a batch
TUNINGS = ("longer", "control")  # windows of the new length, and of the old one
TUNED_RATES = (0.001, 0.002, 0.004, 0.008)
PARTS = (0, 16, 64, 128, 192, 256)  # of a window
DISTANCES = (0, 32, 64, 128, 192, 256)  # of a note
WINDOWS = {"validation": 16, "test": 32}
PIECES = 2  # of Shakespeare
REAL: list[many.Settings] = [
    {"part": "real", "way": way, "piece": piece}
    for piece in range(PIECES)
    for way in long_texts.WAYS
]


class Texts:
    """What is read: windows of stories, half of them with notes.

    Args:
        counts: how many windows of each kind are measured on, by part.
    """

    def __init__(self, counts: dict[str, int]) -> None:
        world = corpus.load("little-world", held_out_stories=300)
        other = corpus.load(
            "little-world", seed=1, train_stories=1, held_out_stories=150
        )
        self.tokenizer = CharTokenizer(world.alphabet)
        self.vocab_size = self.tokenizer.vocab_size + recall.TOKENS
        self.train = Windows(self._ids(world.train), LONGER)
        held_out = {"validation": other.held_out, "test": world.held_out}
        self.measured = {
            part: self._ids(text).unfold(0, LONGER + 1, LONGER)[: 2 * counts[part]]
            for part, text in held_out.items()
        }

    def _ids(self, stories: Iterable[str]) -> Tensor:
        return torch.tensor(self.tokenizer.encode("".join(stories)))

    def put_notes(self, ids: Tensor, generator: torch.Generator) -> recall.Recall:
        """Notes and questions in windows (B, T)."""
        return recall.put_notes(ids, self.tokenizer.vocab_size, generator)

    def batch(self, T: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Inputs and targets (B, T): stories, then as many windows with notes."""
        B = TOKENS // T
        inputs, targets = self.train.batch(B, generator, context_length=T)
        noted = self.put_notes(inputs[B // 2 :], generator)
        return (
            torch.cat([inputs[: B // 2], noted.inputs]),
            torch.cat([targets[: B // 2], noted.targets]),
        )


def fit(
    model: TransformerLM, texts: Texts, T: int, *, steps: int, rate: float, seed: int
) -> None:
    """Train a model in place on windows of T tokens; both kinds of text count alike."""
    warmup = min(WARMUP if steps == TUNED_STEPS else 100, steps // 2)
    config = TrainConfig(
        steps=steps,
        batch_size=TOKENS // T,
        learning_rate=rate,
        warmup_steps=warmup,
        seed=seed,
    )
    (optimizer,) = make_optimizers(model, config)
    generator = torch.Generator().manual_seed(seed)
    model.train()
    for step in range(1, steps + 1):
        inputs, targets = texts.batch(T, generator)
        loss = sum(mean_losses(model(inputs), targets))
        for group in optimizer.param_groups:
            group["lr"] = learning_rate_at(config, step)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[union-attr]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    model.eval()


def mean_losses(logits: Tensor, targets: Tensor) -> list[Tensor]:
    """The mean loss of the first half of the rows, stories, and of the others."""
    return [
        F.cross_entropy(some.flatten(0, 1), asked.flatten(), ignore_index=NOTHING)
        for some, asked in zip(logits.chunk(2), targets.chunk(2), strict=True)
    ]


def measured(model: TransformerLM, texts: Texts, T: int) -> many.Run:
    """What a model makes of windows of T tokens.

    Args:
        model: in eval mode.
        texts: to read.
        T: at most LONGER.

    Returns:
        found: a dict of the "validation" loss, both kinds of text added up; and, on the
            test, of the losses of "stories" between two of the ``PARTS``, in nats per
            character, and of the shares of "notes" that are recalled rightly between
            two of the ``DISTANCES``; None where T is too short for one.
    """
    losses = {}
    for part, windows in texts.measured.items():
        plain, others = windows[:, : T + 1].chunk(2)
        generator = torch.Generator().manual_seed(len(windows))
        noted = texts.put_notes(others[:, :-1], generator)
        with torch.no_grad():
            logits = model(torch.cat([plain[:, :-1], noted.inputs]))
        targets = torch.cat([plain[:, 1:], noted.targets])
        losses[part] = sum(one.item() for one in mean_losses(logits, targets))
    of_stories, of_notes = logits.chunk(2)
    nats = F.cross_entropy(of_stories.mT, plain[:, 1:], reduction="none").mean(dim=0)
    right = of_notes.argmax(dim=-1) == noted.targets
    return {
        "validation": running.rounded(losses["validation"]),
        "stories": [
            running.rounded(nats[a:b].mean().item()) if b <= T else None
            for a, b in itertools.pairwise(PARTS)
        ],
        "notes": [
            running.rounded(right[far].double().mean().item()) if far.any() else None
            for far in (
                (noted.distances > a) & (noted.distances <= b)
                for a, b in itertools.pairwise(DISTANCES)
            )
        ],
    }


def trained(settings: many.Settings, texts: Texts) -> TransformerLM:
    """A model of a kind, trained on windows of TRAINED tokens."""
    size = running.Size(steps=settings["steps"], stories=0, variants=0, characters=0)
    config, _ = running.recipe(
        texts.tokenizer, size, context_length=LONGER, **KINDS[settings["kind"]]
    )
    torch.manual_seed(settings["seed"])
    model = TransformerLM(dataclasses.replace(config, vocab_size=texts.vocab_size))
    wanted = {name: settings[name] for name in ("steps", "rate", "seed")}
    fit(model, texts, TRAINED, **wanted)
    return model


def changed(model: TransformerLM, **options: Any) -> TransformerLM:
    """A model with the same weights, in eval mode, and other options."""
    other = TransformerLM(dataclasses.replace(model.config, **options))
    other.load_state_dict(model.state_dict())
    return other.eval()


def train_one(settings: many.Settings, **counts: int) -> many.Run:
    """Train a model, and let it read longer windows.

    Args:
        settings: a dict of "kind", "rate", "seed", "steps", and of "part": "rate", or
            "reading" with "tuned_steps" and "tuned_rates": from each way to the rates
            to try at the new length and at the old one, two lists. Or of "part":
            "real", "way" and "piece".
        counts: how many windows of the "validation" and of the "test", of each kind of
            text.

    Returns:
        run: a dict of the "validation" loss on windows of TRAINED tokens; for "reading"
            also what was ``measured`` on "short" windows, and in "ways", for each of
            them: on long ones "before", and after fine-tuning by rate, at the new
            length ("longer") and at the old one ("control"). For "real", what
            ``long_texts.measure`` returns.
    """
    if settings["part"] == "real":
        return long_texts.measure(settings["way"], settings["piece"])
    texts = Texts(WINDOWS | counts)
    model = trained(settings, texts)
    short = measured(model, texts, TRAINED)
    if settings["part"] == "rate":
        return {"validation": short["validation"]}
    found = {}
    for name, both in settings["tuned_rates"].items():
        options = WAYS[name]
        tuned: dict[str, dict[str, many.Run]] = {}
        for part, T, rates in zip(TUNINGS, (LONGER, TRAINED), both, strict=True):
            tuned[part] = {}
            for rate in rates:
                other = changed(model, **options)
                steps = settings["tuned_steps"]
                fit(other, texts, T, steps=steps, rate=rate, seed=settings["seed"])
                tuned[part][str(rate)] = measured(other, texts, LONGER)
        before = measured(changed(model, **options), texts, LONGER)
        found[name] = {"before": before} | tuned
    return {"validation": short["validation"], "short": short, "ways": found}


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The runs that a record lacks.

    For each kind, the first seed tries rates of training, and at the best one those of
    fine-tuning; the other seeds take the best of both.
    """
    missing = []
    for kind in KINDS:
        side = {"kind": kind, "steps": STEPS, "part": "rate"}
        rates = [run for run in record["runs"] if has(run, side)]
        lacking = sweeps.lacking(rates, side, BEGIN, beside=())
        of_first = [one for one in lacking if one["seed"] == sweeps.SEEDS[0]]
        missing += of_first
        if not of_first:
            missing += _lacking_readings(record, kind, best_rate(rates))
    return missing or _lacking(record, REAL)


def _lacking_readings(
    record: dict[str, Any], kind: str, rate: float
) -> list[many.Settings]:
    side = {"kind": kind, "steps": STEPS, "part": "reading", "rate": rate}
    side |= {"tuned_steps": TUNED_STEPS}
    ways = WAYS if kind == "rotary" else ("as trained",)
    all_rates = {way: [list(TUNED_RATES), list(TUNED_RATES)] for way in ways}
    first = side | {"seed": sweeps.SEEDS[0], "tuned_rates": all_rates}
    done = [run for run in record["runs"] if has(run, first)]
    if not done:
        return [first]
    best = {
        way: [[float(best_tuned(found[part]))] for part in TUNINGS]
        for way, found in done[0]["ways"].items()
    }
    plan = [side | {"seed": seed, "tuned_rates": best} for seed in sweeps.SEEDS[1:]]
    return _lacking(record, plan)


def _lacking(record: dict[str, Any], plan: list[many.Settings]) -> list[many.Settings]:
    return [one for one in plan if not any(has(run, one) for run in record["runs"])]


def best_tuned(by_rate: dict[str, many.Run]) -> str:
    """The rate of fine-tuning whose loss on the validation windows is lowest."""
    return min(by_rate, key=lambda rate: by_rate[rate]["validation"])


if __name__ == "__main__":
    sys.exit(many.main("reading_on", wanted, train_one))
