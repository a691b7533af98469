"""The shelf: rows in stored order, each a book on a plank, and the cuts between splits as bars.

A family of tables is one shelf; tables that are not interleaved, and global indexes, are shelves of their own. Each
table has a colour and a height. The rows of one family are in full colour and all others pale, so that one glance tells
whether they stand together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from spanlab.charts.figure import Heading, Rows, fill, shape
from spanlab.charts.renderer import Spec
from spanlab.charts.style import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, SKY

WIDTH, PLANK, LEAST_TILES = 640, 78, 12
"""Pixels of a shelf, from left to right and from plank to plank; so many tiles have room on one at least."""
HUES = (BLUE, ORANGE, GREEN, SKY, PURPLE)
HEIGHTS = (0.62, 0.47, 0.33, 0.22)
INDEX_HUE, INDEX_HEIGHT = PURPLE, 0.33
BASE, CUT_TOP = 0.94, 0.22
"""Where the plank lies within a shelf, and where the bar of a cut begins: 0 is the top, 1 the bottom."""
LABEL_PIXELS = 19
"""A tile that is narrower has no label."""


@dataclass(frozen=True)
class Tile:
    """One row: its full name, a short label, its table, and whether it belongs to the family that is looked at.

    `table` is the number of its table among those of the picture; None is an index.
    """

    name: str
    label: str
    table: int | None
    own: bool


@dataclass(frozen=True)
class Shelf:
    """A key space: what it is called, its rows in stored order, and the places of those that begin another split."""

    name: str
    tiles: Sequence[Tile]
    cuts: Sequence[int] = ()


def places(shelf: Shelf) -> int:
    """In how many places of a shelf the family stands: rows side by side, with no cut between, are one."""
    tiles = shelf.tiles
    return sum(
        tile.own and (place == 0 or not tiles[place - 1].own or place in shelf.cuts) for place, tile in enumerate(tiles)
    )


def shelves(
    shown: Sequence[Shelf], *, legend: Sequence[str], heading: Heading, caption: list[str], description: str
) -> Spec:
    """Shelves below each other. `legend` names the tables, in the order of the tiles' numbers."""
    most = max([LEAST_TILES, *(len(shelf.tiles) for shelf in shown)])  # all shelves have tiles of one width
    indexed = any(tile.table is None for shelf in shown for tile in shelf.tiles)
    data: dict[str, Rows] = {
        "legend": list(_legend(legend, indexed)),
        "tiles": [row for number, shelf in enumerate(shown) for row in _tiles(number, shelf, most)],
        "planks": [
            {"from": 0, "to": 1, "base": number + BASE, "name": shelf.name, "top": number + 0.13}
            for number, shelf in enumerate(shown)
        ],
        "cuts": [
            {"at": round(cut / most, 5), "top": number + CUT_TOP, "base": number + 0.99}
            for number, shelf in enumerate(shown)
            for cut in shelf.cuts
        ],
    }
    return fill(_shape(len(shown)), data, headings=[heading, None], caption=caption, description=description)


def _look(table: int | None) -> tuple[str, float]:
    """The colour and the height of a table's tiles."""
    if table is None:
        return INDEX_HUE, INDEX_HEIGHT
    return HUES[table % len(HUES)], HEIGHTS[min(table, len(HEIGHTS) - 1)]


def _legend(names: Sequence[str], indexed: bool) -> Iterator[dict[str, object]]:
    numbers: list[int | None] = [*range(len(names)), *([None] if indexed else [])]
    for place, number in enumerate(numbers):
        colour, height = _look(number)
        yield {
            "from": round(0.2 * place, 3),
            "to": round(0.2 * place + 0.02, 3),
            "words": "index entries" if number is None else names[number],
            "colour": colour,
            "top": round(1 - height, 3),
            "base": 1,
        }


def _tiles(number: int, shelf: Shelf, most: int) -> Iterator[dict[str, object]]:
    for place, tile in enumerate(shelf.tiles):
        hue, height = _look(tile.table)
        yield {
            "from": round(place / most, 5),
            "middle": round((place + 0.5) / most, 5),
            "to": round((place + 1) / most, 5),
            "top": round(number + BASE - height, 3),
            "base": number + BASE,
            "low": round(number + BASE - 0.09, 3),
            "row": tile.name,
            "label": tile.label if WIDTH / most >= LABEL_PIXELS else "",
            "colour": hue if tile.own else pale(hue),
            "ink": "white" if tile.own and hue == BLUE else INK,
        }


def pale(colour: str) -> str:
    """The colour with much white in it."""
    parts = [int(colour[start : start + 2], 16) for start in (1, 3, 5)]
    return "#" + "".join(f"{round(255 - (255 - part) * 0.22):02X}" for part in parts)


@cache
def _shape(count: int) -> Spec:
    import altair as alt

    across, down = alt.Scale(domain=[0, 1], nice=False), alt.Scale(domain=[count, 0], nice=False)
    tiles, planks, cuts = (alt.NamedData(name) for name in ("tiles", "planks", "cuts"))

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=across, axis=None)

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", scale=down, axis=None)

    books = (
        alt.Chart(tiles)
        .mark_rect(stroke="white", strokeWidth=0.75)
        .encode(x=x("from"), x2="to", y=y("top"), y2="base", color=alt.Color("colour:N", scale=None), tooltip=["row:N"])
    )
    labels = (
        alt.Chart(tiles)
        .transform_filter("datum.label != ''")
        .mark_text(fontSize=10, aria=False)
        .encode(x=x("middle"), y=y("low"), text="label:N", color=alt.Color("ink:N", scale=None))
    )
    boards = (
        alt.Chart(planks).mark_rule(color=GREY, strokeWidth=2, aria=False).encode(x=x("from"), x2="to", y=y("base"))
    )
    names = (
        alt.Chart(planks).mark_text(align="left", fontSize=12, color=INK).encode(x=x("from"), y=y("top"), text="name:N")
    )
    bars = alt.Chart(cuts).mark_rule(color=INK, strokeWidth=3, aria=False).encode(x=x("at"), y=y("top"), y2="base")
    picture = alt.layer(books, boards, labels, bars, names).properties(width=WIDTH, height=PLANK * count)
    return shape([_key(), picture], across=False, spacing=6)


def _key() -> Any:
    """What colours and heights mean, in words: a row of small books."""
    import altair as alt

    legend, unit = alt.NamedData("legend"), alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("from:Q", scale=unit, axis=None)
    books = (
        alt.Chart(legend)
        .mark_rect(aria=False)
        .encode(
            x=x,
            x2="to:Q",
            y=alt.Y("top:Q", scale=alt.Scale(domain=[1, 0.3], nice=False), axis=None),
            y2="base:Q",
            color=alt.Color("colour:N", scale=None),
        )
    )
    words = (
        alt.Chart(legend)
        .mark_text(align="left", dx=6, fontSize=11, color=INK)
        .encode(x=alt.X("to:Q", scale=unit, axis=None), y=alt.value(14), text="words:N")
    )
    return alt.layer(books, words).properties(width=WIDTH, height=24)
