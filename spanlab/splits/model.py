"""What one split and one node can carry: the figures of the simulation, as named presets.

Google publishes what a node writes (3,500 rows/s regional at 100 % CPU) and no ceiling for one split. Study guides
print 1,000 to 2,000 writes/s; 1,800 is the course's teaching value (facts.md 1.6). Every chart names the preset that
it was made with, and `docs` shows that only the figures move with the assumption, not the conclusions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

from spanlab.errors import suggest


@dataclass(frozen=True)
class Model:
    """The figures of a simulation. `name` is the preset they come from: "study", or "study, changed"."""

    name: str = "study"
    split_writes: float = 1_800.0
    """Row writes/s that one split commits: its leader is one server (facts.md 1.6, no official figure)."""
    node_writes: float = 3_500.0
    """Row writes/s of one node at 100 % CPU: 1 KB rows, regional, SSD (facts.md 1.6, `performance`)."""
    node_reads: float = 22_500.0
    """Reads/s of one node at 100 % CPU, same conditions."""
    scan_rows: float = 450_000.0
    """Rows/s that a scan reads at 100 % CPU of a node: ours, twenty rows of a scan cost one point read."""
    commit_ms: tuple[float, float] = (5.0, 15.0)
    """p50 and p99 of a commit that nothing holds up: a quorum of replicas and the commit wait."""
    two_phase_ms: tuple[float, float] = (12.0, 25.0)
    """The same for a commit whose rows lie with several leaders: prepare, then commit (facts.md B: 3-10 ms more)."""
    open_commits: float = 640.0
    """Commits that the clients keep open at most (sessions). What would go beyond is refused at once."""
    replicas: int = 3
    """Read-write replicas of each split: a stale read may go to any of them, a strong one goes to the leader."""
    warm_score: float = 0.5
    """CPU_USAGE_SCORE / 100 from which a split is warm and may be split (facts.md 1.4)."""
    detect_s: float = 60.0
    """How long a split is warm before Spanner looks for a split point. Ours: the documentation says "minutes"."""
    apply_s: float = 60.0
    """How long a split point that was chosen takes until another server serves the new split. Ours as well."""
    balance: float = 0.8
    """A split point must leave at least (1 - balance) / 2 of the writes on each side."""
    sampled_keys: int = 2_048
    """Keys of a warm split that are remembered in each control step."""
    least_keys: int = 100
    """Remembered keys that are wanted before a split point is chosen."""
    split_bytes: float = 8 * 2.0**30
    """Size from which a split is cut whatever its load: 8 GiB, a figure the documentation dropped (facts.md 1.3)."""
    row_bytes: float = 1_024.0
    """Bytes of a row written."""
    merge_score: float = 0.05
    """Two neighbours that both stay under this score …"""
    merge_s: float = 1_800.0
    """… for so long are merged. The documentation speaks of one to two weeks (facts.md 1.2.7)."""
    control_s: float = 10.0
    """The control loop (splits, merges, leaders) looks at the splits this often."""

    @property
    def caption(self) -> str:
        """The figures in one line, as they stand under every chart."""
        return (
            f"model {self.name}: a split commits {self.split_writes:,.0f} writes/s, "
            f"a node writes {self.node_writes:,.0f} rows/s or reads {self.node_reads:,.0f} rows/s"
        )


PRESETS = {
    "study": Model(),
    "docs": Model(name="docs", split_writes=3_500.0),
    "multi": Model(
        name="multi",
        split_writes=2_700.0,
        node_writes=2_700.0,
        node_reads=15_000.0,
        commit_ms=(35.0, 45.0),  # 30 ms to the next read-write region, added
        two_phase_ms=(72.0, 85.0),
        replicas=5,
    ),
}


MAY_BE_ZERO = {"apply_s", "merge_score", "warm_score"}


def model(name: str | Model = "study", **overrides: float | tuple[float, float]) -> Model:
    """A preset by name ("study", "docs", "multi"), with single figures changed: `model("study", open_commits=10_000)`.

    Raises ValueError for an unknown preset or figure, and for figures that are not positive.
    """
    if isinstance(name, Model):
        preset = name
    elif name in PRESETS:
        preset = PRESETS[name]
    else:
        raise ValueError(f"model is {name!r}; there are {', '.join(PRESETS)}.{suggest(str(name), PRESETS)}")
    known = {field.name for field in fields(Model)} - {"name"}
    for figure, given in overrides.items():
        if figure not in known:
            raise ValueError(
                f"A model has no figure {figure!r}.{suggest(figure, known)} It has: {', '.join(sorted(known))}."
            )
        least = 0.0 if figure in MAY_BE_ZERO else 1e-9
        for number in given if isinstance(given, tuple) else (given,):
            if not isinstance(number, int | float) or math.isnan(number) or number < least:
                raise ValueError(f"{figure} is {given!r}; a positive number is wanted.")
    if not overrides:
        return preset
    name = preset.name if preset.name.endswith("changed") else f"{preset.name}, changed"
    return replace(preset, name=name, **overrides)  # type: ignore[arg-type]
