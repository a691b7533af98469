"""What the advisor is told: a schema, and perhaps the load on it and a sample of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from spanlab.advisor import traits
from spanlab.catalog import Column, Index, Table
from spanlab.schema import Schema
from spanlab.values import coerce, size_in_bytes

if TYPE_CHECKING:
    from spanlab.splits import Workload

QUIET = 200
"""Writes a second below which a hot place does not hurt yet (one split does thousands, facts.md 1.6)."""

Rows = Mapping[str, Sequence[Mapping[str, object]]]


@dataclass(frozen=True)
class Case:
    """One examination. `rows` are samples of rows by table, each row a dict of column values."""

    schema: Schema
    workloads: tuple[Workload, ...] = ()
    rows: Rows = field(default_factory=dict)
    nodes: int | None = None

    def rate(self, table: str) -> float | None:
        """Writes a second on a table, or None where no workload speaks of it."""
        on_table = [w.writes_per_second for w in self.workloads if w.table.casefold() == table.casefold()]
        rates = [rate for rate in on_table if not callable(rate)]  # a rate that changes over time says nothing simple
        return sum(rates) if rates else None

    def quiet(self, table: str) -> bool:
        """Whether the workload says that the table has too few writes for a hotspot to hurt."""
        rate = self.rate(table)
        return rate is not None and rate < QUIET

    def said(self, table: str, column: str) -> str:
        """The written form of what the workload puts into a column ("now", "ids(500)"), "" where it says nothing."""
        for workload in self.workloads:
            if workload.table.casefold() == table.casefold():
                values = {name.casefold(): str(value) for name, value in workload.values.items()}
                return values.get(column.casefold(), "")
        return ""

    def grows(self, table: Table, column: Column) -> str:
        """`traits.grows`, overruled by what the workload says of the column."""
        said = self.said(table.name, column.name)
        if not said:
            return traits.grows(column)
        word = said.partition("(")[0]
        if word == "null":
            word = said.partition(",")[2].strip(" )").partition("(")[0]
        led = {"now": "time", "date": "date", "seq": "counter", "ulid": "time", "uuid1": "time", "uuid7": "time"}
        found = led.get(word, "")
        return "commit timestamp" if found == "time" and column.commit_timestamp else found

    def null_share(self, table: str, column: str) -> float | None:
        """The share of rows in which a column is NULL, from the workload or the sample; None where nobody says."""
        said = self.said(table, column)
        if said.startswith("null("):
            return float(said[5:].partition(",")[0])
        sample = self.rows.get(table)
        if sample:
            return sum(row.get(column) is None for row in sample) / len(sample)
        return None

    def bytes_in_row(self, table: Table) -> dict[str, float | None]:
        """The mean bytes of each column in a row of the sample (facts.md 2.1), None for a column that no row names.

        Raises ValueError for a value that is none of the column's type.
        """
        if table.name not in self._bytes_in_row:
            self._bytes_in_row[table.name] = {column.name: self._bytes_of(table, column) for column in table.columns}
        return self._bytes_in_row[table.name]

    @cached_property
    def _bytes_in_row(self) -> dict[str, dict[str, float | None]]:
        return {}

    def _bytes_of(self, table: Table, column: Column) -> float | None:
        if column.generated and not column.stored:
            return 0.0  # it is computed when it is read
        sample = self.rows.get(table.name, ())
        if not any(column.name in row for row in sample):
            return None
        try:
            values = [coerce(column.type, row.get(column.name)) for row in sample]
        except ValueError as error:
            raise ValueError(f"rows[{table.name!r}], column {column.name}: {error}.") from None
        return sum(size_in_bytes(column.type, value) for value in values) / len(sample)

    @cached_property
    def tables(self) -> list[Table]:
        """The tables in creation order."""
        return list(self.schema.tables.values())

    @cached_property
    def indexes(self) -> list[tuple[Index, Table]]:
        """The indexes that the designer made, each with its table."""
        made = [i for i in self.schema.indexes.values() if not i.managed]
        return [(i, self.schema.table(i.table)) for i in made]

    @cached_property
    def _own_indexes(self) -> dict[str, list[Index]]:
        by_table: dict[str, list[Index]] = {}
        for index, table in self.indexes:
            by_table.setdefault(table.name, []).append(index)
        return by_table

    def own_indexes(self, table: Table) -> list[Index]:
        """The indexes that the designer made on one table."""
        return self._own_indexes.get(table.name, [])

    def is_root(self, table: Table) -> bool:
        """Whether the table's own key decides where its rows go; an interleaved child follows its parent's."""
        return table.interleave is None
