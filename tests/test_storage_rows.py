"""Rows in key order: ranges, row numbers and cached columns, against brute force."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from spanlab.catalog import KeyPart
from spanlab.schema import Schema
from spanlab.storage import Database
from spanlab.storage.rows import TableRows, after_prefix
from spanlab.values import Type

numbers = st.one_of(st.none(), st.integers(-3, 3))
texts = st.sampled_from([None, "", "a", "a\x00", "a\x00b", "ab", "b", "\U0010ffff"])
BOUND = st.one_of(st.just(...), numbers)


def stored(rows, descs):
    key = [KeyPart("A", descs[0]), KeyPart("B", descs[1])]
    found = TableRows("T", ["A", "B", "C"], [Type("STRING"), Type("INT64"), Type("INT64")], key)
    for number, (a, b) in enumerate(rows):
        found.put(found.encode((a, b)), (a, b, number))
    return found


def smaller(left, right):
    return (left is None and right is not None) or (left is not None and right is not None and left < right)


@given(
    st.lists(st.tuples(texts, numbers), unique=True),
    st.tuples(st.booleans(), st.booleans()),
    texts, BOUND, BOUND, st.booleans(), st.booleans(),
)  # fmt: skip
def test_span_against_brute_force(rows, descs, prefix, low, high, low_open, high_open):
    found = stored(rows, descs)

    def inside(row):
        a, b, _ = row
        if a != prefix:
            return False
        if low is not ... and (smaller(b, low) or (low_open and b == low)):
            return False
        return high is ... or not (smaller(high, b) or (high_open and b == high))

    where = found.span((prefix,), low, high, low_open=low_open, high_open=high_open)
    assert found.values(where) == [row for row in found.values() if inside(row)]


@given(st.lists(st.tuples(texts, numbers), unique=True), st.tuples(st.booleans(), st.booleans()))
def test_rows_lie_in_key_order(rows, descs):
    found = stored(rows, descs)
    for left, right in zip(found.values(), found.values()[1:], strict=False):
        for position in (0, 1):
            if left[position] != right[position]:
                first = right if descs[position] else left
                assert smaller(first[position], (left if first is right else right)[position])
                break


@given(st.lists(st.tuples(st.sampled_from(["put", "remove", "look"]), st.integers(0, 20)), max_size=60))
def test_keys_follow_writes(steps):
    """Keys are put in order only when somebody looks; every look must see all writes before it."""
    found = TableRows("T", ["A"], [Type("INT64")], [KeyPart("A")])
    model: dict[int, int] = {}
    for count, (step, number) in enumerate(steps):
        key = found.encode((number,))
        if step == "put":
            found.put(key, (number,))
            model[number] = count
        elif step == "remove" and number in model:
            found.remove(key)
            del model[number]
        else:
            assert [row[0] for row in found.values()] == sorted(model)
            assert found.vectors(["A"])["A"].to_list() == sorted(model)
            assert found.numbers([(n,) for n in range(21)]).tolist() == [
                sorted(model).index(n) if n in model else -1 for n in range(21)
            ]
    assert [row[0] for row in found.values()] == sorted(model)


@given(st.binary(max_size=4), st.binary(max_size=6))
def test_after_prefix(prefix, other):
    beyond = after_prefix(prefix)
    if other.startswith(prefix):
        assert beyond is None or other < beyond
    elif other > prefix:
        assert beyond is not None
        assert other >= beyond


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), unique_by=lambda row: row[0]))
def test_entries_know_their_rows(rows):
    db = Database(Schema.from_ddl("CREATE TABLE T (A INT64, B INT64) PRIMARY KEY (A); CREATE INDEX I ON T (B DESC)"))
    db.commit([("insert", "T", ["A", "B"], rows)])
    entries, table = db.stored("i"), db.stored("t")
    assert entries.values() == sorted(((b, a) for a, b in rows), key=lambda entry: (-entry[0], entry[1]))
    base = [table.values()[number] for number in entries.base_numbers()]
    assert [(b, a) for a, b in base] == entries.values()
    assert entries.vectors(["A"])["A"].to_list() == [a for _, a in entries.values()]
    half = slice(0, len(rows) // 2)
    assert entries.vectors(["B"], half)["B"].to_list() == [b for b, _ in entries.values(half)]
    assert entries.base_numbers(half).tolist() == entries.base_numbers().tolist()[half]
