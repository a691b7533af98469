"""Answers of an unusual form: changes to a table in place of a new one, and columns filled by an unusual expression.

The simulator knows the usual forms of ids and shards by their expressions. There are more ways to write them than it
can know, and a design must not lose its points for an unusual one. So rows are stored, in the order in which they
would come, and the values that the expression gave them tell what it does: a few values in no order, a new one in no
order for each row, or one that grows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from spanlab.course.criteria.looked_at import Design
from spanlab.errors import SpanlabError

MOST_SHARDS, NO_ORDER, ORDER, EVEN = 300, 0.1, 0.99, 4.0
"""More values are no shard. Ranks that agree with the order of the rows by less than a tenth are in no order; by 0.99
they are in order. Where a few values are equally likely, none is found more often than chance allows: four standard
deviations above the mean."""


def changes_tables(ddl: str) -> bool:
    """Whether DDL changes tables that are there, with ALTER or DROP, in place of writing them anew."""
    words = " ".join(ddl.casefold().split())
    return "drop table" in words or ("alter table" in words and "create table" not in words)


def with_sampled_laws(design: Design, rows: Mapping[str, Sequence[Any]], ordered_by: str) -> Design:
    """The design, with a word in its workload for each key column that the simulator cannot follow, if rows show one.

    `rows` are values of the columns that the workload gives, of which `ordered_by` grows from row to row.
    """
    try:
        _ = design.summary
    except ValueError:
        for part in design.table.key:
            column = design.table.column(part.column)
            known = {name.casefold() for name in design.values}
            if column is not None and column.name.casefold() not in known and (column.default or column.generated):
                word = sampled_law(design, column.name, rows, ordered_by)
                if word:
                    design.values[column.name] = word
    return design


def sampled_law(design: Design, column: str, rows: Mapping[str, Sequence[Any]], ordered_by: str) -> str:
    """The word for what the schema fills a column with; "" where some rows do not tell."""
    try:
        values = _stored(design, column, rows, ordered_by)
    except (SpanlabError, ValueError, KeyError):  # rows that cannot be stored, or have lost what orders them
        return ""
    counts = Counter(values)
    ranks = {value: rank for rank, value in enumerate(_in_order(counts))}
    order = np.array([ranks[value] for value in values], dtype=float)
    if len(counts) == 1:
        return f"const({values[0]})"
    agreement = abs(float(np.corrcoef(order, np.arange(len(order)))[0, 1]))
    if len(counts) == len(values):
        return "uuid4" if agreement < NO_ORDER else "seq" if agreement > ORDER else ""
    return _shards(counts, len(values)) if len(counts) <= MOST_SHARDS and agreement < NO_ORDER else ""


def _shards(counts: Counter[Any], rows: int) -> str:
    """The word for a few values in no order: alike, or each with its share."""
    mean = rows / len(counts)
    if max(counts.values()) <= mean + EVEN * math.sqrt(mean):
        return f"ids({len(counts)})"
    return f"pick({', '.join(f'v{n:03}:{counts[value] / rows}' for n, value in enumerate(_in_order(counts)))})"


def _in_order(values: Iterable[Any]) -> list[Any]:
    """NULL comes first."""
    return sorted(values, key=lambda value: (value is not None, value))


def _stored(design: Design, column: str, rows: Mapping[str, Sequence[Any]], ordered_by: str) -> list[Any]:
    """What the column holds in each row, in the order in which the rows came."""
    from spanlab.query import Database
    from spanlab.storage.fitting import fitted_columns

    database = Database(design.schema)
    name = design.table.name
    database.load_columns(name, fitted_columns(database.stored_table(name), rows))
    stored: list[dict[str, Any]] = sorted(database.rows(name), key=lambda row: cast(Any, row[ordered_by]))
    return [row[column] for row in stored]
