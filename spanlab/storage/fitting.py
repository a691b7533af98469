"""Data that were not made for a table, put into it all the same: by column name, in the column's own type.

A learner may have keyed a table by BYTES(16), UUID or INT64 where the data have texts of 36 characters. The same id
must become the same key everywhere, so ids are converted, never made up.
"""

from __future__ import annotations

import uuid
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from spanlab.values import coerce

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from spanlab.catalog import Column
    from spanlab.storage.tables import StoredTable
    from spanlab.values import Type


def fitted_columns(stored: StoredTable, columns: Mapping[str, Sequence[object]]) -> dict[str, Sequence[object]]:
    """The columns of a table that these data can give, and what else it needs: NOT NULL columns, by row number."""
    known = {name.casefold(): values for name, values in columns.items()}
    count = len(next(iter(columns.values()), ()))
    found: dict[str, Sequence[object]] = {}
    for position in stored.not_generated:
        column = stored.columns[position]
        values = known.get(column.name.casefold())
        if values is not None:
            found[column.name] = _converted_column(column.type, values)
        elif position in stored.required:
            found[column.name] = [_made_up(column, number) for number in range(count)]
    return found


def _converted_column(type_: Type, values: Sequence[object]) -> Sequence[object]:
    sample = next((value for value in values if value is not None), None)
    if converted(type_, sample) is sample:
        return values
    return [converted(type_, value) for value in values]


def converted(type_: Type, value: object) -> object:
    """The value as that type has it; an id of 36 characters also as BYTES or as a positive INT64."""
    if isinstance(value, str) and type_.name == "BYTES":
        return uuid.UUID(value).bytes if len(value) == 36 else value.encode()
    if isinstance(value, str) and type_.name == "INT64" and len(value) == 36:
        return uuid.UUID(value).int >> 65
    if isinstance(value, datetime) and type_.name == "DATE":
        return value.date()
    if isinstance(value, datetime) and type_.name == "STRING":
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, datetime) and type_.name == "INT64":
        return int(value.timestamp())
    if isinstance(value, Decimal) and type_.name in ("FLOAT64", "FLOAT32", "STRING", "INT64"):
        return {"STRING": str, "INT64": int}.get(type_.name, float)(value)
    if isinstance(value, int) and type_.name == "STRING":
        return str(value)
    return value


def _made_up(column: Column, number: int) -> object:
    """A value for a column of which the data know nothing; it differs from row to row where the type allows."""
    kinds: dict[str, Callable[[int], object]] = {
        "BOOL": lambda n: n % 2 == 0,
        "DATE": lambda n: date(2026, 1, 1) + timedelta(days=n % 365),
        "TIMESTAMP": lambda n: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=n),
        "STRING": lambda n: str(n) if (column.type.length or 99) < 20 else f"{column.name[:10]} {n}",
        "BYTES": lambda n: n.to_bytes(min(column.type.length or 8, 8), "big"),
        "UUID": lambda n: str(uuid.UUID(int=n)),
        "ARRAY": lambda n: [],
        "JSON": lambda n: "{}",
    }
    return coerce(column.type, kinds.get(column.type.name, lambda n: n)(number))
