"""The workflows: valid, pinned, short of rights, and calling only what exists."""

import re
import subprocess
import sys

import pytest
import yaml

from tests import ROOT

FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yml"))
PINNED = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*")
MAKE = re.compile(r"\bmake((?: +[\w-]+(?:=\S*)?)+)")
SCRIPT = re.compile(r"\b(?:bash|python3?) (?:\S*\$IMAGE\S* )?(\.?[\w-][\w./-]*)")
MODULE = re.compile(r"python3? -m (tools\.\w+)")
TARGETS = set(
    re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
)

every_workflow = pytest.mark.parametrize(
    "path", WORKFLOWS, ids=[path.name for path in WORKFLOWS]
)


def schema_errors(*paths):
    """What the published schema of GitHub's workflows says against the files."""
    schema = ["--builtin-schema", "vendor.github-workflows"]
    result = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", *schema, *paths],
        capture_output=True,
        text=True,
        check=False,
    )
    return result.stdout + result.stderr if result.returncode else ""


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
        if not script.startswith("-") and not (ROOT / script).is_file():
            yield f"{script}: no such file"
    for module in MODULE.findall(command):
        if not (ROOT / module.replace(".", "/")).with_suffix(".py").is_file():
            yield f"{module}: no such module"


def problems(text):
    """What is wrong with a workflow beyond its schema, one line each."""
    workflow = yaml.safe_load(text)
    for command in commands(workflow):
        yield from missing(command)
        if "${{" in command:
            yield f"{command}: pass what GitHub fills in by env, never into a shell"
    for line in text.splitlines():
        if "uses:" in line and not PINNED.search(line):
            yield f"{line.strip()}: not pinned by commit, with its version"
    rights = workflow.get("permissions", "all")
    if not isinstance(rights, dict) or set(rights.values()) - {"read", "none"}:
        yield f"the rights of every job are {rights}"
    if "concurrency" not in workflow:
        yield "no concurrency"
    for name, job in workflow["jobs"].items():
        if "timeout-minutes" not in job:
            yield f"{name}: no time limit"
        for step in job["steps"]:
            is_checkout = step.get("uses", "").startswith("actions/checkout@")
            if is_checkout and step.get("with", {}).get("persist-credentials", True):
                yield f"{name}: leaves the token on the disk"


def test_there_are_the_four_workflows():
    names = {path.stem for path in WORKFLOWS}
    assert names == {"ci", "gpu", "publish", "weekly"}


def test_the_workflows_follow_the_published_schema():
    assert schema_errors(*WORKFLOWS) == ""


@every_workflow
def test_a_workflow_is_pinned_and_calls_only_what_exists(path):
    assert list(problems(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("path", sorted((ROOT / ".ci").iterdir()))
def test_a_script_of_the_workflows_calls_only_what_exists(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    calls = [line for line in lines if not line.startswith("#")]
    assert list(missing("\n".join(calls))) == []


def test_the_readme_names_every_target():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`make .*?) \|", readme, re.M)
    table = set(re.findall(r"`make ([\w-]+)", " ".join(rows)))
    assert table == TARGETS
    without_make = set(re.findall(r"^make ([\w-]+)  ", readme, re.M))
    assert without_make == TARGETS - {"help", "clean", "locked"}


def test_commands_are_found_at_all():
    texts = [path.read_text(encoding="utf-8") for path in WORKFLOWS]
    found = [run for text in texts for run in commands(yaml.safe_load(text))]
    found.append((ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    made = {
        word for run in found for words in MAKE.findall(run) for word in words.split()
    }
    assert {"browser", "test", "test-all", "zip", "links", "test-notebooks"} <= made
    scripts = {script for run in found for script in SCRIPT.findall(run)}
    assert {".ci/run", ".ci/colab"} <= scripts


def test_what_publishes_first_checks_for_whom():
    workflow = yaml.safe_load((FOLDER / "publish.yml").read_text(encoding="utf-8"))
    assert all(
        job.get("needs") == "build"
        for name, job in workflow["jobs"].items()
        if name != "build"
    )
    steps = workflow["jobs"]["build"]["steps"]
    runs = [step.get("run", step.get("uses", "")) for step in steps]
    check = runs.index("make check-repository")
    assert check < runs.index("make zip")
    assert set(steps[check]["env"]) == {"URL", "TAG"}
    assert "if" not in steps[check]


# --- the checks themselves go red --------------------------------------------------

CI = (FOLDER / "ci.yml").read_text(encoding="utf-8")
SPOILED = [
    ("make test\n", "make tets\n", "make tets: no such target"),
    ("make test\n", "make PYTHON=python tets\n", "make tets: no such target"),
    ("bash .ci/run", "bash .ci/runs", ".ci/runs: no such file"),
    ("bash .ci/run", "python tools/nothing.py", "tools/nothing.py: no such file"),
    ("bash .ci/run", "python -m tools.nothing", "tools.nothing: no such module"),
    ("bash .ci/run", "echo ${{ github.head_ref }}", "never into a shell"),
    ("1af3b93b6815bc44a9784bd300feb67ff0d1eeb3 # v6.0.0", "v4", "not pinned"),
    (" # v6.0.0", "", "not pinned"),
    ("contents: read", "contents: write", "the rights of every job are"),
    ("permissions:\n  contents: read", "permissions: write-all", "write-all"),
    ("permissions:\n  contents: read\n", "", "the rights of every job are all"),
    ("    timeout-minutes: 90\n", "", "linux: no time limit"),
    ("persist-credentials: false", "persist-credentials: true", "leaves the token"),
    ("concurrency:", "env:", "no concurrency"),
]


@pytest.mark.parametrize(("old", "new", "problem"), SPOILED)
def test_a_spoiled_workflow_is_named(old, new, problem):
    assert old in CI
    assert any(problem in found for found in problems(CI.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("runs-on: ubuntu-24.04", "runs-om: ubuntu-24.04"),
        ("cancel-in-progress: true", "cancel-in-progress: perhaps"),
    ],
)
def test_a_workflow_against_the_schema_is_noticed(tmp_path, old, new):
    spoiled = tmp_path / "ci.yml"
    spoiled.write_text(CI.replace(old, new), encoding="utf-8")
    assert "Schema validation errors" in schema_errors(spoiled)
