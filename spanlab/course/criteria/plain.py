"""Plain answers: a list, place by place, and a number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spanlab.course.challenge import Criterion, Outcome


def each_item(names: Sequence[str], right: Sequence[Any]) -> tuple[Criterion, ...]:
    """One criterion for each place of a list, all of the same weight; the right value is not told."""

    def place(index: int) -> Callable[[Sequence[Any]], Outcome]:
        return lambda answer: Outcome(float(answer[index] == right[index]), f"you say {answer[index]}")

    return tuple(Criterion(100 // len(names), name, place(i)) for i, name in enumerate(names))


def number_is(
    weight: int, wanted: str, right: float, *, within: float = 0.0, partly: Mapping[float, float] | None = None
) -> Criterion:
    """A number, within a tolerance. `partly` gives near misses that a fair teacher would pay in part: {value:
    share}."""

    def measure(answer: float) -> Outcome:
        if abs(answer - right) <= within:
            return Outcome(1.0, f"{answer:,} is right")
        return Outcome((partly or {}).get(answer, 0.0), f"{answer:,} is not")

    return Criterion(weight, wanted, measure)
