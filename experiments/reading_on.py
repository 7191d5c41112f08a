"""Models that read four times their trained length, before and after fine-tuning.

Two blocks with positions of each kind are trained on windows of 64 tokens: half of them
little-world's stories, which don't need the distant past, and half with notes that are
asked for later (``helpers.text.recall``), which do. Then they read 256: as they are,
with rotary positions scaled in several ways, and after 100 steps of fine-tuning at that
length, or, as a control, at the old one; those with T5's biases, with partial rotary
positions and without positions read as they are.

Where a note is asked for several times, a later question could be answered from an
earlier one. So each note is also asked for "once", before fine-tuning and after it at
the new length. And a rotary model also reads the last 64 tokens anew for each token, in
a sliding "window".
"""

import dataclasses
import functools
import io
import itertools
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from experiments import many, running, sweeps
from helpers.models.language_model import TransformerLM
from helpers.models.transformer_block import TransformerConfig
from helpers.recorded.sweeps import best_rate, has
from helpers.text import corpus, recall
from helpers.text.batches import NOTHING, Windows
from helpers.text.tokenizer import CharTokenizer
from helpers.training.config import TrainConfig
from helpers.training.optimizers import learning_rate_at, make_optimizers
from helpers.whole_files import write_whole

TRAINED, LONGER = 64, 256  # tokens in a window
FACTOR = LONGER / TRAINED
KINDS: dict[str, dict[str, Any]] = {
    "rotary": {"positions": "rotary"},
    "alibi": {"positions": "alibi"},
    "t5": {"positions": "t5", "t5_buckets": 16, "t5_max_distance": 32},
    "partial": {"positions": "rotary", "rotary_fraction": 0.25},
    "half nope": {"positions": "rotary", "no_rope_interval": 2},
    "nope": {"positions": "none"},
}
SCALED = {"rotary_scaling_factor": FACTOR, "trained_length": TRAINED}
WAYS: dict[str, dict[str, Any]] = {
    "as trained": {},
    "larger base": {"rotary_base": 500_000.0},
    "interpolation": {"rotary_scaling": "interpolation", **SCALED},
    "ntk": {"rotary_scaling": "ntk", **SCALED},
    "yarn": {"rotary_scaling": "yarn", **SCALED},
    "pairs 0 to 2": {},
    "pairs 3 and 4": {},
    "pairs 5 to 7": {},
    "pair 3": {},
    "pair 4": {},
}
#: Pairs that turn more slowly by FACTOR, and the others as they did.
SLOWED: dict[str, tuple[int, ...]] = {
    **{"pairs 0 to 2": (0, 1, 2), "pairs 3 and 4": (3, 4), "pairs 5 to 7": (5, 6, 7)},
    **{"pair 3": (3,), "pair 4": (4,)},
}
#: What a way is fine-tuned on: windows of the new length, and as a control of the old.
TUNINGS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(WAYS, ("longer", "control")),
    **dict.fromkeys(SLOWED, ()),
}
TUNED = ("rotary", "alibi")  # kinds that are fine-tuned
BEGIN = {"trained": (0.002, 0.004, 0.008), "longer": (0.001, 0.002, 0.004)}
BEGIN["control"] = BEGIN["longer"]
STEPS, TUNED_STEPS = 400, 100
TOKENS = 512  # in a batch
PARTS = (0, 16, 64, 128, 192, 256)  # of a window
DISTANCES = (0, 32, 64, 128, 192, 256)  # of a note
WINDOWS = {"validation": 16, "test": 32}
DRAWS = 2  # how often notes are put into each window of the test, asked for once
#: Bins and draws of the notes that are asked for once "by distance", and who answers.
FINER, FINER_DRAWS = (64, 96, 128, 160, 192, 224, 256), 8
BY_DISTANCE = ("as trained", "pairs 3 and 4", "pair 3", "pair 4")
WINDOWED = ("rotary", "as trained")  # what also reads in a sliding window


@functools.cache
def read_texts() -> "Texts":
    """The texts, made once in a process."""
    return Texts()


class Texts:
    """What is read: windows of stories, half of them with notes."""

    def __init__(self) -> None:
        world = corpus.load("little-world", held_out_stories=300)
        other = corpus.load(
            "little-world", seed=1, train_stories=1, held_out_stories=150
        )
        self.tokenizer = CharTokenizer(world.alphabet)
        self.vocab_size = self.tokenizer.vocab_size + recall.TOKENS
        self.train = Windows(self._ids(world.train), LONGER)
        held_out = {"validation": other.held_out, "test": world.held_out}
        self.measured = {
            part: self._ids(text).unfold(0, LONGER + 1, LONGER)[: 2 * WINDOWS[part]]
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


def fit(model: TransformerLM, texts: Texts, T: int, config: TrainConfig) -> None:
    """Train a model in place on windows of T tokens; both kinds of text count alike."""
    (optimizer,) = make_optimizers(model, config)
    generator = torch.Generator().manual_seed(config.seed)
    model.train()
    for step in range(1, config.steps + 1):
        inputs, targets = texts.batch(T, generator)
        stories, notes = mean_losses(model(inputs), targets)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate_at(config, step)
        optimizer.zero_grad()
        (stories + notes).backward()
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
    return {
        "validation": running.rounded(losses["validation"]),
        "stories": [
            running.rounded(nats[a:b].mean().item()) if b <= T else None
            for a, b in itertools.pairwise(PARTS)
        ],
        "notes": _shares(of_notes.argmax(dim=-1), noted),
    }


def ask_once(noted: recall.Recall, ids: Tensor) -> recall.Recall:
    """Keep the last question about each box; where the others stood, ids (B, T)."""
    asked = noted.targets != NOTHING
    same = noted.inputs[:, :, None] == noted.inputs[:, None]  # (B, T, T)
    again = (same & asked[:, None]).triu(1).any(dim=-1)  # it is asked later, too
    dropped = asked & again
    return recall.Recall(
        torch.where(dropped, ids, noted.inputs),
        noted.targets.masked_fill(dropped, NOTHING),
        noted.distances.masked_fill(dropped, 0),
    )


def asked_once(
    model: TransformerLM,
    texts: Texts,
    *,
    draws: int = DRAWS,
    distances: tuple[int, ...] | None = None,
) -> many.Run:
    """The shares of "notes" that a model recalls where each is asked for once."""
    ids = texts.measured["test"][:, :LONGER].repeat(draws, 1)
    generator = torch.Generator().manual_seed(len(ids))
    noted = ask_once(texts.put_notes(ids, generator), ids)
    with torch.no_grad():
        given = model(noted.inputs).argmax(dim=-1)
    return {"validation": 0.0, "notes": _shares(given, noted, distances)}


def by_distance(model: TransformerLM, texts: Texts) -> many.Run:
    """The same between two of the FINER distances."""
    return asked_once(model, texts, draws=FINER_DRAWS, distances=FINER)


def in_windows(model: TransformerLM, texts: Texts) -> many.Run:
    """The loss on the end of stories of which a model sees TRAINED tokens at a time.

    Returns:
        found: a dict of the "loss" at the last of the ``PARTS``, in nats a character.
    """
    plain, _ = texts.measured["test"].chunk(2)
    seen = plain.unfold(1, TRAINED + 1, 1)  # (B, LONGER - TRAINED + 1, TRAINED + 1)
    seen = seen[:, PARTS[-2] - TRAINED + 1 :].flatten(0, 1)
    losses = []
    for some in seen.split(256):
        with torch.no_grad():
            logits = model(some[:, :-1])[:, -1]
        losses.append(F.cross_entropy(logits, some[:, -1], reduction="none"))
    return {"validation": 0.0, "loss": running.rounded(torch.cat(losses).mean().item())}


def _shares(
    given: Tensor, noted: recall.Recall, distances: tuple[int, ...] | None = None
) -> list[float | None]:
    """How many notes are recalled rightly between two distances."""
    right = given == noted.targets
    return [
        running.rounded(right[far].double().mean().item()) if far.any() else None
        for far in (
            (noted.distances > a) & (noted.distances <= b)
            for a, b in itertools.pairwise(distances or DISTANCES)
        )
    ]


def trained(kind: str, rate: float, seed: int, steps: int) -> TransformerLM:
    """A model of a kind, trained on windows of TRAINED tokens.

    Its weights are kept in the folder "reading_on" beside the texts that were fetched,
    where each way to go on finds them.
    """
    texts = read_texts()
    size = running.Size(steps=steps, stories=0, variants=0, characters=0)
    model_config, train_config = running.recipe(
        texts.tokenizer,
        size,
        context_length=LONGER,
        batch_size=TOKENS // TRAINED,
        learning_rate=rate,
        seed=seed,
        **KINDS[kind],
    )
    torch.manual_seed(seed)
    model = TransformerLM(
        dataclasses.replace(model_config, vocab_size=texts.vocab_size)
    ).eval()
    path = corpus.cache_folder() / "reading_on" / f"{kind} {rate} {seed} {steps}.npz"
    if path.exists():
        with np.load(path) as kept:
            model.load_state_dict({name: torch.tensor(kept[name]) for name in kept})
        return model
    fit(model, texts, TRAINED, train_config)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = io.BytesIO()
    np.savez(content, **{name: one.numpy() for name, one in model.state_dict().items()})
    write_whole(path, content.getvalue())
    return model


def changed(model: TransformerLM, **options: Any) -> TransformerLM:
    """A model with the same weights, in eval mode, and other options."""
    other = TransformerLM(dataclasses.replace(model.config, **options))
    other.load_state_dict(model.state_dict())
    return other.eval()


def _slow(model: TransformerLM, pairs: Iterable[int]) -> None:
    """Let these pairs of every head turn more slowly by FACTOR, in place."""

    class Slower(TransformerConfig):
        def frequencies(self, **options: Any) -> Tensor:
            speeds = super().frequencies(**options)
            speeds[list(pairs)] /= FACTOR
            return speeds

    model.config = Slower(**vars(model.config))


def train_one(settings: many.Settings) -> many.Run:
    """Train a model, or go on with one.

    Args:
        settings: a dict of "part", "kind", "seed", "rate" and "steps". With another
            part than "trained", also of the "way", and of how the model was trained,
            "from" a list of rate and steps: then "rate" and "steps" are those of
            fine-tuning for "longer" and "control", and 0 for the other parts.

    Returns:
        run: what was ``measured`` on windows of TRAINED tokens for "trained"; what
            ``asked_once``, ``by_distance`` or ``in_windows`` found for "once", "by
            distance" and "window"; else what was measured on windows of LONGER, and
            for "longer" with the shares recalled where each note is asked for "once".
    """
    texts, kind, seed = read_texts(), settings["kind"], settings["seed"]
    if settings["part"] == "trained":
        model = trained(kind, settings["rate"], seed, settings["steps"])
        return measured(model, texts, TRAINED)
    rate, steps = settings["from"]
    model = changed(trained(kind, rate, seed, steps), **WAYS[settings["way"]])
    if settings["way"] in SLOWED:
        _slow(model, SLOWED[settings["way"]])
    untouched = {"once": asked_once, "by distance": by_distance, "window": in_windows}
    if settings["part"] in untouched:
        return untouched[settings["part"]](model, texts)
    if settings["steps"]:
        T = LONGER if settings["part"] == "longer" else TRAINED
        config = TrainConfig(
            steps=settings["steps"],
            batch_size=TOKENS // T,
            learning_rate=settings["rate"],
            warmup_steps=settings["steps"] // 10,
            seed=seed,
        )
        fit(model, texts, T, config)
    found = measured(model, texts, LONGER)
    if settings["part"] == "longer":
        found["once"] = asked_once(model, texts)["notes"]
    return found


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The runs that a record lacks: one after another for each kind of model.

    The first seed chooses the rates, of training and of fine-tuning for each way and
    length; then all seeds take them.
    """
    stages: dict[str, list[many.Settings]] = {"trained": [], "before": [], "tuned": []}
    for kind in KINDS:
        side = {"part": "trained", "kind": kind, "steps": STEPS}
        if lacking := _lacking_of(record, side):
            stages["trained"] += lacking
        else:
            before, tuned = _lacking_readings(record, kind)
            stages["before"] += before
            stages["tuned"] += tuned
    return list(itertools.chain(*stages.values()))


def _lacking_readings(
    record: dict[str, Any], kind: str
) -> tuple[list[many.Settings], list[many.Settings]]:
    """What a trained kind lacks before fine-tuning, and with it."""
    runs = [run for run in record["runs"] if run["part"] == "trained"]
    of_kind = [run for run in runs if run["kind"] == kind]
    origin = [best_rate(of_kind), STEPS]
    before, tuned = [], []
    for way in WAYS if kind == "rotary" else ("as trained",):
        side = {"kind": kind, "way": way, "from": origin}
        parts = ["before", "once"]
        parts += ["by distance"] if kind == "rotary" and way in BY_DISTANCE else []
        parts += ["window"] if (kind, way) == WINDOWED else []
        untouched = side | {"steps": 0, "rate": 0.0}
        plan = [
            untouched | {"part": part, "seed": seed}
            for part in parts
            for seed in sweeps.SEEDS
        ]
        before += _lacking(record, plan)
        for part in TUNINGS[way] if kind in TUNED else ():
            tuned += _lacking_of(record, side | {"part": part, "steps": TUNED_STEPS})
    return before, tuned


def _lacking_of(record: dict[str, Any], side: many.Settings) -> list[many.Settings]:
    begin, first = BEGIN[side["part"]], sweeps.SEEDS[:1]
    return sweeps.lacking(record["runs"], side, begin, beside=first)


def _lacking(record: dict[str, Any], plan: list[many.Settings]) -> list[many.Settings]:
    return [one for one in plan if not any(has(run, one) for run in record["runs"])]


if __name__ == "__main__":
    sys.exit(many.main("reading_on", wanted, train_one))
