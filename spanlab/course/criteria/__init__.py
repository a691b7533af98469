"""The words that criteria are made of: what an answer did, measured by the library.

A schema or a query that was handed in is looked at once (`Design`, `HandedQuery`), and every criterion reads from
that. Each criterion is a function of its weight and its limit, and says what it saw in numbers with units.
"""

from spanlab.course.criteria.looked_at import Asked, Design, HandedQuery, Refused, index_columns, kept, key_of
from spanlab.course.criteria.plain import each_item, number_is
from spanlab.course.criteria.queries import (
    back_joins,
    distributed,
    parameters,
    parameters_in,
    rows,
    scan_uses,
    scanned,
    sorts,
)
from spanlab.course.criteria.schemas import advice_lacks, committed, has_columns, hottest, p99

__all__ = [
    "Asked", "Design", "HandedQuery", "Refused", "advice_lacks", "back_joins", "committed", "distributed", "each_item",
    "has_columns", "hottest", "index_columns", "kept", "key_of", "number_is", "p99", "parameters", "parameters_in",
    "rows", "scan_uses", "scanned", "sorts",
]  # fmt: skip
