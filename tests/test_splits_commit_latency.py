"""Commit latency by the number of participants: against a million draws, and the laws that it must keep."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spanlab as sl
from spanlab.splits.commit_latency import commit_latency
from spanlab.splits.latency import base_ms
from spanlab.splits.model import model


@pytest.mark.parametrize(
    ("participants", "p50", "p99"), [(1, 5, 15), (2, 12, 25), (4, 13.5, 27), (10, 15.7, 30), (20, 17.4, 32)]
)
def test_the_step_is_from_one_to_two(participants: int, p50: float, p99: float) -> None:
    got = sl.commit_latency(participants=participants)
    assert got.p50_ms == pytest.approx(p50, rel=0.02)
    assert got.p99_ms == pytest.approx(p99, rel=0.02)


@pytest.mark.parametrize(("epsilon_ms", "p50"), [(1, 5), (2, 5), (2.5, 5), (3, 6), (4, 8), (5, 10), (7, 14)])
def test_the_wait_runs_beside_the_log(epsilon_ms: float, p50: float) -> None:
    assert commit_latency(epsilon_ms=epsilon_ms) == (p50, 15)


@pytest.mark.parametrize(("rtt_ms", "p50"), [(1, 5), (30, 34), (80, 84)])
def test_distance_is_added(rtt_ms: float, p50: float) -> None:
    assert commit_latency(rtt_ms=rtt_ms) == (p50, p50 + 10)


@pytest.mark.parametrize(("rtt_ms", "participants"), [(1, 2), (1, 7), (30, 3)])
def test_it_agrees_with_a_million_draws(rtt_ms: float, participants: int) -> None:
    draw = np.random.default_rng(1)
    median, late = 4 + rtt_ms, 14 + rtt_ms
    sigma = np.log(late / median) / 2.3263478740408408
    prepares = median * np.exp(sigma * draw.standard_normal((200_000, participants)))
    total = prepares.max(axis=1) + median * np.exp(sigma * draw.standard_normal(200_000))
    p50, p99 = np.quantile(total, [0.5, 0.99])
    got = commit_latency(rtt_ms=rtt_ms, participants=participants)
    assert got.p50_ms == pytest.approx(p50, abs=0.15)
    assert got.p99_ms == pytest.approx(p99, rel=0.015)


def test_two_participants_are_what_the_simulator_takes_for_two_phases() -> None:
    study = model("study")
    for q, seen in zip((0.5, 0.99), commit_latency(participants=2), strict=True):
        assert seen == pytest.approx(base_ms(study, 1.0, q), rel=0.02)


@settings(max_examples=25, deadline=None)
@given(st.floats(0, 100), st.integers(1, 30), st.floats(0, 10))
def test_more_of_anything_is_never_faster(rtt_ms: float, participants: int, epsilon_ms: float) -> None:
    got = commit_latency(rtt_ms, participants, epsilon_ms)
    assert 2 * epsilon_ms - 0.05 <= got.p50_ms <= got.p99_ms
    for other in ((rtt_ms + 5, participants, epsilon_ms), (rtt_ms, participants + 1, epsilon_ms)):
        assert all(more >= less for more, less in zip(commit_latency(*other), got, strict=True))


@pytest.mark.parametrize(
    ("given", "named"),
    [({"rtt_ms": -1}, "rtt_ms"), ({"epsilon_ms": float("nan")}, "epsilon_ms"), ({"participants": 0}, "participants"),
     ({"participants": 1.5}, "participants"), ({"rtt_ms": float("inf")}, "rtt_ms")],
)  # fmt: skip
def test_what_cannot_be_is_named(given: dict[str, float], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        commit_latency(**given)  # type: ignore[arg-type]
