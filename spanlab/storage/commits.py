"""What a commit did: the report that Spanner gives only in part, and a course needs whole."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from spanlab.storage.sizes import written_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from spanlab.storage.journal import Write
    from spanlab.storage.splits import Split


class StatementOutcome(NamedTuple):
    """What one DML statement did: how many rows it touched, its mutations, and the rows of its THEN RETURN."""

    text: str
    rows: int
    mutations: int
    returned: list[dict[str, object]]


class Commit:
    """The outcome of one commit.

    `mutations` is the count that the limit of 80,000 is about (facts.md 6.1), `timestamp` the commit timestamp,
    `statements` what each DML statement did (empty for a commit of mutations).
    """

    def __init__(
        self,
        timestamp: datetime,
        mutations: int,
        writes: Sequence[Write],
        find_splits: Callable[[Sequence[Write]], list[Split]],
        statements: Sequence[StatementOutcome] = (),
    ) -> None:
        self.timestamp, self.mutations, self.statements = timestamp, mutations, list(statements)
        self._writes, self._find_splits = writes, find_splits

    @cached_property
    def rows_written(self) -> dict[str, int]:
        """How many rows and index entries were written or taken out, by table and index."""
        counts: Counter[str] = Counter()
        for write in self._writes:
            counts[write.rows.name] += len(write.keys)
        return dict(counts)

    @cached_property
    def bytes(self) -> int:
        """The size of what was written, with index entries (facts.md 2.1, 6.1 R2); a removed row counts its key."""
        return written_bytes(self._writes)

    @cached_property
    def splits(self) -> list[Split]:
        """The splits that the commit wrote to, in key order, as they were at the time of the commit."""
        return self._find_splits(self._writes)

    @property
    def participants(self) -> int:
        """How many splits take part: each is a Paxos group with a leader of its own.

        Splits that a transaction only reads take part as well on the real service; here only writes are counted.
        """
        return len(self.splits)

    @property
    def two_phase(self) -> bool:
        """True where more than one split takes part, so that the commit needs two phases (facts.md 3.17)."""
        return self.participants > 1

    def __repr__(self) -> str:
        written = ", ".join(f"{name} {count:,}" for name, count in self.rows_written.items()) or "nothing"
        phases = "two-phase commit" if self.two_phase else "one phase"
        splits = f"{self.participants} split{'s' if self.participants != 1 else ''}"
        return f"Commit: {self.mutations:,} mutations, {self.bytes:,} bytes; wrote {written}; {splits}, {phases}"
