"""Lab A, Noon flash sale: its two predictions and its six challenges."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from spanlab.course.challenge import Challenge, Criterion, Outcome, WrongAnswer
from spanlab.course.criteria import Design, Refused, committed, kept, key_of, number_is, p99
from spanlab.course.kinds import Choice, Fields, Number, OneOf, ddl
from spanlab.errors import SchemaError

if TYPE_CHECKING:
    from spanlab.query import Database
    from spanlab.schema import Schema

TITLE = "Noon flash sale"
_DIAGNOSIS = "Maintaining workloads: diagnosing a hotspot from several pieces of evidence"
_KEYS = "Storing data: re-keying a table for a write peak"
_CAPACITY = "Designing for scale: capacity, CPU targets, pre-splitting for a known event"

five_seconds = Challenge(
    id="A.P1",
    title="Where do 5.7 seconds come from?",
    points=0,
    kind=Choice("abcd"),
    hints=("10,000 connections hold one order each, and 1,800 orders are done in a second. Divide.",),
    note="b: a queue. 10,000 connections hold one open commit each, all before the same split, and it does 1,800 of "
    "them a second.",
    topic=_DIAGNOSIS,
)

full_speed = Challenge(
    id="A.P2",
    title="A good key, and a cold table",
    points=0,
    kind=Choice("abcd"),
    hints=("Splits double every two minutes. How often, until 50,000 ÷ 1,800 of them are there?",),
    note="c: in minute 13. From one split to 32 and on to 64 are six doublings of two minutes; the sale is then nearly "
    "two thirds over.",
    topic=_CAPACITY,
)

# ------------------------------------------------------------------------------------------- A.1: read the exhibits


_REASONS = OneOf(("HOT_ROW", "MOVING_HOT_SPOT", "LARGE_SCAN_HOT_SPOT", "UNISOLATABLE_HOT_ROW", "UNSPECIFIED"))
_EXHIBITS = {"reason": "MOVING_HOT_SPOT", "busy_servers": 1, "more_nodes_help": False}


def _field(weight: int, name: str, wanted: str) -> Criterion:
    def measure(answer: Mapping[str, Any]) -> Outcome:
        said = answer[name]
        return Outcome(float(said == _EXHIBITS[name]), "you left it open" if said is ... else f"you say {said}")

    return Criterion(weight, wanted, measure)


def _said(name: str, value: object) -> Callable[[Mapping[str, Any]], bool]:
    return lambda answer: answer[name] is not ... and answer[name] == value


exhibits = Challenge(
    id="A.1",
    title="Read the exhibits",
    points=3,
    kind=Fields(
        (
            ("reason", _REASONS),
            ("busy_servers", Number("servers", whole=True)),
            ("more_nodes_help", OneOf((True, False))),
        )
    ),
    criteria=(
        _field(34, "reason", "the reason why Spanner does not cut"),
        _field(33, "busy_servers", "how many servers are at work"),
        _field(33, "more_nodes_help", "whether more nodes help"),
    ),
    wrong=(
        WrongAnswer(
            {**_EXHIBITS, "reason": "HOT_ROW"},
            "reason: each order is a row of its own, so no row is hot. What is hot is the place behind the last row, "
            "and that moves on.",
            lambda a: a["reason"] in ("HOT_ROW", "UNISOLATABLE_HOT_ROW"),
        ),
        WrongAnswer(
            {**_EXHIBITS, "reason": "LARGE_SCAN_HOT_SPOT"},
            "reason: these are inserts; nothing is scanned.",
            _said("reason", "LARGE_SCAN_HOT_SPOT"),
        ),
        WrongAnswer(
            {**_EXHIBITS, "reason": "UNSPECIFIED"},
            "reason: exhibit 2 does specify one, in the last column of its row.",
            _said("reason", "UNSPECIFIED"),
        ),
        WrongAnswer(
            {**_EXHIBITS, "busy_servers": 22},
            "busy_servers: 22 are paid for. Count those in exhibit 3 that are not at 0 %.",
            lambda a: a["busy_servers"] is not ... and a["busy_servers"] > 1,
        ),
        WrongAnswer(
            {**_EXHIBITS, "more_nodes_help": True},
            "more_nodes_help: 21 servers are idle as it is. One split has one leader, and a new node does not divide "
            "it; the next experiment tries 60.",
            _said("more_nodes_help", True),
        ),
    ),
    hints=(
        "Each exhibit answers one question. The row of the split statistics names the reason itself.",
        "In the heat map, does the bright spot stay at its height? In exhibit 3, which numbers are not 0?",
        "The place moves, one server works, and the idle ones cannot take anything from it.",
    ),
    note="Exam stories describe exactly these exhibits in words: a diagonal, one busy server, flat throughput, a p99 "
    "of seconds.",
    topic=_DIAGNOSIS,
)

# -------------------------------------------------------------------------------- A.2: where do five seconds come from?

seconds = Challenge(
    id="A.2",
    title="Where do five seconds come from?",
    points=2,
    kind=Number("seconds"),
    criteria=(number_is(100, "seconds that a commit waits, within 5 %", 11.2, within=0.601),),
    wrong=(
        WrongAnswer(
            5.6,
            "5.6 s is the wait with 10,000 connections. With twice as many, twice as many stand in the queue.",
            lambda a: 5.3 <= a <= 5.9,
        ),
        WrongAnswer(
            27.8,
            "27.8 is 50,000 ÷ 1,800. The queue cannot grow beyond the connections: each holds one open commit, and the "
            "rest is refused at once.",
            lambda a: 27 <= a <= 28.5,
        ),
        WrongAnswer(
            0.4,
            "0.4 is 20,000 ÷ 50,000. That is how fast the queue fills; it is emptied at 1,800 commits a second.",
            lambda a: 0.39 <= a <= 0.41,
        ),
        WrongAnswer(0.005, "5 ms is a commit that finds no queue before it.", lambda a: 0 <= a <= 0.02),
        WrongAnswer(
            2.8,
            "2.8 s would be half of today's wait. More connections bring more commits into the queue, and not one more "
            "out of it.",
            lambda a: 2.6 <= a <= 3,
        ),
        WrongAnswer(
            11_111,
            "That looks like milliseconds. Give seconds.",
            lambda a: 10_000 <= a <= 12_000,
        ),
    ),
    hints=(
        "How many commits may stand in the queue, at one a connection?",
        "How many of them leave it in a second? Not what is offered, but what the split commits.",
        "20,000 ÷ 1,800.",
    ),
    note="A larger pool lengthens the wait and commits nothing more. A smaller one answers sooner and turns more "
    "customers away. Neither is a cure.",
    topic=_DIAGNOSIS,
)

# ------------------------------------------------------------------------------------------- A.3 and A.4: two new keys

_ORDERS, _NODES, _PARTS, _CONNECTIONS = 50_000, 22, 220, 10_000
_SHOPPERS, _BOT = "ids(2000000)", "celebrity(2000000, 0.1)"
_FROM_COMMIT_TIMESTAMP = "a commit timestamp column"


def _sale(answer: str, seed: int) -> Design | Refused:
    """The sale. In held-out runs (seed above 0) a bot makes a tenth of all orders. An order number that the DDL does
    not fill is counted by the shop's software, as today."""
    from spanlab.splits import model

    values = {"BoughtAt": "now", "ShopperId": _BOT if seed else _SHOPPERS, "Total": "const(10)"}
    try:
        design = Design(
            answer,
            "SaleOrders",
            writes_per_second=_ORDERS,
            values=values,
            nodes=_NODES,
            model=model("study", open_commits=_CONNECTIONS),
            presplit=_PARTS,
            seed=seed,
            rows=_some_orders,
        )
    except SchemaError as error:
        if _FROM_COMMIT_TIMESTAMP in str(error):
            return Refused(error)
        raise
    if _counted_by_the_shop(design):
        design.values["OrderId"] = "seq"
    return design


def _counted_by_the_shop(design: Design) -> bool:
    column = design.table.column("OrderId")
    return column is not None and column.type.name == "INT64" and not column.filled_by_schema


_ROWS, _NOON, _TENTH = 2_048, datetime(2026, 11, 27, 12, tzinfo=UTC), timedelta(milliseconds=100)


@kept
def _some_orders(schema: Schema) -> Database:
    """Orders of the first 102 seconds of a sale: two in each tenth of a second, all of different shoppers."""
    from spanlab.farmhash import bit_reverse
    from spanlab.query import Database
    from spanlab.storage.data import uuid

    table, number = schema.table("SaleOrders"), range(_ROWS)
    whole = (column := table.column("OrderId")) is not None and column.type.name == "INT64"
    counted = column is not None and not column.filled_by_schema
    columns: dict[str, list[object]] = {
        "BoughtAt": [_NOON + i // 2 * _TENTH for i in number],
        "OrderId": [(i + 1 if counted else bit_reverse(i + 1, True)) if whole else uuid(i) for i in number],
        "ShopperId": [uuid(i, "Shoppers") for i in number],
        "Total": [10] * _ROWS,
    }
    given = {
        name: values
        for name, values in columns.items()
        if (column := table.column(name)) is not None and column.generated is None
    }
    database = Database(schema)
    database.load_columns(table.name, given)
    return database


def _within_cpu(design: Design) -> Outcome:
    summary = design.summary
    cpu, all_committed = summary["cpu_mean"], summary["committed"] >= 49_000
    seen = f"mean CPU {100 * cpu:.0f} %" + (", but orders are missing" if not all_committed else "")
    return Outcome(float(all_committed and cpu <= 0.67), seen)


def _columns_kept(design: Design) -> Outcome:
    for name, type_name in (("BoughtAt", "TIMESTAMP"), ("ShopperId", "STRING"), ("Total", "NUMERIC")):
        column = design.table.column(name)
        if column is None or column.type.name != type_name:
            return Outcome(0.0, f"{name} is {column.type if column else 'missing'}")
        if name == "BoughtAt" and not column.commit_timestamp:
            return Outcome(0.0, "BoughtAt lacks OPTIONS (allow_commit_timestamp = true)")
    return Outcome(1.0, "they are")


def _orders_again(design: Design) -> Outcome:
    """Columns kept, and a key that a shopper's second order does not meet."""
    kept = _columns_kept(design)
    if kept.share and {name for name, _ in key_of(design)} <= {"shopperid", "total"}:
        return Outcome(0.0, "the second order of a shopper finds its key taken")
    return kept


def _leads(*names: str) -> Callable[[Design], bool]:
    """Whether the key begins with these columns."""
    return lambda design: [name for name, _ in key_of(design)][: len(names)] == [name.casefold() for name in names]


def _has_index_on(name: str) -> Callable[[Design], bool]:
    return lambda design: any(
        index.key[0].column.casefold() == name.casefold() for index in design.schema.indexes.values()
    )


def _table(columns: str, key: str, more: str = "") -> str:
    return (
        f"CREATE TABLE SaleOrders ({columns}, BoughtAt TIMESTAMP NOT NULL OPTIONS (allow_commit_timestamp = true), "
        f"ShopperId STRING(36) NOT NULL, Total NUMERIC) PRIMARY KEY ({key}){more}"
    )


_UUID = "OrderId UUID NOT NULL DEFAULT (NEW_UUID())"

random_id = Challenge(
    id="A.3",
    title="Random id",
    points=5,
    kind=ddl(),
    look=_sale,
    criteria=(
        committed(50, 49_000),
        p99(20, 25),
        Criterion(20, "the nodes are at most 67 % busy on average, with all orders committed", _within_cpu),
        Criterion(10, "BoughtAt, ShopperId and Total are kept, and a shopper can order twice", _orders_again),
    ),
    wrong=(
        WrongAnswer(
            _table(_UUID, "BoughtAt DESC, OrderId"),
            "DESC is the mirror image: each new row now goes before all others instead of behind them. Still 1,800.",
            lambda d: key_of(d)[0] == ("boughtat", True),
        ),
        WrongAnswer(
            _table(_UUID, "BoughtAt, OrderId"),
            "The time still leads the key, and the first column decides where a row goes. A random id behind it "
            "changes nothing.",
            lambda d: key_of(d)[0] == ("boughtat", False),
        ),
        WrongAnswer(
            _table(_UUID, "OrderId", "; CREATE INDEX ByTime ON SaleOrders (BoughtAt)"),
            "The table is fine. The hotspot has moved to the index on BoughtAt, and each order must write its entry: "
            "1,800.",
            lambda d: key_of(d)[0][0] != "boughtat" and _has_index_on("BoughtAt")(d),
        ),
        WrongAnswer(
            _table(_UUID, "ShopperId, BoughtAt, OrderId"),
            "With shoppers who are all alike this is full. The graded run has a bot that makes a tenth of all orders, "
            "and behind its id the time, or a counted number, is a tail: about 17,000 orders/s.",
            lambda d: (
                _leads("ShopperId", "BoughtAt")(d) or (_leads("ShopperId", "OrderId")(d) and _counted_by_the_shop(d))
            ),
            full=True,
        ),
        WrongAnswer(
            _table("OrderId INT64 NOT NULL", "OrderId"),
            "Who fills OrderId? The shop's software counts it, so each new order goes behind the one before. Let the "
            "database make the id.",
            lambda d: _leads("OrderId")(d) and _counted_by_the_shop(d),
        ),
        WrongAnswer(
            _table(
                "ShardId INT64 NOT NULL AS (MOD(OrderId, 16)) STORED, OrderId INT64 NOT NULL",
                "ShardId, BoughtAt, OrderId",
            ),
            "A shard does scatter, but each shard with the time behind it is a tail of 1,800 orders/s. There are too "
            "few of them here, whatever the nodes can do.",
            lambda d: _tails(2, 27)(d),
        ),
        WrongAnswer(
            _table(_UUID, "ShopperId"),
            "It is fast, but the key has to tell two orders apart. With ShopperId alone a shopper orders only once.",
            lambda d: {name for name, _ in key_of(d)} <= {"shopperid", "total"},
        ),
    ),
    hints=(
        "A right answer makes the picture of 22 level bars. Which column should lead for that?",
        "No column of today's table will do. Let the database make an id for each order, at random.",
        "OrderId UUID NOT NULL DEFAULT (NEW_UUID()), and OrderId alone as the key.",
    ),
    note="The price: 'the orders of the last minute' is now a scan of the whole table; that is the next task. "
    "(ShopperId, OrderId) with a random OrderId is full as well, even with a bot: Spanner can cut inside one shopper, "
    "after some minutes.",
    topic=_KEYS,
)

# ---------------------------------------------------------------------------------------- A.4: random, yet ordered

_MOST_SHARDS = 64
_SHARD_LIKE = 512  # more values than that, among some orders, are no shards
_EVEN = 1.75


@dataclass(frozen=True)
class Shards:
    """What leads the table (or an index) as a shard: the column, and how many of some orders have each value."""

    column: str
    counts: Mapping[object, int]


def _shards(design: Design) -> Shards | None:
    """The shard column: the first key column of the table or of an index, if it has few values."""
    leading = [key[0].column for key in (design.table.key, *(index.key for index in design.schema.indexes.values()))]
    for column in dict.fromkeys(leading):
        rows = design.ask(f"SELECT {column}, COUNT(*) AS Orders FROM {design.table.name} GROUP BY {column}").rows
        if 1 < len(rows) <= _SHARD_LIKE:
            return Shards(column, {row[0]: row[1] for row in rows})
    return None


_NO_SHARD = "no key begins with a column that has few values"


def _minute_seeks(design: Design) -> Outcome:
    """Reads a minute of four shards. A seek touches the orders that it returns, and no others."""
    found = _shards(design)
    if found is None:
        return Outcome(0.0, _NO_SHARD)
    since = _NOON + timedelta(seconds=30)
    query = (
        f"SELECT BoughtAt FROM {design.table.name} WHERE {found.column} = @shard "
        "AND BoughtAt >= @since AND BoughtAt < @until"
    )
    scanned = returned = 0
    for shard in list(found.counts)[:4]:
        params = {"shard": shard, "since": since, "until": since + timedelta(minutes=1)}
        result = design.database.query(query, params)
        scanned, returned = scanned + result.plan.scanned, returned + len(result.rows)
    share = float(0 < scanned <= 1.1 * returned)
    return Outcome(share, f"four shards read {scanned:,} rows and return {returned:,} orders")


def _few_even_shards(design: Design) -> Outcome:
    found = _shards(design)
    if found is None:
        return Outcome(0.0, _NO_SHARD)
    number, mean = len(found.counts), sum(found.counts.values()) / len(found.counts)
    fullest = max(found.counts.values()) / mean
    share = float(number <= _MOST_SHARDS and fullest <= _EVEN and not _folds_a_reversed_id(design))
    return Outcome(share, f"{found.column} has {number} values; the fullest holds {fullest:.1f} times the mean")


def _then_comes(design: Design) -> str | None:
    """The key column behind the shard that leads the table; None if no shard leads it, or nothing follows."""
    found, key = _shards(design), key_of(design)
    leads = found is not None and key[0][0] == found.column.casefold()
    return key[1][0] if leads and len(key) > 1 else None


def _tails(low: int, high: int) -> Callable[[Design], bool]:
    """Whether the table begins with so many shards and the time behind them: each is a tail in one split."""

    def test(design: Design) -> bool:
        found = _shards(design)
        return found is not None and low <= len(found.counts) <= high and _then_comes(design) == "boughtat"

    return test


def _folds_a_reversed_id(design: Design) -> bool:
    """Whether the shard is MOD of a bit-reversed number itself. The low bits of such numbers are 0 for as long as few
    were given out, so few remainders occur."""
    found, number = _shards(design), design.table.column("OrderId")
    if found is None or number is None or number.type.name != "INT64" or not number.filled_by_schema:
        return False
    shard = design.table.column(found.column)
    made = shard.generated if shard is not None else None
    return made is not None and "OrderId" in made and "FARM_FINGERPRINT" not in made and len(found.counts) < 28


def _with_negative_shards(design: Design) -> bool:
    found = _shards(design)
    return found is not None and any(isinstance(value, int) and value < 0 for value in found.counts)


def _shard_index(design: Design) -> bool:
    """Whether only an index begins with a shard, and the time follows."""
    found = _shards(design)
    return found is not None and found.column.casefold() != key_of(design)[0][0]


def _shard_reads(name: str) -> Callable[[Design], bool]:
    """Whether the column that leads the key is computed from that column."""

    def test(design: Design) -> bool:
        column = design.table.column(key_of(design)[0][0])
        return column is not None and column.generated is not None and name in column.generated

    return test


_HASH = "MOD(MOD(FARM_FINGERPRINT({source}), {n}) + {n}, {n})"
_TEXT_ID = "OrderId STRING(36) NOT NULL DEFAULT (GENERATE_UUID())"


def _sharded(
    n: int, key: str = "ShardId, BoughtAt, OrderId", expression: str = _HASH, source: str = "OrderId", more: str = ""
) -> str:
    shard = f"ShardId INT64 NOT NULL AS ({expression.format(n=n, source=source)}) STORED"
    return _table(f"{shard}, {_TEXT_ID}", key, more)


random_and_ordered = Challenge(
    id="A.4",
    title="Random, yet ordered",
    points=5,
    kind=ddl(),
    look=_sale,
    criteria=(
        committed(40, 49_000),
        p99(20, 25),
        Criterion(20, "reading a minute of one shard touches only the rows that it returns", _minute_seeks),
        Criterion(20, f"there are at most {_MOST_SHARDS} shards, evenly filled", _few_even_shards),
    ),
    wrong=(
        WrongAnswer(
            _sharded(16),
            "So few shards are so few tails, each in one split: 16 of them commit 16 × 1,800 = 28,800 orders/s.",
            lambda d: _tails(2, 20)(d) and not _folds_a_reversed_id(d),
        ),
        WrongAnswer(
            _sharded(24),
            "24 × 1,800 = 43,200: too few for 50,000 orders/s, however many nodes there are. Every shard is full, and "
            "queues.",
            lambda d: _tails(21, 27)(d) and not _folds_a_reversed_id(d),
        ),
        WrongAnswer(
            _sharded(32),
            "32 shards commit all, but each is 87 % full, so a queue builds up now and then: p99 35 ms.",
            _tails(28, 39),
        ),
        WrongAnswer(
            _sharded(44, "BoughtAt, ShardId, OrderId"),
            "The time leads again, and the first column decides. The shard must stand before it.",
            _leads("BoughtAt"),
        ),
        WrongAnswer(
            _sharded(44, source="CAST(BoughtAt AS STRING)"),
            "A generated column cannot read a commit timestamp. And a shard of the time would send all orders of an "
            "instant to one shard.",
            lambda d: isinstance(d, Refused),
        ),
        WrongAnswer(
            _sharded(44, expression="MOD(FARM_FINGERPRINT({source}), {n})"),
            "MOD keeps the sign of the hash: 87 shards, from −43 to 43. Who reads 0 to 43 misses 49 % of the orders.",
            _with_negative_shards,
        ),
        WrongAnswer(
            _sharded(44, "ShardId, OrderId"),
            "Inside a shard the orders lie by their id, so a minute of a shard is a scan of the shard. The time "
            "comes right behind the shard.",
            lambda d: _then_comes(d) not in (None, "boughtat"),
        ),
        WrongAnswer(
            _sharded(100),
            "The writes are fine. But each shard is one range read on every refresh of the screen, and 64 is the most.",
            lambda d: _tails(_MOST_SHARDS + 1, _SHARD_LIKE)(d) and not _with_negative_shards(d),
        ),
        WrongAnswer(
            _table(
                "ShardId INT64 NOT NULL AS (MOD(OrderId, 48)) STORED, "
                "OrderId INT64 NOT NULL GENERATED BY DEFAULT AS IDENTITY (BIT_REVERSED_POSITIVE)",
                "ShardId, BoughtAt, OrderId",
            ),
            "The low bits of bit-reversed numbers are 0 at first, so few remainders occur: 3 of 48, which are 3 tails "
            "of 1,800 writes/s. Hash the id before MOD.",
            _folds_a_reversed_id,
        ),
        WrongAnswer(
            _sharded(44, "OrderId", more="; CREATE INDEX ByShard ON SaleOrders (ShardId, BoughtAt)"),
            "As a design this is good: but each order now writes two rows, 100,000 a second. 22 nodes commit 38,500 "
            "such orders at 100 % CPU; it would take 44 nodes.",
            _shard_index,
        ),
        WrongAnswer(
            _table(_UUID, "OrderId"),
            "The orders are spread, and their order in time is gone: nothing begins with a shard and then the time.",
            lambda d: _shards(d) is None and not _leads("BoughtAt")(d),
        ),
        WrongAnswer(
            _sharded(44, source="ShopperId"),
            "With shoppers who are all alike this is full. In the graded run a bot makes a tenth of all orders; all of "
            "them fall into one shard, which is a tail: about 15,000 orders/s.",
            _shard_reads("ShopperId"),
            full=True,
        ),
    ),
    hints=(
        "Lesson 3: many small tails in place of one. What must lead the key, and what must follow right behind?",
        "A stored column computed from the hash of OrderId. How many shards: the load ÷ 1,800, and plenty of air.",
        "MOD(MOD(FARM_FINGERPRINT(OrderId), 44) + 44, 44), since 44 is 2 × 22; the key (ShardId, BoughtAt, OrderId).",
    ),
    note="What it costs: the control room sends one range read a shard and merges them, and the number of shards is "
    "part of the schema. On twice the nodes, the UUID table with an index on (ShardId, BoughtAt) would do as well.",
    topic=_KEYS,
)

# ----------------------------------------------------------------------------------------------------- A.5: capacity

capacity = Challenge(
    id="A.5",
    title="Capacity",
    points=2,
    kind=Number("nodes", whole=True),
    criteria=(number_is(100, "the least number of nodes that stays at or under 65 %", 36, partly={23: 0.5, 37: 0.5}),),
    wrong=(
        WrongAnswer(23, "23 nodes would be at 100 % CPU: nothing is left if a zone fails."),
        WrongAnswer(35, "80,000 ÷ 2,275 is 35.2. With 35 nodes the CPU is above 65 %; round up.", lambda a: a == 35),
        WrongAnswer(45, "45 is 80,000 ÷ 1,800. That counts splits, and a node serves many splits."),
        WrongAnswer(71, "71 is right for a table with one index, where each order writes two rows. There is none."),
        WrongAnswer(6, "6 nodes would do for 80,000 reads a second. These are writes."),
        WrongAnswer(22, "22 is for the 50,000 of this year."),
        WrongAnswer(37, "One node more for headroom is fine in life. Asked is the least number."),
    ),
    hints=(
        "Each order is one row write. How many can one node do in a second, at 100 % CPU?",
        "Take 65 % of that: so much may you plan for a node.",
        "80,000 ÷ (3,500 × 0.65), rounded up.",
    ),
    note="Capacity is the second question. It counts only once the key lets all nodes take part.",
    topic=_CAPACITY,
)

# --------------------------------------------------------------------------------------------------- A.6: event plan

_PLAN = {"points": 220, "requests": 3, "hours_before": 24, "lifetime_days": 2, "after": "scale_down"}
_Plan = Mapping[str, Any]


def _given(answer: _Plan, *names: str) -> bool:
    return all(answer[name] is not ... for name in names)


def _planned(weight: int, wanted: str, names: tuple[str, ...], right: Callable[..., bool]) -> Criterion:
    """A line of the plan: the fields that it needs, and whether their values are right."""

    def measure(answer: _Plan) -> Outcome:
        if not _given(answer, *names):
            return Outcome(0.0, "you left it open")
        seen = ", ".join(f"{name} {answer[name]}" for name in names)
        return Outcome(float(right(*(answer[name] for name in names))), f"you say {seen}")

    return Criterion(weight, wanted, measure)


event_plan = Challenge(
    id="A.6",
    title="Event plan",
    points=3,
    kind=Fields(
        (
            ("points", Number("split points", whole=True)),
            ("requests", Number("requests", whole=True)),
            ("hours_before", Number("hours")),
            ("lifetime_days", Number("days")),
            ("after", OneOf(("scale_down", "keep"))),
        )
    ),
    criteria=(
        _planned(30, "about ten split points a node", ("points",), lambda points: 176 <= points <= 264),
        _planned(
            20,
            "enough requests for the points",
            ("points", "requests"),
            lambda points, requests: points > 0 and requests >= math.ceil(points / 100),
        ),
        _planned(20, "neither too early nor too late", ("hours_before",), lambda hours: 12 <= hours <= 168),
        _planned(
            20,
            "a lifetime that Spanner takes, and that lasts until the sale is over",
            ("lifetime_days", "hours_before"),
            lambda days, hours: 1 <= days <= 30 and 24 * days >= hours + 1,
        ),
        _planned(10, "what happens to the nodes afterwards", ("after",), lambda after: after == "scale_down"),
    ),
    wrong=(
        WrongAnswer(
            {**_PLAN, "requests": 1},
            "requests: one request takes at most 100 points.",
            lambda a: a["requests"] < math.ceil(a["points"] / 100),
        ),
        WrongAnswer(
            {**_PLAN, "hours_before": 1},
            "hours_before: too late. The advice is between seven days and twelve hours before the event.",
            lambda a: a["hours_before"] < 12,
        ),
        WrongAnswer(
            {**_PLAN, "hours_before": 240, "lifetime_days": 14},
            "hours_before: too early. The advice is seven days at most, and split points do not live for ever.",
            lambda a: a["hours_before"] > 168,
        ),
        WrongAnswer(
            {**_PLAN, "points": 2_200, "requests": 22},
            "points: 50 a node is the cap, so 1,100 here, and a commit over more splits costs more. The advice is ten.",
            lambda a: a["points"] > 1_100,
        ),
        WrongAnswer(
            {**_PLAN, "points": 22, "requests": 1},
            "points: too few. 22 of them make 23 splits, which commit 41,400 orders/s until Spanner cuts further.",
            lambda a: a["points"] <= 27,
        ),
        WrongAnswer(
            {**_PLAN, "points": 100, "requests": 1},
            "points: they would do for the load, with little air. The advice is about ten a node, and there are 22.",
            lambda a: 27 < a["points"] < 176,
        ),
        WrongAnswer(
            {**_PLAN, "points": 500, "requests": 5},
            "points: allowed, since the cap is 50 a node, but more than the advice of about ten a node.",
            lambda a: 264 < a["points"] <= 1_100,
        ),
        WrongAnswer(
            {**_PLAN, "lifetime_days": 365},
            "lifetime_days: 30 days at most.",
            lambda a: a["lifetime_days"] > 30,
        ),
        WrongAnswer(
            {**_PLAN, "hours_before": 72, "lifetime_days": 2},
            "lifetime_days: these points expire before the sale begins; they live from the moment they are added.",
            lambda a: 0 < 24 * a["lifetime_days"] < a["hours_before"] + 1,
        ),
        WrongAnswer(
            {**_PLAN, "after": "keep"},
            "after: nodes are paid for by the hour, and the sale lasts 20 minutes.",
            lambda a: a["after"] == "keep",
        ),
    ),
    hints=(
        "The two facts above hold all that you need: the advice is in one, the limits are in the other.",
        "Ten points a node, 22 nodes; 100 points a request. Add them in the window, and let them outlive the sale.",
        "220 points in 3 requests, a day before, for 2 days; then back to fewer nodes.",
    ),
    note="Run the load test between adding the points and the event: it shows that they are there, and that the key "
    "is right.",
    topic=_CAPACITY,
)

CHALLENGES = (
    five_seconds,
    exhibits,
    seconds,
    random_id,
    random_and_ordered,
    full_speed,
    capacity,
    event_plan,
)
