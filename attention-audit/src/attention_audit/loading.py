"""What a command line names: ``path/to/file.py:Name`` or ``package.module:Name``."""

import contextlib
import difflib
import functools
import importlib
import importlib.util
import inspect
import pathlib
import sys
from collections.abc import Iterator
from types import ModuleType

from attention_audit.frames import their_line

FORM = "write path/to/file.py:Name or package.module:Name"


class NotFound(Exception):
    """What was named can't be found or made; the message says why."""


def find(
    target: str, here: ModuleType | None = None, *, what: str = "layers"
) -> tuple[ModuleType, object]:
    """The module and the object that a command line names.

    Args:
        target: such as "layers.py:MyAttention" or "project.layers:make.small".
        here: where a name without a module is looked up.
        what: "layers" or "functions", which are listed where there is no such name.

    Raises:
        NotFound: no such file, module or name, or an error while it is imported.
    """
    place, _, name = target.rpartition(":")
    if not name or not (place or here) or name.endswith(".py"):
        raise NotFound(f"{target} names no class or function: {FORM}")
    if not place and here is not None:
        module = here
    elif place.endswith(".py"):
        module = _from_file(pathlib.Path(place).resolve())
    else:
        module = _from_path(place)
    found: object = module
    for part in name.split("."):
        if not hasattr(found, part):
            said = f"{place or module.__name__} has no {name}"
            raise NotFound(f"{said}; {_instead(found, part, what)}")
        found = getattr(found, part)
    return module, found


def _instead(place: object, name: str, what: str) -> str:
    """The name that was meant, or else the layers or functions that there are."""
    members = getattr(place, "__dict__", {})
    if near := difflib.get_close_matches(name, members, n=1):
        return f"did you mean {near[0]}?"
    own = getattr(place, "__module__", getattr(place, "__name__", ""))
    is_one = inspect.isfunction if what == "functions" else _is_layer
    found = [
        key
        for key, value in members.items()
        if is_one(value) and value.__module__ == own
    ]
    return f"its {what} are {', '.join(found)}" if found else f"it has no {what}"


def _is_layer(value: object) -> bool:
    """Whether this is a class of modules."""
    from torch import nn

    return isinstance(value, type) and issubclass(value, nn.Module)


@functools.cache
def _from_file(path: pathlib.Path) -> ModuleType:
    """The module in a file, which may be part of a package and import from it."""
    if not path.is_file():
        raise NotFound(f"there is no file {path}")
    folder, names = path.parent, [] if path.stem == "__init__" else [path.stem]
    while (folder / "__init__.py").is_file():
        folder, names = folder.parent, [folder.name, *names]
    put_first(folder)
    if path.parent == folder:
        return _run(path)
    module = _from_path(".".join(names))
    found = pathlib.Path(module.__file__ or "").resolve()
    if found != path:
        raise NotFound(f"{path} is hidden by {found}, which has the same name")
    return module


def _run(path: pathlib.Path) -> ModuleType:
    """A file by itself, even where another module has its name."""
    name = path.stem
    if name in sys.modules or name in sys.stdlib_module_names:
        name = f"{name}_to_audit"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise NotFound(f"{path} can't be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with explained(f"{path.name} can't be imported"):
        spec.loader.exec_module(module)
    return module


def _from_path(name: str) -> ModuleType:
    """A module by its dotted name."""
    with explained(f"{name} can't be imported"):
        return importlib.import_module(name)


def put_first(folder: pathlib.Path | str) -> None:
    """Look for modules in this folder before all others."""
    if str(folder) in sys.path:
        sys.path.remove(str(folder))
    sys.path.insert(0, str(folder))


@contextlib.contextmanager
def explained(what: str) -> Iterator[None]:
    """Turn any error into NotFound, with the caller's own line that raised it."""
    try:
        yield
    except NotFound:
        raise
    except (Exception, SystemExit) as error:
        line, where = their_line(error, "<"), ""
        if line is not None:
            where = f" ({pathlib.Path(line.filename).name}, line {line.lineno})"
        said = " ".join(str(error).split())
        why = f"{type(error).__name__}: {said}".rstrip(": ")
        raise NotFound(f"{what}: {why}{where}") from error
