"""The code runs no text, unpickles nothing, trusts no download: searched by syntax."""

import ast
import re

import pytest

from tests import ROOT
from tools import notebooks

FOLDERS = ("helpers", "experiments", "tools", "_ext", "tests")
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
CALLS = {
    **dict.fromkeys(("eval", "exec"), "runs a text"),
    **dict.fromkeys(("os.system", "os.popen", "os.startfile"), "a shell from a string"),
    **dict.fromkeys(
        ("subprocess.getoutput", "subprocess.getstatusoutput"), "a shell from a string"
    ),
    **dict.fromkeys(("yaml.unsafe_load", "yaml.full_load"), "YAML that runs code"),
    **dict.fromkeys(
        ("torch.hub.load", "torch.hub.load_state_dict_from_url"), "download"
    ),
    **dict.fromkeys(("urllib.request.urlopen", "urlopen"), "download"),
    **dict.fromkeys(("urllib.request.urlretrieve", "urlretrieve"), "download"),
    **dict.fromkeys(("requests.get", "httpx.get"), "download"),
}
SUBPROCESS = {"run", "Popen", "call", "check_call", "check_output"}
YAML_LOADERS = {"yaml.SafeLoader", "yaml.CSafeLoader"}
# Where one of these is right, and why.
ALLOWED = {
    ("helpers/text/corpus.py", "download"): "size and SHA-256 are checked before it is kept",
    ("tests/unit/test_attention_modules.py", "pickle"): "pickles a module of its own",
    ("tests/unit/test_language_model.py", "pickle"): "pickles a model of its own",
    ("tests/unit/test_checkpoint.py", "pickle"): "names the error of a file that is refused",
    ("chapters/bug_museum.ipynb", "runs a text"): "an exhibit runs cells out of order",
    ("tests/book/test_bug_museum.py", "runs a text"): "runs the museum's own cells",
}
SCRIPT = re.compile(
    r"\beval\(|new Function|document\.write|(?:inner|outer)HTML|insertAdjacentHTML"
    r"|\bfetch\(|XMLHttpRequest|WebSocket|\bimport\("
)


def findings(source):
    """What a module does that it must not, as pairs of line and problem."""
    nodes = list(ast.walk(ast.parse(source)))
    full = {
        alias.asname or alias.name: f"{module}{alias.name}"
        for node in nodes
        for module, names in _imported(node)
        for alias in names
    }
    for node in nodes:
        for problem in _problems(node, full):
            yield node.lineno, problem


def _imported(node):
    """The module and the names of an import."""
    if isinstance(node, ast.ImportFrom):
        yield f"{node.module}.", node.names
    elif isinstance(node, ast.Import):
        yield "", node.names


def _problems(node, full):
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        if MODULES & {name.partition(".")[0] for name in names}:
            yield "pickle"
    if not isinstance(node, ast.Call):
        return
    first, dot, rest = ast.unparse(node.func).partition(".")
    name = full.get(first, first) + dot + rest
    options = {each.arg: ast.unparse(each.value) for each in node.keywords}
    if name in CALLS:
        yield CALLS[name]
    if name == "torch.load" and options.get("weights_only") != "True":
        yield "torch.load without weights_only=True"
    if options.get("allow_pickle", "False") != "False":
        yield "pickle"
    if options.get("shell", "False") != "False":
        yield "a shell from a string"
    module, _, function = name.rpartition(".")
    command = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "args")]
    if module == "subprocess" and function in SUBPROCESS and _is_text(*command):
        yield "a command as one string"
    loader = [*map(ast.unparse, node.args[1:]), options.get("Loader")]
    if name in ("yaml.load", "yaml.load_all") and not YAML_LOADERS & set(loader):
        yield "YAML that runs code"


def _is_text(node):
    """Whether an expression is a string, as far as its syntax tells."""
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.Constant | ast.JoinedStr)


def sources():
    """All Python of the book, as pairs of name and text; notebooks cell by cell."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            yield name, path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "chapters").glob("*.ipynb")):
        for cell in notebooks.read(path).cells:
            if cell.cell_type == "code":
                yield f"chapters/{path.name}", cell.source


def test_nothing_runs_text_unpickles_or_trusts_a_download():
    found, used = [], set()
    for name, source in sources():
        for line, problem in findings(source):
            if (name, problem) in ALLOWED:
                used.add((name, problem))
            else:
                found.append(f"{name}:{line}: {problem}")
    assert found == []
    assert used == set(ALLOWED), "an exception that nothing needs any more"


@pytest.mark.parametrize("path", sorted((ROOT / "helpers/views").glob("*.js")))
def test_no_script_of_a_view_runs_text_or_asks_a_network(path):
    assert SCRIPT.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("eval(text)", "runs a text"),
        ("exec(cell.source, names)", "runs a text"),
        ("import numpy, pickle", "pickle"),
        ("from joblib import load", "pickle"),
        ("numpy.load(path, allow_pickle=True)", "pickle"),
        ("torch.load(path)", "torch.load without weights_only=True"),
        (
            "torch.load(path, weights_only=False)",
            "torch.load without weights_only=True",
        ),
        ("os.system('ls ' + name)", "a shell from a string"),
        ("subprocess.run(['ls'], shell=True)", "a shell from a string"),
        ("subprocess.run(f'ls {name}')", "a command as one string"),
        ("subprocess.Popen('ls ' + name)", "a command as one string"),
        ("subprocess.check_output('ls')", "a command as one string"),
        ("subprocess.run(args='ls')", "a command as one string"),
        ("yaml.load(text)", "YAML that runs code"),
        ("yaml.load(text, Loader=yaml.Loader)", "YAML that runs code"),
        ("urllib.request.urlopen(address)", "download"),
        ("urllib.request.urlretrieve(address, path)", "download"),
    ],
)
def test_what_is_dangerous_is_named(source, problem):
    assert list(findings(f"x = 1\n{source}")) == [(2, problem)]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (
            "from torch import load as fetch\nfetch(path)",
            "torch.load without weights_only=True",
        ),
        ("from os import system\nsystem('ls')", "a shell from a string"),
        ("import subprocess as s\ns.run('ls')", "a command as one string"),
        ("from urllib.request import urlopen\nurlopen(address)", "download"),
    ],
)
def test_what_is_dangerous_is_named_under_another_name(source, problem):
    assert list(findings(source)) == [(2, problem)]


@pytest.mark.parametrize(
    "source",
    [
        "model.eval()",
        "torch.load(path, weights_only=True)",
        "subprocess.run([sys.executable, path])",
        "yaml.load(text, Loader=yaml.SafeLoader)",
        "yaml.load(text, yaml.SafeLoader)",
        "safetensors.torch.load(content)",
    ],
)
def test_what_is_safe_passes(source):
    assert list(findings(source)) == []
