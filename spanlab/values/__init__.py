"""GoogleSQL types, the order of their values, their text, and their sizes.

Spanner keeps the rows of a table in the order of their keys, so the first question about a type is which of two values
is smaller. NULL is smaller than everything, a text is compared code point by code point, and DESC turns the order round
(facts.md 2.1). `encode_key` turns a key into bytes whose plain order is that order, so that whatever builds on it may
sort, cut and look up keys without knowing their types.

A value is a plain Python object: NULL None, BOOL bool, INT64 int, FLOAT64 and FLOAT32 float, NUMERIC decimal.Decimal,
STRING str, BYTES bytes, DATE datetime.date, TIMESTAMP datetime.datetime (aware, in UTC), JSON str, UUID str (36
lower-case characters), ARRAY list, an ENUM its number, a PROTO its bytes. TIMESTAMP counts microseconds here and
nanoseconds in Spanner.
"""

from spanlab.values.coercing import coerce
from spanlab.values.fitting import INT64_MAX, INT64_MIN, check_value, round_numeric, to_float32
from spanlab.values.order import compare, encode_key, key_encoder, keys_encoder, sort_keys
from spanlab.values.sizes import size_in_bytes
from spanlab.values.text import DEFAULT_TIME_ZONE, text_of, time_zone, timestamp_text, value_from_text
from spanlab.values.types import CELL_MAX_BYTES, SCALAR_TYPES, STRING_MAX_CHARACTERS, Type

__all__ = [
    "CELL_MAX_BYTES", "DEFAULT_TIME_ZONE", "INT64_MAX", "INT64_MIN", "SCALAR_TYPES", "STRING_MAX_CHARACTERS", "Type",
    "check_value", "coerce", "compare", "encode_key", "key_encoder", "keys_encoder", "round_numeric", "size_in_bytes",
    "sort_keys", "text_of", "time_zone", "timestamp_text", "to_float32", "value_from_text",
]  # fmt: skip
