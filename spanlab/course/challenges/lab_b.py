"""Lab B, Month-end at a ledger company: its two predictions and its five challenges."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeGuard

from spanlab.catalog import Column
from spanlab.course.challenge import Challenge, Criterion, Outcome, WrongAnswer
from spanlab.course.criteria import (
    Design,
    HandedQuery,
    Refused,
    committed,
    has_columns,
    kept,
    key_of,
    p99,
    parameters_in,
    scanned,
)
from spanlab.course.criteria.unusual import with_sampled_laws
from spanlab.course.kinds import Choice, Fields, Number, OneOf, ddl, sql
from spanlab.errors import ConstraintError, SchemaError, SpanlabError

if TYPE_CHECKING:
    from spanlab.query import Database
    from spanlab.schema import Schema

TITLE = "Month-end at a ledger company"
_DIAGNOSIS = "Maintaining workloads: diagnosing a hotspot from a heat map and split statistics"
_KEYS = "Storing data: a hash shard in front of a time-ordered id"
_QUERIES = "Querying: complete and cheap reads over sharded keys"
_REFERENCES = "Storing data: foreign keys and the indexes that they bring"

nodes_first = Challenge(
    id="B.P1",
    title="Twenty nodes instead of ten",
    points=0,
    kind=Choice("abc"),
    hints=("How many of the ten servers are at work now? What would the new ones be given to do?",),
    note="b: it stays. The ids of a moment are neighbours, so one split takes every insert, and one split has one "
    "leader.",
    topic=_DIAGNOSIS,
)

second_table = Challenge(
    id="B.P2",
    title="A small table refers to the ledger",
    points=0,
    kind=Choice("abc"),
    hints=("How does Spanner look up whether an EntryId exists? In which order would that be sorted?",),
    note="c: 1,800. To check an EntryId, Spanner keeps an index of its own on it, sorted by ULID, and each new entry "
    "of the ledger must write into that index.",
    topic=_REFERENCES,
)

# ------------------------------------------------------------------------------------- B.1: what the picture says

_PICTURE = {"pattern": "sequential", "hot_splits": 1, "cure": "key"}
_PATTERNS = OneOf(("even", "sequential", "hot_range", "roving", "sudden"))
_CURES = OneOf(("key", "nodes", "presplit"))


def _field(weight: int, name: str, wanted: str) -> Criterion:
    def measure(answer: Mapping[str, Any]) -> Outcome:
        said = answer[name]
        return Outcome(float(said == _PICTURE[name]), "you left it open" if said is ... else f"you say {said}")

    return Criterion(weight, wanted, measure)


def _said(name: str, value: object) -> Callable[[Mapping[str, Any]], bool]:
    return lambda answer: answer[name] is not ... and answer[name] == value


picture = Challenge(
    id="B.1",
    title="What the picture says",
    points=3,
    kind=Fields((("pattern", _PATTERNS), ("hot_splits", Number("splits", whole=True)), ("cure", _CURES))),
    criteria=(
        _field(34, "pattern", "the pattern in the heat map"),
        _field(33, "hot_splits", "how many splits are hot at a time"),
        _field(33, "cure", "what helps"),
    ),
    wrong=(
        WrongAnswer(
            {**_PICTURE, "pattern": "hot_range"},
            "pattern: a hot range stays where it is. In the picture of the ten minutes alone, the bright place creeps "
            "downwards in every column. The table is just old: beside five hours, ten minutes are a thin edge.",
            _said("pattern", "hot_range"),
        ),
        WrongAnswer(
            {**_PICTURE, "pattern": "even"},
            "pattern: even would be fine grain all over. Here everything falls on one line.",
            _said("pattern", "even"),
        ),
        WrongAnswer(
            {**_PICTURE, "pattern": "roving"},
            "pattern: roving means several slanted lines at once. Here there is one.",
            _said("pattern", "roving"),
        ),
        WrongAnswer(
            {**_PICTURE, "pattern": "sudden"},
            "pattern: sudden means that a range lights up at some moment. Here the line is there from the first column "
            "to the last.",
            _said("pattern", "sudden"),
        ),
        WrongAnswer(
            {**_PICTURE, "hot_splits": 10},
            "hot_splits: ten nodes, one hot split. Count the rows of the split statistics, not the servers.",
            _said("hot_splits", 10),
        ),
        WrongAnswer(
            {**_PICTURE, "hot_splits": 8},
            "hot_splits: the table has 8 splits, and seven of them rest. Count those with a score of 100.",
            _said("hot_splits", 8),
        ),
        WrongAnswer(
            {**_PICTURE, "hot_splits": 2},
            "hot_splits: each row of the split statistics is a hot split. Count the rows.",
            lambda a: a["hot_splits"] is not ... and a["hot_splits"] not in (1, 8, 10),
        ),
        WrongAnswer(
            {**_PICTURE, "cure": "presplit"},
            "cure: wherever you set a last split point, there is one tail beyond it, and new ids go there.",
            _said("cure", "presplit"),
        ),
        WrongAnswer(
            {**_PICTURE, "cure": "nodes"},
            "cure: nodes were added, and the same 1,800 were committed. A new server has nothing to take over.",
            _said("cure", "nodes"),
        ),
    ),
    hints=(
        "Look at the ten minutes alone, the picture without older rows. Does the bright place stay or move?",
        "Count the rows of the split statistics. And read their reason.",
        "The ids rise with time: one line, at the end of the table. Which cure changes where a new row goes?",
    ),
    note="In the words of an exam: a ULID is time-ordered. It looks random, and its leading characters are a clock.",
    topic=_DIAGNOSIS,
)

# ------------------------------------------------------------------------- B.2: shards that keep the business id

_MOST_SHARDS, _EVEN, _SHARD_LIKE = 32, 1.5, 999
_A_DAY, _SOME_DAYS, _ALL = 1_000, 6, (0, 30_000)
"""A design is tried with six days of the ledger: enough for its shards and its report, and quick."""
_ONE_EACH = 0.9 * _A_DAY * _SOME_DAYS
"""More values than this are one for each entry."""
_OWN_NAMES = {"EntryId": "EntryId", "Amount": "Amount", "PostedAt": "PostedAt"}
_COMMIT_TIMESTAMP = "a commit timestamp column"


@cache
def _entries() -> list[dict[str, Any]]:
    """The entries of the ledger, of which the first of each day has the first id that the day can have: a query that
    takes the wrong one of < and <= counts one too many or one too few."""
    from spanlab.query import data

    entries: list[dict[str, Any]] = [dict(entry) for entry in data("ledger").rows("LedgerEntries")]
    days = {entry["PostedAt"].date(): entry for entry in reversed(entries)}
    for entry in days.values():
        entry["EntryId"] = data.ulid(entry["PostedAt"].replace(hour=0, minute=0, second=0, microsecond=0))
    return entries


def _days_around(day: int) -> tuple[int, int]:
    """The entries of six days, of which this one is in the middle if there are so many before it."""
    first = max(0, day - _SOME_DAYS // 2)
    return first * _A_DAY, (first + _SOME_DAYS) * _A_DAY


@kept
def _with_entries(schema: Schema, table: str, names: tuple[tuple[str, str], ...], part: tuple[int, int]) -> Database:
    """A database in which `table` has these entries of the ledger; `names` are its columns and the ledger's."""
    from spanlab.query import Database
    from spanlab.storage.fitting import fitted_columns

    entries = _entries()[slice(*part)]
    columns = {own: [entry[name] for entry in entries] for own, name in names}
    database = Database(schema)
    for stored in database.tables_in_loading_order():
        if stored.name.casefold() == table.casefold():
            database.load_columns(stored.name, fitted_columns(stored, columns))
    return database


def _loaded(table: str, renamed: Mapping[str, str], part: tuple[int, int] = _ALL) -> Callable[[Schema], Database]:
    """Makes a database in which `table` has entries of the ledger; `renamed` are its names of the ledger's columns."""
    names = tuple((own, name) for name, own in renamed.items())
    return lambda schema: _with_entries(schema, table, names, part)


def _ledger_design(answer: str, seed: int) -> Design | Refused:
    """The ledger at month-end."""
    try:
        design = Design(
            answer,
            "LedgerEntries",
            writes_per_second=12_000,
            values={"EntryId": "ulid", "PostedAt": "now", "Amount": "const(10)"},
            nodes=10,
            seed=seed,
            rows=_loaded("LedgerEntries", _OWN_NAMES, _days_around(_SOME_DAYS)),
        )
    except SchemaError as error:
        if _COMMIT_TIMESTAMP in str(error):
            return Refused(error)
        raise
    return _with_known_shard(design, _OWN_NAMES)


def _with_known_shard(design: Design, renamed: Mapping[str, str]) -> Design:
    """Lets the simulator know what a shard does whose expression it cannot follow, from the first 2,000 entries."""
    columns = {new: [entry[old] for entry in _entries()[:2_000]] for old, new in renamed.items()}
    return with_sampled_laws(design, columns, renamed["EntryId"])


def _shard_sizes(design: Design) -> dict[object, int]:
    """How many of the entries have each value of the first key column."""
    first = design.table.key[0].column
    query = f"SELECT `{first}` AS shard, COUNT(*) AS entries FROM {design.table.name} GROUP BY `{first}`"
    return {row[0]: row[1] for row in design.ask(query).rows}


def _evenness(sizes: Mapping[object, int]) -> float:
    return max(sizes.values()) * len(sizes) / sum(sizes.values())


def _few_even_shards(design: Design) -> Outcome:
    sizes = _shard_sizes(design)
    share = float(1 < len(sizes) <= _MOST_SHARDS and _evenness(sizes) <= _EVEN)
    first = design.table.key[0].column
    return Outcome(share, f"{first} has {len(sizes):,} values; the fullest holds {_evenness(sizes):.1f} times the mean")


def _sources(design: Design, column: Column) -> set[str]:
    """The columns that a generated column is computed from, in small letters; itself where it is not generated."""
    from spanlab.sql import parse_expression
    from spanlab.sql.expressions import columns_in

    if column.generated is None:
        return {column.name.casefold()}
    named = (design.table.column(name) for name in columns_in(parse_expression(column.generated)))
    return {source for one in named if one is not None for source in _sources(design, one)}


def _identifies(design: Design, id_name: str) -> Outcome:
    """Whether the id alone gives the whole key, so that no id is stored twice and each can be looked up."""
    columns = [design.table.column(part.column) for part in design.table.key]
    if id_name.casefold() not in [column.name.casefold() for column in columns if column]:
        return Outcome(0.0, f"{id_name} is not in the key, which lets the same id in twice")
    for column in columns:
        if column and (others := sorted(_sources(design, column) - {id_name.casefold()})):
            reason = "has a value of its own" if others == [column.name.casefold()] else f"reads {', '.join(others)}"
            return Outcome(0.0, f"{column.name} {reason}")
    return Outcome(1.0, f"the key follows from {id_name}")


def _entry_id_identifies(design: Design) -> Outcome:
    return _identifies(design, "EntryId")


def _leads_with_shard(design: Design, low: int, high: float) -> bool:
    return key_of(design)[0][0] != "entryid" and low <= len(_shard_sizes(design)) <= high


def _has_negative_shard(design: Design) -> bool:
    return (
        any(isinstance(value, int) and value < 0 for value in _shard_sizes(design))
        and len(_shard_sizes(design)) <= _SHARD_LIKE
    )


def _own_shard(design: Design) -> bool:
    """Whether the first key column is neither EntryId nor computed, while EntryId follows it."""
    column = design.table.column(key_of(design)[0][0])
    in_key = "entryid" in [name for name, _ in key_of(design)[1:]]
    return column is not None and column.generated is None and in_key and not design.unfilled()


def _has_a_shard_for_each_row(design: Design) -> bool:
    column = design.table.column(key_of(design)[0][0])
    return column is not None and column.generated is not None and len(_shard_sizes(design)) > _ONE_EACH


def _leads_with_a_hash(design: Design, id_name: str) -> bool:
    """Whether the key is computed from the id, and the id itself does not follow."""
    columns = [design.table.column(name) for name, _ in key_of(design)]
    computed = all(column is not None and column.generated is not None for column in columns)
    return computed and id_name.casefold() not in [name for name, _ in key_of(design)]


def _hot_index(design: Design, table: str, *names: str) -> bool:
    """Whether an index begins with an id or a time that grows, so that it is hot where the table is not."""
    firsts = [design.schema.index_key(index)[0].column.casefold() for index in design.schema.indexes_on(table)]
    return bool({name.casefold() for name in names} & set(firsts)) and key_of(design)[0][0] not in firsts


def _reads_other_columns(design: Design) -> bool:
    column = design.table.column(key_of(design)[0][0])
    return column is not None and column.generated is not None and "entryid" not in _sources(design, column)


_SAFE = "MOD(MOD(FARM_FINGERPRINT({id}), {n}) + {n}, {n})"
_SIGNED = "MOD(FARM_FINGERPRINT({id}), {n})"
_POSTED_AT = "PostedAt TIMESTAMP NOT NULL OPTIONS (allow_commit_timestamp = true)"


def _ledger(shard: str, key: str = "ShardId, EntryId", more: str = "") -> str:
    return (
        f"CREATE TABLE LedgerEntries ({shard}, EntryId STRING(26) NOT NULL, Amount NUMERIC NOT NULL, {_POSTED_AT}) "
        f"PRIMARY KEY ({key}){more}"
    )


def _shard(n: int, expression: str = _SAFE, source: str = "EntryId") -> str:
    return f"ShardId INT64 NOT NULL AS ({expression.format(id=source, n=n)}) STORED"


keep_the_id = Challenge(
    id="B.2",
    title="Shards that keep the business id",
    points=5,
    kind=ddl(),
    look=_ledger_design,
    criteria=(
        committed(35, 11_700),
        p99(20, 20),
        Criterion(15, f"the key begins with at most {_MOST_SHARDS} shards, evenly filled", _few_even_shards),
        Criterion(
            20, "EntryId alone gives the whole key, so it stays unique and can be looked up", _entry_id_identifies
        ),
        has_columns(
            10, {"EntryId": "STRING", "Amount": "NUMERIC", "PostedAt": "TIMESTAMP"}, commit_timestamp="PostedAt"
        ),
    ),
    wrong=(
        WrongAnswer(
            _ledger(_shard(8)),
            "Too few shards. Each takes at most 1,800 entries/s, and one that is nearly full has a queue: with 8 the "
            "p99 is 30 ms, with 6 not even all entries are committed.",
            lambda d: _leads_with_shard(d, 2, 12),
        ),
        WrongAnswer(
            _ledger(_shard(64)),
            "Fast, but the daily job visits one range a shard, and 32 are allowed.",
            lambda d: _leads_with_shard(d, _MOST_SHARDS + 1, _ONE_EACH) and not _has_negative_shard(d),
        ),
        WrongAnswer(
            _ledger("IdHash INT64 NOT NULL AS (FARM_FINGERPRINT(EntryId)) STORED", "IdHash, EntryId"),
            "Every entry is a shard of its own: no two entries of a day are neighbours, and the daily job has to read "
            "the whole table. Take the hash MOD a small number.",
            lambda d: _has_a_shard_for_each_row(d) and not _leads_with_a_hash(d, "EntryId"),
        ),
        WrongAnswer(
            _ledger(_shard(16), "ShardId"),
            "Two entries with one hash, or one shard, would be the same row, and the second is refused. EntryId must "
            "stand in the key too, behind it.",
            lambda d: _leads_with_a_hash(d, "EntryId"),
        ),
        WrongAnswer(
            _ledger(_shard(16), more="; CREATE INDEX ByTime ON LedgerEntries (PostedAt)"),
            "The table spreads now, but the index is a sorted table as well. It grows at its end, and each entry "
            "commits only when its line there is written.",
            lambda d: _hot_index(d, "LedgerEntries", "PostedAt", "EntryId") and "entryid" in dict(key_of(d)),
        ),
        WrongAnswer(
            _ledger(_shard(16), "ShardId, PostedAt, EntryId"),
            "PostedAt in the key: whoever has only the id does not know it, so the entry cannot be looked up, and the "
            "same id could be stored twice.",
            lambda d: "postedat" in dict(key_of(d)),
        ),
        WrongAnswer(
            _ledger(_shard(16, _SIGNED)),
            "MOD keeps the sign of the hash, so there are nearly twice as many shards as you wanted (with 16, −15 to "
            "15), and shard 0 is twice as full as the others.",
            _has_negative_shard,
        ),
        WrongAnswer(
            _ledger("ShardId INT64 NOT NULL DEFAULT (ABS(MOD(FARM_FINGERPRINT(GENERATE_UUID()), 16)))"),
            "It spreads, but nobody can find an entry again without knowing its shard, and the same EntryId could be "
            "stored twice, in two shards. Compute the shard from the id.",
            _own_shard,
        ),
        WrongAnswer(
            _ledger("ShardId INT64 NOT NULL"),
            "Who fills ShardId? Nobody does yet. Compute it from EntryId: AS (…) STORED.",
            lambda d: bool(d.unfilled()),
        ),
        WrongAnswer(
            _ledger(_shard(16, source="CAST(Amount AS STRING)")),
            "The shard must follow from EntryId. From another column it says nothing to somebody who has the id, and "
            "equal values fall into one shard.",
            _reads_other_columns,
        ),
        WrongAnswer(
            _ledger(_shard(16, source="CAST(PostedAt AS STRING)")),
            "A generated column cannot read a commit timestamp. And all entries of an instant would share a shard.",
            lambda d: isinstance(d, Refused),
        ),
        WrongAnswer(
            _ledger(
                "Id STRING(36) NOT NULL DEFAULT (GENERATE_UUID())",
                "Id",
                "; CREATE UNIQUE INDEX ByEntry ON LedgerEntries (EntryId)",
            ),
            "The rows are spread, but now EntryId needs an index of its own to stay unique. It is sorted by ULID, and "
            "it is hot: the same 1,800.",
            lambda d: "entryid" not in dict(key_of(d)) and not _leads_with_a_hash(d, "EntryId"),
        ),
        WrongAnswer(
            _ledger(_shard(16), "EntryId, ShardId"),
            "EntryId leads, and the first column decides. A shard in second place does nothing.",
            lambda d: key_of(d)[0][0] == "entryid",
        ),
    ),
    hints=(
        "In the second picture of the page, sixteen lines share the entries. What tells an entry its line?",
        "A function of the id, and of nothing else: a generated column, STORED, as first part of the key.",
        "MOD(MOD(FARM_FINGERPRINT(EntryId), 16) + 16, 16): safe against signs, about twice 12,000 ÷ 1,800.",
    ),
    note="A query with EntryId = @id alone still finds its row: the optimizer works out the shard from the id. The "
    "price: the Read API needs the full key, a day lies in 16 ranges, and another number of shards is another table.",
    topic=_KEYS,
)

# ------------------------------------------------------------------------------------------ B.3: reconcile the day

_SHARDS, _DAY = 16, 12
_SHARDED = _ledger(_shard(_SHARDS))


@cache
def _sharded_ledger() -> Database:
    from spanlab.schema import Schema

    return _loaded("LedgerEntries", _OWN_NAMES)(Schema.from_ddl(_SHARDED))


def _day_number(seed: int) -> int:
    """The day of the exercise; another one in held-out runs, where ids written into a query help nobody."""
    return _DAY if seed == 0 else 3 + seed % 20


def _bounds(day: int) -> dict[str, object]:
    from spanlab.query import data

    return {"from_id": data.ulid(data.day(day)), "to_id": data.ulid(data.day(day + 1))}


@cache
def _totals(day: int) -> tuple[int, Decimal]:
    """How many entries the day has, and their sum, counted without any query."""
    low, high = _bounds(day).values()
    amounts = [Decimal(str(entry["Amount"])) for entry in _entries() if low <= entry["EntryId"] < high]
    return len(amounts), sum(amounts, Decimal(0))


class DayQuery(HandedQuery):
    """A query over one day of a ledger, with the totals that it should find."""

    def __init__(self, text: str, database: Database, day: int) -> None:
        super().__init__(text, database, _bounds(day))
        self.right = _totals(day)

    def found(self) -> tuple[int, Decimal]:
        """The count and the sum that it returns, in one row or one a shard; 0 for what is not right."""
        rows = self.result.rows
        if not 1 <= len(rows) <= 2 * _SHARDS_AT_MOST:
            return 0, Decimal(0)
        sums = [_sum([row[place] for row in rows]) for place in range(len(rows[0]))]
        count, total = self.right
        return count if Decimal(count) in sums else 0, total if total in sums else Decimal(0)

    def count(self) -> int:
        """What it counts: the column of whole numbers whose sum is nearest to the right count."""
        rows = self.result.rows
        wholes = [[row[place] for row in rows] for place in range(len(rows[0]) if rows else 0)]
        sums = [sum(values) for values in wholes if all(type(value) is int for value in values)]
        return min(sums, key=lambda value: abs(value - self.right[0]), default=0)


_SHARDS_AT_MOST = 64


def _sum(values: Sequence[object]) -> Decimal:
    numbers = [Decimal(str(value)) for value in values if isinstance(value, int | float | Decimal)]
    return sum(numbers, Decimal(0)) if len(numbers) == len([v for v in values if v is not None]) else Decimal("NaN")


def _day_query(answer: str, seed: int) -> DayQuery:
    return DayQuery(answer, _sharded_ledger(), _day_number(seed))


def _complete(query: DayQuery) -> Outcome:
    count, total = query.found()
    seen = f"count {'right' if count else 'wrong'}, sum {'right' if total else 'wrong'}"
    rows = len(query.result.rows)
    return Outcome((bool(count) + bool(total)) / 2, f"{rows:,} row{'s' * (rows != 1)}: {seen}")


_ID = re.compile("01[0-9A-HJKMNP-TV-Z]{4,24}")
"""An id of the ledger, or the beginning of one."""


def _bounds_are_parameters(query: DayQuery) -> Outcome:
    from sqlglot import exp

    from spanlab.sql import parse_query

    names = parameters_in(query.sql)
    texts = [literal.this for literal in parse_query(query.sql).find_all(exp.Literal) if _ID.fullmatch(literal.this)]
    if texts:
        return Outcome(0.0, f"the text '{texts[0]}' stands in the query")
    lacking = [f"@{name}" for name in ("from_id", "to_id") if name not in names]
    return Outcome(float(not lacking), f"not in it: {', '.join(lacking)}" if lacking else "they are parameters")


def _reads_too_much(query: DayQuery) -> bool:
    return query.result.plan.scanned > 1_100


def _reads_all(query: DayQuery) -> bool:
    """Whether it reads more than the day read twice."""
    return query.result.plan.scanned > 2_200


def _looks_for_shards(query: DayQuery) -> bool:
    """Whether it asks the table itself which shards there are."""
    return "distinct shardid" in " ".join(query.sql.casefold().split())


def _seeks_shards(query: DayQuery) -> bool:
    return any("shardid" in node.seek_condition.casefold() for node in query.result.plan if node.is_scan)


_IN_DAY = "EntryId >= @from_id AND EntryId < @to_id"


def _one_query(where: str) -> str:
    return f"SELECT COUNT(*) AS n, SUM(Amount) AS total FROM LedgerEntries WHERE {where}"


def _looped(numbers: str, table: str = "LedgerEntries", in_day: str = _IN_DAY) -> str:
    return (
        f"SELECT COUNT(*) AS n, SUM(e.Amount) AS total FROM UNNEST({numbers}) AS b, UNNEST(ARRAY(SELECT AS STRUCT "
        f"Amount FROM {table} WHERE ShardId = b AND {in_day})) AS e"
    )


reconcile = Challenge(
    id="B.3",
    title="Reconcile the day",
    points=4,
    kind=sql(),
    look=_day_query,
    criteria=(
        Criterion(40, "the count and the sum of Amount of all entries of the day", _complete),
        scanned(40, 1_100),
        Criterion(20, "@from_id and @to_id are parameters; no id stands in the text", _bounds_are_parameters),
    ),
    wrong=(
        WrongAnswer(
            _one_query(f"ShardId BETWEEN 0 AND 15 AND {_IN_DAY}"),
            "BETWEEN, or IN with a list of numbers, reads 30,000 rows: only ShardId becomes a seek, and EntryId is "
            "checked row by row.",
            lambda q: _reads_all(q) and _seeks_shards(q) and not _looks_for_shards(q),
        ),
        WrongAnswer(
            _one_query(f"ShardId IN (SELECT b FROM UNNEST(GENERATE_ARRAY(0, 15)) AS b) AND {_IN_DAY}"),
            "ShardId is in the condition, but as a test of each row, which the planner cannot seek with. Join the "
            "numbers to the table: FROM UNNEST(…) AS b JOIN LedgerEntries ON ShardId = b.",
            lambda q: _reads_all(q) and not _seeks_shards(q) and "shardid" in q.sql.casefold(),
        ),
        WrongAnswer(
            "SELECT COUNT(*) AS n, SUM(e.Amount) AS total FROM (SELECT DISTINCT ShardId FROM LedgerEntries) AS s JOIN "
            "LedgerEntries AS e ON e.ShardId = s.ShardId WHERE e.EntryId >= @from_id AND e.EntryId < @to_id",
            "To learn which shards there are, the query reads the whole table first. GENERATE_ARRAY(0, 15) knows them "
            "without reading.",
            lambda q: _reads_all(q) and _looks_for_shards(q),
        ),
        WrongAnswer(
            "SELECT SUM(n), SUM(t) FROM (SELECT (SELECT COUNT(*) FROM LedgerEntries WHERE ShardId = b AND "
            f"{_IN_DAY}) AS n, (SELECT SUM(Amount) FROM LedgerEntries WHERE ShardId = b AND {_IN_DAY}) AS t FROM "
            "UNNEST(GENERATE_ARRAY(0, 15)) AS b)",
            "The day is read twice, once to count and once to add up. One pass over the same rows gives both.",
            lambda q: _reads_too_much(q) and not _reads_all(q),
        ),
        WrongAnswer(
            _one_query("PostedAt >= TIMESTAMP '2026-01-13 00:00:00Z' AND PostedAt < TIMESTAMP '2026-01-14 00:00:00Z'"),
            "No shard in the condition: neither PostedAt nor EntryId alone is a prefix of the key, so the whole table "
            "is read.",
            lambda q: _reads_all(q) and not _seeks_shards(q) and "shardid" not in q.sql.casefold(),
        ),
        WrongAnswer(
            _looped("GENERATE_ARRAY(0, 14)"),
            "Shards are missing from the total. Sixteen shards are numbered 0 to 15, and each must be asked.",
            lambda q: 0 < q.count() < q.right[0] - 1,
        ),
        WrongAnswer(
            _looped("GENERATE_ARRAY(0, 15)", in_day="EntryId BETWEEN @from_id AND @to_id"),
            "One entry too many or too few: @from_id belongs to the day, @to_id to the next. So >= @from_id AND "
            "< @to_id; BETWEEN takes both ends.",
            lambda q: q.count() in (q.right[0] - 1, q.right[0] + 1),
        ),
        WrongAnswer(
            _looped("GENERATE_ARRAY(0, 15)").replace("COUNT(*) AS n, SUM(e.Amount) AS total", "COUNT(*) AS n"),
            "The count alone does not reconcile anything: two wrong amounts leave it as it is. Add the sum of Amount.",
            lambda q: bool(q.found()[0]) and len(q.result.columns) == 1,
        ),
        WrongAnswer(
            _looped("GENERATE_ARRAY(0, 15)").replace("COUNT(*) AS n, SUM(e.Amount) AS total", "e.Amount"),
            "Those are the entries themselves. Asked are their number and their sum: wrap them with COUNT and SUM.",
            lambda q: len(q.result.rows) > 2 * _SHARDS_AT_MOST,
        ),
        WrongAnswer(
            _looped(
                "GENERATE_ARRAY(0, 15)",
                in_day="EntryId >= '01KETADY000000000000000000' AND EntryId < '01KEWWTN000000000000000000'",
            ),
            "With the ids in its text, tomorrow's report is another query and needs a plan of its own. Write @from_id "
            "and @to_id.",
            lambda q: "stands in the query" in _bounds_are_parameters(q).seen,
        ),
    ),
    hints=(
        "Above, sixteen queries together read 1,000 rows. What does each of them say about ShardId?",
        "Equality on ShardId first. Let the query itself loop over 0 … 15.",
        "COUNT and SUM over UNNEST(GENERATE_ARRAY(0, 15)) AS b, joined to entries with ShardId = b and the bounds.",
    ),
    note="With GROUP BY b you get one line a shard for the same price. Compare those with the source: a missing shard, "
    "or a sign gone wrong, shows at once.",
    topic=_QUERIES,
)

# ----------------------------------------------------------------------------------------- B.4: the second hotspot

_KNOWN_DAY = 3


class Refunds:
    """DDL that comes after that of the sharded ledger, and what it does to the ledger.

    Raises SchemaError where the DDL is refused or has no table Refunds.
    """

    def __init__(self, text: str, seed: int) -> None:
        from spanlab.schema import Schema
        from spanlab.sql import parse_ddl

        schema = Schema.from_ddl(_SHARDED)
        for statement in parse_ddl(text):
            schema = schema.apply(statement)
        self.schema, self.table, self.seed = schema, schema.table("Refunds"), seed

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The ledger at month-end, with whatever must be written beside it."""
        from spanlab.splits import Workload, simulate

        values = {"EntryId": "ulid", "PostedAt": "now", "Amount": "const(10)"}
        load = Workload("LedgerEntries", writes_per_second=12_000, values=values)
        return dict(simulate(self.schema, load, nodes=10, seed=self.seed).summary())

    @property
    def keys(self) -> list[Any]:
        """The foreign keys of Refunds that point at the ledger."""
        return [key for key in self.table.foreign_keys if key.referenced_table.casefold() == "ledgerentries"]

    @property
    def interleaved(self) -> bool:
        """Whether Refunds lies in the ledger, IN PARENT."""
        parent = self.schema.parent(self.table.name)
        checked = self.table.interleave is not None and self.table.interleave.in_parent
        return parent is not None and parent.name.casefold() == "ledgerentries" and checked

    @property
    def refers(self) -> bool:
        """Whether Refunds is tied to the ledger in some way, checked or not."""
        return bool(self.keys) or self.interleaved

    @cached_property
    def tried(self) -> tuple[int, bool]:
        """Mutations of the insert of a refund for an entry that exists, 0 if even that is refused; and whether one for
        an unknown entry is refused, whose id would be in the same shard."""
        known, _, unknown = _ids_of_one_shard()
        database = self._ledger_with([known])
        shard = database.rows("LedgerEntries")[0]["ShardId"]
        try:
            mutations = database.commit([self._insert(database, known, shard)]).mutations
        except ConstraintError:
            return 0, True
        try:
            database.commit([self._insert(database, unknown, shard)])
        except ConstraintError:
            return mutations, True
        return mutations, False

    @cached_property
    def holds(self) -> bool:
        """Whether the ledger still takes two entries that lie in one shard."""
        try:
            self._ledger_with(_ids_of_one_shard()[:2])
        except ConstraintError:
            return False
        return True

    def _ledger_with(self, ids: Sequence[str]) -> Database:
        from spanlab.query import Database, data

        database = Database(self.schema)
        times, amounts = [data.day(_KNOWN_DAY)] * len(ids), [10] * len(ids)
        database.load_columns("LedgerEntries", {"EntryId": ids, "Amount": amounts, "PostedAt": times})
        return database

    def _insert(self, database: Database, entry: str, shard: object) -> Any:
        """A refund as a mutation: the id of its entry, the shard if the DDL does not compute it, the rest made up."""
        from spanlab.storage.fitting import fitted_columns

        named: dict[str, Sequence[object]] = {"EntryId": [entry], "ShardId": [shard], "Amount": [5]}
        values = {"entryid": entry, "shardid": shard}
        for key in self.keys:
            pairs = zip(key.columns, key.referenced_columns, strict=True)
            named |= {own: [values[other.casefold()]] for own, other in pairs if other.casefold() in values}
        columns = fitted_columns(database.stored_table(self.table.name), named)
        return ("insert", self.table.name, list(columns), [[values[0] for values in columns.values()]])


@cache
def _ids_of_one_shard() -> tuple[str, str, str]:
    """Three ids of entries that the hash puts into the same shard."""
    from spanlab.farmhash import farm_fingerprint
    from spanlab.query import data

    ids = [data.ulid(data.day(_KNOWN_DAY) + timedelta(minutes=n)) for n in range(200)]
    shard = farm_fingerprint(ids[0]) % _SHARDS
    first, second, third, *_ = [one for one in ids if farm_fingerprint(one) % _SHARDS == shard]
    return first, second, third


def _ledger_unharmed(refunds: Refunds) -> Outcome:
    if not refunds.refers:
        return Outcome(0.0, "nothing ties Refunds to the ledger")
    if not refunds.holds:
        return Outcome(0.0, "the ledger refuses its second entry of a shard")
    got = refunds.summary["committed"]
    return Outcome(float(got >= 11_700), f"{got:,.0f} of {refunds.summary['offered']:,.0f} entries/s commit")


def _refuses(refunds: Refunds) -> Outcome:
    mutations, refused = refunds.tried
    if not mutations:
        return Outcome(0.0, "it is, and so is a refund of an entry that exists")
    return Outcome(float(refused), "it is refused" if refused else "it is accepted")


def _cheap_check(refunds: Refunds) -> Outcome:
    mutations, refused = refunds.tried
    if not mutations:
        return Outcome(0.0, "no refund can be written")
    if not refused:
        return Outcome(0.0, f"{mutations} mutations, but nothing is checked")
    return Outcome(float(mutations <= 6), f"{mutations} mutations")


def _helped(refunds: Refunds) -> bool:
    """Whether the ledger has to write into some index that begins with the ULID."""
    return any(refunds.schema.index_key(i)[0].column.casefold() == "entryid" for i in _ledger_indexes(refunds))


def _ledger_indexes(refunds: Refunds) -> list[Any]:
    return list(refunds.schema.indexes_on("LedgerEntries"))


def _refunds(shard: str = "", reference: str = "", before: str = "") -> str:
    return (
        f"{before}CREATE TABLE Refunds (RefundId STRING(36) NOT NULL DEFAULT (GENERATE_UUID()), EntryId STRING(26) NOT "
        f"NULL, {shard}Amount NUMERIC NOT NULL{reference}) PRIMARY KEY (RefundId)"
    )


_TO_ID = ", FOREIGN KEY (EntryId) REFERENCES LedgerEntries (EntryId)"
_TO_KEY = ", FOREIGN KEY (ShardId, EntryId) REFERENCES LedgerEntries (ShardId, EntryId)"
_SHARD_TOO = _shard(_SHARDS) + ", "

second_hotspot = Challenge(
    id="B.4",
    title="The second hotspot",
    points=3,
    kind=ddl(),
    look=Refunds,
    criteria=(
        Criterion(50, "with the reference in place, at least 11,700 entries/s commit", _ledger_unharmed),
        Criterion(30, "a refund of an entry that does not exist is refused", _refuses),
        Criterion(20, "the insert of a refund, with its check, is at most 6 mutations", _cheap_check),
    ),
    wrong=(
        WrongAnswer(
            _refunds(reference=_TO_ID),
            "EntryId alone is not the key of the ledger. So Spanner adds a UNIQUE index on it, a ULID index, and every "
            "entry of the ledger must write there.",
            lambda r: any(k.enforced for k in r.keys) and _helped(r) and not _own_indexes(r),
        ),
        WrongAnswer(
            _refunds(_SHARD_TOO, _TO_KEY + " NOT ENFORCED"),
            "NOT ENFORCED is fast, but it accepts refunds of entries that nobody knows.",
            lambda r: bool(r.keys) and not any(k.enforced for k in r.keys) and not _helped(r),
        ),
        WrongAnswer(
            _refunds(reference=_TO_ID + " NOT ENFORCED"),
            "The worst of both: NOT ENFORCED checks nothing, and the reference to EntryId brings the index on the ULID "
            "all the same.",
            lambda r: bool(r.keys) and not any(k.enforced for k in r.keys) and _helped(r),
        ),
        WrongAnswer(
            _refunds(reference=_TO_ID, before="CREATE UNIQUE INDEX ById ON LedgerEntries (EntryId); "),
            "Your own index on EntryId is the same heat, made by hand. And Spanner does not use it for the foreign "
            "key: it adds another.",
            lambda r: bool(_own_indexes(r)),
        ),
        WrongAnswer(
            _refunds(_SHARD_TOO.replace("16", "32"), _TO_KEY),
            "Refunds computes ShardId in another way than the ledger does. So it looks for the entry in the wrong "
            "shard, and refuses refunds of entries that exist. Copy the expression, and its number.",
            lambda r: bool(r.keys) and not r.tried[0],
        ),
        WrongAnswer(
            _refunds(_SHARD_TOO, ", FOREIGN KEY (ShardId) REFERENCES LedgerEntries (ShardId)"),
            "A foreign key may only point at something unique, so Spanner makes ShardId unique in the ledger: one "
            "entry a shard, sixteen in all. And any id of a known shard would pass. Refer to both columns of the key.",
            lambda r: not r.holds,
        ),
        WrongAnswer(
            _refunds(_SHARD_TOO).replace("(RefundId)", "(ShardId, EntryId, RefundId), INTERLEAVE IN LedgerEntries"),
            "INTERLEAVE IN alone places the refunds near their entries and checks nothing. IN PARENT does.",
            lambda r: r.table.interleave is not None and not r.refers,
        ),
        WrongAnswer(
            _refunds(),
            "Nothing ties Refunds to the ledger, so any EntryId will do. A foreign key, or interleaving, is wanted.",
            lambda r: not r.refers and r.table.interleave is None,
        ),
    ),
    hints=(
        "The experiment above names a helper index. Which column does it begin with, and who has to write into it?",
        "A reference to the whole primary key needs no helper on the ledger. That key has two columns.",
        "Compute ShardId in Refunds as in the ledger, then FOREIGN KEY (ShardId, EntryId) REFERENCES LedgerEntries.",
    ),
    note="One word in a DDL file would have been outage number two, caused by a table that hardly anybody writes to. "
    "Before you add a foreign key, ask which index it brings, and on which side.",
    topic=_REFERENCES,
)


def _own_indexes(refunds: Refunds) -> list[Any]:
    """Indexes on EntryId of the ledger that the answer itself made."""
    return [
        index for index in _ledger_indexes(refunds) if not index.managed and index.key[0].column.casefold() == "entryid"
    ]


# ------------------------------------------------------------------------------------- B.5: fifty thousand a second

_OFFERED, _COMMITTED, _FEWEST_NODES, _MOST_NODES, _ANY_NODES = 50_000, 49_000, 22, 30, 100
_RENAMED = {"EntryId": "PaymentId", "Amount": "Amount", "PostedAt": "SettledAt"}


@dataclass
class Settlement:
    """An answer to B.5: a design with its nodes, the number of shards that is claimed, and the daily query.

    Raises SchemaError where the DDL is refused, and SpanlabError for a number of nodes that nobody has.
    """

    answer: Mapping[str, Any]
    seed: int
    design: Design | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        nodes = self.answer["nodes"]
        if _given(nodes) and not 1 <= nodes <= _ANY_NODES:
            raise SpanlabError(f"nodes is {nodes:,}; a number from 1 to {_ANY_NODES} can be tried here.")
        if not _given(self.answer["ddl"]):
            return
        design = Design(
            self.answer["ddl"],
            "Settlements",
            writes_per_second=_OFFERED,
            values={"PaymentId": "ulid", "SettledAt": "now", "Amount": "const(10)"},
            nodes=nodes if _given(nodes) else _MOST_NODES,
            seed=self.seed,
            rows=_loaded("Settlements", _RENAMED, _days_around(_day_number(self.seed))),
        )
        self.design = _with_known_shard(design, _RENAMED)

    @cached_property
    def sizes(self) -> dict[object, int]:
        return _shard_sizes(self.design) if self.design else {}

    @cached_property
    def query(self) -> DayQuery | None:
        """The daily query over the design's own table."""
        if self.design is None or not _given(self.answer["sql"]):
            return None
        return DayQuery(self.answer["sql"], self.design.database, _day_number(self.seed))

    @property
    def nodes(self) -> Any:
        return self.answer["nodes"]


def _given(value: Any) -> TypeGuard[Any]:
    return value is not ...


_NO_DDL = "there is no DDL yet"


def _of_design(criterion: Criterion) -> Criterion:
    """The criterion of a design, measured on the design in the answer."""

    def measure(answer: Settlement) -> Outcome:
        if answer.design is None or not _given(answer.nodes):
            return Outcome(0.0, "ddl and nodes are both needed")
        return criterion.measure(answer.design)

    return Criterion(criterion.weight, criterion.wanted, measure)


def _capacity(answer: Settlement) -> Outcome:
    if answer.design is None or not _given(answer.nodes):
        return Outcome(0.0, "ddl and nodes are both needed")
    summary = answer.design.summary
    short = summary["committed"] < _COMMITTED
    fits = _FEWEST_NODES <= answer.nodes <= _MOST_NODES and summary["cpu_mean"] <= 0.67
    seen = f"{answer.nodes} nodes, mean CPU {100 * summary['cpu_mean']:.0f} %"
    return Outcome(float(fits and not short), seen + (", but payments are missing" if short else ""))


_KEPT = has_columns(
    15, {"PaymentId": "STRING", "Amount": "NUMERIC", "SettledAt": "TIMESTAMP"}, commit_timestamp="SettledAt"
)


def _as_claimed(answer: Settlement) -> Outcome:
    if answer.design is None:
        return Outcome(0.0, _NO_DDL)
    kept = _KEPT.measure(answer.design)
    if not kept.share:
        return kept
    named = _identifies(answer.design, "PaymentId")
    claimed, found = answer.answer["shards"], len(answer.sizes)
    if not named.share:
        return Outcome(0.0, named.seen)
    says = f"you say {claimed}" if _given(claimed) else "you left shards open"
    even = _evenness(answer.sizes) <= _EVEN
    share = float(claimed == found and 1 < found <= _SHARDS_AT_MOST and even)
    return Outcome(share, f"the DDL makes {found:,}{'' if even else ', unevenly filled'}, {says}")


def _reconciles(answer: Settlement) -> Outcome:
    query = answer.query
    if query is None:
        return Outcome(0.0, "ddl and sql are both needed")
    count, total = query.found()
    read = query.result.plan.scanned
    complete = bool(count and total)
    if not complete:
        lost = f"it counts {query.count():,} of {query.right[0]:,}" if not count else "the sum of Amount is not there"
        return Outcome(0.5 * bool(count), f"{lost}; {read:,} rows read")
    bounds = _bounds_are_parameters(query)
    share = 1.0 if bounds.share and 0 < read <= 1.1 * query.right[0] else 0.5
    return Outcome(share, f"the day is complete; {read:,} rows read" + ("" if bounds.share else f"; {bounds.seen}"))


def _shards_between(low: int, high: float) -> Callable[[Settlement], bool]:
    return lambda a: a.design is not None and key_of(a.design)[0][0] != "paymentid" and low <= len(a.sizes) <= high


def _lets_an_id_in_twice(design: Design) -> bool:
    """Whether something leads the key that does not follow from PaymentId."""
    return key_of(design)[0][0] != "paymentid" and not _identifies(design, "PaymentId").share


def _full_hash(answer: Settlement) -> bool:
    """Whether the shard takes ABS of a fingerprint before MOD."""
    from sqlglot import exp

    from spanlab.sql import parse_expression

    column = answer.design.table.column(key_of(answer.design)[0][0]) if answer.design else None
    if column is None or column.generated is None:
        return False
    absolute = parse_expression(column.generated).find_all(exp.Abs)
    return any("MOD" not in one.this.sql().upper() and "%" not in one.this.sql() for one in absolute)


def _settlements(n: int, expression: str = _SAFE, key: str = "ShardId, PaymentId") -> str:
    return (
        f"CREATE TABLE Settlements ({_shard(n, expression, 'PaymentId')}, PaymentId STRING(26) NOT NULL, Amount "
        f"NUMERIC NOT NULL, SettledAt TIMESTAMP NOT NULL OPTIONS (allow_commit_timestamp = true)) PRIMARY KEY ({key})"
    )


def _daily(n: int) -> str:
    return _looped(f"GENERATE_ARRAY(0, {n - 1})", "Settlements", _IN_DAY.replace("EntryId", "PaymentId"))


def _answer(n: int, nodes: int, expression: str = _SAFE, **other: object) -> dict[str, object]:
    return {"ddl": _settlements(n, expression), "shards": n, "sql": _daily(n), "nodes": nodes, **other}


fifty_thousand = Challenge(
    id="B.5",
    title="Fifty thousand a second",
    points=5,
    kind=Fields(
        (
            ("ddl", ddl()),
            ("shards", Number("shards", whole=True)),
            ("sql", sql()),
            ("nodes", Number("nodes", whole=True)),
        )
    ),
    look=Settlement,
    criteria=(
        _of_design(committed(30, _COMMITTED)),
        _of_design(p99(15, 40)),
        Criterion(15, f"{_FEWEST_NODES} to {_MOST_NODES} nodes, at most 67 % busy on average", _capacity),
        Criterion(
            15,
            f"the columns are kept; PaymentId alone gives the shard, of as many as you say, at most {_SHARDS_AT_MOST}",
            _as_claimed,
        ),
        Criterion(
            25, "the daily query finds all from @from_id to @to_id, and reads at most 1.1 rows for each", _reconciles
        ),
    ),
    wrong=(
        WrongAnswer(
            _answer(16, 30),
            "16 shards are 16 tails: 16 × 1,800 = 28,700 payments/s, whatever the number of nodes.",
            _shards_between(2, 27),
        ),
        WrongAnswer(
            _answer(28, 30),
            "28 × 1,800 is 50,400: enough on paper, but full shards queue. With 28 the p99 is 137 ms, with 30 62 ms.",
            _shards_between(28, 31),
        ),
        WrongAnswer(
            _answer(32, 22),
            "32 shards on 22 nodes commit everything, at 35 ms; but some servers lead two shards and are 90 % busy. "
            "With a multiple of the nodes, such as 44, all are alike.",
            lambda a: _shards_between(32, 40)(a) and a.nodes == 22,
            full=True,
        ),
        WrongAnswer(
            _answer(256, 30),
            "A daily read of so many ranges is dear, and gains nothing: about as many shards as nodes is the advice.",
            lambda a: _shards_between(_SHARDS_AT_MOST + 1, _ONE_EACH)(a) and min(a.sizes) == 0,
        ),
        WrongAnswer(
            _answer(44, 22, "MOD(ABS(FARM_FINGERPRINT({id})), {n})"),
            "The shard is right for every hash but one in 2^64: ABS of the smallest INT64 is an error. "
            "ABS(MOD(…)) never fails.",
            _full_hash,
            full=True,
        ),
        WrongAnswer(
            _answer(44, 22, _SIGNED),
            "MOD keeps the sign: with N = 44 there are 87 shards, and a query from 0 on misses almost half of the day.",
            lambda a: a.design is not None and _has_negative_shard(a.design),
        ),
        WrongAnswer(
            _answer(44, 15),
            "Too few nodes: 15 do it at 95 % CPU, 21 at 68 %, and little is left if a zone fails. 50,000 ÷ (3,500 × "
            "0.65) = 22.",
            lambda a: _given(a.nodes) and a.nodes < _FEWEST_NODES,
        ),
        WrongAnswer(
            _answer(44, 60),
            "More nodes do not help full shards, and these are more than the load needs: 22 stay at 65 %.",
            lambda a: _given(a.nodes) and a.nodes > _MOST_NODES,
        ),
        WrongAnswer(
            _answer(44, 22, sql=_daily(32)),
            "The query does not ask each shard of this table: GENERATE_ARRAY must end at N − 1.",
            lambda a: a.query is not None and 0 < a.query.count() < a.query.right[0] - 1 and min(a.sizes) == 0,
        ),
        WrongAnswer(
            _answer(44, 22, sql=_daily(44).replace("< @to_id", "<= @to_id")),
            "One payment too many or too few: @from_id belongs to the day, @to_id to the next. So >= @from_id AND "
            "< @to_id.",
            lambda a: a.query is not None and abs(a.query.count() - a.query.right[0]) == 1,
        ),
        WrongAnswer(
            _answer(44, 22, sql=_daily(44).replace(", SUM(e.Amount) AS total", "")),
            "The count alone does not reconcile anything: two wrong amounts leave it as it is. Add the sum of Amount.",
            lambda a: a.query is not None and bool(a.query.found()[0]) and not a.query.found()[1],
        ),
        WrongAnswer(
            _answer(
                44,
                22,
                sql=_daily(44)
                .replace("@from_id", "'01KETADY000000000000000000'")
                .replace("@to_id", "'01KEWWTN000000000000000000'"),
            ),
            "With the ids in its text, tomorrow's report is another query. Write @from_id and @to_id.",
            lambda a: a.query is not None and "stands in the query" in _bounds_are_parameters(a.query).seen,
        ),
        WrongAnswer(
            {
                **_answer(44, 22),
                "ddl": _settlements(44, key="PaymentId, ShardId"),
                "sql": _one_query(_IN_DAY).replace("LedgerEntries", "Settlements").replace("EntryId", "PaymentId"),
            },
            "PaymentId leads the key, and the first column decides: a ULID grows, so one split takes all, 1,800 a "
            "second.",
            lambda a: a.design is not None and key_of(a.design)[0][0] == "paymentid",
        ),
        WrongAnswer(
            {**_answer(44, 22), "ddl": _settlements(44) + "; CREATE UNIQUE INDEX ById ON Settlements (PaymentId)"},
            "The table spreads, but the index is a sorted table as well, and it grows at its end: one split of it "
            "takes an entry for each payment. The key makes PaymentId unique already, for the shard follows from it.",
            lambda a: a.design is not None and _hot_index(a.design, "Settlements", "PaymentId", "SettledAt"),
        ),
        WrongAnswer(
            {
                **_answer(44, 22),
                "ddl": _settlements(44, key="PaymentKey").replace(
                    _shard(44, _SAFE, "PaymentId"), "PaymentKey STRING(36) NOT NULL DEFAULT (GENERATE_UUID())"
                ),
            },
            "It spreads, but the same PaymentId could be stored twice, and whoever has one cannot look it up. Let the "
            "key be a shard computed from PaymentId, and PaymentId.",
            lambda a: a.design is not None and _lets_an_id_in_twice(a.design),
        ),
        WrongAnswer(
            _answer(
                44,
                22,
                sql=_one_query(f"ShardId BETWEEN 0 AND 43 AND {_IN_DAY}")
                .replace("LedgerEntries", "Settlements")
                .replace("EntryId", "PaymentId"),
            ),
            "The day is complete, but the whole table was read for it. Equality on the shard, in a loop, as in B.3.",
            lambda a: a.query is not None and bool(a.query.found()[1]) and _reads_too_much(a.query),
        ),
        WrongAnswer(
            _answer(44, 22, shards=32),
            "shards and ddl do not agree. Count the values that the expression can give.",
            lambda a: _given(a.answer["shards"]) and len(a.sizes) < _ONE_EACH and a.answer["shards"] != len(a.sizes),
        ),
    ),
    hints=(
        "Two ceilings at once: the one of a split bounds the shards, the one of a node bounds the nodes.",
        "50,000 ÷ 1,800 = 28 full shards: leave air. 50,000 ÷ (3,500 × 0.65) = 22 nodes. Take a multiple of those.",
        "22 nodes, 2 × 22 = 44 shards; the query is that of B.3 with GENERATE_ARRAY(0, 43) and Settlements.",
    ),
    note="With the documented 3,500 writes/s of a node as the ceiling of a split, 22 shards do. The number rests on an "
    "assumption: write it beside the design, for a new number is a new table.",
    topic=_KEYS,
)

CHALLENGES = (nodes_first, picture, keep_the_id, reconcile, second_table, second_hotspot, fifty_thousand)
