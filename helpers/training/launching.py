"""The processes that torchrun starts: how they meet, and how they end.

A process that torchrun hasn't started is alone: it meets nobody, and only signals
matter to it.
"""

import contextlib
import datetime
import os
import signal
import time
from collections.abc import Iterator
from typing import NoReturn

import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

from helpers.notebook.device import choose_device

# How long to wait for the others to start; PyTorch tries twice.
MEETING = datetime.timedelta(minutes=5)
# Seconds for torchrun to see that a process has ended, and to end the others: more than
# its --monitor-interval of 0.1.
NOTICE = 5


class Stopped(BaseException):
    """The process shall end; its arguments say why, and with which status."""


class Group:
    """This process and those that torchrun has started beside it, if it has.

    Attributes:
        launched: whether torchrun has started this process.
    """

    def __init__(self) -> None:
        self.launched = dist.is_torchelastic_launched()
        self._launcher = os.getppid()
        self._store: Store | None = None

    @contextlib.contextmanager
    def meet(self, device: str | None) -> Iterator[torch.device]:
        """Wait for the others, and leave them where all goes well.

        All attempts of torchrun share a store, in which a new one would read the
        addresses of the one before. Its number tells them apart on one machine; on
        several each counts the failures of its own.

        Args:
            device: "cpu", "cuda" or "mps"; the fastest one where left out.

        Returns:
            device: a context manager that yields the ``torch.device`` of this process.

        Raises:
            ValueError: a device that isn't here.
            RuntimeError: PyTorch's, where the processes don't meet.
        """
        found = choose_device(device, source="the --device name")
        if not self.launched:
            yield found
            return
        if found.type == "cuda":
            found = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
            torch.cuda.set_device(found)
        elif found.type == "mps":  # which no processes can share
            found = torch.device("cpu")
        store, rank, size = next(iter(rendezvous("env://", timeout=MEETING)))
        if os.environ.get("GROUP_WORLD_SIZE", "1") == "1":
            attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
            store = PrefixStore(f"attempt {attempt}", store)
        self._store = store
        backend = "nccl" if found.type == "cuda" else "gloo"
        dist.init_process_group(backend, store=store, rank=rank, world_size=size)
        yield found
        dist.destroy_process_group()

    def require_launcher(self) -> None:
        """torchrun ends its processes; without it they would go on for hours, unseen.

        Raises:
            Stopped: it has ended.
        """
        if self.launched and os.getppid() != self._launcher:
            raise Stopped("stopped, as torchrun has ended", 1)

    @contextlib.contextmanager
    def noticing(self) -> Iterator[None]:
        """Let torchrun's SIGTERM come before the error of a lost connection.

        Raises:
            Stopped: in place of a RuntimeError that another process's end has caused.
        """
        try:
            yield
        except RuntimeError:
            if self.launched:
                time.sleep(NOTICE)
            raise

    def is_first_to_end(self) -> bool:
        """Whether no other process has asked this: what all meet is said once."""
        if self._store is None:
            return os.environ.get("LOCAL_RANK", "0") == "0"
        try:
            attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
            return self._store.add(f"ended {attempt}", 1) == 1
        except RuntimeError:  # torchrun has ended, and the store with it
            return os.environ.get("RANK", "0") == "0"


@contextlib.contextmanager
def signals() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM raise ``Stopped``, and put back what they did before."""
    before = {
        number: signal.signal(number, _stop)
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, _: object) -> NoReturn:
    for other in (signal.SIGINT, signal.SIGTERM):  # a second one cuts nothing off
        signal.signal(other, signal.SIG_IGN)
    why = f"stopped by {signal.Signals(number).name}"
    if number == signal.SIGTERM and dist.is_torchelastic_launched():
        why += ", which torchrun sends when another process has ended"
    raise Stopped(why, 128 + number)  # as a shell says of it
