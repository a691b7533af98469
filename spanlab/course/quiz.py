"""`sl.quiz("03")`: the exam-style questions of a lesson, one at a time, with a reason for every option after answering.

Everything works by keyboard: the arrow keys choose, Tab goes to the buttons. Whoever opens the notebook without
running it
reads the questions as text. What was answered is remembered beside the challenges, under the question's own number;
quiz
points are counted apart from challenge points.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

import ipywidgets as widgets

from spanlab.course.challenge import FAILED, PASSED, UNREADABLE
from spanlab.course.feedback import Card, says
from spanlab.course.progress import current
from spanlab.course.questions import LETTERS, Question, questions_of

LIVE = "application/vnd.jupyter.widget-view+json"
WIDE = widgets.Layout(width="auto", max_width="60em")


def quiz(chapter: str) -> Quiz | Card:
    """The quiz of a lesson ("3" or "03") or a lab ("B"). An unknown chapter gets a sentence that says what to write."""
    found = questions_of(chapter) if isinstance(chapter, str) else ()
    if not found:
        return says(
            UNREADABLE, f'There is no quiz {chapter!r}. Write the lesson or lab in quotes: sl.quiz("3"), sl.quiz("B").'
        )
    return Quiz(found)


def verdict(question: Question, chosen: Iterable[str]) -> tuple[bool, str]:
    """Whether the chosen letters are the right ones, and the feedback as HTML: a reason for every option."""
    picked = {letter.strip().upper() for letter in chosen}
    right = picked == set(question.right)
    lines = []
    for letter, option in zip(LETTERS, question.options, strict=False):
        word = "right" if option.right else "not right"
        yours = " (your choice)" if letter in picked else ""
        weight = "bold" if option.right else "normal"
        reason = escape(option.why.rstrip("."))
        lines.append(
            f"<li style='font-weight:{weight}'>{letter}{yours}, {word}: "
            f"<span style='font-weight:normal'>{reason}.</span></li>"
        )
    said = "✔ Right." if right else f"✘ Not quite: the answer is {', '.join(question.right)}."
    return right, f"<p><b>{said}</b></p><ul style='list-style:none;padding-left:1em'>{''.join(lines)}</ul>"


class Quiz:
    """Questions shown one after the other. `answer("B")` and `next()` do what the buttons do."""

    def __init__(self, questions: tuple[Question, ...]) -> None:
        self.questions, self.place = questions, 0
        self.results: dict[str, bool] = {}
        self._stem = widgets.HTML()
        self._choice: widgets.RadioButtons | None = None
        self._boxes: list[widgets.Checkbox] = []
        self._options = widgets.VBox()
        self._said = widgets.HTML()
        self._answer = widgets.Button(description="Answer", layout=widgets.Layout(width="auto"))
        self._next = widgets.Button(description="Next question", layout=widgets.Layout(width="auto"))
        self._answer.on_click(lambda _: self.answer(self._picked()))
        self._next.on_click(lambda _: self.next())
        buttons = widgets.HBox([self._answer, self._next])
        self.widget = widgets.VBox([self._stem, self._options, buttons, self._said])
        self._ask()

    @property
    def question(self) -> Question:
        """The question that is shown."""
        return self.questions[self.place]

    def _ask(self) -> None:
        question = self.question
        many = len(question.right) > 1
        asked = f" <i>Choose {len(question.right)}.</i>" if many else ""
        self._stem.value = (
            f"<p><b>{question.id}</b> ({self.place + 1} of {len(self.questions)}) {escape(question.stem)}{asked}</p>"
        )
        lines = [f"{letter}. {o.text}" for letter, o in zip(LETTERS, question.options, strict=False)]
        self._boxes = [widgets.Checkbox(description=line, indent=False, layout=WIDE) for line in lines] if many else []
        self._choice = None if many else widgets.RadioButtons(options=lines, value=None, layout=WIDE)
        self._options.children = tuple(self._boxes) if many else (self._choice,)
        self._said.value = ""
        self._next.disabled = self.place + 1 == len(self.questions)

    def _picked(self) -> str:
        chosen = [self._choice.value] if self._choice else [box.description for box in self._boxes if box.value]
        return "".join(line[0] for line in chosen if line)

    def answer(self, letters: str) -> bool | None:
        """Answers the question that is shown, with one letter or several ("B", "AC"). None if nothing was chosen."""
        if not letters:
            self._said.value = '<p role="status">Choose an option first: arrow keys, or Tab and the space bar.</p>'
            return None
        right, said = verdict(self.question, letters)
        self._said.value = f'<div role="status" aria-live="polite">{said}</div>'
        self.results[self.question.id] = right
        current().update(self.question.id, state=PASSED if right else FAILED, points=float(right))
        return right

    def next(self) -> None:
        """Goes to the next question; stays at the last."""
        if self.place + 1 < len(self.questions):
            self.place += 1
            self._ask()

    def _static(self) -> str:
        """All questions with their reasons folded away, for a page without a kernel."""
        parts = []
        for question in self.questions:
            options = "".join(
                f"<li>{letter}. {escape(o.text)}</li>" for letter, o in zip(LETTERS, question.options, strict=False)
            )
            reasons = verdict(question, ())[1].partition("</p>")[2]
            parts.append(
                f"<p><b>{question.id}</b> {escape(question.stem)}</p>"
                f"<ul style='list-style:none;padding-left:1em'>{options}</ul>"
                f"<details><summary>Answer and reasons</summary><p>{', '.join(question.right)}</p>{reasons}</details>"
            )
        return "".join(parts)

    def __repr__(self) -> str:
        count = len(self.questions)
        return f"Quiz of {count} question{'s' * (count != 1)}: {', '.join(q.id for q in self.questions)}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        view = self.widget._repr_mimebundle_()[LIVE]
        return {"text/plain": repr(self), "text/html": self._static(), LIVE: view}
