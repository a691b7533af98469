"""Aggregate functions: the value of each group.

NULLs are left out, except by COUNT(*), ARRAY_AGG and ANY_VALUE; a group without values gives NULL, a count 0.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from spanlab.errors import QueryError, UnsupportedError
from spanlab.query.chunk import codes, ranks
from spanlab.sql.dialect import Spanner
from spanlab.sql.expressions import EvaluationError, Vector
from spanlab.values import Type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

INT64, FLOAT64, BOOL, STRING = Type("INT64"), Type("FLOAT64"), Type("BOOL"), Type("STRING")
Evaluate = Callable[[exp.Expr], Vector]
_LIMIT = 2**63


def arguments(call: exp.Expr) -> list[exp.Expr]:
    """The expressions that an aggregate call works out for each row."""
    inner = call.this
    if isinstance(inner, exp.Distinct):
        inner = inner.expressions[0]
    if isinstance(inner, exp.HavingMax):
        return [inner.this, inner.expression]
    if isinstance(inner, (exp.Order, exp.Limit)):
        raise UnsupportedError("ORDER BY and LIMIT inside an aggregate lie outside this course.")
    return [] if inner is None or isinstance(inner, exp.Star) else [inner]


def result_type(call: exp.Expr, types: Sequence[Type]) -> Type:
    """The type of an aggregate call whose arguments have these types."""
    if isinstance(call, (exp.Count, exp.CountIf)):
        return INT64
    first = types[0]
    if isinstance(call, exp.Sum):
        _number(call, first)
        return first if first.name != "FLOAT32" else FLOAT64
    if isinstance(call, exp.Avg):
        _number(call, first)
        return first if first.name == "NUMERIC" else FLOAT64
    if isinstance(call, (exp.Min, exp.Max, exp.AnyValue)):
        return first
    if isinstance(call, exp.ArrayAgg):
        return Type("ARRAY", element=first)
    if isinstance(call, exp.GroupConcat):
        return first
    if isinstance(call, (exp.LogicalAnd, exp.LogicalOr)):
        return BOOL
    if isinstance(call, (exp.BitwiseAndAgg, exp.BitwiseOrAgg, exp.BitwiseXorAgg)):
        return INT64
    if isinstance(call, (exp.Stddev, exp.StddevSamp, exp.Variance)):
        return FLOAT64
    raise UnsupportedError(f"The aggregate {call.sql(Spanner)} lies outside this course.")


def _number(call: exp.Expr, type_: Type) -> None:
    if type_.name not in ("INT64", "FLOAT64", "FLOAT32", "NUMERIC"):
        raise QueryError(f"{call.sql(Spanner)} needs numbers, not {type_}.")


def aggregate(call: exp.Expr, group: NDArray[np.int64], groups: int, evaluate: Evaluate) -> Vector:
    """The values of one call: `group` is each row's group number, `groups` how many there are."""
    if isinstance(call, exp.Count) and isinstance(call.this, exp.Star):
        return _ints(np.bincount(group, minlength=groups))
    vectors = [evaluate(argument) for argument in arguments(call)]
    type_ = result_type(call, [vector.type for vector in vectors])
    vector = vectors[0]
    if isinstance(call.this, exp.Distinct):
        group, vector = _distinct(group, vector)
    if isinstance(call, exp.CountIf):
        return _ints(np.bincount(group[vector.true()], minlength=groups))
    if isinstance(call, exp.AnyValue) and len(vectors) == 2:
        return _any_having(call, group, groups, vector, vectors[1])
    if isinstance(call, exp.AnyValue):
        return _first(group, groups, vector)
    if isinstance(call, exp.ArrayAgg):
        return _lists(group, groups, vector, type_)
    alive = np.flatnonzero(~vector.null)
    group, vector = group[alive], vector.take(alive)
    if isinstance(call, exp.Count):
        return _ints(np.bincount(group, minlength=groups))
    if isinstance(call, (exp.Min, exp.Max)):
        return _extreme(group, groups, vector, isinstance(call, exp.Max))
    return _folded(call, group, groups, vector, type_)


def _ints(counts: NDArray[Any]) -> Vector:
    return Vector(INT64, counts.astype(np.int64), np.zeros(len(counts), np.bool_))


def _distinct(group: NDArray[np.int64], vector: Vector) -> tuple[NDArray[np.int64], Vector]:
    """The first row of each different value in each group."""
    pairs, count = codes([Vector(INT64, group, np.zeros(len(group), np.bool_)), vector], len(group))
    first = np.unique(pairs, return_index=True)[1] if count else np.zeros(0, np.int64)
    first.sort()
    return group[first], vector.take(first)


def _first(group: NDArray[np.int64], groups: int, vector: Vector) -> Vector:
    found, positions = np.unique(group, return_index=True)
    return Vector.assembled(vector.type, groups, [(found, vector.take(positions))])


def _any_having(call: exp.Expr, group: NDArray[np.int64], groups: int, vector: Vector, by: Vector) -> Vector:
    """ANY_VALUE(x HAVING MIN y): x from a row in which y is smallest."""
    alive = np.flatnonzero(~by.null)
    rank = ranks(by)[alive]
    order = np.lexsort([-rank if call.this.args.get("max") else rank, group[alive]])
    chosen = alive[order]
    return _first(group[chosen], groups, vector.take(chosen))


def _extreme(group: NDArray[np.int64], groups: int, vector: Vector, largest: bool) -> Vector:
    rank = ranks(vector)
    if vector.type.name in ("FLOAT64", "FLOAT32"):
        rank = np.where(np.isnan(vector.data), np.iinfo(np.int64).max if largest else 0, rank)
    order = np.lexsort([-rank if largest else rank, group])
    return _first(group[order], groups, vector.take(order))


def _lists(group: NDArray[np.int64], groups: int, vector: Vector, type_: Type) -> Vector:
    found: list[list[Any] | None] = [None] * groups
    for number, value in zip(group.tolist(), vector.to_list(), strict=True):
        kept = found[number]
        if kept is None:
            kept = found[number] = []
        kept.append(value)
    return Vector.of(type_, found)


def _folded(call: exp.Expr, group: NDArray[np.int64], groups: int, vector: Vector, type_: Type) -> Vector:
    """Aggregates that look at all values of a group."""
    order = np.argsort(group, kind="stable")
    found, starts = np.unique(group[order], return_index=True)
    data = vector.data[order]
    values: list[Any] = [None] * groups
    if isinstance(call, (exp.Sum, exp.Avg)) and vector.type.name != "NUMERIC":
        return _summed(call, found, starts, data, groups, type_)
    for number, part in zip(found.tolist(), np.split(data, starts[1:]) if len(starts) else [], strict=True):
        values[number] = _one(call, part.tolist())
    return Vector.of(type_, values)


def _summed(
    call: exp.Expr,
    found: NDArray[np.int64],
    starts: NDArray[Any],
    data: NDArray[Any],
    groups: int,
    type_: Type,
) -> Vector:
    if not len(found):
        return Vector.of(type_, [None] * groups)
    with np.errstate(all="ignore"):
        sums = np.add.reduceat(data, starts)
        rough = np.add.reduceat(data.astype(np.float64), starts)
    counts = np.diff(np.append(starts, len(data)))
    if isinstance(call, exp.Avg):
        sums = rough / counts
    elif data.dtype == np.int64 and np.abs(rough).max() >= _LIMIT * 0.999:
        exact = [sum(part.tolist()) for part in np.split(data, starts[1:])]
        if any(not -_LIMIT <= value < _LIMIT for value in exact):
            raise EvaluationError(f"OUT_OF_RANGE: {call.sql(Spanner)} does not fit INT64.")
        sums = np.array(exact, np.int64)
    part = Vector(type_, sums, np.zeros(len(sums), np.bool_))
    return Vector.assembled(type_, groups, [(found, part)])


def _one(call: exp.Expr, values: list[Any]) -> Any:
    if isinstance(call, exp.Sum):
        return sum(values, Decimal(0))
    if isinstance(call, exp.Avg):
        return sum(values, Decimal(0)) / len(values)
    if isinstance(call, exp.LogicalAnd):
        return all(values)
    if isinstance(call, exp.LogicalOr):
        return any(values)
    if isinstance(call, exp.GroupConcat):
        return _concatenated(call, values)
    if isinstance(call, (exp.BitwiseAndAgg, exp.BitwiseOrAgg, exp.BitwiseXorAgg)):
        return _bits(call, values)
    return _spread(call, [float(value) for value in values])


def _concatenated(call: exp.Expr, values: list[Any]) -> Any:
    separator = call.args.get("separator")
    text = separator.name if separator is not None else ","
    return text.join(values) if isinstance(values[0], str) else text.encode().join(values)


def _bits(call: exp.Expr, values: list[int]) -> int:
    result = values[0]
    for value in values[1:]:
        if isinstance(call, exp.BitwiseAndAgg):
            result &= value
        elif isinstance(call, exp.BitwiseOrAgg):
            result |= value
        else:
            result ^= value
    return result


def _spread(call: exp.Expr, values: list[float]) -> float | None:
    if len(values) < 2:
        return None
    variance = float(np.var(values, ddof=1))
    return variance if isinstance(call, exp.Variance) else variance**0.5
