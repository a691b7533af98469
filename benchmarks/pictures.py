"""How long a reader waits for a picture: simulation, specification and bundle, for every panel of the course.

    python benchmarks/pictures.py

Each panel is moved through its own controls, to places where it has not been (nothing is remembered), then back to
places where it has. The goal is 50 ms at the median for panel 1A, whose default scenario is the course's first.
What the browser adds is measured by `tests/browser`.
"""

from __future__ import annotations

import itertools
import json
import statistics
import time
from typing import Any

from spanlab.charts import bundle
from spanlab.panels import panel
from spanlab.panels.panel import Panel

# for each panel: where its controls are taken, one after the other
PATHS: dict[str, dict[str, tuple[Any, ...]]] = {
    "1A": {"key": ("now", "uuid4"), "offered": (12_000, 50_000), "nodes": (4, 9, 14, 19, 24, 29)},
    "2A": {"generator": ("bit_reversed", "uuid4", "uuid1"), "keys": (8, 32, 64)},
    "3A": {"offered": (12_000, 50_000), "shards": (2, 4, 6, 8, 12, 16, 32, 64)},
    "3B": {"parts": (1, 4), "percent": (2, 5, 10, 20, 50)},
    "4A": {"key": ("uuid4", "(shard(16), ulid)", "now"), "minute": (3, 9, 13)},
    "4B": {"ratio": (0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2)},
    "5A": {"workload": ("hits_by_uuid", "hits_by_shard", "hot_row"), "history": ("0h", "90d")},
}


def timed(shown: Panel, path: dict[str, tuple[Any, ...]]) -> list[tuple[float, float]]:
    """Milliseconds (of the clock, of the processor) for each single control that is moved."""
    spent = []
    for places in itertools.product(*path.values()):
        for name, value in zip(path, places, strict=True):
            if shown.parameters[name] != value:
                clock, processor = time.perf_counter(), time.process_time()
                shown.set(**{name: value})
                spent.append((1_000 * (time.perf_counter() - clock), 1_000 * (time.process_time() - processor)))
    return spent


def main() -> None:
    begun = time.perf_counter()
    panel("1A")
    print(f"first picture of a session, with the import of Altair: {time.perf_counter() - begun:.2f} s\n")
    print("panel | a new place: clock median, most; processor median | a known place: clock median | bytes sent")
    for name, path in PATHS.items():
        shown = panel(name)
        new = timed(shown, path)
        known = timed(shown, path)
        clock, processor = [statistics.median(one) for one in zip(*new, strict=True)]
        again = statistics.median(one for one, _ in known)
        most = max(one for one, _ in new)
        size = len(json.dumps(bundle(shown.scene.chart)[0]))
        print(f"{name:5} | {clock:7.1f} {most:7.1f} ms; {processor:7.1f} ms | {again:7.1f} ms | {size:8,}")


if __name__ == "__main__":
    main()
