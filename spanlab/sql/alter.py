"""ALTER TABLE, ALTER INDEX, ALTER SEQUENCE and ALTER DATABASE: one statement, one change.

(Spanner's DDL reference; facts.md 2.3, 3.9, 4.1, 10.)
"""

from __future__ import annotations

from spanlab.sql import statements as st
from spanlab.sql.columns import column, column_after_name, expression, skip_range
from spanlab.sql.options import options
from spanlab.sql.reader import Reader
from spanlab.sql.tables import at_constraint, constraint, interleave, on_delete, row_deletion_policy


def alter_table(read: Reader) -> st.AlterTable:
    """ALTER TABLE [IF EXISTS] name action."""
    if_exists = read.accept("IF", "EXISTS")
    if read.is_name() and read.ahead(0) in ("ADD", "ALTER", "DROP", "RENAME") and read.is_name(1):
        raise read.error("The name of the table is missing here.", None, "ALTER TABLE name …")
    name = read.path("the name of a table", "object")
    return st.AlterTable(name, _table_action(read), if_exists)


def _table_action(read: Reader) -> st.TableAction:
    if read.accept("ADD"):
        return _add(read)
    if read.accept("DROP"):
        return _drop(read)
    if read.accept("ALTER"):
        return _alter_column(read)
    if read.accept("SET"):
        return _set(read)
    if read.accept("RENAME"):
        return _rename(read)
    if read.accept("REPLACE"):
        return st.ReplaceRowDeletionPolicy(row_deletion_policy(read))
    hint = "ALTER COLUMN name and its new definition" if read.word.key in ("MODIFY", "CHANGE") else ""
    read.fail("ADD, DROP, ALTER, SET, RENAME TO or REPLACE", hint)


def _add(read: Reader) -> st.TableAction:
    if at_constraint(read):
        return st.AddConstraint(constraint(read))
    if read.at("ROW", "DELETION"):
        return st.AddRowDeletionPolicy(row_deletion_policy(read))
    if read.at("SYNONYM") and (not read.is_name(1) or read.index + 2 >= read.last):
        read.expect("SYNONYM")
        return st.AddSynonym(read.name("the synonym", "synonym"))
    if read.at("PRIMARY", "KEY"):
        raise read.error("The primary key of a table cannot change.", None, "a new table with that key, and a copy")
    _column_keyword(read)
    if_not_exists = read.accept("IF", "NOT", "EXISTS")
    added, _ = column(read, key_allowed=False)
    return st.AddColumn(added, if_not_exists)


def _column_keyword(read: Reader) -> None:
    """Reads COLUMN where it is the keyword, and not the column's name."""
    if read.at("COLUMN") and (read.is_name(1) or read.ahead(1) == "IF" or read.index + 1 >= read.last):
        read.index += 1


def _drop(read: Reader) -> st.TableAction:
    if read.accept("ROW", "DELETION"):
        read.expect("POLICY")
        return st.DropRowDeletionPolicy()
    if read.at("CONSTRAINT") and read.is_name(1):
        read.expect("CONSTRAINT")
        return st.DropConstraint(read.name("the name of the constraint", "constraint"))
    if read.at("SYNONYM") and read.is_name(1):
        read.expect("SYNONYM")
        return st.DropSynonym(read.name("the synonym", "synonym"))
    if read.at("PRIMARY", "KEY"):
        raise read.error("The primary key of a table cannot change.", None, "a new table with that key, and a copy")
    _column_keyword(read)
    return st.DropColumn(read.name("the name of a column", "column"))


def _set(read: Reader) -> st.TableAction:
    if read.at("ON"):
        return st.SetOnDelete(on_delete(read))
    if read.at("INTERLEAVE"):
        return st.SetInterleave(interleave(read))
    if read.at("OPTIONS"):
        return st.SetTableOptions(options(read, "table"))
    read.fail("ON DELETE, INTERLEAVE IN or OPTIONS")


def _rename(read: Reader) -> st.TableAction:
    read.expect("TO", hint="RENAME TO new name")
    name = read.path("the new name of the table", "new name")
    synonym = None
    if read.accept(","):
        read.expect("ADD", "SYNONYM")
        synonym = read.name("the synonym", "synonym")
    return st.RenameTo(name, synonym)


def _alter_column(read: Reader) -> st.TableAction:
    """[COLUMN] name { definition | SET … | DROP … | ALTER IDENTITY … }."""
    if read.at("CONSTRAINT") and read.is_name(1) and read.ahead(2) in ("CHECK", "FOREIGN", "NOT", "ENFORCED"):
        raise read.error("A constraint cannot be altered.", None, "DROP CONSTRAINT and ADD CONSTRAINT")
    _column_keyword(read)
    name = read.name("the name of a column", "column")
    if read.accept("SET"):
        return _set_in_column(read, name)
    if read.accept("DROP"):
        return _drop_in_column(read, name)
    if read.accept("ALTER"):
        read.expect("IDENTITY")
        return st.AlterIdentity(name, _identity_change(read))
    if read.at("TYPE") or read.at("ADD"):
        raise read.error(
            "The new definition follows the name at once.", None, f"ALTER COLUMN {name} STRING(MAX) NOT NULL"
        )
    changed, _ = column_after_name(read, name, key_allowed=False)
    return st.AlterColumnType(changed)


def _set_in_column(read: Reader, name: str) -> st.TableAction:
    if read.at("OPTIONS"):
        return st.SetColumnOptions(name, options(read, "column"))
    if read.accept("DEFAULT"):
        return st.SetDefault(name, expression(read))
    if read.accept("ON", "UPDATE"):
        return st.SetOnUpdate(name, expression(read))
    if read.at("NOT"):
        raise read.error("SET NOT NULL is PostgreSQL's.", None, f"ALTER COLUMN {name} and its type, NOT NULL behind it")
    read.fail("OPTIONS, DEFAULT or ON UPDATE")


def _drop_in_column(read: Reader, name: str) -> st.TableAction:
    if read.accept("DEFAULT"):
        return st.DropDefault(name)
    if read.accept("ON", "UPDATE"):
        return st.DropOnUpdate(name)
    if read.at("NOT"):
        raise read.error("DROP NOT NULL is PostgreSQL's.", None, f"ALTER COLUMN {name} and its type, without NOT NULL")
    read.fail("DEFAULT or ON UPDATE")


def _identity_change(read: Reader) -> st.SkipRange | st.NoSkipRange | st.RestartCounter:
    if read.accept("SET"):
        return _range_change(read)
    return _restart(read)


def _range_change(read: Reader) -> st.SkipRange | st.NoSkipRange:
    if read.accept("NO", "SKIP"):
        read.expect("RANGE")
        return st.NoSkipRange()
    read.expect("SKIP", "RANGE", hint="SKIP RANGE low, high or NO SKIP RANGE")
    return st.SkipRange(*skip_range(read))


def _restart(read: Reader) -> st.RestartCounter:
    read.expect("RESTART", "COUNTER", "WITH", hint="RESTART COUNTER WITH n")
    return st.RestartCounter(read.integer("the counter to go on with"))


def alter_index(read: Reader) -> st.AlterIndex:
    """ALTER INDEX name { {ADD | DROP} STORED COLUMN column | SET OPTIONS (…) }."""
    name = read.path("the name of an index", "object")
    if read.accept("SET"):
        return st.AlterIndex(name, st.SetIndexOptions(options(read, "index")))
    adds = read.accept("ADD")
    if not adds and not read.accept("DROP"):
        read.fail("ADD STORED COLUMN, DROP STORED COLUMN or SET OPTIONS")
    if read.at("INCLUDE"):
        raise read.error("INCLUDE is PostgreSQL's word.", None, "STORED")
    read.expect("STORED", "COLUMN", hint="STORED COLUMN column")
    stored = read.name("the name of a column", "storing")
    return st.AlterIndex(name, st.AddStoredColumn(stored) if adds else st.DropStoredColumn(stored))


def alter_sequence(read: Reader) -> st.AlterSequence:
    """ALTER SEQUENCE [IF EXISTS] name { SET OPTIONS (…) | [NO] SKIP RANGE … | RESTART COUNTER WITH n }."""
    if_exists = read.accept("IF", "EXISTS")
    name = read.path("the name of a sequence", "object")
    change: st.SkipRange | st.NoSkipRange | st.RestartCounter | st.SetSequenceOptions
    if read.accept("SET"):
        change = st.SetSequenceOptions(options(read, "sequence"))
    elif read.at("NO") or read.at("SKIP"):
        change = _range_change(read)
    elif read.at("RESTART"):
        change = _restart(read)
    else:
        read.fail("SET OPTIONS, SKIP RANGE, NO SKIP RANGE or RESTART COUNTER WITH")
    return st.AlterSequence(name, change, if_exists)


def alter_database(read: Reader) -> st.AlterDatabase:
    """ALTER DATABASE name SET OPTIONS (…)."""
    name = read.name("the name of the database", "object")
    read.expect("SET")
    return st.AlterDatabase(name, options(read, "database"))
