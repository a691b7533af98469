"""Which rows a delete means: single keys, ranges of keys, or all.

    {"keys": [["s1", 1], ["s1", 2]]}                        whole keys
    {"range": {"start_closed": ["s1"], "end_open": ["s2"]}} from the first key with s1 up to, without, those with s2
    {"all": True}

A bound may be the first parts of a key: closed bounds take in all keys that begin with it, open ones leave them out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from spanlab.storage import refusals
from spanlab.storage.rows import after_prefix
from spanlab.values import coerce

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanlab.storage.tables import StoredTable

Range = tuple[bytes | None, bytes | None]
_BOUNDS = ("start_closed", "start_open", "end_closed", "end_open")
_HINT = 'write {"keys": [[…], …]}, {"range": {"start_closed": […], "end_open": […]}} or {"all": True}'


def key_sets(table: StoredTable, which: object) -> tuple[list[bytes], list[Range]]:
    """The encoded keys, and the ranges [start, end) of encoded keys, that a delete names."""
    if not isinstance(which, dict) or not which or set(which) - {"keys", "range", "ranges", "all"}:
        raise refusals.bad_key(table.name, f"a delete cannot be read from {refusals.shown(which)}", _HINT)
    if not all(isinstance(which.get(name, []), (list, tuple)) for name in ("keys", "ranges")):
        raise refusals.bad_key(table.name, f"a delete cannot be read from {refusals.shown(which)}", _HINT)
    keys = [encoded_key(table, key) for key in which.get("keys", ())]
    ranges = [*which.get("ranges", ())] + ([which["range"]] if "range" in which else [])
    found = [_range(table, bounds) for bounds in ranges]
    if which.get("all"):
        found.append((None, None))
    return keys, found


def encoded_key(table: StoredTable, key: object) -> bytes:
    """A whole key of the table, encoded."""
    values = _parts(table, key)
    if len(values) != len(table.key_positions):
        names = ", ".join(part.column for part in table.table.key)
        raise refusals.bad_key(
            table.name,
            f"the key {refusals.row_name(table.name, values)} has {len(values)} of {len(table.key_positions)} parts",
            f"give all parts ({names}); for all rows that begin with some parts delete a range",
        )
    return table.rows.encode(values)


def _range(table: StoredTable, bounds: object) -> Range:
    if not isinstance(bounds, dict) or set(bounds) - set(_BOUNDS) or len(bounds) != 2:
        raise refusals.bad_key(table.name, f"a key range cannot be read from {refusals.shown(bounds)}", _HINT)
    encoded = {name: table.rows.encode(_parts(table, key)) for name, key in bounds.items()}
    if not {"start_closed", "start_open"} & set(encoded) or not {"end_closed", "end_open"} & set(encoded):
        raise refusals.bad_key(table.name, "a key range needs a start and an end", _HINT)
    end = encoded["end_open"] if "end_open" in encoded else after_prefix(encoded["end_closed"])
    if "start_closed" in encoded:
        return encoded["start_closed"], end
    start = after_prefix(encoded["start_open"])
    return (start, end) if start is not None else (b"", b"")  # nothing comes after the last possible key


def _parts(table: StoredTable, key: object) -> Sequence[object]:
    if not isinstance(key, (list, tuple)):
        raise refusals.bad_key(table.name, f"{refusals.shown(key)} is no key", "write a key as a list of its parts")
    if len(key) > len(table.key_positions):
        raise refusals.bad_key(
            table.name,
            f"{refusals.row_name(table.name, key)} has more parts than the primary key",
            "leave out the rest",
        )
    values = []
    for value, position in zip(cast("Sequence[object]", key), table.key_positions, strict=False):
        try:
            values.append(coerce(table.types[position], value))
        except ValueError as error:
            raise refusals.bad_value(table.name, table.columns[position].name, str(error)) from None
    return values
