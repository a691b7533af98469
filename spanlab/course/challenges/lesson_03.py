"""Lesson 3, Spread, and still scan: its two predictions and its four challenges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from spanlab.course.challenge import Challenge, Criterion, Outcome, WrongAnswer
from spanlab.course.criteria import (
    Design,
    HandedQuery,
    committed,
    has_columns,
    kept,
    key_of,
    p99,
    parameters,
    rows,
    scanned,
    sorts,
)
from spanlab.course.kinds import Choice, Number, ddl, sql
from spanlab.errors import SpanlabError

if TYPE_CHECKING:
    from spanlab.query import Database
    from spanlab.schema import Schema

TITLE = "Spread, and still scan"
_TOPIC = "Storing data: keys that spread writes and keep ranges together"

giant = Challenge(
    id="3.P1",
    title="A giant among the users",
    points=0,
    kind=Choice("abc"),
    hints=("How much of the load is the giant's own, and how much of it can one place take?",),
    note="b. The giant's 2,400 writes/s meet a ceiling of 1,800, and the waiting commits fill the places that the "
    "clients keep open for everybody.",
    topic=_TOPIC,
)

missing_rows = Challenge(
    id="3.P2",
    title="Is the report complete?",
    points=0,
    kind=Choice("abcd"),
    hints=("What does MOD give for a negative number?",),
    note="c. Half of all hashes are negative, and MOD keeps the sign: 15 of 32 rows get a shard below 0.",
    topic=_TOPIC,
)

# ----------------------------------------------------------------------------------------------- 3.1 Swap and sort

_USERS, _LOG_INS = 100, 4_000
_LATEST = "SELECT SeenAt, Device FROM Logins WHERE UserId=@u ORDER BY SeenAt DESC LIMIT 5"
_DEVICES = "pick(phone:.4, tablet:.3, laptop:.2, tv:.1)"


@kept
def _with_log_ins(schema: Schema) -> Database:
    """4,000 log-ins of 100 users, ten minutes apart, in whatever Logins the schema has."""
    from spanlab.query import Database, data
    from spanlab.storage.fitting import fitted_columns

    users = [data.uuid(number) for number in range(_USERS)]
    first = data.day(0)
    columns: dict[str, Sequence[object]] = {
        "SeenAt": [first + timedelta(minutes=10 * number) for number in range(_LOG_INS)],
        "UserId": [users[number % _USERS] for number in range(_LOG_INS)],
        "Device": [("phone", "tablet", "laptop", "tv")[number % 7 % 4] for number in range(_LOG_INS)],
    }
    database = Database(schema)
    for table in database.tables_in_loading_order():
        if table.name.casefold() == "logins":
            database.load_columns(table.name, fitted_columns(table, columns))
    return database


def _log_ins(answer: str, seed: int) -> Design:
    from spanlab.query import data

    return Design(
        answer,
        "Logins",
        writes_per_second=12_000,
        values={"UserId": "ids(100000)", "SeenAt": "now", "Device": _DEVICES},
        nodes=10,
        seed=seed,
        rows=_with_log_ins,
        params={"u": data.uuid(7)},
    )


def _leads(design: Design) -> str:
    return key_of(design)[0][0]


def _follows(design: Design) -> str:
    """The second column of the key, "" where there is none."""
    return "".join(column for column, _ in key_of(design)[1:2])


def _logins(key: str, more: str = "", behind: str = "") -> str:
    return (
        f"CREATE TABLE Logins (SeenAt TIMESTAMP NOT NULL, UserId STRING(36) NOT NULL, Device STRING(40){more}) "
        f"PRIMARY KEY ({key}){behind}"
    )


swap = Challenge(
    id="3.1",
    title="Swap and sort",
    points=2,
    kind=ddl(),
    look=_log_ins,
    criteria=(
        committed(40, 11_700),
        scanned(30, 5, _LATEST),
        sorts(20, _LATEST),
        has_columns(10, {"SeenAt": "TIMESTAMP", "UserId": "STRING", "Device": "STRING"}),
    ),
    wrong=(
        WrongAnswer(
            _logins("UserId, SeenAt"),
            "The spread is right. But the newest log-ins are at the end of the user's range, and Spanner does not scan "
            "backwards: it reads the user's whole range and sorts. Annotate SeenAt with DESC.",
            lambda d: _leads(d) == "userid" and _follows(d) == "seenat" and d.ask(_LATEST).plan.sorts > 0,
        ),
        WrongAnswer(
            _logins("UserId, Device, SeenAt DESC"),
            "Device stands between the two: a user's log-ins are in order within each device only, so all of them are "
            "read and sorted. SeenAt DESC has to follow UserId at once.",
            lambda d: _leads(d) == "userid" and _follows(d) == "device" and d.ask(_LATEST).plan.sorts > 0,
        ),
        WrongAnswer(
            _logins("UserId"),
            "With UserId alone there is one row for each user: the second log-in has the key of the first and is "
            "refused. The time belongs to the key, behind the user.",
            lambda d: key_of(d) in ([("userid", False)], [("userid", True)]),
        ),
        WrongAnswer(
            _logins("SeenAt DESC, UserId"),
            "The leading column is still time. DESC moves the busy end of the table to the other side, no more.",
            lambda d: key_of(d)[0] == ("seenat", True),
        ),
        WrongAnswer(
            _logins("SeenAt, UserId"),
            "That is the key as it was: time leads, and each new row goes behind the one before.",
            lambda d: key_of(d)[0] == ("seenat", False) and not d.schema.indexes,
        ),
        WrongAnswer(
            _logins(
                "SeenAt, UserId",
                behind="; CREATE INDEX ByUser ON Logins (UserId, SeenAt DESC) STORING (Device)",
            ),
            "The index serves the read. The rows themselves still go to the end of a table that is led by time.",
            lambda d: _leads(d) == "seenat" and bool(d.schema.indexes),
        ),
        WrongAnswer(
            _logins("LoginId", ", LoginId STRING(36) NOT NULL DEFAULT (GENERATE_UUID())"),
            "It spreads, but one user's log-ins lie among everybody's: the query reads rows that it drops.",
            lambda d: (
                _leads(d) not in ("userid", "seenat", "device") and not d.unfilled() and d.ask(_LATEST).plan.scanned > 5
            ),
        ),
        WrongAnswer(
            _logins("Device, SeenAt"),
            "Device has few values: 40 % of the traffic shares one of them, which allows 4,500 writes/s. And nobody "
            "reads by device.",
            lambda d: _leads(d) == "device" and _follows(d) != "userid",
        ),
        WrongAnswer(
            _logins("Device, UserId, SeenAt DESC"),
            "It spreads, thanks to UserId behind it. But the query does not name a device, so it cannot seek: a key is "
            "searched from its first column on.",
            lambda d: _leads(d) == "device" and _follows(d) == "userid",
        ),
        WrongAnswer(
            _logins(
                "ShardId, UserId, SeenAt DESC",
                ", ShardId INT64 NOT NULL AS (ABS(MOD(FARM_FINGERPRINT(UserId), 16))) STORED",
            ),
            "Right, and one column more than it takes: 100,000 users are spread already, without a shard.",
            lambda d: _leads(d) not in ("userid", "seenat", "device") and _follows(d) == "userid" and not d.unfilled(),
            full=True,
        ),
    ),
    hints=(
        "By which value do the readers come? In a good design their five rows lie side by side.",
        "The entity first, the time second: then each user has a range of their own.",
        "The direction of the second column decides whether LIMIT 5 can stop after five rows.",
    ),
    note="DESC belongs to the definition of the key and cannot be changed later. What you gave up: all log-ins of the "
    "last hour, whoever made them, now lie in 100,000 places.",
    topic=_TOPIC,
)

# --------------------------------------------------------------------------------------------- 3.2 The missing half

_LOST = 48.4375  # 31 remainders below 0 with a weight of 1/64 each, in percent


def _near(value: float, within: float = 0.5) -> Callable[[float], bool]:
    return lambda answer: abs(answer - value) <= within


def _lost(answer: float) -> Outcome:
    if _near(_LOST)(answer):
        share = 1.0
    elif _near(46.9)(answer) or _near(_LOST / 100, 0.005)(answer):
        share = 0.5
    else:
        share = 0.25 if _near(50)(answer) else 0.0  # the sign is seen, the 0 is not
    return Outcome(share, f"you say {answer:g} %")


missing_half = Challenge(
    id="3.2",
    title="The missing half",
    points=2,
    kind=Number("%"),
    criteria=(Criterion(100, "the share of the rows outside 0…31, in %, within 0.5", _lost),),
    wrong=(
        WrongAnswer(
            50,
            "Half of the hashes are negative. But remainder 0 has no negative twin: a negative hash that 32 divides "
            "stays inside.",
            _near(50),
        ),
        WrongAnswer(46.9, "46.9 % is the share for N = 16. Here N is 32.", _near(46.9)),
        WrongAnswer(
            0.484, "That is the share itself; in percent it is a hundred times as much.", _near(_LOST / 100, 0.005)
        ),
        WrongAnswer(3.1, "3.1 % is the share of one shard of 32.", _near(3.1)),
        WrongAnswer(
            0, "MOD takes the sign of its first argument, and half of all fingerprints are negative.", _near(0, 0.1)
        ),
        WrongAnswer(
            96.9,
            "31 of 32 is the share among the negative hashes. Only half of all hashes are negative.",
            _near(96.9),
        ),
        WrongAnswer(51.6, "51.6 % is what the report still finds. The rest is asked for.", _near(51.6)),
    ),
    hints=(
        "The table above has a pile of each shard from −15 to 15. Which of the piles does a report not see?",
        "What is MOD(−7, 4)? And which remainder is the same for both signs?",
        "There are 63 remainders. 0 has a weight of 2/64, each of the others 1/64; count those below 0.",
    ),
    note="Nothing fails, no error, no slow query: the report is just wrong. In lab B you find it by comparing totals.",
    topic="Storing data: hash prefixes, and their sign",
)

# ------------------------------------------------------------------------------------------- 3.3 How many shards?

_MOST_SHARDS, _MOST_RANGES = 4_096, 32


class _Stream:
    """20,000 entries a second on 12 nodes, with so many shards in front of a ULID."""

    def __init__(self, shards: int, seed: int) -> None:
        if not 1 <= shards <= _MOST_SHARDS:
            raise SpanlabError(f"N is {shards:,}; a number of shards is from 1 to {_MOST_SHARDS:,}.")
        self.shards, self.seed = shards, seed

    @cached_property
    def summary(self) -> dict[str, Any]:
        from spanlab.splits import simulate

        key = f"(shard({self.shards}), ulid)"
        return dict(simulate(key, writes_per_second=20_000, nodes=12, seed=self.seed).summary())


def _few_ranges(stream: _Stream) -> Outcome:
    if stream.shards == 1:  # a table that nobody has cut yet has earned nothing by its one range
        return Outcome(0.0, "it visits 1, as before the cure")
    return Outcome(float(stream.shards <= _MOST_RANGES), f"it visits {stream.shards:,}")


def _between(least: int, most: int) -> Callable[[_Stream], bool]:
    return lambda stream: least <= stream.shards <= most


how_many = Challenge(
    id="3.3",
    title="How many shards?",
    points=3,
    kind=Number("shards", whole=True),
    look=_Stream,
    criteria=(
        committed(40, 19_600),
        p99(35, 25),
        Criterion(25, f"a scan over one day visits at most {_MOST_RANGES} ranges", _few_ranges),
    ),
    wrong=(
        WrongAnswer(1, "1 is the ledger before the cure: one split, 1,800 writes/s.", _between(1, 1)),
        WrongAnswer(
            8,
            "Too few: N shards take at most N × 1,800 writes/s. 8 take 14,400, and even 10 take only 18,000.",
            _between(2, 10),
        ),
        WrongAnswer(
            11,
            "11 shards commit 98 % of it, but then each of them is full and has a queue: the p99 is about 150 ms.",
            _between(11, 11),
        ),
        WrongAnswer(
            12,
            "One shard a node is where the documentation starts. Here each of 12 shards is 93 % full, so commits "
            "queue: the p99 is about 60 ms.",
            _between(12, 12),
        ),
        WrongAnswer(
            13,
            "Everything commits, but a shard that is about 80 % full or more has a queue too long for 25 ms.",
            _between(13, 14),
        ),
        WrongAnswer(
            64,
            "Fast, but a scan visits one range a shard, and more than 32 are too many.",
            lambda stream: stream.shards > _MOST_RANGES,
        ),
    ),
    hints=(
        "In panel 3A two bars answer to N: the p99 shrinks, the ranges grow. Here each of the two has a limit.",
        "Divide what is offered by the ceiling of one split; then leave each shard some air, below about 75 % of it.",
        "20,000 ÷ (0.7 × 1,800), rounded up, up to 32.",
    ),
    note="With the documented 3,500 writes/s for a node in place of our 1,800, 8 shards would do. N belongs to the "
    "assumption: say it in your design, for changing N later means a new table.",
    topic="Storing data: the number of shards",
)

# ------------------------------------------------------------------------------ 3.4 Read every shard, scan no stranger

_SHARDS, _DAY, _MOST_READ = 16, 12, 1_100
_LEDGER = f"""CREATE TABLE LedgerEntries (
  ShardId INT64 NOT NULL AS (MOD(MOD(FARM_FINGERPRINT(EntryId), {_SHARDS}) + {_SHARDS}, {_SHARDS})) STORED,
  EntryId STRING(26) NOT NULL,
  Amount  NUMERIC NOT NULL,
) PRIMARY KEY (ShardId, EntryId)"""


@cache
def _ledger() -> Database:
    from spanlab.query import Database, data
    from spanlab.schema import Schema

    database = Database(Schema.from_ddl(_LEDGER))
    data("ledger").into(database)
    return database


def _day() -> dict[str, object]:
    from spanlab.query import data

    return {"from_id": data.ulid(data.day(_DAY)), "to_id": data.ulid(data.day(_DAY + 1))}


@cache
def _of_the_day() -> dict[int, list[tuple[Any, ...]]]:
    """The entries of the day by shard, as (EntryId, Amount)."""
    of_shard: dict[int, list[tuple[Any, ...]]] = {shard: [] for shard in range(_SHARDS)}
    for row in _ledger().rows("LedgerEntries"):
        if _day()["from_id"] <= row["EntryId"] < _day()["to_id"]:  # type: ignore[operator]
            of_shard[row["ShardId"]].append((row["EntryId"], row["Amount"]))  # type: ignore[index]
    return of_shard


def _whole_day() -> list[tuple[Any, ...]]:
    return [row for entries in _of_the_day().values() for row in entries]


def _handed(answer: str, seed: int) -> HandedQuery:
    return HandedQuery(answer, _ledger(), _day())


def _missing_shards(query: HandedQuery) -> set[int]:
    """The shards of which no entry of the day is returned."""
    returned = {value for row in query.result.rows for value in row}
    return {shard for shard, entries in _of_the_day().items() if not returned & {row[0] for row in entries}}


_BOUNDS = parameters(20, ("from_id", "to_id"), "no id stands in the text")


def _found(query: HandedQuery) -> int:
    """How many entries of the day it returns, whatever else stands in its rows."""
    returned = {value for row in query.result.rows for value in row}
    return len(returned & {entry for entry, _ in _whole_day()})


def _reads_little(query: HandedQuery) -> Outcome:
    """Rows that are read. Who finds a part of the day by reading little has reached that part."""
    read, found, whole = query.result.plan.scanned, _found(query), len(_whole_day())
    share = found / whole if 0 < read <= _MOST_READ else 0.0
    return Outcome(share, f"it reads {read:,} rows, for {found:,} of the {whole:,} entries")


def _serves_every_day(query: HandedQuery) -> Outcome:
    """Parameters let Spanner keep a plan for the next day. Of a plan that reads the whole table that is no merit."""
    outcome = _BOUNDS.measure(query)
    if outcome.share and not _reads_little(query).share:
        return Outcome(0.0, f"{outcome.seen}, but this is no plan to keep")
    return outcome


def _seeks(query: HandedQuery) -> bool:
    """Whether some scan finds its rows by their shard."""
    return any("shardid" in node.seek_condition.casefold() for node in query.result.plan if node.is_scan)


def _reads_too_much(query: HandedQuery) -> bool:
    return query.result.plan.scanned > _MOST_READ


_IN_DAY = "EntryId >= @from_id AND EntryId < @to_id"


def _one_query(where: str) -> str:
    return f"SELECT EntryId, Amount FROM LedgerEntries WHERE {where}"


def _looped(numbers: str, in_day: str = _IN_DAY) -> str:
    return (
        f"SELECT e.EntryId, e.Amount FROM UNNEST({numbers}) AS b, UNNEST(ARRAY(SELECT AS STRUCT EntryId, Amount "
        f"FROM LedgerEntries WHERE ShardId = b AND {in_day})) AS e"
    )


read_day = Challenge(
    id="3.4",
    title="Read every shard, scan no stranger",
    points=3,
    kind=sql(),
    look=_handed,
    criteria=(
        rows(40, "the query returns all 1,000 entries of the day, and no others", _whole_day),
        Criterion(40, f"the query reads at most {_MOST_READ:,} rows for them", _reads_little),
        Criterion(
            20, "such a query has the parameters @from_id and @to_id; no id stands in the text", _serves_every_day
        ),
    ),
    wrong=(
        WrongAnswer(
            _one_query(f"ShardId BETWEEN 0 AND 15 AND {_IN_DAY}"),
            "BETWEEN, or IN with a list of numbers: here only ShardId becomes a seek, and EntryId is checked row by "
            "row. All rows of these shards are read.",
            lambda q: _reads_too_much(q) and _seeks(q),
        ),
        WrongAnswer(
            _one_query(_IN_DAY),
            "There is no ShardId in it at all. EntryId alone is no prefix of the key, so the whole table is read.",
            lambda q: _reads_too_much(q) and not _seeks(q),
        ),
        WrongAnswer(
            _one_query(f"ShardId = 0 AND {_IN_DAY}"),
            "That is one shard of sixteen: of the 1,000 entries about 60.",
            lambda q: len(_missing_shards(q)) == _SHARDS - 1,
        ),
        WrongAnswer(
            _one_query(f"ShardId IN ({', '.join(map(str, range(15)))}) AND {_IN_DAY}"),
            "Shard 15 is missing: sixteen shards are numbered 0 to 15.",
            lambda q: _missing_shards(q) == {15},
        ),
        WrongAnswer(
            _looped("GENERATE_ARRAY(1, 16)"),
            "The shards are numbered 0 to 15. Here 0 is lost, and there is no shard 16.",
            lambda q: _missing_shards(q) == {0},
        ),
        WrongAnswer(
            f"SELECT * FROM UNNEST(GENERATE_ARRAY(0, 15)) AS n JOIN LedgerEntries ON ShardId = n WHERE {_IN_DAY}",
            "The rows are found, but they are asked for as EntryId, then Amount, and nothing else.",
            lambda q: [name.casefold() for name in q.result.columns] != ["entryid", "amount"] and _found(q) > 0,
        ),
        WrongAnswer(
            _looped(
                "GENERATE_ARRAY(0, 15)",
                "EntryId >= '01KETADY000000000000000000' AND EntryId < '01KEWWTN000000000000000000'",
            ),
            "With the ids in its text, each day's query is another text, and Spanner makes a plan anew for each. Write "
            "@from_id and @to_id.",
            lambda q: "stands in the query" in _BOUNDS.measure(q).seen,
        ),
    ),
    hints=(
        "A good query reads as many rows as it returns: in each shard it goes straight to the day.",
        "A seek needs equality on each column before the one with the range. Loop over the 16 numbers in the query.",
        "FROM UNNEST(GENERATE_ARRAY(0, 15)) AS b, joined to entries with ShardId = b and the two bounds on EntryId.",
    ),
    note="One query for each shard, sent by the application in parallel, is just as good. The price either way: "
    "sixteen ranges for one day, and the rows come in order within a shard only.",
    topic="Querying: reads over sharded keys",
)

CHALLENGES = (giant, swap, missing_rows, missing_half, how_many, read_day)
