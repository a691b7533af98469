"""What a column holds, read from the schema.

A DEFAULT, an IDENTITY, a commit timestamp or a stored generated column says how its values come about, so a workload
need not. What the schema says nowhere, and the workload does not say either, is an error that names the column and the
line to add: nothing is guessed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from sqlglot import exp

from spanlab.catalog import Column, Identity, Sequence, Table
from spanlab.splits import choices, composite, keys
from spanlab.splits.choices import Values
from spanlab.splits.keys import Key
from spanlab.splits.words import MOST_SHARDS
from spanlab.sql import parse_expression, sequences_in

LawOf = Callable[[str], Key]
"""The law of another column of the table, by name."""


def filled_by_schema(table: Table, column: Column, sequences: dict[str, Sequence], law_of: LawOf) -> Key:
    """The law of a column that the workload does not name. ValueError where the schema does not say it either."""
    if column.generated is not None:
        return _generated(table, column, law_of)
    if column.identity is not None or column.auto_increment:
        return _counter(column.identity or Identity())
    if column.commit_timestamp:
        return keys.CommitTimestamp()
    if column.default is not None:
        return _default(table, column, sequences)
    raise ValueError(
        f"Who fills column {column.name} of {table.name}? Its values decide where a row lands, and neither the schema "
        f"nor the workload says what they are. Give it a DEFAULT or a generating expression, or add to the workload: "
        f'values={{"{column.name}": "{_likely(column)}"}}'
    )


def _likely(column: Column) -> str:
    """A word that may be meant for a column of that type."""
    return {"TIMESTAMP": "now", "DATE": "date(now)", "INT64": "seq", "UUID": "uuid4"}.get(
        column.type.name, "ids(100000)"
    )


def _counter(source: Identity | Sequence) -> Key:
    return keys.BitReversed(start=source.start_counter or 1, skip_range=source.skip_range)


def _default(table: Table, column: Column, sequences: dict[str, Sequence]) -> Key:
    """A default reads no column: what is new in each row (an id, a sequence's next number, the time) takes their
    place."""
    new: dict[str, Key] = {}

    def as_column(node: exp.Expr) -> exp.Expr:
        law = _new_in_each_row(node, sequences)
        if law is None:
            return node
        new[node.sql()] = law
        return exp.column(node.sql(), quoted=True)

    law = _law(_tree(column.default or "").transform(as_column), new.__getitem__)
    if law is None:
        raise _unread(table, column, f"DEFAULT ({column.default})")
    return law


def _new_in_each_row(node: exp.Expr, sequences: dict[str, Sequence]) -> Key | None:
    """The law of a function that gives each row a value of its own; None for every other node."""
    if isinstance(node, exp.Uuid) or _name(node) == "NEW_UUID":
        return keys.Uuid4()
    if isinstance(node, exp.CurrentTimestamp):
        return keys.Now()
    if isinstance(node, exp.CurrentDate):
        return composite.Every(keys.DAY_S)
    if _name(node) == "PENDING_COMMIT_TIMESTAMP":
        return keys.CommitTimestamp()
    if _name(node) == "GET_NEXT_SEQUENCE_VALUE":
        (drawn,) = sequences_in(node)
        named = {name.casefold(): sequence for name, sequence in sequences.items()}
        return _counter(named.get(drawn.casefold(), Sequence(drawn)))
    return None


def _generated(table: Table, column: Column, law_of: LawOf) -> Key:
    law = _law(_tree(column.generated or ""), law_of)
    if law is None:
        raise _unread(table, column, f"AS ({column.generated})")
    return law


def _unread(table: Table, column: Column, text: str) -> ValueError:
    return ValueError(
        f"Column {column.name} of {table.name} is filled by {text}, and what that does to the order of rows is not "
        f'known here. Say what it holds: values={{"{column.name}": "{_likely(column)}"}}'
    )


# ----------------------------------------------------------------------------------- the laws of generating expressions


def _tree(text: str) -> exp.Expr:
    """The tree of an expression without the parentheses around it."""
    return _open(parse_expression(text))


def _open(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _law(node: exp.Expr, law_of: LawOf) -> Key | None:
    """The law of an expression over columns; None for an expression whose order is not known here."""
    node = _open(node)
    if isinstance(node, exp.Literal | exp.Boolean | exp.Null):
        return composite.Const(node.sql())
    if isinstance(node, exp.Column):
        return law_of(node.name)
    if isinstance(node, exp.Lower | exp.Upper) or _name(node) in ("LOWER", "UPPER"):
        return _law(_arguments(node)[0], law_of)
    period = _period(node)
    if period is not None:
        return _rounded(_arguments(node)[0], period, law_of)
    # a random id stays one, however it is written and whatever follows; a counter does not
    if isinstance(node, exp.DPipe | exp.Cast | exp.Replace):
        inner = _law(node.this, law_of)
        return inner if isinstance(inner, keys.Uuid4) else None
    if _name(node) == "BIT_REVERSE":
        inner = _law(_arguments(node)[0], law_of)
        if isinstance(inner, keys.BitReversed):  # reversed twice, it counts up again
            return keys.Sequence(inner.start)
        return keys.BitReversed(inner.start) if isinstance(inner, keys.Sequence) else None
    if _name(node) == "FARM_FINGERPRINT" or _is_digest(node):
        return _hash_source(node, law_of) or keys.Uuid4()
    if isinstance(node, exp.Substring) and _is_digest(node.this):
        return _digits(node, law_of)
    return _shard(node, law_of)


def _name(node: exp.Expr) -> str:
    """The name of a function, in capitals; "" for other nodes."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).upper()
    return {"FarmFingerprint": "FARM_FINGERPRINT"}.get(type(node).__name__, "")


def _arguments(node: exp.Expr) -> list[exp.Expr]:
    return list(node.expressions) or ([node.this] if isinstance(node.this, exp.Expr) else [])


PERIODS_S = {"MINUTE": 60, "HOUR": 3_600, "DAY": 86_400, "SECOND": 1}


def _period(node: exp.Expr) -> int | None:
    """The seconds that an expression rounds a time down to: DATE(t), CAST(t AS DATE), TIMESTAMP_TRUNC(t, HOUR)."""
    if isinstance(node, exp.Date) or (isinstance(node, exp.Cast) and node.to.sql().upper() == "DATE"):
        return keys.DAY_S
    return PERIODS_S.get(str(node.args.get("unit")).upper()) if isinstance(node, exp.TimestampTrunc) else None


def _rounded(node: exp.Expr, period_s: int, law_of: LawOf) -> Key | None:
    inner = _law(node, law_of)
    return composite.Every(period_s) if isinstance(inner, keys.Now) else None


def _hash_source(node: exp.Expr, law_of: LawOf) -> Values | composite.Const | None:
    """The column that a hash reads, if its values are few enough to matter; None where every row has its own hash."""
    laws = [law_of(column.name) for column in node.find_all(exp.Column)]
    laws = [law for law in laws if not isinstance(law, composite.Const)]
    if not laws:
        return composite.Const(node.sql())
    return laws[0] if len(laws) == 1 and isinstance(laws[0], Values) else None


def _is_digest(node: exp.Expr | None) -> bool:
    """MD5, SHA1, SHA256 or SHA512, as bytes or written in hexadecimal digits or base 64."""
    if isinstance(node, exp.LowerHex | exp.ToBase64):
        return _is_digest(node.this)
    return isinstance(node, exp.MD5 | exp.MD5Digest | exp.SHA1Digest | exp.SHA2Digest)  # exp.MD5 is TO_HEX(MD5(…))


def _digits(node: exp.Expr, law_of: LawOf) -> Key | None:
    """SUBSTR(TO_HEX(digest), from, n): 16^n texts, each as often as the others."""
    length, hexadecimal = node.args.get("length"), isinstance(node.this, exp.MD5 | exp.LowerHex)
    n = _integer(length) if length and hexadecimal else None
    source = _hash_source(node, law_of)
    if n is None or isinstance(source, Values):
        return None
    return source or (choices.Ids(16**n) if n <= MOST_DIGITS else keys.Uuid4())


MOST_DIGITS = 4
"""So many hexadecimal digits are a column with a number of values; more are as good as the whole digest."""
BYTE = range(256)


def is_digest_byte(node: exp.Expr) -> bool:
    """One byte of a digest as a number: TO_CODE_POINTS(MD5(x))[OFFSET(0)]."""
    return isinstance(node, exp.Bracket) and isinstance(node.this, exp.ToCodePoints) and _is_digest(node.this.this)


def _shard(node: exp.Expr, law_of: LawOf) -> Key | None:
    """MOD of a hash, in the forms that people write, with the sign that each of them leaves (facts.md 2.4)."""
    found = remainder(node)
    if found is None:
        return None
    hashed, n, signed = found
    if not 1 <= n <= MOST_SHARDS:
        raise ValueError(
            f"The shard count is {n}; 1 to {MOST_SHARDS:,} are allowed, and about the number of nodes is advised."
        )
    if n == 1:
        return composite.Const("0")
    hashed = _open(hashed.this) if isinstance(hashed, exp.Abs) else hashed
    byte = is_digest_byte(hashed)
    if not byte and not any(_name(part) == "FARM_FINGERPRINT" for part in hashed.walk()):
        return _left_of_number(hashed, n, signed, law_of)
    source = _hash_source(hashed, law_of)
    if isinstance(source, composite.Const):
        return source
    if byte and len(BYTE) % n:
        return choices.Remainders(n=n, of=source, numbers=BYTE)
    return choices.Shard(n=n, signed=signed, of=source)


def _left_of_number(node: exp.Expr, n: int, signed: bool, law_of: LawOf) -> Key | None:
    """MOD of a number itself: a counter goes round the shards, a random number hits any.

    A bit-reversed number ends in the first bits of its counter, and these are zeros in the first 2^51 numbers. So it is
    a multiple of every power of two that divides a shard count, and so are its remainders, which are even among those.
    """
    reversed_here = _name(node) == "BIT_REVERSE" and _keeps_sign(node)
    law = _law(node, law_of) if isinstance(node, exp.Column) or reversed_here else None
    if isinstance(law, keys.BitReversed):
        power = n & -n
        if power == n:
            return composite.Const("0")
        return choices.Shard(n=n) if power == 1 else choices.Remainders(n=n, numbers=range(0, n, power))
    if isinstance(law, keys.Uuid4):
        return choices.Shard(n=n, signed=signed)
    return choices.Shard(n=n) if isinstance(law, keys.Sequence) else None


def _keeps_sign(node: exp.Expr) -> bool:
    """BIT_REVERSE(x, TRUE): a positive number stays one (facts.md 2.3)."""
    arguments = _arguments(node)
    return len(arguments) == 2 and isinstance(arguments[1], exp.Boolean) and bool(arguments[1].this)


def remainder(node: exp.Expr) -> tuple[exp.Expr, int, bool] | None:
    """What an expression divides, by what, and whether the remainder keeps a sign; None where it is no remainder.

    Reads MOD(x, n), ABS(MOD(x, n)), MOD(ABS(x), n), MOD(MOD(x, n) + n, n) and x & (n - 1). A byte of a digest, which
    is never negative, is a remainder of the digest by 256.
    """
    node = _open(node)
    if is_digest_byte(node):
        return node, len(BYTE), False
    if isinstance(node, exp.BitwiseAnd):
        for one, other in ((node.this, node.expression), (node.expression, node.this)):
            mask = _integer(other)
            if mask is not None and mask & (mask + 1) == 0:
                return _open(one), mask + 1, False
    if isinstance(node, exp.Abs):
        inner = remainder(node.this)
        return inner and (inner[0], inner[1], False)
    if not isinstance(node, exp.Mod):
        return None
    n, inside = _integer(node.expression), _open(node.this)
    if n is None:
        return None
    if isinstance(inside, exp.Add):  # MOD(MOD(h, n) + n, n)
        for one, other in ((inside.this, inside.expression), (inside.expression, inside.this)):
            again = remainder(one)
            if again and again[1] == n and _integer(other) == n:
                return again[0], n, False
        return None
    return inside, n, not (isinstance(inside, exp.Abs) or is_digest_byte(inside))


ARITHMETIC: dict[type[exp.Expr], Callable[[int, int], int]] = {
    exp.Add: operator.add,
    exp.Sub: operator.sub,
    exp.Mul: operator.mul,
    exp.BitwiseLeftShift: operator.lshift,
}


def _integer(node: exp.Expr) -> int | None:
    """The value of a whole number that is written out: 16, 0xF, 16 - 1, (1 << 4) - 1; None for anything else."""
    node = _open(node)
    if isinstance(node, exp.HexString):
        return int(node.this, 16)
    if isinstance(node, exp.Literal):
        return int(node.this) if not node.is_string and str(node.this).isdigit() else None
    if type(node) not in ARITHMETIC:
        return None
    one, other = _integer(node.this), _integer(node.expression)
    if one is None or other is None or (isinstance(node, exp.BitwiseLeftShift) and not 0 <= other < 64):
        return None
    return ARITHMETIC[type(node)](one, other)
