"""What a learner calls: check an answer, ask for a hint, see the solution, start again, see how far one is.

None of these raises, whatever is passed: a wrong call is answered by one sentence that says what to write. They
return cards that show themselves, so each is the last line of its cell.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import wraps
from html import escape
from typing import Any, ParamSpec

from spanlab.course.challenge import (
    FAILED,
    NOT_ATTEMPTED,
    OWN_FAULT,
    PARTIAL,
    PASSED,
    RECORDED,
    UNREADABLE,
    Challenge,
    judge,
)
from spanlab.course.challenges import all_challenges, challenges_of, chapters, find_challenge, name_of, title_of
from spanlab.course.extract import checked_ids, parse_cell
from spanlab.course.feedback import Card, card, number, says
from spanlab.course.kinds import plain
from spanlab.course.places import chapter_of, course_root
from spanlab.course.progress import Record, current, digest
from spanlab.errors import suggest

TRIES_BEFORE_REVEAL = 3

P = ParamSpec("P")


def _calmly(call: Callable[P, Any]) -> Callable[P, Any]:
    """A fault of the course is told in a card as well: no traceback reaches a learner."""

    @wraps(call)
    def calm(*args: P.args, **kwargs: P.kwargs) -> Any:
        try:
            return call(*args, **kwargs)
        except Exception as error:
            text = f"sl.{call.__name__} itself failed ({type(error).__name__}: {error}). {OWN_FAULT}"
            return says(UNREADABLE, text)

    return calm


def _find(challenge_id: object, call: str) -> Challenge | Card:
    """The challenge of an id as typed, or the card that says what is wrong with the id."""
    if type(challenge_id) is not str:
        example = f"{challenge_id}" if type(challenge_id) in (int, float) else "1.3"
        return says(UNREADABLE, f'Write the id of the challenge first and in quotes: sl.{call}("{example[:8]}", …).')
    wanted = challenge_id.strip()[:40]
    if found := find_challenge(wanted) or find_challenge(wanted.upper()):
        return found
    hint = suggest(wanted, [c.id for c in all_challenges()]) or " sl.progress() lists them."
    return says(UNREADABLE, f"There is no challenge {wanted!r}.{hint}")


@_calmly
def check(challenge_id: str, answer: object = ...) -> Card:
    """Judge an answer and say what it does: each criterion with what was seen, and the mistake where it is a known one.

    `challenge_id` is its number in quotes ("1.3"), `answer` plain data: a text, number, letter, list or dict. `...`
    means not attempted. The best result is kept; checking is free and may be repeated. Criteria and weights:
    curriculum 0.7, 0.8.
    """
    found = _find(challenge_id, "check")
    if isinstance(found, Card):
        return found
    verdict = judge(found, answer)
    shown = card(verdict)
    if verdict.state == NOT_ATTEMPTED:
        return shown
    changes: dict[str, Any] = {"state": verdict.state, "points": verdict.points}
    if verdict.state in (PASSED, PARTIAL, FAILED, RECORDED):
        changes["tries"] = [digest(plain(answer))]
    progress_ = current()
    progress_.update(found.id, **changes)
    return _with_warning(shown)


def _with_warning(shown: Card) -> Card:
    progress_ = current()
    if not progress_.warning:
        return shown
    warned = Card(
        shown.state, shown.headline, (*shown.paragraphs, ("About your progress", progress_.warning)), shown.lines
    )
    progress_.warning = ""
    return warned


@_calmly
def hint(challenge_id: str) -> Card:
    """The next hint of a challenge, with those before it: where to look, then the idea, then almost the answer."""
    found = _find(challenge_id, "hint")
    if isinstance(found, Card):
        return found
    seen = min(current().get(found.id).hints + 1, len(found.hints))
    current().update(found.id, hints=seen)
    shown = tuple((f"Hint {i} of {len(found.hints)}", text) for i, text in enumerate(found.hints[:seen], start=1))
    more = f'Call sl.hint("{found.id}") again for the next one.'
    if seen == len(found.hints):
        more = "That was the last."
        if found.is_prediction or _reference(found.id) is not None:  # no promise that a packed copy cannot keep
            tries = "your own guess" if found.is_prediction else "three different tries"
            more += f' After {tries}, sl.reveal("{found.id}") tells the answer.'
    return _with_warning(says(RECORDED, f"{found.id} {found.title}", *shown, ("", more)))


@_calmly
def reveal(challenge_id: str) -> Card:
    """The reference answer, once the challenge is passed or three different answers were tried."""
    found = _find(challenge_id, "reveal")
    if isinstance(found, Card):
        return found
    title = f"{found.id} {found.title}"
    record = current().get(found.id)
    if found.is_prediction and record.tries:
        return says(RECORDED, title, ("What happens", found.note))
    if record.state != PASSED and (found.is_prediction or len(record.tries) < TRIES_BEFORE_REVEAL):
        needed = f"Different answers tried so far: {len(record.tries)} of {TRIES_BEFORE_REVEAL}."
        if found.is_prediction:
            needed = "Say first what you expect."
        return says(NOT_ATTEMPTED, f"{title}: not yet", ("", f'{needed} sl.hint("{found.id}") helps meanwhile.'))
    answer = _reference(found.id)
    if answer is None:
        sorry = "This copy of the course was handed out without solutions; ask whoever gave it to you."
        return says(NOT_ATTEMPTED, title, ("", sorry))
    current().update(found.id, revealed=True)
    return says(RECORDED, f"{title}: one good answer", ("The cell", answer), ("Worth knowing", found.note))


def _reference(challenge_id: str) -> str | None:
    """The answer cell of solutions/, without its call of check; None where there is none."""
    from spanlab.course.notebook_form import NotebookProblem
    from spanlab.course.solutions import solution_sources

    root = course_root()
    try:
        source = solution_sources(chapter_of(challenge_id), root).get(challenge_id) if root else None
    except NotebookProblem:
        return None
    if source is None:
        return None
    kept = [s for s in parse_cell(source).body if not checked_ids(ast.get_source_segment(source, s) or "")]
    return "\n".join(ast.get_source_segment(source, s) or "" for s in kept) or None


@_calmly
def reset(challenge_id: str) -> Card:
    """Forget what was done for one challenge ("1.3"), for a lesson or lab ("1", "B"), or for everything ("all")."""
    progress_ = current()
    if type(challenge_id) is str and challenge_id.strip().casefold() == "all":
        progress_.reset()
        return _with_warning(says(NOT_ATTEMPTED, "All progress is forgotten."))
    if type(challenge_id) is str and (chapter := challenge_id.strip().upper()) in chapters():
        progress_.reset(*(c.id for c in challenges_of(chapter)))
        return _with_warning(says(NOT_ATTEMPTED, f"{name_of(chapter)}: all its challenges are open again."))
    found = _find(challenge_id, "reset")
    if isinstance(found, Card):
        return found
    progress_.reset(found.id)
    return _with_warning(says(NOT_ATTEMPTED, f"{found.id} {found.title}: open again. Points and hints are forgotten."))


class Overview:
    """How far a learner is, chapter by chapter. Shows itself as a table, or as text with a line for each chapter."""

    _MARKS = ((PASSED, "✔"), (PARTIAL, "◐"), (FAILED, "✘"), (RECORDED, "✎"), (UNREADABLE, "?"))

    def __init__(self, records: dict[str, Record], shown: Iterable[str], warning: str = "") -> None:
        self.warning = warning
        self.rows = [self._row(chapter, records) for chapter in shown]
        self.points = round(sum(row[2] for row in self.rows), 2)
        self.max_points = sum(row[3] for row in self.rows)

    def _row(self, chapter: str, records: dict[str, Record]) -> tuple[str, str, float, int, list[tuple[str, str]]]:
        marks, points, most = [], 0.0, 0
        for challenge in challenges_of(chapter):
            record = records.get(challenge.id, Record())
            marks.append((challenge.id, dict(self._MARKS).get(record.state, "○")))
            points += min(record.points, challenge.points)
            most += challenge.points
        return chapter, title_of(chapter), round(points, 2), most, marks

    def __repr__(self) -> str:
        lines = [f"{number(self.points)} of {self.max_points} points"]
        for chapter, title, points, most, marks in self.rows:
            done = "✔" if points >= most else " "
            lines.append(
                f"{done} {chapter:>2} {title}: {number(points)} of {most}  " + " ".join(f"{m} {i}" for i, m in marks)
            )
        return "\n".join([*lines, *([f"About your progress: {self.warning}"] if self.warning else [])])

    def html(self) -> str:
        """The table, with a word for every mark."""
        words = {"✔": "passed", "◐": "in part", "✘": "not yet", "✎": "recorded", "?": "cannot be read", "○": "open"}
        rows = []
        for chapter, title, points, most, marks in self.rows:
            done = '<span role="img" aria-label="finished">✔</span>' if points >= most else ""
            cells = " ".join(
                f'<span style="white-space:nowrap"><span role="img" aria-label="{words[m]}" '
                f'title="{words[m]}">{m}</span> {i}</span>'
                for i, m in marks
            )
            rows.append(
                f'<tr><td>{done}</td><th scope="row" style="text-align:left">{escape(chapter)} {escape(title)}</th>'
                f'<td style="text-align:right">{number(points)} of {most}</td><td '
                f'style="text-align:left">{cells}</td></tr>'
            )
        head = (
            "<tr><th scope='col'>done</th><th scope='col'>lesson or lab</th><th scope='col'>points</th><th "
            "scope='col'>challenges</th></tr>"
        )
        warning = f"<p><b>About your progress:</b> {escape(self.warning)}</p>" if self.warning else ""
        return (
            '<div role="status" style="background:#fff;color:#1f2328;padding:.4em .8em;max-width:60em">'
            f"<p><b>{number(self.points)} of {self.max_points} points</b></p><table>{head}{''.join(rows)}</table>"
            f"{warning}</div>"
        )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return {"text/html": self.html(), "text/plain": repr(self)}


@_calmly
def progress(chapter: str | None = None) -> Overview | Card:
    """Every lesson and lab with its challenges: what is passed, begun and open, and the points of each.

    With a chapter ("1", "B"), that one alone.
    """
    if chapter is None:
        return _overview(chapters())
    wanted = chapter.strip().upper() if type(chapter) is str else ""
    if wanted not in chapters():
        return says(
            UNREADABLE, f'Write the lesson or lab in quotes: sl.progress("1"). There are: {", ".join(chapters())}.'
        )
    return _overview((wanted,))


def _overview(shown: Iterable[str]) -> Overview:
    progress_ = current()
    overview = Overview(progress_.records(), shown, progress_.warning)
    progress_.warning = ""
    return overview
