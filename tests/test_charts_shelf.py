"""The shelf: rows in stored order as tiles, cuts as bars, one family in full colour."""

from __future__ import annotations

import json
from itertools import pairwise

import altair as alt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanlab as sl
from spanlab.charts import style
from spanlab.charts.shelf import BASE, HUES, LEAST_TILES, Shelf, Tile, pale, places, shelves
from spanlab.panels.family_shelf import LAYOUTS, MOST_TILES, example, shelves_of

WORDS = {"heading": ("Heading", "below"), "caption": ["Made for a test."], "description": "tiles on two shelves"}


def tile(number: int, *, own: bool = False, table: int | None = 0) -> Tile:
    return Tile(f"T({number})", str(number), table, own)


TWO = [
    Shelf("one", [tile(1), tile(2, own=True, table=1), tile(3, own=True, table=2), tile(4)], [3]),
    Shelf("two", [tile(5, own=True, table=None)]),
]
CHART = shelves(TWO, legend=["A", "B", "C"], **WORDS)


def test_a_tile_stands_where_its_row_is_stored() -> None:
    tiles = CHART["datasets"]["tiles"]
    assert [one["row"] for one in tiles] == ["T(1)", "T(2)", "T(3)", "T(4)", "T(5)"]
    first = tiles[:4]
    assert all(left["to"] == pytest.approx(right["from"]) for left, right in pairwise(first))
    assert all(one["to"] - one["from"] == pytest.approx(1 / LEAST_TILES, abs=2e-5) for one in tiles)
    assert [int(one["base"]) for one in tiles] == [0, 0, 0, 0, 1]
    assert tiles[4]["from"] == 0


def test_only_the_family_has_full_colour_and_each_table_its_height() -> None:
    tiles = CHART["datasets"]["tiles"]
    assert [one["colour"] in (*HUES, style.PURPLE) for one in tiles] == [False, True, True, False, True]
    assert tiles[0]["colour"] == tiles[3]["colour"] == pale(HUES[0])
    heights = [round(one["base"] - one["top"], 2) for one in tiles[:3]]
    assert heights == sorted(heights, reverse=True)
    assert len(set(heights)) == 3
    legend = CHART["datasets"]["legend"]
    assert [one["words"] for one in legend] == ["A", "B", "C", "index entries"]
    assert [one["colour"] for one in legend] == [*HUES[:3], style.PURPLE]


def test_a_cut_is_a_bar_before_the_row_that_begins_a_split() -> None:
    (cut,) = CHART["datasets"]["cuts"]
    assert cut["at"] == pytest.approx(CHART["datasets"]["tiles"][3]["from"])
    assert cut["top"] < BASE < cut["base"] < 1


def test_it_is_a_picture_of_this_course() -> None:
    config = {key: value for key, value in CHART["config"].items() if key != "image"}
    alt.Chart.from_dict(CHART | {"config": config}, validate=True)
    assert json.loads(json.dumps(CHART, allow_nan=False)) == CHART
    for rows in CHART["datasets"].values():
        assert all(not isinstance(v, float) or v == round(v, 5) for row in rows for v in row.values())
    assert CHART["description"] == "tiles on two shelves"


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_labels_can_be_read_on_every_colour() -> None:
    for table in (0, 1, 2, 3, 4, None):
        for own in (True, False):
            chart = shelves([Shelf("s", [tile(1, own=own, table=table)])], legend=["A"] * 5, **WORDS)
            (one,) = chart["datasets"]["tiles"]
            ink = "#FFFFFF" if one["ink"] == "white" else one["ink"]
            assert contrast(ink, one["colour"]) >= 4.5


def test_narrow_tiles_have_no_label() -> None:
    many = shelves([Shelf("s", [tile(number) for number in range(100)])], legend=["A"], **WORDS)
    assert {one["label"] for one in many["datasets"]["tiles"]} == {""}
    assert {one["label"] for one in CHART["datasets"]["tiles"]} == {"1", "2", "3", "4", "5"}


@given(st.lists(st.booleans(), max_size=30), st.sets(st.integers(1, 29)))
def test_places_are_runs_of_neighbours(own: list[bool], cuts: set[int]) -> None:
    shelf = Shelf(
        "s", [tile(number, own=one) for number, one in enumerate(own)], sorted(c for c in cuts if c < len(own))
    )
    text = "".join("|" * (place in shelf.cuts) + ("x" if one else " ") for place, one in enumerate(own))
    assert places(shelf) == len([run for run in text.replace("|", " | ").split() if "x" in run])


# ------------------------------------------------------------------------------------------------ shelves of a database


@pytest.mark.parametrize("layout", [word for _, word in LAYOUTS])
def test_the_example_has_the_same_rows_in_every_layout(layout: str) -> None:
    shown = shelves_of(example(layout), {"ShopperId": "s2"}, "family")
    tiles = [one for shelf in shown for one in shelf.tiles]
    assert (len(tiles), sum(one.own for one in tiles)) == (3 + 9 + 18, 10)
    assert len(shown) == (3 if layout == "separate" else 1)
    assert sum(places(shelf) for shelf in shown) == (9 if layout == "separate" else 1)


def test_tiles_of_a_family_stand_as_the_database_stores_its_rows() -> None:
    database = example("cascade")
    (shelf,) = shelves_of(database, {"ShopperId": "s2"}, "family")
    assert [one.name for one in shelf.tiles] == database.rows_in_order()
    assert all(('"s2"' in one.name) == one.own for one in shelf.tiles)


@pytest.mark.parametrize("layout", ["cascade", "separate"])
def test_entries_of_an_index_belong_to_the_family_of_their_row(layout: str) -> None:
    *_, index = shelves_of(example(layout, index=True), {"ShopperId": "s2"}, "family")
    assert (index.name, len(index.tiles)) == ("index PurchasesByDay", 9)
    assert (sum(one.own for one in index.tiles), places(index)) == (3, 3)
    assert {one.table for one in index.tiles} == {None}


def test_shelf_says_in_how_many_places_a_family_stands() -> None:
    assert str(sl.shelf("cascade")) == "Interleaved: 10 rows in 1 place."
    database = example("in parent")
    database.splits.cut("Purchases", ["s2", "p54"])
    shown = sl.shelf(database, of={"ShopperId": "s2"})
    assert str(shown) == "Interleaved: 10 rows in 2 places."
    assert len(shown.chart["datasets"]["cuts"]) == 1


def test_each_shelf_says_how_much_of_the_family_it_holds() -> None:
    planks = sl.shelf(["cascade", "separate"]).chart["datasets"]["planks"]
    assert [one["name"].partition(" · ")[2] for one in planks] == [
        "10 rows in 1 place", "1 row in 1 place", "3 rows in 3 places", "6 rows in 5 places",
    ]  # fmt: skip


def test_entries_of_an_index_by_day_rise_in_their_labels() -> None:
    *_, index = shelves_of(example("cascade", 6, 8, 0, index=True), {"ShopperId": "s2"}, "family")
    days = [int(one.label) for one in index.tiles]
    assert len(days) == 48
    assert days == sorted(days)


def test_shelf_of_nobody_and_of_many() -> None:
    assert str(sl.shelf("separate", of={"ShopperId": "s9"})) == "Separate tables: 0 rows in 0 places."
    assert str(sl.shelf("cascade", of={"NoColumn": 1})) == "Interleaved: 0 rows in 0 places."
    long = example("cascade", 6, 8, 4)
    long.load("Shoppers", ["ShopperId"], [[f"t{number}"] for number in range(300)])
    chart = sl.shelf(long).chart
    assert len(chart["datasets"]["tiles"]) == MOST_TILES
    assert "first 400 rows" in " ".join(chart["title"]["text"])


def test_shelf_names_a_layout_that_it_does_not_know() -> None:
    with pytest.raises(ValueError, match="Did you mean separate"):
        sl.shelf("seperate")
