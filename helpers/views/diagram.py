"""A computation drawn from its tensors: what is computed from what, step by step."""

import keyword
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from helpers import validation
from helpers.views.diagram_drawing import FILLS, draw
from helpers.views.diagram_formulas import Formula, read_formula
from helpers.views.diagram_layout import lay_out
from helpers.views.diagram_parts import Layout, Part
from helpers.views.view import Table, View

Given = tuple[Tensor, str] | tuple[Tensor, str, str] | tuple[Tensor, str, str, str]


class Entry(NamedTuple):
    """What is given of one part."""

    tensor: Tensor
    letters: tuple[str, ...]
    text: str  # its formula
    said: str


MOST_HEADS, MOST_ROWS, MOST_COLUMNS = 4, 8, 12
MOST_WHOLE = 2**24  # up to here float32 holds every whole number
POSITIONS = ("T", "S")


def diagram(
    parts: Mapping[str, Given],
    *,
    names: Mapping[str, Sequence[str]] | None = None,
    new: Iterable[str] = (),
    roles: Mapping[str, str] | None = None,
    title: str = "The computation, step by step",
) -> View:
    """Draw tensors as shaded grids, and the operations between them as arrows.

    A reader steps through the operations, and asks each cell for its number and for the
    cells it was computed from. Computation flows down: the main line on the left, keys
    and values beside it. Colours follow from the names (queries, keys, values) and from
    the letters ((T, S) is a table of scores or weights).

    Args:
        parts: from each tensor's name to a tuple (tensor, letters), with a formula as
            third entry where it is computed, and a sentence of your own as fourth. The
            letters name the axes, such as "T, D" or, for heads, "H, T, D". A formula
            joins earlier parts: "queries @ keys.T", "scores / √D", "softmax(scores)",
            "softmax(mask(scores / √D))", "x + update", "split(queries)",
            "merge(heads)", "embed(ids, table)"; any other ``name(part)`` is drawn as
            it is. What can be computed again, is, and has to agree. Scores may hold
            minus infinity. A large tensor is cut, to 4 heads, 8 rows, 12 columns.
        names: from a letter to the names of its places, such as {"T": words}.
        new: the parts that are framed; all others step back.
        roles: "queries", "keys", "values", "weights" or "neutral", for the parts whose
            names and letters don't tell.
        title: what is computed, in a few words.

    Returns:
        view: a View. Its picture needs no script.

    Raises:
        ValueError: what isn't a tensor, letters that don't fit a shape or each other, a
            formula that needs what isn't there or gives something else, NaN or plus
            infinity, names that don't count their axis, unknown parts or roles.

    Source: the order of the steps follows Vaswani et al. 2017, figure 2. All chapters.
    """
    entries, new, roles = _entries(parts), _listed(new), dict(roles or {})
    sizes = _sizes(entries)
    places = _places(names or {}, sizes)
    _require_known("new", new, entries)
    _require_known("roles", roles, entries)
    _require_roles(roles)
    drawn: list[Part] = []
    for name, entry in entries.items():
        before = list(entries)[: len(drawn) + 1]
        tensors = {one: entries[one].tensor for one in before}
        formula = None
        if entry.text:
            formula = read_formula(name, entry.text, tensors, sizes)
        role = roles.get(name) or _role(name, entry.letters)
        part = _part(name, entry, role, formula, name in new)
        part.names = places.get(part.row_letter, [])[: len(part.cells[0])]
        drawn.append(part)
    _share_scales(drawn)
    layout = lay_out(drawn)
    return View(
        "diagram",
        title,
        _state(layout, places),
        [_flow(drawn), *_tables(drawn, places)],
        picture=draw(layout, _alternative(title, drawn)),
        summary="The same in words and numbers",
    )


# --- what comes in ----------------------------------------------------------------


def _entries(parts: Mapping[str, Given]) -> dict[str, Entry]:
    """Each part, once it is one."""
    if not isinstance(parts, Mapping) or not parts:
        raise ValueError(f"parts must be a dict of tensors by name, got {parts!r}")
    read = {}
    for name, entry in parts.items():
        variable = isinstance(name, str) and name.isidentifier()
        if not variable or keyword.iskeyword(name):
            raise ValueError(f"parts must have names of variables, got {name!r}")
        if not isinstance(entry, tuple) or not 2 <= len(entry) <= 4:
            raise ValueError(
                f"parts[{name!r}] must be a tuple (tensor, letters), with a formula "
                f"and a sentence after them or not, got {type(entry).__name__}"
            )
        tensor, *texts = entry
        validation.require_tensor(f"parts[{name!r}]", tensor)
        if not all(isinstance(text, str) for text in texts):
            raise ValueError(f"parts[{name!r}] must hold texts after its tensor")
        letters, text, said = (*texts, "", "")[:3]
        if tensor.is_meta or tensor.layout != torch.strided:
            raise ValueError(
                f"parts[{name!r}] must hold numbers, as a dense tensor, got "
                f"{tensor.device.type} and {tensor.layout}"
            )
        tensor = tensor.detach().cpu()
        read[name] = Entry(tensor, _letters(name, tensor, letters), text, said)
    return read


def _letters(name: str, tensor: Tensor, letters: str) -> tuple[str, ...]:
    """A letter for each axis of a tensor that can be drawn as one grid or as heads."""
    split = tuple(letter.strip() for letter in letters.split(","))
    shape = validation.shape_of(tensor)
    if len(split) != len(shape) or not all(split):
        raise ValueError(
            f"parts[{name!r}] must have one axis for each letter of {letters!r}, got "
            f"shape {shape}"
        )
    if len(split) > 3 or (len(split) == 3 and split[0] != "H"):
        raise ValueError(
            f"parts[{name!r}] must be a grid (…, …) or heads (H, …, …), got "
            f"({letters}) = {shape}; draw one of them, such as {name}[0]"
        )
    if 0 in shape:
        raise ValueError(f"parts[{name!r}] must hold numbers, got shape {shape}")
    numbers = None if tensor.is_complex() else tensor.double()
    # As float32 they are drawn: there a larger number would be infinite, or another id.
    if (
        numbers is None
        or not ((numbers == -math.inf) | numbers.float().isfinite()).all()
    ):
        raise ValueError(
            f"parts[{name!r}] must hold finite numbers or minus infinity, got NaN, "
            "plus infinity, complex numbers or what float32 can't hold"
        )
    if not tensor.is_floating_point() and (numbers.abs() > MOST_WHOLE).any():
        raise ValueError(
            f"parts[{name!r}] must hold whole numbers up to {MOST_WHOLE}, got "
            f"{int(numbers.abs().max())}"
        )
    return split


def _sizes(entries: Mapping[str, Entry]) -> dict[str, int]:
    """What each letter stands for, in all parts alike."""
    sizes: dict[str, int] = {}
    first: dict[str, str] = {}
    for name, entry in entries.items():
        for letter, size in zip(entry.letters, entry.tensor.shape, strict=True):
            other = first.setdefault(letter, name)
            if sizes.setdefault(letter, size) != size:
                raise ValueError(
                    f"parts[{name!r}] has {letter} = {size}, but parts[{other!r}] has "
                    f"{letter} = {sizes[letter]}"
                )
    return sizes


def _places(
    names: Mapping[str, Sequence[str]], sizes: Mapping[str, int]
) -> dict[str, list[str]]:
    read = {}
    for letter, some in names.items():
        if not isinstance(some, Sequence):
            raise ValueError(
                f"names[{letter!r}] must be a list of names, got {type(some).__name__}"
            )
        if letter not in sizes or len(some) != sizes[letter]:
            wanted = sizes.get(letter, "a letter of the shapes")
            raise ValueError(
                f"names[{letter!r}] must name {letter} = {wanted} places, got "
                f"{len(some)}"
            )
        read[letter] = [str(one) for one in some]
    return read


def _listed(names: Iterable[str]) -> list[str]:
    if not isinstance(names, Iterable):
        raise ValueError(f"new must be a list of parts, got {type(names).__name__}")
    return [names] if isinstance(names, str) else list(names)


def _require_known(option: str, chosen: Iterable[str], parts: Iterable[str]) -> None:
    unknown = [name for name in chosen if name not in parts]
    if unknown:
        raise ValueError(f"{option} must name parts {list(parts)}, got {unknown}")


def _require_roles(roles: Mapping[str, str]) -> None:
    for name, role in roles.items():
        if role not in FILLS:
            raise ValueError(f"roles[{name!r}] must be one of {[*FILLS]}, got {role!r}")


# --- what is drawn ------------------------------------------------------------------


def _role(name: str, letters: Sequence[str]) -> str:
    words = name.lower()
    for role, mark in (("queries", "quer"), ("keys", "key"), ("values", "value")):
        if mark in words:
            return role
    table = len(letters) > 1 and set(letters[-2:]) <= set(POSITIONS)
    return "weights" if table else "neutral"


def _part(
    name: str, entry: Entry, role: str, formula: Formula | None, new: bool
) -> Part:
    """What is drawn of a tensor; a single axis becomes a column."""
    tensor, letters, _, said = entry
    grids = tensor.to(torch.float32)
    if grids.dim() == 1:
        grids = grids.unsqueeze(-1)
    grids = grids.reshape(-1, *grids.shape[-2:])
    sideways = grids.shape[0] > MOST_HEADS or grids.shape[2] > MOST_COLUMNS
    cut = (grids.shape[1] > MOST_ROWS, sideways)
    cells = grids[:MOST_HEADS, :MOST_ROWS, :MOST_COLUMNS].tolist()
    if not said and formula:
        said = f"{name} = {formula.text}"
        said += f": {formula.said}." if formula.said else "."
    shape = validation.shape_of(tensor)
    decimals = 2 if tensor.is_floating_point() else 0
    numbers = [
        abs(n) for head in cells for row in head for n in row if math.isfinite(n)
    ]
    # What prints as 0.0000 is no colour, even if all the tensor is.
    largest = max([1e-4, *numbers])
    return Part(
        name, letters, shape, role, cells, decimals, cut, formula, said, new, largest
    )


def _share_scales(parts: Sequence[Part]) -> None:
    """Let a number have one shade before and after a division, a mask, dropout."""
    first = {part.name: part.name for part in parts}
    for part in parts:
        if part.formula and part.formula.shaded_as:
            first[part.name] = first[part.formula.shaded_as]
    for part in parts:
        alike = [one.largest for one in parts if first[one.name] == first[part.name]]
        part.largest = max(alike)


def _state(layout: Layout, names: Mapping[str, list[str]]) -> dict[str, Any]:
    """What the page's script needs of each part; minus infinity becomes None."""
    return {
        "parts": [
            {
                "name": part.name,
                "letters": part.letters,
                "shape": part.shape,
                "x": part.x,
                "y": part.y,
                "cells": [
                    [[n if math.isfinite(n) else None for n in row] for row in head]
                    for head in part.cells
                ],
                "decimals": part.decimals,
                "whole": not any(part.cut),
                "sources": part.formula.sources if part.formula else [],
                "product": part.formula.product if part.formula else "",
                "formula": part.formula.text if part.formula else "",
                "said": part.said,
            }
            for part in layout.parts
        ],
        "names": dict(names),
    }


# --- what is read ---------------------------------------------------------------------


def _alternative(title: str, parts: Sequence[Part]) -> str:
    flow = "; ".join(
        f"{part.name} {part.letters_text} from "
        + " and ".join(dict.fromkeys(name for name, _ in part.formula.sources))
        for part in parts
        if part.formula
    )
    return f"{title}. Diagram: {flow}. Tables with all steps and numbers follow."


def _flow(parts: Sequence[Part]) -> Table:
    return Table(
        "What is computed from what",
        [
            [
                part.letters_text,
                part.shape_text,
                part.formula.text if part.formula else "given",
                part.said or "—",
                *(["yes" if part.new else "no"] if any(p.new for p in parts) else []),
            ]
            for part in parts
        ],
        columns=[
            *("letters", "shape", "computed as", "in words"),
            *(["new"] if any(part.new for part in parts) else []),
        ],
        rows=[part.name for part in parts],
    )


def _readable(number: float, part: Part) -> object:
    if number == -math.inf:
        return "−∞"
    return number if part.decimals else int(number)


def _tables(parts: Sequence[Part], names: Mapping[str, list[str]]) -> Iterable[Table]:
    """The numbers of each part, a table for each head."""
    for part in parts:
        columns = [str(j) for j in range(part.columns)]
        columns = names.get(part.column_letter, columns)[: part.columns]
        for head, cells in enumerate(part.cells):
            of_head = f" of head {head}" if len(part.letters) == 3 else ""
            cut = ", as far as drawn" if any(part.cut) else ""
            yield Table(
                f"{part.name}{of_head} {part.letters_text} = {part.shape_text}{cut}",
                [[_readable(n, part) for n in row] for row in cells],
                columns=columns,
                rows=names.get(part.row_letter, [*map(str, range(MOST_ROWS))])[
                    : len(cells)
                ],
            )
