"""The bank of exam-style questions: 37 that close the lessons and labs, 50 for the mock exam.

A question has one right option or several, and a reason for every option: why it is right, or what is wrong with it.
The options are dealt anew for each question by a fixed rule, so that no letter is right more often than another and
the letters stay the same on every machine.
"""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass
from importlib import resources

LETTERS = "ABCDEF"


@dataclass(frozen=True)
class Option:
    """One option: its text, whether it is right, and why."""

    text: str
    right: bool
    why: str


@dataclass(frozen=True)
class Question:
    """One question. `id` is "3.Q1" for the lesson's or lab's own, "C17" for the mock exam's; `lessons` says what
    to reread."""

    id: str
    domain: str
    difficulty: str
    lessons: str
    stem: str
    options: tuple[Option, ...]

    @property
    def right(self) -> tuple[str, ...]:
        """The letters of the right options, in order."""
        return tuple(letter for letter, option in zip(LETTERS, self.options, strict=False) if option.right)


@functools.cache
def all_questions() -> tuple[Question, ...]:
    """Every question of the bank."""
    text = (resources.files("spanlab.course") / "data" / "questions.json").read_text(encoding="utf-8")
    return tuple(_question(**item) for item in json.loads(text))


def _question(
    id: str, domain: str, difficulty: str, lessons: str, stem: str, options: list[dict[str, object]]
) -> Question:
    dealt = sorted((Option(**o) for o in options), key=lambda o: _lot(id, o.text))  # type: ignore[arg-type]
    return Question(id, domain, difficulty, lessons, stem, tuple(dealt))


def _lot(question: str, option: str) -> str:
    return hashlib.sha256(f"{question}|{option}".encode()).hexdigest()


def questions_of(chapter: str) -> tuple[Question, ...]:
    """The questions that close a lesson ("3", "03") or a lab ("B")."""
    name = chapter.strip().upper().lstrip("0")
    return tuple(q for q in all_questions() if q.id.partition(".Q")[0] == name and ".Q" in q.id)
