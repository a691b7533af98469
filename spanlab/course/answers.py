"""The answers in a submitted notebook: which cell answers which challenge, and which lesson it is.

Learners rename, copy, split and merge cells, and editors drop ids or metadata. So a cell belongs to a challenge when
its metadata or id says so, or when it calls the challenge's check. Nothing of a notebook is run.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spanlab.course.challenge import Challenge
from spanlab.course.challenges import challenges_of, chapters
from spanlab.course.extract import CellRead, NotStatic, Unreadable, read_cell
from spanlab.course.kinds import is_open
from spanlab.course.places import chapter_of
from spanlab.course.submissions import BadSubmission, Submission

MAX_CELLS = 2_000


@dataclass(frozen=True)
class Answer:
    """What a notebook answers to one challenge.

    `status` is "found", "open" (the stub is still there), "missing" (no such cell), "not_static" or "unreadable";
    `reason` explains the last two. `source` is the cell's text; `twice` says that this is the last of several answers,
    `elsewhere` that it is the one of the challenge's own cell and another cell has another one.
    """

    status: str
    value: Any = ...
    reason: str = ""
    source: str = ""
    twice: bool = False
    elsewhere: bool = False


def code_cells(content: bytes) -> list[dict[str, Any]]:
    """The code cells of a submitted notebook: {"id", "challenge", "source"}, all of them strings. Raises
    BadSubmission."""
    try:
        notebook = json.loads(content)
    except (ValueError, RecursionError, MemoryError) as error:
        raise BadSubmission(f"this is not a notebook ({type(error).__name__}: {str(error)[:80]})") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or notebook.get("nbformat") != 4:
        raise BadSubmission("this is not a notebook of format 4")
    if len(cells) > MAX_CELLS:
        raise BadSubmission(f"the notebook has {len(cells):,} cells; {MAX_CELLS:,} are the most that is read")
    return [_code_cell(cell) for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code"]


def _code_cell(cell: dict[str, Any]) -> dict[str, Any]:
    metadata = cell.get("metadata")
    own = metadata.get("spanlab") if isinstance(metadata, dict) else None
    challenge = own.get("challenge") if isinstance(own, dict) else None
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    return {
        "id": cell.get("id") if isinstance(cell.get("id"), str) else "",
        "challenge": challenge if isinstance(challenge, str) else "",
        "source": source if isinstance(source, str) else "",
    }


@dataclass(frozen=True)
class _Cell:
    """A code cell as the reader of answers sees it: the challenges that its metadata or id claim, those that its text
    checks, and what it says; `problem` where it is not Python."""

    source: str
    claims: frozenset[str]
    checks: frozenset[str]
    read: CellRead | None = None
    problem: str = ""

    def answers(self, challenge_id: str) -> list[Answer]:
        """What the cell answers to a challenge, in order."""
        if self.read is None:
            return [Answer("unreadable", reason=self.problem, source=self.source)]
        own = [check.answer for check in self.read.checks if check.challenge == challenge_id]
        return [self._answer(value) for value in own or [self.read.answer]]

    def _answer(self, value: Any) -> Answer:
        if isinstance(value, NotStatic):
            return Answer("not_static", reason=str(value), source=self.source)
        return Answer("open" if is_open(value) else "found", value, source=self.source)


def _read(source: str, claims: frozenset[str]) -> _Cell:
    try:
        read = read_cell(source)
    except Unreadable as reason:
        return _Cell(source, claims, frozenset(_ids_written(source)), problem=str(reason))
    return _Cell(source, claims, frozenset(check.challenge for check in read.checks), read)


def answers_in(content: bytes, challenges: tuple[Challenge, ...]) -> dict[str, Answer]:
    """What a notebook answers to each of these challenges. Raises BadSubmission where it cannot be read at all."""
    cells = [
        _read(cell["source"], claims)
        for cell in code_cells(content)
        if (claims := claims_of(cell)) or "check" in cell["source"]
    ]
    return {challenge.id: _answer_to(challenge.id, cells) for challenge in challenges}


def _answer_to(id_: str, cells: list[_Cell]) -> Answer:
    """What the challenge's own cell answers; where that is nothing, what other cells hand to its check. Of several, the
    last that can be read. A cell that says it is the challenge's and checks only others is a copy that now serves
    another challenge: it counts only where there is nothing else."""
    copies = [cell for cell in cells if id_ in cell.claims and cell.checks and id_ not in cell.checks]
    own = [cell for cell in cells if id_ in cell.claims and cell not in copies]
    others = [cell for cell in cells if id_ in cell.checks and cell not in own]
    first, second = (_last([answer for cell in some for answer in cell.answers(id_)]) for some in (own, others))
    if first.status == "found":
        return replace(first, elsewhere=second.status == "found" and repr(second.value) != repr(first.value))
    if second.status == "found":
        return second
    parts = [cell for cell in cells if cell in own or cell in others]
    if len(parts) > 1:  # an editor that splits a cell leaves its metadata on both parts
        whole = _last(_read("\n".join(cell.source for cell in parts), frozenset()).answers(id_))
        if whole.status == "found":
            return whole
    best = max(first, second, key=lambda answer: _RANK.index(answer.status))
    return best if best.status != "missing" else _last([answer for cell in copies for answer in cell.answers(id_)])


_RANK = ("missing", "open", "unreadable", "not_static", "found")


def _last(answers: list[Answer]) -> Answer:
    """Of several answers to one challenge, the last one that can be read."""
    best = max([(_RANK.index(answer.status), place) for place, answer in enumerate(answers)], default=None)
    if best is None:
        return Answer("missing")
    values = {repr(answer.value) for answer in answers if answer.status == "found"}
    return replace(answers[best[1]], twice=len(values) > 1)


# ---- which lesson --------------------------------------------------------------------------------------------------

_CHECK = re.compile(r"""\bcheck\(\s*(?:challenge_id\s*=\s*)?["']{1,3}\s*([0-9A-Za-z.]{1,12})\s*["']""")
_CELL_ID = re.compile(r"ch-([0-9A-Za-z]{1,4})-([0-9A-Za-z]{1,4})")


def claims_of(cell: dict[str, Any]) -> frozenset[str]:
    """The challenges that a cell's metadata or id say it belongs to."""
    by_id = _CELL_ID.fullmatch(cell["id"])
    named = [cell["challenge"], f"{by_id[1]}.{by_id[2]}" if by_id else ""]
    return frozenset(name.strip().upper() for name in named if name)


def _ids_written(source: str) -> list[str]:
    """The challenges that a text seems to check: by the letters alone, so whatever the text is, it takes no time."""
    return [id_.upper() for id_ in _CHECK.findall(source)]


def chapter_in(content: bytes) -> str | None:
    """The lesson or lab that most of a notebook's challenge cells belong to; None where it has none. This is a guess
    from ids: it needs neither Python that can be read nor the chapters' own modules."""
    count: Counter[str] = Counter()
    for cell in code_cells(content):
        ids = claims_of(cell) or _ids_written(cell["source"])
        count.update({chapter_of(id_) for id_ in ids} & chapters().keys())
    return min(count, key=lambda chapter: (-count[chapter], chapter)) if count else None


def chapter_of_class(submissions: list[Submission]) -> str:
    """The lesson or lab that most of the learners handed in. Raises ValueError where nobody's notebook has a
    challenge."""
    count: Counter[str] = Counter()
    for submission in submissions:
        try:
            count.update(filter(None, [chapter_in(submission.content())]))
        except BadSubmission:
            continue
    if not count:
        raise ValueError("no notebook of a lesson or lab is among the submissions; --lesson says which one to mark")
    return min(count, key=lambda chapter: (-count[chapter], chapter))


def chapter_named(name: str) -> str:
    """The chapter that a person means by "1", "lesson 1", "01_address", "lab_a", "labs/a_flash_sale.ipynb".

    Raises ValueError with the known ones.
    """
    word = Path(name).stem.lower().removeprefix("lesson").removeprefix("lab").strip(" _-")
    first = re.split(r"[_\W]", word)[0] if word else ""
    chapter = str(int(first)) if first.isdecimal() else first.upper()
    if chapter not in chapters() or not challenges_of(chapter):
        raise ValueError(f"--lesson {name!r} is none that has challenges; there are: {', '.join(chapters())}")
    return chapter
