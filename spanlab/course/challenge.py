"""A challenge: what is asked, how an answer is judged, and what is said to those who went wrong.

An answer is judged by what it does, never by how it is written: it is read as plain data (`kinds`), looked at with the
library (`look`: parse, simulate, plan, count), and measured by weighted criteria. Each criterion says what it saw. The
wrong answers that people give are part of the challenge, each with its own diagnosis, so that a wrong answer teaches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spanlab.course.kinds import Kind, WrongKind, is_open, plain
from spanlab.errors import SpanlabError

PASSED, PARTIAL, FAILED = "passed", "partial", "failed"
NOT_ATTEMPTED, UNREADABLE, RECORDED = "not_attempted", "unreadable", "recorded"
STATES = (PASSED, PARTIAL, FAILED, NOT_ATTEMPTED, UNREADABLE, RECORDED)
"""passed: all points · partial: some · failed: none · not_attempted: `...` or None · unreadable: another kind of
thing than was asked, or text that does not parse · recorded: a prediction, which is kept and never marked."""

MAX_DIAGNOSES = 3
OWN_FAULT = "That is a fault of the course: please report it."
"""Ends what is said where a check itself fails: then no mark can be trusted."""


@dataclass(frozen=True)
class Outcome:
    """What a criterion found: `share` of its weight (0 to 1) and, in words, what was seen."""

    share: float
    seen: str


@dataclass(frozen=True)
class Criterion:
    """One thing that a good answer does. `weight` is in percent; those of a challenge add up to 100."""

    weight: int
    wanted: str
    measure: Callable[[Any], Outcome]


@dataclass(frozen=True)
class WrongAnswer:
    """An answer that people give, and what to say to them.

    `when` recognises it from what `look` returns; without it, the answer must equal the example. `full` marks a
    remark on an answer that is right all the same.
    """

    example: Any
    say: str
    when: Callable[[Any], bool] | None = None
    full: bool = False


@dataclass(frozen=True)
class Challenge:
    """One exercise. `look` turns a read answer into what criteria measure; it takes the answer and a seed.

    `hints` go from where to look, over the idea, to almost the answer. `note` is said after a pass: what was won and
    what it costs. `topic` is the exam topic. A prediction has no points and no criteria; its note is told by
    `reveal`.
    """

    id: str
    title: str
    points: int
    kind: Kind
    hints: tuple[str, ...]
    note: str
    topic: str
    criteria: tuple[Criterion, ...] = ()
    wrong: tuple[WrongAnswer, ...] = ()
    look: Callable[[Any, int], Any] = lambda answer, seed: answer

    @property
    def is_prediction(self) -> bool:
        return not self.criteria


@dataclass(frozen=True)
class Line:
    """A criterion of an answer that was judged: its weight, what it wanted, the share met and what was seen."""

    weight: int
    wanted: str
    share: float
    seen: str


@dataclass(frozen=True)
class Verdict:
    """An answer, judged. `points` is between 0 and `max_points`, rounded to hundredths."""

    challenge: Challenge
    state: str
    points: float = 0.0
    lines: tuple[Line, ...] = ()
    diagnoses: tuple[str, ...] = ()
    message: str = ""

    @property
    def max_points(self) -> int:
        return self.challenge.points


def judge(challenge: Challenge, answer: object, *, seed: int = 0) -> Verdict:
    """Judge an answer, whatever it is. Never raises; the same answer and seed give the same verdict.

    `seed` draws another instance of the same exercise, for marks that a copied answer does not earn.
    """
    try:
        if is_open(answer):
            return Verdict(challenge, NOT_ATTEMPTED, message="Not attempted yet: put your answer in place of the dots.")
        value = challenge.kind.read(plain(answer))
    except WrongKind as reason:
        return Verdict(challenge, UNREADABLE, message=str(reason))
    except Exception as error:
        return Verdict(challenge, UNREADABLE, message=_own_fault("reading", error))
    if challenge.is_prediction:
        return Verdict(challenge, RECORDED, message=f"Recorded: {_said(value)}. Now look whether it happens.")
    try:
        evidence = challenge.look(value, seed)
    except SpanlabError as error:
        return Verdict(challenge, UNREADABLE, message=str(error))
    except Exception as error:
        return Verdict(challenge, UNREADABLE, message=_own_fault("reading", error))
    return _measure(challenge, value, evidence)


def _said(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _measure(challenge: Challenge, value: Any, evidence: Any) -> Verdict:
    lines, reasons = [], []
    for criterion in challenge.criteria:
        try:
            outcome = criterion.measure(evidence)
        except (SpanlabError, ValueError) as error:
            outcome = Outcome(0.0, "could not be measured")
            reasons.append(str(error))
        except Exception as error:
            outcome = Outcome(0.0, "could not be measured")
            reasons.append(_own_fault("measuring", error))
        share = min(1.0, max(0.0, outcome.share))
        lines.append(Line(criterion.weight, criterion.wanted, share, outcome.seen))
    earned = sum(line.weight * line.share for line in lines)
    state = PASSED if earned >= 100 - 1e-9 else PARTIAL if earned > 1e-9 else FAILED
    said = [
        wrong.say
        for wrong in challenge.wrong
        if (state != PASSED or wrong.full) and _applies(wrong, challenge, value, evidence)
    ]
    return Verdict(
        challenge,
        state,
        points=round(challenge.points * earned / 100, 2),
        lines=tuple(lines),
        diagnoses=tuple(dict.fromkeys(said))[:MAX_DIAGNOSES],
        message="\n".join(dict.fromkeys(reasons)),
    )


def _applies(wrong: WrongAnswer, challenge: Challenge, value: Any, evidence: Any) -> bool:
    try:
        return bool(value == challenge.kind.read(plain(wrong.example)) if wrong.when is None else wrong.when(evidence))
    except Exception:  # a predicate that cannot look at this answer does not speak of it
        return False


def _own_fault(doing: str, error: Exception) -> str:
    name = type(error).__name__
    if isinstance(error, RecursionError | MemoryError):
        return f"The answer is too large or too deeply nested ({name} while {doing} it)."
    return f"The check itself failed while {doing} this answer ({name}: {error}). {OWN_FAULT}"
