"""Split points that are given in advance: Spanner's own file form, its limits, and what they cut.

For a known event on a well-distributed key, `gcloud spanner databases splits add DB --splits-file=F --instance=I` cuts
the key space before the load comes (facts.md 1.5). A line of the file names a table or index and a key:

    TABLE SaleOrders ('40000000')
    INDEX OrdersByStatus ('NEW') TableKey ('4f1c…')

Split points do not help a key that grows: behind the last of them, the tail is one split again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from spanlab.catalog import Index, KeyPart, Table
from spanlab.errors import SchemaError, suggest
from spanlab.splits.ranges import BEGIN, order, route

if TYPE_CHECKING:
    from spanlab.schema import Schema

POINTS_PER_REQUEST = 100
POINTS_PER_NODE = 50
LONGEST_EXPIRY_DAYS = 30

LINE = re.compile(r"(TABLE|INDEX)\s+([\w.]+)\s*\((.*?)\)\s*(?:TableKey\s*\((.*)\)\s*)?", re.DOTALL)
VALUE = re.compile(r"\s*('(?:\\.|[^'\\])*'|(?:\\.|[^',\\])+)\s*(,|$)", re.DOTALL)
QUOTED = ("STRING", "INT64", "NUMERIC", "TIMESTAMP", "UUID", "DATE", "BYTES")
Value = str | int | bool | float


@dataclass(frozen=True)
class SplitPoint:
    """One line of a splits file: `kind` TABLE or INDEX, its name, and the key at which it is cut."""

    kind: str
    name: str
    key: tuple[Value, ...]


@dataclass(frozen=True)
class SplitsFile:
    """The split points of a file, in its order. `requests` is how many requests of at most 100 points they need."""

    points: tuple[SplitPoint, ...]

    @property
    def requests(self) -> int:
        return -(-len(self.points) // POINTS_PER_REQUEST)

    def of(self, name: str) -> list[SplitPoint]:
        """The split points of one table or index."""
        return [point for point in self.points if point.name.casefold() == name.casefold()]

    def shares(self, name: str, keys: Sequence[object]) -> list[float]:
        """The part of the keys that each part of a table (or index) holds, from the first to the last.

        `keys` are values, or tuples of the values of all key columns.
        """
        starts = [BEGIN, *(point.key if len(point.key) > 1 else point.key[0] for point in self.of(name))]
        owners = route(starts, keys)
        return [owners.count(part) / max(1, len(owners)) for part in range(1, len(starts) + 1)]


def splits_file(lines: Sequence[str] | str, schema: Schema) -> SplitsFile:
    """Reads the lines of a splits file against a schema.

    Raises ValueError, with the number of the line, for a line that gcloud would not read: another form, an unknown
    table or index, a value without its quotes, a key that is not complete, or points that are not in order.
    """
    given = lines.splitlines() if isinstance(lines, str) else list(lines)
    points = [_point(line, number, schema) for number, line in enumerate(given, 1) if str(line).strip()]
    for name in dict.fromkeys(point.name for point in points):
        own = [point for point in points if point.name == name]
        for before, after in pairwise(own):
            if not order(before.key) < order(after.key):
                raise ValueError(f"The split points of {name} are out of order: {after.key} comes after {before.key}.")
    return SplitsFile(tuple(points))


def _point(line: object, number: int, schema: Schema) -> SplitPoint:
    """The split point of one line."""
    match = LINE.fullmatch(str(line).strip())
    if not match:
        raise ValueError(
            f"Line {number} is {line!r}; write TABLE name ('key') or INDEX name ('key'). "
            "Split points are no DDL: `gcloud spanner databases splits add` reads them from such a file."
        )
    kind, name, values, table_key = match.groups()
    where = f"Line {number} ({kind} {name})"
    thing, table, parts = _target(kind, name, schema, where)
    key = _values(values, parts, table, where)
    if isinstance(thing, Index) and table_key is not None:
        own = {part.column for part in thing.key}
        rest = dict(zip((part.column for part in table.key), _values(table_key, table.key, table, where), strict=True))
        key += tuple(value for column, value in rest.items() if column not in own)
    elif table_key is not None:
        raise ValueError(f"{where}: TableKey belongs to an index.")
    return SplitPoint(kind, thing.name, key)


def _target(kind: str, name: str, schema: Schema, where: str) -> tuple[Table | Index, Table, tuple[KeyPart, ...]]:
    """The table or index of a line, its table, and the key columns whose values are wanted."""
    try:
        if kind == "TABLE":
            table = schema.table(name)
            return table, table, table.key
        index = schema.index(name)
        return index, schema.table(index.table), index.key
    except SchemaError:
        known = schema.tables if kind == "TABLE" else schema.indexes
        raise ValueError(f"{where}: there is no such {kind.lower()}.{suggest(name, known)}") from None


def _values(text: str, parts: Sequence[KeyPart], table: Table, where: str) -> tuple[Value, ...]:
    """The values of a key, each read as its column's type wants it."""
    found, at = [], 0
    while at < len(text):
        match = VALUE.match(text, at)
        if not match:
            raise ValueError(f"{where}: the key values {text!r} cannot be read.")
        found.append(match[1].strip())
        at = match.end()
    if len(found) != len(parts):
        names = ", ".join(part.column for part in parts)
        raise ValueError(f"{where}: the complete key ({names}) is wanted, {len(found)} values are given.")
    return tuple(_value(raw, part, table, where) for raw, part in zip(found, parts, strict=True))


def _value(raw: str, part: KeyPart, table: Table, where: str) -> Value:
    column = table.column(part.column)
    kind = column.type.name if column else "STRING"
    quoted = raw.startswith("'")
    if quoted != (kind in QUOTED):
        wanted = "stands in single quotes" if kind in QUOTED else "stands without quotes"
        raise ValueError(f"{where}: {part.column} is {kind}, so its value {raw} {wanted}.")
    bare = re.sub(r"\\(.)", r"\1", raw[1:-1] if quoted else raw)
    try:
        if kind == "BOOL":
            return {"true": True, "false": False}[bare.lower()]
        if kind == "INT64":
            return int(bare)
        return float(bare) if kind.startswith("FLOAT") else bare
    except (KeyError, ValueError):
        raise ValueError(f"{where}: {raw} is no value of {part.column} {kind}.") from None


# ------------------------------------------------------------------------------------------------------------- limits


def check_limits(points: int, nodes: int, expire_days: float) -> None:
    """Spanner's limits: 50 split points a node, and a life of at most 30 days (facts.md 1.5.3, 1.5.4)."""
    if points > POINTS_PER_NODE * nodes:
        raise ValueError(
            f"presplit makes {points:,} split points; Spanner allows {POINTS_PER_NODE} a node, "
            f"so {POINTS_PER_NODE * nodes:,} on {nodes} nodes."
        )
    if isinstance(expire_days, bool) or not isinstance(expire_days, int | float) or not expire_days >= 0:
        raise ValueError(f"expire_days is {expire_days!r}; a number of days is wanted.")
    if expire_days > LONGEST_EXPIRY_DAYS:
        raise ValueError(f"expire_days is {expire_days!r}; split points live 10 days, or up to {LONGEST_EXPIRY_DAYS}.")
