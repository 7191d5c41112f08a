"""The notebooks as on Colab: an empty folder, libraries but no book, the setup cell.

Once with this environment's libraries, and once with the versions that Colab had in
August 2026 beside this environment's torch.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.slow
COLAB = (
    "ipywidgets==7.7.1",
    "IPython==7.34.0",
    "ipykernel==6.17.1",
    "numpy==2.1.3",
    "matplotlib==3.10.0",
)


@pytest.mark.parametrize("versions", [(), COLAB], ids=["these", "Colab's"])
def test_every_notebook_runs_from_its_setup_cell_on(tmp_path, versions):
    """The first setup cell installs the book; all outputs equal the stored ones."""
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", bare], check=True)
    scripts = "Scripts" if os.name == "nt" else "bin"
    python = bare / scripts / pathlib.Path(sys.executable).name
    # The libraries of this environment, without the book: a .pth file inside a folder
    # that a .pth file names is not read, and that is how the book is installed here.
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.check_output([python, "-c", where], text=True).strip()
    libraries = sysconfig.get_path("purelib")
    pathlib.Path(packages, "libraries.pth").write_text(libraries)
    if versions:
        pip = [python, "-m", "pip", "install", "-q", "--ignore-installed", *versions]
        installed = subprocess.run(pip, capture_output=True, text=True, check=False)
        if installed.returncode and not os.environ.get("CI"):
            pytest.skip(f"pip can't install {versions}: {installed.stderr[-300:]}")
        assert installed.returncode == 0, installed.stderr
    empty = tmp_path / "empty"
    empty.mkdir()
    missing = subprocess.run(
        [python, "-c", "import torch; import helpers"],
        cwd=empty,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "No module named 'helpers'" in missing.stderr

    # pip builds in the source's own folder, so it gets a copy.
    source = tmp_path / "source"
    shutil.copytree(ROOT / "helpers", source / "helpers")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)

    plugin = tmp_path / "plugin"
    plugin.mkdir()
    shutil.copy(ROOT / "tests" / "nbval_numeric.py", plugin)
    (plugin / "pytest.ini").touch()
    for path in (ROOT / "chapters").glob("*.ipynb"):
        shutil.copy(path, empty)
    options = ["-p", "nbval_numeric", "--nbval", "--nbval-current-env"]
    compared = subprocess.run(
        [python, "-m", "pytest", *options, "-c", plugin / "pytest.ini", empty],
        cwd=plugin,
        env=os.environ | {"BOOK_SOURCE": str(source), "PYTHONPATH": str(plugin)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert compared.returncode == 0, compared.stdout[-5000:] + compared.stderr[-2000:]
    installed = "import helpers; print(helpers.__file__)"
    found = subprocess.check_output([python, "-c", installed], cwd=empty, text=True)
    assert pathlib.Path(found.strip()).is_relative_to(packages)
