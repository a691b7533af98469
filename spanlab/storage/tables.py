"""A table as writes see it: its rows, and everything a write to it drags along.

One row written is seldom one thing done. Its defaults and generated columns are worked out, its parent must exist,
each index gets an entry, foreign keys look at other tables. `StoredTable` holds all that, looked up once for a schema,
so that a commit only follows it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spanlab.storage.rows import Entries, Row, TableRows, picker
from spanlab.values import keys_encoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot import exp

    from spanlab.catalog import Column, ForeignKey, Index, Table
    from spanlab.schema import Schema
    from spanlab.values import Type


@dataclass(eq=False)
class StoredIndex:
    """An index and its entries. `needed` are the positions of columns that must not be NULL for a row to be in it."""

    index: Index
    entries: Entries
    key_positions: tuple[int, ...]
    needed: tuple[int, ...]
    state: str = "READ_WRITE"

    def __post_init__(self) -> None:
        base = self.entries.base
        own_key = self.key_positions[: len(self.index.key)]
        self.unique_values = picker(own_key)
        self._key_values = picker(self.key_positions)
        own_types = tuple(self.entries.types[position] for position in self.entries.key_positions[: len(own_key)])
        self._encode_own = keys_encoder(own_types, self.entries.descs[: len(own_key)])
        self._ends_with_base_key = self.key_positions[len(own_key) :] == base.key_positions and (
            self.entries.descs[len(own_key) :] == base.descs
        )
        self.moving_positions = frozenset(self.key_positions) - set(base.key_positions)
        self.changing_positions = frozenset(self.entries.sources) - set(base.key_positions)
        self.stored_positions = self.changing_positions - self.moving_positions

    @property
    def name(self) -> str:
        """The index's name."""
        return self.index.name

    def key_of(self, row: Row, base_key: bytes) -> bytes | None:
        """The encoded key of the entry for a base row, None where the index leaves the row out."""
        if not self.holds(row):
            return None
        if self._ends_with_base_key:
            return self.entries.encode(self.unique_values(row)) + base_key
        return self.entries.encode(self._key_values(row))

    def keys_of(self, rows: Sequence[Row], base_keys: Sequence[bytes]) -> list[bytes]:
        """The encoded keys of the entries for many base rows, none of which the index leaves out."""
        if not self._ends_with_base_key:
            return self.entries.encode_all(list(map(self._key_values, rows)))
        own = self._encode_own(list(map(self.unique_values, rows)))
        return [key + base_key for key, base_key in zip(own, base_keys, strict=True)]

    def holds(self, row: Row) -> bool:
        """Whether a base row has an entry."""
        return all(row[position] is not None for position in self.needed)


@dataclass(frozen=True)
class Computed:
    """A column that is worked out from others of its row: AS (…)."""

    position: int
    expression: exp.Expr
    inputs: tuple[int, ...]


@dataclass(frozen=True)
class Rule:
    """A CHECK constraint, ready to be evaluated."""

    name: str
    text: str
    expression: exp.Expr
    inputs: tuple[int, ...]


@dataclass(eq=False)
class Reference:
    """An enforced foreign key between two stored tables. Positions are of columns, in the order of the constraint."""

    key: ForeignKey
    table: StoredTable
    positions: tuple[int, ...]
    referenced: StoredTable
    referenced_positions: tuple[int, ...]

    def __post_init__(self) -> None:
        self.values = picker(self.positions)
        self.referenced_values = picker(self.referenced_positions)

    @property
    def cascades(self) -> bool:
        """True with ON DELETE CASCADE."""
        return self.key.on_delete == "CASCADE"


@dataclass(eq=False)
class StoredTable:
    """A table, its rows, and what is bound to them.

    `parent` is set for both kinds of interleaving (they are stored alike), `parent_must_exist` for INTERLEAVE IN PARENT
    alone. `children` are the tables whose rows hold on to a row of this one (IN PARENT).
    """

    table: Table
    rows: TableRows
    indexes: list[StoredIndex] = field(default_factory=list)
    parent: StoredTable | None = None
    parent_must_exist: bool = False
    children: list[StoredTable] = field(default_factory=list)
    key_computed: list[Computed] = field(default_factory=list)
    computed: list[Computed] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    referenced_by: list[Reference] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name = self.table.name
        self.columns: tuple[Column, ...] = self.table.columns
        self.types: tuple[Type, ...] = self.rows.types
        self.key_positions = self.rows.key_positions
        numbered = list(enumerate(self.columns))
        self.generated = frozenset(n for n, column in numbered if column.generated is not None)
        self.virtual = frozenset(n for n in self.generated if not self.columns[n].stored)
        self.not_generated = tuple(n for n, _ in numbered if n not in self.generated)
        self.filled = frozenset(n for n, column in numbered if column.filled_when_left_out)
        self.required = tuple(n for n in self.not_generated if self.columns[n].not_null and n not in self.filled)
        self.filled_not_null = tuple(n for n in sorted(self.generated | self.filled) if self.columns[n].not_null)
        self.always_counted = frozenset(self.key_positions) | self.filled | (self.generated - self.virtual)
        self.parent_positions = self.key_positions[: len(self.parent.key_positions) if self.parent else 0]
        self.parent_values = picker(self.parent_positions)

    @property
    def needed_first(self) -> list[StoredTable]:
        """The tables whose rows must be there before rows of this one: the parent, and what foreign keys reference."""
        parents = [self.parent] if self.parent is not None and self.parent_must_exist else []
        return parents + [reference.referenced for reference in self.references]

    def position(self, column: str) -> int:
        """Where a column stands in the rows; KeyError where there is none."""
        return self.rows.position(column)

    def parent_key(self, row: Row) -> bytes:
        """The encoded key of the parent row that a row stands under."""
        return self.rows.encode(self.parent_values(row))

    @property
    def restricted(self) -> frozenset[int]:
        """The columns that foreign keys with ON DELETE CASCADE reference."""
        return frozenset(p for r in self.referenced_by if r.cascades for p in r.referenced_positions)

    def cascades(self) -> bool:
        """True where rows go when their parent row goes."""
        return self.table.interleave is not None and self.table.interleave.on_delete == "CASCADE"


def table_rows(table: Table) -> TableRows:
    """An empty store for the rows of a table."""
    virtual = [column.name for column in table.columns if column.generated is not None and not column.stored]
    return TableRows(table.name, [c.name for c in table.columns], [c.type for c in table.columns], table.key, virtual)


def index_entries(schema: Schema, index: Index, base: TableRows) -> Entries:
    """An empty store for the entries of an index over a table's rows."""
    columns = schema.index_columns(index)
    types = [base.types[base.position(column)] for column in columns]
    return Entries(index.name, columns, types, schema.index_key(index), base)


def stored_index(schema: Schema, index: Index, entries: Entries) -> StoredIndex:
    """An index bound to its entries. NULL_FILTERED leaves out rows with a NULL in any key column (facts.md 4.2.7)."""
    base = entries.base
    filtered = [part.column for part in index.key] if index.null_filtered else []
    return StoredIndex(
        index,
        entries,
        key_positions=tuple(base.position(part.column) for part in schema.index_key(index)),
        needed=tuple(base.position(column) for column in (*filtered, *index.not_null)),
    )
