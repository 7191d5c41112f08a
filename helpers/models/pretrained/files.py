"""Where the files of a pretrained model lie, and how they get there.

They are kept in the folder ``pretrained`` of the book's cache folder. What comes from a
package index or the Hugging Face hub is compared with a known SHA-256 before it is
kept.
"""

import contextlib
import hashlib
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping

import huggingface_hub
from tqdm.auto import tqdm

from helpers.models.pretrained.catalogue import CARDS, Card, File
from helpers.text.corpus import cache_folder
from helpers.whole_files import write_whole

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
        content = path.read_bytes()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise ModelUnavailable(
            f"can't read {path} ({error.strerror}); make it readable, or set BOOK_DATA "
            "to another folder"
        ) from error
    wrong = _difference(file, content)
    if wrong:
        raise ValueError(
            f"{path} isn't the expected file: {wrong}; remove it to have it fetched "
            "again"
        )
    return True


def _difference(file: File, content: bytes) -> str:
    """In words, how the content differs from what is expected; "" where it doesn't."""
    if len(content) != file.size:
        return f"it must hold {file.size:,} bytes, got {len(content):,}"
    found = hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        return f"its SHA-256 must be {file.sha256}, got {found}"
    return ""


def _fetch(card: Card, missing: list[File], folder: pathlib.Path) -> None:
    """From the first source that has the files; what each of them said, if none has."""
    said: list[str] = []
    ways: Mapping[str, Callable[[Card, list[File]], list[bytes]]] = {
        "installed": _from_installed,
        "pip": _from_index,
        "the Hugging Face hub": _from_hub,
    }
    for name, way in ways.items():
        try:
            contents = _expected(missing, way(card, missing))
        except _NotInstalled:
            continue
        except Exception as error:  # whatever is wrong there, the next may have them
            line = str(error).strip().split("\n")[0]
            said.append(f"{name}: {line or type(error).__name__}")
        else:
            for file, content in zip(missing, contents, strict=True):
                _write(folder / file.name, content)
            return
    size = sum(file.size for file in missing)
    raise ModelUnavailable(
        f"can't fetch {card.name}, {size / 1e6:.0f} MB ({'; '.join(said)}). With a "
        f'network, try again, or run: pip install --no-deps "{card.wheel}"'
    )


class _NotInstalled(Exception):
    """Nobody has installed the wheel, which needs no words."""


def _expected(missing: list[File], contents: list[bytes]) -> list[bytes]:
    for file, content in zip(missing, contents, strict=True):
        wrong = _difference(file, content)
        if wrong:
            raise ValueError(f"{file.name} is damaged or another file: {wrong}")
    return contents


def _write(path: pathlib.Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content, by_many=True)
    except OSError as error:
        raise ModelUnavailable(
            f"can't write {path} ({error.strerror or error}); free {len(content):,} "
            "bytes there, or set BOOK_DATA to a folder that you may write to"
        ) from error


def _from_installed(card: Card, missing: list[File]) -> list[bytes]:
    """Out of the wheel, where a reader has installed it."""
    paths = []
    for file in missing:
        package, _, rest = file.wheel.partition("/")
        spec = importlib.util.find_spec(package)
        places = (spec.submodule_search_locations if spec else None) or []
        found = [pathlib.Path(place, rest) for place in places]
        paths += [path for path in found if path.is_file()][:1]
    if len(paths) < len(missing):
        raise _NotInstalled
    return [path.read_bytes() for path in paths]


def _from_index(card: Card, missing: list[File]) -> list[bytes]:
    """By pip, which knows this machine's package index."""
    with tempfile.TemporaryDirectory() as temporary:
        _download_wheel(card, temporary)
        wheels = list(pathlib.Path(temporary).glob("*.whl"))
        if len(wheels) != 1:
            raise OSError(f"it brought {len(wheels)} wheels of {card.wheel}")
        try:
            with zipfile.ZipFile(wheels[0]) as wheel:
                return [wheel.read(file.wheel) for file in missing]
        except Exception as error:  # zipfile's and zlib's have no common class
            raise OSError(f"the wheel is damaged or another one: {error}") from error


def _download_wheel(card: Card, folder: str) -> None:
    if not sys.executable:
        raise OSError("this Python has none")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    version = subprocess.run([*pip, "--version"], capture_output=True, text=True)
    found = re.match(r"pip (\d+)\.(\d+)", version.stdout)
    if not found:
        raise OSError("this Python has none")
    progress = "raw" if tuple(map(int, found.groups())) >= RAW_PROGRESS else "off"
    command = [*pip, "download", str(card.wheel), "--dest", folder, "--no-deps"]
    command += ["--only-binary", ":all:", "--no-cache-dir", "--progress-bar", progress]
    with _progress(card) as show:
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
        raise OSError((errors or lines or ["it failed"])[-1])


@contextlib.contextmanager
def _progress(card: Card) -> Iterator[Callable[[int, int], None]]:
    with tqdm(desc=card.name, unit="B", unit_scale=True, leave=False) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield show


def _from_hub(card: Card, missing: list[File]) -> list[bytes]:
    """By the hub's own library, which shows how far it is and resumes."""
    repository, revision = card.hub or ("", "")
    with tempfile.TemporaryDirectory() as temporary:
        paths = [
            huggingface_hub.hf_hub_download(
                repository, file.hub, revision=revision, local_dir=temporary
            )
            for file in missing
        ]
        return [pathlib.Path(path).read_bytes() for path in paths]
