"""Where a verdict's reason stands, and whether its check passes without that.

    python -m public_layers.mending 3

prints which checks then fail in the layers of verdict 3. The package itself stays as it
is: its file is read with the exchanged text, in a process of its own.
"""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import pathlib
import subprocess
import sys

import torch

from public_layers import LAYERS
from public_layers.auditing import audit, compiled_torchvision
from public_layers.verdicts import VERDICTS


class Mended(importlib.machinery.SourceFileLoader):
    """Loads a verdict's file with its pairs exchanged, and no compiled copy of it."""

    pairs = ()

    def path_stats(self, path):
        raise OSError("no compiled copy is asked for")

    def get_data(self, path):
        text = super().get_data(path).decode()
        for old, new in self.pairs:
            if old not in text:
                raise ValueError(f"{path} doesn't contain {old!r}")
            text = text.replace(old, new, 1)
        return text.encode()


class Finder:
    """Finds the module of one verdict, before Python does."""

    def __init__(self, verdict):
        self.name = verdict.source.removesuffix(".py").replace("/", ".")
        self.pairs = verdict.mended

    def find_spec(self, name, path, target=None):
        if name != self.name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        spec.loader = Mended(name, spec.origin)
        spec.loader.pairs = self.pairs
        return spec


def failing(verdict):
    """The checks that fail in a verdict's layers, with its file mended."""
    sys.meta_path.insert(0, Finder(verdict))
    compiled_torchvision()
    torch.set_num_threads(1)
    found = {}
    for layer in LAYERS:
        if layer.name in verdict.layers:
            with contextlib.redirect_stdout(io.StringIO()):  # no table
                found[layer.name] = list(audit(layer).failed)
    return found


def lines(verdict):
    """The numbers of the lines in which the verdict's words of its file stand."""
    package, _, rest = verdict.source.partition("/")
    (folder,) = importlib.util.find_spec(package).submodule_search_locations
    text = (pathlib.Path(folder) / rest).read_text(encoding="utf-8")
    parts = [*(old for old, _ in verdict.mended), *verdict.quoted]
    return sorted({text[: text.index(part)].count("\n") + 1 for part in parts})


def mend_all():
    """What ``failing`` finds for each verdict with a mended text; None for others."""
    found = []
    for number, verdict in enumerate(VERDICTS):
        command = [sys.executable, "-m", "public_layers.mending", str(number)]
        done = verdict.mended and subprocess.check_output(command, text=True)
        found.append(json.loads(done) if done else None)
    return found


if __name__ == "__main__":
    print(json.dumps(failing(VERDICTS[int(sys.argv[1])])))
