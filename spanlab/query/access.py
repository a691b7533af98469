"""Access paths: by which table or index the rows of a FROM item can be found, and what each costs.

The candidates are the table itself and every index on it. A candidate *seeks* when conditions fix a prefix of its key,
it *covers* when it holds every column that the query speaks of. An index that does not cover costs a back-join: for
each entry that survives what the index can check, the row of the base table is fetched, in batches (facts.md 7.5 P5).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from spanlab.errors import QueryError, suggest
from spanlab.query.fragments import Fragment, Level, order_prefix
from spanlab.query.logical import Scan, SortKey, Variable, subquery_values, variable_reference, variables_in
from spanlab.query.plan import Node
from spanlab.query.predicates import KeyMatch, Predicate, classify, match_key, rejects_null
from spanlab.query.statistics import OTHER
from spanlab.query.steps import Columns, FilterStep, LookupStep, ScanStep
from spanlab.query.text import all_of, plan_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spanlab.catalog import Index, KeyPart, Table
    from spanlab.query.planner import Planner, Want

# what things cost, in rows of a full scan of a table
INDEX_ROW_LEAST, INDEX_ROW_MOST = 0.2, 0.95
BACK_JOIN_ROW = 3.0
SEEK = 1.0
# one row costs the same wherever it lies, all else equal the narrower place is taken
FEW = 0.001


@dataclass
class Candidate:
    """A table or an index as a place to find rows. `family` are the tables that it is interleaved in, root first."""

    table: Table
    name: str
    key: tuple[KeyPart, ...]
    columns: set[str]
    index: Index | None = None
    family: list[tuple[str, int]] = field(default_factory=list)

    @property
    def operator(self) -> str:
        """What the scan of it is called."""
        return "Index Scan" if self.index is not None else "Table Scan"

    def holds(self, names: Iterable[str]) -> bool:
        """True when every one of these columns (in lower case) is in it."""
        return set(names) <= self.columns


def candidates(planner: Planner, scan: Scan) -> list[Candidate]:
    """The table, and the indexes that a query on it may use. FORCE_INDEX leaves one of them (facts.md 7.4)."""
    base = _base(planner, scan.table)
    if scan.system:
        return [base]
    forced = scan.hints.get("FORCE_INDEX", planner.hints.get("FORCE_INDEX", ""))
    if forced.upper() == "_BASE_TABLE":
        return [base]
    indexes = planner.schema.indexes_on(scan.table)
    if forced:
        return [_by_index(planner, scan.table, _forced(forced, scan.table, indexes, planner.text))]
    return [base] + [_by_index(planner, scan.table, index) for index in indexes if not index.managed]


def _forced(name: str, table: Table, indexes: Iterable[Index], text: str) -> Index:
    for index in indexes:
        if index.name.casefold() == name.casefold():
            return index
    known = [index.name for index in indexes]
    raise QueryError(
        f"FORCE_INDEX={name}: table {table.name} has no index of that name, so Spanner refuses the query.",
        hint=suggest(name, known).strip() or (", ".join(known) or "_BASE_TABLE"),
        text=text,
    )


def _base(planner: Planner, table: Table) -> Candidate:
    family = []
    if table.name in planner.schema.tables:
        chain = [*reversed(planner.schema.ancestors(table)), table]
        family = [(member.name, len(member.key)) for member in chain]
    return Candidate(table, table.name, table.key, {c.name.casefold() for c in table.columns}, None, family)


def _by_index(planner: Planner, table: Table, index: Index) -> Candidate:
    family = []
    if index.interleave_in:
        parent = planner.schema.table(index.interleave_in)
        family = [(t.name, len(t.key)) for t in (*reversed(planner.schema.ancestors(parent)), parent)]
    key = planner.schema.index_key(index)
    columns = {name.casefold() for name in planner.schema.index_columns(index)}
    return Candidate(table, index.name, tuple(key), columns, index, [*family, (index.name, len(key))])


# one scan


@dataclass
class Asked:
    """What is asked of one FROM item: its conditions, and the names that an outer query has already fixed."""

    scan: Scan
    conditions: list[exp.Expr]
    outer: set[str]


def alternatives(planner: Planner, asked: Asked, want: Want) -> list[Fragment]:
    """A fragment for each access path worth a look."""
    scan = asked.scan
    derived = _shard_conditions(planner, asked)
    found = []
    every = candidates(planner, scan)
    forced = len(every) == 1
    for candidate in every:
        missing = unproven(candidate, scan, asked.conditions)
        if missing and forced:
            raise _null_filtered_error(candidate, missing, planner.text)
        if missing:
            continue
        built = _built(planner, candidate, asked, derived, want, forced)
        if built is not None:
            found.append(built)
    return _worth_a_look(found, want)


def _worth_a_look(found: list[Fragment], want: Want) -> list[Fragment]:
    """Of the indexes that stand alone only the cheapest, and those whose order is wanted."""
    alone = [f for f in found if f.by_index and len(f.family) == 1]
    best = min(alone, key=lambda f: f.cost, default=None)
    return [f for f in found if f not in alone or f is best or (want.order and order_prefix(f, want.order))]


def _shard_conditions(planner: Planner, asked: Asked) -> list[exp.Expr]:
    """A key column that is generated from one other column is known when that column is: Spanner derives the shard."""
    scan = asked.scan
    found: list[exp.Expr] = []
    equal = {p.variable: p for c in asked.conditions for p in classify(c, scan.names()) if p.kind == "equal"}
    names = {variable.name: name for name, variable in scan.columns.items()}
    for column in scan.table.columns:
        if not column.generated or not column.stored:
            continue
        expression = planner.generated(column.generated)
        sources = variables_in(expression)
        if len(sources) != 1:
            continue
        (source,) = sources
        for variable, predicate in equal.items():
            if names.get(variable) == source.casefold() and predicate.values[0] is not None:
                value = _put_in(expression, predicate.values[0])
                shard = variable_reference(planner.column_variable(scan, column.name).name)
                condition = exp.EQ(this=shard, expression=value)
                condition.meta["derived"] = True
                found.append(condition)
    return found


def _put_in(expression: exp.Expr, value: exp.Expr) -> exp.Expr:
    return expression.copy().transform(lambda node: value.copy() if isinstance(node, exp.Column) else node)


def unproven(candidate: Candidate, scan: Scan, conditions: list[exp.Expr]) -> list[str]:
    """The columns that a null-filtered index leaves NULLs of out and the query does not (facts.md 4.2.8)."""
    index = candidate.index
    if index is None or not (index.null_filtered or index.not_null):
        return []
    filtered = [part.column for part in index.key] if index.null_filtered else list(index.not_null)
    missing = []
    for name in filtered:
        column = candidate.table.column(name)
        if column is None or column.not_null:
            continue
        variable = scan.columns.get(name.casefold())
        if variable is None or not any(rejects_null(c, variable.name) for c in conditions):
            missing.append(name)
    return missing


def _null_filtered_error(candidate: Candidate, missing: list[str], text: str) -> QueryError:
    names = " and ".join(missing)
    return QueryError(
        f"Index {candidate.name} leaves out rows in which {names} is NULL, and nothing in the query excludes those "
        "rows: Spanner refuses FORCE_INDEX here.",
        hint=" AND ".join(f"{name} IS NOT NULL" for name in missing) + " in WHERE",
        text=text,
    )


def _built(
    planner: Planner, candidate: Candidate, asked: Asked, derived: list[exp.Expr], want: Want, forced: bool
) -> Fragment | None:
    scan = asked.scan
    spoken = set(scan.columns)
    inside = {variable.name for name, variable in scan.columns.items() if name in candidate.columns}
    here = [c for c in asked.conditions if (variables_in(c) & scan.names()) <= inside]
    later = [c for c in asked.conditions if c not in here]
    covers = candidate.holds(spoken)
    match = _match(planner, candidate, scan, here + [d for d in derived if (variables_in(d) & scan.names()) <= inside])
    match.residual = [c for c in match.residual if not c.meta.get("derived")]
    if not forced and candidate.index is not None and not match.seek and not covers and want.limit is None:
        return None
    fragment = _scanned(planner, candidate, scan, match, covers)
    if not covers:
        fragment = back_join(planner, candidate.columns, scan, fragment, later, want)
    return fragment


def scanned(planner: Planner, candidate: Candidate, scan: Scan, conditions: list[exp.Expr]) -> Fragment:
    """The rows of one table or index that satisfy conditions which it can check by itself."""
    return _scanned(planner, candidate, scan, _match(planner, candidate, scan, conditions), covers=False)


def _match(planner: Planner, candidate: Candidate, scan: Scan, conditions: list[exp.Expr]) -> KeyMatch:
    size = scan.hints.get("SEEKABLE_KEY_SIZE")
    deep = planner.version <= 6 or size is not None
    longest = int(size) if size is not None and int(size) > 0 else None
    key = [planner.column_variable(scan, part.column).name for part in candidate.key]
    own = {variable.name for variable in scan.columns.values()} | set(key)
    return match_key(key, conditions, own, deep=deep, longest=longest, regexp=planner.version >= 2)


def _scanned(planner: Planner, candidate: Candidate, scan: Scan, match: KeyMatch, covers: bool) -> Fragment:
    key = [planner.column_variable(scan, part.column) for part in candidate.key]
    read = {name: v for name, v in scan.columns.items() if name in candidate.columns}
    wanted = dict(read)
    if not covers:
        wanted |= {p.column.casefold(): planner.column_variable(scan, p.column) for p in candidate.table.key}
    node = Node(candidate.operator, target=candidate.name, full_scan=not match.seek)
    node.seek_condition = _seek_text(match, planner.nullable(scan))
    node.timestamp_condition = _timestamp_text(planner, scan, match.residual)
    node.details["scan_method"] = scan.hints.get(
        "SCAN_METHOD", planner.hints.get("SCAN_METHOD", "Automatic")
    ).capitalize()
    object_columns = {v.name: name for name, v in wanted.items()}
    node.step = ScanStep(candidate.name, Columns(object_columns), tuple(v.name for v in key), match, scan.system)
    if match.seek or match.residual:
        size = scan.hints.get("SEEKABLE_KEY_SIZE", str(0 if match.exact else match.size))
        node = Node("Filter Scan", [node], residual_condition=all_of(match.residual))
        node.details["seekable_key_size"] = int(size)
        node.step = FilterStep(match.residual)
        planner.attach_subqueries(node, match.residual)
    rows, read_rows = _estimated(planner, candidate, scan, match)
    fragment = Fragment(
        node,
        "split",
        set(object_columns),
        rows=rows,
        cost=SEEK + (read_rows * _row_cost(candidate) if read_rows > 1 else 1.0 + FEW * _row_cost(candidate)),
        most_rows=1 if _one_row(candidate, scan, match) else None,
        target=candidate.name,
        split_range=_split_range(match, {v.name for v in key}, planner),
        order=tuple(SortKey(v.name, p.desc) for v, p in zip(key, candidate.key, strict=True)),
        bindings=_bindings(match, scan, planner),
        family=tuple(Level(name, tuple(v.name for v in key[:size])) for name, size in candidate.family),
        unique=_unique(candidate, key),
        by_index=candidate.index is not None,
        seeks=bool(match.seek),
    )
    fragment.variables |= {v.name for v in key}
    if scan.sample is not None:
        fragment = planner.sampled(fragment, scan.sample)
    return fragment


def _split_range(match: KeyMatch, key: set[str], planner: Planner) -> list[exp.Expr]:
    """The conditions that choose splits: those that speak of the key alone."""
    found = [p.condition for p in match.seek if not p.implied] + match.residual
    unique = {id(c): c for c in found if not c.meta.get("derived")}
    kept = []
    for condition in unique.values():
        spoken = variables_in(condition)
        if spoken & key and not subquery_values(condition) and not (planner.scanned_names(spoken) - key):
            kept.append(condition)
    return kept


def _row_cost(candidate: Candidate) -> float:
    if candidate.index is None:
        return 1.0
    share = len(candidate.columns) / max(1, len(candidate.table.columns))
    return min(INDEX_ROW_MOST, max(INDEX_ROW_LEAST, share))


def _unique(candidate: Candidate, key: list[Variable]) -> tuple[frozenset[str], ...]:
    return (frozenset(v.name for v in key),) if key else (frozenset(),)


def _one_row(candidate: Candidate, scan: Scan, match: KeyMatch) -> bool:
    if match.whole or not candidate.key:
        return True
    index = candidate.index
    return index is not None and index.unique and match.exact and match.size >= len(index.key)


def _bindings(match: KeyMatch, scan: Scan, planner: Planner) -> dict[str, exp.Expr]:
    found = {p.variable: p.values[0] for p in match.seek if p.kind == "equal" and p.values[0] is not None}
    for condition in match.residual:
        for predicate in classify(condition, scan.names()):
            if predicate.kind == "equal" and predicate.values[0] is not None:
                found.setdefault(predicate.variable, predicate.values[0])
    return {name: value for name, value in found.items() if value is not None}


def _estimated(planner: Planner, candidate: Candidate, scan: Scan, match: KeyMatch) -> tuple[float, float]:
    """The rows that come out, and the rows that are read for them."""
    total = planner.statistics.rows(candidate.name)
    if _one_row(candidate, scan, match):
        return 1.0, 1.0
    names = {v.name: column for column, v in scan.columns.items()}
    names |= {planner.column_variable(scan, p.column).name: p.column for p in candidate.key}

    def share(predicate: Predicate) -> float:
        return planner.statistics.share(predicate, scan.table.name, names.get(predicate.variable, predicate.variable))

    read = total
    first = planner.column_variable(scan, candidate.key[0].column).name if candidate.key else ""
    for predicate in match.seek:
        if all(any(p.variable == first for p in branch) for branch in predicate.branches):
            read *= share(predicate)
    fixed = {p.variable for p in match.seek if p.kind == "equal"}
    for ancestor, size in candidate.family[:-1]:
        if size and {planner.column_variable(scan, part.column).name for part in candidate.key[:size]} <= fixed:
            read = min(read, total / planner.statistics.rows(ancestor))
    rows = read = max(1.0, read)
    for condition in match.residual:
        found = classify(condition, set(names))
        rows *= min((share(p) for p in found if not p.implied), default=OTHER)
    return max(rows, 0.1), read


def _seek_text(match: KeyMatch, nullable: set[str]) -> str:
    """The Seek Condition as plans print it: an equality on a column that can be NULL is IS_NOT_DISTINCT_FROM."""
    texts = []
    for predicate in match.seek:
        if predicate.kind == "equal" and predicate.values[0] is not None:
            value = plan_text(predicate.values[0])
            constant = predicate.variable in nullable and not variables_in(predicate.values[0])
            name = predicate.variable
            texts.append(f"IS_NOT_DISTINCT_FROM(${name}, {value})" if constant else f"(${name} = {value})")
        elif predicate.kind == "prefix" and predicate.values[0] is not None:
            texts.append(f"STARTS_WITH(${predicate.variable}, {plan_text(predicate.values[0])})")
        else:
            texts.append(plan_text(predicate.condition))
    unique = list(dict.fromkeys(texts))
    return unique[0] if len(unique) == 1 else f"({' AND '.join(unique)})" if unique else ""


def _timestamp_text(planner: Planner, scan: Scan, residual: list[exp.Expr]) -> str:
    """A lower bound on a commit timestamp lets Spanner skip blocks of old rows (facts.md 7.2)."""
    if planner.hints.get("ALLOW_TIMESTAMP_PREDICATE_PUSHDOWN", "TRUE").upper() == "FALSE":
        return ""
    stamps = {v.name for c, v in scan.columns.items() if (k := scan.table.column(c)) and k.commit_timestamp}
    kept = [
        p.condition
        for condition in residual
        for p in classify(condition, stamps)
        if p.kind == "range" and p.values[0] is not None
    ]
    return all_of(kept)


# the back-join


def back_join(
    planner: Planner, have: set[str], scan: Scan, entries: Fragment, later: list[exp.Expr], want: Want
) -> Fragment:
    """Fetches the rows of the base table that the entries stand for."""
    entries = planner.limited_before(entries, want, later)
    keys = [planner.column_variable(scan, part.column) for part in scan.table.key]
    missing = {v.name: n for n, v in scan.columns.items() if n not in have and v.name not in entries.variables}
    batched = {v.name: f"batched_{v.name}" for v in keys}
    pairs = [f"(${v.name}' = ${batched[v.name]})" for v in keys]
    node = Node("Table Scan", target=scan.table.name, seek_condition=_joined(pairs))
    node.details["scan_method"] = "Row"
    node.step = LookupStep(scan.table.name, Columns(missing), tuple(v.name for v in keys))
    lookup = Node("Filter Scan", [node], residual_condition=all_of(later))
    lookup.details["seekable_key_size"] = 0
    lookup.step = FilterStep(later)
    planner.attach_subqueries(lookup, later)
    split_range = _joined([f"(${v.name}' = ${v.name})" for v in keys])
    result = planner.batched_apply("Cross Apply", entries, lookup, split_range, missing)
    for condition in later:
        found = classify(condition, set(missing))
        result.rows *= min(
            (planner.statistics.share(p, scan.table.name, missing[p.variable]) for p in found), default=OTHER
        )
    result.cost = entries.cost + entries.rows * BACK_JOIN_ROW
    result.node.details["back_join"] = True
    return result


def _joined(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"({' AND '.join(texts)})"
