"""Run a function in several processes that can talk to each other.

Each process has a rank, from 0 to N - 1, and is a member of one process group of
``torch.distributed``, through which all of them exchange tensors.
"""

import contextlib
import dataclasses
import multiprocessing
import os
import pickle
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

import torch
import torch.distributed as dist

from helpers import validation

BACKENDS = ("auto", "gloo", "nccl")
# What a server imports once, so that each process that it forks has it at once.
PRELOADED = (
    "torch.distributed.tensor.parallel",
    "torch.distributed.fsdp",
    "helpers.parallel.processes",
    "helpers.models.language_model",
)
LOOPBACKS = ("lo", "lo0")  # its name on Linux, and on macOS
GRACE = 1.0  # seconds in which the others may still say what they died of
Result = TypeVar("Result")


class WorkerError(RuntimeError):
    """A process that raised, or that ended before its function did."""


@dataclasses.dataclass(frozen=True)
class _Group:
    """What a process needs to become a member of the group."""

    processes: int
    backend: str
    timeout: float
    meeting_place: str


@dataclasses.dataclass(frozen=True)
class _Failure:
    """What a process died of, and when."""

    rank: int
    when: float
    why: str
    killed: bool = False


@dataclasses.dataclass(frozen=True)
class _Worker:
    """A process, and where its answer comes out."""

    rank: int
    process: BaseProcess
    answers: Connection


def run(
    function: Callable[..., Result],
    processes: int,
    *args: object,
    backend: str = "auto",
    timeout: float = 60.0,
) -> list[Result]:
    """Run ``function(*args)`` in several processes at once.

    Each process is a member of one group: inside the function,
    ``torch.distributed.get_rank()`` says which one it is. Each computes with one
    thread. What a process prints goes to the terminal, also from a notebook: return
    what a cell is to show. All processes end with the call, however it ends.

    Args:
        function: it stands in a module, that is, in a file.
        processes: N, how many.
        args: the function's, the same for every process; what ``pickle`` can copy.
        backend: what carries the tensors. "gloo" runs on every machine, "nccl" needs a
            CUDA device for each process. "auto" takes "nccl" where there are as many
            devices, and "gloo" elsewhere.
        timeout: the seconds that the call, or one exchange in it, may take.

    Returns:
        results: what each process returned, in the order of their ranks.

    Raises:
        ValueError: a function of a notebook or a script, or one within another
            function; arguments that can't be copied; a number or a backend out of
            range.
        WorkerError: a process that raised an error, that was killed, or whose result
            can't be copied; the message names its rank.
        TimeoutError: processes that were still busy; the message names their ranks.
        RuntimeError: this PyTorch was built without ``torch.distributed``.
    """
    validation.require_integers(processes=processes)
    if not timeout > 0:
        raise ValueError(f"timeout must be above 0 seconds, got {timeout!r}")
    backend = _choose_backend(backend, processes)
    task = _as_bytes(function, args)
    # Processes meet in a file, which takes neither a port nor the machine's name.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = os.path.join(folder, "meeting-place")
        group = _Group(processes, backend, timeout, place)
        with _started(group, task) as workers:
            return _collect(workers, timeout)


def _choose_backend(backend: str, processes: int) -> str:
    if not dist.is_available():
        raise RuntimeError(
            f"PyTorch {torch.__version__} was built without torch.distributed on this "
            "machine, so that its processes can't exchange tensors"
        )
    if backend not in BACKENDS:
        raise ValueError(
            f"backend must be one of {', '.join(BACKENDS)}, got {backend!r}"
        )
    devices = torch.cuda.device_count() if dist.is_nccl_available() else 0
    if backend == "nccl" and devices < processes:
        raise ValueError(
            f"backend 'nccl' needs a CUDA device for each of {processes} processes, "
            f"got {devices}"
        )
    return ("nccl" if devices >= processes else "gloo") if backend == "auto" else backend


def _as_bytes(function: Callable[..., object], args: tuple[object, ...]) -> bytes:
    """Function and arguments as another process can read them."""
    name = getattr(function, "__qualname__", repr(function))
    if getattr(function, "__module__", None) == "__main__" or "<" in name:
        raise ValueError(
            f"function must stand in a file that other processes can import, got "
            f"{name} of this notebook, script or function; put it into a file, in a "
            "notebook with %%writefile my_workers.py, and import it from there, or "
            "take a function of helpers"
        )
    try:
        with _main_hidden():
            return pickle.dumps((function, args))
    except Exception as error:  # each type raises its own
        raise ValueError(
            f"function and args must be such as pickle can copy: {error}"
        ) from error


@contextlib.contextmanager
def _main_hidden() -> Iterator[None]:
    """Keep new processes from running the caller's script once more."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextlib.contextmanager
def _started(group: _Group, task: bytes) -> Iterator[list[_Worker]]:
    """The processes at work; they are ended when the ``with`` block is left."""
    # Forking this process would copy its threads' locks. A server has none; but on
    # macOS, the system's own libraries don't survive that either.
    linux = sys.platform == "linux"
    context: Any = multiprocessing.get_context("forkserver" if linux else "spawn")
    if linux:
        context.set_forkserver_preload(list(PRELOADED))
    workers: list[_Worker] = []
    try:
        for rank in range(group.processes):
            answers, answer = context.Pipe(duplex=False)
            process = context.Process(
                target=_work,
                args=(rank, group, task, dict(os.environ), answer),
                daemon=True,
            )
            with _main_hidden():
                process.start()
            workers.append(_Worker(rank, process, answers))
            answer.close()  # the worker's is then the only one, and closes with it
        yield workers
    finally:
        for worker in workers:
            worker.process.kill()
        for worker in workers:
            worker.process.join()
            worker.answers.close()


def _collect(workers: Sequence[_Worker], timeout: float) -> list[Any]:
    """All results in the order of ranks, or one error for the first failure."""
    waiting = {worker.answers: worker for worker in workers}
    results: dict[int, Any] = {}
    failures: list[_Failure] = []
    deadline = time.monotonic() + timeout
    while waiting:
        ready = wait(list(waiting), max(0.0, deadline - time.monotonic()))
        if not ready:
            break
        for one in ready:
            worker = waiting.pop(one)  # type: ignore[call-overload]
            result = _receive(worker)
            if isinstance(result, _Failure):
                failures.append(result)
                deadline = min(deadline, time.monotonic() + GRACE)
            else:
                (results[worker.rank],) = result
    if failures:
        # Where one ends, the others fail for its sake: the first is the cause.
        cause = min(failures, key=lambda failure: (not failure.killed, failure.when))
        raise WorkerError(f"rank {cause.rank} of {len(workers)} {cause.why}")
    if waiting:
        busy = ", ".join(str(worker.rank) for worker in waiting.values())
        raise TimeoutError(f"after {timeout:g} seconds, these ranks were busy: {busy}")
    return [results[worker.rank] for worker in workers]


def _receive(worker: _Worker) -> tuple[Any] | _Failure:
    """What a process has answered; its end is an answer, too."""
    try:
        # It comes from a process that was started here, so its pickle is our own.
        answer: tuple[Any] | _Failure = pickle.loads(  # noqa: S301
            worker.answers.recv_bytes()
        )
        return answer
    except EOFError:
        worker.process.join()
        code = worker.process.exitcode or 0
        if code < 0:
            why = f"was killed by {signal.Signals(-code).name}"
        else:
            why = f"ended without a result, with exit code {code}"
        return _Failure(worker.rank, time.monotonic(), why, killed=True)


def _work(
    rank: int, group: _Group, task: bytes, environment: dict[str, str], answer: Any
) -> None:
    """What each process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller's call ends it
    threading.Thread(target=_end_with_the_caller, daemon=True).start()
    os.environ.clear()  # a server's may be older than the caller's
    os.environ.update(environment)
    torch.set_num_threads(1)
    try:
        function, args = pickle.loads(task)  # noqa: S301 - made by the caller
        with _member(rank, group):
            result = function(*args)
            dist.barrier()  # nobody leaves while another still waits for it
        content = pickle.dumps((result,))
    except BaseException as error:
        first = f"raised {type(error).__name__}: {error}"
        why = f"{first}\n\n{traceback.format_exc()}"
        content = pickle.dumps(_Failure(rank, time.monotonic(), why))
    answer.send_bytes(content)


def _end_with_the_caller() -> None:
    """Where the caller is killed, nobody else would end its processes."""
    caller = multiprocessing.parent_process()
    if caller is not None:
        caller.join()
        os._exit(1)


@contextlib.contextmanager
def _member(rank: int, group: _Group) -> Iterator[None]:
    """Inside the ``with`` block, this process is a member of the group."""
    device = None
    if group.backend == "nccl":
        device = torch.device("cuda", rank)
        torch.cuda.set_device(device)
    elif loopback := set(LOOPBACKS) & {name for _, name in socket.if_nameindex()}:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", loopback.pop())
    dist.init_process_group(
        group.backend,
        store=dist.FileStore(group.meeting_place, group.processes),
        rank=rank,
        world_size=group.processes,
        timeout=timedelta(seconds=group.timeout),
        device_id=device,
    )
    yield
    dist.destroy_process_group()
