"""Trainings that tests run in several processes, which have to find them in a file."""

import torch
import torch.distributed as dist

from helpers.models.language_model import TransformerLM
from helpers.models.transformer_block import TransformerConfig
from helpers.text.batches import Documents
from helpers.training.config import TrainConfig
from helpers.training.loop import train
from helpers.training.strategies import STRATEGIES
from tests.samples.training import VOCAB_SIZE, make_data

T, STEPS, STOP = 8, 6, 4  # a checkpoint every two steps
SETTINGS = {
    "AdamW": {},
    "tied weights": {"tie_weights": True, "gradient_clip": 0.1},
    "Muon": {"optimizer": "muon", "gradient_clip": 0.1},
    "Muon, rotary, skips": {
        "optimizer": "muon",
        "positions": "rotary",
        "embedding_skip": True,
        "short_steps": 3,
    },
}
MODEL = ("tie_weights", "positions", "embedding_skip", "dropout", "window")


def stories():
    """More rows than a batch takes, of different lengths, five of them held out."""
    generator = torch.Generator().manual_seed(4)
    lengths = torch.randint(1, 2 * T, (25,), generator=generator).tolist()
    rows = [
        torch.randint(1, VOCAB_SIZE, (length,), generator=generator)
        for length in lengths
    ]
    return Documents(rows[5:], T, 0), Documents(rows[:5], T, 0)


def windows():
    """A text, and another one that is held out."""
    return make_data(context_length=T), make_data(60, 3, T)


def trained(strategy, options, texts=windows, **more):
    """Losses and weights of a short run in float64."""
    torch.manual_seed(dist.get_rank() if strategy else 0)  # the first one's count
    parts = {name: one for name, one in options.items() if name in MODEL}
    rest = {name: one for name, one in options.items() if name not in MODEL}
    model = TransformerLM(TransformerConfig(VOCAB_SIZE, T, 18, 3, 2, **parts)).double()
    settings = {"evaluate_every": 2, "checkpoint_every": 2, "warmup_steps": 2}
    settings |= {"batch_size": 5, "learning_rate": 0.01}
    config = TrainConfig(STEPS, **settings | rest)
    data, held_out = texts()
    result = train(
        model, data, config, held_out=held_out, device="cpu", strategy=strategy, **more
    )
    rows = [(row.step, row.loss, row.held_out) for row in result.history]
    weights = {
        name: tensor.clone()
        for name, tensor in model.state_dict().items()
        if tensor.is_floating_point()
    }
    modes = [module.training for module in model.modules()]
    return {
        "rows": rows,
        "weights": weights,
        "resumed": result.resumed_from,
        "training": any(modes),
    }


def train_in_all_ways():
    """Alone and in both teams, of each setting and on both kinds of text."""
    runs = [(name, options, windows) for name, options in SETTINGS.items()]
    runs.append(("stories", {}, stories))
    return {
        name: {str(way): trained(way, options, texts) for way in (None, *STRATEGIES)}
        for name, options, texts in runs
    }


class Halted(Exception):
    """A run that ends before its last step."""


def halt(step, _):
    """As if the machine had gone; a checkpoint of the step before is there."""
    if step == STOP + 1:
        raise Halted


def train_a_part(strategy, folder, options):
    """A run that writes checkpoints and doesn't come to its end."""
    try:
        trained(strategy, options, checkpoint_dir=folder, after_step=halt)
    except Halted:
        return True
    return False


def go_on(strategy, folder, options):
    """The same run from its last checkpoint, to its end."""
    return trained(strategy, options, checkpoint_dir=folder)


def draw(strategy):
    """What each process draws after each step, and how often it logs."""
    drawn, logged = [], []
    trained(
        strategy,
        {"dropout": 0.5},
        after_step=lambda *_: drawn.append(torch.rand(()).item()),
        log=logged.append,
    )
    return drawn, [row.step for row in logged]


def refuse(strategy):
    """What is said of a batch with fewer rows than processes."""
    try:
        trained(strategy, {"batch_size": 1})
    except ValueError as error:
        return str(error)
    return None


def differ(strategy, kind, folders):
    """What is said where the second process differs from the first in one thing."""
    second = dist.get_rank() == 1
    options, more = {}, {}
    if kind == "folders":
        more["checkpoint_dir"] = folders[dist.get_rank()]
    elif kind == "checkpoint_dir":
        more["checkpoint_dir"] = folders[0] if second else None
    elif kind == "resume":
        more["resume"] = second
    elif second:
        options = {"seed": {"seed": 5}, "window": {"window": 2}}[kind]
    try:
        trained(strategy, options, **more)
    except ValueError as error:
        return str(error)
    return None
