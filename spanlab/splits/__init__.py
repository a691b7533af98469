"""The split simulator: where keys land, how Spanner cuts the key space, and what that does to a load.

    from spanlab.splits import Workload, simulate

    run = simulate("now", writes_per_second=12_000, nodes=30)        # a key alone
    run = simulate(schema, Workload("Orders", 12_000), nodes=30)     # a schema and a load
    run.summary()

Read in this order: `keys`, `choices`, `composite` (where new rows land), `state` and `serving` (a second of a
database), `splitter` (where Spanner cuts), `simulation` (the loop), `latency`, `observe` and `heat` (what a run shows),
`workload` and `columns` (from a schema to key spaces).
"""

from spanlab.splits.choices import Celebrity, Ids, Pick, Shard, Zipf
from spanlab.splits.commit_latency import commit_latency
from spanlab.splits.composite import Desc, Mix
from spanlab.splits.keys import (
    Ahead,
    BitReversed,
    CommitTimestamp,
    HotRow,
    Key,
    Now,
    Sequence,
    Ulid,
    Uuid1,
    Uuid4,
    Uuid7,
)
from spanlab.splits.model import Model, model
from spanlab.splits.observe import Run
from spanlab.splits.presplit import splits_file
from spanlab.splits.ranges import can_cut, route, sequence
from spanlab.splits.run import simulate
from spanlab.splits.sweep import key_codes, sweep
from spanlab.splits.words import value
from spanlab.splits.workload import Workload

__all__ = [
    "Ahead",
    "BitReversed",
    "Celebrity",
    "CommitTimestamp",
    "Desc",
    "HotRow",
    "Ids",
    "Key",
    "Mix",
    "Model",
    "Now",
    "Pick",
    "Run",
    "Sequence",
    "Shard",
    "Ulid",
    "Uuid1",
    "Uuid4",
    "Uuid7",
    "Workload",
    "Zipf",
    "can_cut",
    "commit_latency",
    "key_codes",
    "model",
    "route",
    "sequence",
    "simulate",
    "splits_file",
    "sweep",
    "value",
]
