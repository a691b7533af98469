"""Marks for a class, without running a line of what was handed in.

A notebook is read as data, each answer is evaluated from its syntax tree, and the course's own criteria judge it, the
same as `sl.check` uses. Whatever stands in a file, its author gets one row; `workers` sees to it that a file made to
hang or to swell costs nobody else anything.

The same files, seed and version give the same marks and the same bytes, in whatever order and with however many
workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from spanlab.course.answers import Answer, answers_in
from spanlab.course.challenge import NOT_ATTEMPTED, OWN_FAULT, UNREADABLE, Challenge, Line, Verdict, judge
from spanlab.course.challenges import challenges_of
from spanlab.course.submissions import BadSubmission, Submission, sha256

ROW_STATES = ("ok", "partial", "not_static", "duplicate_answer", "wrong_notebook", "unreadable")
"""ok: every challenge has its answer cell · partial: some cells are gone · not_static: an answer is not plain data ·
duplicate_answer: a challenge is answered twice, the last one counts · wrong_notebook: none of the lesson's challenges
is in it · unreadable: the file is no notebook, or reading it had to be stopped. The later one counts where several
hold."""


@dataclass(frozen=True)
class Mark:
    """One challenge of one learner. `state` as in `challenge.STATES`, or "not_static"."""

    challenge: str
    title: str
    max_points: int
    state: str = NOT_ATTEMPTED
    points: float = 0.0
    lines: tuple[Line, ...] = ()
    diagnoses: tuple[str, ...] = ()
    message: str = ""
    answer: str = ""

    @property
    def criteria_met(self) -> int:
        return sum(line.share >= 1 - 1e-9 for line in self.lines)


@dataclass
class Row:
    """One learner: what was handed in, what became of it, and a mark for each challenge of the chapter."""

    student: str
    file: str
    chapter: str
    status: str = "ok"
    sha256: str = ""
    remarks: list[str] = field(default_factory=list)
    marks: dict[str, Mark] = field(default_factory=dict)

    @property
    def points(self) -> float:
        return round(sum(mark.points for mark in self.marks.values()), 2)

    @property
    def max_points(self) -> int:
        return sum(mark.max_points for mark in self.marks.values())

    def worsen(self, status: str, remark: str) -> None:
        """Note a fault; the row keeps the gravest status."""
        if ROW_STATES.index(status) > ROW_STATES.index(self.status):
            self.status = status
        if remark not in self.remarks:
            self.remarks.append(remark)


def graded_challenges(chapter: str) -> tuple[Challenge, ...]:
    """The challenges of a chapter that bring points."""
    return tuple(c for c in challenges_of(chapter) if not c.is_prediction)


def empty_row(submission: Submission, chapter: str) -> Row:
    """A row with nothing attempted."""
    marks = {c.id: Mark(c.id, c.title, c.points) for c in graded_challenges(chapter)}
    return Row(submission.student, submission.name, chapter, marks=marks)


def mark_of(verdict: Verdict, answer: object) -> Mark:
    """A verdict as a mark; the answer is kept as text for the feedback page."""
    text = answer if type(answer) is str else repr(answer)
    return Mark(
        verdict.challenge.id, verdict.challenge.title, verdict.max_points, verdict.state, verdict.points,
        verdict.lines, verdict.diagnoses, verdict.message, text[:4000],
    )  # fmt: skip


# ---- one submission ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """A submission to mark. `done` holds the challenges that are settled already, after a worker had to be stopped."""

    submission: Submission
    chapter: str
    seed: int = 0
    execute: bool = False
    done: tuple[str, ...] = ()


def mark_submission(task: Task) -> Iterator[Row | str | Mark]:
    """Mark one submission: yields its row (no marks yet), then for each challenge its id and, judged, its mark.

    The id comes before the work, so that whoever waits knows what takes so long.
    """
    row = empty_row(task.submission, task.chapter)
    try:
        content = task.submission.content()
        row.sha256 = sha256(content)
        answers = answers_in(content, graded_challenges(task.chapter))
    except BadSubmission as reason:
        row.worsen("unreadable", str(reason))
        yield row
        return
    _note_faults(row, answers, task.execute)
    yield row
    for challenge in graded_challenges(task.chapter):
        if challenge.id not in task.done:
            yield challenge.id
            yield _mark(challenge, answers[challenge.id], task, content)


def absorb(row: Row, step: Row | str | Mark) -> None:
    """Bring a step of `mark_submission` into the learner's row."""
    if isinstance(step, Mark):
        row.marks[step.challenge] = step
        if OWN_FAULT in step.message:
            row.remarks.append(f"{step.challenge}: the check itself failed, so this mark means nothing")
    elif isinstance(step, Row):
        row.sha256 = step.sha256
        for remark in step.remarks:
            row.worsen(step.status, remark)


def mark_here(task: Task) -> Row:
    """Mark one submission in this process, without limits: for a learner's own notebook."""
    row = empty_row(task.submission, task.chapter)
    for step in mark_submission(task):
        absorb(row, step)
    return row


def _note_faults(row: Row, answers: dict[str, Answer], execute: bool) -> None:
    missing = [id_ for id_, answer in answers.items() if answer.status == "missing"]
    if len(missing) == len(answers):
        row.worsen("wrong_notebook", f"none of the challenges of {row.chapter} is in this notebook")
    elif missing:
        row.worsen("partial", f"no answer cell for {', '.join(missing)}")
    for id_, answer in answers.items():
        if answer.status == "not_static" and not execute:
            row.worsen("not_static", f"{id_}: {answer.reason}")
        if answer.twice:
            row.worsen("duplicate_answer", f"{id_} is answered more than once; the last answer counts")
        elif answer.elsewhere:
            row.worsen("ok", f"{id_} is answered in another cell as well; the challenge's own cell counts")


def _mark(challenge: Challenge, answer: Answer, task: Task, content: bytes) -> Mark:
    empty = Mark(challenge.id, challenge.title, challenge.points, answer=answer.source[:4000])
    if answer.status in ("missing", "open"):
        return replace(
            empty, message="No answer." if answer.status == "open" else "There is no cell for this challenge."
        )
    if answer.status == "unreadable":
        return replace(empty, state=UNREADABLE, message=answer.reason)
    value = answer.value
    if answer.status == "not_static":
        if not task.execute:
            why = (
                f"{answer.reason[0].upper()}{answer.reason[1:]}. Answers are read and not run: write the value itself."
            )
            return replace(empty, state="not_static", message=why)
        from spanlab.course.execute import Refused, run_for_answer

        try:
            value = run_for_answer(content, challenge.id)
        except Refused as reason:
            return replace(empty, state="not_static", message=str(reason))
    return mark_of(judge(challenge, value, seed=task.seed), value)


# ---- several notebooks by one learner ----------------------------------------------------------------------


def one_row_each(rows: list[Row]) -> list[Row]:
    """Of several notebooks by one learner, the one that earns most (the later name where equal), with a remark.

    Notebooks of other lessons are passed over without a word where one of this lesson is there.
    """
    by_student: dict[str, list[Row]] = {}
    for row in rows:
        by_student.setdefault(row.student, []).append(row)
    return [_counting(own) for own in by_student.values()]


def _counting(own: list[Row]) -> Row:
    fitting = [row for row in own if row.status != "wrong_notebook"] or own[:1]
    best = max(fitting, key=lambda row: (row.points, row.status != "unreadable", row.file))
    if len(fitting) > 1:
        best.remarks.append(f"{len(fitting)} notebooks were handed in under this name; {best.file!r} counts")
    return best
