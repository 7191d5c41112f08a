"""Checkpoints that are there whole or not at all.

A checkpoint is a folder ``step-00000100`` with three files: the weights (safetensors),
the rest of a run's state (``torch.load`` with ``weights_only=True`` reads it, so that
no code hides in it), and a manifest with the format's version and each file's size and
SHA-256. It is written under another name, flushed to the disk and renamed. So a run
that is killed at any moment leaves the checkpoint before, whole, and at most a folder
whose name begins with a dot, which the next save removes.

While a run writes into a folder, it has locked the file ``.lock`` there. The system
takes the lock away when the process ends, however it ends; the file stays.
"""

import contextlib
import dataclasses
import hashlib
import io
import json
import os
import pathlib
import random
import re
import shutil
import sys
import warnings
from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np
import safetensors.torch
import torch
from torch import Tensor, nn

from helpers import validation

FORMAT = "attention-one-step checkpoint"
VERSION = 1
KEPT = 2
WEIGHTS, STATE, MANIFEST = "weights.safetensors", "state.pt", "manifest.json"
LOCK = ".lock"
# The byte that is locked: Windows lets nobody read one, and the process id is read.
LOCKED = 1 << 20


class CheckpointError(ValueError):
    """A checkpoint that can't be read, or that belongs to another model or run."""


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """What a checkpoint holds, on the CPU.

    Attributes:
        path: the folder it was read from.
        step: how many steps were trained.
        weights: tensors by name, tied ones under each of their names.
        state: the dictionary that was saved with them.
    """

    path: pathlib.Path
    step: int
    weights: dict[str, Tensor]
    state: dict[str, Any]


def save(
    directory: pathlib.Path | str,
    step: int,
    weights: Mapping[str, Tensor],
    state: Mapping[str, Any],
) -> pathlib.Path:
    """Write a checkpoint, all of it or nothing, and keep the one before it.

    Args:
        directory: the folder that holds a run's checkpoints; made where it is missing.
        step: how many steps were trained, at least 1.
        weights: tensors by name, on any device, such as ``model.state_dict()``. Tied
            tensors are written once.
        state: a dictionary of numbers, strings, lists, tuples, dictionaries and
            tensors. Older checkpoints than the two last, up to this step, are deleted.

    Returns:
        path: the folder that was written.

    Raises:
        ValueError: a step below 1.
        OSError: the disk is full, or the folder can't be written to.
    """
    validation.require_integers(step=step)
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    for leftover in (*directory.glob(".writing-*"), *directory.glob(".removed-*")):
        _delete(leftover)
    final = directory / f"step-{step:08d}"
    writing = directory / f".writing-{final.name}"
    writing.mkdir()
    try:
        _write_files(writing, step, weights, state)
        _remove(final)
        writing.rename(final)
    except BaseException:
        shutil.rmtree(writing, ignore_errors=True)
        raise
    _flush_folder(directory)
    earlier = [path for number, path in _found(directory) if number <= step]
    for path in earlier[:-KEPT]:
        _remove(path)
    return final


def load(path: pathlib.Path | str) -> Checkpoint:
    """Read one checkpoint and check it.

    Args:
        path: the folder of the checkpoint.

    Returns:
        checkpoint: a ``Checkpoint`` on the CPU, whatever device it was saved from.

    Raises:
        CheckpointError: a file that is missing, shorter than it was or changed, a
            folder that isn't a checkpoint, or one of another format version.
    """
    path = pathlib.Path(path)
    try:
        manifest = _read_manifest(path)
        contents = {
            name: _read_checked(path / name, **manifest["files"][name])
            for name in (WEIGHTS, STATE)
        }
        weights = safetensors.torch.load(contents[WEIGHTS])
        for name, same in manifest["tied"].items():
            weights[name] = weights[same]
        state = torch.load(
            io.BytesIO(contents[STATE]), map_location="cpu", weights_only=True
        )
        return Checkpoint(path, manifest["step"], weights, state)
    except CheckpointError:
        raise
    # Any other failure means the same: this isn't what ``save`` has written.
    except Exception as error:
        raise CheckpointError(f"{path} is no readable checkpoint: {error}") from error


def latest(directory: pathlib.Path | str) -> Checkpoint | None:
    """Read the newest checkpoint of a folder that is whole.

    Args:
        directory: the folder that holds a run's checkpoints.

    Returns:
        checkpoint: a ``Checkpoint``, or None where there is none yet.

    Raises:
        CheckpointError: there are checkpoints, but none that can be read.

    Warns:
        UserWarning: a newer one can't be read; the warning names it and says why.
    """
    directory = pathlib.Path(directory)
    _require_folder(directory)
    problems = []
    for _, path in reversed(_found(directory)):
        try:
            checkpoint = load(path)
        except CheckpointError as error:
            problems.append(str(error))
            continue
        if problems:
            why = "; ".join(problems)
            warnings.warn(f"{why}; {path} is used in its place", stacklevel=2)
        return checkpoint
    if problems:
        raise CheckpointError(
            f"{directory} holds no checkpoint that can be read: {'; '.join(problems)}; "
            "delete the folder to start again"
        )
    return None


def steps(directory: pathlib.Path | str) -> list[int]:
    """The steps of everything in a folder that is named like a checkpoint, in order."""
    return [step for step, _ in _found(pathlib.Path(directory))]


@contextlib.contextmanager
def claimed(directory: pathlib.Path | str) -> Iterator[None]:
    """While the block runs, no other run may claim the folder.

    Where the system or the folder's disk knows no locks, nothing is claimed.

    Args:
        directory: the folder that holds a run's checkpoints; made where it is missing.

    Raises:
        CheckpointError: it is no folder.
        ValueError: another run has claimed it; the message has its process id.
        OSError: the folder can't be written to.
    """
    directory = pathlib.Path(directory)
    _require_folder(directory)
    directory.mkdir(parents=True, exist_ok=True)
    # Opened without emptying it: it may be another run's.
    with open(directory / LOCK, "a+", encoding="utf-8") as file:
        if not _lock(file):
            file.seek(0)
            process = file.read().strip()
            by = f" (process {process})" if process else ""
            raise ValueError(
                "the folder for checkpoints must be one that no other run writes into, "
                f"got {directory}, which another run{by} writes into; wait for its "
                "end, or name another folder"
            )
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        try:
            yield
        finally:
            _unlock(file)


def load_weights(model: nn.Module, checkpoint: Checkpoint) -> None:
    """Copy a checkpoint's weights into a model, on the device where the model is.

    Args:
        model: an ``nn.Module``; it is changed.
        checkpoint: a ``Checkpoint``.

    Raises:
        CheckpointError: a weight that is missing, is unknown or has another shape. The
            model is then as it was.
    """
    theirs = {name: tuple(t.shape) for name, t in checkpoint.weights.items()}
    ours = {name: tuple(t.shape) for name, t in model.state_dict().items()}
    for name in (*ours, *theirs):
        if theirs.get(name) != ours.get(name):
            there, here = theirs.get(name, "missing"), ours.get(name, "missing")
            raise CheckpointError(
                f"{checkpoint.path} doesn't fit the model: {name} has shape {there} "
                f"in the checkpoint and {here} in the model"
            )
    model.load_state_dict(checkpoint.weights)


def random_states(device: torch.device) -> dict[str, Any]:
    """Where the random numbers of Python, NumPy and PyTorch stand.

    Args:
        device: a ``torch.device``; the state of its generator is part of the answer.

    Returns:
        states: a dictionary that ``save`` can write.
    """
    found: Any = np.random.get_state()  # a tuple; NumPy's hints say it may be a dict
    kind, keys, *rest = found
    states: dict[str, Any] = {
        "python": random.getstate(),
        "numpy": (kind, keys.tolist(), *rest),
        "cpu": torch.get_rng_state(),
    }
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    elif device.type == "mps":
        states["mps"] = torch.mps.get_rng_state()
    return states


def set_random_states(states: Mapping[str, Any], device: torch.device) -> None:
    """Put the random numbers back to where ``random_states`` found them.

    Args:
        states: from ``random_states``. A device's own state is left out where the
            states come from another kind of device.
        device: a ``torch.device``.
    """
    random.setstate(states["python"])
    kind, keys, *rest = states["numpy"]
    np.random.set_state((kind, np.array(keys, dtype=np.uint32), *rest))
    torch.set_rng_state(states["cpu"])
    if device.type == "cuda" and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"], device)
    elif device.type == "mps" and "mps" in states:
        torch.mps.set_rng_state(states["mps"])


def _require_folder(directory: pathlib.Path) -> None:
    if directory.exists() and not directory.is_dir():
        raise CheckpointError(f"{directory} must be a folder of checkpoints")


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[str]) -> bool:
        """Whether nobody else has locked the file; then this process has."""
        file.seek(LOCKED)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(file: IO[str]) -> None:
        file.seek(LOCKED)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(file: IO[str]) -> bool:
        """Whether nobody else has locked the file; then this process has."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # some network disks know no locks
            pass
        return True

    def _unlock(file: IO[str]) -> None:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)


def _found(directory: pathlib.Path) -> list[tuple[int, pathlib.Path]]:
    """Pairs of step and path of everything named like a checkpoint, oldest first."""
    named = ((re.fullmatch(r"step-(\d+)", p.name), p) for p in directory.glob("step-*"))
    return sorted((int(match[1]), path) for match, path in named if match)


def _write_files(
    folder: pathlib.Path,
    step: int,
    weights: Mapping[str, Tensor],
    state: Mapping[str, Any],
) -> None:
    unique, tied = _split_tied(weights)
    buffer = io.BytesIO()
    torch.save(state, buffer)
    contents = {WEIGHTS: safetensors.torch.save(unique), STATE: buffer.getvalue()}
    files = {
        name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in contents.items()
    }
    manifest = {"format": FORMAT, "version": VERSION, "step": step}
    manifest = json.dumps(manifest | {"files": files, "tied": tied}, indent=1)
    for name, content in (*contents.items(), (MANIFEST, manifest.encode())):
        try:
            with open(folder / name, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:  # where it failed, which a full disk leaves out
            why = f"can't write a checkpoint ({error.strerror})"
            raise OSError(error.errno, why, str(folder.parent)) from error
    _flush_folder(folder)


def _split_tied(
    weights: Mapping[str, Tensor],
) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors of their own, and for each further name of one the first name."""
    unique: dict[str, Tensor] = {}
    tied: dict[str, str] = {}
    first: dict[tuple[object, ...], str] = {}
    for name, tensor in weights.items():
        place = (tensor.device, tensor.data_ptr(), tensor.shape, tensor.stride())
        same = first.setdefault(place, name) if tensor.numel() else name
        if same != name:
            tied[name] = same
        else:
            unique[name] = tensor.detach().to("cpu", copy=True).contiguous()
    return unique, tied


def _read_manifest(path: pathlib.Path) -> dict[str, Any]:
    try:
        manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(
            f"{path} is no checkpoint: {MANIFEST} can't be read ({error})"
        ) from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise CheckpointError(f"{path} is no checkpoint of this book's format")
    if manifest.get("version") != VERSION:
        raise CheckpointError(
            f"{path} has format version {manifest.get('version')!r}, and only version "
            f"{VERSION} can be read here"
        )
    return manifest


def _read_checked(file: pathlib.Path, *, size: int, sha256: str) -> bytes:
    content = file.read_bytes()
    if len(content) != size:
        raise CheckpointError(
            f"{file.parent} is damaged: {file.name} must have {size} bytes, "
            f"got {len(content)}"
        )
    if hashlib.sha256(content).hexdigest() != sha256:
        raise CheckpointError(
            f"{file.parent} is damaged: {file.name} has another SHA-256 than was saved"
        )
    return content


def _flush_folder(folder: pathlib.Path) -> None:
    """Make the names in a folder last; only POSIX can open a folder for that."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _remove(path: pathlib.Path) -> None:
    """Take a checkpoint's name away before its files, so that no half of it shows."""
    if path.exists():
        _delete(path.rename(path.with_name(f".removed-{path.name}")))


def _delete(path: pathlib.Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
