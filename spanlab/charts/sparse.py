"""Indexes as bars to one scale: how much of each is entries whose indexed column is NULL.

An index that few rows need looks as long as the table until one sees what it is made of. The part that is NULL is grey,
the part that a query could look up is blue; one bar beside the other shows what leaving out the NULLs leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from spanlab.charts.figure import fill, shape
from spanlab.charts.renderer import Spec
from spanlab.charts.style import BLUE, INK, thousands

NULL_GREY = "#BDC1C6"  # lighter than text, darker than the empty scale of a gauge
ROOM_FOR_WORDS = 0.2  # a part of the longest bar that is narrower has no room for a word


@dataclass(frozen=True)
class IndexBar:
    """One index: its name, its entries and their bytes, and how many of both have NULL in the indexed column."""

    name: str
    entries: int
    size: int
    null_entries: int
    null_size: int

    @property
    def words(self) -> str:
        """Entries and size as a reader sees them: "50,000 entries, 2.612 MB"."""
        plural = "entry" if self.entries == 1 else "entries"
        return f"{thousands(self.entries)} {plural}, {megabytes(self.size)}"


def megabytes(size: float) -> str:
    """2612000 -> "2.612 MB", 5224000000 -> "5.224 GB": bytes in powers of ten, to the third decimal."""
    unit, name = (1e9, "GB") if size >= 1e9 else (1e6, "MB")
    return f"{size / unit:.3f}".rstrip("0").rstrip(".") + f" {name}"


def index_bars(bars: Sequence[IndexBar], *, title: str, subtitle: str, caption: list[str], description: str) -> Spec:
    """One bar for each index, in the order given, as long as its bytes."""
    longest = max((bar.size for bar in bars), default=0) or 1
    return fill(
        _shape(len(bars)),
        {"bars": [part for place, bar in enumerate(bars) for part in _parts(place, bar, longest)]},
        headings=[(title, subtitle)],
        caption=caption,
        description=description,
    )


def _parts(place: int, bar: IndexBar, longest: int) -> list[dict[str, Any]]:
    """The NULL part of a bar, the rest of it, and the words behind."""
    cut, end = round(bar.null_size / longest, 4), round(bar.size / longest, 4)
    null_words = f"{thousands(bar.null_entries)} NULL" if cut >= ROOM_FOR_WORDS else ""
    row = {"place": place, "name": bar.name}
    return [
        row | {"part": "NULL", "from": 0, "to": cut, "inside": null_words, "behind": ""},
        row | {"part": "not NULL", "from": cut, "to": end, "inside": "", "behind": bar.words},
    ]


@cache
def _shape(rows: int) -> Spec:
    import altair as alt

    data = alt.NamedData("bars")
    y = alt.Y("name:N", sort=alt.EncodingSortField("place"), title=None, axis=alt.Axis(ticks=False, domain=False))
    scale = alt.Scale(domain=[0, 1], nice=False)
    colour = alt.Color("part:N", scale=alt.Scale(domain=["NULL", "not NULL"], range=[NULL_GREY, BLUE]), legend=None)
    begin, end = alt.X("from:Q", scale=scale, axis=None), alt.X("to:Q", scale=scale, axis=None)
    bar = alt.Chart(data).mark_bar(height=26).encode(y=y, x=begin, x2="to:Q", color=colour)
    inside = alt.Chart(data).mark_text(align="left", dx=8, fontSize=12, color=INK).encode(y=y, x=begin, text="inside:N")
    behind = alt.Chart(data).mark_text(align="left", dx=8, fontSize=12, color=INK).encode(y=y, x=end, text="behind:N")
    return shape([alt.layer(bar, inside, behind).properties(width=420, height=40 * rows)])
