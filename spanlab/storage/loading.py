"""Bulk loads: many rows in commits that stay under the limits.

A commit may have 80,000 mutations and 100 MiB, whichever is reached first (facts.md 6.1). Loads are cut accordingly;
the documented practice is smaller still (1 to 5 MB, or a few hundred rows where there are indexes), because smaller
commits spread better over the splits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanlab.storage.counting import MUTATION_LIMIT
from spanlab.storage.progress import progress_bar
from spanlab.storage.transaction import COMMIT_LIMIT_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spanlab.storage.database import Database
    from spanlab.storage.tables import StoredTable

_MOST_BYTES_A_LETTER = 4
_OTHER_BYTES = 30


def batches(
    rows: int,
    *,
    mutations_per_row: int,
    row_bytes: int = 0,
    mutation_limit: int = MUTATION_LIMIT,
    byte_limit: int = COMMIT_LIMIT_BYTES,
) -> list[range]:
    """How a load of that many rows is cut into commits: the row numbers of each.

    `mutations_per_row` are the columns written and the index entries (facts.md 6.1), `row_bytes` the size of a row with
    its entries. The smaller of the two limits decides.

    >>> [len(batch) for batch in batches(20_000, mutations_per_row=8, row_bytes=12 * 1024)]
    [8533, 8533, 2934]
    """
    for name, value in (("rows", rows), ("row_bytes", row_bytes)):
        if value < 0:
            raise ValueError(f"{name}: {value} was given; it is 0 or more")
    if not 1 <= mutations_per_row <= mutation_limit:
        raise ValueError(f"mutations_per_row: {mutations_per_row} was given; a row has 1 to {mutation_limit:,}")
    if row_bytes > byte_limit:
        raise ValueError(f"row_bytes: a row of {row_bytes:,} bytes does not fit a commit of {byte_limit:,}")
    most = mutation_limit // mutations_per_row
    if row_bytes:
        most = min(most, byte_limit // row_bytes)
    return [range(start, min(start + most, rows)) for start in range(0, rows, most)]


def load(database: Database, table: str, columns: Mapping[str, Sequence[object]]) -> int:
    """Insert rows given as whole columns in as many commits as the limits ask for; the number of commits.

    Long loads show a progress bar. A commit that fails stops the load; the commits before it stay.
    """
    stored = database.stored_table(table)
    positions = [stored.position(name) for name in columns]
    count = len(next(iter(columns.values()), ()))
    per_row = len(stored.always_counted.union(positions)) + len(stored.indexes)
    parts = batches(count, mutations_per_row=per_row, row_bytes=_largest_row(stored, positions, columns))
    with progress_bar(f"loading {stored.name}", count) as advance:
        for part in parts:
            with database.transaction() as transaction:
                given = [values[part.start : part.stop] for values in columns.values()]
                transaction.insert_values(stored, positions, given, len(part))
                transaction.end_step()
                database.finish(transaction)
            advance(part.stop)
    return len(parts)


def _largest_row(stored: StoredTable, positions: Sequence[int], columns: Mapping[str, Sequence[object]]) -> int:
    """Bytes that no row exceeds, its index entries included; a rough bound, for a load need not fill its commits."""
    size = 0
    for position, values in zip(positions, columns.values(), strict=True):
        long = stored.types[position].name in ("STRING", "BYTES", "JSON")
        size += _MOST_BYTES_A_LETTER * max(map(len, filter(None, values)), default=0) if long else 0  # type: ignore[arg-type]
    return (size + _OTHER_BYTES * len(stored.columns)) * (1 + len(stored.indexes))
