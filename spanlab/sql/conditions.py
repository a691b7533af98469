"""What treats NULL in a way of its own: AND and OR, comparisons, IN, CASE, COALESCE, IS.

A condition is TRUE, FALSE or NULL ("unknown"). AND, OR, IF, CASE and COALESCE look at their later parts only in rows
that the earlier ones have not decided, so that `IF(n = 0, 0, total / n)` does not divide by zero.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from spanlab.errors import QueryError
from spanlab.sql.bound import BOOL, Batch, Bound, call, coerced, common_type, constant, text_of_tree
from spanlab.sql.functions import Fault
from spanlab.sql.vectors import Vector
from spanlab.values import Type

_COMPARISONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[..., Any]]] = {
    "=": (operator.eq, np.equal), "!=": (operator.ne, np.not_equal), "<": (operator.lt, np.less),
    "<=": (operator.le, np.less_equal), ">": (operator.gt, np.greater), ">=": (operator.ge, np.greater_equal),
}  # fmt: skip


def unified(tree: exp.Expr, bounds: Sequence[Bound], what: str) -> tuple[Type, list[Bound]]:
    """All expressions as values of their common type. Raises QueryError where they have none."""
    target = common_type(bounds)
    if target is None:
        types = " and ".join(dict.fromkeys(bound.type.name for bound in bounds))
        raise QueryError(f"{what} needs values of one type; {text_of_tree(tree)} has {types}", hint="CAST one of them")
    return target, [coerced(bound, target) for bound in bounds]


def compare(tree: exp.Expr, sign: str, left: Bound, right: Bound) -> Bound:
    """left = right, and its five relatives. NULL where a side is NULL; NaN equals nothing and is less than nothing."""
    target, (left, right) = unified(tree, (left, right), f"The comparison {sign}")
    if target.name == "STRUCT" and sign in ("=", "!="):
        return _compare_structs(tree, sign, left, right)
    if target.name in ("ARRAY", "JSON", "STRUCT", "TOKENLIST"):
        raise QueryError(f"{sign} is not defined for values of type {target}: {text_of_tree(tree)}")
    row, array = _COMPARISONS[sign]
    return call(tree, BOOL, row, (left, right), lambda a, b: array(a, b).astype(np.bool_))


def _compare_structs(tree: exp.Expr, sign: str, left: Bound, right: Bound) -> Bound:
    def same(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool | None:
        if len(a) != len(b):
            return False
        parts = [None if x is None or y is None else x == y for x, y in zip(a, b, strict=True)]
        return False if False in parts else None if None in parts else True

    equal = call(tree, BOOL, same, (left, right))
    return equal if sign == "=" else negation(tree, equal)


# ---- three-valued logic ------------------------------------------------------------------------------------------


def condition(bound: Bound, what: str) -> Bound:
    """`bound` as a BOOL. Raises QueryError where it is something else."""
    if bound.literal and bound.value is None:
        return constant(BOOL, None, bound.tree)
    if bound.type != BOOL:
        raise QueryError(f"{what} needs a BOOL; {text_of_tree(bound.tree)} is of type {bound.type}")
    return bound


def negation(tree: exp.Expr, bound: Bound) -> Bound:
    """NOT: NULL stays NULL."""
    return call(tree, BOOL, operator.not_, [condition(bound, "NOT")], np.logical_not)


def junction(tree: exp.Expr, parts: Sequence[Bound], deciding: bool) -> Bound:
    """AND (`deciding` FALSE) or OR (`deciding` TRUE): one deciding part decides; else a NULL makes it NULL."""
    parts = [condition(part, "OR" if deciding else "AND") for part in parts]

    def row(values: Any, context: Any) -> bool | None:
        result: bool | None = not deciding
        for part in parts:
            value = part.row(values, context)
            if value is deciding:
                return deciding
            if value is None:
                result = None
        return result

    def vector(batch: Batch) -> Vector:
        data = np.full(batch.rows, not deciding)
        null = np.zeros(batch.rows, np.bool_)
        open_rows = np.arange(batch.rows)
        for part in parts:
            here = part.vector(batch if len(open_rows) == batch.rows else batch.take(open_rows))
            null[open_rows] |= here.null
            decided = ~here.null & (here.data == deciding)
            data[open_rows[decided]] = deciding
            null[open_rows[decided]] = False
            open_rows = open_rows[~decided]
        return Vector(BOOL, data, null)

    return Bound(BOOL, row, vector, tree)


def is_null(tree: exp.Expr, bound: Bound) -> Bound:
    """value IS NULL: never NULL itself."""

    def vector(batch: Batch) -> Vector:
        null = bound.vector(batch).null
        return Vector(BOOL, null, np.zeros(len(null), np.bool_))

    return Bound(BOOL, lambda values, context: bound.row(values, context) is None, vector, tree)


def is_truth(tree: exp.Expr, bound: Bound, wanted: bool) -> Bound:
    """value IS TRUE, value IS FALSE: NULL is neither."""
    bound = condition(bound, "IS")

    def vector(batch: Batch) -> Vector:
        here = bound.vector(batch)
        return Vector(BOOL, ~here.null & (here.data == wanted), np.zeros(len(here), np.bool_))

    return Bound(BOOL, lambda values, context: bound.row(values, context) is wanted, vector, tree)


def is_distinct(tree: exp.Expr, left: Bound, right: Bound, wanted: bool) -> Bound:
    """left IS [NOT] DISTINCT FROM right: NULL is equal to NULL, and NaN to NaN."""
    equal = compare(tree, "=", left, right)
    _, (left, right) = unified(tree, (left, right), "IS DISTINCT FROM")

    def row(values: Any, context: Any) -> bool:
        a, b = left.row(values, context), right.row(values, context)
        if a is None or b is None:
            return (a is not b) is wanted
        return (not (a == b or (a != a and b != b))) is wanted

    def vector(batch: Batch) -> Vector:
        a, b, same = left.vector(batch), right.vector(batch), equal.vector(batch)
        both_nan = (a.data != a.data) & (b.data != b.data) if a.data.dtype == np.float64 else np.bool_(False)
        alike = np.where(a.null | b.null, a.null & b.null, same.data | both_nan)
        return Vector(BOOL, alike ^ wanted, np.zeros(len(alike), np.bool_))

    return Bound(BOOL, row, vector, tree)


# ---- IN ----------------------------------------------------------------------------------------------------------


def membership(tree: exp.Expr, needle: Bound, items: Sequence[Bound]) -> Bound:
    """needle IN (item, …): TRUE where one is equal, else NULL where a comparison was NULL, else FALSE."""
    target, (needle, *items) = unified(tree, (needle, *items), "IN")
    if target.name in ("STRUCT", "ARRAY", "JSON") or not all(item.literal for item in items):
        return junction(tree, [compare(tree, "=", needle, item) for item in items], deciding=True)
    return _in_constants(tree, needle, [item.value for item in items])


def _in_constants(tree: exp.Expr, needle: Bound, values: list[Any]) -> Bound:
    has_null = None in values
    # NaN equals nothing, not even itself, but a Python set would find it
    known = frozenset(value for value in values if value is not None and value == value)
    numbers = needle.type.name in ("INT64", "FLOAT64", "FLOAT32") and len(known) > 0

    def found(value: Any) -> bool | None:
        return True if value in known else None if has_null else False

    def vector(batch: Batch) -> Vector:
        here = needle.vector(batch)
        if numbers:
            inside = np.isin(here.data, list(known))
        else:
            inside = np.fromiter((value in known for value in here.to_list()), np.bool_, len(here))
        return Vector(BOOL, inside & ~here.null, here.null | (~inside & has_null))

    return Bound(BOOL, call(tree, BOOL, found, [needle]).row, vector, tree)


def array_membership(tree: exp.Expr, needle: Bound, array: Bound) -> Bound:
    """needle IN UNNEST(array): as IN; FALSE where the array is NULL or empty."""
    element = array.type.element
    if array.type.name != "ARRAY" and not (array.literal and array.value is None):
        raise QueryError(f"IN UNNEST needs an ARRAY; {text_of_tree(array.tree)} is of type {array.type}")
    if array.literal:
        items = [constant(element or needle.type, value, array.tree) for value in array.value or ()]
        return membership(tree, needle, items) if items else constant(BOOL, False, tree, literal=False)
    if element is None or element.name != needle.type.name:
        target, (needle,) = _with_element(tree, needle, element)
        if target != element:
            raise QueryError(
                f"IN UNNEST compares {needle.type} with {element}: {text_of_tree(tree)}", hint="CAST one of them"
            )

    def found(value: Any, values: list[Any] | None) -> bool | None:
        if not values:
            return False
        if value is None:
            return None
        return True if any(one == value for one in values if one is not None) else None if None in values else False

    def vector(batch: Batch) -> Vector:
        pairs = zip(needle.vector(batch).to_list(), array.vector(batch).to_list(), strict=True)
        return Vector.of(BOOL, [found(value, values) for value, values in pairs])

    return Bound(
        BOOL, lambda values, context: found(needle.row(values, context), array.row(values, context)), vector, tree
    )


def _with_element(tree: exp.Expr, needle: Bound, element: Type | None) -> tuple[Type, list[Bound]]:
    stand_in = Bound(element or needle.type, needle.row, needle.vector, tree)  # only its type is looked at
    target, (needle, _) = unified(tree, (needle, stand_in), "IN UNNEST")
    return target, [needle]


# ---- choices -----------------------------------------------------------------------------------------------------


def choice(tree: exp.Expr, cases: Sequence[tuple[Bound, Bound]], otherwise: Bound) -> Bound:
    """CASE and IF: the result of the first condition that is TRUE, else `otherwise`."""
    conditions = [condition(when, "WHEN") for when, _ in cases]
    target, results = unified(tree, [*(result for _, result in cases), otherwise], "CASE")
    *results, otherwise = results

    def row(values: Any, context: Any) -> Any:
        for when, result in zip(conditions, results, strict=True):
            if when.row(values, context):
                return result.row(values, context)
        return otherwise.row(values, context)

    def vector(batch: Batch) -> Vector:
        open_rows, parts = np.arange(batch.rows), []
        for when, result in zip(conditions, results, strict=True):
            chosen = when.vector(batch.take(open_rows)).true()
            parts.append((open_rows[chosen], result.vector(batch.take(open_rows[chosen]))))
            open_rows = open_rows[~chosen]
        parts.append((open_rows, otherwise.vector(batch.take(open_rows))))
        return Vector.assembled(target, batch.rows, parts)

    return Bound(target, row, vector, tree)


def first_known(tree: exp.Expr, bounds: Sequence[Bound]) -> Bound:
    """COALESCE and IFNULL: the first value that is not NULL."""
    target, bounds = unified(tree, bounds, "COALESCE")

    def row(values: Any, context: Any) -> Any:
        for bound in bounds:
            value = bound.row(values, context)
            if value is not None:
                return value
        return None

    def vector(batch: Batch) -> Vector:
        open_rows: NDArray[np.intp] = np.arange(batch.rows)
        parts = []
        for bound in bounds:
            here = bound.vector(batch.take(open_rows))
            parts.append((open_rows[~here.null], here.take(np.flatnonzero(~here.null))))
            open_rows = open_rows[here.null]
        return Vector.assembled(target, batch.rows, parts)

    return Bound(target, row, vector, tree)


def null_if(tree: exp.Expr, left: Bound, right: Bound) -> Bound:
    """NULLIF: NULL where both are equal, else the first."""
    nothing = constant(left.type, None, tree)
    return choice(tree, [(compare(tree, "=", left, right), nothing)], left)


def extreme(tree: exp.Expr, name: str, bounds: Sequence[Bound]) -> Bound:
    """GREATEST and LEAST: NULL where an argument is NULL, NaN where one is NaN."""
    target, bounds = unified(tree, bounds, name)
    if target.name in ("ARRAY", "JSON", "STRUCT"):
        raise QueryError(f"{name} is not defined for values of type {target}")
    pick = max if name == "GREATEST" else min

    def compute(*values: Any) -> Any:
        return next((value for value in values if value != value), None) if _has_nan(values) else pick(values)

    return call(tree, target, compute, bounds)


def _has_nan(values: Sequence[Any]) -> bool:
    return any(isinstance(value, float) and math.isnan(value) for value in values)


def without_faults(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that gives NULL where `function` fails: the SAFE. prefix, SAFE_CAST."""

    def guarded(*values: Any) -> Any:
        try:
            return function(*values)
        except Fault:
            return None

    return guarded
