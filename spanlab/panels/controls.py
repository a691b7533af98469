"""What a reader can move: numbers and choices, each with a name.

A slider alone has no name for a screen reader and is hard to set to an exact value, so every number has a labelled box
beside it, which takes any whole number in its range; the slider steps through the values that are worth a look. A
number between two of them becomes a step of its own when it is typed, so that slider and box always agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ipywidgets as widgets

from spanlab.charts.style import BLUE, thousands

WIDTH = {"description_width": "15em"}
Built = tuple[widgets.Widget, Callable[[Any], None]]  # what to show, and a function that sets it


@dataclass(frozen=True)
class Choice:
    """One of a few values, each with its own words: `options` is a tuple of (words, value)."""

    name: str
    label: str
    options: tuple[tuple[str, Any], ...]
    default: Any

    def words(self, value: Any) -> str:
        return next(words for words, one in self.options if one == value)

    def build(self, changed: Callable[[Any], None]) -> Built:
        box = widgets.Dropdown(
            options=self.options,
            value=self.default,
            description=self.label,
            style=WIDTH,
            layout=widgets.Layout(width="35.5em", max_width="100%"),
        )
        box.observe(lambda change: changed(change["new"]), names="value")

        def put(value: Any) -> None:
            allowed = [one for _, one in self.options]
            if value not in allowed:
                raise ValueError(f"{self.name}={value!r} is not offered; choose one of {allowed}.")
            box.value = value

        return box, put


@dataclass(frozen=True)
class Number:
    """A number. The slider walks through `stops`, and through the number that was last typed between two of them; the
    box takes every number between the first and the last.

    What a reader sees as its name ends in that range. Where the stops are floats, the box takes floats too; else only
    whole numbers.
    """

    name: str
    label: str
    stops: tuple[int, ...] | tuple[float, ...]
    default: float

    def words(self, value: Any) -> str:
        return f"{value:,g}"

    def build(self, changed: Callable[[Any], None]) -> Built:
        whole = all(isinstance(stop, int) for stop in self.stops)
        box = (widgets.BoundedIntText if whole else widgets.BoundedFloatText)(
            value=self.default,
            min=self.stops[0],
            max=self.stops[-1],
            step=1 if whole else self.stops[1] - self.stops[0],
            description=f"{self.label} ({self.words(self.stops[0])} to {self.words(self.stops[-1])})",
            style=WIDTH,
            layout=widgets.Layout(width="22.5em"),
        )
        slider = widgets.SelectionSlider(
            options=self._steps(self.default),
            value=self.default,
            readout=False,
            style={"handle_color": BLUE},
            layout=widgets.Layout(width="22em"),
        )

        def from_box(change: dict[str, Any]) -> None:
            value = change["new"]
            if value in [step for _, step in slider.options]:
                slider.value = value
            else:
                slider.unobserve(from_slider, names="value")  # new steps put a slider back to its first
                slider.options = self._steps(value)  # in a message of its own, else JupyterLab draws the old steps
                slider.value = value
                slider.observe(from_slider, names="value")
            changed(value)

        def from_slider(change: dict[str, Any]) -> None:
            box.value = change["new"]

        box.observe(from_box, names="value")
        slider.observe(from_slider, names="value")
        row = widgets.HBox([box, slider], layout=widgets.Layout(align_items="center", flex_flow="row wrap"))

        def put(value: Any) -> None:
            if not self.stops[0] <= value <= self.stops[-1]:
                raise ValueError(f"{self.name}={value!r} is out of range; give {self.stops[0]} to {self.stops[-1]}.")
            box.value = value

        return row, put

    def _steps(self, value: float) -> list[tuple[str, float]]:
        """The options of a slider that can stand at this value."""
        return [(self.words(step), step) for step in sorted({*self.stops, value})]


Control = Choice | Number


def rates(*offered: int) -> tuple[tuple[str, int], ...]:
    """The options of a choice of loads, in writes/s."""
    return tuple((thousands(rate), rate) for rate in offered)
