"""The list of rules. A rule is a function that looks at a case and yields what it found.

Rules are grouped by what they look at: `keys` (SPL1xx), `families` (SPL2xx), `indexes` (SPL3xx), `constraints` (SPL4xx)
and `key_types` (SPL5xx); rules about queries (SPL6xx) come with the query plans. Each rule knows when to keep silent:
a report that a careful reviewer would wave away teaches people to skip reports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from spanlab.advisor.case import Case
from spanlab.advisor.findings import Finding

Found = Iterator[tuple[str, str, str, str]]
"""(severity, subject, message, fix) of each finding."""


@dataclass(frozen=True)
class Rule:
    """A rule: its code, its readable name, what it rests on, and the function that looks."""

    code: str
    name: str
    source: str
    look: Callable[[Case], Found]

    def findings(self, case: Case) -> list[Finding]:
        """What this rule has to say about the case."""
        return [Finding(self.code, self.name, *found, source=self.source) for found in self.look(case)]


RULES: dict[str, Rule] = {}


def rule(code: str, name: str, source: str) -> Callable[[Callable[[Case], Found]], Callable[[Case], Found]]:
    """Enters the decorated function into `RULES`."""

    def enter(look: Callable[[Case], Found]) -> Callable[[Case], Found]:
        if code in RULES:
            raise RuntimeError(f"two rules are called {code}")
        RULES[code] = Rule(code, name, source, look)
        return look

    return enter
