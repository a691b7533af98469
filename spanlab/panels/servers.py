"""A ready picture of what the servers do in runs that a reader made: one picture of server bars for each run."""

from __future__ import annotations

from collections.abc import Mapping

from spanlab.charts import Scene, server_bars
from spanlab.charts.style import three_figures
from spanlab.panels.one_key import SIDE_BY_SIDE, bars
from spanlab.panels.runs import describe
from spanlab.splits import Run


def servers(runs: Mapping[str, Run]) -> Scene:
    """What each server commits in the last minute, busiest first: one to four runs side by side, by their names.

    ValueError for none, or for more than four.
    """
    if not 1 <= len(runs) <= SIDE_BY_SIDE:
        raise ValueError(f"runs has {len(runs)} runs; one to {SIDE_BY_SIDE} are wanted.")
    pictures, sentences = [], []
    for name, run in runs.items():
        offered = three_figures(float(run.offered[-60:].mean()))
        sentence = describe(run, offered, run.nodes)
        sentences.append(f"{name}: {sentence}")
        lines = sentence.removesuffix(".").replace(" commit;", ";").split("; ")
        pictures.append(bars(run, name, lines, offered))
    text = " ".join(sentences)
    return Scene(server_bars(*pictures, description=f"Server bars of {len(runs)} runs. {text}"), text)
