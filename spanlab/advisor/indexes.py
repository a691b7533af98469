"""SPL3xx: secondary indexes. Each is a sorted table of its own, with tails, costs and twins of its own.

A load says how many rows are read, not in which order. That an ascending index is read newest first, and sorted each
time, shows in the plan of the query that does it (SPL607).
"""

from __future__ import annotations

from spanlab.advisor import traits
from spanlab.advisor.case import Case
from spanlab.advisor.rules import Found, rule
from spanlab.catalog import Column, Index, KeyPart, Table

ONE_SPLIT = 900
"""Entries a second of a filtered index that one split takes without strain: half of the teaching ceiling of 1,800."""
MANY, MANY_UNKNOWN = 8, 6
MOST_OF_A_ROW = 0.6
"""The part of a row's bytes above which an index that stores them is a second table (our choice)."""


def _key(parts: tuple[KeyPart, ...]) -> list[tuple[str, bool]]:
    return [(p.column.casefold(), p.desc) for p in parts]


def _columns(table: Table) -> dict[str, traits.Column]:
    return {c.name.casefold(): c for c in table.columns}


@rule("SPL301", "index led by something that grows", "facts 4.2.12")
def hot_index(case: Case) -> Found:
    """Every insert writes the end of such an index; the whole table can commit no more than its last split."""
    for index, table in case.indexes:
        first = table.column(index.key[0].column) if index.key else None
        if first is None or index.interleave_in is not None:
            continue
        grown = case.grows(table, first)
        if grown not in ("time", "commit timestamp", "counter"):
            continue
        severity = "low" if case.quiet(table.name) else "medium"
        if traits.sparse(index, _columns(table)) and grown != "commit timestamp":
            share, rate = case.null_share(table.name, first.name), case.rate(table.name)
            if share is not None and rate is not None and (1 - share) * rate < ONE_SPLIT:
                continue
            if index.not_null or (share is None and _mostly_null(first.name)):
                severity = "low"
        message = (
            f"New entries of {index.name} always go to one end: it begins with {first.name} ({grown}). Writes "
            f"of {table.name} stop at what one split takes."
        )
        fix = (
            f"a shard in front: CREATE INDEX … ON {table.name} (ShardId, {first.name}), "
            "or the entity first, or interleave the index in its parent"
        )
        yield severity, f"index {index.name}", message, fix


def _mostly_null(name: str) -> bool:
    """Whether the name says that few rows have the value: a due date, a lock, an end."""
    few = {
        "due",
        "expires",
        "expiry",
        "expiration",
        "deadline",
        "lock",
        "locked",
        "deleted",
        "finished",
        "ship",
        "retry",
    }
    return bool(few & set(traits.words(name)))


@rule("SPL302", "index that repeats the key", "facts 4.2.4")
def repeats_the_key(case: Case) -> Found:
    """The rows already lie in that order."""
    for index, table in case.indexes:
        key = _key(index.key)
        if not key or key != _key(table.key)[: len(key)]:
            continue
        if (index.unique and len(key) < len(table.key)) or traits.sparse(index, _columns(table)):
            continue
        message = f"The primary key of {table.name} already gives the order of {index.name}; every write pays for it."
        if index.storing:
            yield "low", f"index {index.name}", message + " It may serve as a narrow copy of wide rows.", ""
        else:
            yield "medium", f"index {index.name}", message, f"DROP INDEX {index.name}"


@rule("SPL303", "index inside another", "our reasoning, from the model")
def inside_another(case: Case) -> Found:
    """An index whose key begins another's, which also holds all that it stores."""
    for index, table in case.indexes:
        for other in case.own_indexes(table):
            if other is index or not _serves(other, index, table):
                continue
            equal = _key(other.key) == _key(index.key)
            if equal and _serves(index, other, table) and index.name > other.name:
                continue  # twins: report one of them
            word = "has the same key as" if equal else "is the beginning of"
            message = f"{index.name} {word} {other.name}, which serves its queries too; every write pays for both."
            yield ("medium" if equal else "low"), f"index {index.name}", message, f"DROP INDEX {index.name}"
            break


def _serves(other: Index, index: Index, table: Table) -> bool:
    """Whether `other` can do all that `index` does."""
    same_rows = (other.null_filtered, other.not_null, other.interleave_in) == (
        index.null_filtered,
        index.not_null,
        index.interleave_in,
    )
    if index.unique and not (other.unique and _key(other.key) == _key(index.key)):
        return False
    if index.null_filtered and _key(other.key) != _key(index.key):
        return False  # a longer filtered key leaves more rows out
    held = {p.column.casefold() for p in (*other.key, *table.key)} | {c.casefold() for c in other.storing}
    return (
        same_rows
        and _key(other.key)[: len(index.key)] == _key(index.key)
        and {c.casefold() for c in index.storing} <= held
    )


@rule("SPL305", "index as wide as the table", "facts 4.2.3, 2.1")
def wide_index(case: Case) -> Found:
    """STORING most of a row makes a second table. Without a sample of the rows, a MAX column is what may do that."""
    for index, table in case.indexes:
        stored = [c for name in index.storing if (c := table.column(name))]
        share = _share_of_row(case, table, stored)
        wide = [c.name for c in stored if c.type.name in ("STRING", "BYTES", "JSON") and c.type.length is None]
        if share is not None and share > MOST_OF_A_ROW:
            severity = "medium"
            message = f"{index.name} stores {share:.0%} of the bytes of a row of {table.name}: it is a second table."
        elif share is None and wide:
            severity = "low"
            message = f"{index.name} stores {', '.join(wide)}, whose size is open: the index may become a second table."
        else:
            continue
        yield severity, f"index {index.name}", message, "store only what the covered queries return"


def _share_of_row(case: Case, table: Table, stored: list[Column]) -> float | None:
    """The part of a row's bytes that the columns have, as the sample shows it; None where it does not show all."""
    sizes = case.bytes_in_row(table) if stored else {}
    known = [size for size in sizes.values() if size is not None]
    if not known or len(known) < len(sizes):
        return None
    return sum(sizes[column.name] or 0.0 for column in stored) / sum(known)


@rule("SPL306", "index full of NULLs", "facts 4.2.7")
def full_of_nulls(case: Case) -> Found:
    """A plain index keeps an entry for each row whose value is NULL, all in one place."""
    for index, table in case.indexes:
        first = table.column(index.key[0].column) if index.key else None
        if first is None or first.not_null or index.null_filtered or index.not_null:
            continue
        share = case.null_share(table.name, first.name)
        flagged = first.type.name == "TIMESTAMP" or traits.few_values(first, table)
        if (share is None and not flagged) or (share is not None and share <= 0.5):
            continue
        kept = f" NULL_FILTERED would keep {1 - share:.0%} of its entries." if share is not None else ""
        message = (
            f"{index.name} has an entry for each row of {table.name} whose {first.name} is NULL, all side by "
            f"side.{kept}"
        )
        fix = f"CREATE NULL_FILTERED INDEX {index.name} ON {table.name} (…), unless queries look for IS NULL"
        yield ("medium" if share is not None else "low"), f"index {index.name}", message, fix


@rule("SPL307", "filter said twice", "facts 4.4")
def filter_said_twice(case: Case) -> Found:
    """NULL_FILTERED together with WHERE … IS NOT NULL."""
    for index, _ in case.indexes:
        if index.null_filtered and index.not_null:
            message = (
                f"{index.name} says NULL_FILTERED and WHERE … IS NOT NULL: one of them is enough, the pair is untried."
            )
            yield "low", f"index {index.name}", message, "keep NULL_FILTERED"


@rule("SPL308", "unique, but not for NULL", "facts 4.2.6")
def unique_but_not_for_null(case: Case) -> Found:
    """Rows that the filter leaves out are not compared."""
    for index, table in case.indexes:
        if index.unique and traits.sparse(index, _columns(table)):
            message = f"Rows of {table.name} with a NULL in the key of {index.name} are not compared with each other."
            yield "low", f"index {index.name}", message, ""


@rule("SPL309", "many indexes", "facts 12")
def many_indexes(case: Case) -> Found:
    """Each insert writes the row and one entry an index."""
    for table in case.tables:
        count, rate = len(case.own_indexes(table)), case.rate(table.name)
        message = f"Each insert into {table.name} writes {count + 1} rows: itself and {count} index entries."
        if count > MANY and rate is not None and rate >= 1000:
            yield "medium", f"table {table.name}", message, "drop what no query uses"
        elif count > MANY_UNKNOWN and rate is None:
            yield "low", f"table {table.name}", message, "drop what no query uses"


@rule("SPL312", "index led by few values", "our reasoning, from the model")
def few_values_in_front(case: Case) -> Found:
    """A status in front of a time: new rows share one status, so the time decides, and that is a tail."""
    for index, table in case.indexes:
        columns = traits.key_columns(table, index.key)
        if not columns or index.interleave_in is not None or traits.shard(columns[0]):
            continue
        first, rest = columns[0], columns[1:]
        if not traits.few_values(first, table):
            continue
        behind = case.grows(table, rest[0]) if rest else ""
        if behind in ("time", "commit timestamp", "counter"):
            message = (
                f"{first.name} has few values and new rows share one: {index.name} grows at the end of that one "
                f"by {rest[0].name}."
            )
            fix = f"a shard in front: CREATE INDEX … ON {table.name} (ShardId, {first.name}, {rest[0].name})"
            yield ("low" if case.quiet(table.name) else "medium"), f"index {index.name}", message, fix
        elif not rest and first.type.name == "BOOL" and not index.unique:
            message = (
                f"{index.name} has two values: it narrows a query only for the rare one, and costs a write for "
                "every row."
            )
            fix = f"a sparse index: a virtual column AS (IF({first.name}, TRUE, NULL)) and NULL_FILTERED"
            yield "low", f"index {index.name}", message, fix


@rule("SPL313", "index led by a date", "our reasoning, from the model")
def index_led_by_date(case: Case) -> Found:
    """All of today's rows share the front of the key; at midnight the writes move (our reasoning, not documented)."""
    for index, table in case.indexes:
        first = table.column(index.key[0].column) if index.key else None
        if first and case.grows(table, first) == "date" and index.interleave_in is None:
            message = (
                f"All entries of {index.name} for one {first.name} lie together; if it is the day of the write, "
                "they move on at midnight."
            )
            yield "low", f"index {index.name}", message, "fine for rare writes; else a shard or the entity in front"
