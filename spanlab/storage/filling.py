"""What a write leaves out and Spanner fills in: defaults, sequences, identities, times.

A column without a value gets its DEFAULT, or NULL. Values that should be random (GENERATE_UUID) come from a generator
with a fixed seed, and the clock is simulated: the same calls give the same database on every machine.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, TypedDict

from spanlab.catalog import Identity
from spanlab.errors import QueryError, suggest
from spanlab.farmhash import bit_reverse
from spanlab.sql import parse_expression
from spanlab.sql.expressions import evaluate
from spanlab.storage import refusals
from spanlab.values import coerce

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from spanlab.catalog import Column, Sequence
    from spanlab.schema import Schema
    from spanlab.storage.tables import StoredTable


class Chance(TypedDict):
    """What expressions need that differ each time: random numbers, and the next value of a sequence by name."""

    random: random.Random
    next_value: Callable[[str], int]


class Filler:
    """Hands out sequence values and random ids, and remembers where each sequence stands.

    A sequence counts 1, 2, 3 … and hands out each count with its 63 bits reversed: positive, never twice, spread over
    all of INT64 (facts.md 2.3). Values in the skipped range are passed over.
    """

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)
        self._next_count: dict[str, int] = {}

    def chance(self, schema: Schema) -> Chance:
        """Random numbers and the sequences of a schema, for the evaluation of expressions."""
        return {"random": self._random, "next_value": lambda name: self._draw(schema, name)}

    def _draw(self, schema: Schema, name: str) -> int:
        for known, sequence in schema.sequences.items():
            if known.casefold() == name.casefold():
                return self.next_value(known, sequence)
        raise QueryError(f"There is no sequence {name}.{suggest(name, schema.sequences)}")

    def next_value(self, name: str, sequence: Sequence | Identity) -> int:
        """The next value of a sequence, or of an IDENTITY column (`name` tells them apart)."""
        low, high = sequence.skip_range or (1, 0)
        while True:
            count = self._next_count.get(name, sequence.start_counter or 1)
            self._next_count[name] = count + 1
            value = bit_reverse(count, True)
            if not low <= value <= high:
                return value

    def state(self, name: str) -> int | None:
        """The last count of a sequence before its bits were reversed, None where it was never used."""
        return self._next_count[name] - 1 if name in self._next_count else None

    def restart(self, name: str, count: int) -> None:
        """Let a sequence go on from that count (RESTART COUNTER WITH)."""
        self._next_count[name] = count


def fill(filler: Filler, schema: Schema, table: StoredTable, position: int, rows: int, now: datetime) -> list[object]:
    """Values of one left-out column for that many new rows: its default for each, or NULL."""
    column = table.columns[position]
    if column.identity is not None or column.auto_increment:
        return _identities(filler, column, f"{table.name}.{column.name}", rows)
    if column.default is None:
        return [None] * rows
    expression = parse_expression(column.default)
    try:
        values = evaluate(expression, {}, rows, now=now, **filler.chance(schema)).to_list()
        return [coerce(column.type, value) for value in values]
    except (QueryError, ValueError) as error:
        raise refusals.cannot_compute(table.name, column.name, (), str(error)) from None


def _identities(filler: Filler, column: Column, name: str, rows: int) -> list[object]:
    return [filler.next_value(name, column.identity or Identity()) for _ in range(rows)]
