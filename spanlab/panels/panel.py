"""A panel: controls, one picture, one sentence.

The arithmetic is a pure function `view(parameters, before)` that gives a `Scene`; a panel only wires controls to it. It
shows itself in three ways at once: a live widget where a kernel runs, a still picture where none does (a notebook just
opened, or on a page), and a line of text, which is also what the test of stored outputs compares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import ipywidgets as widgets

from spanlab.charts import Scene, bundle, rounded
from spanlab.panels.controls import Control

LIVE = "application/vnd.jupyter.widget-view+json"
STATUS_STYLE = "margin: 0; line-height: 1.5; min-height: 3em"  # room for two lines, so that the picture keeps its place
View = Callable[[Mapping[str, Any], Scene | None], Scene]


class Panel:
    """Controls wired to a picture.

    `panel.set(nodes=30)` moves a control as a reader would; `panel.scene` is what is shown, `panel.parameters` where
    the controls stand. While one control is being moved, the ghost in the picture stays as it was before that.
    """

    def __init__(self, title: str, controls: tuple[Control, ...], view: View) -> None:
        self.title, self.view = title, view
        self.parameters: dict[str, Any] = {control.name: control.default for control in controls}
        self.scene = view(dict(self.parameters), None)
        self._controls = {control.name: control for control in controls}
        self._taken_up: tuple[str, Any, Scene] | None = None  # the control in hand, its value and scene at that time
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
        """Move controls by name, one after the other. ValueError names a control that the panel does not have."""
        for name, value in values.items():
            if name not in self._setters:
                raise ValueError(f"This panel has no control {name!r}; it has {', '.join(self._setters)}.")
            self._setters[name](value)
        return self

    def _listener(self, name: str) -> Callable[[Any], None]:
        return lambda value: self._moved(name, value)

    def _moved(self, name: str, value: Any) -> None:
        if self._taken_up is None or self._taken_up[0] != name:
            self._taken_up = name, self.parameters[name], self.scene
        self.parameters[name] = value
        self.scene = self.view(dict(self.parameters), self._taken_up[2])
        self._show()

    def _show(self) -> None:
        data, metadata = bundle(self.scene.chart, self.scene.sentence)
        # set as a value: what is printed into an Output would reach the cell itself when the notebook is tested
        self._picture.outputs = ({"output_type": "display_data", "data": data, "metadata": metadata},)
        lines = "<br>".join(escape(line) for line in (self.scene.sentence, self._change()) if line)
        self._status.value = f'<p role="status" aria-live="polite" style="{STATUS_STYLE}">{lines}</p>'

    def _change(self) -> str:
        """What the control in hand did to the headline figure: "Nodes 3 → 30: committed writes/s stay at 1,800."."""
        if self._taken_up is None or self.scene.headline is None:
            return ""
        name, was, before = self._taken_up
        now = self.parameters[name]
        if was == now or before.headline is None:
            return ""
        what, old, new = before.headline[0], before.headline[1], self.scene.headline[1]
        if abs(new - old) <= 0.01 * max(abs(new), abs(old)):
            outcome = f"stay at {rounded(new)}"
        else:
            outcome = f"{'rise' if new > old else 'fall'} from {rounded(old)} to {rounded(new)}"
        control = self._controls[name]
        return f"{control.label} {control.words(was)} → {control.words(now)}: {what} {outcome}."

    def __repr__(self) -> str:
        return f"{self.title}: {self.scene.sentence}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        data, metadata = bundle(self.scene.chart, repr(self))
        return {**data, LIVE: self.widget._repr_mimebundle_()[LIVE]}, metadata
