"""A verdict as the learner sees it: in words, with an icon and a colour, as HTML and as plain text.

The words carry everything; icon and colour repeat it. The HTML is one block with role="status", so that a screen
reader says it when it appears. The plain text is the same in other clothes: terminals, tests and logs read that one.
Both depend on the verdict alone and never on earlier attempts, so the same answer prints the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from spanlab.course.challenge import FAILED, NOT_ATTEMPTED, PARTIAL, PASSED, RECORDED, UNREADABLE, Line, Verdict

LOOK = {
    PASSED: ("✔", "passed", "#1b6e3c"),
    PARTIAL: ("◐", "partly right", "#7a4b00"),
    FAILED: ("✘", "not yet", "#a3261d"),
    NOT_ATTEMPTED: ("○", "not attempted", "#4a4f57"),
    UNREADABLE: ("?", "cannot be read", "#a3261d"),
    RECORDED: ("✎", "recorded", "#1d4f91"),
}
_CARD = (
    "border-left:4px solid {colour};background:#fff;color:#1f2328;padding:.6em 1em;margin:.3em 0;"
    "max-width:52em;font-family:system-ui,sans-serif;line-height:1.45"
)


def number(value: float) -> str:
    """A number of points without needless zeros: 4, 1.2, 0.25."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Card:
    """Something to tell a learner: a headline, paragraphs, and criteria lines where there are any. Shows itself."""

    state: str
    headline: str
    paragraphs: tuple[tuple[str, str], ...] = ()
    lines: tuple[Line, ...] = ()

    def __repr__(self) -> str:
        icon, _, _ = LOOK[self.state]
        text = [f"{icon} {self.headline}"]
        text += [f"  {_mark(line)[1]:<8} {line.weight:>3} %  {line.wanted}: {line.seen}" for line in self.lines]
        for label, body in self.paragraphs:
            first, *rest = body.splitlines() or [""]
            text.append(f"{label}: {first}" if label else first)
            text += [f"  {line}" for line in rest]
        return "\n".join(text)

    def html(self) -> str:
        """The card as one HTML block; everything that a learner wrote is escaped."""
        icon, _, colour = LOOK[self.state]
        parts = [f'<div role="status" style="{_CARD.format(colour=colour)}">']
        parts.append(
            f'<p style="margin:0;font-weight:600;color:{colour}"><span aria-hidden="true">{icon}</span> '
            f"{escape(self.headline)}</p>"
        )
        if self.lines:
            parts.append(
                '<ul style="margin:.4em 0;padding-left:0;list-style:none">'
                + "".join(map(_html_line, self.lines))
                + "</ul>"
            )
        for label, body in self.paragraphs:
            parts.append(_html_paragraph(label, body))
        return "".join(parts) + "</div>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return {"text/html": self.html(), "text/plain": repr(self)}


def _mark(line: Line) -> tuple[str, str, str]:
    if line.share >= 1 - 1e-9:
        return "✔", "met", "#1b6e3c"
    return ("◐", "in part", "#7a4b00") if line.share > 1e-9 else ("✘", "not met", "#a3261d")


def _html_line(line: Line) -> str:
    icon, word, colour = _mark(line)
    return (
        f'<li><span style="color:{colour}"><span aria-hidden="true">{icon}</span> {word}</span> '
        f"({line.weight} %) {escape(line.wanted)}: {escape(line.seen)}</li>"
    )


def _html_paragraph(label: str, body: str) -> str:
    head = f"<b>{escape(label)}:</b> " if label else ""
    if "\n" not in body:
        return f'<p style="margin:.3em 0 0">{head}{escape(body)}</p>'
    style = "margin:.2em 0 0;white-space:pre-wrap;background:#f6f8fa;color:#1f2328;padding:.4em .6em;overflow-x:auto"
    return f'<p style="margin:.3em 0 0">{head}</p><pre style="{style}" tabindex="0">{escape(body)}</pre>'


def card(verdict: Verdict) -> Card:
    """The card that `sl.check` shows for a verdict."""
    challenge = verdict.challenge
    word = LOOK[verdict.state][1]
    points = f", {number(verdict.points)} of {challenge.points} points"
    if challenge.is_prediction:
        points = ""
    elif verdict.state == NOT_ATTEMPTED:
        points = f", {challenge.points} point{'s' * (challenge.points != 1)} to win"
    paragraphs = []
    if verdict.message:
        paragraphs.append(("" if verdict.state in (NOT_ATTEMPTED, RECORDED) else "What happened", verdict.message))
    paragraphs += [("Look again" if verdict.state != PASSED else "A remark", text) for text in verdict.diagnoses]
    if verdict.state == PASSED:
        paragraphs.append(("Worth knowing", challenge.note))
    elif verdict.state in (PARTIAL, FAILED):
        paragraphs.append(("Next", f'change the answer and run the cell again; sl.hint("{challenge.id}") helps.'))
    return Card(verdict.state, f"{challenge.id} {challenge.title}: {word}{points}", tuple(paragraphs), verdict.lines)


def says(state: str, headline: str, *paragraphs: tuple[str, str]) -> Card:
    """A card that is not about a verdict: a hint, a wrong id."""
    return Card(state, headline, paragraphs)
