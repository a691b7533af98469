"""How a rule says no.

A rule looks at objects, not at texts: it knows which name is wrong, not where that name stands. It raises a
`Refusal`; the statement that was being carried out turns it into a `SchemaError` that points into the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Refusal(Exception):
    """Spanner would refuse the statement.

    `message` says what is wrong, `hint` what to write instead. `name` is the name to point at and `role` what it is
    there for, in the words of `spanlab.sql.statements.Place`. `rule` is the advisor's code for the broken rule, or "".
    """

    def __init__(self, message: str, name: str = "", role: str = "", *, hint: str = "", rule: str = "") -> None:
        self.message, self.name, self.role, self.hint, self.rule = message, name, role, hint, rule
        super().__init__(message)


@contextmanager
def breaks(rule: str) -> Iterator[None]:
    """What is refused inside breaks the rule that the advisor knows by this code, unless it names another itself."""
    try:
        yield
    except Refusal as refusal:
        refusal.rule = refusal.rule or rule
        raise
