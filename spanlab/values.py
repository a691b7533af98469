"""GoogleSQL types, the order of their values, and their sizes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Type:
    """A column type: its name, the length of STRING and BYTES (None means MAX), the element type of an ARRAY.

    `name` is one of BOOL INT64 FLOAT32 FLOAT64 NUMERIC STRING BYTES DATE TIMESTAMP JSON UUID INTERVAL ARRAY TOKENLIST,
    or the dotted name of a PROTO or ENUM (facts.md 2.1).
    """

    name: str
    length: int | None = None
    element: Type | None = None

    def __str__(self) -> str:
        if self.element is not None:
            return f"{self.name}<{self.element}>"
        if self.name in ("STRING", "BYTES"):
            return f"{self.name}({'MAX' if self.length is None else self.length})"
        return self.name
