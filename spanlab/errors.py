"""What can go wrong, said so that a learner can act on it.

Every message answers four questions, as far as they apply: what was read, where it stands, what Spanner does with it,
and what to write instead. Nothing else is raised for bad input; any other exception is a fault of spanlab.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


class SpanlabError(Exception):
    """The root of all errors that spanlab raises on purpose."""


class SqlError(SpanlabError):
    """An error at a place in a SQL text.

    `line` and `column` count from 1; both are None where no place is known. `text` is the statement that was read.
    `message` says what is wrong and what Spanner does with it, `hint` what to write instead ("" where nothing helps).
    `str(error)` is all of it, with the offending place marked under its line. `rule` is the advisor's code for the rule
    that is broken ("SPL201", see `spanlab.advisor`), or "".
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        text: str = "",
        line: int | None = None,
        column: int | None = None,
        width: int = 1,
        rule: str = "",
    ) -> None:
        self.message, self.hint, self.text, self.rule = message, hint, text, rule
        self.line, self.column, self.width = line, column, max(1, width)
        super().__init__(message)

    @property
    def marked(self) -> str:
        """The offending piece of the text, "" where no place is known."""
        lines = self.text.splitlines()
        if self.line is None or self.column is None or not 0 < self.line <= len(lines):
            return ""
        return lines[self.line - 1][self.column - 1 : self.column - 1 + self.width]

    def __str__(self) -> str:
        parts = [self.message]
        if self.line is not None and self.column is not None:
            parts[0] = f"line {self.line}, column {self.column}: {self.message}"
            lines = self.text.splitlines()
            if 0 < self.line <= len(lines):
                parts += ["  " + lines[self.line - 1], "  " + " " * (self.column - 1) + "^" * self.width]
        if self.hint:
            parts.append("Try: " + self.hint)
        return "\n".join(parts)


class SchemaError(SqlError):
    """Spanner would refuse this DDL: it cannot be read, or it breaks a rule of schemas.

    Spanner keeps the statements before the bad one: `applied` is how many these are, `schema` the `spanlab.Schema` that
    they made.
    """

    schema: Any = None
    applied: int = 0


class QueryError(SqlError):
    """Spanner would refuse this query: unknown names, wrong types, a forced index that cannot serve it."""


class UnsupportedError(SqlError):
    """Valid Spanner SQL that lies outside the course (change streams, search indexes, graphs …), named in the
    message."""


class ConstraintError(SpanlabError):
    """Spanner would refuse this commit. Nothing of it was applied.

    `code` is the gRPC status name ("ALREADY_EXISTS", "NOT_FOUND", "FAILED_PRECONDITION", "OUT_OF_RANGE",
    "INVALID_ARGUMENT"), `table` and `key` say where, `rule` names the rule in a few words, `hint` what to do.
    """

    def __init__(
        self, message: str, *, code: str, table: str = "", key: tuple[object, ...] = (), rule: str = "", hint: str = ""
    ) -> None:
        self.message, self.code, self.table, self.key, self.rule, self.hint = message, code, table, key, rule, hint
        super().__init__(message)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" + (f"\nTry: {self.hint}" if self.hint else "")


def suggest(name: str, known: Iterable[str]) -> str:
    """ " Did you mean X?" for the known name nearest to `name`, or "" when none is near (case does not count)."""
    by_folded = {k.casefold(): k for k in known}
    near = get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return f" Did you mean {by_folded[near[0]]}?" if near else ""
