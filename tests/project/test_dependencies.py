"""What the book rests on: pins, the lock, Binder's files, advisories, licences."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import yaml
from packaging.specifiers import SpecifierSet

import helpers
from tests import ROOT
from tools import dependencies, machine

BINDER = ROOT / ".binder"
REQUIREMENTS = dependencies.requirements()
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")


# --- pins and lock -----------------------------------------------------------------


def differences(requirements, lock):
    """The pins that a lock has otherwise, as lines; none where the two agree."""
    locked = dependencies.pins(lock)
    return [
        f"{name}: pinned at {wanted}, locked at {locked.get(name, 'nothing')}"
        for name, wanted in dependencies.pins(requirements).items()
        if locked.get(name) != wanted
    ]


def test_every_requirement_is_pinned_once():
    lines = re.findall(r"^[^#\s].*", REQUIREMENTS, re.MULTILINE)
    found = dependencies.pins(REQUIREMENTS)
    assert all(len(versions) == 1 for versions in found.values())
    assert len(lines) == len(found) + 2
    assert lines[0] == "-e ."
    assert "-r requirements.txt" in lines


def test_a_reader_installs_no_tools_of_those_who_work_on_the_book():
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert not {"pytest", "ruff", "mypy", "playwright", "uv"} & {
        *dependencies.pins(text)
    }
    assert {"jupyter-book", "jupyterlab", "torch"} <= {*dependencies.pins(text)}


def test_the_lock_agrees_with_the_pins():
    torch = dependencies.pins(REQUIREMENTS)["torch"]
    missing = [f"torch: pinned at {torch}, locked at nothing"]
    assert differences(REQUIREMENTS, LOCK) == missing


def test_a_lock_that_disagrees_is_noticed():
    pinned = "ruff==1.0\nPy_Test==2.0\n"
    assert differences(pinned, "ruff==1.0 \\\npy-test==2.0 \\\n") == []
    assert differences(pinned, "ruff==1.1 \\\n") == [
        "ruff: pinned at ['1.0'], locked at ['1.1']",
        "py-test: pinned at ['2.0'], locked at nothing",
    ]


def test_the_lock_has_a_hash_for_every_version_and_names_no_host():
    lines = re.sub(r"^#.*\n", "", LOCK, flags=re.MULTILINE).replace("\\\n", " ")
    for line in lines.splitlines():
        assert re.fullmatch(
            r"[\w.-]+==\S+( ; [^\\]*?)?(\s+--hash=sha256:[0-9a-f]{64})+", line
        ), line
    assert not re.search(r"//|index-url|find-links|file:", LOCK)
    assert f"Python {dependencies.oldest_python()} and newer" in LOCK


def test_a_lock_that_cannot_be_made_leaves_the_old_one(monkeypatch):
    def fails(command, **options):
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(subprocess, "run", fails)
    with pytest.raises(SystemExit, match="stays as it was"):
        dependencies.lock()
    assert (ROOT / "requirements.lock").read_text(encoding="utf-8") == LOCK


def test_the_lock_is_installed_with_its_hashes_into_a_new_environment(
    monkeypatch, tmp_path
):
    commands = []

    def run(command, **options):
        commands.append([str(word) for word in command])
        (tmp_path / ".venv").mkdir(exist_ok=True)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(dependencies, "ENVIRONMENT", tmp_path / ".venv")
    monkeypatch.setattr(subprocess, "run", run)
    dependencies.install_locked()
    asked, made, hashed, torch, rest, book = commands
    assert asked[1:3] == [str(ROOT / "tools" / "machine.py"), "install"]
    assert made == [sys.executable, "-m", "venv", "--clear", str(tmp_path / ".venv")]
    assert hashed[-3:] == ["--require-hashes", "-r", str(ROOT / "requirements.lock")]
    assert torch[-2:] == ["torch", "auto"]
    assert rest[-1] == f"torch=={dependencies.pins(REQUIREMENTS)['torch'][0]}"
    assert book[-4:] == ["--no-deps", "--no-build-isolation", "-e", str(ROOT)]
    python = {command[0] for command in (hashed, torch, rest, book)}
    assert all(pathlib.Path(one).is_relative_to(tmp_path / ".venv") for one in python)
    assert {path.name for path in (tmp_path / ".venv").iterdir()} == {
        *("installed", "installed-dev")
    }


def test_a_lock_that_cannot_be_installed_stops_there(monkeypatch, tmp_path):
    def fails(command, **options):
        return subprocess.CompletedProcess(command, 3)

    monkeypatch.setattr(dependencies, "ENVIRONMENT", tmp_path / ".venv")
    monkeypatch.setattr(subprocess, "run", fails)
    with pytest.raises(SystemExit) as stopped:
        dependencies.install_locked()
    assert stopped.value.code == 3
    assert not (tmp_path / ".venv").exists()


# --- Binder ------------------------------------------------------------------------


def test_binder_installs_the_pins_and_a_torch_without_cuda():
    text = (BINDER / "requirements.txt").read_text(encoding="utf-8")
    lines = re.findall(r"^[^#\s].*", text, re.MULTILINE)
    index = f"--extra-index-url {machine.CPU_WHEELS}"
    assert lines == [index, "-r ../requirements.txt"]
    assert (BINDER / "../requirements.txt").resolve() == ROOT / "requirements.txt"


def test_binder_takes_a_python_that_is_tested():
    runtime = (BINDER / "runtime.txt").read_text(encoding="utf-8").strip()
    version = re.fullmatch(r"python-(3\.\d+)", runtime)[1]
    assert SpecifierSet(f">={dependencies.oldest_python()}").contains(version)
    assert f'"{version}"' in (ROOT / ".github/workflows/ci.yml").read_text()


@pytest.mark.skipif(os.name == "nt", reason="Binder's script is for bash")
@pytest.mark.slow
def test_what_binder_runs_at_the_end_exists(tmp_path):
    script = BINDER / "postBuild"
    assert os.access(script, os.X_OK)
    path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": str(tmp_path)}
    subprocess.run([script], cwd=ROOT, env=environment, check=True)
    assert list(tmp_path.rglob("nbsignatures.db"))


# --- advisories and licences -------------------------------------------------------


def answering(answer):
    """A ``subprocess.run`` that answers as pip-audit might."""

    def run(command, **options):
        asked = pathlib.Path(command[command.index("-r") + 1])
        lines = asked.read_text(encoding="utf-8").splitlines()
        assert lines[0] == f"torch=={dependencies.pins(REQUIREMENTS)['torch'][0]}"
        assert len(lines) - 1 == sum(map(len, dependencies.pins(LOCK).values()))
        assert not any("hash" in line for line in lines)
        text = json.dumps({"dependencies": answer}) if answer else ""
        said = "closed\nConnectionError: no network\n"
        return subprocess.CompletedProcess(command, 1, text, said)

    return run


SOUND = {"name": "a", "version": "1", "vulns": []}
UNKNOWN = {"name": "b", "skip_reason": "not found"}
BAD = {
    "name": "c",
    "version": "2",
    "vulns": [
        {"id": "PYSEC-1", "fix_versions": ["3"]},
        {"id": "X", "fix_versions": []},
    ],
}
SKIPPED = "Skipped: no advisory database answered, nothing was looked up"


@pytest.mark.parametrize(
    ("answer", "found", "said"),
    [
        ([], False, f"{SKIPPED} (ConnectionError: no network)\n"),
        ([UNKNOWN, UNKNOWN], False, f"{SKIPPED} (not found)\n"),
        (
            [SOUND, UNKNOWN],
            False,
            "b: not found\n1 versions looked up, 0 of them vulnerable\n",
        ),
        (
            [SOUND, BAD],
            True,
            "c 2: PYSEC-1, mended in 3\nc 2: X, mended in no version yet\n"
            "2 versions looked up, 1 of them vulnerable\n",
        ),
    ],
)
def test_an_audit_says_what_was_looked_up(monkeypatch, capsys, answer, found, said):
    monkeypatch.setattr(subprocess, "run", answering(answer))
    assert dependencies.audit() is found
    assert capsys.readouterr().out == said


@pytest.mark.parametrize("said", ["", "usage: pip-audit\nno such option: --x"])
def test_an_audit_that_fails_is_not_called_skipped(monkeypatch, said):
    failed = subprocess.CompletedProcess([], 2, "", said)
    monkeypatch.setattr(subprocess, "run", lambda *command, **options: failed)
    with pytest.raises(SystemExit, match=r"^pip-audit failed, nothing was looked up"):
        dependencies.audit()


def test_an_audit_without_a_network_is_skipped_in_one_line(monkeypatch, capsys):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    assert dependencies.audit() is False
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(SKIPPED)


def test_the_licences_name_every_requirement():
    tool = shutil.which("pip-licenses", path=pathlib.Path(sys.executable).parent)
    printed = subprocess.check_output(
        [tool, "--with-system", "--format=json"], text=True
    )
    named = {
        re.sub(r"[-_.]+", "-", each["Name"]).lower() for each in json.loads(printed)
    }
    assert set(dependencies.pins(REQUIREMENTS)) - named == set()


# --- the book itself ---------------------------------------------------------------


def misfits(citation):
    """What keeps a citation file from the published schema; "" where it fits."""
    command = [sys.executable, "-m", "check_jsonschema", citation]
    command += ["--builtin-schema", "vendor.citation-file-format"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.stdout if result.returncode else ""


def test_the_citation_fits_the_published_schema():
    assert misfits(ROOT / "CITATION.cff") == ""


@pytest.mark.slow
def test_a_spoiled_citation_does_not_fit(tmp_path):
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    spoiled = tmp_path / "CITATION.cff"
    spoiled.write_text(text.replace("authors:", "writers:"), encoding="utf-8")
    assert "'authors' is a required property" in misfits(spoiled)


def test_the_version_is_the_same_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+)", changes, re.MULTILINE)[1]
    versions = {newest, citation["version"], config["repository"]["branch"][1:]}
    assert versions == {helpers.__version__}


def test_the_licences_are_the_ones_that_are_named():
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["license"] == ["MIT", "CC-BY-4.0"]
    assert "Permission is hereby granted, free of charge" in text
    assert text.rstrip().endswith("DEALINGS IN THE\nSOFTWARE.")
    assert "https://creativecommons.org/licenses/by/4.0/" in text
    assert 'license = "MIT AND CC-BY-4.0"' in (ROOT / "pyproject.toml").read_text()
