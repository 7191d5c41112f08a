"""The command ``attention-audit``: audit a layer from a terminal."""

import argparse
import ast
import contextlib
import dataclasses
import functools
import inspect
import io
import json
import os
import pathlib
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import attention_audit
from attention_audit import options
from attention_audit.annotations import sarif
from attention_audit.explained import explanation, require_names
from attention_audit.loading import NotFound, explained, find, put_first

if TYPE_CHECKING:
    from torch import nn

    from attention_audit import Audit

PASSED, FAILED, NOT_AUDITED, NOT_RUN = 0, 1, 2, 3
SEED = 123
IN_WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    tuple: "several, such as 4,none",
}
USAGE = """\
attention-audit TARGET --d-in N --context-length N
                       [--args VALUE ... NAME=VALUE ...] [options]"""
DESCRIPTION = """\
Check an attention layer from outside: does it see the future, mix up heads or batch
elements, divide by the wrong number, break in bfloat16? Prints a row for each check."""
EPILOG = """\
examples:
  attention-audit layers.py:MyAttention --args 16 16 num_heads=4 \\
      --d-in 16 --context-length 8
  attention-audit project.layers:make_small --d-in 16 --context-length 8 --json

The layer is called as layer(x) with x (B, T, d_in). Where yours is called otherwise,
name a function that returns an nn.Module which calls it; no change to it is needed.

exit status: 0 no check fails; 1 a check fails that --allow doesn't name; 2 there was no
audit, because the layer can't be found or made or an option is wrong; 3 none fails, but
a check was stopped, and those behind it weren't run: --seconds grants more."""
HOW_TO_READ = "what each check asks: attention-audit --explain"


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit what the command line names; the exit status.

    Whoever reads the start of the table, as ``head`` does, may close it before its end.
    """
    kept: list[int] = []
    try:
        status = _main(arguments, kept)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still to be written would raise once more, when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return kept[0] if kept else PASSED
    return status


def _main(arguments: Sequence[str] | None, status: list[int]) -> int:
    """As ``main``; the status stands in the list before anything is printed."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal may not know √
            stream.reconfigure(errors="backslashreplace")
    put_first(os.getcwd())
    known = options.options_of(attention_audit.audit)
    given = _parser(known).parse_args(arguments)
    try:
        require_names("allow", given.allow)
        require_names("require", getattr(given, "require", ()))
        with _stdout_to_stderr() if given.json else contextlib.nullcontext():
            found, layer = _audit(given, known)
            failed, idle = found.failed_except(given.allow)
    except (NotFound, ValueError) as error:
        print(f"attention-audit: {error}", file=sys.stderr)
        return NOT_AUDITED
    allowed = [name for name in found.failed if name not in failed]
    status.append(FAILED if failed else NOT_RUN if found.unrun else PASSED)
    if given.sarif:
        log = json.dumps(sarif(found, layer, tuple(allowed)), indent=2)
        try:
            pathlib.Path(given.sarif).write_text(f"{log}\n", encoding="utf-8")
        except OSError as error:
            print(f"attention-audit: --sarif: {error}", file=sys.stderr)
            return NOT_AUDITED
    if given.json:
        print(json.dumps(found.as_dict() | {"allowed": allowed}, indent=2))
    else:
        shown = _in_options(found, known)
        print(shown.failures() if given.failures else shown)
        if found.failed:
            print("\n".join(filter(None, [shown.advice(), HOW_TO_READ])))
    if idle:
        line = f"allowed to fail, but doesn't: {', '.join(idle)}"
        print(f"attention-audit: {line}", file=sys.stderr)
    return status[0]


def _audit(
    given: argparse.Namespace, known: list[options.Option]
) -> "tuple[Audit, nn.Module]":
    """Make the layer and audit it, without a word of the audit itself."""
    import torch
    from torch import nn

    module, thing = find(given.target)
    settings: dict[str, Any] = {}
    for one in known:
        if hasattr(given, one.name):
            value = getattr(given, one.name)
            if Callable in one.kinds:
                value = find(value, module, what="functions")[1]
            settings[one.name] = value
    torch.manual_seed(SEED)
    if isinstance(thing, nn.Module):
        if given.args:
            raise NotFound(f"{given.target} is a layer already: it takes no --args")
        layer = thing
    else:
        make = functools.partial(_make, given.target, thing, given.args)
        layer = make()
        settings.setdefault("make", make)
    with contextlib.redirect_stdout(io.StringIO()):
        return attention_audit.audit(layer, **settings), layer


def _make(target: str, thing: Any, values: Sequence[str]) -> "nn.Module":
    """A layer, from its class or a function and the values of --args."""
    from torch import nn

    if not callable(thing):
        raise NotFound(f"{target} is neither a layer nor a class or function")
    given, named = _arguments(values)
    shown = ", ".join(
        [*map(repr, given), *(f"{name}={value!r}" for name, value in named.items())]
    )
    try:
        with explained(f"{target}({shown}) fails"):
            layer = thing(*given, **named)
    except NotFound as error:
        raise NotFound(f"{error}{_what_fits(target, thing, given, named)}") from error
    if not isinstance(layer, nn.Module):
        kind = type(layer).__name__
        raise NotFound(f"{target}({shown}) makes {kind}, not an nn.Module")
    return layer


def _what_fits(target: str, thing: Any, given: list[Any], named: dict[str, Any]) -> str:
    """What --args must be, where what was given doesn't fit the signature."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):  # what is written in C may have none
        return ""
    try:
        signature.bind(*given, **named)
    except TypeError:
        name = target.rpartition(":")[2]
        return f"; pass --args that fit {name}{' '.join(str(signature).split())}"
    return ""


def _in_options(found: "Audit", known: list[options.Option]) -> "Audit":
    """An audit whose advice on what to declare speaks of the command's options."""
    rows = tuple(
        dataclasses.replace(row, reason=options.spoken(row.reason, known))
        for row in found.rows
    )
    return dataclasses.replace(found, rows=rows)


def _arguments(values: Sequence[str]) -> tuple[list[Any], dict[str, Any]]:
    """The values of --args, as positional arguments and named ones.

    A dict alone holds named ones.
    """
    given: list[Any] = []
    named: dict[str, Any] = {}
    for text in values:
        if match := re.fullmatch(r"([^\W\d]\w*)=(.*)", text, re.DOTALL):
            named[match[1]] = _literal(match[2])
        else:
            given.append(_literal(text))
    if len(values) == 1 and given and isinstance(given[0], dict):
        return [], given[0]
    return given, named


def _literal(text: str) -> Any:
    """A Python literal, else JSON, else the text itself."""
    for read in (ast.literal_eval, json.loads):
        with contextlib.suppress(ValueError, SyntaxError):
            return read(text)
    return text


def _parser(known: list[options.Option]) -> argparse.ArgumentParser:
    """The command's options: its own, and those of the audit."""
    parser = argparse.ArgumentParser(
        prog="attention-audit",
        usage=USAGE,
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="path/to/file.py:Name or package.module:Name of a layer, its class, or a "
        "function that makes it",
    )
    parser.add_argument(
        "--args",
        nargs="*",
        default=[],
        metavar="VALUE",
        help="what the class or function is called with: 16 bias=True kind=rotary, or "
        """one dict, '{"bias": true}'""",
    )
    parser.add_argument(
        "--allow",
        nargs="+",
        default=[],
        metavar="CHECK",
        help="checks that may fail, such as scale 'row sums'",
    )
    parser.add_argument(
        "--failures",
        action="store_true",
        help="print the checks that fail, and how many others there are",
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object and nothing else"
    )
    parser.add_argument(
        "--sarif",
        metavar="FILE",
        help="write the checks that fail into a file, too, as SARIF 2.1.0",
    )
    parser.add_argument(
        "--explain",
        action=_Explain,
        nargs=0,
        help="print what each check asks and what to look at if it fails, and exit",
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="print the versions, and exit"
    )
    _add_options(parser, known)
    return parser


class _Explain(argparse.Action):
    """Prints what each check asks."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print(explanation())
        parser.exit()


class _Version(argparse.Action):
    """Prints the versions, of which torch's is known once that is imported."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from attention_audit.report import versions

        print(", ".join(f"{name} {version}" for name, version in versions().items()))
        parser.exit()


def _add_options(parser: argparse.ArgumentParser, known: list[options.Option]) -> None:
    """An option for each of the audit's, with the words of its docstring."""
    group = parser.add_argument_group(
        "what the layer is",
        "A FUNCTION is the name of one beside the target, or module:name.",
    )
    for one in known:
        help_ = one.told.replace("%", "%%")
        if one.default not in (None, False, ()):
            help_ = f"{help_} (default: {one.default})"
        group.add_argument(
            f"--{one.name.replace('_', '-')}",
            dest=one.name,
            required=one.required,
            default=argparse.SUPPRESS,
            help=help_,
            **_reading(list(one.kinds)),
        )


def _reading(kinds: list[Any]) -> dict[str, Any]:
    """How argparse reads a value of these kinds."""
    if kinds == [bool]:
        return {"action": argparse.BooleanOptionalAction}
    if Callable in kinds:
        return {"metavar": "FUNCTION"}
    if Collection in kinds:
        return {"nargs": "+", "metavar": "CHECK"}
    words = [kind for kind in kinds if isinstance(kind, str)]
    numbers = any(kind in (int, float) for kind in kinds)
    metavar = "|".join(words) or ("N" if numbers else "WORD")
    switch = {"nargs": "?", "const": True} if bool in kinds else {}
    return switch | {"type": functools.partial(_value, kinds), "metavar": metavar}


def _value(kinds: list[Any], text: str) -> Any:
    """A value of one of these kinds."""
    truths = {"true": True, "false": False}
    if bool in kinds and text.lower() in truths:
        return truths[text.lower()]
    for kind in (int, float):
        if kind in kinds:
            with contextlib.suppress(ValueError):
                return kind(text)
    if tuple in kinds and "," in text:
        with contextlib.suppress(ValueError):
            parts = [one.strip().lower() for one in text.split(",")]
            return tuple(None if one == "none" else int(one) for one in parts)
    if str in kinds or text in kinds:
        return text
    wanted = " or ".join(map(str, (IN_WORDS.get(kind, kind) for kind in kinds)))
    raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}")


@contextlib.contextmanager
def _stdout_to_stderr() -> Iterator[None]:
    """What anything prints, be it not in Python, goes to stderr."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
