"""A tiny model and a short run for the tests of training; a child process runs it, too.

``python -m tests.samples.training FOLDER OPTIMIZER HOLD`` trains with checkpoints in
FOLDER and prints a line at each event: a step, and every flush, rename and removal of a
checkpoint's files. At event number HOLD it stops and waits to be killed.
"""

import os
import pathlib
import random
import shutil
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from helpers.text.batches import Windows
from helpers.training.config import TrainConfig
from helpers.training.loop import train

VOCAB_SIZE, CONTEXT_LENGTH, WIDTH = 11, 5, 8
STEPS, CHECKPOINT_EVERY = 30, 3


class TinyModel(nn.Module):
    """The character and the one before it, through a hidden layer."""

    def __init__(self, *, width=WIDTH, dropout=0.1, tied=False, seed=0):
        super().__init__()
        self.vocab_size, self.context_length = VOCAB_SIZE, CONTEXT_LENGTH
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.embedding = nn.Embedding(VOCAB_SIZE, width)
            self.norm = nn.LayerNorm(width)
            self.hidden = nn.Linear(2 * width, width)
            self.head = nn.Linear(width, VOCAB_SIZE, bias=not tied)
        self.dropout = nn.Dropout(dropout)
        if tied:
            self.head.weight = self.embedding.weight

    def forward(self, ids):
        """Logits (B, T, vocab_size) of ids (B, T)."""
        now = self.norm(self.embedding(ids))
        before = F.pad(now, (0, 0, 1, 0))[:, :-1]
        hidden = self.dropout(self.hidden(torch.cat((now, before), dim=-1)).relu())
        return self.head(hidden)


class RestlessModel(TinyModel):
    """Draws from every generator that a checkpoint has to bring back."""

    def forward(self, ids):
        """Logits, scaled at random while training."""
        scale = 1.0
        if self.training:
            scale += 0.1 * random.random() + 0.1 * np.random.standard_normal()
        return scale * super().forward(ids)


def make_data(length=200, seed=0, context_length=CONTEXT_LENGTH):
    """Characters that follow each other by a rule, with some noise."""
    generator = torch.Generator().manual_seed(seed)
    noise = torch.randint(0, 2, (length,), generator=generator)
    return Windows((3 * torch.arange(length) + noise) % VOCAB_SIZE, context_length)


def make_config(**changes):
    """A short run's config."""
    settings = {
        "steps": STEPS,
        "batch_size": 4,
        "learning_rate": 0.01,
        "warmup_steps": 3,
        "checkpoint_every": CHECKPOINT_EVERY,
        "evaluate_every": 10,
    }
    return TrainConfig(**settings | changes)


def short_run(directory=None, optimizer="adamw", after_step=None):
    """Train the restless model; the result and its final weights."""
    model = RestlessModel()
    result = train(
        model,
        make_data(),
        make_config(optimizer=optimizer),
        held_out=make_data(63, seed=1),
        checkpoint_dir=directory,
        device="cpu",
        progress=False,
        after_step=after_step,
    )
    return result, model.state_dict()


def announced(function, name, announce):
    """The function, with a line printed before it runs."""

    def wrapper(*arguments, **options):
        announce(name)
        return function(*arguments, **options)

    return wrapper


def main(directory, optimizer, hold):
    """Train as a process that says where it is, and so can be killed there."""
    events = iter(range(1, 1_000_000))

    def announce(name):
        number = next(events)
        print(number, name, flush=True)
        if number == int(hold):
            print("held", flush=True)
            time.sleep(600)

    os.fsync = announced(os.fsync, "flush", announce)
    shutil.rmtree = announced(shutil.rmtree, "remove", announce)
    pathlib.Path.rename = announced(pathlib.Path.rename, "rename", announce)
    short_run(directory, optimizer, lambda step, model: announce(f"step {step}"))


if __name__ == "__main__":
    main(*sys.argv[1:])
