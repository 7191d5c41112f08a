"""All small changes of a reader's code, in the order in which they are tried.

What leaves something out comes first, since that is said most plainly; then another
number, sign or name; then what is put in.
"""

import ast
import dataclasses
import itertools
from collections.abc import Iterator

from helpers.checks.repairing import exchanged, left_out, put_in
from helpers.checks.repairing.edit import Edit, Place, places

LIKE = (
    *(left_out.operations, exchanged.arguments, exchanged.comparisons),
    *(exchanged.operators, exchanged.numbers, exchanged.functions),
    put_in.parentheses,
)
ADDED = (
    *(put_in.steps, put_in.lower_exponents, put_in.hiding, put_in.functions),
    put_in.factors,
)


def plain_edits(
    definition: ast.AST, constants: tuple[float, ...] = ()
) -> Iterator[Edit]:
    """What is left out, and what is exchanged for another of its kind.

    Args:
        definition: a function's or class's node. Whoever makes an edit takes it back
            before the next comes.
        constants: numbers that a right solution may have.
    """
    found, blocks = list(places(definition)), _blocks(definition)
    for place in found:
        yield from left_out.conditions(place)
    for block in blocks:
        yield from left_out.statements(block)
        yield from left_out.totals(block)
        yield from left_out.early_returns(block)
    for family in LIKE:
        for place in found:
            yield from family(place)
    for place in found:
        yield from exchanged.constants(place, constants)
    for block in blocks:
        yield from left_out.orders(block)


def name_edits(definition: ast.AST) -> Iterator[Edit]:
    """Other names, and divisors made of them; arguments as for ``plain_edits``."""
    found = list(places(definition))
    own = exchanged.own_names(definition)
    attributes = exchanged.own_attributes(definition)
    for place in found:
        yield from exchanged.names(place, own, attributes)
    yield from _exchanged_everywhere(found)
    for place in found:
        yield from put_in.divisors(place, own)
        yield from put_in.scales(place, own)
    yield from _everywhere(found, own, attributes)


def added_edits(definition: ast.AST) -> Iterator[Edit]:
    """What is put in; arguments as for ``plain_edits``."""
    found = list(places(definition))
    own = exchanged.own_names(definition)
    for family in ADDED:
        for place in found:
            yield from family(place)
    fragments = put_in.fragments(definition)
    for place in found:
        yield from put_in.from_elsewhere(place, own, fragments)


def _blocks(definition: ast.AST) -> list[ast.AST]:
    walked = ast.walk(definition)
    return [node for node in walked if isinstance(node, left_out.BLOCKS)]


def _exchanged_everywhere(found: list[Place]) -> Iterator[Edit]:
    """Two names, attributes or texts in each other's place wherever they are read."""
    for kind, field in (
        (ast.Name, "id"),
        (ast.Attribute, "attr"),
        (ast.Constant, "value"),
    ):
        groups: dict[str, list[ast.expr]] = {}
        for place in found:
            word = getattr(place.node, field, None)
            if isinstance(place.node, kind) and place.is_read and isinstance(word, str):
                groups.setdefault(word, []).append(place.node)
        for one, other in itertools.combinations(groups, 2):
            first, *others = [
                Edit(node, field, new, node, words)
                for words in [f"with `{one}` and `{other}` exchanged"]
                for old, new in ((one, other), (other, one))
                for node in groups[old]
            ]
            yield dataclasses.replace(first, others=tuple(others))


def _everywhere(
    found: list[Place], own: list[str], attributes: list[str]
) -> Iterator[Edit]:
    """The same change wherever the same code stands."""
    groups: dict[str, list[Place]] = {}
    for place in found:
        if place.is_read:
            groups.setdefault(place.text, []).append(place)
    for same in groups.values():
        ways = [
            [
                *left_out.operations(place),
                *exchanged.numbers(place),
                *exchanged.names(place, own, attributes),
            ]
            for place in same
            if len(same) > 1
        ]
        for first, *others in zip(*ways, strict=False):
            yield dataclasses.replace(first, others=tuple(others))
