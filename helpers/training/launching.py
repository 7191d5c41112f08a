"""Processes that torchrun starts: how they meet, notice an end, and say what is kept.

Where torchrun hasn't started this process, it is alone, and all of this does nothing
but turn signals into an exception.
"""

import contextlib
import dataclasses
import datetime
import os
import pathlib
import signal
import socket
import threading
import warnings
from collections.abc import Iterator
from typing import NoReturn

import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import PrefixStore
from torch.distributed.rendezvous import rendezvous

from helpers.notebook.device import choose_device
from helpers.training import checkpoint

# What a shell says of a program that a signal has ended.
ENDED = {"SIGINT": 130, "SIGTERM": 143}
# How long to wait for the others to start; PyTorch tries twice.
MEETING = datetime.timedelta(minutes=5)


class Stopped(BaseException):
    """Somebody wants the process to end; the name is the signal's."""


class NobodyThereError(RuntimeError):
    """Another process of the run has ended, or was never met."""


class Launcher:
    """torchrun, where it has started this process.

    Attributes:
        is_there: whether it has started this process.
    """

    def __init__(self) -> None:
        self.is_there = "TORCHELASTIC_RUN_ID" in os.environ
        self._process = os.getppid()

    def has_ended(self) -> bool:
        """Whether it was there and is no more, so that nobody ends its workers."""
        return self.is_there and os.getppid() != self._process

    def first_to(self, do: str) -> bool:
        """Whether no other process has asked for this yet.

        Without a store to ask in, before the processes have met and where the launcher
        has ended, it is the machine's first.
        """
        if not self.is_there:
            return True
        if self.has_ended() or not dist.is_initialized():
            return os.environ.get("LOCAL_RANK", "0") == "0"
        try:
            first: bool = dist.distributed_c10d._get_default_store().add(do, 1) == 1
            return first
        except RuntimeError:  # it has ended this very moment
            return True


@dataclasses.dataclass
class Kept:
    """What is left of a run that ends early; ``str`` says it.

    Only a checkpoint of this run is promised to be gone on from: another run's may lie
    in the folder, until ``train`` has refused it.

    Args:
        folder: that of --checkpoints.
        before: the step of the checkpoint that was there before, 0 for none, None where
            nobody has looked.
        has_begun: whether a step was trained, as far as this process is told.
    """

    folder: pathlib.Path | None
    before: int | None = None
    has_begun: bool = False

    def look(self) -> checkpoint.Checkpoint | None:
        """The checkpoint that ``train`` will find."""
        found = self._latest()
        self.before = found.step if found else 0
        return found

    def __str__(self) -> str:
        try:
            found = self._latest()
        except Exception:  # whatever it is, the process is about to end for another
            return f"and {self.folder} has no checkpoint that can be read"
        if not found:
            hint = "" if self.folder else "; --checkpoints FOLDER keeps some"
            return f"and no checkpoint was written yet{hint}"
        wrote = self.before is not None and found.step > self.before
        if not wrote and not self.has_begun:
            name = found.path.name
            return f"and wrote no checkpoint; the newest in {self.folder} is {name}"
        return (
            f"and {found.path} has everything up to step {found.step:,}: the same "
            "command, with any number of processes, goes on from there"
        )

    def _latest(self) -> checkpoint.Checkpoint | None:
        if not self.folder:
            return None
        with warnings.catch_warnings():  # train warns of damaged ones
            warnings.simplefilter("ignore")
            return checkpoint.latest(self.folder)


@contextlib.contextmanager
def processes(device: str | None, launcher: Launcher) -> Iterator[torch.device]:
    """Meet the other processes, where torchrun has started some.

    Args:
        device: "cpu", "cuda" or "mps"; the fastest one where left out.
        launcher: the ``Launcher``. Where it ends, this process gets a SIGTERM.

    Returns:
        device: a context manager that yields the ``torch.device`` of this process.

    Raises:
        ValueError: a device that isn't here, or more processes than this machine has
            GPUs.
        NobodyThereError: the processes don't find each other.
    """
    found = choose_device(device, source="the --device name")
    if not launcher.is_there:
        yield found
        return
    found = _own(found)
    with _watched(launcher):
        _meet("nccl" if found.type == "cuda" else "gloo")
        yield found
        # Not after an error: the others shall learn of it from the launcher.
        dist.destroy_process_group()


def _own(device: torch.device) -> torch.device:
    """The device that this process doesn't share with another."""
    if device.type == "mps":  # which no processes can share
        return torch.device("cpu")
    if device.type != "cuda":
        return device
    if device.index is not None:
        raise ValueError(
            "the --device name must be cuda under torchrun, where each process has a "
            f"GPU of its own, got {str(device)!r}"
        )
    here, there = int(os.environ["LOCAL_WORLD_SIZE"]), torch.cuda.device_count()
    if here > there:
        raise ValueError(
            f"--nproc-per-node must be at most the number of GPUs, {there}, got {here}"
        )
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    return device


def _meet(backend: str) -> None:
    """Find the other processes of this attempt.

    All attempts of torchrun share its store, so that a new one would read the addresses
    of the one before. Its number tells them apart on one machine; on several each
    counts the failures of its own.
    """
    _require_launcher()
    try:
        store, rank, size = next(iter(rendezvous("env://", timeout=MEETING)))
        if os.environ.get("GROUP_WORLD_SIZE", "1") == "1":
            attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
            store = PrefixStore(f"attempt {attempt}", store)
        dist.init_process_group(backend, store=store, rank=rank, world_size=size)
    except RuntimeError as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise NobodyThereError(f"the processes didn't meet ({why})") from error


def _require_launcher() -> None:
    """torchrun's store listens before there is a worker; waiting for it takes long.

    A launcher that is killed while its workers import PyTorch is nobody's parent by the
    time they could know.
    """
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True":
        return
    try:
        address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
        socket.create_connection(address, timeout=30).close()
    except OSError as error:
        raise NobodyThereError(
            "the processes didn't meet: torchrun has ended"
        ) from error


@contextlib.contextmanager
def _watched(launcher: Launcher) -> Iterator[None]:
    """A process whose launcher was killed would go on for hours, unseen."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(1):
            if launcher.has_ended():
                os.kill(os.getpid(), signal.SIGTERM)
                return

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        done.set()


@contextlib.contextmanager
def noticing(several: bool) -> Iterator[None]:
    """Tell an error of the connection to another process from all others.

    Args:
        several: whether there are other processes.

    Raises:
        NobodyThereError: in place of an error of the connection.
    """
    try:
        yield
    except RuntimeError as error:
        lost = isinstance(error, dist.DistError) or "gloo" in str(error).lower()
        if several and lost:
            raise NobodyThereError("another process has ended") from error
        raise


@contextlib.contextmanager
def signals() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM raise ``Stopped``, and put back what they did before."""
    numbers = [signal.Signals[name] for name in ENDED]
    before = {number: signal.signal(number, _stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ignore_signals() -> None:
    """The process ends already, and has something to say before."""
    for name in ENDED:
        signal.signal(signal.Signals[name], signal.SIG_IGN)


def _stop(number: int, _: object) -> NoReturn:
    ignore_signals()  # or a second one would cut off what is said of the first
    raise Stopped(signal.Signals(number).name)
