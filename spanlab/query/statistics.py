"""What the planner knows about the data: how many rows a table has, and how many different values a column.

Spanner collects such statistics every three days, or at ANALYZE (facts.md 7.1). Here they are read from the rows when a
query is planned; where a database is empty the planner takes fixed defaults, as an optimizer without statistics does:
10,000 rows in every table, one row for a whole key, a hundredth for an equality, a tenth for a range, a quarter for
anything else.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from spanlab.query.predicates import Predicate
    from spanlab.storage import Database

DEFAULT_ROWS = 10_000.0
SAMPLE = 1000
EQUAL, RANGE, PREFIX, OTHER, NOT_NULL = 0.01, 0.1, 0.05, 0.25, 0.9


class Statistics:
    """Row counts and different values, worked out when asked for and kept until rows change."""

    def __init__(self, database: Database | None = None) -> None:
        self._database = database
        self._distinct: dict[tuple[str, str, int], float] = {}

    @property
    def known(self) -> bool:
        """True when there are rows to learn from."""
        database = self._database
        return database is not None and any(len(database.stored(name)) for name in database.schema.tables)

    def _is_stored(self, name: str) -> bool:
        """False for the tables of INFORMATION_SCHEMA and SPANNER_SYS, about which no statistics are kept."""
        assert self._database is not None
        return name in self._database.schema.tables or name in self._database.schema.indexes

    def rows(self, name: str) -> float:
        """The number of rows of a table or an index."""
        if self._database is None or not self.known or not self._is_stored(name):
            return DEFAULT_ROWS
        return float(max(1, len(self._database.stored(name))))

    def distinct(self, table: str, column: str) -> float | None:
        """About how many different values a column has; None where nothing is known.

        Estimated from a sample of a thousand rows: values met more than once count as they are, values met once stand
        for the square root of the sampling rate times as many (the estimator of Charikar and others, PODS 2000).
        """
        if self._database is None or not self.known or not self._is_stored(table):
            return None
        rows = self._database.stored(table)
        key = (table, column, rows.version)
        if key not in self._distinct:
            size = min(len(rows), SAMPLE)
            places = np.linspace(0, max(0, len(rows) - 1), size).astype(np.int64)
            met = Counter(repr(value) for value in rows.column(column, places) if value is not None)
            once = sum(1 for count in met.values() if count == 1)
            rate = len(rows) / max(1, size)
            self._distinct[key] = max(1.0, math.sqrt(rate) * once + len(met) - once)
        return self._distinct[key]

    def share(self, predicate: Predicate, table: str, column: str) -> float:
        """The share of a table's rows that a predicate on one of its columns lets through."""
        if predicate.kind in ("equal", "in"):
            distinct = self.distinct(table, column)
            one = EQUAL if distinct is None else 1.0 / distinct
            return min(1.0, one * max(1, len(predicate.values)))
        if predicate.kind == "any_of":
            return min(1.0, sum(min(self.share(p, table, column) for p in branch) for branch in predicate.branches))
        return {"range": RANGE, "prefix": PREFIX, "not_null": NOT_NULL}[predicate.kind]
