"""From predicates to row numbers: the key ranges that a seek reads.

A seek fixes the first key columns and bounds the next one. In storage that is a slice of row numbers; a list of values
gives several slices, and so does a seek that goes on behind a range: then each different value in front is looked at by
itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from spanlab.query.predicates import best
from spanlab.values import Type, coerce

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanlab.query.predicates import Predicate
    from spanlab.storage.rows import Rows

Value = Callable[[exp.Expr], object]
"""Gives the value of an expression without columns of the scanned object."""


class Unseekable(Exception):
    """A value does not fit the key column's type, so that no key range can be made of it (x > 2.5 on an INT64 key)."""


def slices(rows: Rows, key: Sequence[str], seek: Sequence[Predicate], value: Value) -> list[slice]:
    """The row numbers that a seek reads, in key order and without overlap."""
    if seek and seek[0].kind == "any_of":
        found = [part for branch in seek[0].branches for part in slices(rows, key, _along(key, branch), value)]
        return merged(found)
    steps = [[p for p in seek if p.variable == variable] for variable in key]
    steps = steps[: next((n for n, step in enumerate(steps) if not step), len(steps))]
    types = [rows.types[position] for position in rows.key_positions]
    found = _narrowed(rows, types, steps, (), value)
    return [part for part in found if part.stop > part.start]


def _along(key: Sequence[str], branch: Sequence[Predicate]) -> list[Predicate]:
    """The predicates of one branch of an OR that go along the key from its first column on."""
    found: list[Predicate] = []
    for variable in key:
        here = best([p for p in branch if p.variable == variable])
        found += here
        if not here or here[0].kind != "equal":
            break
    return found


def merged(parts: list[slice]) -> list[slice]:
    """Slices in order, with those that touch or overlap put together."""
    result: list[slice] = []
    for part in sorted(parts, key=lambda p: (p.start, p.stop)):
        if result and part.start <= result[-1].stop:
            result[-1] = slice(result[-1].start, max(result[-1].stop, part.stop))
        else:
            result.append(part)
    return result


def _narrowed(
    rows: Rows, types: Sequence[Type], steps: list[list[Predicate]], prefix: tuple[object, ...], value: Value
) -> list[slice]:
    """The slices below a fixed key prefix."""
    if not steps:
        return [rows.span(prefix)]
    here, rest = steps[0], steps[1:]
    type_ = types[len(prefix)]
    if here[0].kind in ("equal", "in"):
        fixed = _fixed_values(here[0], type_, value, rows.descs[len(prefix)])
        return [part for one in fixed for part in _narrowed(rows, types, rest, (*prefix, one), value)]
    bounds = _bounds(here, type_, value)
    if bounds is None:
        return []
    low, high, low_open, high_open = bounds
    whole = rows.span(prefix, low, high, low_open=low_open, high_open=high_open)
    if not rest:
        return [whole]
    return [
        part for one in _different(rows, whole, prefix) for part in _narrowed(rows, types, rest, (*prefix, one), value)
    ]


def _fixed_values(predicate: Predicate, type_: Type, value: Value, desc: bool) -> list[object]:
    """The values of an equality or a list, each once and in key order."""
    is_null = isinstance(predicate.condition, exp.Is)
    found: list[object] = []
    for expression in predicate.values:
        assert expression is not None
        one = None if is_null else value(expression)
        if one is None and not is_null:
            continue  # nothing is equal to NULL
        one = fitted(type_, one)
        if isinstance(one, float) and math.isnan(one):
            continue  # nor to NaN
        if one not in found:
            found.append(one)
    if len(found) > 1:
        found.sort(reverse=desc)
    return found


def fitted(type_: Type, value: object) -> object:
    """The value as one of the key column's type; Unseekable where it is none."""
    if value is None:
        return None
    if type_.name == "INT64" and isinstance(value, float):
        if not value.is_integer():
            raise Unseekable
        return int(value)
    try:
        return coerce(type_, value)
    except ValueError:
        raise Unseekable from None


def _bounds(here: list[Predicate], type_: Type, value: Value) -> tuple[Any, Any, bool, bool] | None:
    """Low, high, and whether these are left out; None where no value can satisfy the predicates."""
    first = here[0]
    floor: object = float("nan") if type_.name in ("FLOAT64", "FLOAT32") else None
    if first.kind == "not_null":
        return None, ..., True, False
    if first.kind == "prefix":
        assert first.values[0] is not None
        return _prefix_bounds(value(first.values[0]))
    low: Any = floor
    high: Any = ...
    low_open, high_open = True, False
    for predicate in here:
        lower, upper = predicate.values
        if lower is not None:
            one = value(lower)
            if one is None or one != one:
                return None
            low, low_open = _tighter(low, low_open, fitted(type_, one), predicate.low_open, floor, above=True)
        if upper is not None:
            one = value(upper)
            if one is None or one != one:
                return None
            high, high_open = _tighter(high, high_open, fitted(type_, one), predicate.high_open, ..., above=False)
    return low, high, low_open, high_open


def _tighter(have: Any, have_open: bool, new: Any, new_open: bool, unset: object, *, above: bool) -> tuple[Any, bool]:
    if have is unset or have is None or (isinstance(have, float) and math.isnan(have)):
        return new, new_open
    if new == have:
        return have, have_open or new_open
    return (new, new_open) if (new > have) == above else (have, have_open)


def _prefix_bounds(start: object) -> tuple[Any, Any, bool, bool] | None:
    if start is None:
        return None
    if isinstance(start, bytes):
        stripped = start.rstrip(b"\xff")
        after: object = stripped[:-1] + bytes([stripped[-1] + 1]) if stripped else ...
        return start, after, False, True
    text = str(start)
    stripped_text = text.rstrip("\U0010ffff")
    if not stripped_text:
        return text, ..., False, False
    code = ord(stripped_text[-1]) + 1
    code = 0xE000 if 0xD800 <= code < 0xE000 else code
    return text, stripped_text[:-1] + chr(code), False, True


def _different(rows: Rows, whole: slice, prefix: tuple[object, ...]) -> list[object]:
    """The different values of the next key part in a slice, found by leaping from one to the next."""
    position, found, at = rows.key_positions[len(prefix)], [], whole.start
    while at < whole.stop:
        one = rows.values(slice(at, at + 1))[0][position]
        found.append(one)
        at = rows.span((*prefix, one)).stop
    return found
