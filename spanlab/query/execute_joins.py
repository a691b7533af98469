"""Runs the operators in which two inputs meet.

An apply runs its map side for each row of its input. Where the map side is a plain look-up (a scan that seeks with the
outer row's values) all look-ups are done together: the rows found are the same, and so are the counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from spanlab.query.chunk import Chunk, codes, joined_vectors, nulls, stacked
from spanlab.query.logical import variables_in
from spanlab.query.plan import Node
from spanlab.query.predicates import Predicate
from spanlab.query.ranges import Unseekable, fitted, slices
from spanlab.query.steps import ApplyStep, FilterStep, JoinStep, LookupStep, ScanStep
from spanlab.sql.expressions import Vector
from spanlab.values import Type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spanlab.query.execute import Executor, Surroundings
    from spanlab.storage.rows import Rows

_UNIONS = ("Local Distributed Union", "Distributed Union")
_FIRST = 64
BATCH_ROWS = 1000
_MOST_PAIRS = 2_000_000
INT64 = Type("INT64")


# apply joins


def _apply(executor: Executor, node: Node, around: Surroundings, goal: int | None) -> Chunk:
    step: ApplyStep = node.step
    if step.kind == "spool":
        executor.run(node.children[0], around)
        return executor.run(node.children[1], around, goal)
    if goal is not None and step.kind in ("inner", "left", "semi", "anti"):
        return _apply_until(executor, node, step, around, goal)
    outer = executor.run(node.children[0], around)
    return _mapped(executor, node.children[1], step, outer, around)


def _apply_until(executor: Executor, node: Node, step: ApplyStep, around: Surroundings, goal: int) -> Chunk:
    """Where only some rows are wanted the input is read only so far: first few of its rows, then more."""
    size = max(goal, _FIRST) if step.kind in ("semi", "anti") else goal
    while True:
        before = [(n, replace(n.counts)) for n in node.walk() if n.counts is not None]
        outer = executor.run(node.children[0], around, size)
        found = _mapped(executor, node.children[1], step, outer, around)
        if found.rows >= goal or outer.rows < size:
            return found.take(slice(0, goal))
        for each, counts in before:
            each.counts = counts
        size *= 8


def _mapped(executor: Executor, mapped: Node, step: ApplyStep, outer: Chunk, around: Surroundings) -> Chunk:
    """The rows that an apply makes of its input."""
    lookup = _lookup_node(mapped)
    if lookup is not None and outer.rows:
        pairs, found = _in_blocks(executor, mapped, lookup, outer, around)
    else:
        pairs, found = _row_by_row(executor, mapped, step, outer, around)
    return matched(step.kind, outer, pairs, found, _missing_types(executor, step, found))


def _missing_types(executor: Executor, step: ApplyStep, found: Chunk) -> dict[str, Type]:
    return {n: found.columns[n].type if n in found.columns else executor.types.get(n, INT64) for n in step.names}


def matched(kind: str, outer: Chunk, pairs: NDArray[Any], found: Chunk, types: dict[str, Type]) -> Chunk:
    """Puts outer rows and what was found for them together: `pairs` says which outer row each found row belongs to."""
    if kind in ("semi", "anti"):
        has = np.zeros(outer.rows, np.bool_)
        has[pairs] = True
        return outer.take(np.flatnonzero(has if kind == "semi" else ~has))
    result = outer.take(pairs)
    names = list(types)
    result = result.with_columns({n: found.columns[n] for n in names if n in found.columns})
    result = result.with_columns({n: nulls(types[n], result.rows) for n in names if n not in found.columns})
    if kind != "left":
        return result
    has = np.zeros(outer.rows, np.bool_)
    has[pairs] = True
    alone_at = np.flatnonzero(~has)
    alone = outer.take(alone_at)
    alone = alone.with_columns({n: nulls(result.columns[n].type, alone.rows) for n in names})
    both = stacked([Chunk({n: result.columns[n] for n in alone.columns}, result.rows), alone])
    return both.take(np.argsort(np.concatenate([pairs, alone_at]), kind="stable"))


def _row_by_row(
    executor: Executor, mapped: Node, step: ApplyStep, outer: Chunk, around: Surroundings
) -> tuple[NDArray[Any], Chunk]:
    pairs: list[NDArray[Any]] = []
    chunks: list[Chunk] = []
    goal = 1 if step.kind in ("semi", "anti") else None
    for row in range(outer.rows):
        one = outer.take(np.array([row]))
        found = executor.run(mapped, around.inside(one.columns), goal)
        pairs.append(np.full(found.rows, row))
        chunks.append(found)
    if not chunks:
        return np.zeros(0, np.int64), Chunk({}, 0)
    return np.concatenate(pairs), stacked(chunks)


# look-ups


def _lookup_node(mapped: Node) -> Node | None:
    """The Filter Scan or scan that a map side is, when it is a plain look-up."""
    node = mapped
    while node.operator in _UNIONS:
        node = node.children[0]
    scan = node.children[0] if node.operator == "Filter Scan" else node
    return node if isinstance(scan.step, (ScanStep, LookupStep)) else None


def _in_blocks(
    executor: Executor, mapped: Node, lookup: Node, outer: Chunk, around: Surroundings
) -> tuple[NDArray[Any], Chunk]:
    """The look-ups in blocks of outer rows, so that an inner side that cannot seek does not fill the memory."""
    scan = lookup.children[0] if lookup.operator == "Filter Scan" else lookup
    step = scan.step
    if not isinstance(step, ScanStep) or (step.match.seek and step.match.seek[0].kind == "equal"):
        return _looked_up(executor, mapped, lookup, outer, around)
    rows = executor.system(step.name) if step.system else executor.database.stored(step.name)
    block = max(1, _MOST_PAIRS // max(1, len(rows)))
    assert scan.counts is not None
    before, pairs, chunks = scan.counts.scanned, [], []
    for at in range(0, outer.rows, block):
        found_pairs, found = _looked_up(executor, mapped, lookup, outer.take(slice(at, at + block)), around)
        pairs.append(found_pairs + at)
        chunks.append(found)
    if around.batch is not None and not step.match.seek:
        scan.counts.scanned = before + len(rows) * -(-outer.rows // BATCH_ROWS)  # one scan serves a batch
    return np.concatenate(pairs), stacked(chunks)


def _looked_up(
    executor: Executor, mapped: Node, lookup: Node, outer: Chunk, around: Surroundings
) -> tuple[NDArray[Any], Chunk]:
    """All look-ups of an apply at once: for each found row the outer row's position, and the found rows."""
    scan = lookup.children[0] if lookup.operator == "Filter Scan" else lookup
    checks = list(lookup.step.conditions) if isinstance(lookup.step, FilterStep) else []
    if isinstance(scan.step, LookupStep):
        pairs, found, numbers = _by_primary_key(executor, scan.step, outer)
    else:
        pairs, found, numbers, checks = _by_ranges(executor, scan, outer, around, checks)
    kept = _checked(executor, checks, lookup, outer, pairs, found, around)
    if kept is not None:
        pairs, found = pairs[kept], found.take(kept)
    _count(executor, mapped, lookup, scan, outer, found, numbers)
    return pairs, found


def _checked(
    executor: Executor,
    checks: list[exp.Expr],
    lookup: Node,
    outer: Chunk,
    pairs: NDArray[Any],
    found: Chunk,
    around: Surroundings,
) -> NDArray[Any] | None:
    if not checks:
        return None
    spoken = {name for check in checks for name in variables_in(check)}
    needed = Chunk({n: v for n, v in outer.columns.items() if n in spoken}, outer.rows).take(pairs)
    return executor.kept_rows(needed.with_columns(found.columns), checks, lookup, around)


def _by_primary_key(executor: Executor, step: LookupStep, outer: Chunk) -> tuple[NDArray[Any], Chunk, NDArray[Any]]:
    rows = executor.database.stored(step.name)
    numbers = rows.numbers(zip(*outer.lists(step.key), strict=True)) if step.key else np.zeros(outer.rows, np.int64)
    pairs = np.flatnonzero(numbers >= 0)
    return pairs, executor.rows_at(rows, step, numbers[pairs]), numbers[pairs]  # type: ignore[arg-type]


def _by_ranges(
    executor: Executor, scan: Node, outer: Chunk, around: Surroundings, checks: list[exp.Expr]
) -> tuple[NDArray[Any], Chunk, NDArray[Any], list[exp.Expr]]:
    step: ScanStep = scan.step
    rows = executor.system(step.name) if step.system else executor.database.stored(step.name)
    numbers, pairs, checks = _row_numbers(executor, rows, step, outer, around, checks)
    return pairs, executor.rows_at(rows, step, numbers), numbers, checks


def _row_numbers(
    executor: Executor, rows: Rows, step: ScanStep, outer: Chunk, around: Surroundings, checks: list[exp.Expr]
) -> tuple[NDArray[Any], NDArray[Any], list[exp.Expr]]:
    """The row numbers that each outer row's seek reads, and the outer row of each."""
    seek = step.match.seek
    whole = [slice(0, len(rows))]
    spans: list[list[slice]] = []
    keys = _fixed_keys(executor, rows, step, outer, around)
    if keys is not None and step.match.whole:
        numbers = rows.numbers(keys)
        pairs = np.flatnonzero(numbers >= 0)
        return numbers[pairs], pairs, checks
    if not seek:
        spans = [whole] * outer.rows
    elif keys is not None:
        known = {key: [rows.span(key)] if key else [] for key in dict.fromkeys(keys)}
        spans = [known[key] for key in keys]
    else:
        spoken = [n for n in outer.columns if any(n in variables_in(e) for p in seek for e in _values(p))]
        checks = [*checks, *([seek[0].condition] if seek[0].kind == "any_of" else [])]
        spans, failed = _spans_of_rows(executor, rows, step, outer, around, spoken)
        checks = checks + [p.condition for p in seek] if failed else checks
    counts = [sum(part.stop - part.start for part in parts) for parts in spans]
    found = [np.arange(part.start, part.stop) for parts in spans for part in parts]
    numbers = np.concatenate(found) if found else np.zeros(0, np.int64)
    return numbers, np.repeat(np.arange(outer.rows), counts), checks


def _values(predicate: Predicate) -> list[exp.Expr]:
    if predicate.kind == "any_of":
        return [e for branch in predicate.branches for p in branch for e in _values(p)]
    return [value for value in predicate.values if value is not None]


def _fixed_keys(
    executor: Executor, rows: Rows, step: ScanStep, outer: Chunk, around: Surroundings
) -> list[tuple[object, ...]] | None:
    """The key prefix that each outer row fixes, () where a NULL matches nothing; None for other seeks."""
    seek = step.match.seek
    if not seek or any(p.kind != "equal" or isinstance(p.condition, exp.Is) for p in seek):
        return None
    columns = []
    for predicate, position in zip(seek, rows.key_positions, strict=False):
        assert predicate.values[0] is not None
        vector = executor.evaluate(predicate.values[0], outer, around)
        type_ = rows.types[position]
        values = vector.to_list()
        if vector.type.name != type_.name:
            try:
                values = [fitted(type_, value) for value in values]
            except Unseekable:
                return None
        columns.append([_NO_KEY if value is None or value != value else value for value in values])
    return [() if _NO_KEY in key else key for key in zip(*columns, strict=True)]


_NO_KEY = object()


def _spans_of_rows(
    executor: Executor, rows: Rows, step: ScanStep, outer: Chunk, around: Surroundings, spoken: list[str]
) -> tuple[list[list[slice]], bool]:
    known: dict[tuple[Any, ...], list[slice]] = {}
    spans, failed = [], False
    lists = outer.lists(spoken)
    for row in range(outer.rows):
        key = tuple(_hashable(values[row]) for values in lists)
        if key not in known:
            one = {name: outer.columns[name].take(np.array([row])) for name in spoken}
            inside = around.inside(one)
            try:
                known[key] = slices(rows, step.key, step.match.seek, _Valuer(executor, inside))
            except Unseekable:
                known[key], failed = [slice(0, len(rows))], True
        spans.append(known[key])
    return spans, failed


def _hashable(value: Any) -> Any:
    return repr(value) if isinstance(value, (list, dict)) else value


class _Valuer:
    """The value of an expression in one row's surroundings."""

    def __init__(self, executor: Executor, around: Surroundings) -> None:
        self._executor, self._around = executor, around

    def __call__(self, expression: exp.Expr) -> object:
        if isinstance(expression, exp.Column) and expression.name in self._around.outer:
            return self._around.outer[expression.name].to_list()[0]
        return self._executor.value(expression, self._around)


def _count(
    executor: Executor, mapped: Node, lookup: Node, scan: Node, outer: Chunk, found: Chunk, numbers: NDArray[Any]
) -> None:
    """Counts what the look-ups would have counted one by one."""
    node = mapped
    while True:
        assert node.counts is not None
        node.counts.executions += outer.rows
        node.counts.rows += found.rows
        if node.operator == "Distributed Union":
            node.counts.remote_calls += outer.rows
            node.counts.splits = max(node.counts.splits, 1)
        if node is scan:
            break
        node = node.children[0]
    assert scan.counts is not None
    scan.counts.scanned += len(numbers)
    if getattr(scan.step, "system", False):
        return
    ordered = np.unique(numbers)
    runs = np.split(ordered, np.flatnonzero(np.diff(ordered) > 1) + 1) if len(ordered) else []
    rows = executor.database.stored(scan.step.name)
    if executor.database.split_count(rows.name) == 1:
        runs = runs[:1]  # one row says it for all
    executor.count_splits(scan, rows, [slice(int(run[0]), int(run[-1]) + 1) for run in runs])


# the distributed forms


def _distributed_apply(executor: Executor, node: Node, around: Surroundings, goal: int | None) -> Chunk:
    """Batches of input rows go to the splits of the map side; what is found comes back with the rows."""
    step: ApplyStep = node.step
    if goal is not None and step.kind in ("inner", "left"):
        return _distributed_until(executor, node, step, around, goal)
    return _sent(executor, node, step, executor.run(node.children[0], around), around)


def _distributed_until(executor: Executor, node: Node, step: ApplyStep, around: Surroundings, goal: int) -> Chunk:
    size = goal
    while True:
        before = [(n, replace(n.counts)) for n in node.walk() if n.counts is not None]
        outer = executor.run(node.children[0], around, size)
        found = _sent(executor, node, step, outer, around)
        if found.rows >= goal or outer.rows < size:
            return found.take(slice(0, goal))
        for each, counts in before:
            each.counts = counts
        size *= 8


def _sent(executor: Executor, node: Node, step: ApplyStep, outer: Chunk, around: Surroundings) -> Chunk:
    kind = step.kind.removeprefix("broadcast ")
    place = f"#{node.id}"
    batch = outer.with_columns({place: Vector(INT64, np.arange(outer.rows), np.zeros(outer.rows, np.bool_))})
    found = executor.run(node.children[1], replace(around, batch=batch))
    _count_calls(executor, node, outer)
    if kind == "inner":
        found.columns.pop(place, None)
        return found
    pairs = found.columns[place].data
    return matched(kind, outer, pairs, found, _missing_types(executor, step, found))


def _count_calls(executor: Executor, node: Node, outer: Chunk) -> None:
    """One call for each batch and each split of the map side's rows that the batch needs."""
    assert node.counts is not None
    lookups = [n for n in node.children[1].walk() if isinstance(n.step, (LookupStep, ScanStep))]
    splits = 1
    for scan in lookups[:1]:
        rows = None if getattr(scan.step, "system", False) else executor.database.stored(scan.step.name)
        splits = executor.database.split_count(rows.name) if rows is not None and len(rows) else 1
    batches = -(-outer.rows // BATCH_ROWS)
    node.counts.remote_calls += sum(min(splits, outer.rows - at * BATCH_ROWS) for at in range(batches))
    node.counts.splits = max(node.counts.splits, min(splits, outer.rows))


# hash and merge joins


def _equal_join(executor: Executor, node: Node, around: Surroundings, goal: int | None) -> Chunk:
    """Pairs of rows with equal keys. NULL is equal to nothing."""
    step: JoinStep = node.step
    first, second = (executor.run(child, around) for child in node.children[:2])
    left, right = (first, second) if step.left_first else (second, first)
    pairs, found = _pairs(executor, step, left, right, around)
    if step.others:
        needed = left.take(pairs).with_columns({n: v.take(found) for n, v in right.columns.items()})
        kept = executor.kept_rows(needed, step.others, node, around)
        pairs, found = pairs[kept], found[kept]
    chunk = right.take(found)
    types = {name: vector.type for name, vector in right.columns.items() if name not in left.columns}
    result = matched("left" if step.kind == "full" else step.kind, left, pairs, chunk, types)
    return _with_unmatched(result, left, right, found) if step.kind == "full" else result


def _pairs(
    executor: Executor, step: JoinStep, left: Chunk, right: Chunk, around: Surroundings
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The positions of the left and the right row of each pair, in the order of the left rows."""
    lefts = [executor.evaluate(a, left, around) for a, _ in step.equal]
    rights = [executor.evaluate(b, right, around) for _, b in step.equal]
    both = [_comparable(a, b) for a, b in zip(lefts, rights, strict=True)]
    group, count = codes(both, left.rows + right.rows)
    mine, theirs = group[: left.rows].copy(), group[left.rows :].copy()
    for vector in lefts:
        mine[_never_equal(vector)] = count
    for vector in rights:
        theirs[_never_equal(vector)] = count + 1
    order = np.argsort(theirs, kind="stable")
    starts = np.searchsorted(theirs[order], mine, "left")
    ends = np.searchsorted(theirs[order], mine, "right")
    width = ends - starts
    pairs = np.repeat(np.arange(left.rows), width)
    offsets = np.arange(len(pairs)) - np.repeat(np.cumsum(width) - width, width)
    return pairs, order[np.repeat(starts, width) + offsets]


def _comparable(a: Vector, b: Vector) -> Vector:
    if a.type.name != b.type.name and a.data.dtype != b.data.dtype:
        a = Vector(Type("FLOAT64"), a.data.astype(np.float64), a.null)
        b = Vector(Type("FLOAT64"), b.data.astype(np.float64), b.null)
    return joined_vectors([a, b])


def _never_equal(vector: Vector) -> NDArray[np.bool_]:
    if vector.type.name in ("FLOAT64", "FLOAT32"):
        return vector.null | np.isnan(vector.data)
    return vector.null


def _with_unmatched(result: Chunk, left: Chunk, right: Chunk, found: NDArray[Any]) -> Chunk:
    """FULL JOIN: the right rows without a left row are added."""
    has = np.zeros(right.rows, np.bool_)
    has[found] = True
    alone = right.take(np.flatnonzero(~has))
    alone = alone.with_columns({n: nulls(v.type, alone.rows) for n, v in left.columns.items()})
    return stacked([result, Chunk({n: alone.columns[n] for n in result.columns}, alone.rows)])


OPERATORS: dict[str, Callable[[Executor, Node, Surroundings, int | None], Chunk]] = {
    **dict.fromkeys(("Cross Apply", "Outer Apply", "Semi Apply", "Anti-Semi Apply"), _apply),
    **{
        f"Distributed {name}": _distributed_apply
        for name in ("Cross Apply", "Outer Apply", "Semi Apply", "Anti Semi Apply")
    },
    **{
        f"Push Broadcast Hash Join{name}": _distributed_apply
        for name in ("", " Outer Apply", " Semi Apply", " Anti Semi Apply")
    },
    "Hash Join": _equal_join,
    "Merge Join": _equal_join,
}
