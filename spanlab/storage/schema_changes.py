"""Schema changes on stored rows: what must be rewritten, what must be looked at, and how a failure is undone.

Spanner changes a schema while it serves (facts.md 10). A change that only alters names or rules is quick. One that
needs new data (an index, a stored column) backfills; one that forbids what was allowed looks at all old rows.
Meanwhile new writes already follow the new schema: a new index gets their entries, a new rule refuses them. If an old
row breaks the rule, the change is undone and the schema is as it was.

`SchemaChange` is one statement on its way, row by row; `backfill` estimates how long one takes on a real instance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanlab.errors import SpanlabError
from spanlab.storage.progress import progress_bar
from spanlab.storage.sizes import row_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from spanlab.storage.schema_work import Work

MEGABYTES_PER_SECOND = 15
ROLL_OUT_SECONDS = 60
_ROWS_A_STEP = 10_000


def backfill(rows: float, entry_bytes: float, nodes: int, busy: float, mb_per_s: float = MEGABYTES_PER_SECOND) -> float:
    """Minutes that a backfill takes: a model, not a promise (the documents say minutes to many hours, facts.md 4.3).

    Each node writes `mb_per_s` megabytes (10^6 bytes) a second in the share of its time that is not `busy` (0 to 1),
    since backfills run at low priority.
    """
    if not 0 <= busy < 1:
        raise ValueError(f"busy: {busy} is no share; 0 (idle) to below 1, where nothing is left for a backfill")
    if nodes < 1 or rows < 0 or entry_bytes < 0 or mb_per_s <= 0:
        raise ValueError("rows and entry_bytes cannot be negative, nodes is at least 1, mb_per_s more than 0")
    return rows * entry_bytes / (mb_per_s * 1e6 * nodes * (1 - busy)) / 60


class SchemaChange:
    """One DDL statement on its way.

    `kind` is "metadata", "backfill" or "validate" (facts.md 10), `state` one of PREPARE, WRITE_ONLY,
    WRITE_ONLY_VALIDATE_UNIQUE, READ_WRITE (facts.md 4.3) or FAILED, `states` all it went through. `rows_done` of
    `rows_total` rows are backfilled or looked at. `seconds` is simulated time: a minute to roll the schema out, and the
    bytes that were backfilled at 15 MB/s. `error` says why it failed.
    """

    def __init__(self, text: str, works: list[Work], finish: Callable[[], None], undo: Callable[[], None]) -> None:
        self.text = text
        self._works, self._finish, self._undo = works, finish, undo
        kinds = {work.kind for work in works}
        self.kind = "backfill" if "backfill" in kinds else "validate" if "validate" in kinds else "metadata"
        self.rows_total = sum(len(work.keys) for work in works)
        self.rows_done = 0
        self.seconds = float(ROLL_OUT_SECONDS)
        self.error: SpanlabError | None = None
        self.states = ["PREPARE"]
        self._enter_indexes("WRITE_ONLY")

    @property
    def state(self) -> str:
        """Where the change is now."""
        return self.states[-1]

    @property
    def done(self) -> bool:
        """True when the change is in force, or has failed and is undone."""
        return self.state in ("READ_WRITE", "FAILED")

    def step(self, rows: int) -> SchemaChange:
        """Go on with that many rows. When the last is done the change comes into force, or fails and is undone."""
        if self.done:
            return self
        try:
            self._enter("WRITE_ONLY")
            while rows > 0 and self._works:
                rows -= self._work_on(self._works[0], rows)
                if not self._works[0].keys:
                    self._end_work(self._works.pop(0))
            if not self._works:
                self._finish()
                self._enter("READ_WRITE")
        except SpanlabError as error:
            self.error = error
            self._undo()
            self._enter("FAILED")
        return self

    def run(self) -> SchemaChange:
        """Go on to the end."""
        return self.step(self.rows_total + 1)

    def _work_on(self, work: Work, rows: int) -> int:
        keys, work.keys = work.keys[:rows], work.keys[rows:]
        for key in keys:
            row = work.table.rows.get(key)
            if row is not None:
                work.do(key, row)
                if work.index is not None:
                    self.seconds += row_bytes(work.index.entries, row) / (MEGABYTES_PER_SECOND * 1e6)
            self.rows_done += 1
        return max(len(keys), 1)

    def _end_work(self, work: Work) -> None:
        if work.index is not None and work.index.index.unique:
            self._enter("WRITE_ONLY_VALIDATE_UNIQUE")
            self._enter_indexes("WRITE_ONLY_VALIDATE_UNIQUE")
        work.end()

    def _enter(self, state: str) -> None:
        if self.states[-1] != state:
            self.states.append(state)

    def _enter_indexes(self, state: str) -> None:
        for work in self._works:
            if work.index is not None:
                work.index.state = state

    def __repr__(self) -> str:
        progress = f"{self.rows_done:,} of {self.rows_total:,} rows"
        failed = f"\n  {self.error}".replace("\n", "\n  ") if self.error else ""
        states = " -> ".join(self.states)
        return f"{states} ({self.kind}, {progress}, {self.seconds:,.0f} s simulated): {self.text}{failed}"


class SchemaUpdate:
    """What became of a batch of DDL statements: an ordered list that stops at the first failure (facts.md 10).

    `applied` are the numbers, from 1, of the statements in force, `failed` that of the one that failed or None, `error`
    why, `changes` the SchemaChange of each statement that was begun.
    """

    def __init__(self) -> None:
        self.applied: list[int] = []
        self.failed: int | None = None
        self.error: SpanlabError | None = None
        self.changes: list[SchemaChange] = []

    @property
    def states(self) -> list[list[str]]:
        """The states that each statement went through."""
        return [change.states for change in self.changes]

    def __repr__(self) -> str:
        lines = [f"applied {self.applied}" + (f", failed {self.failed}" if self.failed else "")]
        return "\n".join(
            [*lines, *(repr(change) for change in self.changes), *([str(self.error)] if self.error else [])]
        )


def carry_on(change: SchemaChange) -> None:
    """Run a change to its end; a long one shows how far it is."""
    with progress_bar(change.text.split("(")[0].strip(), change.rows_total) as advance:
        while not change.done:
            change.step(_ROWS_A_STEP)
            advance(change.rows_done)
