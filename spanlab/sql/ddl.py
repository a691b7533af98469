"""DDL text in, statement objects out: `parse_ddl`.

One function reads one rule of Spanner's grammar (the DDL reference; facts.md 2.3, 3, 4.1, 5), which stands in its
docstring. Statements end with a semicolon outside of strings, names in back quotes and comments. What can be said
without knowing the schema is refused here; the rest is the schema's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from spanlab.catalog import (
    Check,
    Column,
    ForeignKey,
    Index,
    Interleave,
    KeyPart,
    Options,
    RowDeletionPolicy,
    Sequence,
    Table,
    View,
)
from spanlab.errors import SqlError, suggest
from spanlab.sql import statements as st
from spanlab.sql.alter import alter_database, alter_index, alter_sequence, alter_table
from spanlab.sql.columns import column, sequence_clauses
from spanlab.sql.lexical import Source
from spanlab.sql.options import options
from spanlab.sql.parse import view_text
from spanlab.sql.reader import Reader, Unsupported
from spanlab.sql.tables import at_constraint, column_names, constraint, interleave, key, row_deletion_policy, synonym


def parse_ddl(text: str, *, skip_unsupported: bool = False) -> list[st.Statement]:
    """The statements of a DDL text in their order.

    Raises SchemaError for what Spanner's grammar refuses, UnsupportedError for kinds of statements that the course
    leaves out; with `skip_unsupported` those come as `Skipped` statements.
    """
    source = Source(text)
    return [_statement(Reader(source, first, last), skip_unsupported) for first, last in _split(source)]


def parse_each(text: str) -> list[st.Statement | SqlError]:
    """As `parse_ddl`, but a statement that is refused does not hide the others: its error stands in its place.

    Raises SchemaError only where the text does not even fall into words, as at a string that is never closed.
    """
    source = Source(text)
    found: list[st.Statement | SqlError] = []
    for first, last in _split(source):
        try:
            found.append(_statement(Reader(source, first, last), skip_unsupported=False))
        except SqlError as error:
            found.append(error)
    return found


def _split(source: Source) -> Iterator[tuple[int, int]]:
    """The index of the first word of each statement, and that behind its last word."""
    first = 0
    for index, word in enumerate(source.words):
        if word.key == ";" or word.kind == "end":
            if index > first:
                yield first, index
            first = index + 1


def _statement(read: Reader, skip_unsupported: bool) -> st.Statement:
    first, last = read.words[read.index], read.words[read.last - 1]
    text = read.source.text[first.start : last.end]
    try:
        statement = _read(read)
        if read.word.kind != "end":
            _left_over(read)
    except Unsupported as error:
        if not skip_unsupported:
            raise
        statement = st.Skipped(error.kind)
    return replace(statement, text=text, places=st.Places(read.source.text, tuple(read.places)))


_OUTSIDE = {
    "CHANGE STREAM": "change stream",
    "SEARCH INDEX": "search index",
    "VECTOR INDEX": "vector index",
    "MODEL": "machine learning model",
    "PROTO BUNDLE": "proto bundle",
    "ROLE": "database role",
    "PROPERTY GRAPH": "property graph",
    "PLACEMENT": "placement",
    "LOCALITY GROUP": "locality group",
    "FUNCTION": "user-defined function",
    "STATISTICS": "statistics package",
    "DATABASE": "creating and dropping databases",
}
"""Kinds of objects that Spanner has and the course leaves out."""

_NOT_DDL = ("SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "FROM", "GRAPH", "CALL", "MERGE")


def _read(read: Reader) -> st.Statement:
    """One statement, by its first words."""
    verb = read.word
    if read.accept("CREATE"):
        return _create(read)
    if read.accept("ALTER"):
        return _alter(read)
    if read.accept("DROP"):
        return _drop(read)
    if read.accept("RENAME", "TABLE"):
        return _rename_table(read)
    if read.accept("ANALYZE"):
        return st.Analyze()
    if read.at("GRANT") or read.at("REVOKE"):
        raise read.unsupported("granting and revoking privileges")
    if verb.key in _NOT_DDL:
        raise read.error(f"{verb.key} belongs to queries and DML; here stand statements that change the schema.", verb)
    read.fail("CREATE, ALTER, DROP, RENAME TABLE or ANALYZE")


def _outside(read: Reader) -> None:
    """Raises UnsupportedError if the name of a kind outside the course comes next."""
    for words, kind in _OUTSIDE.items():
        if read.at(*words.split()):
            raise read.unsupported(kind)


def _create(read: Reader) -> st.Statement:
    or_replace = read.accept("OR", "REPLACE")
    if read.accept("VIEW"):
        return _create_view(read, or_replace)
    _outside(read)
    if or_replace:
        read.fail("VIEW", "OR REPLACE is for views; other objects are altered, or dropped and created")
    if read.accept("TABLE"):
        return _create_table(read)
    if read.at("UNIQUE") or read.at("NULL_FILTERED") or read.at("INDEX"):
        return _create_index(read)
    if read.accept("SEQUENCE"):
        return _create_sequence(read)
    if read.accept("SCHEMA"):
        if_not_exists = read.accept("IF", "NOT", "EXISTS")
        return st.CreateSchema(read.name("the name of a schema", "object"), if_not_exists)
    _no_such_kind(read, "TABLE", "INDEX", "SEQUENCE", "SCHEMA", "VIEW")


def _no_such_kind(read: Reader, *kinds: str) -> NoReturn:
    hint = _STRANGE.get(read.word.key) or suggest(read.word.text, kinds).strip()
    read.fail(", ".join(kinds[:-1]) + f" or {kinds[-1]}", hint)


_STRANGE = {
    "COLUMN": "ALTER TABLE … ALTER COLUMN …",
    "TEMP": "a table with a row deletion policy: Spanner has no temporary tables",
    "TEMPORARY": "a table with a row deletion policy: Spanner has no temporary tables",
    "MATERIALIZED": "CREATE VIEW: Spanner's views are not materialized",
    "TYPE": "columns: Spanner has no types of one's own",
    "TRIGGER": "code in the application: Spanner has no triggers",
    "PROCEDURE": "code in the application: Spanner has no procedures",
}


def _alter(read: Reader) -> st.Statement:
    for word, rule in _ALTER.items():
        if read.accept(word):
            return rule(read)
    if read.at("SCHEMA"):
        raise read.unsupported("altering a named schema")
    _outside(read)
    if read.at("VIEW"):
        read.fail("TABLE, INDEX, SEQUENCE or DATABASE", "CREATE OR REPLACE VIEW")
    _no_such_kind(read, "TABLE", "INDEX", "SEQUENCE", "DATABASE")


_ALTER: dict[str, Callable[[Reader], st.Statement]] = {
    "TABLE": alter_table,
    "INDEX": alter_index,
    "SEQUENCE": alter_sequence,
    "DATABASE": alter_database,
}


def _drop(read: Reader) -> st.Statement:
    for word, statement in _DROP.items():
        if read.accept(word):
            if_exists = read.accept("IF", "EXISTS")
            return statement(read.path(f"the name of the {word.lower()}", "object"), if_exists)
    _outside(read)
    _no_such_kind(read, "TABLE", "INDEX", "SEQUENCE", "SCHEMA", "VIEW")


_DROP: dict[str, Callable[[str, bool], st.Statement]] = {
    "TABLE": st.DropTable,
    "INDEX": st.DropIndex,
    "SEQUENCE": st.DropSequence,
    "SCHEMA": st.DropSchema,
    "VIEW": st.DropView,
}


def _rename_table(read: Reader) -> st.RenameTable:
    """RENAME TABLE old TO new, …."""
    pairs = []
    while True:
        old = read.path("the name of a table", "object")
        read.expect("TO")
        pairs.append((old, read.path("the new name of the table", "new name")))
        if not read.accept(","):
            return st.RenameTable(tuple(pairs))


# tables


@dataclass
class _Elements:
    """What stands in the parentheses of CREATE TABLE."""

    columns: list[Column] = field(default_factory=list)
    foreign_keys: list[ForeignKey] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    synonyms: list[str] = field(default_factory=list)
    key: tuple[KeyPart, ...] | None = None


def _create_table(read: Reader) -> st.CreateTable:
    """TABLE [IF NOT EXISTS] name ( elements ) [PRIMARY KEY ( … )] [, INTERLEAVE …] [, ROW DELETION …] [, OPTIONS …]."""
    if_not_exists = read.accept("IF", "NOT", "EXISTS")
    name = read.path("the name of the table", "object")
    elements = _Elements()
    if not read.at("("):
        read.fail("( and the columns")
    read.listed(lambda read: _table_element(read, elements))
    primary_key = elements.key
    if read.at("PRIMARY"):
        _check_single_key(read, elements)
        read.expect("PRIMARY", "KEY")
        primary_key = key(read)
    interleaved, policy, table_options = _table_clauses(read)
    table = Table(
        name,
        tuple(elements.columns),
        primary_key,
        interleaved,
        tuple(elements.foreign_keys),
        tuple(elements.checks),
        policy,
        tuple(elements.synonyms),
        table_options,
    )
    return st.CreateTable(table, if_not_exists)


def _table_element(read: Reader, elements: _Elements) -> None:
    """A column, a constraint, PRIMARY KEY ( … ) or SYNONYM ( … )."""
    if at_constraint(read):
        found = constraint(read)
        if isinstance(found, Check):
            elements.checks.append(found)
        else:
            elements.foreign_keys.append(found)
    elif read.at("PRIMARY", "KEY"):
        _check_single_key(read, elements)
        read.expect("PRIMARY", "KEY")
        elements.key = key(read)
    elif read.at("SYNONYM", "("):
        elements.synonyms.append(synonym(read))
    else:
        before = read.word
        found_column, is_key = column(read, key_allowed=True)
        elements.columns.append(found_column)
        if is_key:
            _check_single_key(read, elements)
            read.mark(found_column.name, "key", before.start, before.end)
            elements.key = (KeyPart(found_column.name),)


def _check_single_key(read: Reader, elements: _Elements) -> None:
    if elements.key is not None:
        raise read.error(
            "This table has a PRIMARY KEY already.", None, "PRIMARY KEY (first, second) behind the columns"
        )


def _table_clauses(read: Reader) -> tuple[Interleave | None, RowDeletionPolicy | None, Options]:
    """What follows the key, each behind a comma and in this order: INTERLEAVE …, ROW DELETION POLICY …, OPTIONS …."""
    interleaved = interleave(read) if _comma_before(read, "INTERLEAVE") else None
    policy = row_deletion_policy(read) if _comma_before(read, "ROW") else None
    table_options = options(read, "table") if _comma_before(read, "OPTIONS") else ()
    return interleaved, policy, table_options


def _comma_before(read: Reader, keyword: str) -> bool:
    if read.at(keyword):
        raise read.error(f"A comma is missing before {keyword}.", None, f", {keyword} …")
    return read.ahead(1) == keyword and read.accept(",")


# indexes


def _create_index(read: Reader) -> st.CreateIndex:
    """[UNIQUE] [NULL_FILTERED] INDEX [IF NOT EXISTS] name ON table (key) [STORING …] [WHERE …] [, INTERLEAVE IN …]."""
    unique, null_filtered = read.accept("UNIQUE"), read.accept("NULL_FILTERED")
    _outside(read)
    read.expect("INDEX")
    if_not_exists = read.accept("IF", "NOT", "EXISTS")
    name = read.path("the name of the index", "object")
    if read.at("STORING"):
        raise read.error("STORING stands behind the key.", None, f"INDEX {name} ON table (columns) STORING (…)")
    read.expect("ON")
    table = read.path("the name of the table", "table")
    if read.at("USING"):
        raise read.error("All of Spanner's indexes are sorted trees.", None, f"ON {table} (…) without USING")
    index_key = key(read)
    stored = _storing(read)
    not_null = _where_not_null(read) if read.accept("WHERE") else ()
    interleaved = _index_interleave(read)
    index_options = options(read, "index") if read.at("OPTIONS") else ()
    index = Index(name, table, index_key, stored, unique, null_filtered, not_null, interleaved, index_options)
    return st.CreateIndex(index, if_not_exists)


def _storing(read: Reader) -> tuple[str, ...]:
    if read.at("INCLUDE"):
        raise read.error("INCLUDE is PostgreSQL's word.", None, "STORING (…)")
    return column_names(read, "storing") if read.accept("STORING") else ()


def _where_not_null(read: Reader) -> tuple[str, ...]:
    """column IS NOT NULL [AND …]."""
    hint = "WHERE column IS NOT NULL AND …, or a NULL_FILTERED index on a generated column"
    columns = []
    while True:
        columns.append(read.name("the name of a column", "where"))
        read.expect("IS", "NOT", "NULL", hint=hint)
        if not read.accept("AND"):
            if read.at("OR"):
                raise read.error("An index can only leave out rows where a column is NULL.", None, hint)
            return tuple(columns)


def _index_interleave(read: Reader) -> str | None:
    """[, INTERLEAVE IN table]."""
    if not _comma_before(read, "INTERLEAVE"):
        return None
    read.expect("INTERLEAVE", "IN")
    if read.at("PARENT") and read.is_name(1) and not read.ahead(1) == "OPTIONS":
        raise read.error("An index has no parent: it is interleaved IN a table.", None, "INTERLEAVE IN, without PARENT")
    return read.path("the name of the table to interleave in", "table")


# sequences and views


def _create_sequence(read: Reader) -> st.CreateSequence:
    """[IF NOT EXISTS] name { [BIT_REVERSED_POSITIVE] [SKIP RANGE …] [START COUNTER WITH …] | OPTIONS (…) }."""
    if_not_exists = read.accept("IF", "NOT", "EXISTS")
    name = read.path("the name of the sequence", "object")
    clauses = sequence_clauses(read)
    if read.at("OPTIONS"):
        if any(value is not None for value in clauses.values()):
            raise read.error("A sequence is described by clauses or by OPTIONS, not by both.", None, "one of the two")
        clauses = _sequence_options(read)
    return st.CreateSequence(Sequence(name, **clauses), if_not_exists)


def _sequence_options(read: Reader) -> dict[str, Any]:
    """The options of a sequence, as arguments of `Sequence`."""
    start = read.word
    found = dict(options(read, "sequence"))
    low, high = found.get("skip_range_min"), found.get("skip_range_max")
    if (low is None) != (high is None):
        message = "A skipped range needs both ends, skip_range_min and skip_range_max."
        raise read.error(message, start, "skip_range_min = 1, skip_range_max = 1000")
    return {
        "kind": found.get("sequence_kind"),
        "skip_range": None if low is None else (low, high),
        "start_counter": found.get("start_with_counter"),
    }


def _create_view(read: Reader, or_replace: bool) -> st.CreateView:
    """name [SQL SECURITY { INVOKER | DEFINER }] AS query."""
    name = read.path("the name of the view", "object")
    security = "INVOKER"
    if read.accept("SQL", "SECURITY"):
        security = read.word.key
        if not read.accept("INVOKER") and not read.accept("DEFINER"):
            read.fail("INVOKER or DEFINER")
    read.expect("AS", hint="SQL SECURITY INVOKER AS SELECT …")
    if read.word.kind == "end":
        read.fail("a query")
    words = read.words[read.index : read.last]
    query = view_text(read.source, words)
    read.mark("", "query", words[0].start, words[-1].end)
    read.index = read.last
    return st.CreateView(View(name, query, security), or_replace)


def _left_over(read: Reader) -> None:
    """Fails at a word behind the end of a statement."""
    word = read.word
    if word.key in ("CREATE", "ALTER", "DROP"):
        raise read.error("A semicolon is missing before this statement.", word, f"; {word.text} …")
    if word.key == ")":
        raise read.error("This parenthesis closes nothing.", word)
    if word.key == "," and read.ahead(1) == "ON":
        raise read.error("ON DELETE belongs to INTERLEAVE: no comma stands before it.", word, "… ON DELETE CASCADE")
    raise read.error(f"The statement should end here, but {word.text} follows.", word, _TOO_LATE.get(word.key, ""))


_TOO_LATE = {
    "STORING": "STORING (…) before WHERE and INTERLEAVE",
    "INTERLEAVE": ", INTERLEAVE IN … before OPTIONS and ROW DELETION POLICY",
    "ENGINE": "nothing: Spanner has one storage engine",
    "PARTITION": "nothing: Spanner splits tables by itself",
}
