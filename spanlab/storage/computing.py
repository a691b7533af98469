"""Expressions over stored rows: generated columns, CHECK constraints, defaults.

The expressions of a schema are evaluated by the same evaluator as those of queries (`spanlab.sql.expressions`), here
over rows that are being written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanlab.sql.expressions import Vector, evaluate, evaluate_row

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlglot import exp

    from spanlab.storage.rows import Row
    from spanlab.storage.tables import StoredTable

_ONE_BY_ONE = 8


def over_rows(
    expression: exp.Expr, inputs: Sequence[int], table: StoredTable, rows: Sequence[Row], now: datetime
) -> list[object]:
    """The value of an expression for each row. `inputs` are the positions of the columns that it reads.

    Raises QueryError where a row makes it fail (a division by zero, an overflow).
    """
    names = [table.columns[position].name for position in inputs]
    types = dict(zip(names, (table.types[position] for position in inputs), strict=True))
    if len(rows) <= _ONE_BY_ONE:
        values = ({name: row[position] for name, position in zip(names, inputs, strict=True)} for row in rows)
        return [evaluate_row(expression, one, types, now=now) for one in values]
    columns = {
        name: Vector.of(types[name], [row[position] for row in rows])
        for name, position in zip(names, inputs, strict=True)
    }
    return evaluate(expression, columns, len(rows), now=now).to_list()
