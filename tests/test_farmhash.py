"""FARM_FINGERPRINT and BIT_REVERSE against published values, pyfarmhash and the definition."""

from __future__ import annotations

import json
from pathlib import Path

import farmhash as pyfarmhash
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanlab as sl
from spanlab.farmhash import bit_reverse, bit_reverse_array, farm_fingerprint, farm_fingerprint_array

VECTORS = Path(__file__).parents[2] / "shared" / "corpus" / "vectors"
needs_vectors = pytest.mark.skipif(not VECTORS.is_dir(), reason="the shared corpus is not here")


def oracle(text: str | bytes) -> int:
    unsigned = pyfarmhash.fingerprint64(text)
    return unsigned - 2**64 if unsigned >= 2**63 else unsigned


def vectors(name: str) -> dict[str, list]:
    return json.loads((VECTORS / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "fingerprint"),  # facts.md 2.4
    [("1footrue", -1541654101129638711), ("2applefalse", 2794438866806483259), ("3true", -4880158226897771312)],
)
def test_fingerprints_of_the_documentation(text: str, fingerprint: int) -> None:
    assert sl.farm_fingerprint(text) == fingerprint
    assert farm_fingerprint_array([text]).tolist() == [fingerprint]


@needs_vectors
def test_published_fingerprints() -> None:
    cases = vectors("farm_fingerprint.json")["cases"]
    texts = [case["input"] if "input" in case else bytes.fromhex(case["hex"]) for case in cases]
    wanted = [int(case["expected"]) for case in cases]
    assert [farm_fingerprint(text) for text in texts] == wanted
    assert farm_fingerprint_array(texts).tolist() == wanted


@needs_vectors
def test_self_test_of_farmhash() -> None:
    a, b, data = 9, 777, bytearray(1 << 20)
    k0, low = 0xC3A5C85C97CB3127, 2**64 - 1
    for i in range(len(data)):
        a = (a + b) & low
        b = (b + a) & low
        a = ((a ^ (a >> 41)) * k0) & low
        b = ((b ^ (b >> 41)) * k0 + i) & low
        data[i] = (b >> 37) & 255
    for offset, length, wanted in vectors("farm_fingerprint_selftest.json")["cases"]:
        text = bytes(data[offset : offset + length])
        assert farm_fingerprint_array([text]).tolist() == [wanted], length
        if length < 100_000:
            assert farm_fingerprint(text) == wanted, length


def test_every_length_is_equal_to_pyfarmhash() -> None:
    rng = np.random.default_rng(0)
    for length in range(1100):
        rows = rng.integers(0, 256, (2, length), np.uint8)
        wanted = [oracle(bytes(row)) for row in rows]
        assert farm_fingerprint_array(rows).tolist() == wanted, length
        assert farm_fingerprint(bytes(rows[0])) == wanted[0], length


@given(st.lists(st.one_of(st.text(max_size=70), st.binary(max_size=1200))))
def test_any_texts_are_equal_to_pyfarmhash(texts: list[str | bytes]) -> None:
    wanted = [oracle(text) for text in texts]
    assert farm_fingerprint_array(texts).tolist() == wanted
    assert [farm_fingerprint(text) for text in texts] == wanted


@given(st.lists(st.text(max_size=40)))
def test_an_array_of_objects_is_read_like_a_list(texts: list[str]) -> None:
    assert farm_fingerprint_array(np.array(texts, object)).tolist() == [oracle(text) for text in texts]


def test_more_texts_than_are_hashed_at_once() -> None:
    texts = [str(i) for i in range(20_000)]
    assert farm_fingerprint_array(texts).tolist() == [oracle(text) for text in texts]


def test_rows_that_are_a_slice_of_a_wider_array() -> None:
    wide = np.random.default_rng(1).integers(0, 256, (50, 80), np.uint8)
    assert farm_fingerprint_array(wide[:, 3:40]).tolist() == [oracle(bytes(row)) for row in wide[:, 3:40]]


@pytest.mark.parametrize("value", [None, 5, 1.5, "\ud800", ["a"]])
def test_a_fingerprint_needs_a_text(value: object) -> None:
    with pytest.raises(ValueError, match="value"):
        farm_fingerprint(value)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="value"):
        farm_fingerprint_array([value])  # type: ignore[list-item]


BIT_REVERSE_TABLE = [  # facts.md 2.3
    (1, True, 4611686018427387904), (1, False, -9223372036854775808),
    (2, True, 2305843009213693952), (2, False, 4611686018427387904),
    (3, True, 6917529027641081856), (3, False, -4611686018427387904),
    (4, True, 1152921504606846976), (100, True, 1369094286720630784),
    (5, True, 5764607523034234880), (100, False, 2738188573441261568),
    (6, True, 3458764513820540928), (-100, True, -7133701809754865665),
    (7, True, 8070450532247928832), (-100, False, 4179340454199820287),
    (8, True, 576460752303423488), (101, True, 5980780305148018688),
]  # fmt: skip


@pytest.mark.parametrize(("value", "preserve_sign", "wanted"), BIT_REVERSE_TABLE)
def test_bit_reverse_of_the_fact_sheet(value: int, preserve_sign: bool, wanted: int) -> None:
    assert sl.bit_reverse(value, preserve_sign) == wanted
    assert bit_reverse_array(np.array([value]), preserve_sign).tolist() == [wanted]


@needs_vectors
def test_published_bit_reversals() -> None:
    for case in vectors("bit_reverse.json")["cases"]:
        if isinstance(case.get("value"), int) and "preserve_sign" in case:
            assert bit_reverse(case["value"], case["preserve_sign"]) == case["expected"], case


@given(st.lists(st.integers(-(2**63), 2**63 - 1)), st.booleans())
def test_bit_reverse_mirrors_the_bits(values: list[int], preserve_sign: bool) -> None:
    def mirrored(value: int) -> int:
        bits = [value >> i & 1 for i in range(64)]  # bit 63 is the sign
        turned = [*bits[62::-1], bits[63]] if preserve_sign else bits[::-1]
        return sum(bit << i for i, bit in enumerate(turned[:63])) - (turned[63] << 63)

    wanted = [mirrored(value) for value in values]
    assert [bit_reverse(value, preserve_sign) for value in values] == wanted
    array = bit_reverse_array(np.array(values, np.int64), preserve_sign)
    assert array.tolist() == wanted
    assert bit_reverse_array(array, preserve_sign).tolist() == values


@pytest.mark.parametrize(("value", "preserve_sign"), [(2**63, True), (1.5, True), (True, True), (None, False), (1, 1)])
def test_bit_reverse_refuses_what_is_no_int64(value: object, preserve_sign: object) -> None:
    with pytest.raises(ValueError, match=r"value|preserve_sign"):
        bit_reverse(value, preserve_sign)  # type: ignore[arg-type]
