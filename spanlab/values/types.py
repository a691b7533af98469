"""The types of GoogleSQL, and their names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from spanlab.errors import suggest

STRING_MAX_CHARACTERS = 2_621_440
CELL_MAX_BYTES = 10_485_760

SCALAR_TYPES = (
    "BOOL", "INT64", "FLOAT32", "FLOAT64", "NUMERIC", "STRING", "BYTES", "DATE", "TIMESTAMP", "JSON", "UUID",
    "INTERVAL", "TOKENLIST",
)  # fmt: skip
_OTHER_NAMES = {  # what people bring from other databases
    "VARCHAR": "STRING(n)", "CHAR": "STRING(n)", "TEXT": "STRING(MAX)", "INT": "INT64", "INTEGER": "INT64",
    "BIGINT": "INT64", "SMALLINT": "INT64", "DOUBLE": "FLOAT64", "FLOAT": "FLOAT64", "REAL": "FLOAT32",
    "DECIMAL": "NUMERIC", "BOOLEAN": "BOOL", "DATETIME": "TIMESTAMP", "TIMESTAMPTZ": "TIMESTAMP", "BLOB": "BYTES(MAX)",
    "BYTEA": "BYTES(MAX)", "JSONB": "JSON",
}  # fmt: skip


@dataclass(frozen=True)
class Type:
    """A column type: its name, the length of STRING and BYTES (None means MAX), the element type of an ARRAY.

    `name` is one of BOOL INT64 FLOAT32 FLOAT64 NUMERIC STRING BYTES DATE TIMESTAMP JSON UUID INTERVAL ARRAY TOKENLIST,
    or the dotted name of a PROTO or ENUM (facts.md 2.1). Queries also make STRUCTs, whose `fields` are (name, type)
    pairs; no column is of that type.
    """

    name: str
    length: int | None = None
    element: Type | None = None
    fields: tuple[tuple[str, Type], ...] = ()

    def __str__(self) -> str:
        if self.element is not None:
            return f"{self.name}<{self.element}>"
        if self.fields:
            return f"{self.name}<{', '.join(f'{name} {type_}'.strip() for name, type_ in self.fields)}>"
        if self.name in ("STRING", "BYTES"):
            return f"{self.name}({'MAX' if self.length is None else self.length})"
        return self.name

    @classmethod
    def parse(cls, text: str) -> Type:
        """The type that `text` names, as DDL writes it: "INT64", "STRING(MAX)", "ARRAY<STRING(36)>".

        A STRING or BYTES without a length means MAX. Raises ValueError for anything that is no type of Spanner.
        """
        if not isinstance(text, str):
            raise ValueError(f"type: {text!r} is no text; write a type such as 'INT64' or 'STRING(MAX)'")
        return _parse_type(text.strip(), text)


def _parse_type(text: str, whole: str) -> Type:
    nested = re.fullmatch(r"(ARRAY|STRUCT)\s*<(.*)>", text, re.IGNORECASE | re.DOTALL)
    if nested and nested[1].upper() == "STRUCT":
        return Type("STRUCT", fields=tuple(_parse_field(part, whole) for part in _split_fields(nested[2])))
    if nested:
        element = _parse_type(nested[2].strip(), whole)
        if element.name == "ARRAY":
            raise ValueError(f"type: {whole!r}: Spanner has no ARRAY of ARRAYs; put a STRUCT between them")
        return Type("ARRAY", element=element)
    simple = re.fullmatch(r"(\w+)\s*(?:\(\s*(\w+)\s*\))?", text)
    if simple is None:
        name = text.replace("`", "")
        if re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", name):
            return Type(name)
        raise ValueError(f"type: {whole!r} is no type; write one such as INT64, STRING(36), STRING(MAX), ARRAY<DATE>")
    name, length = simple[1].upper(), simple[2]
    if name in ("STRING", "BYTES"):
        return Type(name, _parse_length(name, length, whole))
    if name in SCALAR_TYPES and length is None:
        return Type(name)
    if name in SCALAR_TYPES:
        raise ValueError(f"type: {whole!r}: {name} takes no length; only STRING and BYTES do")
    other = f" Spanner's own is {_OTHER_NAMES[name]}." if name in _OTHER_NAMES else suggest(name, SCALAR_TYPES)
    raise ValueError(f"type: {whole!r} is no type of Spanner.{other}")


def _parse_length(name: str, length: str | None, whole: str) -> int | None:
    if length is None or length.upper() == "MAX":
        return None
    most = STRING_MAX_CHARACTERS if name == "STRING" else CELL_MAX_BYTES
    if not length.isdecimal() or not 1 <= int(length) <= most:
        raise ValueError(f"type: {whole!r}: the length of a {name} is 1 to {most:,}, or MAX")
    return int(length)


def _split_fields(text: str) -> list[str]:
    """The parts between the commas that stand outside any < > and ( )."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _parse_field(text: str, whole: str) -> tuple[str, Type]:
    name, _, rest = text.partition(" ")
    if not rest.strip():
        return "", _parse_type(text, whole)
    return name.replace("`", ""), _parse_type(rest.strip(), whole)
