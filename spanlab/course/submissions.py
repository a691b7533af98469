"""What learners hand in: notebooks in a folder or a zip, each read with distrust and never run.

A class hands in whatever its system makes of it: one file a learner, one folder a learner, a zip of either, a zip
inside a zip's folder. The first part of the path names the learner. Zips are read in memory and nothing of them is
ever written to disk, so a name like `../../x` is only a name.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanlab.course.challenge import Challenge
from spanlab.course.challenges import all_challenges, challenges_of
from spanlab.course.extract import NotStatic, Unreadable, answer_in, checked_ids
from spanlab.course.kinds import is_open
from spanlab.course.places import cell_id, chapter_of

MAX_NOTEBOOK = 20_000_000
MAX_CELLS = 2_000
MAX_SUBMISSIONS = 5_000


class BadSubmission(Exception):
    """A file that cannot be marked at all; `str()` says why."""


@dataclass(frozen=True)
class Submission:
    """One learner's notebooks. `member` is the name inside the zip `path`, or "" for a file of its own."""

    student: str
    path: Path
    member: str = ""

    @property
    def name(self) -> str:
        """The file's name, for reports."""
        return re.split(r"[/\\]", self.member)[-1] if self.member else self.path.name

    def content(self) -> bytes:
        """The file's bytes, at most 20 MB. Raises BadSubmission."""
        try:
            content = self._read()
        except BadSubmission:
            raise
        except Exception as error:  # damaged archives fail in more ways than zipfile names
            raise BadSubmission(f"the file cannot be read ({error})") from None
        self._bound(len(content))  # the size in a zip's directory may be a lie
        return content

    def _read(self) -> bytes:
        if not self.member:
            self._bound(self.path.stat().st_size)
            return self.path.read_bytes()
        with zipfile.ZipFile(self.path) as archive:
            self._bound(archive.getinfo(self.member).file_size)
            with archive.open(self.member) as file:
                return file.read(MAX_NOTEBOOK + 1)

    def _bound(self, size: int) -> None:
        if size > MAX_NOTEBOOK:
            most = f"{MAX_NOTEBOOK / 1e6:.0f} MB are the most that is read"
            raise BadSubmission(f"the file has {size / 1e6:,.0f} MB; {most}")


def find_submissions(place: Path) -> list[Submission]:
    """Every notebook handed in under a folder, or in a zip, in the order of learners' names.

    Raises FileNotFoundError where there is nothing of the name, ValueError where it holds no notebook.
    """
    if not place.exists():
        raise FileNotFoundError(f"{place}: there is no such folder or zip")
    if place.is_file():
        found = list(_in_zip(place, "")) if place.suffix.lower() == ".zip" else [Submission(place.stem, place)]
    else:
        found = list(_in_folder(place))
    if not found:
        raise ValueError(f"{place} holds no notebook (.ipynb) and no zip with one")
    if len(found) > MAX_SUBMISSIONS:
        raise ValueError(f"{place} holds more than {MAX_SUBMISSIONS:,} notebooks; mark it in parts")
    return sorted(found, key=lambda s: (s.student.casefold(), s.student, s.member or s.path.as_posix()))


def _in_folder(folder: Path) -> Iterator[Submission]:
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if _is_hidden("/".join(parts)):
            continue  # checkpoints and other hidden files
        if path.is_symlink() or not path.resolve().is_relative_to(folder.resolve()):
            continue  # links could lead out of the folder, or to another learner's work
        student = parts[0] if len(parts) > 1 else path.stem
        if path.suffix.lower() == ".ipynb" and path.is_file():
            yield Submission(student, path)
        elif path.suffix.lower() == ".zip" and path.is_file():
            yield from _in_zip(path, student)


def _in_zip(path: Path, student: str) -> Iterator[Submission]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = sorted(info.filename for info in archive.infolist() if not info.is_dir())
    except Exception:  # a zip can be damaged in more ways than zipfile names
        yield Submission(student or path.stem, path, "?")
        return
    books = [name for name in names if name.lower().endswith(".ipynb") and not _is_hidden(name)]
    for name in books[: MAX_SUBMISSIONS + 1]:
        parts = [part for part in re.split(r"[/\\]", name) if part not in ("", ".", "..")]
        inside = (parts[0] if len(parts) > 1 else Path(parts[-1]).stem) if parts else "?"
        yield Submission(student or inside, path, name)


def _is_hidden(name: str) -> bool:
    parts = [part for part in re.split(r"[/\\]", name) if part not in (".", "..")]
    return any(part.startswith(".") or part == "__MACOSX" for part in parts)


# ---- reading a notebook --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """What a notebook answers to one challenge.

    `status` is "found", "open" (the stub is still there), "missing" (no such cell), "not_static" or "unreadable";
    `reason` explains the last two. `source` is the cell's text; `twice` says that several answers stood in the
    notebook.
    """

    status: str
    value: Any = ...
    reason: str = ""
    source: str = ""
    twice: bool = False


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


def answers_in(content: bytes, challenges: tuple[Challenge, ...]) -> dict[str, Answer]:
    """What a notebook answers to each of these challenges. Raises BadSubmission where it cannot be read at all."""
    cells = code_cells(content)
    checks = [checked_ids(cell["source"]) if "check" in cell["source"] else [] for cell in cells]
    found: dict[str, Answer] = {}
    for challenge in challenges:
        own = {challenge.id, cell_id(challenge.id)}
        claimed = [cell["source"] for cell in cells if {cell["challenge"], cell["id"]} & own]
        calling = [cell["source"] for cell, ids in zip(cells, checks, strict=True) if challenge.id in ids]
        first = _best(claimed, challenge.id)
        found[challenge.id] = first if first.status == "found" else _better(first, _best(calling, challenge.id))
    return found


_RANK = ("missing", "open", "unreadable", "not_static", "found")


def _better(first: Answer, second: Answer) -> Answer:
    return second if _RANK.index(second.status) > _RANK.index(first.status) else first


def _best(sources: list[str], challenge_id: str) -> Answer:
    """Of several cells for one challenge, the last one with an answer that can be read."""
    best = Answer("missing")
    values: list[str] = []
    for source in sources:
        answer = _read(source, challenge_id)
        if answer.status == "found":
            values.append(repr(answer.value))
        if _RANK.index(answer.status) >= _RANK.index(best.status):
            best = answer
    return Answer(best.status, best.value, best.reason, best.source, twice=len(set(values)) > 1)


def _read(source: str, challenge_id: str) -> Answer:
    try:
        value = answer_in(source, challenge_id)
    except NotStatic as reason:
        return Answer("not_static", reason=str(reason), source=source)
    except Unreadable as reason:
        return Answer("unreadable", reason=str(reason), source=source)
    return Answer("open" if is_open(value) else "found", value, source=source)


def chapter_in(content: bytes) -> str | None:
    """The lesson or lab that most of a notebook's challenge cells belong to; None where it has none."""
    known = {cell_id(c.id): c.id for c in all_challenges()} | {c.id: c.id for c in all_challenges()}
    count: Counter[str] = Counter()
    for cell in code_cells(content):
        ids = {known[k] for k in (cell["id"], cell["challenge"]) if k in known}
        if not ids and "check" in cell["source"]:
            ids = {known[k] for k in checked_ids(cell["source"]) if k in known}
        count.update({chapter_of(i) for i in ids})
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
    from spanlab.course.challenges import chapters

    word = Path(name).stem.lower().removeprefix("lesson").removeprefix("lab").strip(" _-")
    first = re.split(r"[_\W]", word)[0] if word else ""
    chapter = str(int(first)) if first.isdigit() else first.upper()
    if chapter not in chapters() or not challenges_of(chapter):
        raise ValueError(f"--lesson {name!r} is none that has challenges; there are: {', '.join(chapters())}")
    return chapter


def sha256(content: bytes) -> str:
    """The mark by which a file is known again."""
    return hashlib.sha256(content).hexdigest()
