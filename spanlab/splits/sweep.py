"""One scenario, again and again with another value of one thing."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from spanlab.errors import suggest
from spanlab.splits import choices, composite, keys, words
from spanlab.splits.keys import Key
from spanlab.splits.progress import started, takes_long
from spanlab.splits.run import simulate
from spanlab.splits.workload import Workload

if TYPE_CHECKING:
    from spanlab.schema import Schema
    from spanlab.splits.observe import Run


class Rows(list[dict[str, Any]]):
    """A list of rows (dicts) that prints as a table; `only("committed", "p99_ms")` keeps some of its columns."""

    def only(self, *names: str) -> Rows:
        """The table with its first column, which was swept, and the columns named."""
        if not self:
            return self
        for name in names:
            if name not in self[0]:
                raise ValueError(
                    f"The table has no column {name!r}; it has {', '.join(self[0])}.{suggest(name, self[0])}"
                )
        swept = next(iter(self[0]))
        return Rows({name: row[name] for name in (swept, *names)} for row in self)

    def __repr__(self) -> str:
        if not self:
            return "(no rows)"
        names = list(self[0])
        cells = [names, *([_shown(row[name]) for name in names] for row in self)]
        widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in cells]
        return "\n".join(lines)


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.3f}".rstrip("0").rstrip(".")
    return f"{value:,}" if isinstance(value, int) else str(value)


def sharded(key: Key | str, shards: int) -> Key:
    """A key with so many hash shards in front; with one shard, the key itself."""
    inner = words.value(key)
    words.shard_count(shards, "shards")
    return composite.pack([inner]) if shards == 1 else composite.pack([choices.Shard(n=shards), inner])


def sweep(what: Schema | Key | str | Callable[[Any], Any], load: Workload | None = None, **arguments: Any) -> Rows:
    """Simulates a scenario once for each value of one argument, and returns a table: one row a value.

    The argument that is swept is the one given as a list: any of `simulate`'s, such as `nodes=[3, 30, 300]`, or
    `shards=[1, 2, 4, 8]`, which puts that many hash shards in front of a key. To sweep anything else, give a function
    of the value in place of the schema or key: `sweep(lambda n: schema_with(n), load, shards=[4, 8])`.

    A row holds the value, `run.summary()`'s figures, `idle_servers`, and `scan_ranges`: how many ranges a scan over a
    stretch of time must visit (None: the whole table). An interrupted sweep returns the rows that were done.
    Raises ValueError unless exactly one argument is a list.
    """
    swept = [name for name, value in arguments.items() if isinstance(value, list | tuple | range)]
    if len(swept) != 1:
        raise ValueError(
            f"sweep wants one argument as a list of values, such as nodes=[3, 30]; given: {swept or 'none'}."
        )
    name = swept[0]
    known = [*inspect.signature(simulate).parameters, "shards"]
    if name not in known and not (callable(what) and not isinstance(what, Key)):
        raise ValueError(f"simulate has no argument {name!r} to sweep.{suggest(name, known)}")
    fixed = {key: value for key, value in arguments.items() if key != name}
    rows, bar, begun = Rows(), None, time.perf_counter()
    values = list(arguments[name])
    try:
        for number, value in enumerate(values):
            run = _run(what, load, name, value, fixed)
            rows.append(_row(name, value, run))
            if bar is None and takes_long(begun):
                bar = started("Sweeping", len(values))
            if bar is not None:
                bar.update(bar.task_ids[0], completed=number + 1)
    except KeyboardInterrupt:
        if not rows:
            raise
    finally:
        if bar is not None:
            bar.stop()
    return rows


def _run(what: Any, load: Workload | None, name: str, value: Any, fixed: dict[str, Any]) -> Run:
    if callable(what) and not isinstance(what, Key):
        own = {name: value} if name in inspect.signature(simulate).parameters else {}
        return simulate(what(value), load, **fixed, **own)
    if name == "shards":
        if not isinstance(what, str | Key):
            raise ValueError(
                "shards can be swept for a key; for a schema, give a function: sweep(lambda n: …, shards=[…])."
            )
        return simulate(sharded(what, value), load, **fixed)
    return simulate(what, load, **fixed, **{name: value})


def _row(name: str, value: Any, run: Run) -> dict[str, Any]:
    row: dict[str, Any] = {name: value, **run.summary()}
    del row["reasons"]  # words, not a figure
    row["idle_servers"] = run.nodes - row["busy_servers"]
    row["scan_ranges"] = run.keyspaces()[0]["scan_ranges"]
    return row


def key_codes(word: Key | str, n: int, seconds: float = 1.0, seed: int = 0) -> list[float]:
    """Where n keys that are made one after the other, `seconds` apart, lie in the key space: 0 to 1, in order of time.

    A counter begins at 1. For a picture of what a key looks like on the line of all keys.
    """
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= 10_000:
        raise ValueError(f"n is {n!r}; a whole number from 1 to 10,000 is wanted.")
    law = words.key(word)
    if isinstance(law, keys.Sequence):
        law = keys.Sequence(1)
    random = np.random.Generator(np.random.SFC64(seed))
    spans = [keys.Span(i * seconds, i * seconds + 1e-3, i, 1) for i in range(n)]
    return [int(law.draw(random, 1, span)[0]) / 2.0**64 for span in spans]
