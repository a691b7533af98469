"""What a DDL text says: one frozen object a statement, made of the parts in `spanlab.catalog`.

A schema is not written down once, it is the sum of its statements: each creates, changes or drops one object. A
statement object holds what was said and nothing else; whether Spanner accepts it is decided where the schema is known
(`spanlab.schema`). Two statements are equal when they say the same, however they were written: `text` and `places` do
not count.

Every statement knows where its names stand (`places`), so that an error found much later can still point into the text:

    raise statement.error("Albums has no column AlbumTitel.", "AlbumTitel", "storing", hint="AlbumTitle")
"""

from __future__ import annotations

from dataclasses import dataclass, field

from spanlab.catalog import (
    Check,
    Column,
    ForeignKey,
    Index,
    Interleave,
    Options,
    RowDeletionPolicy,
    Sequence,
    Table,
    View,
)
from spanlab.errors import SchemaError


@dataclass(frozen=True)
class Place:
    """Where a name stands in the text: `line` and `column` count from 1, `width` is in characters.

    `role` says what the name is there for: "object" (what the statement creates, changes or drops), "column" (a
    column's definition, or the column that is altered or dropped), "type" (the type of the column `name`), "key",
    "storing", "where", "constraint", "foreign key", "table" (a table that is indexed, referenced or interleaved in),
    "referenced", "policy", "synonym", "option", "new name", "query" or "expression". A whole expression carries its
    canonical text as `name`, and the names in it have places of their own with the same role.
    """

    name: str
    role: str
    line: int
    column: int
    width: int = 1


@dataclass(frozen=True)
class Places:
    """All places of one statement in the order written, and the whole text (`source`) that their lines count in."""

    source: str = ""
    places: tuple[Place, ...] = ()

    def find(self, name: str = "", role: str = "") -> Place | None:
        """The place of `name` in `role`; else of the name in any role; else of the role; else where it all begins."""

        def first(same_name: bool, same_role: bool) -> Place | None:
            wanted = name.casefold()
            for place in self.places:
                if (place.name.casefold() == wanted or not same_name) and (place.role == role or not same_role):
                    return place
            return None

        if name and role and (place := first(True, True)):
            return place
        if name and (place := first(True, False)):
            return place
        return (first(False, True) if role else None) or first(False, False)


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One statement: `text` as it was written, without its semicolon, and the `places` of its names."""

    text: str = field(default="", compare=False, repr=False)
    places: Places = field(default=Places(), compare=False, repr=False)

    def error(self, message: str, name: str = "", role: str = "", *, hint: str = "") -> SchemaError:
        """A SchemaError that points at `name` (in `role`) in this statement; `Places.find` says how it is looked up."""
        place = self.places.find(name, role)
        if place is None:
            return SchemaError(message, hint=hint, text=self.text)
        source = self.places.source or self.text
        return SchemaError(message, hint=hint, text=source, line=place.line, column=place.column, width=place.width)


# tables


@dataclass(frozen=True)
class CreateTable(Statement):
    """CREATE TABLE [IF NOT EXISTS]."""

    table: Table
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropTable(Statement):
    """DROP TABLE [IF EXISTS]."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True)
class RenameTable(Statement):
    """RENAME TABLE old TO new, …: all renamings happen at once."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class AlterTable(Statement):
    """ALTER TABLE [IF EXISTS] name, and one action."""

    name: str
    action: TableAction
    if_exists: bool = False


@dataclass(frozen=True)
class AddColumn:
    """ADD [COLUMN] [IF NOT EXISTS] with the whole definition of the column."""

    column: Column
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropColumn:
    """DROP [COLUMN]."""

    column: str


@dataclass(frozen=True)
class AlterColumnType:
    """ALTER [COLUMN] name type …: the column's new definition. What it leaves out (NOT NULL, DEFAULT) is taken away."""

    column: Column


@dataclass(frozen=True)
class SetDefault:
    """ALTER COLUMN … SET DEFAULT (expression): metadata only, rows keep what they hold (facts.md 5.3)."""

    column: str
    expression: str


@dataclass(frozen=True)
class DropDefault:
    """ALTER COLUMN … DROP DEFAULT."""

    column: str


@dataclass(frozen=True)
class SetOnUpdate:
    """ALTER COLUMN … SET ON UPDATE (expression)."""

    column: str
    expression: str


@dataclass(frozen=True)
class DropOnUpdate:
    """ALTER COLUMN … DROP ON UPDATE."""

    column: str


@dataclass(frozen=True)
class SetColumnOptions:
    """ALTER COLUMN … SET OPTIONS (…); an option set to None is cleared."""

    column: str
    options: Options


@dataclass(frozen=True)
class SkipRange:
    """SKIP RANGE low, high: values (as handed out, both ends included) that a sequence must not give (facts.md 2.3)."""

    low: int
    high: int


@dataclass(frozen=True)
class NoSkipRange:
    """NO SKIP RANGE: forget the skipped range."""


@dataclass(frozen=True)
class RestartCounter:
    """RESTART COUNTER WITH value: where the counter goes on, before its bits are reversed."""

    value: int


@dataclass(frozen=True)
class AlterIdentity:
    """ALTER COLUMN … ALTER IDENTITY, and one change to the column's own sequence."""

    column: str
    change: SkipRange | NoSkipRange | RestartCounter


@dataclass(frozen=True)
class AddConstraint:
    """ADD [CONSTRAINT name] FOREIGN KEY … or CHECK …."""

    constraint: ForeignKey | Check


@dataclass(frozen=True)
class DropConstraint:
    """DROP CONSTRAINT name."""

    name: str


@dataclass(frozen=True)
class SetOnDelete:
    """SET ON DELETE CASCADE or NO ACTION: what deleting a parent row does to this table's rows."""

    on_delete: str


@dataclass(frozen=True)
class SetInterleave:
    """SET INTERLEAVE IN [PARENT] table: switches between the two modes, never to another parent (facts.md 3.9)."""

    interleave: Interleave


@dataclass(frozen=True)
class AddRowDeletionPolicy:
    """ADD ROW DELETION POLICY (…)."""

    policy: RowDeletionPolicy


@dataclass(frozen=True)
class ReplaceRowDeletionPolicy:
    """REPLACE ROW DELETION POLICY (…)."""

    policy: RowDeletionPolicy


@dataclass(frozen=True)
class DropRowDeletionPolicy:
    """DROP ROW DELETION POLICY."""


@dataclass(frozen=True)
class RenameTo:
    """RENAME TO name [, ADD SYNONYM synonym]."""

    name: str
    synonym: str | None = None


@dataclass(frozen=True)
class AddSynonym:
    """ADD SYNONYM name."""

    name: str


@dataclass(frozen=True)
class DropSynonym:
    """DROP SYNONYM name."""

    name: str


@dataclass(frozen=True)
class SetTableOptions:
    """SET OPTIONS (…) on a table."""

    options: Options


ColumnAction = SetDefault | DropDefault | SetOnUpdate | DropOnUpdate | SetColumnOptions | AlterIdentity
"""What ALTER TABLE … ALTER COLUMN can do beside a new definition."""

TableAction = (
    AddColumn
    | DropColumn
    | AlterColumnType
    | ColumnAction
    | AddConstraint
    | DropConstraint
    | SetOnDelete
    | SetInterleave
    | AddRowDeletionPolicy
    | ReplaceRowDeletionPolicy
    | DropRowDeletionPolicy
    | RenameTo
    | AddSynonym
    | DropSynonym
    | SetTableOptions
)
"""What ALTER TABLE can do."""


# indexes


@dataclass(frozen=True)
class CreateIndex(Statement):
    """CREATE [UNIQUE] [NULL_FILTERED] INDEX [IF NOT EXISTS]."""

    index: Index
    if_not_exists: bool = False


@dataclass(frozen=True)
class AddStoredColumn:
    """ADD STORED COLUMN column: backfills the index (facts.md 4.2.5)."""

    column: str


@dataclass(frozen=True)
class DropStoredColumn:
    """DROP STORED COLUMN column."""

    column: str


@dataclass(frozen=True)
class SetIndexOptions:
    """SET OPTIONS (…) on an index."""

    options: Options


@dataclass(frozen=True)
class AlterIndex(Statement):
    """ALTER INDEX name, and one action; the key of an index cannot be altered."""

    name: str
    action: AddStoredColumn | DropStoredColumn | SetIndexOptions


@dataclass(frozen=True)
class DropIndex(Statement):
    """DROP INDEX [IF EXISTS]."""

    name: str
    if_exists: bool = False


# sequences, named schemas, views, the database


@dataclass(frozen=True)
class CreateSequence(Statement):
    """CREATE SEQUENCE [IF NOT EXISTS]."""

    sequence: Sequence
    if_not_exists: bool = False


@dataclass(frozen=True)
class SetSequenceOptions:
    """SET OPTIONS (…) on a sequence."""

    options: Options


@dataclass(frozen=True)
class AlterSequence(Statement):
    """ALTER SEQUENCE name, and one change."""

    name: str
    change: SkipRange | NoSkipRange | RestartCounter | SetSequenceOptions
    if_exists: bool = False


@dataclass(frozen=True)
class DropSequence(Statement):
    """DROP SEQUENCE [IF EXISTS]: refused while a column's default uses it."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True)
class CreateSchema(Statement):
    """CREATE SCHEMA [IF NOT EXISTS]: a named schema, the first half of names such as sales.Orders."""

    name: str
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropSchema(Statement):
    """DROP SCHEMA [IF EXISTS]."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True)
class CreateView(Statement):
    """CREATE [OR REPLACE] VIEW."""

    view: View
    or_replace: bool = False


@dataclass(frozen=True)
class DropView(Statement):
    """DROP VIEW [IF EXISTS]."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True)
class AlterDatabase(Statement):
    """ALTER DATABASE name SET OPTIONS (…); an option set to None goes back to its default."""

    name: str
    options: Options


@dataclass(frozen=True)
class Analyze(Statement):
    """ANALYZE: collect optimizer statistics now."""


@dataclass(frozen=True)
class Skipped(Statement):
    """A statement of a kind outside the course, passed over because the reader was asked to; `kind` is its name."""

    kind: str
