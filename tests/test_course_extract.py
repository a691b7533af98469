"""Answers are read from the syntax tree: what Python itself would make of plain data, and a refusal for all else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanlab.course.extract import MAX_SOURCE, NotStatic, Unreadable, answer_in, checked_ids, parse_cell

CHECK = '\nsl.check("1.1", answer)'

plain_data = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=30)
    | st.binary(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text(max_size=6) | st.integers(), inner, max_size=4)
        | st.tuples(inner, inner)
        | st.tuples(inner)
    ),
    max_leaves=15,
)


@settings(max_examples=200, deadline=None)
@given(plain_data)
def test_it_reads_what_repr_writes(value: Any) -> None:
    text = repr(value)
    if "inf" not in text:
        assert answer_in(f"answer = {text}{CHECK}", "1.1") == value


numbers = st.integers(-50, 50).map(str) | st.floats(-50, 50, allow_nan=False).map(lambda x: f"({x!r})")
operations = st.sampled_from(["+", "-", "*", "/", "//", "%"])
arithmetic = st.recursive(
    numbers,
    lambda inner: st.tuples(inner, operations, inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(arithmetic)
def test_arithmetic_is_pythons(text: str) -> None:
    try:
        want = eval(text)
    except ArithmeticError:
        with pytest.raises(NotStatic):
            answer_in(f"answer = {text}", "1.1")
        return
    assert answer_in(f"answer = {text}", "1.1") == pytest.approx(want, nan_ok=True)


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("answer = ..." + CHECK, ...),
        ("answer = 4" + CHECK, 4),
        ('sl.check("1.1", 4)', 4),
        ('check("1.1", answer=[1])', [1]),
        ('import spanlab\nresult = spanlab.check("1.1", (1, 2))', (1, 2)),
        ('sl.check("1.1")', ...),
        ("x = 3\nanswer = x + 1" + CHECK, 4),
        ("x = 3\nanswer = x\nx = 5" + CHECK, 3),
        ('head = "CREATE "\nanswer = head + "TABLE " "T"' + CHECK, "CREATE TABLE T"),
        ('answer = "\\n".join(["a", "b"])' + CHECK, "a\nb"),
        ('n = 4\nanswer = f"{n} nodes, {n / 2}"' + CHECK, "4 nodes, 2.0"),
        ('answer = "ab" * 3' + CHECK, "ababab"),
        ("answer = -2 ** 2" + CHECK, -4),
        ("a = b = 2\nanswer: int = a" + CHECK, 2),
        ('answer = {"a": [1, (2, 3)], "b": {4}}' + CHECK, {"a": [1, (2, 3)], "b": {4}}),
        ('%matplotlib inline\n!ls\nanswer = """\n%s\n"""' + CHECK, "\n%s\n"),
        ('answer = """\n%not magic\n"""' + CHECK, "\n%not magic\n"),
        ("answer = 1\nprint(answer)\n# a comment" + CHECK, 1),
        ("", ...),
        ("# nothing here", ...),
        ("answer = 1\nanswer = 2", 2),
        ('answer = 1\nsl.check("1.1", answer)\nanswer = 2', 1),
        ('sl.check("1.1", 1)\nsl.check("1.1", 2)', 2),
        ('print(sl.check("1.1", 1))', 1),
        ('sl.check(answer=1, challenge_id="1.1")', 1),
        ("answer = 1\nsl.check?" + CHECK, 1),
        ("files = !ls\nanswer = 1" + CHECK, 1),
        ("answer = 1\r\nother = 2\rthird = 3" + CHECK, 1),
        ('answer = "a"\nanswer.upper()\nprint(answer.split())' + CHECK, "a"),
        ('answer = 1\nsl.check("1.2", answer)', 1),
        ('other = 7\nanswer = 1\nsl.check("1.1", other)', 7),
    ],
)
def test_plain_data_is_read(cell: str, value: Any) -> None:
    got = answer_in(cell, "1.1")
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("answer = open('/etc/passwd').read()", "function call"),
        ("answer = __import__('os').system('true')", "function call"),
        ("answer = [x for x in range(9)]", "comprehension"),
        ("answer = unknown", "`unknown`"),
        ("answer = a.b", "attribute"),
        ("answer = [1][0]", "index"),
        ("answer = lambda: 1", "function"),
        ("answer = 1 if True else 2", "conditional"),
        ("answer = [*range(3)]", "unpacking"),
        ("answer = {**{}}", "Dict"),
        ("answer = 1 < 2", "comparison"),
        ("answer = [1]\nanswer.append(2)", "not plain data"),
        ("answer = [1]\nanswer[0] = 2", "not plain data"),
        ("rows = [1]\nanswer = rows\nrows.append(2)", "not plain data"),
        ("row = [1]\nanswer = {'a': [row]}\nrow.append(2)", "not plain data"),
        ("\n".join(["a0 = [0]", *(f"a{i} = [a{i - 1}]" for i in range(1, 999)), "answer = a998"]), "nested"),
        ("answer = 1\nanswer += 1", "not plain data"),
        ("answer = 1\nfor answer in range(3): pass", "not plain data"),
        ("answer = 1\ndel answer", "not plain data"),
        ("answer, other = 1, 2", "not plain data"),
        ("answer = 9 ** 9 ** 9", "too large"),
        ("answer = 2 ** 100000", "too large"),
        ("answer = 10.0 ** 400", "too large"),
        ("answer = (-8) ** 0.5", "not a real number"),
        ("answer = 'x' * 10 ** 9", "too many"),
        ("answer = [0] * 10 ** 9", "too many"),
        ("answer = ['x' * 20000] * 20000", "too many"),
        ("answer = 1 / 0", "division by zero"),
        ("answer = '%s' % 3", "arithmetic"),
        ("answer = True + 1", "arithmetic"),
        ("answer = {[1]: 2}", "cannot be a key"),
        ("answer = f'{1:>9999999999}'", "format"),
        ("answer = f'{[1]}'", "text and numbers"),
        ("answer = " + "[" * 150 + "]" * 150, "nested"),
        ("answer = " + "+".join(["1"] * 300), "nested"),
    ],
)
def test_what_is_not_plain_data_is_refused_with_the_reason(cell: str, words: str) -> None:
    with pytest.raises(NotStatic, match=words.replace("(", r"\(")):
        answer_in(cell + CHECK, "1.1")


@pytest.mark.parametrize(
    "cell",
    [
        "answer = (",
        "answer = 1 +",
        "  answer = 1\n answer = 2",
        "\0",
        "x" * (MAX_SOURCE + 1),
        "(" * 20_000,
        "-" * 40_000 + "1",
        "~" * 40_000,
        "lambda:" * 6_000 + "1",
        "f'{" * 200,
        "answer = '\ud800",
        "answer = 4\rx = (\r)))",
    ],
)
def test_what_is_not_python_is_unreadable(cell: str) -> None:
    with pytest.raises(Unreadable):
        parse_cell(cell)


def test_doubling_by_names_stays_small() -> None:
    """a = [0]*9; b = a+a; c = b+b … would be 2^40 items."""
    lines = ["a0 = [0, 1]", *(f"a{i} = a{i - 1} + a{i - 1}" for i in range(1, 40)), "answer = a39"]
    with pytest.raises(NotStatic, match="too many"):
        answer_in("\n".join(lines), "1.1")


def test_nesting_by_names_stays_small() -> None:
    """Lists of the same list: 2^40 leaves in 40 lines, though few objects."""
    lines = ["a0 = [0, 0]", *(f"a{i} = [a{i - 1}, a{i - 1}]" for i in range(1, 40)), "answer = a39"]
    with pytest.raises(NotStatic, match="too many"):
        answer_in("\n".join(lines), "1.1")


def test_hashing_shared_tuples_is_not_a_trap() -> None:
    lines = ["a0 = (0, 0)", *(f"a{i} = (a{i - 1}, a{i - 1})" for i in range(1, 60)), "answer = {a59}"]
    with pytest.raises(NotStatic, match="too many"):
        answer_in("\n".join(lines), "1.1")


def test_checked_ids() -> None:
    assert checked_ids('sl.check("1.1", 1)\ncheck("1.2")\nother("1.3")\nsl.check(name)') == ["1.1", "1.2"]
    assert checked_ids("sl.check(") == []
