"""The workflows: valid, safe, and calling only what exists; so are the documents.

check-jsonschema holds the published schema, zizmor knows what is dangerous: an action
that isn't pinned by commit, rights that aren't needed, text from outside in a shell, a
token left on the disk, a cache that another run could have filled. Neither knows the
book's own commands.
"""

import pathlib
import re
import subprocess
import sys

import pytest
import yaml

from tests import ROOT
from tools import machine

FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yml"))
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "chapters/teaching.md",
]
SCRIPTS = sorted((ROOT / ".ci").iterdir())
MAKE = re.compile(r"(?<![\w-])make((?: +[\w-]+(?:=\S*)?)+)")
IN_DOCUMENTS = re.compile(r"`([^`\n]+)`|^    +(\S.*)|^```\n(.*?)^```", re.M | re.DOTALL)
SCRIPT = re.compile(r"\b(?:bash|python3?) (?:\S*\$IMAGE\S* )?(\.?[\w-]+/[\w./-]*)")
MODULE = re.compile(r"python3? -m ((?:tools|tests|experiments)[\w.]*)")
PINNED = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*")
TARGETS = {
    "book",
    "lab",
    "share",
    "dev",
    "test",
    "test-all",
    "notebooks",
    "bench",
    "experiments",
    "clean",
    "help",
}
CI = (FOLDER / "ci.yml").read_text(encoding="utf-8")


def named(path):
    return path.name


# --- what the tools find ------------------------------------------------------------


def findings(*paths):
    """What zizmor and the published schema say against workflows."""
    binaries = pathlib.Path(sys.executable).parent
    schema = [sys.executable, "-m", "check_jsonschema"]
    schema += ["--builtin-schema", "vendor.github-workflows"]
    zizmor = [binaries / "zizmor", "--offline", "--no-progress", "--format=plain"]
    zizmor += ["--persona=auditor", "--min-severity=low"]
    for command in (schema, zizmor):
        done = subprocess.run(
            [*command, *paths], capture_output=True, text=True, check=False
        )
        if done.returncode:
            return done.stdout + done.stderr
    return ""


def test_the_workflows_are_valid_and_safe():
    assert findings(*WORKFLOWS) == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("runs-on: ubuntu-24.04", "runs-om: ubuntu-24.04", "Schema validation errors"),
        ("1af3b93b6815bc44a9784bd300feb67ff0d1eeb3 # v6.0.0", "v4", "unpinned-uses"),
        ("bash .ci/run", "echo ${{ github.head_ref }}", "template-injection"),
        ("permissions:\n  contents: read\n", "", "excessive-permissions"),
        ("persist-credentials: false", "persist-credentials: true", "artipacked"),
    ],
)
def test_what_is_wrong_is_found(tmp_path, old, new, problem):
    assert old in CI
    spoiled = tmp_path / "ci.yml"
    spoiled.write_text(CI.replace(old, new), encoding="utf-8")
    assert problem in findings(spoiled)


# --- what only the book knows -------------------------------------------------------


def commands(workflow):
    """The shell commands of all jobs."""
    for job in workflow["jobs"].values():
        yield from (step["run"] for step in job["steps"] if "run" in step)


def missing(command):
    """What a shell command calls and the book doesn't have, one line each."""
    for words in MAKE.findall(command):
        for target in (word for word in words.split() if "=" not in word):
            if target not in TARGETS:
                yield f"make {target}: no such target"
    for script in SCRIPT.findall(command):
        if not (ROOT / script).is_file():
            yield f"{script}: no such file"
    for module in MODULE.findall(command):
        path = ROOT / module.replace(".", "/")
        if (
            not path.with_suffix(".py").is_file()
            and not (path / "__main__.py").is_file()
        ):
            yield f"{module}: no such module"


def called(path):
    """All commands that a workflow, a script or a document names."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".yml":
        return list(commands(yaml.safe_load(text)))
    if path.suffix == ".md":
        return ["".join(found) for found in IN_DOCUMENTS.findall(text)]
    return [line for line in text.splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("path", [*WORKFLOWS, *SCRIPTS, *DOCUMENTS], ids=named)
def test_every_command_that_is_named_exists(path):
    assert [line for command in called(path) for line in missing(command)] == []


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("make tets", "make tets: no such target"),
        ("x=1 make PYTHON=python tets", "make tets: no such target"),
        ("bash .ci/runs", ".ci/runs: no such file"),
        ("python tools/nothing.py", "tools/nothing.py: no such file"),
        (".venv/bin/python -m tools.nothing", "tools.nothing: no such module"),
        ("python3 -m experiments.nothing x", "experiments.nothing: no such module"),
    ],
)
def test_a_command_that_does_not_exist_is_named(command, found):
    assert list(missing(command)) == [found]


def test_commands_are_found_at_all():
    found = "\n".join(
        command
        for path in [*WORKFLOWS, *SCRIPTS, *DOCUMENTS]
        for command in called(path)
    )
    made = {word for words in MAKE.findall(found) for word in words.split()}
    assert made >= TARGETS - {"help"}
    assert {".ci/run", ".ci/colab", "tools/machine.py"} <= {*SCRIPT.findall(found)}
    modules = {path.stem for path in (ROOT / "tools").glob("[a-z]*.py")} - {"machine"}
    modules |= {path.parent.name for path in (ROOT / "tools").glob("*/__main__.py")}
    untold = {f"tools.{name}" for name in modules} - {*MODULE.findall(found)}
    assert untold == set(), "CONTRIBUTING's table of commands lacks these"


@pytest.mark.parametrize("path", WORKFLOWS, ids=named)
def test_contributing_says_what_each_job_runs(path):
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    if f"| `{path.name}` |" not in text:  # a row for the whole, or one for each job
        jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
        assert set(re.findall(rf"\| `{path.name}`, `([\w-]+)` \|", text)) == set(jobs)


def test_there_are_few_targets_and_help_names_each():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert set(re.findall(r"^([\w-]+):(?!=)", makefile, re.M)) == TARGETS
    printed = subprocess.check_output(["make", "help"], cwd=ROOT, text=True)
    assert set(re.findall(r"^make ([\w-]+)", printed, re.M)) == TARGETS - {"help"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=named)
def test_a_job_has_a_time_limit_and_an_action_the_version_of_its_commit(path):
    text = path.read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    assert [name for name, job in jobs.items() if "timeout-minutes" not in job] == []
    uses = [line for line in text.splitlines() if "uses:" in line]
    assert [line for line in uses if not PINNED.search(line)] == []


def test_what_publishes_first_checks_for_whom():
    workflow = yaml.safe_load((FOLDER / "publish.yml").read_text(encoding="utf-8"))
    jobs = workflow["jobs"]
    assert {job.get("needs") for name, job in jobs.items() if name != "build"} == {
        "build"
    }
    steps = jobs["build"]["steps"]
    runs = [step.get("run", step.get("uses", "")) for step in steps]
    check = next(n for n, run in enumerate(runs) if "tools.repository check" in run)
    assert check < runs.index("make book")
    assert set(steps[check]["env"]) == {"URL", "TAG"}
    assert "if" not in steps[check]


def test_pytorchs_index_is_the_same_wherever_a_file_must_repeat_it():
    files = [
        *WORKFLOWS,
        *sorted((ROOT / ".binder").iterdir()),
        ROOT / "CONTRIBUTING.md",
    ]
    texts = [path.read_text(encoding="utf-8") for path in files]
    found = {one for text in texts for one in re.findall(r"https://\S*whl\S*\w", text)}
    assert found == {machine.CPU_WHEELS}
