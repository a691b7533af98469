"""SPL4xx: foreign keys and checks."""

from __future__ import annotations

from sqlglot import exp

from spanlab.advisor.case import Case
from spanlab.advisor.rules import Found, rule
from spanlab.catalog import ForeignKey, Table
from spanlab.sql import parse_expression


def _name(fk: ForeignKey) -> str:
    return fk.name or f"the foreign key on ({', '.join(fk.columns)})"


def _to_key(case: Case, fk: ForeignKey) -> bool:
    target = case.schema.table(fk.referenced_table)
    key = [p.column.casefold() for p in target.key]
    return not fk.referenced_columns or [c.casefold() for c in fk.referenced_columns] == key


@rule("SPL401", "foreign key to growing columns", "facts 5.1")
def foreign_key_to_growing(case: Case) -> Found:
    """A reference to columns that are no key makes a helper index there; if they grow, it is a hot index."""
    for table in case.tables:
        for fk in table.foreign_keys:
            if not fk.enforced or _to_key(case, fk):
                continue
            target = case.schema.table(fk.referenced_table)
            first = target.column(fk.referenced_columns[0])
            if first and case.grows(target, first):
                message = (
                    f"{_name(fk)} makes a unique helper index on {target.name} ({first.name}), which grows: "
                    "a hot index."
                )
                yield (
                    ("low" if case.quiet(target.name) else "medium"),
                    f"table {table.name}",
                    message,
                    f"reference the key of {target.name}",
                )


@rule("SPL402", "helper indexes of foreign keys", "facts 5.1")
def helper_indexes(case: Case) -> Found:
    """Indexes that Spanner keeps for foreign keys, and the designer's own that say the same again."""
    helpers: dict[str, list[tuple[str, ...]]] = {}
    for helper in case.schema.indexes.values():
        if helper.managed:
            helpers.setdefault(helper.table, []).append(tuple(part.column for part in helper.key))
    for name, keys in helpers.items():
        shown = ", ".join("(" + ", ".join(key) + ")" for key in keys)
        message = (
            f"Foreign keys keep {len(keys)} helper index{'es' if len(keys) > 1 else ''} on {name}: "
            f"{shown}. Each write maintains them."
        )
        yield "low", f"table {name}", message, ""
    for index, table in case.indexes:
        repeats = tuple(part.column for part in index.key) in helpers.get(table.name, [])
        if repeats and not (index.storing or index.unique):
            message = f"A foreign key already keeps a helper index on the columns of {index.name}; Spanner writes both."
            fix = f"queries may name the helper in FORCE_INDEX; then DROP INDEX {index.name}"
            yield "low", f"index {index.name}", message, fix


@rule("SPL403", "foreign key that nobody checks", "facts 5.1")
def unchecked_foreign_key(case: Case) -> Found:
    """NOT ENFORCED: the data may break it, and the optimizer still believes it."""
    for table in case.tables:
        for fk in table.foreign_keys:
            if not fk.enforced:
                message = (
                    f"{_name(fk)} is not checked, but the optimizer believes it: rows that break it give wrong results."
                )
                yield "low", f"table {table.name}", message, ""


@rule("SPL404", "check that NULL passes", "facts 5.2")
def check_that_null_passes(case: Case) -> Found:
    """A CHECK refuses FALSE only; NULL passes."""
    for table in case.tables:
        for check in table.checks:
            nullable = _unguarded(table, check.expression)
            if nullable:
                name = check.name or "the check"
                message = f"{name}: where {nullable} is NULL the check gives NULL, and NULL passes."
                yield "low", f"table {table.name}", message, f"{nullable} … NOT NULL, or … AND {nullable} IS NOT NULL"


def _unguarded(table: Table, expression: str) -> str:
    """A nullable column that the check reads without saying anything about NULL, or ""."""
    tree = parse_expression(expression)
    guarded = {c.name.casefold() for is_null in tree.find_all(exp.Is) for c in is_null.find_all(exp.Column)}
    for found in tree.find_all(exp.Column):
        column = table.column(found.name)
        if column and not column.not_null and column.name.casefold() not in guarded:
            return column.name
    return ""
