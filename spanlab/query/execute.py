"""Runs a plan over stored rows, and counts.

Each operator works on whole columns (`spanlab.query.chunk`); scans read key ranges of `spanlab.storage`. The counts are
what a PROFILE of Spanner shows: rows that an operator gave, how often it ran, rows that a scan read, splits that were
reached and calls to other servers. Two things are ours, since Spanner does not publish them: a batch of a Distributed …
Apply has 1,000 rows, and a Distributed operator makes one call for each split that its rows or its batch lie in.
"""

from __future__ import annotations

import random as _random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from spanlab.errors import QueryError
from spanlab.query import execute_joins
from spanlab.query.aggregates import aggregate
from spanlab.query.chunk import Chunk, codes, joined_vectors, nulls, sorted_positions, stacked
from spanlab.query.logical import Variable, variables_in, with_plain_values
from spanlab.query.plan import Counts, Node
from spanlab.query.predicates import KeyMatch
from spanlab.query.ranges import Unseekable, slices
from spanlab.query.steps import (
    AggregateStep,
    ComputeStep,
    EmptyStep,
    FilterStep,
    LimitStep,
    OutputStep,
    SampleStep,
    ScanStep,
    SortStep,
    SpoolBuildStep,
    SpoolScanStep,
    SubqueryStep,
    UnionStep,
    UnnestStep,
)
from spanlab.sql.expressions import Vector, bind
from spanlab.sql.expressions import evaluate as evaluated
from spanlab.values import Type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spanlab.query.database import Database
    from spanlab.storage.rows import Rows

_AHEAD = 256
_FEW, _OFTEN = 4, 16
INT64 = Type("INT64")


@dataclass
class Surroundings:
    """What an operator sees beside its input: the outer row's variables, the batch of a Distributed … Apply."""

    outer: dict[str, Vector] = field(default_factory=dict)
    batch: Chunk | None = None

    def inside(self, more: dict[str, Vector]) -> Surroundings:
        """The surroundings of a map side: the outer row's values are known too."""
        return Surroundings({**self.outer, **more}, self.batch)


class Executor:
    """One execution of a plan. `system` gives the rows of INFORMATION_SCHEMA and SPANNER_SYS tables by name."""

    def __init__(
        self,
        database: Database,
        types: Mapping[str, Type],
        params: Mapping[str, object] | None,
        now: datetime,
        system: Callable[[str], Rows],
    ) -> None:
        self.database, self.types, self.params, self.now, self.system = database, types, dict(params or {}), now, system
        self.spools: dict[str, Chunk] = {}
        self.random = _random.Random(0)
        self.kept: dict[int, Vector] = {}
        self.plain_forms: dict[int, tuple[exp.Expr, exp.Expr]] = {}

    def result(self, root: Node) -> Chunk:
        """The rows of the whole plan; counts are left in its nodes."""
        for node in root.walk():
            node.counts = Counts()
        return self.run(root, Surroundings())

    def run(self, node: Node, around: Surroundings, goal: int | None = None) -> Chunk:
        """The rows of one operator. Where `goal` is given no more than so many are needed."""
        chunk = _OPERATORS.get(node.operator, _passed_on)(self, node, around, goal)
        assert node.counts is not None
        node.counts.executions += 1
        node.counts.rows += chunk.rows
        if node.operator == "Distributed Union":
            self._count_union(node)
        return chunk

    def _count_union(self, node: Node) -> None:
        reached = frozenset().union(*(n.counts.reached for n in below_union(node) if n.counts))
        assert node.counts is not None
        node.counts.splits = max(1, len(reached))
        node.counts.remote_calls = max(1, len(reached))

    # expressions

    def evaluate(self, expression: exp.Expr, chunk: Chunk, around: Surroundings) -> Vector:
        """The values of an expression for the rows of a chunk; variables of the outer row are the same for all."""
        if isinstance(expression, exp.Column) and expression.name in chunk.columns:
            return chunk.columns[expression.name]
        expression = self.plain(expression)
        names = variables_in(expression)
        columns: dict[str, Vector] = {}
        for name in names:
            if name in chunk.columns:
                columns[name] = chunk.columns[name]
            elif name in around.outer:
                columns[name] = _repeated(around.outer[name], chunk.rows)
            else:
                raise KeyError(f"${name} is not known where {expression.sql()} is worked out")
        return evaluated(expression, columns, chunk.rows, params=self.params, now=self.now, random=self.random)

    def plain(self, expression: exp.Expr) -> exp.Expr:
        """The expression with variables in the place of kept subqueries; `with_subqueries` has worked these out."""
        known = self.plain_forms.get(id(expression))
        if known is None:
            known = self.plain_forms[id(expression)] = (expression, with_plain_values(expression))
        return known[1]

    def value(self, expression: exp.Expr, around: Surroundings) -> object:
        """The value of an expression that speaks of the outer row alone."""
        bound = bind(expression, {n: v.type for n, v in around.outer.items()}, params=self.params)
        if bound.literal:
            return bound.value
        return self.evaluate(expression, Chunk({}, 1), around).to_list()[0]

    def kept_rows(self, chunk: Chunk, conditions: list[exp.Expr], node: Node, around: Surroundings) -> NDArray[Any]:
        """The positions of the rows that satisfy all conditions."""
        chunk = self.with_subqueries(node, chunk, around)
        keep = np.ones(chunk.rows, np.bool_)
        for condition in conditions:
            keep &= self.evaluate(condition, chunk, around).true()
        return np.flatnonzero(keep)

    def with_subqueries(self, node: Node, chunk: Chunk, around: Surroundings) -> Chunk:
        """The chunk with a column for each subquery that the node's expressions speak of."""
        for child in node.children:
            if isinstance(child.step, SubqueryStep):
                chunk = chunk.with_columns({child.step.variable.name: self._subquery(child, chunk, around)})
        return chunk

    def _subquery(self, node: Node, chunk: Chunk, around: Surroundings) -> Vector:
        step: SubqueryStep = node.step
        type_ = self.types[step.variable.name]
        if not step.arguments:
            if node.id not in self.kept:
                self.kept[node.id] = Vector.of(type_, [self._subquery_value(node, step, around)])
            return _repeated(self.kept[node.id], chunk.rows)
        arguments = {name: self.evaluate(expression, chunk, around) for name, expression in step.arguments}
        values = []
        for row in range(chunk.rows):
            one = {name: vector.take(np.array([row])) for name, vector in arguments.items()}
            values.append(self._subquery_value(node, step, around.inside(one)))
        return Vector.of(type_, values)

    def _subquery_value(self, node: Node, step: SubqueryStep, around: Surroundings) -> object:
        chunk = self.run(node.children[0], around)
        assert node.counts is not None
        node.counts.executions += 1
        node.counts.rows += 1
        if step.kind == "exists":
            return bool(chunk.columns[step.variable.name].to_list()[0])
        holder = _value_node(node.children[0])
        chunk = self.with_subqueries(holder, chunk, around) if holder is not None else chunk
        columns = [self.evaluate(expression, chunk, around).to_list() for _, expression in step.outputs]
        if step.kind == "scalar":
            return columns[0][0] if columns[0] else None
        rows: list[Any] = list(zip(*columns, strict=True)) if step.as_struct else columns[0]
        return rows

    # scans

    def read(
        self,
        node: Node,
        step: ScanStep,
        around: Surroundings,
        checks: list[exp.Expr],
        holder: Node,
        goal: int | None,
    ) -> Chunk:
        """The rows in a scan's key ranges that satisfy the residual conditions."""
        rows = self.system(step.name) if step.system else self.database.stored(step.name)
        parts, checks = self.ranges(rows, step.key, step.match, around, checks)
        if goal is None and len(parts) == 1 and not checks:
            chunk = self.rows_at(rows, step, parts[0])
            self._count_scan(node, rows, parts, chunk.rows, chunk.rows)
            return chunk
        numbers = _row_numbers(parts)
        found: list[Chunk] = []
        at, have, block = 0, 0, len(numbers) if goal is None else max(goal, _AHEAD)
        while at < len(numbers) or not found:
            chunk = self.rows_at(rows, step, numbers[at : at + block])
            if checks:
                keep = self.kept_rows(chunk, checks, holder, around)
                if goal is not None and have + len(keep) >= goal:
                    keep = keep[: goal - have]
                    self._count_scan(node, rows, parts, at + (int(keep[-1]) + 1 if len(keep) else 0), len(keep))
                    found.append(chunk.take(keep))
                    return stacked(found)
                chunk = chunk.take(keep)
            elif goal is not None and have + chunk.rows >= goal:
                chunk = chunk.take(slice(0, goal - have))
                self._count_scan(node, rows, parts, at + chunk.rows, chunk.rows)
                return stacked([*found, chunk])
            found.append(chunk)
            have += chunk.rows
            at += block
            block *= 4
        result = stacked(found)
        self._count_scan(node, rows, parts, len(numbers), result.rows)
        return result

    def ranges(
        self, rows: Rows, key: tuple[str, ...], match: KeyMatch, around: Surroundings, checks: list[exp.Expr]
    ) -> tuple[list[slice], list[exp.Expr]]:
        """The row numbers to read, and the conditions to check on them."""
        if not match.seek:
            return [slice(0, len(rows))], checks
        try:
            parts = slices(rows, key, match.seek, lambda expression: self.value(expression, around))
        except Unseekable:
            return [slice(0, len(rows))], checks + [p.condition for p in match.seek]
        if match.seek[0].kind == "any_of":
            checks = [*checks, match.seek[0].condition]
        return parts, checks

    def rows_at(self, rows: Rows, step: ScanStep, numbers: NDArray[Any] | slice) -> Chunk:
        """These rows of a table or an index, with the columns that the scan reads."""
        names = step.columns.by_variable
        count = len(range(*numbers.indices(len(rows)))) if isinstance(numbers, slice) else len(numbers)
        vectors = {column: self._column(rows, column, numbers, count) for column in dict.fromkeys(names.values())}
        return Chunk({variable: vectors[column] for variable, column in names.items()}, count)

    def _column(self, rows: Rows, name: str, numbers: NDArray[Any] | slice, count: int) -> Vector:
        """One column of these rows: few are read one by one, who asks often gets the whole column kept."""
        read = self.database.rows_read
        key = (rows.name, name, rows.version)
        if count * _FEW < len(rows) and read.get(key, 0) * _OFTEN < len(rows):
            read[key] = read.get(key, 0) + count
            return Vector.of(rows.types[rows.position(name)], rows.column(name, numbers))
        whole = rows.vectors([name])[name]
        return Vector(whole.type, whole.data[numbers], whole.null[numbers])

    def _count_scan(self, node: Node, rows: Rows, parts: list[slice], scanned: int, given: int) -> None:
        assert node.counts is not None
        node.counts.scanned += scanned
        node.counts.rows += given
        node.counts.executions += 1
        self.count_splits(node, rows, parts)

    def count_splits(self, node: Node, rows: Rows, parts: list[slice]) -> None:
        """Counts the splits that these rows lie in; a seek that finds nothing still asks one."""
        assert node.counts is not None
        reached: set[int] = set()
        if isinstance(node.step, ScanStep) and node.step.system:
            parts = []
        for part in parts:
            if part.stop > part.start:
                reached |= set(range(self.split_number(rows, part.start), self.split_number(rows, part.stop - 1) + 1))
        node.counts.reached |= reached
        node.counts.splits = max(1, len(node.counts.reached))

    def split_number(self, rows: Rows, number: int) -> int:
        """The number of the split that a row lies in."""
        (row,) = rows.values(slice(number, number + 1))
        return self.database.split_number(rows.name, rows.key_values(row))


def _row_numbers(parts: list[slice]) -> NDArray[Any]:
    if not parts:
        return np.zeros(0, np.int64)
    return np.concatenate([np.arange(part.start, part.stop) for part in parts])


def _repeated(vector: Vector, rows: int) -> Vector:
    """A vector of one value as one of many rows, without the memory for it."""
    return Vector(vector.type, np.broadcast_to(vector.data, rows), np.broadcast_to(vector.null, rows))


def _value_node(node: Node) -> Node | None:
    """The node below unions whose expressions a subquery's own subqueries belong to."""
    while node.operator in ("Distributed Union", "Local Distributed Union"):
        node = node.children[0]
    return node if any(isinstance(child.step, SubqueryStep) for child in node.children) else None


def below_union(node: Node) -> list[Node]:
    """The scans that a Distributed Union sends out itself: those not below another distributed operator's map side."""
    found: list[Node] = []
    for child in node.children:
        if child.is_scan:
            found.append(child)
        elif child.operator == "Distributed Union":
            continue
        elif child.distributed:
            found += below_union(child.children[0])
        else:
            found += below_union(child)
    return found


# operators


def _passed_on(executor: Executor, node: Node, around: Surroundings, goal: int | None) -> Chunk:
    return executor.run(node.children[0], around, goal)


def _unit(executor: Executor, node: Node, around: Surroundings, goal: int | None) -> Chunk:
    return Chunk({}, 1)


def _empty(executor: Executor, node: Node, around: Surroundings, goal: int | None) -> Chunk:
    step: EmptyStep = node.step
    return Chunk({name: nulls(executor.types.get(name, INT64), 0) for name in step.names}, 0)


def _batch(executor: Executor, node: Node, around: Surroundings, goal: int | None) -> Chunk:
    assert around.batch is not None
    return around.batch


def _scan(executor: Executor, node: Node, around: Surroundings, goal: int | None) -> Chunk:
    chunk = executor.read(node, node.step, around, [], node, goal)
    _uncount(node, chunk)
    return chunk


def _filter_scan(executor: Executor, node: Node, around: Surroundings, goal: int | None) -> Chunk:
    step: FilterStep = node.step
    scan = node.children[0]
    return executor.read(scan, scan.step, around, step.conditions, node, goal)


def _uncount(node: Node, chunk: Chunk) -> None:
    """`read` has counted the scan; what `run` is going to count again is taken off."""
    assert node.counts is not None
    node.counts.executions -= 1
    node.counts.rows -= chunk.rows


def _filter(executor: Executor, node: Node, around: Surroundings, goal: int | None) -> Chunk:
    step: FilterStep = node.step
    chunk = executor.run(node.children[0], around)
    return chunk.take(executor.kept_rows(chunk, step.conditions, node, around)[:goal])


def _compute(executor: Executor, node: Node, around: Surroundings, goal: int | None) -> Chunk:
    chunk = executor.run(node.children[0], around, goal)
    step: ComputeStep = node.step
    if not step.assignments:
        return chunk
    seen = executor.with_subqueries(node, chunk, around)
    return chunk.with_columns({v.name: executor.evaluate(e, seen, around) for v, e in step.assignments})


def _limit(executor: Executor, node: Node, around: Surroundings, goal: int | None) -> Chunk:
    step: LimitStep = node.step
    count, offset = whole_number(executor, step.count), whole_number(executor, step.offset)
    chunk = executor.run(node.children[0], around, count + offset)
    return chunk.take(slice(offset, offset + count))


def whole_number(executor: Executor, expression: exp.Expr | None) -> int:
    """The value of LIMIT or OFFSET."""
    if expression is None:
        return 0
    value = executor.value(expression, Surroundings())
    if not isinstance(value, int) or value < 0:
        raise QueryError(f"LIMIT and OFFSET take whole numbers from 0 on, not {value!r}.")
    return value


def _sort(executor: Executor, node: Node, around: Surroundings, goal: int | None) -> Chunk:
    step: SortStep = node.step
    chunk = executor.run(node.children[0], around)
    keys = [(executor.evaluate(_column(key.name), chunk, around), key.desc) for key in step.keys]
    order = sorted_positions(keys, chunk.rows)
    if step.count is not None:
        offset = whole_number(executor, step.offset)
        order = order[offset : offset + whole_number(executor, step.count)]
    return chunk.take(order)


def _column(name: str) -> exp.Column:
    return exp.Column(this=exp.Identifier(this=name, quoted=True))


def _aggregate(executor: Executor, node: Node, around: Surroundings, goal: int | None) -> Chunk:
    step: AggregateStep | None = node.step
    chunk = executor.run(node.children[0], around)
    if step is None:
        return chunk
    seen = executor.with_subqueries(node, chunk, around)
    keys = [(variable, executor.evaluate(e, seen, around)) for variable, e in step.keys]
    if step.single and chunk.rows > 1:
        raise QueryError("A subquery that stands for a value gave more than one row.")
    if step.keys:
        group, count = codes([vector for _, vector in keys], chunk.rows)
    else:
        group, count = np.zeros(chunk.rows, np.int64), 1
    columns = {}
    if count and step.keys:
        first = np.unique(group, return_index=True)[1]
        columns = {variable.name: vector.take(first) for variable, vector in keys}
    elif step.keys:
        columns = {variable.name: vector for variable, vector in keys}
    for variable, call in step.calls:
        columns[variable.name] = aggregate(call, group, count, lambda e: executor.evaluate(e, seen, around))
    return Chunk(columns, count)


def _unnest(executor: Executor, node: Node, around: Surroundings, goal: int | None) -> Chunk:
    step: UnnestStep = node.step
    seen = executor.with_subqueries(node, Chunk({}, 1), around)
    values: Any = executor.evaluate(step.array, seen, around).to_list()[0] or []
    columns = {step.element.name: Vector.of(executor.types.get(step.element.name, INT64), values)}
    if step.offset is not None:
        columns[step.offset.name] = Vector.of(INT64, list(range(len(values))))
    return Chunk(columns, len(values))


def _union_all(executor: Executor, node: Node, around: Surroundings, goal: int | None) -> Chunk:
    step: UnionStep = node.step
    chunks = []
    for child, expressions in zip(node.children, step.inputs, strict=True):
        chunk = executor.run(child, around)
        holder = child.children[0]
        seen = executor.with_subqueries(holder, chunk, around) if holder.operator == "Compute" else chunk
        columns = {
            v.name: _widened(executor.evaluate(e, seen, around), executor.types.get(v.name))
            for v, e in zip(step.outputs, expressions, strict=True)
        }
        chunks.append(Chunk(columns, chunk.rows))
    return Chunk(
        {v.name: joined_vectors([chunk.columns[v.name] for chunk in chunks]) for v in step.outputs},
        sum(chunk.rows for chunk in chunks),
    )


def _widened(vector: Vector, type_: Type | None) -> Vector:
    """The vector as one of the wider type that a UNION gives its column."""
    if type_ is None or vector.type.name == type_.name:
        return vector
    if vector.null.all():
        return nulls(type_, len(vector))
    cast = exp.Cast(this=_column("value"), to=exp.DataType.build(type_.name, dialect="bigquery"))
    return evaluated(cast, {"value": vector}, len(vector))


def _spool_build(executor: Executor, node: Node, around: Surroundings, goal: int | None) -> Chunk:
    step: SpoolBuildStep = node.step
    chunk = executor.run(node.children[0], around)
    seen = executor.with_subqueries(node, chunk, around)
    kept = Chunk({name: executor.evaluate(e, seen, around) for name, e in step.outputs}, chunk.rows)
    executor.spools[step.name] = kept
    return kept


def _spool_scan(executor: Executor, node: Node, around: Surroundings, goal: int | None) -> Chunk:
    step: SpoolScanStep = node.step
    kept = executor.spools[step.name]
    columns: dict[str, Variable] = step.columns
    return Chunk({variable.name: kept.columns[name] for name, variable in columns.items()}, kept.rows)


def _random_ids(executor: Executor, node: Node, around: Surroundings, goal: int | None) -> Chunk:
    step: SampleStep = node.step
    chunk = executor.run(node.children[0], around)
    numbers = [executor.random.random() for _ in range(chunk.rows)]
    return chunk.with_columns({step.variable: Vector.of(Type("FLOAT64"), numbers)})


def _result(executor: Executor, node: Node, around: Surroundings, goal: int | None) -> Chunk:
    """Serialize Result: the result's columns, under their places, for names may repeat."""
    chunk = executor.run(node.children[0], around, goal)
    step: OutputStep = node.step
    seen = executor.with_subqueries(node, chunk, around)
    columns = {str(place): executor.evaluate(e, seen, around) for place, (_, e) in enumerate(step.outputs)}
    return Chunk(columns, chunk.rows)


_OPERATORS: dict[str, Callable[[Executor, Node, Surroundings, int | None], Chunk]] = {
    "Unit Relation": _unit,
    "Empty Relation": _empty,
    "Batch Scan": _batch,
    "Table Scan": _scan,
    "Index Scan": _scan,
    "Filter Scan": _filter_scan,
    "Filter": _filter,
    "Compute": _compute,
    "Array Unnest": _unnest,
    "Union All": _union_all,
    "SpoolBuild": _spool_build,
    "SpoolScan": _spool_scan,
    "Random Id Assign": _random_ids,
    "Serialize Result": _result,
    **{f"{where}Limit": _limit for where in ("Local ", "Global ")},
    **{
        f"{where}{minor}Sort{limit}": _sort
        for where in ("", "Local ", "Global ")
        for minor in ("", "Minor ")
        for limit in ("", " Limit")
    },
    **{f"{where}{kind} Aggregate": _aggregate for where in ("", "Local ", "Global ") for kind in ("Hash", "Stream")},
}
_OPERATORS |= execute_joins.OPERATORS
