"""What the advisor says: one finding a problem, with the rule, the place, the reason and the mend.

A severity tells what happens if nothing is done: "high" means that Spanner refuses the statement, "medium" that it
works
and will hurt, "low" that it is worth knowing.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SEVERITIES = ("high", "medium", "low")
WORDS = {"high": "refused", "medium": "will hurt", "low": "worth knowing"}


@dataclass(frozen=True)
class Finding:
    """One remark about a schema.

    `rule` is a stable code ("SPL101"), `name` its readable name; `subject` is what it is about ("table Orders",
    "index OrdersByDate"); `message` says what happens, `fix` what to write instead (DDL where there is one, else
    advice,
    else ""); `source` is the fact or document behind it; `line` is where the subject stands in the text that was
    read, None for a schema that did not come from one text.
    """

    rule: str
    name: str
    severity: str
    subject: str
    message: str
    fix: str = ""
    source: str = ""
    line: int | None = None

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line else ""
        text = f"{place}{self.subject}: {self.message} [{self.rule} {self.name}; {WORDS[self.severity]}]"
        return text + ("\n    Try: " + self.fix.replace("\n", "\n         ") if self.fix else "")


class Findings(Sequence[Finding]):
    """The findings about one schema, the gravest first; prints as a report, in a notebook as a table."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        order = {severity: i for i, severity in enumerate(SEVERITIES)}
        self._findings = tuple(sorted(findings, key=lambda f: (order[f.severity], f.line or 0, f.rule, f.subject)))

    def __len__(self) -> int:
        return len(self._findings)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self._findings[index]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._findings)

    def rules(self) -> set[str]:
        """The codes that occur, for tests such as `"SPL101" in findings.rules()`."""
        return {f.rule for f in self}

    def __repr__(self) -> str:
        return "\n".join(str(f) for f in self) or "Nothing to report."

    def _repr_html_(self) -> str:
        if not self._findings:
            return "<p>Nothing to report.</p>"
        head = "".join(
            f'<th scope="col" style="text-align:left">{h}</th>' for h in ("", "about", "what happens", "try")
        )
        rows = "".join(_row(f) for f in self)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _row(f: Finding) -> str:
    cells = (f"{f.rule} · {WORDS[f.severity]}", f.subject, f.message)
    text = "".join(f'<td style="text-align:left">{html.escape(c)}</td>' for c in cells)
    fix = f"<code style='white-space:pre-wrap'>{html.escape(f.fix)}</code>" if f.fix else ""
    return f'<tr>{text}<td style="text-align:left">{fix}</td></tr>'
