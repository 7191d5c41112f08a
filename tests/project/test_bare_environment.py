"""The notebooks as on Colab: an empty folder, libraries but no book, the setup cell.

With the versions of Colab's newest list in ``tests/data/colab.json``, beside this
environment's torch.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tests import ROOT
from tools import notebooks, share

COLAB_LISTS = json.loads((ROOT / "tests/data/colab.json").read_text(encoding="utf-8"))
INSTALLED = ("ipywidgets", "ipython", "ipykernel", "numpy", "matplotlib")
COLAB = [f"{name}=={COLAB_LISTS[0]['packages'][name]}" for name in INSTALLED]
SETUP_SECONDS = 20
WHOLE = "01_dot_product_attention"  # a reader's first one
WHERE = "print(helpers.__file__)"
# The seconds that each run of pip takes, and all seconds, go to a file at the end.
TIMED = """\
import atexit, json, subprocess, time
class Clock:
    started, taken, run = time.perf_counter(), [], staticmethod(subprocess.run)
    def timed(command, **options):
        before = time.perf_counter()
        finished = Clock.run(command, **options)
        Clock.taken.append(time.perf_counter() - before)
        return finished
    def write():
        everything = time.perf_counter() - Clock.started
        json.dump([Clock.taken, everything], open("seconds.json", "w"))
subprocess.run = Clock.timed
atexit.register(Clock.write)
"""


@pytest.fixture
def bare(tmp_path_factory):
    """A virtual environment with the libraries of this one, pip too, without the book.

    Returns:
        python: its interpreter.
        packages: the folder into which its pip installs.
    """
    folder = tmp_path_factory.mktemp("bare")
    bare = [sys.executable, "-m", "venv", "--without-pip", folder]
    subprocess.run(bare, check=True)
    scripts = "Scripts" if os.name == "nt" else "bin"
    python = folder / scripts / pathlib.Path(sys.executable).name
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.check_output([python, "-c", where], text=True).strip()
    # A .pth file inside a folder that a .pth file names is not read, and that is how
    # the book is installed here.
    libraries = sysconfig.get_path("purelib")
    pathlib.Path(packages, "libraries.pth").write_text(libraries)
    return python, packages


def unmet(requirements, *lists):
    """The requirements that no list's version meets, as lines that say why.

    Args:
        requirements: as the metadata of a distribution has them.
        lists: versions by name. The first that names a distribution decides.
    """
    wrong = []
    for line in requirements:
        requirement = Requirement(line)
        named = [versions for versions in lists if requirement.name in versions]
        if not named:
            wrong.append(f"{requirement.name} is in no list")
        elif not requirement.specifier.contains(named[0][requirement.name]):
            wrong.append(f"{line} is not met by {named[0][requirement.name]}")
    return wrong


def test_colab_meets_every_bound_of_the_book():
    """The newest list leaves out four libraries, which an older list names.

    The reader of a real model's file is in none: pip brings it, 0.1 MB.
    """
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    requires = project["dependencies"]
    lists = [known["packages"] for known in COLAB_LISTS]
    assert unmet(requires, *lists) == ["gguf is in no list"]
    left_out = {line.split()[0] for line in unmet(requires, lists[0])}
    assert left_out == {"safetensors", "tqdm", "tokenizers", "huggingface_hub", "gguf"}
    python = SpecifierSet(project["requires-python"])
    assert all(python.contains(known["python"]) for known in COLAB_LISTS)


def test_a_bound_that_colab_does_not_meet_is_named():
    lists = {"torch": "2.11.0+cu128"}, {"torch": "2.9", "tqdm": "4.67.3"}
    assert unmet(["torch>=2.11", "tqdm>=4.60"], *lists) == []
    assert unmet(["torch>=2.12", "tqdm<4", "scipy"], *lists) == [
        "torch>=2.12 is not met by 2.11.0+cu128",
        "tqdm<4 is not met by 4.67.3",
        "scipy is in no list",
    ]


@pytest.mark.slow
def test_the_setup_cell_is_quick_in_a_bare_environment(bare, tmp_path):
    """Beyond pip's own work; the same process then imports the book, so no restart."""
    python, packages = bare
    last = sorted((ROOT / "chapters").glob("[0-9]*.ipynb"))[-1]
    cells = {cell.id: cell.source for cell in notebooks.read(last).cells}
    offline = {"PIP_NO_INDEX": "1", "PYTHONPATH": ""}
    wheel = share.build_wheel(tmp_path)
    result = subprocess.run(
        [python, "-c", f"{TIMED}\n{cells[notebooks.SETUP_ID]}\n{WHERE}"],
        cwd=tmp_path,
        env=os.environ | offline | {"BOOK_SOURCE": str(wheel)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert pathlib.Path(result.stdout.splitlines()[-1]).is_relative_to(packages)
    pip, everything = json.loads((tmp_path / "seconds.json").read_text())
    assert len(pip) == 1
    assert everything - pip[0] < SETUP_SECONDS


@pytest.mark.slow
def test_notebooks_run_from_their_setup_cells_on(bare, tmp_path):
    """The first one installs the book; then all find what they import.

    The weekly workflow runs every notebook in Colab's own image; here one does, and
    prints what is stored.
    """
    python, packages = bare
    pip = [python, "-m", "pip", "install", "-q", "--ignore-installed", *COLAB]
    installed = subprocess.run(pip, capture_output=True, text=True, check=False)
    if installed.returncode and not os.environ.get("CI"):
        pytest.skip(f"pip can't install {COLAB}: {installed.stderr[-300:]}")
    assert installed.returncode == 0, installed.stderr
    folder = tmp_path / "sent"
    folder.mkdir()
    missing = subprocess.run(
        [python, "-c", "import torch; import helpers"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "No module named 'helpers'" in missing.stderr

    share.build_wheel(folder)
    every = sorted((ROOT / "chapters").glob("*.ipynb"))
    setups = [
        cell.source
        for path in every
        for cell in notebooks.read(path).cells
        if cell.id == notebooks.SETUP_ID
    ]
    assert len(setups) == len(every)
    program = "\n".join(f"exec({source!r}, {{}})" for source in setups)
    offline = {"PIP_NO_INDEX": "1", "PYTHONPATH": ""}
    ran = subprocess.run(
        [python, "-c", program],
        cwd=folder,
        env=os.environ | offline,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr

    plugin = tmp_path / "plugin"
    (plugin / "tests").mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "nbval_numeric.py", plugin)
    for name in ("__init__.py", "warm_kernels.py"):  # which it imports
        shutil.copy(ROOT / "tests" / name, plugin / "tests")
    (plugin / "pytest.ini").touch()
    shutil.copy(ROOT / "chapters" / f"{WHOLE}.ipynb", folder)
    options = ["-p", "nbval_numeric", "--nbval", "--nbval-current-env"]
    # The fixture is known here from the environment around, and not to be had.
    options += ["-p", "no:attention_audit"]
    compared = subprocess.run(
        [python, "-m", "pytest", *options, "-c", plugin / "pytest.ini", folder],
        cwd=plugin,
        env=os.environ | offline | {"PYTHONPATH": str(plugin)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert compared.returncode == 0, compared.stdout[-5000:] + compared.stderr[-2000:]
    found = subprocess.check_output(
        [python, "-c", f"import helpers; {WHERE}"], cwd=folder, text=True
    )
    assert pathlib.Path(found.strip()).is_relative_to(packages)
