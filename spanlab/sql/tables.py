"""The parts of a table beside its columns: keys, interleaving, constraints, row deletion policies, synonyms."""

from __future__ import annotations

from spanlab.catalog import Check, ForeignKey, Interleave, KeyPart, RowDeletionPolicy
from spanlab.sql.columns import expression
from spanlab.sql.reader import Reader


def key(read: Reader) -> tuple[KeyPart, ...]:
    """( column [ASC | DESC], … ): a primary key or the key of an index."""
    return tuple(read.listed(key_part))


def key_part(read: Reader) -> KeyPart:
    """column [ASC | DESC]."""
    name = read.name("the name of a column", "key")
    if read.at("("):
        made = f"a generated column, such as C INT64 AS ({name}(…)) STORED, and C in the key"
        raise read.error("A key holds columns, not expressions.", None, made)
    if read.accept("ASC"):
        return KeyPart(name)
    desc = read.accept("DESC")
    if read.at("NULLS"):
        raise read.error("The place of NULLs is fixed: first in ASC, last in DESC.", None, "ASC or DESC alone")
    return KeyPart(name, desc)


def column_names(read: Reader, role: str) -> tuple[str, ...]:
    """( column, … ), at least one."""
    return tuple(read.listed(lambda read: read.name("the name of a column", role), trailing_comma=False, empty=False))


def interleave(read: Reader) -> Interleave:
    """INTERLEAVE IN [PARENT] table [ON DELETE { CASCADE | NO ACTION }]."""
    read.expect("INTERLEAVE", "IN")
    if read.at("PARENT", "("):
        raise read.error("The parent's name stands without parentheses.", None, "INTERLEAVE IN PARENT Parent")
    in_parent = read.accept("PARENT")
    table = read.path("the name of the table to interleave in", "table")
    return Interleave(table, in_parent, on_delete(read) if read.at("ON") else None)


def on_delete(read: Reader) -> str:
    """ON DELETE { CASCADE | NO ACTION }."""
    read.expect("ON")
    if read.at("UPDATE"):
        raise read.error("Keys never change in Spanner, so there is no ON UPDATE.", None, "ON DELETE CASCADE")
    read.expect("DELETE")
    if read.accept("CASCADE"):
        return "CASCADE"
    if not read.accept("NO", "ACTION"):
        read.fail("CASCADE or NO ACTION", "ON DELETE CASCADE or ON DELETE NO ACTION: Spanner knows no other action")
    return "NO ACTION"


def row_deletion_policy(read: Reader) -> RowDeletionPolicy:
    """ROW DELETION POLICY (OLDER_THAN(column, INTERVAL n DAY))."""
    read.expect("ROW", "DELETION", "POLICY", "(", "OLDER_THAN", "(", hint=_POLICY)
    name = read.name("the name of a TIMESTAMP column", "policy")
    read.expect(",", "INTERVAL", hint=_POLICY)
    days = read.integer("a number of days")
    read.expect("DAY", ")", ")", hint=_POLICY)
    return RowDeletionPolicy(name, days)


_POLICY = "ROW DELETION POLICY (OLDER_THAN(column, INTERVAL 30 DAY))"


def at_constraint(read: Reader) -> bool:
    """True if a CHECK or FOREIGN KEY begins here, and not a column of such a name."""
    if read.at("CONSTRAINT"):
        return read.is_name(1) and read.ahead(2) in ("CHECK", "FOREIGN", "PRIMARY", "UNIQUE")
    return read.at("FOREIGN", "KEY") or read.at("CHECK", "(")


def constraint(read: Reader) -> ForeignKey | Check:
    """[CONSTRAINT name] { CHECK (expression) | FOREIGN KEY … }."""
    name = read.name("the name of the constraint", "constraint") if read.accept("CONSTRAINT") else None
    if read.accept("CHECK"):
        return Check(expression(read), name)
    if read.at("UNIQUE"):
        raise read.error("Spanner has no UNIQUE constraints.", None, "CREATE UNIQUE INDEX … ON … (…)")
    if read.at("PRIMARY", "KEY"):
        raise read.error("A primary key has no name.", None, "PRIMARY KEY (…) without CONSTRAINT")
    read.expect("FOREIGN", "KEY")
    return foreign_key(read, name)


def foreign_key(read: Reader, name: str | None) -> ForeignKey:
    """(column, …) REFERENCES table (column, …) [ON DELETE …] [[NOT] ENFORCED]."""
    columns = column_names(read, "foreign key")
    read.expect("REFERENCES")
    table = read.path("the name of the referenced table", "table")
    if not read.at("("):
        read.fail("( and the referenced columns", f"REFERENCES {table} ({', '.join(columns)})")
    referenced = column_names(read, "referenced")
    action = on_delete(read) if read.at("ON") else "NO ACTION"
    enforced = not read.accept("NOT", "ENFORCED")
    if enforced:
        read.accept("ENFORCED")
    return ForeignKey(columns, table, referenced, name, action, enforced)


def synonym(read: Reader) -> str:
    """SYNONYM (name)."""
    read.expect("SYNONYM", "(")
    name = read.name("the synonym", "synonym")
    read.expect(")")
    return name
