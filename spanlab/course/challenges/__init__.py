"""The challenges of the course, one module a lesson or lab, found by id.

A module is read when one of its challenges is first asked for: a learner who works on lesson 1 does not wait for lab H.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache

from spanlab.course.challenge import Challenge
from spanlab.course.places import chapter_of


@cache
def chapters() -> dict[str, str]:
    """Chapters that have challenges, in reading order: {"1": "lesson_01", …, "A": "lab_a", …}."""
    found: dict[str, str] = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        if match := re.fullmatch(r"lesson_(\d+)", module):
            found[str(int(match[1]))] = module
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        if match := re.fullmatch(r"lab_([a-z])", module):
            found[match[1].upper()] = module
    return found


@cache
def challenges_of(chapter: str) -> tuple[Challenge, ...]:
    """The challenges of a lesson ("1") or lab ("B"), predictions included, in the order of the notebook."""
    module = chapters().get(chapter)
    return importlib.import_module(f"{__name__}.{module}").CHALLENGES if module else ()


def all_challenges() -> tuple[Challenge, ...]:
    """Every challenge of the course, in reading order."""
    return tuple(challenge for chapter in chapters() for challenge in challenges_of(chapter))


def find_challenge(challenge_id: str) -> Challenge | None:
    """The challenge of that id, or None."""
    return next((c for c in challenges_of(chapter_of(challenge_id)) if c.id == challenge_id), None)


def title_of(chapter: str) -> str:
    """The title of a lesson or lab, as its notebook has it."""
    return str(importlib.import_module(f"{__name__}.{chapters()[chapter]}").TITLE)


def name_of(chapter: str) -> str:
    """A chapter as people say it: "Lesson 1 · A key is an address", "Lab B · Month-end at a ledger company"."""
    return f"{'Lesson' if chapter.isdigit() else 'Lab'} {chapter} · {title_of(chapter)}"
