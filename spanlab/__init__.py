"""spanlab: see Cloud Spanner split, and learn to write schemas that it can split.

    import spanlab as sl

    schema = sl.Schema.from_ddl(text)                     # DDL in, or a SchemaError that teaches
    run = sl.simulate(schema, load, nodes=30, minutes=10)  # what Spanner makes of the load
    sl.check("1.3", answer)                               # a challenge, graded

Names are loaded when they are first used, so that `import spanlab` is quick.
"""

from __future__ import annotations

import importlib
import sys

__version__ = "0.2.0"

_HOME = {
    "spanlab.errors": ("SpanlabError", "SchemaError", "QueryError", "UnsupportedError", "ConstraintError"),
    "spanlab.values": ("sort_keys",),
    "spanlab.farmhash": ("farm_fingerprint", "bit_reverse"),
    "spanlab.schema": ("Schema",),
    "spanlab.splits": (
        "simulate", "sequence", "key_codes", "sweep", "model", "Workload", "route", "can_cut", "splits_file",
        "commit_latency",
        "Uuid4", "Uuid1", "Uuid7", "Ulid", "Sequence", "BitReversed", "CommitTimestamp", "Now", "HotRow",
        "Ahead", "Ids", "Zipf", "Celebrity", "Pick", "Shard", "Mix", "Desc",
    ),
    "spanlab.advisor": ("advise",),
    "spanlab.storage": ("participants", "mutations", "backfill", "batches"),
    "spanlab.query": ("Database", "data", "read_plan"),
    "spanlab.panels": (
        "compare", "cuts", "heat", "index_sizes", "key_line", "latency", "panel", "plans", "reads", "servers", "shelf",
        "stairs",
    ),
    "spanlab.course": ("check", "hint", "reveal", "reset", "progress"),
    "spanlab.course.sources": ("source", "glossary"),
    "spanlab.course.quiz": ("quiz",),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        # Python itself adds the nearest name to the message
        raise AttributeError(f"module 'spanlab' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULE_OF])
