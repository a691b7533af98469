"""GoogleSQL expressions: their types, and their values over rows.

CHECK constraints, DEFAULTs, generated columns, WHERE clauses and select lists are all expressions; Spanner and this
module give them one meaning wherever they stand. `evaluate` computes one over columns (numpy arrays, `Vector`),
`evaluate_row` for a single row; `infer_type` says which type comes out, `is_volatile` whether it is the same each time.

An expression is bound once to the types of its columns (`bind`), which finds every error that does not depend on
values: QueryError for what Spanner refuses, UnsupportedError for what lies outside the course. Errors that depend on
values (overflow, division by zero …) are `EvaluationError`s, and say for which row.
"""

from __future__ import annotations

import random as _random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlglot import exp

from spanlab.sql import bind_collections, bind_conditions, bind_moments  # noqa: F401 (they register what they bind)
from spanlab.sql.binder import Binder
from spanlab.sql.bound import Batch, Bound, Context, EvaluationError
from spanlab.sql.calls import read_call
from spanlab.sql.vectors import Vector
from spanlab.values import Type

__all__ = [
    "Bound", "EvaluationError", "Vector", "bind", "columns_in", "evaluate", "evaluate_row", "infer_type", "is_volatile",
]  # fmt: skip

VOLATILE = frozenset(
    ("CURRENT_TIMESTAMP", "CURRENT_DATE", "GENERATE_UUID", "NEW_UUID", "PENDING_COMMIT_TIMESTAMP",
     "GET_NEXT_SEQUENCE_VALUE", "GET_INTERNAL_SEQUENCE_STATE")
)  # fmt: skip
"""The functions whose value is not fixed by their arguments: none may stand in a CHECK or a generated column."""


def evaluate(
    expression: exp.Expr,
    columns: Mapping[str, Vector],
    rows: int,
    *,
    params: Mapping[str, object] | None = None,
    now: datetime | None = None,
    random: _random.Random | None = None,
    next_value: Callable[[str], int] | None = None,
) -> Vector:
    """The values of an expression in `rows` rows.

    `columns` holds a vector of that length for every column that may be named, under its name ("Amount") or a
    qualified one ("o.Amount"); case does not count. `params` are the values of @parameters, as Python objects. `now` is
    the moment of CURRENT_TIMESTAMP and of the commit, `random` the chance of GENERATE_UUID (a fixed seed without it),
    `next_value` gives the next value of the sequence of that name. Raises QueryError and UnsupportedError, and its kind
    EvaluationError where the expression fails in a row.
    """
    bound = bind(expression, {name: vector.type for name, vector in columns.items()}, params=params or {})
    with np.errstate(all="ignore"):
        return bound.vector(Batch(columns, rows, _context(now, random, next_value)))


def evaluate_row(
    expression: exp.Expr,
    values: Mapping[str, object],
    types: Mapping[str, Type],
    *,
    now: datetime | None = None,
    random: _random.Random | None = None,
    next_value: Callable[[str], int] | None = None,
) -> Any:
    """The value of an expression in one row: a Python value, None for NULL. Columns without a value are NULL.

    Arguments and errors are those of `evaluate`.
    """
    return bind(expression, types, params={}).row(values, _context(now, random, next_value))


def infer_type(
    expression: exp.Expr, column_types: Mapping[str, Type], params: Mapping[str, object] | None = None
) -> Type:
    """The type of an expression over columns of these types. Raises QueryError and UnsupportedError.

    NULL alone, and a parameter whose value is not given, is an INT64.
    """
    return bind(expression, column_types, params=params).type


def bind(
    expression: exp.Expr, column_types: Mapping[str, Type], *, params: Mapping[str, object] | None = None
) -> Bound:
    """The expression made ready to run over columns of these types. Raises QueryError and UnsupportedError.

    `params` are the values of @parameters; with None they are not known yet, and of any type.
    What was bound last is kept for every expression, so that a CHECK is bound once for many commits.
    """
    names = tuple(column_types)
    known = _BOUND.get(expression)
    if known is not None and known.names == names and known.fits(column_types, params):
        return known.bound
    binder = Binder(column_types, params)
    bound = binder.bind_whole(expression)
    if len(_BOUND) >= _MOST_BOUND:
        _BOUND.clear()
    _BOUND[expression.copy()] = _Kept(names, binder.used, binder.used_params, bound)
    return bound


def columns_in(expression: exp.Expr) -> tuple[str, ...]:
    """The columns that an expression names, each once, as written and qualified as written ("o.Amount")."""
    return tuple(dict.fromkeys(_dotted(node) for node in expression.find_all(exp.Column, bfs=False)))


def is_volatile(expression: exp.Expr) -> bool:
    """True where two evaluations over one row may differ (facts.md 5.3): time, chance, sequences."""
    calls = (read_call(node) for node in expression.walk())
    return any(found is not None and found[0] in VOLATILE for found in calls)


@dataclass(frozen=True)
class _Kept:
    """A bound expression, and what it was bound to: all columns by name, the types and parameters that it uses."""

    names: tuple[str, ...]
    types: dict[str, Type]
    params: dict[str, object]
    bound: Bound

    def fits(self, types: Mapping[str, Type], params: Mapping[str, object] | None) -> bool:
        given = params or {}
        same_params = all(name in given and _same(given[name], value) for name, value in self.params.items())
        return same_params and all(types[name] == type_ for name, type_ in self.types.items())


_BOUND: dict[exp.Expr, _Kept] = {}
_MOST_BOUND = 4096


def _same(one: object, other: object) -> bool:
    """True for values of one Python type that are equal; 1, 1.0 and True are three."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and one == other


def _context(now: datetime | None, random: _random.Random | None, next_value: Callable[[str], int] | None) -> Context:
    given = {"now": now, "random": random, "next_value": next_value}
    return Context(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]


def _dotted(node: exp.Column) -> str:
    return ".".join(part.name for part in node.parts)
