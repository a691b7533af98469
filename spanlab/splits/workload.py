"""A load on a schema, as plain data, and the key spaces that it writes to.

A commit of a workload writes a row of its table, the rows of its children, and an entry in every index on them. Rows of
a family (a table and all that is interleaved in it) lie in one key space, every other index is a key space of its own
(facts.md 3, 4.2), so one insert can meet several orders at once, and the slowest of them holds up the commit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from spanlab.catalog import Index, KeyPart, Table
from spanlab.errors import suggest
from spanlab.splits import composite, words
from spanlab.splits.keys import Key
from spanlab.splits.model import Model
from spanlab.splits.simulation import Rate
from spanlab.splits.state import Band, CommitKind, Keyspace, ReadLoad

if TYPE_CHECKING:
    from spanlab.schema import Schema


@dataclass(frozen=True)
class Workload:
    """What clients do with a table.

    table              the table that each commit inserts a row into
    writes_per_second  commits per second: a number, or a function of the second of the run
    values             what columns hold, as words: {"HitAt": "now", "Path": "zipf(2000, 1.1)"}; columns that the schema
                       fills by itself need none
    children           rows of other tables in the same commit: {"PurchaseItems": 3}
    reads_per_second   reads of single rows; which rows, say `read_values` (default: as `values`, the newest rows)
    stale_reads        True where the reads may be some seconds old, so that any replica serves them
    scans_per_second   scans of `scan_rows` rows each, over the part `scan_range` (from, to: 0 to 1) of the table's keys

    Raises ValueError for words, rates and shares that make no sense.
    """

    table: str
    writes_per_second: Rate = 0.0
    values: Mapping[str, str | Key] = field(default_factory=dict)
    children: Mapping[str, float] = field(default_factory=dict)
    reads_per_second: float = 0.0
    read_values: Mapping[str, str | Key] = field(default_factory=dict)
    stale_reads: bool = False
    scans_per_second: float = 0.0
    scan_rows: float = 0.0
    scan_range: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        if not callable(self.writes_per_second):
            checked_rate("writes_per_second", self.writes_per_second)
        for name in ("reads_per_second", "scans_per_second", "scan_rows"):
            checked_rate(name, getattr(self, name))
        for name, rows in self.children.items():
            checked_rate(f"children[{name!r}]", rows)
        low, high = self.scan_range
        if not 0 <= low < high <= 1:
            raise ValueError(f"scan_range is {self.scan_range!r}; two shares are wanted, 0 <= from < to <= 1.")
        for column, word in (*self.values.items(), *self.read_values.items()):
            try:
                words.value(word)
            except ValueError as error:
                raise ValueError(f"values[{column!r}]: {error}") from None


def checked_rate(name: str, rate: object) -> float:
    """A rate as a float, or a ValueError that names it."""
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not math.isfinite(rate) or rate < 0:
        raise ValueError(f"{name} is {rate!r}; a number of 0 or more is wanted.")
    return float(rate)


def length_s(history: str) -> float:
    """A length of time such as "5h" or "90d", in seconds."""
    units = {"m": 60, "h": 3_600, "d": 86_400}
    number, unit = (history[:-1], history[-1:]) if isinstance(history, str) else ("", "")
    if unit not in units or not number.replace(".", "", 1).isdigit() or not math.isfinite(float(number)):
        raise ValueError(f'history is {history!r}; a number and m, h or d is wanted, such as "5h".')
    if float(number) * units[unit] > 90 * 86_400:
        raise ValueError(f'history is {history!r}; at most "90d" is possible.')
    return float(number) * units[unit]


# --------------------------------------------------------------------------------------- from a schema to key spaces


@dataclass(frozen=True)
class Written:
    """Rows that each commit of a workload writes into one key space."""

    space: str
    name: str
    table: str
    key: Key
    rows: float
    columns: tuple[Key, ...] = ()


class RowMaker:
    """The laws of the columns of one table, under one workload.

    `parent` makes the row that this row is written with: key columns of the same name have the parent's values.
    """

    def __init__(
        self, schema: Schema, table: Table, values: Mapping[str, str | Key], parent: RowMaker | None = None
    ) -> None:
        self.schema, self.table, self.parent = schema, table, parent
        self.given: dict[str, Key] = {}
        for name, word in values.items():
            law = words.value(word)
            taken = any(law is other for other in self.given.values())
            self.given[name.casefold()] = copy(law) if taken else law  # one object stands for one column (`Shard.of`)
        self._busy: list[str] = []

    def law_of(self, name: str) -> Key:
        """The law of a column: what the workload says of it, else the schema. ValueError where neither does."""
        column = self.table.column(name)
        if column is None:
            known = [column.name for column in self.table.columns]
            raise ValueError(f"{self.table.name} has no column {name}.{suggest(name, known)}")
        if self.parent and column.name in {part.column for part in self.parent.table.key}:
            return self.parent.law_of(column.name)
        if column.name.casefold() in self.given:
            return self.given[column.name.casefold()]
        if column.name in self._busy:
            raise ValueError(f"The generated column {column.name} of {self.table.name} depends on itself.")
        from spanlab.splits.columns import filled_by_schema  # it reads SQL, which a key alone does not need

        self._busy.append(column.name)
        try:
            return filled_by_schema(self.table, column, self.schema.sequences, self.law_of)
        finally:
            self._busy.pop()

    def columns(self, parts: Sequence[KeyPart], not_null: Sequence[str] = ()) -> list[Key]:
        """The laws of key columns, up to the one that decides. Rows with NULL in a `not_null` column are left out."""
        columns: list[Key] = []
        for part in parts:
            law = self.law_of(part.column)
            if part.column in not_null and isinstance(law, composite.Null):
                law = law.inner
            columns.append(composite.descending(law, part.desc))
            if composite.fills(law):
                break
        return columns

    def present(self, names: Sequence[str]) -> float:
        """The part of the rows in which none of the columns is NULL."""
        portion = 1.0
        for name in names:
            law = self.law_of(name)
            portion *= 1 - law.portion if isinstance(law, composite.Null) else 1.0
        return portion


def rows_written(schema: Schema, load: Workload) -> list[Written]:
    """The rows that one commit of the workload writes, table first: its own, its children's, and all index entries."""
    table = schema.table(load.table)
    _check_columns(schema, table, load)
    parent = RowMaker(schema, table, load.values)
    written = _table_rows(schema, parent, 1.0)
    for name, rows in load.children.items():
        written += _table_rows(schema, RowMaker(schema, schema.table(name), load.values, parent), rows)
    return written


def _check_columns(schema: Schema, table: Table, load: Workload) -> None:
    """Every column that the workload names must be one of its tables'."""
    tables = [table, *(schema.table(name) for name in load.children)]
    known = [column.name for one in tables for column in one.columns]
    for name in (*load.values, *load.read_values):
        if name.casefold() not in {column.casefold() for column in known}:
            raise ValueError(f"values names {name}, which is no column of {load.table}.{suggest(name, known)}")


def _table_rows(schema: Schema, maker: RowMaker, rows: float) -> list[Written]:
    """The rows of a table and the entries of its indexes."""
    table = maker.table
    columns = maker.columns(table.key)
    family = Written(schema.root(table).name, table.name, table.name, composite.pack(columns), rows, tuple(columns))
    return [family, *(_entries(schema, index, maker, family) for index in schema.indexes_on(table))]


def _entries(schema: Schema, index: Index, maker: RowMaker, family: Written) -> Written:
    """The entries of an index: a key space of its own, or rows of the family that it is interleaved in."""
    filtered = [part.column for part in index.key] if index.null_filtered else list(index.not_null)
    rows = family.rows * maker.present(filtered)
    if index.interleave_in:
        return Written(family.space, index.name, index.table, family.key, rows)
    columns = maker.columns(schema.index_key(index), filtered)
    return Written(index.name, index.name, index.table, composite.pack(columns), rows, tuple(columns))


def plan(schema: Schema, loads: Sequence[Workload], model: Model) -> tuple[list[Keyspace], Rate, list[CommitKind]]:
    """The key spaces of a load, the commits per second of the whole mix, and the commits of each workload.

    Several workloads are one mix: a commit of the mix is a commit of each of them in proportion to their rates, so
    when a part of the mix stalls, all of it does, as with clients that share a pool of sessions.
    """
    rates = [load.writes_per_second for load in loads]
    if len(loads) == 1:
        portions, rate = [1.0], rates[0]
    else:
        if any(callable(one) for one in rates):
            raise ValueError("writes_per_second may be a function only where there is one workload.")
        rate = math.fsum(float(one) for one in rates)  # type: ignore[arg-type]
        portions = [float(one) / rate if rate else 1 / len(loads) for one in rates]  # type: ignore[arg-type]
    written = [rows_written(schema, load) for load in loads]
    mixed: dict[str, list[Written]] = {}
    for portion, rows in zip(portions, written, strict=True):
        for one in rows:
            mixed.setdefault(one.space, []).append(replace(one, rows=one.rows * portion))
    spaces = {name: _keyspace(name, parts) for name, parts in mixed.items()}
    for load in loads:
        _add_reads(schema, load, spaces, model)
    kinds = [
        CommitKind(portion, tuple(math.fsum(one.rows for one in rows if one.space == name) for name in spaces))
        for portion, rows in zip(portions, written, strict=True)
    ]
    return list(spaces.values()), rate, kinds


def _keyspace(name: str, parts: list[Written]) -> Keyspace:
    """One key space out of all that is written to it."""
    rows = math.fsum(part.rows for part in parts)
    weights: dict[Key, float] = {}
    for part in parts:
        weights[part.key] = weights.get(part.key, 0.0) + part.rows
    shared = [key for key in weights if weights[key] > 0] or list(weights)[:1]
    key = shared[0] if len(shared) == 1 else composite.Mix(tuple(weights[key] for key in shared), tuple(shared))
    tables = tuple(dict.fromkeys(part.table for part in parts))
    bands = tuple(Band(part.name, part.key, part.rows, part.columns) for part in parts)
    return Keyspace(name, key, rows=rows, tables=tables, bands=bands)


def _add_reads(schema: Schema, load: Workload, spaces: dict[str, Keyspace], model: Model) -> None:
    """Puts the reads of a workload on the key space of its table."""
    table = schema.table(load.table)
    space = spaces[schema.root(table).name]
    stale = load.stale_reads
    if load.reads_per_second:
        key = composite.pack(RowMaker(schema, table, {**load.values, **load.read_values}).columns(table.key))
        space.reads.append(ReadLoad(key, load.reads_per_second, 1 / model.node_reads, stale=stale))
    if load.scans_per_second:
        cost = max(1.0, load.scan_rows) / model.scan_rows
        space.reads.append(ReadLoad(space.key, load.scans_per_second, cost, load.scan_range, stale))
