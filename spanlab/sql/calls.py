"""Function calls as they were written: the parser turns many into nodes of its own, and this turns them back.

sqlglot keeps a call to a function that many databases have as one node for all of them (UnixSeconds, Substring …), with
arguments under names. `read_call` gives GoogleSQL's name for it and the arguments in GoogleSQL's order.
"""

from __future__ import annotations

from sqlglot import exp

_NAMED: dict[type[exp.Expr], str] = {
    exp.Abs: "ABS this", exp.Sign: "SIGN this", exp.Mod: "MOD this expression", exp.IntDiv: "DIV this expression",
    exp.Round: "ROUND this decimals", exp.Trunc: "TRUNC this decimals", exp.Floor: "FLOOR this decimals",
    exp.Ceil: "CEIL this decimals", exp.Sqrt: "SQRT this", exp.Exp: "EXP this", exp.Ln: "LN this",
    exp.Log: "LOG expression this", exp.Pow: "POW this expression", exp.Sin: "SIN this", exp.Cos: "COS this",
    exp.Tan: "TAN this", exp.Asin: "ASIN this", exp.Acos: "ACOS this", exp.Atan: "ATAN this",
    exp.Atan2: "ATAN2 this expression", exp.IsNan: "IS_NAN this", exp.IsInf: "IS_INF this",
    exp.SafeAdd: "SAFE_ADD this expression", exp.SafeSubtract: "SAFE_SUBTRACT this expression",
    exp.SafeMultiply: "SAFE_MULTIPLY this expression", exp.SafeDivide: "SAFE_DIVIDE this expression",
    exp.SafeNegate: "SAFE_NEGATE this", exp.BitwiseCount: "BIT_COUNT this",
    exp.FarmFingerprint: "FARM_FINGERPRINT expressions", exp.MD5Digest: "MD5 this", exp.SHA1Digest: "SHA1 this",
    exp.Concat: "CONCAT expressions", exp.Lower: "LOWER this", exp.Upper: "UPPER this", exp.Length: "LENGTH this",
    exp.ByteLength: "BYTE_LENGTH this", exp.Substring: "SUBSTR this start length",
    exp.StartsWith: "STARTS_WITH this expression", exp.EndsWith: "ENDS_WITH this expression",
    exp.StrPosition: "STRPOS this substr", exp.Replace: "REPLACE this expression replacement",
    exp.Repeat: "REPEAT this times", exp.Reverse: "REVERSE this", exp.Split: "SPLIT this expression",
    exp.RegexpLike: "REGEXP_CONTAINS this expression", exp.RegexpExtract: "REGEXP_EXTRACT this expression",
    exp.RegexpReplace: "REGEXP_REPLACE this expression replacement", exp.LowerHex: "TO_HEX this",
    exp.Unhex: "FROM_HEX this", exp.ToBase64: "TO_BASE64 this", exp.FromBase64: "FROM_BASE64 this",
    exp.ArrayToString: "ARRAY_TO_STRING this expression null", exp.ArraySize: "ARRAY_LENGTH this",
    exp.ArrayConcat: "ARRAY_CONCAT this expressions", exp.ArrayReverse: "ARRAY_REVERSE this",
    exp.GenerateSeries: "GENERATE_ARRAY start end step", exp.UnixSeconds: "UNIX_SECONDS this",
    exp.UnixMillis: "UNIX_MILLIS this", exp.UnixMicros: "UNIX_MICROS this", exp.UnixDate: "UNIX_DATE this",
    exp.DateFromUnixDate: "DATE_FROM_UNIX_DATE this", exp.DateFromParts: "DATE year month day",
    exp.Date: "DATE this zone", exp.Timestamp: "TIMESTAMP this zone", exp.String: "STRING this zone",
    exp.ParseJSON: "PARSE_JSON this", exp.JSONFormat: "TO_JSON_STRING this", exp.Format: "FORMAT this expressions",
    exp.Greatest: "GREATEST this expressions", exp.Least: "LEAST this expressions",
    exp.Nullif: "NULLIF this expression", exp.Coalesce: "COALESCE this expressions",
    exp.CurrentTimestamp: "CURRENT_TIMESTAMP", exp.CurrentDate: "CURRENT_DATE this", exp.Uuid: "GENERATE_UUID",
    exp.Add: "+ this expression", exp.Sub: "- this expression", exp.Mul: "* this expression",
    exp.Div: "/ this expression", exp.Neg: "- this", exp.DPipe: "|| this expression",
    exp.BitwiseAnd: "& this expression", exp.BitwiseOr: "| this expression", exp.BitwiseXor: "^ this expression",
    exp.BitwiseNot: "~ this", exp.BitwiseLeftShift: "<< this expression",
    exp.BitwiseRightShift: ">> this expression",
    exp.TimestampAdd: "TIMESTAMP_ADD this expression", exp.TimestampSub: "TIMESTAMP_SUB this expression",
    exp.TimestampDiff: "TIMESTAMP_DIFF this expression", exp.TimestampTrunc: "TIMESTAMP_TRUNC this zone",
    exp.DateAdd: "DATE_ADD this expression", exp.DateSub: "DATE_SUB this expression",
    exp.DateDiff: "DATE_DIFF this expression", exp.DateTrunc: "DATE_TRUNC this zone",
}  # fmt: skip
_ALIASES = {
    "CHAR_LENGTH": "LENGTH", "CHARACTER_LENGTH": "LENGTH", "OCTET_LENGTH": "BYTE_LENGTH", "CEILING": "CEIL",
    "POWER": "POW", "LCASE": "LOWER", "UCASE": "UPPER", "SUBSTRING": "SUBSTR", "ADDDATE": "DATE_ADD",
    "SUBDATE": "DATE_SUB",
}  # fmt: skip
_GOOGLESQL = {"IFNULL", *_ALIASES, *(named.split()[0] for named in _NAMED.values())}
FOREIGN = {
    name: named.split()[0]
    for node, named in _NAMED.items()
    if issubclass(node, exp.Func)
    for name in node.sql_names()
    if name not in _GOOGLESQL
}
"""Names that other databases have for functions of GoogleSQL (LEN, NVL, GEN_RANDOM_UUID), with GoogleSQL's own."""


def read_call(node: exp.Expr) -> tuple[str, list[exp.Expr]] | None:
    """GoogleSQL's name of a call or operator in capitals, and its arguments in order; None for every other node."""
    special = _read_special(node)
    if special is not None:
        return special
    if isinstance(node, exp.Anonymous):
        name = str(node.this).upper()
        return _ALIASES.get(name, name), list(node.expressions)
    named = _NAMED.get(type(node))
    if named is None:
        return None
    name, *keys = named.split()
    arguments: list[exp.Expr] = []
    for key in keys:
        argument = node.args.get(key)
        arguments += argument if isinstance(argument, list) else [argument] if argument is not None else []
    return name, arguments


def _read_special(node: exp.Expr) -> tuple[str, list[exp.Expr]] | None:
    """The nodes whose GoogleSQL name depends on their arguments."""
    if isinstance(node, exp.Trim):
        name = {"LEADING": "LTRIM", "TRAILING": "RTRIM"}.get(str(node.args.get("position")), "TRIM")
        return name, [part for part in (node.this, node.expression) if part is not None]
    if isinstance(node, exp.Pad):
        name = "LPAD" if node.args.get("is_left") else "RPAD"
        return name, [node.this, node.expression, *filter(None, [node.args.get("fill_pattern")])]
    if isinstance(node, exp.SHA2Digest):
        return f"SHA{node.text('length') or 256}", [node.this]
    if isinstance(node, exp.UnixToTime):
        return {"3": "TIMESTAMP_MILLIS", "6": "TIMESTAMP_MICROS"}.get(node.text("scale"), "TIMESTAMP_SECONDS"), [
            node.this
        ]
    if isinstance(node, exp.MD5):  # what the parser makes of TO_HEX(MD5(…))
        return "TO_HEX", [exp.MD5Digest(this=node.this)]
    if isinstance(node, exp.Log) and node.expression is None:
        return "LN", [node.this]
    if isinstance(node, exp.JSONFormat) and node.args.get("to_json"):
        return "TO_JSON", [node.this]
    return None


def part_of(node: exp.Expr, key: str = "unit") -> str:
    """The date part of a call, in capitals: DAY, HOUR, WEEK(MONDAY); DAY where none is written."""
    unit = node.args.get(key)
    if isinstance(unit, exp.WeekStart):
        return f"WEEK({unit.name.upper()})"
    return unit.name.upper() if unit is not None else "DAY"
