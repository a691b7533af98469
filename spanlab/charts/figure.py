"""A figure: one or more views in a row or a column, a heading for each, and the caption below.

Writing and checking a specification takes Altair 50 ms, longer than simulating ten minutes. So each kind of picture has
a *shape*, a specification without data that is made once, and `fill` puts data, headings and caption into a copy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spanlab.charts.renderer import Spec, register
from spanlab.charts.style import CONFIG, GREY, thousands

Rows = list[dict[str, Any]]
Heading = tuple[str, str | list[str]]
"""A line in bold, and what stands under it."""


def shape(views: Sequence[Any], *, across: bool = True, spacing: int = 24) -> Spec:
    """The specification of a figure without its data: views on named data, side by side or below each other."""
    import altair as alt

    register()  # from the first picture on, charts that a learner makes with Altair are drawn offline as well
    together = alt.hconcat if across else alt.vconcat
    caption = alt.TitleParams("", orient="bottom", fontSize=11, fontWeight="normal", color=GREY, offset=12)
    figure = together(*views, spacing=spacing).properties(title=caption)
    return figure.configure(**CONFIG).to_dict()


def fill(
    empty: Spec, data: Mapping[str, Rows], *, headings: Sequence[Heading | None], caption: list[str], description: str
) -> Spec:
    """The shape with its data. `headings` are in the order of the views, None where a view has none."""
    key = "hconcat" if "hconcat" in empty else "vconcat"
    views = [
        view if heading is None else _headed(view, *heading) for view, heading in zip(empty[key], headings, strict=True)
    ]
    title = empty["title"] | {"text": caption}
    return empty | {key: views, "datasets": dict(data), "title": title, "description": description}


def _headed(view: Spec, line: str, below: str | list[str]) -> Spec:
    return view | {"title": view.get("title", {}) | {"text": line, "subtitle": below}}


def model_caption(preset: str, split_writes: float, node_writes: float) -> list[str]:
    """Which model drew a picture, and what is known about its figures (facts.md 1.6)."""
    split, node = thousands(split_writes), thousands(node_writes)
    return [
        f"Model “{preset}”: one split commits {split} writes/s, one node {node} row writes/s.",
        "Google publishes no ceiling for one split. Study guides print 1,000–2,000 writes/s; 1,800 is our teaching",
        "value; the documented figure is 3,500 writes/s for a regional node at 100 % CPU.",
    ]
