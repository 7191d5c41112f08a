"""Training and evaluating language models, with runs that survive being killed.

Losses are in nats per character; divided by ln 2 they are bits per character.
"""

import contextlib
import dataclasses
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import tqdm

from helpers import validation
from helpers.models.switches import eval_mode
from helpers.models.transformer_block import TransformerConfig
from helpers.notebook.device import choose_device, seed_everything
from helpers.parallel.data_parallel import part_of_mean
from helpers.parallel.shards import full_tensor
from helpers.text.batches import Documents, Windows
from helpers.training import checkpoint
from helpers.training.config import TrainConfig
from helpers.training.optimizers import (
    hidden_learning_rate,
    learning_rate_at,
    make_optimizers,
)
from helpers.training.strategies import (
    Team,
    difference,
    full_state,
    load_full_state,
    make_team,
)

__all__ = ["Row", "TrainConfig", "TrainResult", "bits", "evaluate", "train"]

# What a checkpoint holds beside the weights and what names its run.
SAVED = ("optimizers", "batches", "random", "history")
AfterStep = Callable[[int, nn.Module], object]


class Row(NamedTuple):
    """One step of a run.

    Attributes:
        step: 1 for the first.
        loss: nats per character on this step's batch, before its update.
        held_out: nats per character on held-out text after the update, where it was
            evaluated, else None.
        seconds: spent on all steps so far, without evaluations and checkpoints.
    """

    step: int
    loss: float
    held_out: float | None
    seconds: float


@dataclasses.dataclass(frozen=True)
class TrainResult:
    """What a run has come to.

    Attributes:
        history: a ``Row`` for each step, also for those before the run was resumed.
        resumed_from: the step of the checkpoint that the run went on from, else 0.
    """

    history: tuple[Row, ...]
    resumed_from: int = 0

    @property
    def loss(self) -> float:
        """Nats per character on the last batch."""
        return self.history[-1].loss

    @property
    def held_out(self) -> float | None:
        """Nats per character on the held-out text after the last step, or None."""
        return self.history[-1].held_out

    @property
    def seconds(self) -> float:
        """Seconds spent on all steps, without evaluations and checkpoints."""
        return self.history[-1].seconds


def bits(nats: float) -> float:
    """Bits per character from nats per character."""
    return nats / math.log(2)


def evaluate(
    model: nn.Module, data: Windows | Documents, *, batch_size: int = 64
) -> float:
    """The mean loss over every character of a text.

    Args:
        model: maps ids (B, T) to logits (B, T, vocab_size). It is evaluated in eval
            mode and full precision, and is put back into the mode it was in.
        data: ``Windows`` or ``Documents``; their ``all`` says how much context each
            character is predicted from.
        batch_size: B; more is faster and takes more memory.

    Returns:
        nats: per character, the mean over all targets.

    Raises:
        ValueError: a batch size below 1, or text that doesn't fit the model.
    """
    _require_fit("data", data, model)
    return _mean_loss(Team(model), data, batch_size)


def train(
    model: nn.Module,
    data: Windows | Documents,
    config: TrainConfig,
    *,
    held_out: Windows | Documents | None = None,
    checkpoint_dir: Path | str | None = None,
    resume: bool = True,
    device: torch.device | str | None = None,
    progress: bool | None = None,
    after_step: AfterStep | None = None,
    log: Callable[[Row], object] | None = None,
    strategy: str | None = None,
) -> TrainResult:
    """Train a model, from its last checkpoint where there is one.

    A run that was killed and resumed ends with the weights it would have had; on the
    CPU they are the same to the last bit. The random numbers of Python, NumPy and
    PyTorch are seeded for the run and are put back afterwards.

    Several processes train one model where all of them call this with the same
    arguments and a ``strategy``. Each takes some rows of each batch; the losses are
    those of one process, but for rounding, and for dropout, which each draws on its
    own. A checkpoint holds the whole state, and any number of processes can go on from
    it.

    Args:
        model: an ``nn.Module`` that maps ids (B, T) to logits (B, T, vocab_size) and
            has a ``context_length``. It is trained in place, is moved to the device
            and is left there, in eval mode.
        data: ``Windows`` or ``Documents``.
        config: a ``TrainConfig``.
        held_out: ``Windows`` or ``Documents`` of text that isn't trained on.
        checkpoint_dir: a folder for checkpoints; without one, none are written.
        resume: go on from the last whole checkpoint in that folder. False asks for a
            folder without any.
        device: a ``torch.device`` or its name; where left out, as ``choose_device``
            decides.
        progress: show a progress bar on stderr; where left out, only where somebody
            sees it: in a terminal or a notebook, unless the environment variable
            BOOK_STATIC is set.
        after_step: called as ``after_step(step, model)`` with the model in eval mode,
            after each step, and with 0 before the first; in every process.
        log: called with each step's ``Row``, in the first process alone.
        strategy: None where this process trains alone. "ddp": each process has the
            whole model (DistributedDataParallel). "fsdp": each keeps a part of all
            weights, gradients and means, and of a transformer it gathers one block at a
            time (``fully_shard``).

    Returns:
        result: a ``TrainResult``.

    Raises:
        ValueError: text that doesn't fit the model or the config, a checkpoint of
            another model, config or text, checkpoints there with ``resume=False``, a
            folder that another run writes into or that not all processes see, a
            ``strategy`` without other processes, processes that differ in an argument,
            or more of them than a batch has rows.
        FloatingPointError: a loss, gradient or weight that isn't finite; the message
            names the step and the last good checkpoint.
    """
    validation.require_type("model", model, nn.Module)
    validation.require_type("config", config, TrainConfig)
    _require_fit("data", data, model)
    if held_out is not None:
        _require_fit("held_out", held_out, model)
    if config.short_steps and not isinstance(data, Windows):
        raise ValueError(
            f"config.short_steps shortens Windows, and data is {type(data).__name__}"
        )
    device = choose_device(device if device is None else str(device), source="device")
    model.to(device)
    if progress is None:
        progress = _is_watched() and not os.environ.get("BOOK_STATIC")
    identity = _identity(model, data, held_out, config)
    must_agree = _named(identity) | {
        "config.evaluate_every": config.evaluate_every,
        "config.checkpoint_every": config.checkpoint_every,
        "resume": resume,
        "whether there is a checkpoint_dir": checkpoint_dir is not None,
    }
    team = make_team(model, strategy, must_agree)
    if config.batch_size < team.processes:
        raise ValueError(
            f"config.batch_size must be at least the number of processes, "
            f"{team.processes}, got {config.batch_size}"
        )
    with _seeded(config.seed + team.rank, device), _claimed(team, checkpoint_dir):
        run = _Run(
            team, data, config, device, held_out, checkpoint_dir, after_step, identity
        )
        resumed_from = run.resume(resume)
        if not resumed_from:
            run.report()
        run.finish(progress and team.rank == 0, log if team.rank == 0 else None)
        team.give_back()
    model.eval()
    return TrainResult(tuple(run.history), resumed_from)


def _is_watched() -> bool:
    """Whether stderr leads to a terminal or a notebook, and not into a file."""
    return sys.stderr.isatty() or type(sys.stderr).__module__ == "ipykernel.iostream"


class _Run:
    """A model in training, and all that has to be saved so that it can go on."""

    def __init__(
        self,
        team: Team,
        data: Windows | Documents,
        config: TrainConfig,
        device: torch.device,
        held_out: Windows | Documents | None,
        directory: Path | str | None,
        after_step: AfterStep | None,
        identity: dict[str, Any],
    ) -> None:
        self.team, self.data, self.config, self.device = team, data, config, device
        self.held_out, self.directory = held_out, directory
        self.after_step = after_step
        self.optimizers = make_optimizers(team.module, config)
        self.generator = torch.Generator().manual_seed(config.seed)
        self.identity = identity
        self.history: list[Row] = []
        self.saved: Path | None = None
        self.bfloat16 = config.mixed_precision == "bfloat16" or (
            config.mixed_precision == "auto"
            and device.type == "cuda"
            and torch.cuda.is_bf16_supported(including_emulation=False)
        )

    @property
    def step(self) -> int:
        return len(self.history)

    def finish(self, progress: bool, log: Callable[[Row], object] | None) -> None:
        """All steps that are left, with what is due after each."""
        steps = self.config.steps
        with tqdm(total=steps, initial=self.step, disable=not progress) as bar:
            while self.step < steps:
                self.advance()
                bar.set_postfix_str(f"loss {self.history[-1].loss:.3f}", refresh=False)
                bar.update()
                if self._due(self.config.evaluate_every):
                    self.evaluate()
                if self._due(self.config.checkpoint_every):
                    self.save()
                if log is not None:
                    log(self.history[-1])
                self.report()

    def _due(self, every: int | None) -> bool:
        last = self.step == self.config.steps
        return last or (every is not None and self.step % every == 0)

    def advance(self) -> None:
        """One step: a batch, its gradient, an update."""
        started = time.perf_counter()
        before = self.history[-1].seconds if self.history else 0.0
        module = self.team.module
        module.train()
        # Not the module's: behind a forward pass, a sharded one may show its gathered
        # weights, and the gradients of its parts would stay and add up.
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)
        self._set_learning_rates()
        inputs, targets = self._batch()
        kind = self.device.type
        with torch.autocast(kind, dtype=torch.bfloat16, enabled=self.bfloat16):
            loss = self._batch_loss(inputs, targets)
        loss.backward()
        longest = self.config.gradient_clip or math.inf
        norm = full_tensor(nn.utils.clip_grad_norm_(module.parameters(), longest))
        # One transfer for both numbers: each makes the processor wait for the device.
        loss, norm = torch.stack((loss.detach(), norm)).tolist()
        loss = self.team.totals(loss)[0] / self.team.processes
        self._require_finite("loss", loss, self.step + 1)
        self._require_finite("norm of the gradient", norm, self.step + 1)
        for optimizer in self.optimizers:
            optimizer.step()
        seconds = before + time.perf_counter() - started
        self.history.append(Row(self.step + 1, loss, None, seconds))

    def _batch(self) -> tuple[Tensor, Tensor]:
        data, size = self.data, self.config.batch_size
        if self.step < self.config.short_steps and isinstance(data, Windows):
            half = max(1, data.context_length // 2)
            return data.batch(2 * size, self.generator, context_length=half)
        return data.batch(size, self.generator)

    def _batch_loss(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """The mean over a batch, or this process's part of it."""
        team = self.team
        if team.processes == 1:
            return _loss(team.called, inputs, targets, self.device)
        own = team.share(inputs, targets)
        total = _loss(team.called, *own, self.device, reduction="sum")
        # All have drawn the same batch, and can count everyone's targets.
        return part_of_mean(total, int((targets >= 0).sum()), team.processes)

    def _set_learning_rates(self) -> None:
        rate = learning_rate_at(self.config, self.step + 1)
        share = rate / self.config.learning_rate
        rates = (rate, hidden_learning_rate(self.config) * share)
        for optimizer, rate in zip(self.optimizers, rates, strict=False):
            for group in optimizer.param_groups:
                group["lr"] = rate

    def _require_finite(self, name: str, number: float, step: int) -> None:
        if not math.isfinite(number):
            good = f"the last good checkpoint is {self.saved}"
            raise FloatingPointError(
                f"the {name} at step {step} is {number}; "
                f"{good if self.saved else 'no checkpoint was saved'}; a lower "
                "learning_rate or a longer warm-up may help"
            )

    def evaluate(self) -> None:
        """Note the held-out loss in this step's row, where there is such text."""
        if self.held_out is not None:
            nats = _mean_loss(self.team, self.held_out)
            self.history[-1] = self.history[-1]._replace(held_out=nats)

    def report(self) -> None:
        """Tell who asked to be told after each step."""
        if self.after_step is not None:
            with eval_mode(self.team.module):
                self.after_step(self.step, self.team.module)

    def save(self) -> None:
        """Write a checkpoint, where there is a folder for it."""
        if self.directory is None:
            return
        weights = self.team.weights()
        trained = dict(self.team.module.named_parameters())
        peaks = [weights[name].detach().abs().max().cpu() for name in trained]
        # Python's max would lose a NaN; of double precision MPS has none.
        largest = torch.stack([peak.double() for peak in peaks]).max().item()
        self._require_finite("largest weight after the update", largest, self.step)
        randoms = self.team.everyones(checkpoint.random_states(self.device))
        state = self.identity | {
            "optimizers": [full_state(optimizer) for optimizer in self.optimizers],
            "batches": self.generator.get_state(),
            "random": randoms[0],
            "others": randoms[1:],
            "history": [tuple(row) for row in self.history],
        }
        if self.team.rank == 0:
            path = checkpoint.save(self.directory, self.step, weights, state)
            self.saved = path
        self.saved = self.team.first(self.saved)

    def resume(self, wanted: bool) -> int:
        """Go on from the last checkpoint; returns its step, 0 where there is none."""
        found = self._found()
        if found is None:
            return 0
        if not wanted:
            raise ValueError(
                f"checkpoint_dir must hold no checkpoints with resume=False, got "
                f"{found.path}; delete the folder or name another"
            )
        _require_same_run(found, self.identity)
        checkpoint.load_weights(self.team.model, found)
        self.team.take_over()
        state = found.state
        for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
            load_full_state(optimizer, saved)
        self.generator.set_state(state["batches"])
        randoms = [state["random"], *state.get("others", [])]
        if self.team.rank < len(randoms):  # others go on from their seeds
            checkpoint.set_random_states(randoms[self.team.rank], self.device)
        self.history = [Row(*row) for row in state["history"]]
        self.saved = found.path
        return self.step

    def _found(self) -> checkpoint.Checkpoint | None:
        """The last checkpoint, the same in all processes."""
        if self.directory is None:
            return None
        self._require_one_folder(self.directory)
        found = checkpoint.latest(self.directory) if self.team.rank == 0 else None
        path = self.team.first(found and found.path)
        return checkpoint.load(path) if found is None and path else found

    def _require_one_folder(self, directory: Path | str) -> None:
        """Folders of one name on different machines must not pass for one."""
        first, *others = self.team.everyones(checkpoint.steps(directory))
        for rank, seen in enumerate(others, 1):
            if seen != first:
                raise ValueError(
                    f"checkpoint_dir must be one folder that all processes see, got "
                    f"{directory}, where process 0 sees checkpoints of the steps "
                    f"{first} and process {rank} of {seen}"
                )


@contextlib.contextmanager
def _claimed(team: Team, directory: Path | str | None) -> Iterator[None]:
    """Nobody else writes into the folder; the first process, which writes, sees to it.

    Where it can't, all processes raise its error, so that none waits for it.
    """
    problem: Exception | None = None
    with contextlib.ExitStack() as held:
        if directory is not None:
            try:
                if team.rank == 0:
                    held.enter_context(checkpoint.claimed(directory))
            except (ValueError, OSError) as error:
                problem = error
            problem = team.first(problem)
        if problem is not None:
            raise problem
        yield


def _identity(
    model: nn.Module,
    data: Windows | Documents,
    held_out: Windows | Documents | None,
    config: TrainConfig,
) -> dict[str, Any]:
    """What a checkpoint must share with a run that goes on from it."""
    settings = dataclasses.asdict(config)
    # How often to look doesn't change where the run goes.
    del settings["evaluate_every"], settings["checkpoint_every"]
    return {
        "config": settings,
        "model": _plain_config(model) | _plain_settings(model),
        "data": _fingerprint(data),
        "held_out": None if held_out is None else _fingerprint(held_out),
    }


def _fingerprint(data: Windows | Documents) -> str:
    return getattr(data, "fingerprint", type(data).__name__)


def _named(state: dict[str, Any]) -> dict[str, Any]:
    """An identity, or that of a checkpoint's state, as one value for each name."""
    named = {
        f"{kind}.{name}": value
        for kind in ("config", "model")
        for name, value in state[kind].items()
    }
    named["the text"] = state["data"]
    if "held_out" in state:
        named["the held-out text"] = state["held_out"]
    return named


def _plain_config(model: nn.Module) -> dict[str, bool | int | float | str | None]:
    """The options of a model that has a config, also those that no module keeps."""
    config: Any = getattr(model, "config", None)
    if not dataclasses.is_dataclass(config) or isinstance(config, type):
        return {}
    return {
        f"config.{name}": value
        for name, value in dataclasses.asdict(config).items()
        if value is None or type(value) in (bool, int, float, str)
    }


def _plain_settings(model: nn.Module) -> dict[str, bool | int | float | str]:
    """Sizes and options of all modules, also those that no weight's shape shows."""
    settings: dict[str, bool | int | float | str] = {}
    for path, module in model.named_modules():
        prefix = f"{path}." if path else ""
        settings[f"{prefix}class"] = type(module).__name__
        for name, value in vars(module).items():
            if type(value) in (bool, int, float, str) and name != "training":
                settings[f"{prefix}{name}"] = value
    return settings


def _require_same_run(found: checkpoint.Checkpoint, identity: dict[str, Any]) -> None:
    """The checkpoint is of this model, this config and these texts."""
    if missing := sorted({*identity, *SAVED} - {"held_out"} - found.state.keys()):
        raise checkpoint.CheckpointError(
            f"{found.path} is no checkpoint of a run: it lacks {', '.join(missing)}"
        )
    theirs, ours = _named(found.state), _named(identity)
    both = [name for name in ours if name in theirs]
    # An option that a checkpoint is too old to have was what is its default now.
    for prefix, kind in (("model.config", TransformerConfig), ("config", TrainConfig)):
        for field in dataclasses.fields(kind):
            name = f"{prefix}.{field.name}"
            if name in ours and field.default is not dataclasses.MISSING:
                theirs.setdefault(name, field.default)
    is_older = "held_out" not in found.state  # than some of the names
    names = both if is_older else [*theirs, *ours]
    if different := difference(theirs, ours, names):
        name, there, here = different
        raise checkpoint.CheckpointError(
            f"{found.path} is of another run: {name} is {there} there and {here} here; "
            "name another folder for checkpoints, or train as it was"
        )


def _loss(
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    device: torch.device,
    reduction: str = "mean",
) -> Tensor:
    """Cross-entropy in at least float32; targets of -100 are left out."""
    logits = model(inputs.to(device)).flatten(0, 1)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return F.cross_entropy(logits, targets.to(device).flatten(), reduction=reduction)


def _mean_loss(team: Team, data: Windows | Documents, batch_size: int = 64) -> float:
    """The mean over every character of a text, whose rows the processes share."""
    model, device = team.module, next(team.model.parameters()).device
    total, count = 0.0, 0
    with eval_mode(model), torch.no_grad():
        for batch in data.all(batch_size):
            inputs, targets = team.share(*batch)
            total += _loss(model, inputs, targets, device, reduction="sum").item()
            count += int((targets >= 0).sum())
    total, count = team.totals(total, count)
    return total / count


@contextlib.contextmanager
def _seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Random numbers of the run's own; those outside go on where they were."""
    found = checkpoint.random_states(device)
    seed_everything(seed % 2**32)
    try:
        yield
    finally:
        checkpoint.set_random_states(found, device)


def _require_fit(name: str, data: Windows | Documents, model: nn.Module) -> None:
    """The text's rows are no longer than the model reads, nor its ids larger."""
    if not hasattr(data, "context_length"):
        raise ValueError(
            f"{name} must be Windows or Documents, got {type(data).__name__}"
        )
    own: Any = model  # to PyTorch's hints, its attributes are tensors or modules
    if data.context_length > own.context_length:
        raise ValueError(
            f"{name} must have a context_length of at most the model's "
            f"{own.context_length}, got {data.context_length}"
        )
    vocab_size = getattr(model, "vocab_size", None)
    largest = getattr(data, "largest_id", 0)
    if vocab_size is not None and largest >= vocab_size:
        raise ValueError(
            f"{name} must hold ids below the model's vocab_size {vocab_size}, "
            f"got {largest}"
        )
