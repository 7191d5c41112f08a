"""Check the JavaScript of views and pages, or format it: Prettier and TypeScript.

    python -m tools.javascript check     format and types; changes nothing
    python -m tools.javascript format    write the format

It needs Node.js. The two tools are installed once, into ``_build/javascript``, as
``package-lock.json`` names them; nothing of them is shipped, and no module is built.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
INSTALLED = ROOT / "_build" / "javascript"
PACKAGES = ("package.json", "package-lock.json")


class NoToolsError(Exception):
    """Node.js, or what it should install, can't be had here."""


def install():
    """Install the tools where they aren't yet.

    Returns:
        folder: where their commands are.

    Raises:
        NoToolsError: without Node.js, or where npm fails.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise NoToolsError("Node.js isn't installed: npm isn't found")
    wanted = (HERE / "package-lock.json").read_bytes()
    kept = INSTALLED / "installed-lock.json"
    if not kept.exists() or kept.read_bytes() != wanted:
        INSTALLED.mkdir(parents=True, exist_ok=True)
        for name in PACKAGES:
            shutil.copy(HERE / name, INSTALLED)
        command = [npm, "ci", "--no-audit", "--no-fund"]
        done = subprocess.run(
            command, cwd=INSTALLED, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise NoToolsError(f"npm ci failed: {done.stderr.strip()[-500:]}")
        kept.write_bytes(wanted)
    return INSTALLED / "node_modules" / ".bin"


def commands(folder, *, write=False):
    """The commands that check the modules, or format them.

    Args:
        folder: where the tools are.
        write: whether to write the format.
    """
    settings = ["--config", HERE / "prettier.json"]
    prettier = [folder / "prettier", *settings, "helpers/views/**/*.js", "_ext/*.js"]
    if write:
        return [[*prettier, "--write"]]
    return [
        [*prettier, "--check"],
        [folder / "tsc", "--project", HERE / "tsconfig.json"],
    ]


def main():
    """Check or format, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("check", "format"))
    write = parser.parse_args().command == "format"
    try:
        folder = install()
    except NoToolsError as error:
        sys.exit(str(error))
    codes = [
        subprocess.run(command, cwd=ROOT, check=False).returncode
        for command in commands(folder, write=write)
    ]
    sys.exit(max(codes))


if __name__ == "__main__":
    main()
