"""From a chart to what a notebook shows.

A notebook keeps a picture as a *specification*: a Vega-Lite document that says "a bar for each row of this data",
and JupyterLab draws it, without a network, before the notebook is trusted or run. JupyterLab draws Vega-Lite 5,
Altair 6 writes Vega-Lite 6; the charts of this course use only what both read alike, so they are sent as version 5
(`tests/browser` draws every one of them). When JupyterLab learns version 6, this module is the one place to change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

MIME = "application/vnd.vegalite.v5+json"
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
# svg: each mark carries its own label for screen readers; the menu would offer an online editor, and has no name
OPTIONS = {"embed_options": {"renderer": "svg", "actions": False}}

Spec = dict[str, Any]
Bundle = tuple[dict[str, Any], dict[str, Any]]


class Figure(NamedTuple):
    """A figure that can be compared from picture to picture: its name, its value, and the value as readers see it."""

    name: str
    value: float
    words: str


@dataclass(frozen=True)
class Scene:
    """A picture and the sentence that says what it shows.

    `chart` is a complete Vega-Lite specification, `sentence` one line of text for those who do not see it (and for the
    test that compares outputs). `headline` is the figure that the picture is about, with a name in the plural
    ("committed writes/s"), `state` whatever a later picture needs to draw this one as its ghost; `besides` are figures
    that are worth a word when they change.
    """

    chart: Spec
    sentence: str
    headline: Figure | None = None
    state: Any = None
    besides: tuple[Figure, ...] = ()

    def __repr__(self) -> str:
        return self.sentence

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Bundle:
        return bundle(self.chart, self.sentence)


def bundle(chart: Any, text: str | None = None) -> Bundle:
    """What a notebook stores of a chart: (data by MIME type, metadata by MIME type).

    `chart` is an Altair chart or a Vega-Lite specification; `text` the line for readers without pictures, by default
    the chart's own description.
    """
    spec: Spec = dict(chart) if isinstance(chart, dict) else chart.to_dict()
    spec["$schema"] = SCHEMA
    return {MIME: spec, "text/plain": text or spec.get("description", "a chart")}, {MIME: OPTIONS}


def register() -> None:
    """Make Altair itself show charts this way, so that a learner's own chart is drawn offline too."""
    import altair

    altair.renderers.register("spanlab", lambda spec, **_: bundle(spec))
    altair.renderers.enable("spanlab")
