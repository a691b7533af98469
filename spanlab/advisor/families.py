"""SPL2xx: interleaving. A family is a root row with everything interleaved under it."""

from __future__ import annotations

from spanlab.advisor import traits
from spanlab.advisor.case import Case
from spanlab.advisor.rules import Found, rule
from spanlab.catalog import Table

DEEP = 5


@rule("SPL202", "no word about deletion", "facts 3.1")
def no_word_about_deletion(case: Case) -> Found:
    """INTERLEAVE IN PARENT without ON DELETE means NO ACTION."""
    for table in case.tables:
        inside = table.interleave
        if inside and inside.in_parent and inside.on_delete is None:
            message = (
                f"Deleting a row of {inside.table} that has {table.name} will fail: without ON DELETE, NO ACTION holds."
            )
            fix = f"ALTER TABLE {table.name} SET ON DELETE CASCADE, or write NO ACTION out if it is meant"
            yield "low", f"table {table.name}", message, fix


@rule("SPL203", "deep family", "facts 3.3")
def deep_family(case: Case) -> Found:
    """Every level puts the whole key of its parents in front of its own; seven levels below the root are the limit."""
    for table in case.tables:
        depth = len(case.schema.ancestors(table.name))
        if depth >= DEEP:
            message = f"{table.name} stands {depth} levels below its root; Spanner allows 7. Keep families shallow."
            yield "medium", f"table {table.name}", message, ""


@rule("SPL204", "history without an end", "facts 1.2.3, 1.3")
def endless_history(case: Case) -> Found:
    """Children keyed by time pile up under one parent; past a split's size the family is cut and locality fades."""
    for table in case.tables:
        if not table.interleave or table.row_deletion_policy:
            continue
        own = traits.key_columns(table, table.key)[traits.interleaved_in_parent_key(case.schema, table) :]
        if own and case.grows(table, own[0]) in ("time", "commit timestamp", "date"):
            if case.grows(table, own[0]) == "commit timestamp":
                continue  # SPL105 speaks of it
            message = (
                f"Does the history in {table.name} end? Rows under one {table.interleave.table} row grow without bound."
            )
            fix = f"ALTER TABLE {table.name} ADD ROW DELETION POLICY (OLDER_THAN({own[0].name}, INTERVAL 90 DAY))"
            yield "low", f"table {table.name}", message, fix


@rule("SPL205", "two rules for one relation", "facts 3.16")
def two_rules(case: Case) -> Found:
    """A foreign key on the very columns that interleaving already ties to the parent."""
    for table in case.tables:
        if not table.interleave or not table.interleave.in_parent:
            continue
        for fk in table.foreign_keys:
            if fk.enforced and _repeats_interleaving(case, table, fk.columns, fk.referenced_table):
                name = fk.name or f"the foreign key on ({', '.join(fk.columns)})"
                message = (
                    f"{name} repeats what INTERLEAVE IN PARENT {table.interleave.table} enforces: a check more "
                    "for each write."
                )
                fix = f"ALTER TABLE {table.name} DROP CONSTRAINT {fk.name}" if fk.name else "drop the foreign key"
                yield "medium", f"table {table.name}", message, fix


def _repeats_interleaving(case: Case, table: Table, columns: tuple[str, ...], referenced: str) -> bool:
    parent = case.schema.parent(table.name)
    if parent is None or referenced.casefold() != parent.name.casefold():
        return False
    shared = {part.column.casefold() for part in table.key[: len(parent.key)]}
    return {c.casefold() for c in columns} == shared


@rule("SPL206", "family that is not one", "facts 3.16")
def family_that_is_not_one(case: Case) -> Found:
    """A key that begins with another table's whole key, without interleaving and without a foreign key either way."""
    by_key: dict[tuple[tuple[str, str, bool], ...], Table] = {}
    for table in case.tables:
        signature = _signature(table, len(table.key))
        if not signature:
            continue
        owner = next((by_key[signature[:n]] for n in range(len(signature) - 1, 0, -1) if signature[:n] in by_key), None)
        by_key.setdefault(signature, table)
        if owner is None or table.interleave or _related(table, owner):
            continue
        message = (
            f"The key of {table.name} begins with the whole key of {owner.name}. Read together? Then "
            "interleave; else ignore."
        )
        yield (
            "low",
            f"table {table.name}",
            message,
            f"in a new table: INTERLEAVE IN PARENT {owner.name} ON DELETE CASCADE",
        )


def _signature(table: Table, n: int) -> tuple[tuple[str, str, bool], ...]:
    parts = [(p, table.column(p.column)) for p in table.key[:n]]
    return tuple((p.column.casefold(), str(c.type), p.desc) for p, c in parts if c)


def _related(a: Table, b: Table) -> bool:
    names = {(a.name.casefold(), b.name.casefold()), (b.name.casefold(), a.name.casefold())}
    return any((t.name.casefold(), fk.referenced_table.casefold()) in names for t in (a, b) for fk in t.foreign_keys)


@rule("SPL208", "index that could stay local", "facts 4.2.10, 4.2.11")
def index_that_could_stay_local(case: Case) -> Found:
    """A global index on a child whose key begins with the parent's whole key."""
    for index, table in case.indexes:
        parent = case.schema.parent(table.name)
        if parent is None or index.interleave_in or not parent.key:
            continue
        head = [(p.column.casefold(), p.desc) for p in index.key[: len(parent.key)]]
        if head == [(p.column.casefold(), p.desc) for p in parent.key] and len(index.key) > len(parent.key):
            message = (
                f"Every entry of {index.name} begins with the key of {parent.name}; interleaved, its commits "
                "stay local."
            )
            fix = (
                f"CREATE INDEX … ON {table.name} (…), INTERLEAVE IN {parent.name}, if each query names the parent's key"
            )
            yield "low", f"index {index.name}", message, fix
