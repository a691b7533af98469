"""Answers of every kind, and things that are no answer: nothing raises, nothing lies its way to a mark."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanlab.course.challenge import (
    NOT_ATTEMPTED,
    STATES,
    UNREADABLE,
    Challenge,
    Criterion,
    Line,
    Outcome,
    WrongAnswer,
    judge,
)
from spanlab.course.challenges import all_challenges
from spanlab.course.feedback import Card, card
from spanlab.course.kinds import (
    Choice,
    Fields,
    Kind,
    ListOf,
    MultiChoice,
    Number,
    OneOf,
    Ordering,
    SomeOf,
    WrongKind,
    ddl,
    is_open,
    plain,
    sql,
)
from spanlab.errors import SchemaError


class Raises:
    """Every method that an unwary reader might call raises."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError("repr")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")

    def __hash__(self) -> int:
        raise RuntimeError("hash")

    def __bool__(self) -> bool:
        raise RuntimeError("bool")

    def __len__(self) -> int:
        raise RuntimeError("len")


class Liar(int):
    """Equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __ge__(self, other: object) -> bool:
        return True


class LiarText(str):
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class Meta(type):
    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise RuntimeError("name")


class Nameless(metaclass=Meta):
    pass


def endless_list() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


STRANGE: list[Any] = [
    *(Raises(), Liar(4), LiarText("c"), Nameless(), Nameless, object(), {Liar(1): 2}, [Liar(1)] * 5, {1: Raises()}),
    *(print, lambda: 4, type, range(5), iter([1]), NotImplemented, Exception("x"), OrderedDict(a=1), frozenset({1, 2})),
    *(b"4", 4j, math.nan, math.inf, -math.inf, 10**5000, -(10**40), 1e308, True, "\ud800", "\0", "x" * 10**6),
    *([0] * 10**5, endless_list(), deep(5000), {"a": {"b": {}}}, [None, 1, 2, 3, 4], [...], [[]] * 5, ["a"] * 6),
    *("<script>alert(1)</script>", "=1+1"),
]


@pytest.mark.parametrize("challenge", [pytest.param(c, id=c.id) for c in all_challenges()])
def test_nothing_raises_and_nothing_strange_earns_points(challenge: Challenge) -> None:
    for value in STRANGE:
        verdict = judge(challenge, value)
        assert verdict.state in STATES
        assert verdict.points == 0 or type(value) in (list, dict, str, int, float)
        assert "fault of the course" not in verdict.message
        shown = card(verdict)
        assert repr(shown).encode()
        assert "<script" not in shown.html()


plain_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=4) | st.tuples(inner, inner)
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(plain_data, st.sampled_from(all_challenges()))
def test_any_plain_data_scores_between_nothing_and_all(value: Any, challenge: Challenge) -> None:
    verdict = judge(challenge, value)
    assert 0 <= verdict.points <= challenge.points
    assert verdict.state in STATES
    assert "fault of the course" not in verdict.message
    assert repr(card(verdict)) == repr(card(judge(challenge, value)))


@pytest.mark.parametrize(
    ("kind", "given_", "read"),
    [
        (Number(), 3, 3),
        (Number(), 0.375, 0.375),
        (Number(whole=True), 4.0, 4),
        (Choice("abcd"), " C ", "c"),
        (Choice("ABC"), "(b)", "B"),
        (MultiChoice("ABCDEFGH"), ["f", "A", "d", "A"], ("A", "D", "F")),
        (MultiChoice("ABCD"), "A, C", ("A", "C")),
        (MultiChoice("ABCD"), {"B"}, ("B",)),
        (MultiChoice("ABCD"), "dca", ("A", "C", "D")),
        (Ordering(("Albums(1,2)", "Artists(1)")), ["artists(1)", "Albums(1, 2)"], ("Artists(1)", "Albums(1,2)")),
        (Ordering(("t", "T")), ["T", "t"], ("T", "t")),
        (Fields((("a", Number()), ("b", Number()))), {"B": 2, " A ": 1}, {"a": 1, "b": 2}),
        (OneOf(("key", "HOT_ROW")), " Hot_Row\n", "HOT_ROW"),
        (OneOf(("key", "HOT_ROW")), ["HOT_ROW"], "HOT_ROW"),
        (OneOf(("key", "HOT_ROW")), ("KEY",), "key"),
        (OneOf((True, False)), False, False),
        (OneOf((True, False)), "true", True),
        (SomeOf(("a", "b", "c")), ["C", " a", "c"], ("a", "c")),
        (SomeOf(("a", "b", "c")), {"b"}, ("b",)),
        (SomeOf(("a", "b", "c")), [], ()),
        (ListOf(Number(whole=True), 2), (1, 2), (1, 2)),
        (Ordering((("a", 1), ("b", None))), [["b", None], ["a", 1]], (("b", None), ("a", 1))),
        (Fields((("ddl", ddl()), ("nodes", Number()))), {"nodes": 3}, {"ddl": ..., "nodes": 3}),
        (sql(), "SELECT 1", "SELECT 1"),
    ],
)
def test_a_kind_reads(kind: Kind, given_: Any, read: Any) -> None:
    assert kind.read(plain(given_)) == read


@pytest.mark.parametrize(
    ("kind", "given_", "words"),
    [
        (Number("nodes", whole=True), "4", ["whole number (nodes)", "without quotes", "'4'"]),
        (Number(whole=True), 3.43, ["whole number", "3.43"]),
        (Number(), True, ["number", "True"]),
        (Number(whole=True), 1e300, ["whole number"]),
        (Number(), math.nan, ["number", "nan"]),
        (Choice("abcd"), "e", ["a, b, c, d", "'e'"]),
        (Choice("abcd"), 3, ["in quotes", "the number 3"]),
        (MultiChoice("ABCD"), ["A", "Z"], ["'Z'"]),
        (MultiChoice("ABCD"), "ABZ", ["'ABZ'"]),
        (Fields((("a", Number()),)), {"a": 1, "A": 2}, ["'a' is there twice"]),
        (OneOf(("key", "HOT_ROW")), "hot row", ["one of the words key, HOT_ROW, in quotes", "'hot row'"]),
        (OneOf(("key", "HOT_ROW")), "HOT_ROW.", ["'HOT_ROW.'"]),
        (OneOf(("key", "HOT_ROW")), ["key", "HOT_ROW"], ["a list of 2 items"]),
        (OneOf(("key", "HOT_ROW")), 3, ["the number 3"]),
        (OneOf((True, False)), 1, ["one of the words True, False;", "the number 1"]),
        (OneOf((True, False)), 0.0, ["the number 0.0"]),
        (SomeOf(("a", "b")), "a", ["a list, each item one of the words a, b, in quotes", "'a'"]),
        (SomeOf(("a", "b")), ["a", "d"], ["one of the words a, b", "'d'"]),
        (ListOf(Number(), 5), [1, 2], ["list of 5", "2 items"]),
        (Ordering(("a", "b")), ["a", "c"], ["'c' is not one of"]),
        (Ordering(("a", "b")), ["a"], ["'b' is missing"]),
        (Ordering(("a", "b")), ["a", "b", "a"], ["twice"]),
        (Fields((("ddl", ddl()),)), {"dll": "x"}, ["'dll'", "'ddl'"]),
        (Fields((("nodes", Number()),)), {"nodes": "3"}, ["'nodes'", "without quotes"]),
        (ddl(), 5, ["DDL as a text in quotes", "the number 5"]),
    ],
)
def test_a_wrong_kind_is_told_in_a_sentence(kind: Kind, given_: Any, words: list[str]) -> None:
    with pytest.raises(WrongKind) as reason:
        kind.read(plain(given_))
    assert all(word in str(reason.value) for word in words), str(reason.value)


def test_numpy_and_schema_objects_are_told_how_to_become_plain() -> None:
    import numpy as np

    with pytest.raises(WrongKind, match="numpy int64"):
        plain(np.int64(4))
    with pytest.raises(WrongKind, match="brackets of the call"):
        plain(len)


def test_plain_copies() -> None:
    inner = [1]
    copy = plain({"a": inner})
    inner.append(2)
    assert copy == {"a": [1]}


OPEN = [..., None, "", " ", [], {}, [..., None], {"a": ...}]
GIVEN = [0, False, [0], "x", {"a": 0}]


@pytest.mark.parametrize(("value", "open_"), [*((v, True) for v in OPEN), *((v, False) for v in GIVEN)])
def test_what_counts_as_open(value: Any, open_: bool) -> None:
    assert is_open(value) is open_


# ---- a challenge whose own parts misbehave -------------------------------------------------------------------------


def met(share: float) -> Any:
    return lambda value: Outcome(share, "seen")


def broken(**parts: Any) -> Challenge:
    """A challenge of 4 points whose criteria are met to 60 %, with other parts where given."""
    criteria = parts.pop("criteria", (Criterion(60, "x", met(1)), Criterion(40, "y", met(0))))
    return Challenge("0.1", "T", 4, Number(), ("a", "b", "c"), "note", "topic", criteria, **parts)


def boom(*_: object) -> Any:
    raise ZeroDivisionError("inside")


def refuse(*_: object) -> Any:
    raise SchemaError("Spanner refuses this", hint="write that")


def test_a_fault_of_a_criterion_costs_only_that_criterion() -> None:
    verdict = judge(broken(criteria=(Criterion(60, "x", met(1)), Criterion(40, "y", boom))), 1)
    assert (verdict.state, verdict.points) == ("partial", 2.4)
    assert "fault of the course" in verdict.message


def test_an_error_that_teaches_is_shown_as_it_is() -> None:
    verdict = judge(broken(look=refuse), 1)
    assert (verdict.state, verdict.points) == (UNREADABLE, 0)
    assert "write that" in verdict.message
    verdict = judge(broken(criteria=(Criterion(100, "y", refuse),)), 1)
    assert verdict.lines[0].seen == "could not be measured"
    assert "Spanner refuses this" in verdict.message


@pytest.mark.parametrize("error", [RecursionError, MemoryError])
def test_an_answer_too_large_is_told_so(error: type[Exception]) -> None:
    def swell(*_: object) -> Any:
        raise error

    assert "too large" in judge(broken(look=swell), 1).message


def test_shares_outside_the_range_are_cut() -> None:
    verdict = judge(
        broken(criteria=(Criterion(50, "x", met(7)), Criterion(50, "y", met(-3)))),
        1,
    )
    assert verdict.points == 2


def test_a_diagnosis_that_cannot_look_is_silent() -> None:
    wrong = (WrongAnswer(1, "never", boom), WrongAnswer(1, "always", lambda v: True), WrongAnswer(2, "another"))
    assert judge(broken(wrong=wrong), 1).diagnoses == ("always",)


def test_a_remark_is_kept_for_a_full_answer() -> None:
    full = broken(
        criteria=(Criterion(100, "x", met(1)),),
        wrong=(WrongAnswer(1, "also so", full=True), WrongAnswer(1, "no")),
    )
    assert judge(full, 1).diagnoses == ("also so",)


# ---- the card ------------------------------------------------------------------------------------------------------


def test_a_card_says_everything_in_words() -> None:
    html = card(judge(broken(), 1)).html()
    assert 'role="status"' in html
    assert "partly right, 2.4 of 4 points" in html
    assert html.count("not met") == 1
    assert "color:" in html


def test_a_card_escapes_what_it_shows() -> None:
    line = Line(50, "<u>wanted", 0.5, "<u>seen")
    shown = Card("failed", "<b>x</b>", (("a<b", 'one\n<img src="x">'), ("", "<img>")), (line,))
    assert "<b>x</b>" not in shown.html()
    assert "<img" not in shown.html()
    assert "<u>" not in shown.html()
    bundle = shown._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert bundle["text/plain"] == repr(shown)


def test_not_attempted_promises_the_points() -> None:
    verdict = judge(broken(), ...)
    assert verdict.state == NOT_ATTEMPTED
    assert "4 points to win" in repr(card(verdict))
