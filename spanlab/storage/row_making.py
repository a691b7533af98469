"""New and changed rows made whole: values as their columns keep them, defaults, generated columns, keys.

A write names some columns of a row. The others get their defaults; generated columns are worked out from the rest; and
only then is the key known, for parts of it may be generated too (facts.md 5.3).
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from spanlab.errors import QueryError
from spanlab.storage import refusals
from spanlab.storage.computing import over_rows
from spanlab.storage.filling import fill
from spanlab.storage.values_in import accepted, typed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from spanlab.schema import Schema
    from spanlab.storage.filling import Chance, Filler
    from spanlab.storage.rows import Row
    from spanlab.storage.tables import Computed, StoredTable

_SIZED_BY_LENGTH = ("STRING", "BYTES", "JSON", "ARRAY")


class RowMaker:
    """Makes rows whole at one moment. `length` adds up the lengths of the texts, bytes and arrays that were given.

    `unsure` are the rows with a generated column that could not be worked out: only the final row must be computable.
    """

    def __init__(self, schema: Schema, filler: Filler, now: datetime) -> None:
        self.schema, self.filler, self.now = schema, filler, now
        self.length = 0
        self.unsure: dict[StoredTable, set[bytes]] = {}

    @property
    def chance(self) -> Chance:
        """What expressions need that differs each time (`spanlab.storage.filling`)."""
        return self.filler.chance(self.schema)

    def kept(self, table: StoredTable, values: dict[int, object]) -> dict[int, object]:
        """Values of single columns, by position, as the columns keep them."""
        return {p: accepted(table.name, table.columns[p], (value,), self.now)[0] for p, value in values.items()}

    def filled(self, table: StoredTable, position: int, count: int) -> list[object]:
        """What a column gets in `count` new rows that leave it out: its default, or NULL."""
        return fill(self.filler, self.schema, table, position, count, self.now)

    def accept(
        self, table: StoredTable, positions: Sequence[int], values: Sequence[Sequence[object]]
    ) -> list[Sequence[object]]:
        """Values of whole columns as these keep them. Raises ConstraintError for one that does not fit."""
        found = []
        for position, column in zip(positions, values, strict=True):
            kept = accepted(table.name, table.columns[position], column, self.now)
            if table.types[position].name in _SIZED_BY_LENGTH:
                self.length += sum(map(len, filter(None, kept)))  # type: ignore[arg-type]
            found.append(kept)
        return found

    def complete(
        self, table: StoredTable, positions: Sequence[int], values: Sequence[Sequence[object]], count: int
    ) -> list[Row]:
        """Whole rows: the given columns, defaults for the others, and what is generated from them."""
        columns: list[Sequence[object]] = [()] * len(table.columns)
        for position, column in zip(positions, self.accept(table, positions, values), strict=True):
            columns[position] = column
        for position in table.not_generated:
            if position not in positions:
                columns[position] = self.filled(table, position, count)
        for position in table.generated:
            columns[position] = [None] * count
        rows: list[Row] = list(zip(*columns, strict=True))
        for computed in table.key_computed:
            rows = self._compute_column(table, computed, rows)
        for computed in table.computed:
            rows = self._compute_column(table, computed, rows)
        return rows

    # generated columns

    def _compute_column(self, table: StoredTable, computed: Computed, rows: list[Row]) -> list[Row]:
        """The rows with one generated column filled in. A failure is remembered: only the final row must be right."""
        try:
            column = table.columns[computed.position]
            raw = over_rows(computed.expression, computed.inputs, table, rows, self.now)
            values: Sequence[object] = typed(table.name, column, raw, self.now)
        except QueryError as error:
            if len(rows) > 1:
                return list(chain.from_iterable(self._compute_column(table, computed, [row]) for row in rows))
            if computed in table.key_computed:
                name = table.columns[computed.position].name
                raise refusals.cannot_compute(table.name, name, table.rows.key_values(rows[0]), str(error)) from None
            self.unsure.setdefault(table, set()).add(table.rows.encode(table.rows.key_values(rows[0])))
            values = [None]
        place = computed.position
        return [(*row[:place], value, *row[place + 1 :]) for row, value in zip(rows, values, strict=True)]

    def compute_one(self, table: StoredTable, changed: list[object], touched: set[int]) -> set[int]:
        """Work out anew, in place, the generated columns that read a touched column; their positions."""
        done: set[int] = set()
        for computed in chain(table.key_computed, table.computed):
            if touched.isdisjoint(computed.inputs) and done.isdisjoint(computed.inputs):
                continue
            (new,) = self._compute_column(table, computed, [tuple(changed)])
            changed[computed.position] = new[computed.position]
            done.add(computed.position)
        return done

    def partial_row(self, table: StoredTable, positions: Sequence[int], row: Sequence[object]) -> Row:
        """A row of which only these columns are known; the others are NULL."""
        whole: list[object] = [None] * len(table.columns)
        for position, value in zip(positions, row, strict=True):
            whole[position] = value
        return tuple(whole)

    def known_key(self, table: StoredTable, positions: Sequence[int], row: Sequence[object]) -> bytes | None:
        """The encoded key that a partly given row will have; None where Spanner has yet to make up a part of it."""
        if any(p not in positions and table.columns[p].filled_when_left_out for p in table.key_positions):
            return None
        partial = self.partial_row(table, positions, row)
        for computed in table.key_computed:
            (partial,) = self._compute_column(table, computed, [partial])
        return table.rows.encode(table.rows.key_values(partial))

    def named_key(self, table: StoredTable, positions: Sequence[int], row: Sequence[object], kind: str) -> bytes:
        """The encoded key that a row names in full, generated parts given or derivable."""
        partial = self.partial_row(table, positions, row)
        for computed in table.key_computed:
            if computed.position not in positions:
                if not set(computed.inputs) <= set(positions):
                    raise refusals.missing_not_null(table.name, table.columns[computed.position], kind)
                (partial,) = self._compute_column(table, computed, [partial])
        for position in table.key_positions:
            column = table.columns[position]
            if position not in positions and position not in table.generated and column.not_null:
                raise refusals.missing_not_null(table.name, column, kind)
        return table.rows.encode(table.rows.key_values(partial))
