"""Expressions made ready to run: each knows its type, and how to compute itself for one row or for a batch of rows.

A tree from the parser is bound once to the types of the columns that it names. What comes out is a tree of closures:
`row` takes a mapping of column values and gives a value, which is quick for a single commit; `vector` takes a batch and
gives a Vector, which is quick for many rows. NULL is None, and most operations give NULL where an argument is NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from spanlab.errors import QueryError
from spanlab.sql.dialect import Spanner
from spanlab.sql.functions import Fault
from spanlab.sql.vectors import Vector
from spanlab.values import Type, coerce, to_float32

BOOL, BYTES, DATE, FLOAT64, INT64, JSON, NUMERIC, STRING, TIMESTAMP, UUID = map(
    Type, ("BOOL", "BYTES", "DATE", "FLOAT64", "INT64", "JSON", "NUMERIC", "STRING", "TIMESTAMP", "UUID")
)
Values = Mapping[str, Any]


class EvaluationError(QueryError):
    """An expression failed on a value: overflow, division by zero, a CAST that cannot be. `code` is the gRPC status."""

    code = "OUT_OF_RANGE"

    def __str__(self) -> str:
        return f"{self.code}: {super().__str__()}"


_SHARED_RANDOM = Random(0)  # a fixed seed: notebooks print the same ids on every run


@dataclass(frozen=True)
class Context:
    """What an expression may ask for beside its row: the time, chance, and the next value of a sequence."""

    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    random: Random = _SHARED_RANDOM
    next_value: Callable[[str], int] | None = None


class Batch:
    """Rows to evaluate an expression over, or some of them: `positions` says which, None means all."""

    def __init__(
        self, columns: Mapping[str, Vector], rows: int, context: Context, positions: NDArray[np.intp] | None = None
    ) -> None:
        self.columns, self.rows, self.context, self.positions = columns, rows, context, positions

    def column(self, name: str) -> Vector:
        """The values of a column in these rows."""
        whole = self.columns[name]
        return whole if self.positions is None else whole.take(self.positions)

    def take(self, chosen: NDArray[np.intp]) -> Batch:
        """The batch of only these rows of it."""
        positions = chosen if self.positions is None else self.positions[chosen]
        return Batch(self.columns, len(chosen), self.context, positions)

    def values(self, row: int) -> tuple[int, Values]:
        """Where that row stands among all rows, counted from 1, and its values."""
        at = row if self.positions is None else int(self.positions[row])
        one = np.array([at])
        return at + 1, {name: vector.take(one).to_list()[0] for name, vector in self.columns.items()}


@dataclass(frozen=True)
class Bound:
    """An expression of known type. `literal` marks what coerces as literals and parameters do; `value` is set then."""

    type: Type
    row: Callable[[Values, Context], Any]
    vector: Callable[[Batch], Vector]
    tree: exp.Expr
    literal: bool = False
    value: Any = None


def text_of_tree(tree: exp.Expr) -> str:
    """The expression as text, shortened for a message."""
    return _shortened(tree.sql(dialect=Spanner))


def failure(fault: Fault, tree: exp.Expr, values: Values, row: int | None = None) -> EvaluationError:
    """The error of an expression that failed on these values, in the row of that number."""
    names = {column.name.casefold() for column in tree.find_all(exp.Column)}
    known = {name: value for name, value in values.items() if name.split(".")[-1].casefold() in names}
    shown = ", ".join(f"{name} = {_shown(value)}" for name, value in known.items())
    place = "" if row is None else f"row {row}"
    where = ": ".join(part for part in (place, shown) if part)
    return EvaluationError(f"{_shortened(str(fault))}, in {text_of_tree(tree)}" + (f" ({where})" if where else ""))


def _shown(value: Any) -> str:
    """A value as SQL would write it, or nearly so."""
    if value is None or isinstance(value, bool):
        return "NULL" if value is None else str(value).upper()
    return _shortened(str(value) if isinstance(value, (date, Decimal)) else repr(value))


def _shortened(text: str) -> str:
    return text if len(text) <= 120 else text[:100] + " …"


# ---- leaves and calls --------------------------------------------------------------------------------------------


def constant(type_: Type, value: Any, tree: exp.Expr, literal: bool = True) -> Bound:
    """A value that is the same in every row."""
    return Bound(
        type_,
        lambda _values, _context: value,
        lambda batch: Vector.constant(type_, value, batch.rows),
        tree,
        literal,
        value,
    )


def column(name: str, type_: Type, tree: exp.Expr) -> Bound:
    """The column of that name in the rows."""
    return Bound(type_, lambda values, _context: values.get(name), lambda batch: batch.column(name), tree)


def call(
    tree: exp.Expr,
    type_: Type,
    function: Callable[..., Any],
    arguments: Sequence[Bound],
    array: Callable[..., Any] | None = None,
) -> Bound:
    """A function of values that are not NULL: NULL where an argument is. `array` is its form for whole arrays."""
    return Bound(
        type_, _row_call(tree, function, arguments), _vector_call(tree, type_, function, arguments, array), tree
    )


def _row_call(
    tree: exp.Expr, function: Callable[..., Any], arguments: Sequence[Bound]
) -> Callable[[Values, Context], Any]:
    if len(arguments) == 2:
        first, second = (argument.row for argument in arguments)

        def row_of_two(values: Values, context: Context) -> Any:
            left, right = first(values, context), second(values, context)
            if left is None or right is None:
                return None
            try:
                return function(left, right)
            except Fault as fault:
                raise failure(fault, tree, values) from None

        return row_of_two
    rows = [argument.row for argument in arguments]

    def row(values: Values, context: Context) -> Any:
        given = [argument(values, context) for argument in rows]
        if None in given:
            return None
        try:
            return function(*given)
        except Fault as fault:
            raise failure(fault, tree, values) from None

    return row


def _vector_call(
    tree: exp.Expr,
    type_: Type,
    function: Callable[..., Any],
    arguments: Sequence[Bound],
    array: Callable[..., Any] | None,
) -> Callable[[Batch], Vector]:
    def vector(batch: Batch) -> Vector:
        given = [argument.vector(batch) for argument in arguments]
        null = np.logical_or.reduce([one.null for one in given])
        alive = np.flatnonzero(~null) if null.any() else None
        chosen = given if alive is None else [one.take(alive) for one in given]
        data = array(*(one.data for one in chosen)) if array is not None else None
        if data is not None:
            computed = Vector(type_, data, np.zeros(len(data), np.bool_))
        else:
            computed = _computed_row_by_row(tree, type_, function, chosen, batch, alive)
        return computed if alive is None else Vector.assembled(type_, batch.rows, [(alive, computed)])

    return vector


def _computed_row_by_row(
    tree: exp.Expr, type_: Type, function: Callable[..., Any], given: list[Vector], batch: Batch, alive: Any
) -> Vector:
    values: list[Any] = []
    try:
        for arguments in zip(*(one.to_list() for one in given), strict=True):
            values.append(function(*arguments))
    except Fault as fault:
        row = len(values) if alive is None else int(alive[len(values)])
        number, shown = batch.values(row)
        raise failure(fault, tree, shown, number) from None
    return Vector.of(type_, values)


def per_row(tree: exp.Expr, type_: Type, compute: Callable[[Context], Any]) -> Bound:
    """A value that the context gives anew for every row (GENERATE_UUID)."""
    return Bound(
        type_,
        lambda _values, context: compute(context),
        lambda batch: Vector.of(type_, [compute(batch.context) for _ in range(batch.rows)]),
        tree,
    )


def per_statement(tree: exp.Expr, type_: Type, compute: Callable[[Context], Any]) -> Bound:
    """A value that the context gives once for all rows (CURRENT_TIMESTAMP)."""
    return Bound(
        type_,
        lambda _values, context: compute(context),
        lambda batch: Vector.constant(type_, compute(batch.context), batch.rows),
        tree,
    )


# ---- coercion ----------------------------------------------------------------------------------------------------

# the farther a coercion, the larger its number; INT64 is nearer to FLOAT64, so that ROUND(1) is a FLOAT64
_COERCED = {("INT64", "FLOAT64"): 1, ("INT64", "NUMERIC"): 2, ("NUMERIC", "FLOAT64"): 1, ("FLOAT32", "FLOAT64"): 1}
_COERCED_LITERALS = {
    ("INT64", "FLOAT32"): 3, ("FLOAT64", "NUMERIC"): 1, ("FLOAT64", "FLOAT32"): 2, ("STRING", "DATE"): 1,
    ("STRING", "TIMESTAMP"): 1, ("STRING", "UUID"): 1,
}  # fmt: skip
Cost = tuple[int, int, int]
"""Of several values: how many that are no literals are coerced, how many literals are, and how far altogether."""


def total_cost(bounds: Sequence[Bound], targets: Sequence[Type]) -> Cost | None:
    """What it costs to coerce each value to its target; None where one cannot be. The smallest is the best."""
    total = (0, 0, 0)
    for bound, target in zip(bounds, targets, strict=True):
        distance = cost(bound, target)
        if distance is None:
            return None
        here = (0, min(distance, 1)) if bound.literal else (min(distance, 1), 0)
        total = (total[0] + here[0], total[1] + here[1], total[2] + distance)
    return total


def cost(bound: Bound, target: Type) -> int | None:
    """How far a coercion to `target` goes: 0 where there is none to do, None where Spanner would not do it."""
    source = bound.type
    if source.name == "ARRAY" and target.name == "ARRAY":
        same = target.element is None or source.element is None or target.element.name == source.element.name
        return 0 if same or (bound.literal and not bound.value) else None
    if source.name == target.name:
        return 0
    if bound.literal and bound.value is None:
        return 1  # NULL is of every type
    pair = (source.name, target.name)
    return _COERCED.get(pair, _COERCED_LITERALS.get(pair) if bound.literal else None)


def coerced(bound: Bound, target: Type) -> Bound:
    """`bound` as a value of `target`, where `cost` allows it. Raises QueryError for a literal that is none."""
    if bound.type.name == target.name and (bound.type.name != "ARRAY" or not bound.literal or target.element is None):
        return bound
    if bound.literal:
        try:
            return constant(target, coerce(target, bound.value), bound.tree)
        except ValueError as error:
            raise QueryError(f"{text_of_tree(bound.tree)} cannot be read as {target.name}: {error}") from None
    convert: Any = {"FLOAT64": float, "NUMERIC": Decimal, "FLOAT32": to_float32}[target.name]
    array = None if "NUMERIC" in (bound.type.name, target.name) else lambda data: data.astype(np.float64)
    return call(bound.tree, target, convert, [bound], array)


def common_type(bounds: Sequence[Bound]) -> Type | None:
    """The supertype of several expressions (CASE, IN, comparisons …); None where they have none.

    Literals follow the other expressions; NULLs alone are INT64.
    """
    named = {bound.type.name: bound.type for bound in bounds if not (bound.literal and bound.value is None)}
    if not named:
        return bounds[0].type if bounds else INT64
    candidates = [*named.values(), *(Type(name) for name in ("NUMERIC", "FLOAT64") if name not in named)]
    best: tuple[Cost, Type] | None = None
    for candidate in candidates:
        total = total_cost(bounds, [candidate] * len(bounds))
        if total is not None and (best is None or total < best[0]):
            best = total, candidate
    if best is None:
        return None
    same = {bound.type for bound in bounds if bound.type.name == best[1].name}
    return best[1] if len(same) <= 1 or best[1].element or best[1].fields else Type(best[1].name)
