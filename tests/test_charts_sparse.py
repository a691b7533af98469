"""The bars of indexes: as long as their bytes, in words for those who do not see them, valid, the same every time."""

from __future__ import annotations

import json

import altair as alt
from hypothesis import given, settings
from hypothesis import strategies as st

from spanlab.charts import style
from spanlab.charts.sparse import NULL_GREY, IndexBar, index_bars

WORDS = {"title": "t", "subtitle": "s", "caption": ["Made for a test."], "description": "three bars for a test"}
ALL, DUE, NONE = (
    IndexBar("All", 50, 2_600, 40, 2_000),
    IndexBar("Due", 1, 650, 0, 0),
    IndexBar("None", 0, 0, 0, 0),
)


def parts(*bars: IndexBar) -> list[dict[str, object]]:
    return index_bars(bars, **WORDS)["datasets"]["bars"]


def test_a_bar_is_as_long_as_its_bytes_and_grey_where_it_is_null() -> None:
    rows = [(row["name"], row["part"], row["from"], row["to"]) for row in parts(ALL, DUE, NONE)]
    assert rows == [
        ("All", "NULL", 0, round(2_000 / 2_600, 4)),
        ("All", "not NULL", round(2_000 / 2_600, 4), 1),
        ("Due", "NULL", 0, 0),
        ("Due", "not NULL", 0, 0.25),
        ("None", "NULL", 0, 0),
        ("None", "not NULL", 0, 0),
    ]


def test_words_stand_behind_each_bar_and_in_a_grey_part_that_has_room() -> None:
    assert [row["behind"] for row in parts(ALL, DUE, NONE) if row["behind"]] == [
        "50 entries, 0.003 MB", "1 entry, 0.001 MB", "0 entries, 0 MB",
    ]  # fmt: skip
    assert [row["inside"] for row in parts(ALL, DUE, NONE) if row["inside"]] == ["40 NULL"]
    assert not any(row["inside"] for row in parts(IndexBar("Narrow", 100, 1_000, 1, 10)))


@settings(deadline=None)  # the first picture imports altair
@given(st.lists(st.tuples(st.integers(0, 10**12), st.integers(0, 10**12)), min_size=1, max_size=8))
def test_no_bar_leaves_the_scale(sizes: list[tuple[int, int]]) -> None:
    bars = [IndexBar(f"I{n}", 9, null + rest, 4, null) for n, (null, rest) in enumerate(sizes)]
    rows = parts(*bars)
    assert all(0 <= row["from"] <= row["to"] <= 1 for row in rows)  # type: ignore[operator]
    longest = max(bar.size for bar in bars)
    assert not longest or max(row["to"] for row in rows) == 1  # type: ignore[type-var]


def test_the_specification_is_valid_and_the_same_every_time() -> None:
    chart = index_bars([ALL, DUE], **WORDS)
    assert json.dumps(chart) == json.dumps(index_bars([ALL, DUE], **WORDS))
    alt.Chart.from_dict(chart | {"config": {k: v for k, v in chart["config"].items() if k != "image"}}, validate=True)
    assert chart["config"]["background"] == "white"
    assert chart["description"] == WORDS["description"]


def test_text_in_the_grey_part_can_be_read() -> None:
    def luminance(colour: str) -> float:
        channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    grey, ink, blue = (luminance(colour) for colour in (NULL_GREY, style.INK, style.BLUE))
    assert (grey + 0.05) / (ink + 0.05) >= 4.5
    assert (grey + 0.05) / (blue + 0.05) >= 1.5  # the two parts differ in brightness, not in hue alone
