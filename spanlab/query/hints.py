"""Hints: which there are, where each may stand, and which values it takes (facts.md 7.4).

A hint is an order to the optimizer: Spanner refuses one that it does not know, and a forced index that does not exist.
Hints of tables, joins and groups may also stand before the statement, for all tables and joins in it; FORCE_INDEX there
means one thing only, `_BASE_TABLE`, since an index belongs to one table.
"""

from __future__ import annotations

from spanlab.errors import QueryError, suggest

_BOOLEAN = ("TRUE", "FALSE")
_SCANS = ("AUTO", "BATCH", "ROW", "COLUMNAR", "NO_COLUMNAR")
_METHODS = ("APPLY_JOIN", "HASH_JOIN", "MERGE_JOIN", "PUSH_BROADCAST_HASH_JOIN")
TABLE: dict[str, tuple[str, ...]] = {
    "FORCE_INDEX": (),
    "GROUPBY_SCAN_OPTIMIZATION": _BOOLEAN,
    "SCAN_METHOD": _SCANS,
    "INDEX_STRATEGY": ("FORCE_INDEX_UNION",),
    "SEEKABLE_KEY_SIZE": tuple(str(size) for size in range(17)),
}
JOIN: dict[str, tuple[str, ...]] = {
    "FORCE_JOIN_ORDER": _BOOLEAN,
    "JOIN_METHOD": _METHODS,
    "JOIN_TYPE": _METHODS,
    "HASH_JOIN_BUILD_SIDE": ("BUILD_LEFT", "BUILD_RIGHT"),
    "BATCH_MODE": _BOOLEAN,
    "FACTORIZED_MODE": ("FACTORIZE_LEFT", "FACTORIZE_RIGHT", "FACTORIZE_BOTH"),
    "HASH_JOIN_EXECUTION": ("ONE_PASS", "MULTI_PASS"),
}
GROUP: dict[str, tuple[str, ...]] = {"GROUP_METHOD": ("HASH_GROUP", "STREAM_GROUP")}
STATEMENT: dict[str, tuple[str, ...]] = {
    **TABLE,
    **JOIN,
    **GROUP,
    "FORCE_INDEX": ("_BASE_TABLE",),
    "USE_ADDITIONAL_PARALLELISM": _BOOLEAN,
    "OPTIMIZER_VERSION": (),
    "OPTIMIZER_STATISTICS_PACKAGE": (),
    "ALLOW_DISTRIBUTED_MERGE": _BOOLEAN,
    "LOCK_SCANNED_RANGES": ("SHARED", "EXCLUSIVE"),
    "EXECUTION_METHOD": ("DEFAULT", "BATCH", "ROW"),
    "USE_UNENFORCED_FOREIGN_KEY": _BOOLEAN,
    "ALLOW_TIMESTAMP_PREDICATE_PUSHDOWN": _BOOLEAN,
}


def checked(hints: dict[str, str], known: dict[str, tuple[str, ...]], place: str, text: str) -> dict[str, str]:
    """The hints, if Spanner knows all of them at this place; QueryError for one that it refuses."""
    for name, value in hints.items():
        if name not in known:
            raise QueryError(
                f"Spanner has no hint {name} for {place}, and refuses the query.{suggest(name, known)}",
                hint=_elsewhere(name) or ", ".join(known),
                text=text,
            )
        values = known[name]
        if values and value.upper() not in values:
            raise QueryError(f"{name}={value}: for {place} {name} takes {' or '.join(values)}.", text=text)
    return hints


def _elsewhere(name: str) -> str:
    """Where a hint may stand, for one that stands in the wrong place."""
    if name in TABLE:
        return f"behind the table's name: FROM T@{{{name}=…}}"
    if name in JOIN:
        return f"behind JOIN: JOIN@{{{name}=…}}"
    if name in GROUP:
        return f"behind GROUP: GROUP@{{{name}=…}} BY"
    return f"before the statement: @{{{name}=…}} SELECT …" if name in STATEMENT else ""
