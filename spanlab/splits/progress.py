"""Long runs show how far they are, and can be stopped without losing what was simulated.

A bar leaves a trace in the outputs of a notebook, so whoever runs notebooks to compare their outputs sets the
environment variable SPANLAB_BARS to "off".
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

    from spanlab.splits.simulation import Simulation

PATIENCE_S = 5.0
"""A run that is done within so many seconds of real time shows nothing."""


def watched(simulation: Simulation) -> None:
    """Runs a simulation to its end, or until it is interrupted (Ctrl-C, or Interrupt in a notebook)."""
    begun, bar = time.perf_counter(), None
    try:
        while simulation.step < simulation.steps:
            simulation.advance()
            if bar is None and takes_long(begun):
                bar = started("Simulating", simulation.steps)
            if bar is not None:
                bar.update(bar.task_ids[0], completed=simulation.step)
    except KeyboardInterrupt:
        if not simulation.recording.blocks:
            raise
        simulation.recording.interrupted = True
    finally:
        if bar is not None:
            bar.stop()


def takes_long(begun: float) -> bool:
    """True where a progress bar is due: the run has been going on for a while, and bars are not switched off."""
    return time.perf_counter() - begun > PATIENCE_S and os.environ.get("SPANLAB_BARS") != "off"


def started(what: str, total: int) -> Progress:
    """A progress bar on the terminal or in the notebook, which goes away when it is stopped."""
    from rich.progress import Progress

    bar = Progress(transient=True)
    bar.add_task(what, total=total)
    bar.start()
    return bar
