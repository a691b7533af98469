"""What a schema tells about the values of a column: do they grow, are they few, are they random, are they a shard?

Spanner does not know it either; it only sees where the writes go. DDL gives strong signs (a commit timestamp, a default
that makes a UUID, a bit-reversed sequence) and weak ones (names). The advisor speaks up on strong signs, and on weak
ones only where the name leaves little doubt; a workload, if given, overrules both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sqlglot import exp

from spanlab.catalog import Column, Index, KeyPart, Table
from spanlab.schema import Schema
from spanlab.splits.columns import is_digest_byte, remainder
from spanlab.sql import parse_expression

# The words of a name, so that "SeqNo", "seq_no" and "SEQ_NO" are alike.
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_COUNTER = {"seq", "sequence", "serial", "counter", "offset", "revision", "version", "autoinc", "increment", "tick"}
_CLOCK = {"timestamp", "ts", "epoch", "millis", "micros", "nanos", "unixtime"}
_FEW = {
    "status", "state", "type", "kind", "category", "phase", "priority", "severity", "level", "region", "country",
    "currency", "gender", "flag", "flags", "enabled", "active", "deleted", "protocol", "channel", "stage", "tier",
    "role", "locale", "language", "env", "environment",
}  # fmt: skip
_SHARD = {"shard", "bucket", "lane", "partition"}
_TIME_LED_ID = {"ulid", "ksuid", "uuid1", "uuidv1", "uuid6", "uuidv6", "uuid7", "uuidv7", "snowflake", "timeuuid"}
_RANDOM_ID = {"uuid", "guid", "hash", "digest", "fingerprint", "token", "checksum", "sha256", "sha1", "md5"}


def words(name: str) -> list[str]:
    """The words of a column name in lower case: "LastSeenAt" -> ["last", "seen", "at"]."""
    return [w.lower() for w in _WORD.findall(name)]


def scattered(column: Column) -> bool:
    """Whether consecutive rows certainly get values far apart: random UUIDs, bit-reversed numbers, hashes."""
    if column.identity or column.auto_increment:
        return True
    text = (column.default or column.generated or "").upper()
    made = ("GENERATE_UUID", "NEW_UUID", "GET_NEXT_SEQUENCE_VALUE", "BIT_REVERSE", "FARM_FINGERPRINT", "SHA", "MD5")
    if any(word in text for word in made):
        return True
    return bool(_RANDOM_ID & set(words(column.name))) and not time_led_id(column)


def time_led_id(column: Column) -> bool:
    """Whether the name says that this id begins with the time (ULID, KSUID, UUID versions 1, 6 and 7; facts.md 2.2)."""
    joined = re.sub(r"[^a-z0-9]", "", column.name.lower())
    return column.type.name in ("STRING", "BYTES", "UUID") and any(word in joined for word in _TIME_LED_ID)


def shard(column: Column) -> bool:
    """Whether the column spreads keys: a hash shard or bucket, generated or by name (facts.md 2.4)."""
    if column.generated and shard_formula(column.generated):
        return True
    return column.type.name in ("INT64", "STRING") and bool(_SHARD & set(words(column.name)))


def grows(column: Column) -> str:
    """How the values of new rows grow: "commit timestamp", "time", "date", "counter", or "" where nothing says so.

    A TIMESTAMP or DATE in front of a key is taken for the time of the write; a workload can say otherwise.
    """
    if column.commit_timestamp:
        return "commit timestamp"
    if column.type.name == "TIMESTAMP":
        return "time"
    if column.type.name == "DATE":
        return "date"
    if column.type.name == "INT64" and not column.filled_by_schema and not shard(column):
        said = words(column.name)
        if _COUNTER & set(said):
            return "counter"
        if _CLOCK & set(said):
            return "time"
    return ""


def few_values(column: Column, table: Table) -> bool:
    """Whether the column takes a handful of values: BOOL, CHECK (x IN (…)) with at most ten, or a name such as
    Status."""
    if column.type.name == "BOOL" or _checked_to_few(column, table):
        return True
    said = words(column.name)
    return column.type.name in ("STRING", "INT64") and bool(said) and (said[-1] in _FEW or said[0] in ("is", "has"))


def surely_few(column: Column, table: Table) -> bool:
    """As `few_values`, without guessing from names."""
    return column.type.name == "BOOL" or _checked_to_few(column, table)


def _checked_to_few(column: Column, table: Table, most: int = 10) -> bool:
    for check in table.checks:
        tree = parse_expression(check.expression)
        listed = [tree] if isinstance(tree, exp.In) else [*tree.find_all(exp.In)]
        for membership in listed:
            named = (
                isinstance(membership.this, exp.Column) and membership.this.name.casefold() == column.name.casefold()
            )
            if named and 0 < len(membership.expressions) <= most:
                return True
    return False


def _remainders(expression: str) -> Iterator[tuple[exp.Expr, int, bool]]:
    """(what is divided, by what, whether it keeps a sign) of each remainder in an expression, the outermost first."""
    for node in parse_expression(expression).find_all(exp.Abs, exp.Mod, exp.BitwiseAnd, exp.Bracket):
        found = remainder(node)
        if found is not None:
            yield found


def shard_formula(expression: str) -> tuple[str, int] | None:
    """How a shard is computed from a hash: ("signed" | "abs inside" | "repaired", number of shards), or None.

    "signed" is MOD(FARM_FINGERPRINT(x), N), whose values run from -(N-1) to N-1; "abs inside" is MOD(ABS(hash), N),
    which fails for one hash in 2^64; "repaired" are ABS(MOD(h, N)), MOD(MOD(h, N) + N, N), h & (N-1) (facts.md 2.4) and
    whatever is made of a byte of a digest, which has no sign.
    """
    for divided, number, signed in _remainders(expression):
        if number < 1:
            continue  # by 0 nothing can be divided
        if divided.find(exp.FarmFingerprint) is not None:
            return "signed" if signed else "abs inside" if isinstance(divided, exp.Abs) else "repaired", number
        if is_digest_byte(divided):
            return "repaired", number
    return None


def reversed_remainder(table: Table, column: Column) -> tuple[int, int] | None:
    """(how many values occur, by what is divided) of a column that is MOD of a bit-reversed number; None for others.

    Such a number ends in the first bits of its counter, which are zeros. So it is a multiple of each power of two that
    the divisor holds, and the remainders are multiples of that power too (facts.md 2.3).
    """
    for divided, number, _ in _remainders(column.generated) if column.generated else ():
        plain = divided.this if isinstance(divided, exp.Abs) else divided
        source = table.column(plain.name) if isinstance(plain, exp.Column) else None
        if source is not None and _bit_reversed(source) and number > 0:
            return number // (number & -number), number
    return None


def _bit_reversed(column: Column) -> bool:
    """Whether Spanner counts the column's numbers; it has no other sequences than bit-reversed ones."""
    counted = column.identity is not None or column.auto_increment
    return counted or "GET_NEXT_SEQUENCE_VALUE" in (column.default or "").upper()


def first_column(table: Table) -> Column | None:
    """The column that decides where a new row goes, or None for a singleton."""
    return table.column(table.key[0].column) if table.key else None


def key_columns(table: Table, key: tuple[KeyPart, ...]) -> list[Column]:
    """The columns of a key, in order."""
    return [c for part in key if (c := table.column(part.column))]


def interleaved_in_parent_key(schema: Schema, table: Table) -> int:
    """How many leading key columns of `table` it shares with its parent; 0 for a root table."""
    return len(schema.table(table.interleave.table).key) if table.interleave else 0


def sparse(index: Index, columns: Mapping[str, Column]) -> bool:
    """Whether the index leaves rows out: NULL_FILTERED over a nullable key column, or WHERE … IS NOT NULL on one."""
    filtered = [p.column for p in index.key] if index.null_filtered else []
    return any(not columns[name.casefold()].not_null for name in [*filtered, *index.not_null])
