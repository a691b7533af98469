"""SPL5xx: which values may stand in a key."""

from __future__ import annotations

from spanlab.advisor import traits
from spanlab.advisor.case import Case
from spanlab.advisor.rules import Found, rule

KEY_BYTES = 8 * 1024


@rule("SPL502", "key wider than a key may be", "facts 12")
def wide_key(case: Case) -> Found:
    """STRING(MAX) in a key is legal; a key over 8 KiB is refused when it is written."""
    for table in case.tables:
        columns = traits.key_columns(table, table.key)
        texts = [c for c in columns if c.type.name in ("STRING", "BYTES")]
        open_ended = [c.name for c in texts if c.type.length is None]
        if open_ended:
            message = (
                f"{', '.join(open_ended)} may hold more than the 8 KiB of a whole key: such a row is refused "
                "when written."
            )
            yield (
                "low",
                f"table {table.name}",
                message,
                f"{open_ended[0]} {texts[0].type.name}(…) with the length that is needed",
            )
        elif sum(c.type.length or 0 for c in texts) > KEY_BYTES:
            yield "low", f"table {table.name}", "The key columns together may exceed the 8 KiB of a key.", ""


@rule("SPL503", "key that may be NULL", "facts 2.1")
def nullable_key(case: Case) -> Found:
    """NULL is a key value like any other: it sorts first, and a one-column key has one such row."""
    for table in case.tables:
        column = traits.first_column(table)
        if column and case.is_root(table) and not column.not_null:
            message = (
                f"{column.name} leads the key and may be NULL: NULL sorts first, and rows may come without an identity."
            )
            yield "low", f"table {table.name}", message, f"{column.name} {column.type} NOT NULL (in a new table)"


@rule("SPL504", "floating point key", "facts 2.1")
def float_key(case: Case) -> Found:
    """Equality on floating point numbers surprises."""
    for table in case.tables:
        for column in traits.key_columns(table, table.key):
            if column.type.name == "FLOAT64":
                message = f"{column.name} is FLOAT64: two computations of the same number may give two keys."
                yield "low", f"table {table.name}", message, "NUMERIC, or an INT64 in a smaller unit"
