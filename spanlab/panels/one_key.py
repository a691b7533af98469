"""Panel 1A and the first picture of the course: one table, one key, and what the servers make of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spanlab.charts import Scene, Servers, server_bars
from spanlab.charts.servers import CPU_FULL, GHOSTS_AT_MOST, ROOM, SPLIT_FULL
from spanlab.panels.controls import Choice, Number, rates
from spanlab.panels.panel import Panel
from spanlab.panels.runs import committed_figure, describe, last_minute, p99_figure, run_key
from spanlab.panels.tables import TABLES, no_table, run_table
from spanlab.splits import Run

KEYS = (("time of write", "now"), ("application counter", "seq"), ("UUIDv4", "uuid4"))
OFFERED = (500, 1_000, 1_500, 1_700, 1_900, 5_000, 12_000, 20_000, 50_000)
SIDE_BY_SIDE = 4
FULL_CPU = 0.95  # from here on commits wait for the CPU


def bars(run: Run, title: str, subtitle: str | list[str], offered: float, before: Sequence[float] = ()) -> Servers:
    split, node, preset = run.model.split_writes, run.model.node_writes, run.model.name
    return Servers(title, subtitle, run.server_writes.tolist(), offered, split, node, preset, before, limits(run))


def limits(run: Run) -> list[str]:
    """Why each server takes no more in the last minute; all have room where all that arrives is committed."""
    if run.committed[-60:].mean() >= 0.98 * run.offered[-60:].mean():
        return [ROOM] * run.nodes
    cpu = run.cpu[-max(1, round(60 / run.model.control_s)) :].mean(axis=0)
    hot = {split["leader"] for split in run.splits() if split["cpu_usage_score"] == 100}
    return [CPU_FULL if busy >= FULL_CPU else SPLIT_FULL if server in hot else ROOM for server, busy in enumerate(cpu)]


def view_one_key(parameters: Mapping[str, Any], before: Scene | None) -> Scene:
    """Server bars for a key, a load and a number of nodes."""
    key, offered, nodes = parameters["key"], parameters["offered"], parameters["nodes"]
    run = run_key(key, offered, nodes)
    sentence = describe(run, offered, nodes)
    words = {value: words for words, value in KEYS}[key]
    subtitle = sentence + (" Dotted: before." if before and nodes <= GHOSTS_AT_MOST else "")
    picture = bars(run, f"Key: {words}", subtitle, offered, before.state if before else ())
    chart = server_bars(picture, description=f"A bar for each server. Key: {words}. {sentence}")
    seen: dict[str, Any] = run.summary()
    return Scene(
        chart, sentence, committed_figure(last_minute(run, offered)), picture.writes, (p99_figure(seen["p99_ms"]),)
    )


def one_key_many_servers() -> Panel:
    """Panel 1A of lesson 1."""
    controls = (
        Choice("key", "Key", KEYS, "now"),
        Number("nodes", "Nodes", (*range(1, 31), 100, 300), 3),
        Choice("offered", "Offered writes/s", rates(*OFFERED), 12_000),
    )
    return Panel("1A · One key, many servers", controls, view_one_key)


def compare(tables: Sequence[str], *, writes_per_second: int, nodes: int) -> Scene:
    """The same load on one to four of the course's tables, side by side as server bars.

    `tables` are names, such as "hits_by_time" and "hits_by_uuid". ValueError names one that does not exist.
    """
    if isinstance(tables, str) or not 1 <= len(tables) <= SIDE_BY_SIDE:
        raise ValueError(f"tables is {tables!r}; a list of one to four names is wanted.")
    pictures, sentences = [], []
    for table in tables:
        if table not in TABLES:
            raise no_table(table, TABLES)
        run = run_table(table, writes_per_second, nodes)
        sentence = describe(run, writes_per_second, nodes)
        sentences.append(f"{table}: {sentence}")
        subtitle = [TABLES[table].declared, *sentence.removesuffix(".").replace(" commit;", ";").split("; ")]
        pictures.append(bars(run, table, subtitle, writes_per_second))
    text = " ".join(sentences)
    return Scene(server_bars(*pictures, description=f"Server bars of {len(tables)} tables. {text}"), text)
