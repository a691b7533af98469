"""A panel: controls, one picture, one sentence.

The arithmetic is a pure function `view(parameters, before)` that gives a `Scene`; a panel only wires controls to it. It
shows itself in three ways at once: a live widget where a kernel runs, a still picture where none does (a notebook just
opened, or on a page), and a line of text, which is also what the test of stored outputs compares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from time import monotonic
from typing import Any

import ipywidgets as widgets

from spanlab.charts import Figure, Scene, bundle
from spanlab.panels.controls import Control

LIVE = "application/vnd.jupyter.widget-view+json"
STATUS_STYLE = "margin: 0; line-height: 1.5; min-height: 3em"  # room for two lines, so that the picture keeps its place
ONE_DRAG_S = 0.5  # values of one control that follow each other faster are one drag of its slider
ALIKE = 0.01  # figures that differ by less differ by chance
View = Callable[[Mapping[str, Any], Scene | None], Scene]


@dataclass(frozen=True)
class Move:
    """One move of one control: where it stood and what was shown right before."""

    name: str
    was: Any
    before: Scene


class Panel:
    """Controls wired to a picture.

    `panel.set(nodes=30)` moves a control as a reader would; `panel.scene` is what is shown, `panel.parameters` where
    the controls stand. Ghost and sentence compare with what was shown right before the last move; a slider that is
    dragged sends many values, which are one move.
    """

    def __init__(self, title: str, controls: tuple[Control, ...], view: View) -> None:
        self.title, self.view = title, view
        self.parameters: dict[str, Any] = {control.name: control.default for control in controls}
        self.scene = view(dict(self.parameters), None)
        self._controls = {control.name: control for control in controls}
        self._move: Move | None = None
        self._shown_at = float("-inf")
        self._picture = widgets.Output()
        self._status = widgets.HTML()
        self._setters: dict[str, Callable[[Any], None]] = {}
        rows = [widgets.HTML(f"<strong>{escape(title)}</strong>")]
        for control in controls:
            row, self._setters[control.name] = control.build(self._listener(control.name))
            rows.append(row)
        self.widget = widgets.VBox([*rows, self._status, self._picture])
        self._show()

    def set(self, **values: Any) -> Panel:
        """Move controls by name, one move after the other. ValueError names a control that the panel does not have."""
        for name, value in values.items():
            if name not in self._setters:
                raise ValueError(f"This panel has no control {name!r}; it has {', '.join(self._setters)}.")
            self._shown_at = float("-inf")  # never part of a drag
            self._setters[name](value)
        return self

    def _listener(self, name: str) -> Callable[[Any], None]:
        return lambda value: self._moved(name, value)

    def _moved(self, name: str, value: Any) -> None:
        self._move = self._drag(name, value) or Move(name, self.parameters[name], self.scene)
        self.parameters[name] = value
        self.scene = self.view(dict(self.parameters), self._move.before)
        self._show()
        self._shown_at = monotonic()

    def _drag(self, name: str, value: Any) -> Move | None:
        """The last move, if this value goes on with it. A drag back to its beginning has nothing to compare with."""
        last, quick = self._move, monotonic() - self._shown_at < ONE_DRAG_S
        return last if quick and last is not None and last.name == name and last.was != value else None

    def _show(self) -> None:
        data, metadata = bundle(self.scene.chart, self.scene.sentence)
        # set as a value: what is printed into an Output would reach the cell itself when the notebook is tested
        self._picture.outputs = ({"output_type": "display_data", "data": data, "metadata": metadata},)
        lines = "<br>".join(escape(line) for line in (self.scene.sentence, self._change()) if line)
        self._status.value = f'<p role="status" aria-live="polite" style="{STATUS_STYLE}">{lines}</p>'

    def _change(self) -> str:
        """What the last move did: "Nodes 3 → 30: committed writes/s stay at 1,800."; empty before the first move."""
        move, headline = self._move, self.scene.headline
        if move is None or move.before.headline is None or headline is None:
            return ""
        control, now = self._controls[move.name], self.parameters[move.name]
        said = [outcome(move.before.headline, headline)]
        before = {figure.name: figure for figure in move.before.besides}
        for figure in self.scene.besides:
            old = before.get(figure.name, figure)
            if not alike(old, figure):
                said.append(f"{figure.name} {old.words} → {figure.words}")
        return f"{control.label} {control.words(move.was)} → {control.words(now)}: {'; '.join(said)}."

    def __repr__(self) -> str:
        return f"{self.title}: {self.scene.sentence}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        data, metadata = bundle(self.scene.chart, repr(self))
        return {**data, LIVE: self.widget._repr_mimebundle_()[LIVE]}, metadata


def alike(old: Figure, new: Figure) -> bool:
    """Whether two figures are the same to a reader, or differ by chance alone."""
    return old.words == new.words or abs(new.value - old.value) <= ALIKE * max(abs(new.value), abs(old.value))


def outcome(old: Figure, new: Figure) -> str:
    """How a figure changed, in words."""
    if alike(old, new):
        return f"{new.name} stay at {new.words}"
    return f"{new.name} {'rise' if new.value > old.value else 'fall'} from {old.words} to {new.words}"
