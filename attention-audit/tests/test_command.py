"""The command ``attention-audit``: what it finds, says, and answers with."""

import importlib
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable, Collection
from typing import Literal

import pytest
import torch
from torch import nn

import attention_audit
from attention_audit import Audit, Row, command, loading, options

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS = '''
"""Layers to audit."""
import math
from torch import nn

class Mine(nn.Module):
    def __init__(self, d_in, d_out, *, divisor=None, kind="plain", masked=True):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        self.divisor = divisor or math.sqrt(d_out)
        self.kind, self.masked = kind, masked

    def forward(self, x):
        scores = self.W_query(x) @ self.W_key(x).mT / self.divisor
        future = scores.new_ones(scores.shape[-2:]).triu(1).bool() & self.masked
        return scores.masked_fill(future, -math.inf).softmax(-1) @ self.W_value(x)

class Nested:
    class Inner(Mine):
        pass

def small(d_out=3):
    return Mine(4, d_out)

def broken():
    return [][3]

def loop():
    raise SystemExit("no\\n  way")

def negative():
    return nn.Linear(-3, 2)

layer = small()
number = 7
text = lambda: "text"
'''
# Right, but that one token takes very long.
SLOW = """
import time
from layers import Mine

class Slow(Mine):
    def __init__(self):
        super().__init__(4, 3)

    def forward(self, x):
        while x.shape[1] == 1:
            time.sleep(0.001)
        return super().forward(x)
"""
SIZES = ["--d-in", "4", "--context-length", "5"]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project's folder, the current one, with layers; its modules are forgotten."""
    (tmp_path / "layers.py").write_text(LAYERS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def told(monkeypatch):
    """What an audit with all kinds of options is called with; it finds nothing."""
    calls = []

    def audit(
        module: nn.Module,
        d_in: int,
        context_length: int,
        *,
        causal: bool = True,
        window: int | None = None,
        positions: bool | Literal["rotary", "alibi"] = False,
        scale: float | None = None,
        name: str = "x",
        padding: Callable[[nn.Module], nn.Module] | None = None,
        make: Callable[[], nn.Module] | None = None,
        require: Collection[str] = (),
    ) -> Audit:
        """Look at a layer.

        Args:
            module: a layer.
            d_in: width of a ``token``.
            window: how many tokens
                it sees, 100% of them.

        Returns:
            found: an Audit.
        """
        given = {"causal": causal, "window": window, "positions": positions}
        given |= {"scale": scale, "name": name, "padding": padding, "make": make}
        given["require"] = require
        calls.append((module, d_in, context_length, given))
        return Audit("Told", (Row("one", "passes", ""),))

    monkeypatch.setattr(attention_audit, "audit", audit)
    return calls


# --- what it answers ------------------------------------------------------------------


def test_a_layer_without_a_mistake(project, capsys):
    assert command.main(["layers.py:Mine", "--args", "4", "3", *SIZES]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "audit of Mine"
    assert re.fullmatch(r"\d+ pass, 0 fail, \d+ not applicable", lines[-1])
    assert len([line for line in lines if line.startswith("scale ")]) == 1


def test_a_check_that_fails_and_one_that_may(project, capsys):
    wrong = ["layers.py:Mine", "--args", "4", "3", "divisor=2", *SIZES]
    assert command.main(wrong) == 1
    said = capsys.readouterr()
    assert "scale           FAILS           divides by 2.00" in said.out
    assert said.err == ""
    assert command.main([*wrong, "--allow", "scale", "order"]) == 0
    said = capsys.readouterr()
    assert "scale           FAILS" in said.out
    assert said.err == "attention-audit: allowed to fail, but doesn't: order\n"
    assert command.main([*wrong, "--allow", "order"]) == 1


def test_failures_alone(project, capsys):
    wrong = ["layers.py:Mine", "--args", "4", "3", "divisor=2", *SIZES, "--failures"]
    assert command.main(wrong) == 1
    title, failing, total, *how = capsys.readouterr().out.splitlines()
    assert title == "audit of Mine"
    assert failing.startswith("scale           FAILS           divides by 2.00")
    assert re.fullmatch(r"\d\d pass, 1 fail, \d not applicable", total)
    assert how[0].startswith("scale           asked: queries · keys are divided by √D")
    for word in ("means", "likely"):
        assert [line for line in how if line.startswith(f"{'':16}{word}: ")]
    assert how[-2:] == [
        f"{'':16}look at: the divisor in the reason",
        "what each check asks: attention-audit --explain",
    ]
    assert command.main([*wrong[:-1], "--args", "4", "3", "--failures"]) == 0
    title, total = capsys.readouterr().out.splitlines()
    assert " 0 fail, " in total


def test_what_was_not_run_has_an_exit_status_of_its_own(project, capsys):
    (project / "slow.py").write_text(SLOW, encoding="utf-8")
    slow = ["slow.py:Slow", *SIZES, "--seconds", "0.2", "--failures"]
    assert command.main(slow) == 3
    said = capsys.readouterr().out
    assert "one token       not run         stopped after 0.2 seconds" in said
    assert "other checks not run" in " ".join(said.split())
    assert "0 fail" in said


def test_an_error_in_the_first_line_is_said_once(project, capsys):
    sizes = ["--d-in", "5", "--context-length", "5"]
    assert command.main(["layers.py:small", *sizes]) == 1
    said = capsys.readouterr().out
    assert said.count("needs an output") == 1
    assert re.search(r"^29 other checks not applicable  needs an output$", said, re.M)
    words = " ".join(said.split())
    assert "output shape FAILS RuntimeError: mat1 and mat2 shapes cannot be" in words
    assert " at layers.py:16: scores = self.W_query(x)" in words
    assert words.count("; it was called with x (2, 5, 5)") == 1
    assert "0 pass, 1 fail, 29 not applicable" in words
    assert command.main(["layers.py:small", *sizes, "--json"]) == 1
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 30


def test_advice_is_given_in_the_command_s_options(project, capsys):
    bare = ["layers.py:Mine", "--args", "4", "3", "masked=False", *SIZES]
    assert command.main(bare) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "if none shall, declare --no-causal " in said
    assert "pass --positions rotary, alibi or relative to ask " in said
    assert "pass --padding, a function (module, x, real), to ask " in said
    assert "--compiled asks for it " in said
    assert command.main([*bare, "--no-causal", "--positions", "rotary"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "order not applicable --positions rotary " in said
    assert "future grads not applicable --no-causal " in said


@pytest.mark.parametrize(
    ("reason", "turned"),
    [
        (
            "4 heads of queries share 2 of keys; if they shall, declare num_kv_heads=2",
            "4 heads of queries share 2 of keys; if they shall, declare "
            "--num-kv-heads 2",
        ),
        (
            "an earlier check was stopped; seconds grants more",
            "an earlier check was stopped; --seconds grants more",
        ),
        (
            "required, but not applicable: compiled=True asks for it",
            "required, but not applicable: --compiled asks for it",
        ),
        ("TypeError: f() got num_heads=3", "TypeError: f() got num_heads=3"),
        ("dropout = 0.1, but nothing is", "dropout = 0.1, but nothing is"),
    ],
)
def test_what_is_no_advice_stays_as_it_is(reason, turned):
    known = options.options_of(attention_audit.audit)
    assert options.spoken(reason, known) == turned


@pytest.mark.parametrize("option", ["--allow", "--require"])
def test_a_check_that_is_none_is_refused_before_anything_is_made(
    project, told, capsys, option
):
    assert command.main(["nowhere.py:Mine", *SIZES, option, "sale"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"attention-audit: {option[2:]} must name checks, got 'sale")
    assert not told


def test_a_check_that_must_be_applicable(project, capsys):
    mine = ["layers.py:Mine", "--args", "4", "3", *SIZES]
    assert command.main([*mine, "--require", "scale", "queries, keys"]) == 0
    capsys.readouterr()
    assert command.main([*mine, "--require", "cache", "scale", "--failures"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "cache FAILS required, but not applicable: pass --step, a function" in said
    assert "look at" not in said, "there is nothing to mend in the layer"


def test_the_explanation_has_every_check(capsys):
    with pytest.raises(SystemExit) as stopped:
        command.main(["--explain"])
    assert stopped.value.code == 0
    said = capsys.readouterr().out
    assert all(len(line) <= 80 for line in said.splitlines())
    words = " ".join(said.split())
    for name, (holds, look_at) in attention_audit.CHECKS.items():
        plain = f"{name} {holds} if it fails, look at: {look_at}".replace("`", "")
        assert plain in words


def test_json(project, capsys):
    wrong = ["layers.py:Mine", "--args", "4", "3", "divisor=2", *SIZES, "--json"]
    assert command.main([*wrong, "--allow", "scale"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert (read["name"], read["ok"], read["allowed"]) == ("Mine", False, ["scale"])
    assert read["counts"]["fail"] == 1
    assert read["versions"]["torch"] == torch.__version__
    assert command.main(wrong) == 1
    assert json.loads(capsys.readouterr().out)["allowed"] == []


def test_sarif(project, capsys):
    wrong = ["layers.py:Mine", "--args", "4", "3", "divisor=2", *SIZES]
    assert command.main([*wrong, "--sarif", "audit.sarif"]) == 1
    assert "FAILS" in capsys.readouterr().out
    log = json.loads((project / "audit.sarif").read_text(encoding="utf-8"))
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    (run,) = log["runs"]
    assert run["invocations"] == [{"executionSuccessful": True}]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["scale"]
    (result,) = run["results"]
    assert (result["ruleId"], result["level"]) == ("scale", "error")
    assert result["message"]["text"].startswith("Mine: scale: divides by 2")
    (location,) = result["locations"]
    line = LAYERS.splitlines().index("class Mine(nn.Module):") + 1
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "layers.py"},
        "region": {"startLine": line},
    }


def test_sarif_of_an_error_names_its_line_and_an_allowed_check_is_suppressed(project):
    code = "def forward(self, x):\n        return x[7, 7]"
    text = f"from torch import nn\n\n\nclass Raises(nn.Module):\n    {code}\n"
    (project / "raising.py").write_text(text, encoding="utf-8")
    given = ["raising.py:Raises", *SIZES, "--sarif", "a.sarif"]
    assert command.main([*given, "--allow", "output shape"]) == 0
    log = json.loads((project / "a.sarif").read_text(encoding="utf-8"))
    (result,) = log["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "raising.py"
    assert place["region"]["startLine"] == 6
    assert result["suppressions"] == [{"kind": "external"}]
    assert result["level"] == "note"


# Of the schema of SARIF 2.1.0: what each object that is written must have, and where
# its parts stand.
SARIF = {
    "log": (["version", "runs"], {"runs": "run"}),
    "run": (
        ["tool"],
        {"tool": "tool", "invocations": "invocation", "results": "result"},
    ),
    "tool": (["driver"], {"driver": "component"}),
    "component": (["name"], {"rules": "rule"}),
    "rule": (["id"], {"shortDescription": "text", "help": "text"}),
    "text": (["text"], {}),
    "invocation": (["executionSuccessful"], {}),
    "result": (
        ["message"],
        {"message": "text", "locations": "location", "suppressions": "suppression"},
    ),
    "suppression": (["kind"], {}),
    "location": ([], {"physicalLocation": "place"}),
    "place": (["artifactLocation"], {"artifactLocation": "artifact"}),
    "artifact": ([], {}),
}
KNOWN_TO_SARIF = {
    "level": ["none", "note", "warning", "error"],
    "kind": ["inSource", "external"],
    "version": ["2.1.0"],
}


def lacking(kind, value):
    """What a part of a log lacks, or has of another kind than the schema says."""
    if isinstance(value, list):
        return [one for part in value for one in lacking(kind, part)]
    required, parts = SARIF[kind]
    found = [f"{kind}: {name}" for name in required if name not in value]
    for name, words in KNOWN_TO_SARIF.items():
        if (
            kind in ("log", "result", "suppression")
            and value.get(name, words[-1]) not in words
        ):
            found.append(f"{kind}: {name}")
    for name, part in parts.items():
        found += lacking(part, value[name]) if name in value else []
    return found


def test_sarif_has_what_its_schema_requires(project):
    given = ["layers.py:Mine", "--args", "4", "3", "divisor=2", *SIZES]
    for more in ([], ["--allow", "scale"]):
        command.main([*given, *more, "--sarif", "b.sarif"])
        log = json.loads((project / "b.sarif").read_text(encoding="utf-8"))
        assert log["$schema"].endswith("sarif-2.1.0.json")
        assert lacking("log", log) == []
        (result,) = log["runs"][0]["results"]
        del result["message"], log["runs"][0]["tool"]["driver"]["name"]
        assert lacking("log", log) == ["component: name", "result: message"]


def test_who_reads_the_start_of_the_table_sees_no_traceback(project):
    wrong = ["layers.py:Mine", "--args", "4", "3", "divisor=2", *SIZES]
    run = [sys.executable, "-m", "attention_audit", *wrong]
    with subprocess.Popen(
        run, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.close()
        said = process.stderr.read()
    assert (said, process.returncode) == ("", 1)


WINDOWED = """
import torch
from layers import Mine

class Windowed(Mine):
    def __init__(self, window):
        super().__init__(4, 3)
        self.sliding_window = window
"""


def test_a_window_that_is_not_asked_is_noted(project, capsys):
    (project / "windowed.py").write_text(WINDOWED, encoding="utf-8")
    for window, said in (
        (16, "note: the layer's sliding_window is 16, and there are"),
        (2, "note: the layer's sliding_window is 2, and no window is declared"),
    ):
        command.main(["windowed.py:Windowed", "--args", str(window), *SIZES])
        assert said in " ".join(capsys.readouterr().out.split())
    command.main(["layers.py:Mine", "--args", "4", "3", *SIZES])
    assert "note:" not in capsys.readouterr().out


def test_a_sarif_file_that_cannot_be_written_is_told(project, capsys):
    given = ["layers.py:Mine", "--args", "4", "3", *SIZES]
    assert command.main([*given, "--sarif", "no/such/folder.sarif"]) == 2
    assert "--sarif: " in capsys.readouterr().err


def test_the_weights_are_the_same_each_time(project, capsys):
    tables = set()
    for seed in (1, 2):
        torch.manual_seed(seed)
        open_ = ["layers.py:Mine", "--args", "4", "3", "masked=False", *SIZES]
        assert command.main(open_) == 1
        tables.add(capsys.readouterr().out)
    (table,) = tables
    assert "move an earlier position by 0." in " ".join(table.split())


# --- what it finds --------------------------------------------------------------------


@pytest.mark.parametrize(
    "target", ["layers.py:small", "layers:small", "layers:layer", "layers.py:layer"]
)
def test_a_function_or_a_layer(project, told, target):
    assert command.main([target, *SIZES]) == 0
    ((module, d_in, context_length, given),) = told
    assert type(module).__name__ == "Mine"
    assert (d_in, context_length) == (4, 5)
    assert (given["make"] is None) == target.endswith("layer")
    if given["make"]:
        other = given["make"]()
        assert type(other) is type(module)
        assert not torch.equal(other.W_key.weight, module.W_key.weight)


@pytest.mark.parametrize(
    "args",
    [
        ["4", "3", "divisor=2.5", "kind=rotary"],
        ["""{"d_in": 4, "d_out": 3, "divisor": 2.5, "kind": "rotary"}"""],
        ["d_in=4", "d_out=3", "divisor=2.5", "kind='rotary'"],
    ],
)
def test_arguments(project, told, args):
    assert command.main(["layers.py:Nested.Inner", *SIZES, "--args", *args]) == 0
    module = told[0][0]
    assert module.W_query.weight.shape == (3, 4)
    assert (module.divisor, module.kind) == (2.5, "rotary")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-1", -1),
        ("1e-3", 0.001),
        ("True", True),
        ("true", True),
        ("null", None),
        ("[1, 2]", [1, 2]),
        ("{'a': None}", {"a": None}),
        ("a=b", "a=b"),
        ("torch.float16", "torch.float16"),
        ("", ""),
    ],
)
def test_a_value_is_a_literal_or_json_or_text(text, value):
    given, named = command._arguments(["0", f"option={text}"])
    assert (given, named) == ([0], {"option": value})
    assert type(named["option"]) is type(value)


def test_a_file_in_a_package_may_import_from_it(project, told):
    package = project / "source" / "models" / "parts"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package.parent / "__init__.py").touch()
    (package.parent / "base.py").write_text(LAYERS, encoding="utf-8")
    (package / "own.py").write_text("from ..base import Mine, small\n")
    assert command.main(["source/models/parts/own.py:small", *SIZES]) == 0
    assert type(told[0][0]).__module__ == "models.base"


@pytest.mark.parametrize("name", ["json", "torch", "checks", "my-layers", "copy"])
def test_a_file_may_have_the_name_of_a_known_module(project, told, name):
    before = sys.modules.get(name)
    (project / f"{name}.py").write_text(LAYERS, encoding="utf-8")
    assert command.main([f"{name}.py:small", *SIZES]) == 0
    assert before is None or sys.modules[name] is before


def test_a_file_that_another_module_hides_is_named(project, capsys):
    for folder in ("elsewhere/models", "models"):
        (project / folder).mkdir(parents=True)
        (project / folder / "__init__.py").touch()
        (project / folder / "own.py").write_text(LAYERS, encoding="utf-8")
    sys.path.insert(0, str(project / "elsewhere"))
    importlib.import_module("models.own")

    assert command.main(["models/own.py:small", *SIZES]) == 2
    said = capsys.readouterr().err
    assert "is hidden by" in said
    assert str(project / "elsewhere" / "models" / "own.py") in said


# --- what it can't audit --------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("layers.py", "layers.py names no class or function: write path/to/file.py:Na"),
        ("layers.py:", "layers.py: names no class or function: write path/to"),
        (":small", ":small names no class or function"),
        ("none.py:Mine", "there is no file {}/none.py"),
        ("nowhere:Mine", "nowhere can't be imported: ModuleNotFoundError: No module n"),
        ("layers:Mien", "layers has no Mien; did you mean Mine?"),
        ("layers.py:xyz", "layers.py has no xyz; its layers are Mine"),
        ("layers:Nested.xyz", "layers has no Nested.xyz; its layers are Inner"),
        ("layers:number", "layers:number is neither a layer nor a class or function"),
        ("layers:text", "layers:text() makes str, not an nn.Module"),
        ("layers:Mine", "layers:Mine() fails: TypeError: Mine.__init__() missing 2 re"),
        ("layers:Mine", "; pass --args that fit Mine(d_in, d_out, *, divisor=None, ki"),
        ("layers:broken", "IndexError: list index out of range (layers.py, line 28)"),
        ("layers:loop", "layers:loop() fails: SystemExit: no way (layers.py, line 31)"),
        ("layers:negative", "(layers.py, line 34)"),
        ("wrong.py:Mine", "wrong.py can't be imported: SyntaxError: '(' was never"),
        ("raises:Mine", "raises can't be imported: KeyError: 3 (raises.py, line 2)"),
    ],
)
def test_what_cannot_be_found_or_made_is_named(project, capsys, target, said):
    (project / "wrong.py").write_text("print(\n")
    (project / "raises.py").write_text("import torch\n{}[3]\n")
    assert command.main([target, *SIZES]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("attention-audit: ")
    assert said.format(project.resolve()) in printed.err
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--d-in", "4"], "the following arguments are required: --context-length"),
        ([*SIZES, "--seconds", "x"], "argument --seconds: 'x' is not a number"),
        ([*SIZES, "--d-in", "4.5"], "argument --d-in: '4.5' is not a whole number"),
        ([*SIZES, "--cau"], "unrecognized arguments: --cau"),
        ([*SIZES, "--context-length", "0"], "context_length must be"),
        ([*SIZES, "--args", "3"], "layers:layer is a layer already: it takes no --arg"),
        ([*SIZES, "--allow", "sale"], "allow must name checks, got 'sale'; these are"),
        ([*SIZES, "--require", "queries", "keys"], "require must name checks, got 'q"),
        ([*SIZES, "--require", "sale"], "'heads', 'queries, keys', 'distances'"),
        ([*SIZES, "--window", "4"], "window is 4 and context_length 5: the window hid"),
        ([*SIZES, "--make", "smal"], "layers has no smal; did you mean small?"),
        (
            [*SIZES, "--padding", "q"],
            "no q; its functions are small, broken, loop, neg",
        ),
        ([*SIZES, "--make", "layers.py"], "layers.py names no class or function"),
    ],
)
def test_a_wrong_option_is_named(project, capsys, options, said):
    try:
        status = command.main(["layers:layer", *options])
    except SystemExit as stopped:
        status = stopped.code
    assert status == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert said in printed.err
    assert "Traceback" not in printed.err


# --- the audit's options --------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ([], {}),
        (["--no-causal"], {"causal": False}),
        (["--causal"], {"causal": True}),
        (["--window", "3"], {"window": 3}),
        (["--positions"], {"positions": True}),
        (["--positions", "rotary"], {"positions": "rotary"}),
        (["--positions", "false"], {"positions": False}),
        (["--scale", "1"], {"scale": 1.0}),
        (["--name", "7"], {"name": "7"}),
        (["--require", "scale", "row sums"], {"require": ["scale", "row sums"]}),
    ],
)
def test_each_option_of_the_audit_is_one_of_the_command(project, told, options, given):
    assert command.main(["layers:layer", *SIZES, *options]) == 0
    usual = {"causal": True, "window": None, "positions": False, "scale": None}
    usual |= {"name": "x", "padding": None, "make": None, "require": ()}
    assert told[0][3] == usual | given


def test_an_option_takes_one_of_its_words(project, told, capsys):
    with pytest.raises(SystemExit):
        command.main(["layers:layer", *SIZES, "--positions", "sinus"])
    said = capsys.readouterr().err
    assert "'sinus' is not true or false or rotary or alibi" in said


def test_a_function_stands_beside_the_layer_or_elsewhere(project, told):
    (project / "other.py").write_text("def padded(module, x, real):\n    return x\n")
    options = ["--padding", "other.py:padded", "--make", "small"]
    assert command.main(["layers.py:layer", *SIZES, *options]) == 0
    given = told[0][3]
    assert given["padding"].__module__ == "other"
    assert given["make"] is loading.find("layers.py:small")[1]


def test_help_says_what_the_docstring_says(told, capsys):
    with pytest.raises(SystemExit) as stopped:
        command.main(["--help"])
    assert stopped.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "--d-in N width of a token." in said
    assert "--window N how many tokens it sees, 100% of them." in said
    assert "--positions [rotary|alibi]" in said
    assert "exit status: 0 no check fails; 1" in said


def test_help_of_the_audit_as_it_is(capsys):
    with pytest.raises(SystemExit):
        command.main(["--help"])
    said = capsys.readouterr().out
    for name in attention_audit.audit.__kwdefaults__:
        assert f"--{name.replace('_', '-')}" in said


def test_options_read_from_the_signature_are_those_of_the_audit():
    known = {one.name: one for one in options.options_of(attention_audit.audit)}
    _, *parameters = inspect.signature(attention_audit.audit).parameters.values()
    assert list(known) == [one.name for one in parameters]
    empty = inspect.Parameter.empty
    assert all(known[one.name].required == (one.default is empty) for one in parameters)
    assert all(one.kinds and one.told for one in known.values())
    assert known["positions"].kinds == (bool, "rotary", "alibi", "relative")
    assert known["seconds"].told.endswith(
        f"; {attention_audit.audit.__kwdefaults__['seconds']:g} unless you say."
    )


@pytest.mark.parametrize(
    ("option", "said"), [("--help", "--num-heads"), ("--explain", "if it fails")]
)
def test_help_does_not_wait_for_torch(option, said):
    code = (
        "-c import sys; from attention_audit import command\n"
        f"try: command.main(['{option}'])\n"
        "except SystemExit: print('torch' in sys.modules)"
    )
    done = started(code=code)
    assert done.stdout.endswith("\nFalse\n"), done.stderr
    assert said in done.stdout


def test_the_version(capsys):
    with pytest.raises(SystemExit):
        command.main(["--version"])
    said = capsys.readouterr().out
    assert said == f"attention-audit 0.1.0, torch {torch.__version__}\n"


# --- in a process of its own ----------------------------------------------------------

MASKS = """
import torch
OURS = "nobody else's"
def hidden(scores):
    return torch.ones_like(scores).triu(1).bool()
"""


@pytest.fixture
def busy(project):
    """A project with a package and a module of common names; they print, too."""
    (project / "helpers").mkdir()
    (project / "helpers" / "__init__.py").write_text("MINE = 4\n")
    (project / "helpers" / "validation.py").write_text(MASKS)
    (project / "checks.py").write_text("MINE = 5\n")
    source = LAYERS.replace(
        "import math\n",
        "import math, os, checks, helpers\nfrom helpers.validation import hidden\n"
        "print('printed'); os.write(1, b'written\\n')\n",
    ).replace(
        "        future =",
        "        import helpers.validation\n        helpers.validation.OURS\n"
        "        future =",
    )
    source += "assert (helpers.MINE, checks.MINE) == (4, 5)\n"
    (project / "layers.py").write_text(source, encoding="utf-8")
    return project


ALONE = {"PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": ""}


def started(*options, code="-m attention_audit", **variables):
    return subprocess.run(
        [sys.executable, *code.split(" ", 1), *options],
        env=os.environ
        | {"PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": ""}
        | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_the_project_prints_stays_out_of_json(busy):
    done = started("layers.py:Mine", "--args", "4", "3", *SIZES, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"]["fail"] == 0
    assert sorted(done.stderr.split()) == ["printed", "written"]


@pytest.mark.slow
def test_a_terminal_may_not_know_every_character(project):
    options = ["--args", "4", "3", *SIZES]
    done = started("layers.py:Mine", *options, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "divides by 1.73 = \\u221aD" in done.stdout
