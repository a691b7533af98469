"""INFORMATION_SCHEMA and SPANNER_SYS: the tables in which a database describes itself.

INFORMATION_SCHEMA says what the schema holds and in which state an index is (facts.md 4.3, documentation page
`information-schema`); SPANNER_SYS.SPLIT_STATS_TOP_MINUTE, _10MINUTE and _HOUR list the warm and hot splits (facts.md
1.4) of the simulated run that was shown to the database (`Database.observe`). Only the columns that the course speaks
of are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from spanlab.catalog import Column, KeyPart, Table
from spanlab.errors import QueryError, suggest
from spanlab.storage.rows import TableRows
from spanlab.values import Type

if TYPE_CHECKING:
    from spanlab.query.database import Database

STRING, INT64, BOOL, TIMESTAMP = Type("STRING"), Type("INT64"), Type("BOOL"), Type("TIMESTAMP")
STRINGS = Type("ARRAY", element=STRING)
Records = Iterable[tuple[object, ...]]
_PLACE = "ROW_NUMBER"
_STATS = (
    ("INTERVAL_END", TIMESTAMP), ("SPLIT_START", STRING), ("SPLIT_LIMIT", STRING), ("CPU_USAGE_SCORE", INT64),
    ("AFFECTED_TABLES", STRINGS), ("UNSPLITTABLE_REASONS", STRINGS),
)  # fmt: skip


def _named(name: str) -> tuple[str, str]:
    """Named schema and own name: "" for objects without one."""
    schema, _, own = name.rpartition(".")
    return schema, own


def _tables(database: Database) -> Records:
    for name, table in database.schema.tables.items():
        parent = table.interleave.table if table.interleave else None
        on_delete = (table.interleave.on_delete or "NO ACTION") if table.interleave else None
        yield "", *_named(name), "BASE TABLE", parent, on_delete
    for name in database.schema.views:
        yield "", *_named(name), "VIEW", None, None


def _columns(database: Database) -> Records:
    for name, table in database.schema.tables.items():
        for place, column in enumerate(table.columns, 1):
            nullable = "NO" if column.not_null else "YES"
            generated = "ALWAYS" if column.generated else "NEVER"
            stored = None if not column.generated else "YES" if column.stored else "NO"
            default, text = column.default, column.generated
            yield (
                "", *_named(name), column.name, place, default, nullable, str(column.type), generated, text, stored,
            )  # fmt: skip


def _indexes(database: Database) -> Records:
    schema_now = database.bound_schema
    states = {index.name: index.state for table in schema_now.tables for index in database.stored_table(table).indexes}
    for name in schema_now.tables:
        schema, own = _named(name)
        yield "", schema, own, "PRIMARY_KEY", "PRIMARY_KEY", "", True, False, None, False
    for name, index in schema_now.indexes.items():
        schema, own = _named(index.table)
        filtered = index.null_filtered or bool(index.not_null)
        parent = index.interleave_in or ""
        state = states.get(name, "READ_WRITE")
        yield "", schema, own, _named(name)[1], "INDEX", parent, index.unique, filtered, state, index.managed


def _index_columns(database: Database) -> Records:
    for name, table in database.schema.tables.items():
        yield from _key_columns(name, "PRIMARY_KEY", "PRIMARY_KEY", table, table.key, ())
    for name, index in database.schema.indexes.items():
        table = database.schema.table(index.table)
        yield from _key_columns(index.table, _named(name)[1], "INDEX", table, index.key, index.storing)


def _key_columns(
    owner: str, index: str, kind: str, table: Table, key: tuple[KeyPart, ...], stored: tuple[str, ...]
) -> Records:
    schema, own = _named(owner)
    for place, part in enumerate(key, 1):
        column = table.column(part.column)
        nullable = "NO" if column is not None and column.not_null else "YES"
        order = "DESC" if part.desc else "ASC"
        yield "", schema, own, index, kind, part.column, place, order, nullable, str(column.type if column else "")
    for name in stored:
        column = table.column(name)
        nullable = "NO" if column is not None and column.not_null else "YES"
        yield "", schema, own, index, kind, name, None, None, nullable, str(column.type if column else "")


def _schemata(database: Database) -> Records:
    for name in ("", "INFORMATION_SCHEMA", "SPANNER_SYS", *database.schema.named_schemas):
        yield "", name


def _split_stats(interval: str) -> Callable[[Database], Records]:
    def records(database: Database) -> Records:
        if database.run is None:
            return
        for row in database.run.split_stats(interval):
            yield tuple(row[name] for name, _ in _STATS)

    return records


Definition = tuple[tuple[tuple[str, Type], ...], Callable[["Database"], Records]]
_OBJECT = (("TABLE_CATALOG", STRING), ("TABLE_SCHEMA", STRING), ("TABLE_NAME", STRING))
_OF_INDEX = (*_OBJECT, ("INDEX_NAME", STRING), ("INDEX_TYPE", STRING))
TABLES: dict[str, dict[str, Definition]] = {
    "INFORMATION_SCHEMA": {
        "SCHEMATA": ((("CATALOG_NAME", STRING), ("SCHEMA_NAME", STRING)), _schemata),
        "TABLES": (
            (*_OBJECT, ("TABLE_TYPE", STRING), ("PARENT_TABLE_NAME", STRING), ("ON_DELETE_ACTION", STRING)),
            _tables,
        ),
        "COLUMNS": (
            (
                *_OBJECT, ("COLUMN_NAME", STRING), ("ORDINAL_POSITION", INT64), ("COLUMN_DEFAULT", STRING),
                ("IS_NULLABLE", STRING), ("SPANNER_TYPE", STRING), ("IS_GENERATED", STRING),
                ("GENERATION_EXPRESSION", STRING), ("IS_STORED", STRING),
            ),
            _columns,
        ),
        "INDEXES": (
            (
                *_OF_INDEX, ("PARENT_TABLE_NAME", STRING), ("IS_UNIQUE", BOOL), ("IS_NULL_FILTERED", BOOL),
                ("INDEX_STATE", STRING), ("SPANNER_IS_MANAGED", BOOL),
            ),
            _indexes,
        ),
        "INDEX_COLUMNS": (
            (
                *_OF_INDEX, ("COLUMN_NAME", STRING), ("ORDINAL_POSITION", INT64), ("COLUMN_ORDERING", STRING),
                ("IS_NULLABLE", STRING), ("SPANNER_TYPE", STRING),
            ),
            _index_columns,
        ),
    },
    "SPANNER_SYS": {
        f"SPLIT_STATS_TOP_{interval}": (_STATS, _split_stats(interval)) for interval in ("MINUTE", "10MINUTE", "HOUR")
    },
}  # fmt: skip


def system_table(schema: str, name: str) -> Table | None:
    """The definition of a system table; None for another schema, QueryError for a table that such a schema lacks."""
    known = TABLES.get(schema.upper())
    if known is None:
        return None
    if name.upper() not in known:
        raise QueryError(
            f"{schema.upper()} has no table {name} in this course.{suggest(name, known)}", hint=", ".join(known)
        )
    columns, _ = known[name.upper()]
    shown = tuple(Column(column, type_) for column, type_ in columns)
    hidden = Column(_PLACE, INT64, not_null=True, hidden=True)
    return Table(f"{schema.upper()}.{name.upper()}", (hidden, *shown), (KeyPart(_PLACE),))


def system_rows(database: Database, path: str) -> TableRows:
    """The rows of a system table as they are now."""
    schema, _, name = path.partition(".")
    columns, records = TABLES[schema][name]
    names = [_PLACE, *(column for column, _ in columns)]
    rows = TableRows(path, names, [INT64, *(type_ for _, type_ in columns)], [KeyPart(_PLACE)])
    for place, record in enumerate(records(database)):
        rows.put(rows.encode((place,)), (place, *record))
    return rows
