"""Which split owns a key, where Spanner may cut, and what a sequence hands out: small questions without a load."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from spanlab.splits.keys import BitReversed

if TYPE_CHECKING:
    from spanlab.schema import Schema

BEGIN = "<begin>"


def order(key: Any) -> tuple[Any, ...]:
    """What sorts a key as Spanner does: NULL before every value, texts by code point, several columns one by one."""
    columns = key if isinstance(key, tuple | list) else (key,)
    return tuple((value is not None, value) if value is not None else (False, 0) for value in columns)


def route(starts: Sequence[Any], keys: Sequence[Any]) -> list[int]:
    """The number (from 1) of the split that owns each key, for splits that begin at `starts`.

    The first start is "<begin>". A key is a value, or a tuple of the values of its columns; a shorter tuple is a prefix
    and sorts before the keys that begin with it. A split is [start, limit): its start belongs to it (facts.md 1.1.1).
    Raises ValueError where the starts are not in order or cannot be compared with the keys.
    """
    if not starts or starts[0] != BEGIN:
        raise ValueError(f"starts is {list(starts)!r}; the first split starts at {BEGIN!r}.")
    try:
        borders = [order(start) for start in starts[1:]]
        if any(not one < other for one, other in pairwise(borders)):
            raise ValueError(f"starts is {list(starts)!r}; each start must be larger than the one before.")
        return [1 + bisect_right(borders, order(key)) for key in keys]
    except TypeError as error:
        raise ValueError(f"These keys cannot be compared with those starts: {error}.") from None


@dataclass(frozen=True)
class Cut:
    """Whether a split boundary may lie between two rows, and why."""

    possible: bool
    because: str

    def __bool__(self) -> bool:
        return self.possible

    def __str__(self) -> str:
        return ("yes: " if self.possible else "no: ") + self.because


def can_cut(schema: Schema, key_a: str | tuple[Any, ...], key_b: str | tuple[Any, ...]) -> Cut:
    """May Spanner put a split boundary between two rows?

    A row is written as Spanner's statistics write it, "Purchases('C1', 'O500')", or as a tuple ("Purchases", "C1",
    "O500"). A boundary may lie between any two rows, also between rows of one family; only a single row is never cut
    (facts.md 1.2.2 to 1.2.4). Raises ValueError for a key that has not the table's number of columns, and SchemaError
    for an unknown table.
    """
    one, other = _row(schema, key_a), _row(schema, key_b)
    if one == other:
        return Cut(False, "it is one row, and a single row is never cut")
    tables = {schema.table(name).name for name, _ in (one, other)}
    roots = {schema.root(schema.table(name)).name for name in tables}
    if len(roots) > 1:
        return Cut(True, f"{' and '.join(sorted(tables))} are no family: their rows lie in different ranges")
    shared = len(schema.table(next(iter(roots))).key)
    if one[1][:shared] == other[1][:shared] and (len(tables) > 1 or schema.table(one[0]).interleave):
        return Cut(
            True, "both rows belong to one family; Spanner prefers to keep it whole, and cuts inside when it must"
        )
    return Cut(True, "they are two rows, and a boundary may lie between any two rows")


def _row(schema: Schema, key: str | tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Table and key values of a row."""
    if isinstance(key, str):
        match = re.fullmatch(r"\s*([\w.]+)\s*\((.*)\)\s*", key, re.DOTALL)
        if not match:
            raise ValueError(f"{key!r} is no row; write a table and its key, such as Purchases('C1', 'O500').")
        try:
            values = ast.literal_eval(f"({match[2]},)") if match[2].strip() else ()
        except (ValueError, SyntaxError):
            raise ValueError(f"{key!r}: the key values cannot be read; texts stand in quotes.") from None
        key = (match[1], *values)
    if not isinstance(key, tuple) or not key:
        raise ValueError(f"{key!r} is no row; write a table and its key, such as Purchases('C1', 'O500').")
    table = schema.table(str(key[0]))
    if len(key) - 1 != len(table.key):
        columns = ", ".join(part.column for part in table.key)
        raise ValueError(
            f"A row of {table.name} has {len(table.key)} key values ({columns}); {len(key) - 1} were given."
        )
    return table.name, tuple(key[1:])


def sequence(n: int, *, skip: tuple[int, int] | None = None, start_counter: int = 1) -> list[int]:
    """The first n values of CREATE SEQUENCE … bit_reversed_positive: positive, unique, in no order (facts.md 2.3).

    `skip` are the first and last value that are not handed out (SKIP RANGE, inclusive), `start_counter` is the first
    counter, before it is reversed (START COUNTER WITH). Spanner runs several counters at once and leaves gaps; this
    one counts on.
    """
    if isinstance(n, bool) or not isinstance(n, int) or not 0 <= n <= 1_000_000:
        raise ValueError(f"n is {n!r}; a whole number from 0 to 1,000,000 is wanted.")
    if skip is not None and not (len(skip) == 2 and 0 <= skip[0] <= skip[1] < 1 << 63):
        raise ValueError(f"skip is {skip!r}; two values are wanted, 0 <= lowest <= highest < 2^63.")
    if isinstance(start_counter, bool) or not isinstance(start_counter, int) or not 1 <= start_counter < 1 << 62:
        raise ValueError(f"start_counter is {start_counter!r}; a whole number of 1 or more is wanted.")
    law, values, counter = BitReversed(start_counter, skip), list[int](), start_counter
    while len(values) < n:
        wanted = n - len(values)
        values += law.values(counter, wanted).tolist()
        counter += wanted
    return values
