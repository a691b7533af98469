"""The table of functions: which types each takes, what it gives, and how it is computed.

A function is registered under its signature, written as in Spanner's reference: "MOD(INT64, INT64) -> INT64"; brackets
mark arguments that may be left out, "…" one that may be repeated. Its Python form takes values that are not NULL and
gives a value or None; a NULL argument gives NULL before it is called. It raises `Fault` where Spanner would fail. A
second form may take numpy arrays instead; it gives None where it is not sure of its result (an overflow, a division by
zero): then the first form goes through the rows, and it knows what to say about which.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from spanlab.values import Type

if TYPE_CHECKING:
    from collections.abc import Callable

    Row = Callable[..., Any]
    R = TypeVar("R", bound=Row)


class Fault(ValueError):
    """A value that a function cannot be computed for, in the words of Spanner: "division by zero: 1 / 0"."""


@dataclass(frozen=True)
class Overload:
    """One signature of a function, and its two forms. An ARRAY without an element type stands for any ARRAY."""

    name: str
    arguments: tuple[Type, ...]
    required: int
    repeated: bool
    result: Type
    row: Row
    array: Row | None = None

    def argument(self, position: int) -> Type | None:
        """The type of the argument at that position, None where there is no such argument."""
        if position < len(self.arguments):
            return self.arguments[position]
        return self.arguments[-1] if self.repeated else None

    def __str__(self) -> str:
        names = [str(type_).replace("(MAX)", "") for type_ in self.arguments]
        shown = [name if i < self.required else f"[{name}]" for i, name in enumerate(names)]
        return f"{self.name}({', '.join(shown)}{', …' if self.repeated else ''})"


FUNCTIONS: dict[str, list[Overload]] = {}


def function(*signatures: str, array: Row | None = None) -> Callable[[R], R]:
    """Register the decorated function under these signatures."""

    def register(row: R) -> R:
        for signature in signatures:
            overload = _read_signature(signature, row, array)
            FUNCTIONS.setdefault(overload.name, []).append(overload)
        return row

    return register


def _read_signature(text: str, row: Row, array: Row | None) -> Overload:
    match = re.fullmatch(r"(.+?)\((.*)\) -> (\w+(?:<\w+>)?)", text)
    if match is None:
        raise ValueError(f"signature: {text!r} is not of the form 'NAME(TYPE, …) -> TYPE'")
    words = [word.strip() for word in match[2].split(",") if word.strip()]
    repeated = bool(words) and words[-1] == "…"
    words = words[:-1] if repeated else words
    required = sum(not word.startswith("[") for word in words)
    arguments = tuple(_read_type(word.strip("[]")) for word in words)
    return Overload(match[1], arguments, required, repeated, _read_type(match[3]), row, array)


def _read_type(text: str) -> Type:
    return Type("ARRAY") if text == "ARRAY" else Type.parse(text)
