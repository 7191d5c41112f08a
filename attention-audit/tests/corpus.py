"""Attention layers, right and wrong, by hands who had never seen the audit.

Each module in ``layers`` stays as it was handed in. Its ``LAYERS`` are dicts: the
"layer" (a class, built without arguments), its "d_in" and "context_length", and what an
owner would have declared of it: as "options" of the audit, or in words, "declared",
beside "num_heads" and "dropout". A class's docstring begins with "right:" or "wrong:"
and says what it does.

``expected.jsonl`` beside them says which lines fail today, and why a right layer fails
or a wrong one passes. ``judged.json`` says on which sources all verdicts on a hand's
layers were the expected ones. In the book's repository, ``python -m tools.corpora``
writes both. ``HANDS`` says how each hand's layers did when the audit met them for the
first time. Then whoever mends the audit looked at what it had got wrong.
"""

import contextlib
import hashlib
import importlib.util
import io
import json
import pathlib
import re
import sys
from typing import Any, NamedTuple

import torch

import attention_audit

FOLDER = pathlib.Path(__file__).resolve().parent / "layers"
# Right ones that passed, of all; wrong ones that failed, of all: at first sight.
HANDS = {
    "x": ((20, 30), (45, 70)),
    "y": ((29, 30), (48, 50)),
    "q": ((21, 25), (90, 99)),
    "p": ((25, 25), (97, 99)),
    "s": ((31, 32), (99, 99)),
    "t": ((22, 24), (82, 84)),
    "r": ((25, 27), (95, 96)),
    "z": ((31, 32), (102, 104)),
    "v": ((37, 39), (162, 167)),
    "w": ((35, 38), (113, 120)),
    "u": ((34, 35), (114, 123)),
    "j": ((49, 49), (141, 147)),
    "k": ((46, 48), (166, 171)),
}


class Layer(NamedTuple):
    """A layer to audit, and what its author says of it."""

    hand: str
    entry: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.hand}-{self.entry['layer'].__name__}"

    @property
    def says(self) -> str:
        return " ".join(self.entry["layer"].__doc__.split())

    @property
    def right(self) -> bool:
        return self.says.startswith("right")

    def verdict(self) -> dict[str, Any]:
        """What the audit says, told what the author declares: the lines that fail."""
        torch.manual_seed(0)
        entry = self.entry
        options = entry["options"] if "options" in entry else options_of(entry)
        sizes = entry["d_in"], entry["context_length"]
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # tensors so small that a second one waits
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                found = attention_audit.audit(entry["layer"](), *sizes, **options)
        finally:
            torch.set_num_threads(threads)
        return {"accepted": found.ok, "fails": list(found.failed)}


def options_of(entry: dict[str, Any]) -> dict[str, Any]:
    """The audit's options for what was declared in words."""
    words = entry["declared"].lower()
    options: dict[str, Any] = {"num_heads": entry["num_heads"]}
    for kind in ("rotary", "alibi"):
        if kind in words:
            options["positions"] = kind
    if "positions" not in options and "position" in words:
        options["positions"] = True
    if window := re.search(r"window (?:of )?(\d+)", words):
        options["window"] = int(window[1])
    if grouped := re.search(r"(\d+) for keys and values", words):
        options["num_kv_heads"] = int(grouped[1])
    if "one head of keys" in words or "multi-query" in words:
        options["num_kv_heads"] = 1
    if entry["dropout"]:
        options["dropout"] = entry["dropout"]
    if re.search(r"(not divided|no divisor|not scaled|unscaled)", words):
        options["scale"] = 1.0
    return options


def handed_in(hand: str) -> list[dict[str, Any]]:
    """The layers of one hand, from a file that is no part of any package."""
    name = f"layers_by_{hand}"
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{hand}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.LAYERS


def expected() -> dict[str, dict[str, Any]]:
    """What is expected of each layer's verdict, and where that is wrong, why."""
    lines = (FOLDER / "expected.jsonl").read_text(encoding="utf-8").splitlines()
    return {entry.pop("id"): entry for entry in map(json.loads, lines)}


def sources(hand: str) -> list[pathlib.Path]:
    """The files on which the verdicts on a hand's layers depend."""
    package = pathlib.Path(attention_audit.__file__).parent
    return [FOLDER / f"{hand}.py", *package.rglob("*.py")]


def fingerprint(paths: list[pathlib.Path], entries: list[dict[str, Any]]) -> str:
    """What files hold, what is expected, and PyTorch's version, as 16 letters."""
    digest = hashlib.sha256(f"{torch.__version__} {json.dumps(entries)}".encode())
    named = [f"{path.name} {path.read_text(encoding='utf-8')}" for path in paths]
    for text in sorted(named):  # wherever they lie
        digest.update(text.encode())
    return digest.hexdigest()[:16]


def judged(folder: pathlib.Path) -> dict[str, str]:
    """Of each group of a corpus, the fingerprint at which all verdicts agreed."""
    path = folder / "judged.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write_judged(folder: pathlib.Path, fingerprints: dict[str, str]) -> None:
    """Write what ``judged`` reads."""
    text = json.dumps(fingerprints, indent=1)
    (folder / "judged.json").write_text(text + "\n", encoding="utf-8")


def one_of_each(members: list[Any], entries: dict[str, dict[str, Any]]) -> list[Any]:
    """The first member for each kind of entry."""
    first: dict[str, Any] = {}
    for member in members:
        entry = entries[str(member)]
        first.setdefault(json.dumps(entry | {"why": ""}), member)
    return [*first.values()]


LAYERS = [Layer(hand, entry) for hand in HANDS for entry in handed_in(hand)]
