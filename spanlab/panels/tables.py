"""The tables that the course keeps coming back to: one page hit a row, and another key each time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from spanlab.errors import suggest
from spanlab.panels.runs import run_key
from spanlab.splits import HotRow, Key, Mix, Run, Uuid4, Workload, simulate


@dataclass(frozen=True)
class Hits:
    """A table: what its key is called, how it is declared, and the law of its key (a workload word, or a key)."""

    words: str
    declared: str
    key: str | Key


TABLES = {
    "hits_by_time": Hits("time of write", "PRIMARY KEY (HitAt)", "now"),
    "hits_by_counter": Hits("application counter", "PRIMARY KEY (HitNo)", "seq"),
    "hits_by_uuid": Hits("UUIDv4", "PRIMARY KEY (HitId)", "uuid4"),
    "hits_by_sequence": Hits("bit-reversed sequence", "PRIMARY KEY (HitNo)", "bit_reversed"),
    "hits_by_ulid": Hits("ULID", "PRIMARY KEY (Ulid)", "ulid"),
    "hits_by_uuid1": Hits("UUIDv1", "PRIMARY KEY (HitId)", "uuid1"),
    "hits_by_shard": Hits("16 shards + ULID", "PRIMARY KEY (ShardId, Ulid)", "(shard(16), ulid)"),
    "hits_by_user": Hits("user, then time; some users giants", "PRIMARY KEY (UserId, HitAt)", "(zipf(300, 0.9), now)"),
    "hot_row": Hits("UUIDv4, and one hot row", "PRIMARY KEY (HitId)", Mix((0.2, 0.8), (HotRow(), Uuid4()))),
}
WITH_INDEX = """
CREATE TABLE Hits (
  HitId STRING(36) NOT NULL DEFAULT (GENERATE_UUID()),
  HitAt TIMESTAMP NOT NULL OPTIONS (allow_commit_timestamp = true)
) PRIMARY KEY (HitId);
CREATE INDEX ByHitAt ON Hits (HitAt);
"""


def run_table(name: str, writes_per_second: int, nodes: int, minutes: float = 10) -> Run:
    """A run of the table with that name; "hits_with_index" is a UUIDv4 table with an index on the time."""
    if name == "hits_with_index":
        return _with_index(writes_per_second, nodes, minutes)
    return run_key(TABLES[name].key, writes_per_second, nodes, minutes=minutes)


@cache
def _with_index(writes_per_second: int, nodes: int, minutes: float) -> Run:
    from spanlab.schema import Schema

    load = Workload("Hits", writes_per_second, values={"HitAt": "now"})
    return simulate(Schema.from_ddl(WITH_INDEX), load, nodes=nodes, minutes=minutes)


def no_table(name: object, known: Iterable[str]) -> ValueError:
    """What to raise for a name that no table has."""
    names = list(known)
    return ValueError(f"There is no table {name!r}; ready are {', '.join(names)}.{suggest(str(name), names)}")
