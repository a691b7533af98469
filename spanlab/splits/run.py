"""`simulate`: a key or a schema, a load, and what Spanner makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from spanlab.splits import words
from spanlab.splits.composite import locate
from spanlab.splits.keys import Key
from spanlab.splits.model import Model
from spanlab.splits.model import model as preset_model
from spanlab.splits.observe import Run
from spanlab.splits.presplit import SplitsFile, check_limits, splits_file
from spanlab.splits.progress import watched
from spanlab.splits.simulation import Simulation
from spanlab.splits.state import Band, CommitKind, Keyspace
from spanlab.splits.workload import Rate, Workload, checked_rate, length_s, plan

if TYPE_CHECKING:
    from spanlab.schema import Schema

LONGEST_MINUTES = 7 * 24 * 60
STARTS = ("warm", "cold")


def simulate(
    what: Schema | Key | str,
    load: Workload | Sequence[Workload] | None = None,
    *,
    writes_per_second: Rate | None = None,
    nodes: int = 10,
    minutes: float = 10,
    model: str | Model = "study",
    start: str = "warm",
    presplit: int | Sequence[str] | None = None,
    expire_days: float = 10,
    history: str = "0h",
    seed: int = 0,
    exact: bool = False,
) -> Run:
    """Puts a load on a database and watches it for some simulated minutes.

    what               a `Schema`, with `load` one `Workload` or a list of them; or a key alone, as an object or a word
                       ("now", "uuid4", "(ids(100000), now)"), with `writes_per_second`: a table of one key
    nodes              compute capacity, in nodes of 1,000 processing units
    minutes            simulated time
    model              "study", "docs", "multi", or what `model(…)` gives
    start              "warm": the split points that Spanner has learnt from old rows; "cold": one split
    presplit           instead: cut each key space into so many even parts beforehand, or at the lines of a splits file
                       (see `splits_file`); at most 50 points a node in all, kept for `expire_days` (at most 30)
    history            how far back the rows of a time-keyed table reach in the heat map: "0h", "5h", "90d"
    seed               the same seed gives the same run on every machine
    exact              draw and look up every key, instead of drawing the number of keys that each split gets

    Returns a `Run`. Raises ValueError for arguments that make no sense, and where nothing says what a key column holds.
    A run that takes long shows its progress, and when it is interrupted, returns what was simulated so far.
    """
    figures = preset_model(model)
    nodes = _checked_nodes(nodes)
    minutes = _checked_minutes(minutes)
    spaces, rate, kinds, loads = _planned(what, load, writes_per_second, figures)
    _place_split_points(spaces, what, start, presplit, expire_days, nodes)
    simulation = Simulation(
        spaces,
        rate,
        nodes=nodes,
        seconds=60 * minutes,
        model=figures,
        seed=_checked_seed(seed),
        exact=exact,
        history_s=length_s(history),
    )
    watched(simulation)
    return Run(simulation.recording, tuple(loads), tuple(kinds))


def _planned(
    what: Any, load: Workload | Sequence[Workload] | None, writes_per_second: Rate | None, figures: Model
) -> tuple[list[Keyspace], Rate, list[CommitKind], list[Workload]]:
    """The key spaces, the rate, the kinds of commits, and the workloads."""
    if isinstance(what, str | Key):
        if load is not None:
            raise ValueError("load belongs to a schema; a key alone takes writes_per_second.")
        if writes_per_second is None:
            raise ValueError("writes_per_second is missing: how many rows a second are written with this key?")
        rate = (
            writes_per_second if callable(writes_per_second) else checked_rate("writes_per_second", writes_per_second)
        )
        law = words.key(what)
        space = Keyspace("T", law, tables=("T",), bands=(Band("T", law, 1.0),))
        return [space], rate, [CommitKind(1.0, (1.0,))], [Workload("T", rate)]
    if not hasattr(what, "tables"):
        raise ValueError(f"simulate wants a Schema, a key or a key's word, not {what!r}.")
    if load is None:
        raise ValueError("load is missing: give a Workload, such as Workload('Orders', writes_per_second=1_000).")
    if writes_per_second is not None:
        raise ValueError("writes_per_second belongs into the Workload when a schema is simulated.")
    loads = [load] if isinstance(load, Workload) else list(load)
    if not loads or not all(isinstance(one, Workload) for one in loads):
        raise ValueError(f"load is {load!r}; a Workload or a list of Workloads is wanted.")
    spaces, rate, kinds = plan(what, loads, figures)
    return spaces, rate, kinds, loads


def _place_split_points(
    spaces: list[Keyspace], what: Any, start: str, presplit: int | Sequence[str] | None, expire_days: float, nodes: int
) -> None:
    """Gives each key space the split points that it begins with."""
    if start not in STARTS:
        raise ValueError(f"start is {start!r}; there are 'warm' and 'cold', or presplit=k instead.")
    if presplit is None:
        for space in spaces:
            space.points = tuple(space.key.learnt()) if start == "warm" else ()
        return
    if isinstance(presplit, int) and not isinstance(presplit, bool) and presplit >= 1:
        for space in spaces:
            space.points = tuple(space.key.even(presplit))
        count = (presplit - 1) * len(spaces)
    elif isinstance(presplit, list | tuple) and not isinstance(what, str | Key):
        count = _place_given_points(spaces, splits_file(presplit, what))
    else:
        raise ValueError(
            f"presplit is {presplit!r}; the number of even parts is wanted (1 or more), or for a schema the lines of a "
            "splits file."
        )
    check_limits(count, nodes, expire_days)
    for space in spaces:
        space.expire_s = expire_days * 86_400


def _place_given_points(spaces: list[Keyspace], given: SplitsFile) -> int:
    """Puts the points of a splits file into the key spaces of their tables and indexes; returns how many there are."""
    bands = {band.name: (space, band) for space in spaces for band in space.bands}
    for point in given.points:
        if point.name not in bands:
            raise ValueError(f"presplit names {point.name}, which the load does not write to.")
        space, band = bands[point.name]
        space.points = tuple(sorted({*space.points, locate(list(band.columns), list(point.key))}))
    return len(given.points)


def _checked_nodes(nodes: object) -> int:
    if isinstance(nodes, bool) or not isinstance(nodes, int) or not 1 <= nodes <= 10_000:
        raise ValueError(
            f"nodes is {nodes!r}; a whole number from 1 to 10,000 is wanted (below one node, 1,000 processing units, "
            "there is a single server and nothing to spread over)."
        )
    return nodes


def _checked_minutes(minutes: object) -> float:
    given = checked_rate("minutes", minutes)
    if not 0 < given <= LONGEST_MINUTES:
        raise ValueError(f"minutes is {minutes!r}; more than 0 and at most {LONGEST_MINUTES:,} (a week) is wanted.")
    return given


def _checked_seed(seed: object) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(f"seed is {seed!r}; a whole number of 0 or more is wanted.")
    return seed
