"""Lesson 8, Small, sparse and sharded indexes: its two predictions and its five challenges."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import cache, cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from spanlab.catalog import Column, Index, Table
from spanlab.course.challenge import Challenge, Criterion, Outcome, WrongAnswer
from spanlab.course.criteria import Design, HandedQuery, Refused, back_joins, index_columns, kept, scan_uses
from spanlab.course.criteria.unusual import sampled_law
from spanlab.course.kinds import Choice, Number, ddl, sql
from spanlab.errors import ConstraintError, QueryError, SchemaError

if TYPE_CHECKING:
    from spanlab.query import Database, Result
    from spanlab.schema import Schema

TITLE = "Small, sparse and sharded indexes"
_SPARSE = "Storing data: indexes that leave out NULL"
_TIME = "Storing data: indexes on time under heavy writes"

without_proof = Challenge(
    id="8.P1",
    title="Only the order",
    points=0,
    kind=Choice("abc"),
    hints=("Ten jobs with the smallest DueAt: does NULL count as small?",),
    note="b. NULL is the smallest value of all, so the ten first rows have no DueAt, and those are not in the index.",
    topic=_SPARSE,
)

four_shards = Challenge(
    id="8.P2",
    title="Four shards of a time index",
    points=0,
    kind=Choice("abc"),
    hints=("Each shard has an end of its own, where its newest entries go. How many ends are there?",),
    note="b: about 7,200. Four ends take 1,800 entries/s each, and a commit waits for its entry.",
    topic=_TIME,
)

# --------------------------------------------------------------------------------------------------- 8.1 How small?

_SMALL_GB = 0.128  # 2,000,000 entries of 8 + 12 for DueAt and 8 + 36 for JobId
_BYTES_MISSED = (0.096, 0.104, 0.112)  # entries and both columns are seen; 16, 12 or 8 bytes of each are not


def _near(value: float, within: float = 0.02) -> Callable[[float], bool]:
    return lambda answer: abs(answer - value) <= within * value


def _other_unit(answer: float) -> bool:
    """Whether it is the right size in MB, in bytes or in units of 2^30 bytes."""
    return any(_near(_SMALL_GB * unit)(answer) for unit in (1_000, 1e9, 1e9 / 2**30))


def _small(answer: float) -> Outcome:
    if _near(_SMALL_GB)(answer):
        share = 1.0
    elif _other_unit(answer):
        share = 0.5  # the index is worked out, the unit is not
    else:
        share = 0.25 * any(_near(missed)(answer) for missed in _BYTES_MISSED)
    return Outcome(share, f"you say {answer:,g} GB")


how_small = Challenge(
    id="8.1",
    title="How small?",
    points=2,
    kind=Number("GB"),
    criteria=(Criterion(100, "the size of the index in GB of 10^9 bytes, within 2 %", _small),),
    wrong=(
        WrongAnswer(0.04, "0.04 is DueAt alone. The base key is in every entry as well.", _near(0.04)),
        WrongAnswer(
            5.2,
            "5.2 GB is the plain index: 98 million entries of 52 bytes, whose DueAt is NULL, and 2 million of 64.",
            _near(5.224),
        ),
        WrongAnswer(6.4, "That counts all 100 million rows. 2 % of them have an entry.", _near(6.4)),
        WrongAnswer(0.096, "8 bytes of overhead are missing on both values, DueAt and JobId.", _near(0.096)),
        WrongAnswer(0.112, "One of the two values lacks its 8 bytes of overhead: there is one on each.", _near(0.112)),
        WrongAnswer(
            0.104,
            "52 bytes are an entry whose DueAt is NULL. The entries of this index have a DueAt, of 12 bytes.",
            _near(0.104),
        ),
        WrongAnswer(
            128,
            "The index is right, the unit is not: the answer is asked for in GB, that is 10^9 bytes.",
            _other_unit,
        ),
        WrongAnswer(
            5.1, "Those are the entries that this index leaves out: 98 million of 52 bytes.", _near(5.096, 0.004)
        ),
        WrongAnswer(
            1.28,
            "The digits are right, the number of entries is not: 2 % of 100 million are 2 million.",
            lambda answer: any(_near(_SMALL_GB * factor)(answer) for factor in (0.01, 0.1, 10, 100)),
        ),
    ),
    hints=(
        "How many entries are there? In the first picture, the short bar had one for each job that has a DueAt.",
        "What is in one entry? The indexed column, and the key of its row, each with 8 bytes of overhead.",
        "2,000,000 entries of (8 + 12) + (8 + 36) = 64 bytes each.",
    ),
    note="The plain index has 5.2 GB, 40.8 times as much. With DueAt on every second row it would be 1.8 times.",
    topic="Storing data: what a NULL_FILTERED index saves",
)

# ------------------------------------------------------------------------------------------------ 8.2 The task queue

_JOBS = """CREATE TABLE Jobs (
  JobId  STRING(36) NOT NULL DEFAULT (GENERATE_UUID()),
  Kind   STRING(20),
  DueAt  TIMESTAMP,
  DoneAt TIMESTAMP,
) PRIMARY KEY (JobId)"""
_SOME, _DUE = 5_000, 100
_NEXT_JOBS = "SELECT JobId, DueAt, Kind FROM Jobs WHERE DueAt IS NOT NULL ORDER BY DueAt LIMIT 50"


@cache
def _some_jobs(seed: int) -> list[dict[str, object]]:
    """5,000 jobs, of which 100 are due: the first ones of the data set, or as many from further behind."""
    from spanlab.query import data

    start = seed % 10 * _SOME
    return list(islice(data("jobs").rows("Jobs"), start, start + _SOME))


@kept
def _with_jobs(schema: Schema, seed: int) -> Database:
    """A database of the schema, with these jobs in it."""
    from spanlab.query import Database
    from spanlab.storage.fitting import fitted_columns

    jobs = _some_jobs(seed)
    columns: dict[str, Sequence[object]] = {name: [job[name] for job in jobs] for name in jobs[0]}
    database = Database(schema)
    for table in database.tables_in_loading_order():
        if table.name.casefold() == "jobs":
            database.load_columns(table.name, fitted_columns(table, columns))
    return database


_STAYS = "stays as it is, with its rows, columns and key. The answer is what comes after it."


def _before(answer: str, given: str) -> str | Refused:
    """The DDL that the answer comes after: the given table, or nothing where the answer repeats it as it is.

    Where the answer drops the table or columns, or makes it with another key, what to say to that.
    """
    from spanlab.sql import parse_ddl
    from spanlab.sql.statements import AlterTable, CreateTable, DropColumn, DropTable, RenameTable

    (first,) = parse_ddl(given)
    assert isinstance(first, CreateTable)
    before = given
    for statement in parse_ddl(answer):
        if isinstance(statement, DropTable | RenameTable):
            return Refused(SchemaError(f"{first.table.name} {_STAYS}"))
        if isinstance(statement, AlterTable) and isinstance(statement.action, DropColumn):
            return Refused(SchemaError(f"The table keeps its columns; {statement.action.column} would be lost."))
        if isinstance(statement, CreateTable) and statement.table.name == first.table.name:
            if not _keeps(statement.table, first.table):
                return Refused(SchemaError(f"{first.table.name} {_STAYS}"))
            before = ""
    return before


def _keeps(table: Table, given: Table) -> bool:
    """Whether a table has the key and, with their types, all columns of another."""
    types = {column.name: column.type for column in table.columns}
    return table.key == given.key and all(types.get(column.name) == column.type for column in given.columns)


def _changes_table(evidence: object) -> bool:
    return isinstance(evidence, Refused) and _STAYS in evidence.error.message


class Queue(Design):
    """The jobs, with whatever index was handed in."""

    def __init__(self, answer: str, before: str, seed: int) -> None:
        super().__init__(
            answer,
            "Jobs",
            given=before,
            writes_per_second=12_000,
            values={"DueAt": "null(.98, now)"},
            nodes=12,
            seed=seed,
            rows=lambda schema: _with_jobs(schema, seed),
        )
        self.indexes: tuple[Index, ...] = tuple(self.schema.indexes_on("Jobs"))

    def entries(self) -> int:
        """The entries of all indexes together."""
        return sum(len(self.database.stored(index.name)) for index in self.indexes)

    @cached_property
    def without_due(self) -> int:
        """Index entries that the insert of a job without DueAt writes."""
        return self._entries_of(None)

    @cached_property
    def twin_is_taken(self) -> bool:
        """Whether a job can be due at the same moment as another."""
        due = next(job["DueAt"] for job in _some_jobs(self.seed) if job["DueAt"] is not None)
        try:
            self._entries_of(due, due)
        except ConstraintError:
            return False
        return True

    def _entries_of(self, *due: object) -> int:
        """Index entries of jobs with these due times, in a table where nothing else is."""
        from spanlab.query import Database

        database = Database(self.schema)
        rows = [[f"job {number}", "mail", at, None] for number, at in enumerate(due)]
        database.commit([("insert", "Jobs", ["JobId", "Kind", "DueAt", "DoneAt"], rows)])
        return sum(len(database.stored(index.name)) for index in self.indexes)

    def written_keys(self) -> list[list[tuple[str, bool]]]:
        """The key of each index as it was written: (column in small letters, whether DESC)."""
        return [[(part.column.casefold(), part.desc) for part in index.key] for index in self.indexes]

    def leads(self) -> list[str]:
        """The first key column of each index."""
        return [key[0][0] for key in self.written_keys()]

    def carried(self) -> set[str]:
        """All columns of the entries, in small letters."""
        in_keys = {column for key in self.written_keys() for column, _ in key}
        return in_keys | {column.casefold() for index in self.indexes for column in index.storing}


def _queue(answer: str, seed: int) -> Queue | Refused:
    before = _before(answer, _JOBS)
    return before if isinstance(before, Refused) else Queue(answer, before, seed)


def _an_entry_each(queue: Queue) -> Outcome:
    count = queue.entries()
    if not queue.twin_is_taken:
        return Outcome(0.0, "a second job, due at the same moment as another, is refused")
    return Outcome(float(count == _DUE), f"{count:,} entries for {_DUE} of {_SOME:,} jobs")


def _stops_early(queue: Queue) -> Outcome:
    plan = queue.ask(_NEXT_JOBS).plan
    sorting = f"sorts {plan.sorts} time{'s' * (plan.sorts != 1)}" if plan.sorts else "does not sort"
    return Outcome(float(plan.scanned <= 50 and plan.sorts == 0), f"it reads {plan.scanned:,} rows and {sorting}")


def _no_entry_without_due(queue: Queue) -> Outcome:
    if not queue.indexes:
        return Outcome(0.0, "there is no index")
    added = queue.without_due
    return Outcome(float(added == 0), f"it writes {added or 'no'} entr{'y' if added == 1 else 'ies' if added else 'y'}")


def _carries_no_more(queue: Queue) -> Outcome:
    if not queue.indexes:
        return Outcome(0.0, "there is no index")
    more = sorted(queue.carried() - {"jobid", "dueat", "kind"})
    names = [column.name for column in queue.table.columns if column.name.casefold() in more]
    return Outcome(float(not more), f"{' and '.join(names)} too" if more else "nothing more")


def _own_columns(queue: Queue) -> set[str]:
    """Columns that the answer added to the table."""
    return {c.name.casefold() for c in queue.table.columns} - {"jobid", "kind", "dueat", "doneat"}


def _only(when: Callable[[Queue, Index], bool]) -> Callable[[Queue], bool]:
    """About the index, where there is just one."""
    return lambda queue: len(queue.indexes) == 1 and when(queue, queue.indexes[0])


def _filters(index: Index, column: str) -> bool:
    """Whether rows with NULL in that column are left out."""
    return (index.null_filtered and column in index_columns(index)) or column in [
        name.casefold() for name in index.not_null
    ]


_FILTERED = "CREATE NULL_FILTERED INDEX JobsDue ON Jobs "

task_queue = Challenge(
    id="8.2",
    title="The task queue",
    points=3,
    kind=ddl(),
    look=_queue,
    criteria=(
        Criterion(30, "each job that is due has one entry, and no other job has any", _an_entry_each),
        back_joins(30, _NEXT_JOBS),
        Criterion(20, "the query reads at most 50 rows and sorts nothing", _stops_early),
        Criterion(10, "the insert of a job without DueAt writes no index entry", _no_entry_without_due),
        Criterion(10, "entries hold nothing beyond JobId, DueAt and Kind", _carries_no_more),
    ),
    wrong=(
        WrongAnswer(
            "CREATE INDEX JobsDue ON Jobs (DueAt) STORING (Kind)",
            "That is a plain index: in the whole table 49,000 of its 50,000 entries are NULL, and every insert "
            "writes one.",
            _only(
                lambda q, i: not (i.null_filtered or i.not_null) and "dueat" in index_columns(i) and not _own_columns(q)
            ),
        ),
        WrongAnswer(
            _FILTERED + "(DueAt)",
            "Kind is not in the entries, so each of the 50 rows is fetched from the table as well.",
            _only(lambda q, i: _filters(i, "dueat") and "kind" not in q.carried() and index_columns(i)[0] == "dueat"),
        ),
        WrongAnswer(
            "CREATE INDEX JobsDue ON Jobs (Kind, DueAt) WHERE DueAt IS NOT NULL",
            "Kind leads, so the jobs lie in order of time within each kind only. The oldest of all are found by "
            "reading every kind, and a sort.",
            _only(lambda q, i: index_columns(i)[0] == "kind" and "dueat" in index_columns(i)),
        ),
        WrongAnswer(
            _FILTERED + "(JobId, DueAt) STORING (Kind)",
            "JobId leads, and ids are random: nothing lies in order of time. All entries are read and sorted.",
            lambda q: any(key[0][0] == "jobid" and len(key) > 1 for key in q.written_keys()),
        ),
        WrongAnswer(
            _FILTERED + "(DueAt DESC) STORING (Kind)",
            "Workers take the oldest first, so the entries must ascend. Spanner does not scan backwards: it reads all "
            "of them and sorts.",
            lambda q: any(key[0] == ("dueat", True) for key in q.written_keys()),
        ),
        WrongAnswer(
            _FILTERED + "(DueAt) STORING (Kind, DoneAt)",
            "DoneAt is not asked for, and each completion would rewrite the entry.",
            lambda q: "doneat" in q.carried() and "dueat" in q.leads() and not _filters(q.indexes[0], "doneat"),
        ),
        WrongAnswer(
            _FILTERED + "(DueAt, DoneAt) STORING (Kind)",
            "This index leaves out jobs without DoneAt, and that is every job that is still due: it is empty.",
            _only(lambda q, i: _filters(i, "doneat") and "dueat" in index_columns(i)),
        ),
        WrongAnswer(
            _FILTERED + "(DueAt, Kind)",
            "This index leaves out jobs without Kind too: NULL_FILTERED filters on every column of the key, WHERE on "
            "those it lists. The query says nothing about Kind, so it cannot use it. Put Kind into STORING.",
            _only(lambda q, i: _filters(i, "kind") and "dueat" in index_columns(i)),
        ),
        WrongAnswer(
            "CREATE UNIQUE NULL_FILTERED INDEX JobsDue ON Jobs (DueAt) STORING (Kind)",
            "UNIQUE is a rule, not a speed-up: two jobs may be due at the same moment, and the second is refused.",
            lambda q: not q.twin_is_taken,
        ),
        WrongAnswer(
            "ALTER TABLE Jobs ADD COLUMN ShardId INT64 AS (ABS(MOD(FARM_FINGERPRINT(JobId), 4))) STORED; "
            "CREATE INDEX JobsDue ON Jobs (ShardId, DueAt) STORING (Kind) WHERE DueAt IS NOT NULL",
            "With another column in front, a shard or a flag, the jobs are in order of time within each of its values "
            "only. This query names none of them: it reads all entries and sorts.",
            lambda q: bool(_own_columns(q) & set(q.leads())) and any("dueat" in index_columns(i) for i in q.indexes),
        ),
        WrongAnswer(
            "ALTER TABLE Jobs ADD COLUMN Waiting TIMESTAMP AS (IF(DoneAt IS NULL, DueAt, NULL)); "
            "CREATE NULL_FILTERED INDEX JobsDue ON Jobs (Waiting) STORING (Kind)",
            "The query asks for DueAt. An index on another column cannot answer it, even if the values are the same.",
            lambda q: (
                bool(_own_columns(q) & set(q.leads())) and not any("dueat" in index_columns(i) for i in q.indexes)
            ),
        ),
        WrongAnswer(
            "CREATE NULL_FILTERED INDEX JobsDone ON Jobs (DoneAt) STORING (DueAt, Kind)",
            "The index is sorted by another column. The query wants the jobs by DueAt, so DueAt is its key.",
            lambda q: (
                bool(q.indexes) and not any("dueat" in index_columns(i) for i in q.indexes) and not _own_columns(q)
            ),
        ),
        WrongAnswer(
            _FILTERED + "(DueAt); CREATE NULL_FILTERED INDEX JobsKind ON Jobs (DueAt) STORING (Kind)",
            "One index is enough: the second is written with every job that is due, for nothing.",
            lambda q: len(q.indexes) > 1,
        ),
        WrongAnswer(
            "ALTER TABLE Jobs ADD COLUMN Waiting BOOL AS (DueAt IS NOT NULL)",
            "That leaves the table without an index, so all jobs are read and sorted.",
            lambda q: not q.indexes,
        ),
        WrongAnswer(
            "DROP TABLE Jobs; " + _JOBS.replace("(JobId)", "(DueAt, JobId)"),
            "The table and its key stay as they are: a key led by DueAt would make the table itself hot. Only an index "
            "is asked for.",
            _changes_table,
        ),
        WrongAnswer(
            _FILTERED + "(DueAt) STORING (Kind) WHERE DueAt IS NOT NULL",
            "Right, but both spellings at once say one thing twice. The grammar allows it; whether the service takes "
            "the pair was not verified. Use one.",
            _only(lambda q, i: i.null_filtered and bool(i.not_null)),
            full=True,
        ),
    ),
    hints=(
        "In the first picture, which bar is the one that workers need? Leave the NULLs out.",
        "The query reads three columns. JobId is in every entry, DueAt is its key; carry Kind along.",
        "CREATE NULL_FILTERED INDEX … ON Jobs (DueAt), and STORING.",
    ),
    note="When a job is done, set its DueAt to NULL: the entry disappears, and the index is the queue. The price: two "
    "more writes in the life of a job.",
    topic="Storing data: a covering index that leaves out NULL",
)

# ------------------------------------------------------------------------------------------- 8.3 And the next risk?


def _is(letter: str) -> Callable[[str], bool]:
    return lambda answer: answer == letter


next_risk = Challenge(
    id="8.3",
    title="And the next risk?",
    points=1,
    kind=Choice("ABCD"),
    criteria=(
        Criterion(100, "what must still be checked", lambda answer: Outcome(float(answer == "B"), f"you say {answer}")),
    ),
    wrong=(
        WrongAnswer("A", "They are excluded by definition: a row whose DueAt is NULL has no entry.", _is("A")),
        WrongAnswer("C", "Indexes are replicated like tables, filtered or not.", _is("C")),
        WrongAnswer("D", "JobId is random, so the table has no hot end.", _is("D")),
    ),
    hints=(
        "What is the leading column of the index, and where do new entries go?",
        "Lesson 4 called the place where inserts meet a front. How wide is it, if all jobs are due at once?",
        "What does one split take, divided by the share of the inserts that reach the index?",
    ),
    note="2 % of the inserts reach the index, which moves its ceiling from 1,800 to 90,000 inserts/s: check, then "
    "relax.",
    topic=_TIME,
)

# ---------------------------------------------------------------------------------------------- 8.4 Make it usable

_DUE_INDEX = "CREATE NULL_FILTERED INDEX JobsDue ON Jobs (DueAt)"
_ASKED = "SELECT JobId, DueAt FROM Jobs@{FORCE_INDEX=JobsDue} ORDER BY DueAt LIMIT 10"
_OLDEST = 10
_NO_PROOF = "nothing in the query excludes those rows"


@cache
def _queue_of_jobs(seed: int) -> Database:
    from spanlab.schema import Schema

    return _with_jobs(Schema.from_ddl(f"{_JOBS}; {_DUE_INDEX}"), seed)


@cache
def _oldest(seed: int) -> list[tuple[Any, ...]]:
    """The ten jobs that are due first, found without a query."""
    due = [(job["JobId"], job["DueAt"]) for job in _some_jobs(seed) if job["DueAt"] is not None]
    return sorted(due, key=lambda job: job[1])[:_OLDEST]  # type: ignore[arg-type,return-value]


class OldestFirst(HandedQuery):
    """A query over the jobs, and the rows that it should find."""

    def __init__(self, text: str, seed: int) -> None:
        from spanlab.query import data

        super().__init__(text, _queue_of_jobs(seed), {"now": data.day(365)})
        self.right = _oldest(seed)


class NoProof(Refused):
    """A query that the index cannot serve, as Spanner says."""

    def __init__(self, text: str, error: QueryError) -> None:
        super().__init__(SchemaError(error.message, hint=error.hint))
        self.text = text


def _oldest_first(answer: str, seed: int) -> OldestFirst | NoProof:
    try:
        return OldestFirst(answer, seed)
    except QueryError as error:
        if _NO_PROOF in error.message:
            return NoProof(answer, error)
        raise


def _columns(query: OldestFirst) -> list[str]:
    return [name.casefold() for name in query.result.columns]


def _reads_index(query: object) -> bool:
    return isinstance(query, OldestFirst) and "JobsDue" in query.result.plan.index_used


def _reads_table_alone(query: object) -> bool:
    return isinstance(query, OldestFirst) and not _reads_index(query) and query.result.plan.scanned > 0


def _asks_order(query: OldestFirst) -> bool:
    from spanlab.sql import parse_query

    return parse_query(query.sql).args.get("order") is not None


def _compares_null(query: object) -> bool:
    """Whether something is compared with NULL, which is true for no row."""
    return isinstance(query, OldestFirst) and bool(re.search(r"[=<>]\s*null\b", query.sql, re.IGNORECASE))


def _same_rows(query: OldestFirst) -> Outcome:
    if _columns(query) != ["jobid", "dueat"]:
        return Outcome(0.0, f"it returns {', '.join(query.result.columns)}")
    if not _asks_order(query):
        return Outcome(0.0, "it asks for no order")
    found = len(set(query.result.rows) & set(query.right))
    return Outcome(
        float(query.result.rows == query.right), f"{found} of the {_OLDEST}, in {len(query.result.rows)} rows"
    )


def _ten_entries(query: OldestFirst) -> Outcome:
    plan = query.result.plan
    few = bool(query.result.rows) and 0 < plan.scanned <= _OLDEST and plan.back_joins == 0
    return Outcome(float(few), f"it reads {plan.scanned:,} and fetches {plan.back_joins:,}")


def _where(condition: str) -> str:
    return _ASKED.replace(" ORDER BY", f" WHERE {condition} ORDER BY")


def _unproven(query: object, *words: str) -> bool:
    """Whether the query was refused, and all these words stand in it."""
    text = query.text.casefold() if isinstance(query, NoProof) else ""
    return bool(text) and all(word in " ".join(text.split()) for word in words)


def _is_null(query: object) -> bool:
    return _unproven(query, "dueat is null") and not _unproven(query, "not") and not _calls(query)


def _calls(query: object) -> bool:
    """Whether DueAt stands within a function."""
    text = query.text if isinstance(query, NoProof) else ""
    words = re.findall(r"(\w+)\s*\([^()]*\bDueAt\b", text, re.IGNORECASE)
    return any(word.upper() not in ("WHERE", "AND", "OR", "NOT") for word in words)


def _no_condition(query: object) -> bool:
    return isinstance(query, NoProof) and "where" not in query.text.casefold()


def _says_nothing(query: object) -> bool:
    condition = query.text.casefold().partition("where")[2] if isinstance(query, NoProof) else ""
    return bool(condition) and "dueat" not in condition.partition("order by")[0]


make_usable = Challenge(
    id="8.4",
    title="Make it usable",
    points=2,
    kind=sql(),
    look=_oldest_first,
    criteria=(
        scan_uses(60, "JobsDue"),
        Criterion(20, "it returns JobId and DueAt of the ten jobs that are due first, in that order", _same_rows),
        Criterion(20, "it reads at most 10 entries, and fetches no row", _ten_entries),
    ),
    wrong=(
        WrongAnswer(
            _ASKED.replace("@{FORCE_INDEX=JobsDue}", ""),
            "Without the hint it runs, but over every job of the table, and the first ten have no DueAt at all.",
            lambda q: _reads_table_alone(q) and _same_rows(q).share == 0,
        ),
        WrongAnswer(_where("DueAt IS NULL"), "Rows in which DueAt is NULL are exactly what the index lacks.", _is_null),
        WrongAnswer(
            _where("JobId IS NOT NULL"),
            "That says nothing about DueAt, and DueAt is the column that may be NULL.",
            _says_nothing,
        ),
        WrongAnswer(
            _where("COALESCE(DueAt, TIMESTAMP_SECONDS(0)) > TIMESTAMP_SECONDS(0)"),
            "A function around DueAt proves nothing: it may turn a NULL into a value. Say it of the bare column.",
            _calls,
        ),
        WrongAnswer(
            _where("DueAt IS NOT NULL OR JobId IS NOT NULL"),
            "With OR, a row without DueAt can still pass by the other side. Say it alone, or with AND.",
            lambda q: _unproven(q, " or ") and "dueat is not null" in q.text.casefold(),
        ),
        WrongAnswer(
            _ASKED,
            "That is the query as it was. Nothing in it keeps rows without DueAt away.",
            lambda q: _no_condition(q) and not _unproven(q, " desc"),
        ),
        WrongAnswer(
            _ASKED.replace(" LIMIT", " DESC LIMIT"),
            "DESC puts the NULLs last; it does not take them away, and LIMIT proves nothing. Say it in WHERE. (And the "
            "jobs that are due first would come last.)",
            lambda q: _no_condition(q) and _unproven(q, " desc"),
        ),
        WrongAnswer(
            _where("DueAt != NULL"),
            "A comparison with NULL is true for no row, so nothing is found. The test is IS NOT NULL.",
            _compares_null,
        ),
        WrongAnswer(
            _where("DueAt IS NOT NULL").replace(" ORDER BY DueAt", ""),
            "Without ORDER BY, Spanner may return any ten. That they came in the order of the index is luck.",
            lambda q: _reads_index(q) and not _asks_order(q),
        ),
        WrongAnswer(
            _where("DueAt IS NOT NULL").replace("ORDER BY DueAt", "ORDER BY DueAt DESC"),
            "That is another order than the index has: all its entries are read and sorted. In the order of the index "
            "ten are enough.",
            lambda q: _reads_index(q) and q.result.plan.sorts > 0,
        ),
        WrongAnswer(
            _where("DueAt IS NOT NULL").replace("LIMIT 10", "LIMIT 50"),
            "The index is used. But asked are the ten of all jobs that are due first: no other condition, no other "
            "limit.",
            lambda q: _reads_index(q) and len(q.result.rows) != _OLDEST and not _compares_null(q),
        ),
        WrongAnswer(
            _where("DueAt IS NOT NULL").replace("JobId, DueAt", "*"),
            "The index is used. But asked are JobId, then DueAt; any other column is fetched from the table.",
            lambda q: _reads_index(q) and _columns(q) != ["jobid", "dueat"],
        ),
        WrongAnswer(
            _where("DueAt IS NOT NULL").replace("JobsDue", "_BASE_TABLE"),
            "_BASE_TABLE is the table itself: all its rows are read and sorted. The hint was to name the index.",
            lambda q: _reads_table_alone(q) and _same_rows(q).share == 1,
        ),
        WrongAnswer(
            "SELECT JobId, DueAt FROM Jobs WHERE DueAt IS NOT NULL ORDER BY DueAt LIMIT 10",
            "Right, and here the optimizer finds the index by itself. The hint was to be kept, for days on which it "
            "would not.",
            lambda q: _reads_index(q) and bool(_same_rows(q).share) and "force_index" not in q.sql.casefold(),
            full=True,
        ),
    ),
    hints=(
        "Read the error: which column does it name?",
        "The optimizer wants proof that no wanted row has a NULL there. Give it a condition on that column.",
        "WHERE, the column, IS NOT NULL.",
    ),
    note="For an index on two columns each filtered column needs such a condition; a column that is NOT NULL in the "
    "table needs none.",
    topic="Querying: conditions that a filtered index needs",
)

# ------------------------------------------------------------------------------ 8.5 Newest readings, all devices

_READINGS = """CREATE TABLE Readings (
  ReadingId STRING(36) NOT NULL DEFAULT (GENERATE_UUID()),
  ProbeId   STRING(20),
  TakenAt   TIMESTAMP,
  Celsius   FLOAT64,
) PRIMARY KEY (ReadingId)"""
_COUNT, _MOST_SHARDS, _NEWEST = 2_000, 32, 20
_ENOUGH, _UNEVEN = 11_700, 1.5
_SHARD_LIKE = 1_000  # more values are no shards, whatever they are


@cache
def _some_readings(seed: int) -> dict[str, Sequence[object]]:
    """2,000 readings of 500 probes, one in each millisecond, somewhere in it."""
    from spanlab.query import data

    day = seed % 365
    numbers = range(day * _COUNT, (day + 1) * _COUNT)
    return {
        "ReadingId": [data.uuid(number, "Readings") for number in numbers],
        "ProbeId": [f"probe-{number * 7919 % 500}" for number in numbers],
        "TakenAt": [
            data.day(day) + timedelta(milliseconds=number, microseconds=number * 7919 % 1_000)
            for number in range(_COUNT)
        ],
        "Celsius": [20.0] * _COUNT,
    }


@kept
def _with_readings(schema: Schema, seed: int) -> Database:
    from spanlab.query import Database
    from spanlab.storage.fitting import fitted_columns

    database = Database(schema)
    for table in database.tables_in_loading_order():
        if table.name.casefold() == "readings":
            database.load_columns(table.name, fitted_columns(table, _some_readings(seed)))
    return database


class Readings(Design):
    """The readings, with whatever was added to them."""

    def __init__(self, answer: str, before: str, seed: int) -> None:
        super().__init__(
            answer,
            "Readings",
            given=before,
            writes_per_second=12_000,
            values={"TakenAt": "now", "ProbeId": "celebrity(5000, .2)", "Celsius": "const(20)"},
            nodes=12,
            seed=seed,
            rows=lambda schema: _with_readings(schema, seed),
        )
        self.indexes: tuple[Index, ...] = tuple(self.schema.indexes_on("Readings"))
        self._know_shards()

    def _know_shards(self) -> None:
        """Tells the simulator what a shard is whose expression it cannot follow: as the readings fill it.

        Of a shard that follows from ProbeId these readings say nothing: none of their probes is as loud as the one of
        the workload.
        """
        for column in self.shards().values():
            try:
                _ = self.summary
            except ValueError:
                alike = len(self.in_a_second(column)) == 1
                law = "const(0)" if alike else sampled_law(self, column.name, _some_readings(self.seed), "TakenAt")
                if law and not _by_probe(self):
                    self.values[column.name] = law

    def in_a_second(self, column: Column) -> Counter[Any]:
        """How many of the readings of one second have each value of a column."""
        found = self.database.query(f"SELECT `{column.name}` FROM Readings ORDER BY TakenAt LIMIT {_COUNT // 2}")
        return Counter(value for (value,) in found.rows)

    def shards(self) -> dict[str, Column]:
        """Index name -> its first column, where the schema fills that column and the answer added it."""
        found = {}
        for index in self.indexes:
            column = self.table.column(index.key[0].column)
            if column is not None and column.name != "ReadingId" and column.filled_by_schema:
                found[index.name] = column
        return found

    def sizes(self, column: Column) -> Counter[Any]:
        """How many readings have each value of a column."""
        return Counter(value for (value,) in self.ask(f"SELECT `{column.name}` FROM Readings").rows)

    @cached_property
    def newest(self) -> Result | None:
        """The newest 20 of one shard, by the first index that begins with one; None where there is none."""
        for name, column in self.shards().items():
            usable = [value for value in self.sizes(column) if value is not None and not _negative(value)]
            if not usable:
                continue
            shard = min(usable, key=repr)
            query = (
                f"SELECT ReadingId, TakenAt FROM Readings@{{FORCE_INDEX={name}}} WHERE {column.name} = @shard "
                f"AND TakenAt IS NOT NULL ORDER BY TakenAt DESC LIMIT {_NEWEST}"
            )
            return self.database.query(query, {"shard": shard})
        return None

    def written_keys(self) -> list[list[str]]:
        """The key columns of each index, as written."""
        return [index_columns(index) for index in self.indexes]


def _negative(value: object) -> bool:
    return isinstance(value, int) and value < 0


def _are_shards(sizes: Counter[Any]) -> bool:
    """A few values; whole numbers leave none out, and none is negative."""
    if None in sizes:
        return False
    numbers = [value for value in sizes if isinstance(value, int)]
    gapless = not numbers or (min(numbers) >= 0 and max(numbers) - min(numbers) == len(sizes) - 1)
    return 2 <= len(sizes) <= _MOST_SHARDS and gapless


def _readings(answer: str, seed: int) -> Readings | Refused:
    before = _before(answer, _READINGS)
    return before if isinstance(before, Refused) else Readings(answer, before, seed)


def _bears(design: Readings) -> Outcome:
    if not any("takenat" in key and key[0] != "readingid" for key in design.written_keys()):
        return Outcome(0.0, "no index has its readings in order of time")
    if design.shards() and _follows_clock(design):
        return Outcome(0.0, "all readings of a moment have one shard")
    got, offered = design.summary["committed"], design.summary["offered"]
    return Outcome(float(got >= _ENOUGH), f"{got:,.0f} of {offered:,.0f} readings/s commit")


def _begins_with_shard(design: Readings) -> Outcome:
    seen = "no index begins with a column that the schema fills"
    for name, column in design.shards().items():
        sizes = design.sizes(column)
        if None in sizes:
            seen = f"{column.name} is NULL in some rows"
            continue
        if _are_shards(sizes):
            return Outcome(1.0, f"{column.name} has {len(sizes)} values, {min(sizes)} to {max(sizes)}, in {name}")
        seen = f"{column.name} has {len(sizes):,} value{'s' * (len(sizes) != 1)}, {min(sizes)} to {max(sizes)}"
    return Outcome(0.0, seen)


def _newest_first(design: Readings) -> Outcome:
    result = design.newest
    if result is None:
        return Outcome(0.0, "there is no shard to ask")
    plan, right = result.plan, len(result.rows) == _NEWEST
    sorting = "sorts" if plan.sorts else "does not sort"
    return Outcome(
        float(right and plan.scanned <= _NEWEST and plan.sorts == 0), f"it reads {plan.scanned:,} rows and {sorting}"
    )


def _shard_of(design: Readings, when: Callable[[Counter[Any]], bool]) -> bool:
    """Whether something holds of the values of the first shard."""
    return any(when(design.sizes(column)) for column in design.shards().values())


def _shard_reads(design: Readings) -> set[str]:
    """The columns that shards are computed from, in small letters."""
    from spanlab.sql import parse_expression
    from spanlab.sql.expressions import columns_in

    expressions = [column.generated for column in design.shards().values() if column.generated]
    return {name.casefold() for text in expressions for name in columns_in(parse_expression(text))}


def _follows_clock(design: Readings) -> bool:
    """Whether all readings of a moment have one shard."""
    shards = design.shards().values()
    return "takenat" in _shard_reads(design) and all(len(design.in_a_second(shard)) == 1 for shard in shards)


def _uneven(design: Readings) -> bool:
    """Whether there are shards enough, and one of them holds much more than its share."""
    if _by_probe(design) or _follows_clock(design):
        return False
    short = design.summary["committed"] < _ENOUGH
    return short and _shard_of(
        design, lambda sizes: _are_shards(sizes) and max(sizes.values()) * len(sizes) > _UNEVEN * sizes.total()
    )


def _by_probe(design: Readings) -> bool:
    return _shard_reads(design) == {"probeid"}


def _after_shard(design: Readings) -> list[list[tuple[str, bool]]]:
    """What follows the shard in each index that begins with one: (column in small letters, whether DESC)."""
    led = [index for index in design.indexes if index.name in design.shards()]
    return [[(part.column.casefold(), part.desc) for part in index.key[1:]] for index in led]


def _added_unfilled(design: Readings) -> bool:
    given = {"readingid", "probeid", "takenat", "celsius"}
    added = [c for c in design.table.columns if c.name.casefold() not in given]
    return any(not column.filled_by_schema for column in added)


_SAFE = "MOD(MOD(FARM_FINGERPRINT({id}), {n}) + {n}, {n})"


def _lanes(n: int = 8, *, of: str = "ReadingId", shard: str = _SAFE, key: str = "ShardId, TakenAt DESC") -> str:
    return (
        f"ALTER TABLE Readings ADD COLUMN ShardId INT64 AS ({shard.format(id=of, n=n)}) STORED; "
        f"CREATE INDEX ReadingsByShard ON Readings ({key})"
    )


newest_readings = Challenge(
    id="8.5",
    title="Newest readings, all devices",
    points=2,
    kind=ddl(),
    look=_readings,
    criteria=(
        Criterion(50, f"with an index that can list the newest, at least {_ENOUGH:,} readings/s commit", _bears),
        Criterion(
            25,
            f"an index begins with a shard that the schema fills, with values 0 to N−1, N at most {_MOST_SHARDS}",
            _begins_with_shard,
        ),
        Criterion(25, f"the newest {_NEWEST} of a shard are {_NEWEST} rows read, and no sort", _newest_first),
    ),
    wrong=(
        WrongAnswer(
            "CREATE INDEX ReadingsByTime ON Readings (TakenAt DESC)",
            "The index is led by time: 1,800 entries/s, and each reading waits for its entry. DESC only moves the "
            "busy end to the other side.",
            lambda d: any(key[0] == "takenat" and len(key) == 1 for key in d.written_keys()),
        ),
        WrongAnswer(
            _lanes(of="ProbeId"),
            "The shard comes from ProbeId, and a probe stays in one shard. One of them makes 20 % of the readings: "
            "with 8 shards about 5,900 a second commit.",
            _by_probe,
        ),
        WrongAnswer(
            _lanes(shard="MOD(FARM_FINGERPRINT({id}), {n})"),
            "MOD keeps the sign: with N = 8 the shards run from −7 to 7, and readers who ask 0 to 7 miss 44 % of the "
            "rows.",
            lambda d: _shard_of(d, lambda sizes: len(sizes) <= _SHARD_LIKE and any(map(_negative, sizes))),
        ),
        WrongAnswer(
            _lanes(key="TakenAt DESC, ShardId"),
            "The shard stands in second place. The first column decides where an entry goes, and that is still time.",
            lambda d: any(key[0] == "takenat" and len(key) > 1 for key in d.written_keys()),
        ),
        WrongAnswer(
            "DROP TABLE Readings; CREATE TABLE Readings (ShardId INT64 NOT NULL, TakenAt TIMESTAMP, ReadingId "
            "STRING(36)) PRIMARY KEY (ShardId, TakenAt, ReadingId)",
            "The key of a table cannot change, and this one is spread already. A column and an index on it are enough.",
            _changes_table,
        ),
        WrongAnswer(
            _lanes(6),
            "Too few shards: each takes at most 1,800 entries/s. 12,000 ÷ 1,800 is 6.7.",
            lambda d: (
                not (_by_probe(d) or _follows_clock(d))
                and _shard_of(d, lambda sizes: len(sizes) <= 6 and not any(map(_negative, sizes)))
            ),
        ),
        WrongAnswer(
            _lanes(of="TakenAt", shard="MOD(UNIX_SECONDS({id}), {n})"),
            "This shard follows the clock: all readings of a second have the same one, and one range takes them all. "
            "Compute it from ReadingId.",
            _follows_clock,
        ),
        WrongAnswer(
            _lanes(64),
            f"Fast, but the newest overall are read from every shard, and more than {_MOST_SHARDS} are too many.",
            lambda d: _shard_of(d, lambda sizes: len(sizes) > _MOST_SHARDS),
        ),
        WrongAnswer(
            _lanes(4, shard="MOD(FARM_FINGERPRINT({id}), {n}) + {n} - 1"),
            "The shards are not evenly filled, and the fullest sets the pace. MOD keeps the sign, so remainder 0 comes "
            "twice as often as any other.",
            _uneven,
        ),
        WrongAnswer(
            _lanes(key="ShardId, TakenAt"),
            "The spread is right. But the newest are at the end of each shard, and Spanner does not scan backwards. "
            "Annotate TakenAt with DESC.",
            lambda d: any(key[:1] == [("takenat", False)] for key in _after_shard(d)),
        ),
        WrongAnswer(
            _lanes(key="ShardId"),
            "Inside a shard the entries are in no order of time: the newest are found by reading all of them.",
            lambda d: any(not key for key in _after_shard(d)),
        ),
        WrongAnswer(
            _lanes(key="ShardId, ProbeId, TakenAt DESC"),
            "ProbeId stands between: inside a shard the readings are in order of time for each probe only.",
            lambda d: any(key and key[0][0] != "takenat" for key in _after_shard(d)),
        ),
        WrongAnswer(
            "CREATE INDEX ReadingsByProbe ON Readings (ProbeId, TakenAt DESC)",
            "That orders the readings of each probe. The newest overall would be merged from 5,000 lists, and the loud "
            "probe has 20 % of the entries.",
            lambda d: any(key[0] == "probeid" for key in d.written_keys()),
        ),
        WrongAnswer(
            "ALTER TABLE Readings ADD COLUMN ShardId INT64; CREATE INDEX ByShard ON Readings (ShardId, TakenAt DESC)",
            "Nobody fills the new column. Let Spanner compute it from ReadingId: a generated column.",
            _added_unfilled,
        ),
        WrongAnswer(
            "CREATE INDEX ReadingsById ON Readings (ReadingId, TakenAt DESC)",
            "An index by ReadingId repeats the table: random ids first, so nothing lies in order of time.",
            lambda d: any(key[0] == "readingid" for key in d.written_keys()),
        ),
        WrongAnswer(
            _lanes().partition(";")[0],
            "There is the shard, and no index that begins with it.",
            lambda d: not d.indexes and not _added_unfilled(d),
        ),
        WrongAnswer(
            _lanes().replace("CREATE INDEX", "CREATE UNIQUE INDEX"),
            "UNIQUE is a rule, and nobody asked for it: of two readings that a shard gets in the same microsecond, the "
            "second would be refused.",
            lambda d: any(i.unique and i.name in d.shards() and "readingid" not in index_columns(i) for i in d.indexes),
            full=True,
        ),
    ),
    hints=(
        "The picture of lesson 3: stripes, each in order of time. Now in an index.",
        "A generated column, computed from what is different for each reading.",
        "ADD COLUMN ShardId INT64 AS (an even expression of lesson 3) STORED, then an index (ShardId, TakenAt DESC).",
    ),
    note="Each reading is two row writes, table and index: 12,000 a second are 24,000 row writes, which is 11 nodes at "
    "65 %. And a page of the newest 20 reads 20 from every shard.",
    topic=_TIME,
)

CHALLENGES = (how_small, without_proof, task_queue, next_risk, make_usable, four_shards, newest_readings)
