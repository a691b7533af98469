"""A database: a schema, its rows in key order, and the ways to change and to look at them.

    db = Database(schema)
    commit = db.commit([("insert", "Singers", ["SingerId", "Name"], [[1, "Ada"], [2, "Bo"]]),
                        ("delete", "Singers", {"keys": [[2]]})])
    commit.mutations, commit.participants
    db.rows("Singers")                # dicts in key order
    db.entries("SingersByName", 3)    # the first three index entries
    db.rows_in_order(12)              # how families lie on the shelf

A commit applies whole or not at all. `spanlab.query` adds queries and DML.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from spanlab.errors import SpanlabError, suggest
from spanlab.sql import parse_ddl
from spanlab.storage import refusals
from spanlab.storage.catalogue import stored_tables
from spanlab.storage.commits import Commit, StatementOutcome
from spanlab.storage.counting import MUTATION_LIMIT
from spanlab.storage.cuts import Splits
from spanlab.storage.filling import Filler
from spanlab.storage.key_sets import encoded_key
from spanlab.storage.loading import load
from spanlab.storage.looking import Layout, layout, placed_rows, rows_in_order, space_of
from spanlab.storage.reshaping import fill_added, reshaped_entries, reshaped_rows
from spanlab.storage.schema_changes import SchemaChange, SchemaUpdate, carry_on
from spanlab.storage.schema_work import renames, restart_counters, works_between
from spanlab.storage.sizes import row_bytes, total_bytes, written_bytes
from spanlab.storage.transaction import COMMIT_LIMIT_BYTES, Transaction

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from spanlab.schema import Schema
    from spanlab.sql.statements import Statement
    from spanlab.storage.rows import Entries, Rows, TableRows
    from spanlab.storage.splits import SplitMap
    from spanlab.storage.tables import StoredTable

Mutation = Sequence[Any]
FIRST_MOMENT = datetime(2026, 6, 1, tzinfo=UTC)
_TICK = timedelta(milliseconds=1)
_KINDS = ("insert", "update", "insert_or_update", "replace", "delete")


class Database:
    """Rows of a schema's tables, kept sorted, with their indexes.

    `splits` are split points to begin with, each a table or index and a key: [("Orders", ["c5"])]; the attribute of
    that name holds the splits and cuts more (`spanlab.storage.cuts`). Time is simulated: each commit takes a
    millisecond from 1 June 2026 on; `now` is the last commit's time.
    """

    def __init__(self, schema: Schema, splits: Iterable[tuple[str, Sequence[object]]] = ()) -> None:
        self._schema = schema
        self.now = FIRST_MOMENT
        self._filler = Filler()
        self._table_rows: dict[str, TableRows] = {}
        self._entries: dict[str, Entries] = {}
        self.splits = Splits(self)
        self._bound = schema
        self._change: SchemaChange | None = None
        self._bind(schema, {})
        for name, key in splits:
            self.splits.cut(name, key)

    @property
    def schema(self) -> Schema:
        """The schema that reads and queries see: a change counts from its end."""
        return self._schema

    def _bind(self, schema: Schema, renamed: dict[str, str]) -> None:
        """Bind the rows to a schema, from here on the one that writes follow. `renamed` maps new table names to old."""
        before, rows, entries = self._bound.tables, {}, {}
        for name, table in schema.tables.items():
            old = renamed.get(name, name)
            if old in before and old in self._table_rows:
                rows[name] = reshaped_rows(before[old], table, self._table_rows[old])
        for name, index in schema.indexes.items():
            if name in self._entries and index.table in rows:
                entries[name] = reshaped_entries(schema, index, self._entries[name], rows[index.table])
        self._tables = stored_tables(schema, rows, entries)
        self._table_rows, self._entries, self._bound = rows, entries, schema
        self.splits.rebind(renamed)

    # writing

    def commit(self, mutations: Iterable[Mutation]) -> Commit:
        """Apply mutations in order, all or none, and report what that took.

        A mutation is (kind, table, columns, rows) with kind "insert", "update", "insert_or_update" or "replace", or
        ("delete", table, which) with which as in `spanlab.storage.key_sets`. A TIMESTAMP that is
        "spanner.commit_timestamp()" becomes the commit's own time. Raises ConstraintError, after which the database is
        as it was (facts.md 3.13, 6.1).
        """
        with self.transaction() as transaction:
            for mutation in mutations:
                self._apply(transaction, mutation)
                if transaction.mutations > MUTATION_LIMIT:
                    raise refusals.too_many_mutations(transaction.mutations, MUTATION_LIMIT, "the commit")
            transaction.end_step()
            return self.finish(transaction)

    def transaction(self) -> Transaction:
        """A transaction for a `with` statement; whatever goes wrong inside, all is put back. `finish` commits it."""
        return Transaction(self._bound, self._tables, self._filler, self.now + _TICK)

    def _apply(self, transaction: Transaction, mutation: Mutation) -> None:
        kind = mutation[0] if isinstance(mutation, (list, tuple)) and mutation else None
        if kind not in _KINDS or len(mutation) != (3 if kind == "delete" else 4) or not isinstance(mutation[1], str):
            known = suggest(str(kind), _KINDS)
            raise refusals.unreadable(f"a mutation cannot be read from {refusals.shown(mutation)}.{known}")
        if kind != "delete" and not all(isinstance(part, (list, tuple)) for part in mutation[2:]):
            raise refusals.unreadable(f"{kind} into {mutation[1]} needs a list of columns and a list of rows")
        getattr(transaction, str(kind))(*mutation[1:])

    def finish(self, transaction: Transaction, statements: Sequence[StatementOutcome] = ()) -> Commit:
        """Commit a transaction whose last step has ended."""
        if transaction.could_be_large:
            size = written_bytes(transaction.writes)
            if size > COMMIT_LIMIT_BYTES:
                raise refusals.commit_too_large(size, COMMIT_LIMIT_BYTES)
        self.now = transaction.now
        return Commit(transaction.now, transaction.mutations, transaction.writes, self.split_map.covering, statements)

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> int:
        """Insert many rows in commits that stay under the limits; the number of commits (`spanlab.storage.loading`)."""
        by_column = list(zip(*rows, strict=True)) or [()] * len(columns)
        return self.load_columns(table, dict(zip(columns, by_column, strict=True)))

    def load_columns(self, table: str, columns: Mapping[str, Sequence[object]]) -> int:
        """As `load`, for rows given column by column."""
        return load(self, table, columns)

    def tables_in_loading_order(self) -> list[StoredTable]:
        """The tables so that parents come before children, and referenced tables before those that reference them."""
        waiting = list({stored.name: stored for stored in self._tables.values()}.values())
        found: list[StoredTable] = []
        while waiting:
            names = {stored.name for stored in waiting}
            ready = [s for s in waiting if names.isdisjoint({t.name for t in s.needed_first} - {s.name})] or waiting[:1]
            found += ready
            waiting = [stored for stored in waiting if stored not in ready]
        return found

    # schema changes

    def start_ddl(self, statement: str | Statement) -> SchemaChange:
        """Begin one schema change: `step` and `run` carry it on, and commits may come in between.

        A change that is still under way is carried to its end first. Raises SchemaError where the statement itself is
        refused, ConstraintError where rows cannot take the new shape; both leave everything as it was.
        """
        if self._change is not None and not self._change.done:
            self._change.run()
        if isinstance(statement, str):
            read = parse_ddl(statement)
            if len(read) != 1:
                raise ValueError(f"statement: {len(read)} statements were given; a change is one")
            statement = read[0]
        before, now = self._schema, self.now + _TICK
        new, renamed = before.apply(statement), renames(statement)
        self._bind(new, renamed)

        def undo() -> None:
            self._bind(before, {old: name for name, old in renamed.items()})

        try:
            for name, table in new.tables.items():
                if (was := before.tables.get(renamed.get(name, name))) is not None:
                    fill_added(new, was, self._tables[table.name.casefold()], self._filler, now)
            works = works_between(before, new, self._tables, now, renamed)
        except BaseException:
            undo()
            raise
        restart_counters(self._filler, statement)
        self._change = SchemaChange(statement.text, works, lambda: self._come_into_force(new), undo)
        return self._change if works else self._change.run()

    def _come_into_force(self, schema: Schema) -> None:
        for stored in self._tables.values():
            for index in stored.indexes:
                index.state = "READ_WRITE"
        self._schema = schema

    def apply_ddl(self, statements: str | Iterable[str | Statement]) -> SchemaUpdate:
        """Apply schema changes to a filled database.

        A list is a batch: it stops at the first failure, what came before stays, and the outcome says all that
        (facts.md 10). A text (one statement, or several with semicolons) raises its first failure instead: SchemaError
        where a statement is refused, ConstraintError where old rows break a new rule.
        """
        update = SchemaUpdate()
        batch = parse_ddl(statements) if isinstance(statements, str) else list(statements)
        for number, statement in enumerate(batch, 1):
            try:
                change = self.start_ddl(statement)
                update.changes.append(change)
                carry_on(change)
                self.now += timedelta(seconds=change.seconds)
                error = change.error
            except SpanlabError as refused:
                error = refused
            if error is not None:
                update.failed, update.error = number, error
                break
            update.applied.append(number)
        if isinstance(statements, str) and update.error is not None:
            raise update.error
        return update

    # looking in

    def stored(self, name: str) -> Rows:
        """The rows of a table or the entries of an index; `spanlab.storage.rows` says how to read them."""
        folded = name.casefold()
        if folded in self._tables:
            return self._tables[folded].rows
        for index_name, entries in self._entries.items():
            if index_name.casefold() == folded:
                return entries
        raise ValueError(
            f"name: there is no table or index {name}.{suggest(name, [*self._table_rows, *self._entries])}"
        )

    def stored_tables(self) -> list[StoredTable]:
        """All tables with what writes to them follow, in the order of creation."""
        return [self._tables[name.casefold()] for name in self._bound.tables]

    def rows(self, table: str) -> list[dict[str, object]]:
        """All rows of a table in key order, each a dict from column to value (hidden columns are left out)."""
        stored = self.stored_table(table)
        shown = [(n, column.name) for n, column in enumerate(stored.columns) if not column.hidden]
        return [{name: row[n] for n, name in shown} for row in stored.rows.values()]

    def entries(self, index: str, n: int | None = None) -> list[dict[str, object]]:
        """The first `n` entries of an index (all without): indexed columns, rest of the base key, stored columns."""
        entries = self.stored(index)
        return [dict(zip(entries.columns, row, strict=True)) for row in entries.values(slice(0, n))]

    def stored_table(self, name: str) -> StoredTable:
        """A table with all that writes to it follow; ValueError where there is none of that name."""
        found = self._tables.get(name.casefold())
        if found is None:
            raise ValueError(f"table: there is no table {name}.{suggest(name, self._table_rows)}")
        return found

    def rows_in_order(self, limit: int | None = None) -> list[str]:
        """The first `limit` rows (all without) as Spanner stores them: each family together, parents before children.

        A row is written as its table and its key: Albums(1,2). Index entries follow, in key spaces of their own.
        """
        return rows_in_order(self, limit)

    def layout(self, root: str, limit: int | None = None) -> Layout:
        """The rows of a root table with all that is interleaved in it (or of a global index), and the cuts in them."""
        name = self.stored(root).name
        if name not in self.splits.key_spaces():
            raise ValueError(f"root: {name} is no root; take one of {', '.join(self.splits.key_spaces())}")
        return layout(self, name, limit)

    def bytes(self, name: str, key: Sequence[object] | None = None, *, family: bool = False) -> int:
        """Bytes of a table, of an index, or of one row of a table (facts.md 2.1; a NULL takes 8).

        With `family` the row counts with all rows and entries that are interleaved under it.
        """
        rows = self.stored(name)
        if key is None:
            return total_bytes(rows)
        encoded = encoded_key(self.stored_table(name), key)
        row = rows.get(encoded)
        if row is None:
            raise ValueError(f"key: there is no row {refusals.row_name(rows.name, key)}")
        if not family:
            return row_bytes(rows, row)
        address = self.split_map.encoders[rows.name](rows.key_values(row))
        space = space_of(self._bound, rows.name)
        return sum(placed.size for placed in placed_rows(self, space) if placed.address.startswith(address))

    @property
    def bound_schema(self) -> Schema:
        """The schema that writes follow: `schema`, or what it becomes while a change is under way."""
        return self._bound

    @property
    def split_map(self) -> SplitMap:
        """Which split an address lies in, as the splits are now (`spanlab.storage.splits`)."""
        return self.splits.map
