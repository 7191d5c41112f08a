"""The lock of what the book needs, and whether any of it has a known vulnerability.

    python -m tools.dependencies lock      write requirements.lock anew
    python -m tools.dependencies locked    make .venv anew, as requirements.lock has it
    python -m tools.dependencies audit     ask the advisory database about each version

The lock names every library that the pins of requirements.txt and requirements-dev.txt
bring along, with the hashes of all its files, for each Python and system that the book
supports. torch is left out, because its build depends on the machine, and so is the
book itself.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements.txt", ROOT / "requirements-dev.txt"
LOCK = ROOT / "requirements.lock"
ENVIRONMENT = ROOT / ".venv"
TO_THE_PLATFORM = "torch"
PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)", re.MULTILINE)
LOCKED = re.compile(r"^[A-Za-z0-9][^\\\n]*", re.MULTILINE)
# What pip-audit says where no database can be reached.
UNREACHABLE = re.compile(r"ConnectionError|Timeout|Max retries|Failed to resolve")
HEADER = (
    "# Made by python -m tools.dependencies lock: what requirements-dev.txt brings\n"
    "# along but torch, for Python {python} and newer on Linux, macOS and Windows.\n"
)


def pins(text):
    """The versions that a requirements file names, by the library's normal name.

    Returns:
        pins: lists of versions by name. A library may have several, each for a system
            or a Python of its own.
    """
    found = {}
    for name, version in PIN.findall(text):
        normal = re.sub(r"[-_.]+", "-", name).lower()
        found.setdefault(normal, []).append(version)
    return found


def requirements():
    """What readers and those who work on the book need, as one text."""
    return "\n".join(path.read_text(encoding="utf-8") for path in REQUIREMENTS)


def oldest_python():
    """The oldest Python that the book runs on."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return project["project"]["requires-python"].removeprefix(">=")


def lock():
    """Write requirements.lock: the newest versions that fit both files of pins.

    Raises:
        SystemExit: no lock could be made, for instance without a network.
    """
    wanted = pins(requirements())
    del wanted[TO_THE_PLATFORM]
    python = oldest_python()
    with tempfile.TemporaryDirectory() as folder:
        asked = pathlib.Path(folder, "requirements.txt")
        asked.write_text(
            "".join(f"{name}=={version}\n" for name, (version,) in wanted.items())
        )
        uv = [sys.executable, "-m", "uv", "pip", "compile", asked, "--universal"]
        uv += ["--python-version", python, "--generate-hashes", "--no-header"]
        uv += ["--no-config", "--no-annotate", "--quiet", "--output-file"]
        made = pathlib.Path(folder, "requirements.lock")
        if subprocess.run([*uv, made], check=False).returncode:
            sys.exit(f"{LOCK.name} stays as it was: uv could not make a new one")
        text = HEADER.format(python=python) + made.read_text(encoding="utf-8")
    LOCK.write_text(text, encoding="utf-8", newline="\n")
    print(f"{LOCK.name}: {len(pins(text))} libraries")


def install_locked():
    """Make ``.venv`` anew, every library as requirements.lock has it.

    Torch comes as ``make`` takes it. What only torch needs has no hashes, because it
    depends on the machine's build.

    Raises:
        SystemExit: a command failed; it has said why.
    """
    python = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin") / "python"
    machine = ROOT / "tools" / "machine.py"
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check"]
    (torch,) = pins(requirements())[TO_THE_PLATFORM]
    for command in (
        [sys.executable, machine, "install", ENVIRONMENT],
        [sys.executable, "-m", "venv", "--clear", ENVIRONMENT],
        [*pip, "--require-hashes", "-r", LOCK],
        [python, machine, "torch", "auto"],
        [*pip, f"{TO_THE_PLATFORM}=={torch}"],
        [*pip, "--no-deps", "--no-build-isolation", "-e", ROOT],
    ):
        if code := subprocess.run(command, cwd=ROOT, check=False).returncode:
            sys.exit(code)
    for name in ("installed", "installed-dev"):  # make then installs nothing over it
        (ENVIRONMENT / name).touch()


def audit():
    """Print the known vulnerabilities of torch and of the locked versions.

    Of a library with several versions, this system's and this Python's is looked up.

    Returns:
        found: whether there is any. Without an answer from a database there is none,
            and a line says that nothing was looked up.

    Raises:
        SystemExit: pip-audit failed for another reason than a closed network.
    """
    torch = pins(requirements())[TO_THE_PLATFORM][0]
    # Without its hashes, because torch has none.
    locked = LOCKED.findall(LOCK.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        asked = pathlib.Path(folder, "requirements.txt")
        asked.write_text("\n".join([f"{TO_THE_PLATFORM}=={torch}", *locked]))
        command = [sys.executable, "-m", "pip_audit", "-r", asked, "--format=json"]
        command += ["--no-deps", "--disable-pip", "--progress-spinner=off"]
        command += ["--cache-dir", folder]  # the home folder may be read-only
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if not answer.stdout:
        *_, why = answer.stderr.strip().splitlines() or ["pip-audit said nothing"]
        if not UNREACHABLE.search(answer.stderr):
            sys.exit(f"pip-audit failed, nothing was looked up: {why}")
        print(f"Skipped: no advisory database answered, nothing was looked up ({why})")
        return False
    return _report(json.loads(answer.stdout)["dependencies"])


def _report(dependencies):
    """Print what pip-audit found out; whether any version is vulnerable."""
    # pip-audit calls a version sound that its database has no page for.
    unknown = [each for each in dependencies if "skip_reason" in each]
    known = [each for each in dependencies if "skip_reason" not in each]
    if not known:
        why = unknown[0]["skip_reason"]
        print(f"Skipped: no advisory database answered, nothing was looked up ({why})")
        return False
    for each in unknown:
        print(f"{each['name']}: {each['skip_reason']}")
    for each in known:
        for problem in each["vulns"]:
            mended = ", ".join(problem["fix_versions"]) or "no version yet"
            where = f"{each['name']} {each['version']}"
            print(f"{where}: {problem['id']}, mended in {mended}")
    vulnerable = [each for each in known if each["vulns"]]
    print(f"{len(known)} versions looked up, {len(vulnerable)} of them vulnerable")
    return bool(vulnerable)


def main():
    """Make the lock, install it, or audit it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("lock", "locked", "audit"))
    command = parser.parse_args().command
    if command == "lock":
        lock()
    elif command == "locked":
        install_locked()
    else:
        sys.exit(audit())


if __name__ == "__main__":
    main()
