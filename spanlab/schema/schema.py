"""`Schema`: all objects of a database, as the sum of the DDL statements that made them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanlab.errors import SchemaError
from spanlab.schema.changes import carry_out
from spanlab.schema.objects import Draft, Objects
from spanlab.schema.printing import ddl_of
from spanlab.sql import parse_ddl
from spanlab.sql.statements import Statement

if TYPE_CHECKING:
    from collections.abc import Iterable


class Schema(Objects):
    """The schema of a database. It never changes: `apply` gives a new one and shares with it all that stayed the same.

        schema = Schema.from_ddl("CREATE TABLE Singers (SingerId INT64 NOT NULL) PRIMARY KEY (SingerId)")
        schema = schema.apply("ALTER TABLE Singers ADD COLUMN Name STRING(100)")

    `tables`, `indexes` (with those that Spanner makes for foreign keys), `sequences` and `views` are dicts by name in
    the order of creation, `named_schemas` the names of named schemas, `options` what ALTER DATABASE has set,
    `skipped` the statements that were passed over. Two schemas are equal when a database made by one could not be
    told from one made by the other.

    As Spanner does, a batch of statements stops at the first one that is refused and keeps those before it: the
    SchemaError has the attributes `schema` (with these) and `applied` (how many they were).
    """

    @classmethod
    def from_ddl(cls, text: str, *, skip_unsupported: bool = True) -> Schema:
        """The schema that the statements of the text make of an empty database.

        Raises SchemaError where Spanner would refuse one of them. Statements of kinds that lie outside the course
        (change streams, search indexes, graphs …), which most real schemas have, are passed over and kept in `skipped`;
        with `skip_unsupported=False` the first of them raises UnsupportedError.
        """
        return cls().apply(text, skip_unsupported=skip_unsupported)

    def apply(self, change: str | Statement | Iterable[Statement], *, skip_unsupported: bool = False) -> Schema:
        """The schema after a change: the text of one or more statements, or statements that are read already."""
        draft, applied = Draft(self), 0
        try:
            if isinstance(change, str):
                change = parse_ddl(change, skip_unsupported=skip_unsupported)
            for statement in [change] if isinstance(change, Statement) else change:
                carry_out(draft, statement)
                applied += 1
        except SchemaError as error:
            error.schema, error.applied = _finished(draft), applied
            raise
        return _finished(draft)

    def to_ddl(self) -> str:
        """Statements that make this schema, in an order that works; `from_ddl` of them gives an equal schema."""
        return ddl_of(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema):
            return NotImplemented
        return self._contents() == other._contents()

    __hash__ = None  # type: ignore[assignment]

    def _contents(self) -> tuple[object, ...]:
        schemas = sorted(self.named_schemas)
        return self.tables, self.indexes, self.sequences, self.views, schemas, self.options

    def __repr__(self) -> str:
        held = (len(self.tables), len(self.indexes), len(self.sequences), len(self.views))
        counts = zip(("tables", "indexes", "sequences", "views"), held, strict=True)
        parts = [f"{what} {number}" for what, number in counts if number]
        if self.skipped:
            parts.append(f"passed over: {', '.join(skipped.kind for skipped in self.skipped)}")
        return f"<Schema: {', '.join(parts) or 'empty'}>"


def _finished(draft: Draft) -> Schema:
    schema = Schema()
    schema._copy_from(draft)
    return schema
