"""Lesson 9, Reading a plan: its prediction and its five challenges."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache, cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from spanlab.course.challenge import Challenge, Criterion, Outcome, WrongAnswer
from spanlab.course.criteria import Design, back_joins, each_item, kept, parameters_in, scanned, sorts
from spanlab.course.kinds import Choice, Fields, ListOf, Number, OneOf, ddl, sql
from spanlab.errors import QueryError

if TYPE_CHECKING:
    from spanlab.query import Database, Result
    from spanlab.schema import Schema

TITLE = "Reading a plan"
_TOPIC = "Querying: execution plans"

residual = Challenge(
    id="9.P1",
    title="Read, and dropped",
    points=0,
    kind=Choice("abc"),
    hints=("Which of the two conditions belongs to the key? Only that one decides what is read.",),
    note="b. ShopperId is the beginning of the key and becomes a range of 20 rows. Total is looked at row by row.",
    topic=_TOPIC,
)

# ------------------------------------------------------------------------------------------------ 9.1 Whose plan?

NAMES = ("point", "covering", "back_join", "aligned_join", "hash_group")
TREES = {"t1": "covering", "t2": "hash_group", "t3": "aligned_join", "t4": "point", "t5": "back_join"}
"""What the five printed trees are, by their order in the lesson."""


def _named(tree: str) -> Criterion:
    def measure(answer: Mapping[str, Any]) -> Outcome:
        given = answer[tree]
        seen = "you left it open" if given is ... else f"you say {given}"
        return Outcome(float(given == TREES[tree]), seen)

    return Criterion(20, f"the name of {tree}", measure)


def _taken(right: str, *for_: str) -> Callable[[Mapping[str, Any]], bool]:
    """Whether the tree that is `right` was called by one of these names."""
    return lambda answer: any(answer[tree] in for_ for tree, name in TREES.items() if name == right)


def _swapped(one: str, other: str) -> dict[str, str]:
    """The right answer with two names in each other's place."""
    turned = {one: other, other: one}
    return {tree: turned.get(name, name) for tree, name in TREES.items()}


def _called(right: str, name: str) -> dict[str, str]:
    """The right answer, but for one tree."""
    return {tree: name if known == right else known for tree, known in TREES.items()}


whose_plan = Challenge(
    id="9.1",
    title="Whose plan?",
    points=2,
    kind=Fields(tuple((tree, OneOf(NAMES)) for tree in TREES)),
    criteria=tuple(_named(tree) for tree in TREES),
    wrong=(
        WrongAnswer(
            _swapped("covering", "back_join"),
            "Count the scans: a covering plan has one, a look-up by key has one too. A back-join reads the index, "
            "then the table.",
            lambda a: (
                any(_taken(one, "back_join")(a) for one in ("covering", "point"))
                or _taken("back_join", "covering", "point", "hash_group")(a)
            ),
        ),
        WrongAnswer(
            _swapped("aligned_join", "back_join"),
            "aligned_join or back_join? Both apply one scan to another. In the aligned join the second scan seeks "
            "inside the same distributed level; a back-join sends batches, by a Distributed Cross Apply.",
            lambda a: _taken("aligned_join", "back_join")(a) or _taken("back_join", "aligned_join")(a),
        ),
        WrongAnswer(
            _called("hash_group", "covering"),
            "One scan, but above it are a Local and a Global Aggregate: rows are counted by group, in two steps.",
            _taken("hash_group", "covering", "point", "aligned_join"),
        ),
        WrongAnswer(
            _swapped("point", "covering"),
            "point or covering? The word before Scan tells: a covering plan has an Index Scan, the point look-up a "
            "Table Scan.",
            lambda a: _taken("point", "covering")(a) or _taken("covering", "point")(a),
        ),
        WrongAnswer(
            _called("hash_group", "back_join"),
            "Two aggregates are no second look-up: a back-join needs a second scan.",
            _taken("hash_group", "back_join"),
        ),
        WrongAnswer(
            _called("aligned_join", "point"),
            "Where two scans, of two tables, hang below a Cross Apply, the tables are joined.",
            _taken("aligned_join", "point", "covering", "hash_group"),
        ),
    ),
    hints=(
        "Count the scans of each tree first: three trees have one, two have two.",
        "Look for the word Aggregate; then for the word before each Scan.",
        "Two trees have two scans. Only in one of them a Distributed … Apply stands between the scans.",
    ),
    note="The word before Scan says whether a table or an index is read; Distributed says that other servers are "
    "asked. With these two words you find your way in a plan of any length.",
    topic=_TOPIC,
)

# ------------------------------------------------------------------------------------------------ 9.2 Seek or sift?

_ASKED = (
    "q1, ShopperId = @s",
    "q2, PurchaseId = @p",
    "q3, ShopperId = @s AND PurchaseId = @p",
    "q4, ShopperId = @s AND Status = 'OPEN'",
)
_READ = (20, 20_000, 1, 20)

seek_or_sift = Challenge(
    id="9.2",
    title="Seek or sift?",
    points=2,
    kind=ListOf(Number("rows", whole=True), 4),
    criteria=each_item(_ASKED, _READ),
    wrong=(
        WrongAnswer(
            [20, 1, 1, 20],
            "q2: PurchaseId is the second column of the key. Without ShopperId there is no prefix to seek, so every "
            "row is read to find the one.",
            lambda a: a[1] == 1,
        ),
        WrongAnswer(
            [20, 20, 1, 20],
            "q2 names no shopper: there is no range of keys to seek, of 20 rows or of any other number.",
            lambda a: a[1] not in (1, 20_000),
        ),
        WrongAnswer(
            [20, 20_000, 1, 1],
            "q4: Status is checked after reading. All 20 purchases of the shopper are read, however few are OPEN.",
            lambda a: a[3] < 20,
        ),
        WrongAnswer(
            [20, 20_000, 1, 400],
            "q4: 400 are the OPEN purchases of everybody. The seek goes to one shopper; Status chooses nothing.",
            lambda a: 20 < a[3] < 20_000,
        ),
        WrongAnswer(
            [20, 20_000, 1, 20_000],
            "q4: Status is in no key, but ShopperId still is: the seek goes to the 20 purchases of that shopper.",
            lambda a: a[3] >= 20_000,
        ),
        WrongAnswer(
            [20_000, 20_000, 1, 20],
            "q1: the beginning of a key is a range as well. The 20 purchases of one shopper lie side by side.",
            lambda a: a[0] > 20,
        ),
        WrongAnswer(
            [1, 20_000, 1, 20],
            "q1: ShopperId is only the first of two key columns: all 20 purchases of the shopper are read.",
            lambda a: a[0] < 20,
        ),
        WrongAnswer(
            [20, 20_000, 20, 20],
            "q3: both columns of the key are given, so the seek goes to the one row.",
            lambda a: a[2] != 1,
        ),
    ),
    hints=(
        "For each query: which columns of the key does it fix, from the first one on?",
        "A condition on anything else is a residual. It makes fewer rows come back, never fewer be read.",
        "Two of the four numbers are equal, and one is the whole table.",
    ),
    note="q2 is why an interleaved child that is asked for by its own id needs an index on that id.",
    topic=_TOPIC,
)

# ------------------------------------------------------------------------------------------------ 9.3 No sort, please

_NEWEST = "SELECT PurchaseId, BoughtAt, Total FROM Purchases ORDER BY BoughtAt DESC LIMIT 20"
_LIMIT = 20


@cache
def _shop_ddl() -> str:
    """Shoppers and their purchases, as the data set has them; nothing here asks for the items."""
    from spanlab.query import data

    return ";".join(data("shop").ddl.split(";")[:2])


def _filled(schema: Schema) -> Database:
    from spanlab.query import Database, data

    database = Database(schema)
    data("shop").into(database)
    return database


_shop = kept(_filled)


def _newest(answer: str, seed: int) -> Design:
    return Design(
        answer, "Purchases", given=_shop_ddl(), writes_per_second=50, values={}, nodes=1, seed=seed, rows=_shop
    )


def _index_keys(design: Design) -> list[list[tuple[str, bool]]]:
    """The keys of the indexes that the answer made, as (column, whether DESC)."""
    return [
        [(part.column.casefold(), part.desc) for part in index.key]
        for index in design.schema.indexes_on("Purchases")
        if not index.managed
    ]


def _within(key: list[tuple[str, bool]]) -> bool:
    """Whether BoughtAt is in the key of an index, but does not lead it."""
    return any(column == "boughtat" for column, _ in key[1:])


def _leads(column: str) -> Callable[[Design], bool]:
    return lambda design: any(key[0][0] == column for key in _index_keys(design))


no_sort = Challenge(
    id="9.3",
    title="No sort, please",
    points=2,
    kind=ddl(),
    look=_newest,
    criteria=(sorts(40, _NEWEST), scanned(30, _LIMIT, _NEWEST), back_joins(30, _NEWEST)),
    wrong=(
        WrongAnswer(
            "CREATE INDEX Newest ON Purchases (BoughtAt) STORING (Total)",
            "Ascending: the newest stand at the end, and Spanner does not scan backwards. So it reads all and sorts. "
            "Declare the column DESC.",
            lambda d: d.ask(_NEWEST).plan.sorts > 0 and any(key[0] == ("boughtat", False) for key in _index_keys(d)),
        ),
        WrongAnswer(
            "CREATE INDEX Newest ON Purchases (BoughtAt DESC)",
            "Order and limit are right. But Total is not in the index: 20 rows are fetched from the table for it.",
            lambda d: d.ask(_NEWEST).plan.sorts == 0 and d.ask(_NEWEST).plan.back_joins > 0,
        ),
        WrongAnswer(
            "CREATE INDEX Newest ON Purchases (Total, BoughtAt DESC)",
            "Total leads, so the index is in the order of the totals; BoughtAt counts only among equal ones. What "
            "need not be sought can be carried by STORING.",
            _leads("total"),
        ),
        WrongAnswer(
            "CREATE INDEX Newest ON Purchases (ShopperId, BoughtAt DESC) STORING (Total), INTERLEAVE IN Shoppers",
            "Here the newest of each shopper come first. The query asks for the newest of all.",
            _leads("shopperid"),
        ),
        WrongAnswer(
            "CREATE INDEX Newest ON Purchases (PurchaseId) STORING (BoughtAt, Total)",
            "A stored column has no order. It is BoughtAt that has to be the key.",
            lambda d: bool(_index_keys(d)) and not any(c == "boughtat" for key in _index_keys(d) for c, _ in key),
        ),
        WrongAnswer(
            "CREATE INDEX Newest ON Purchases (Status, BoughtAt DESC) STORING (Total)",
            "Another column leads, so BoughtAt is in order only among the rows that are equal there. It has to be the "
            "first.",
            lambda d: any(_within(key) and key[0][0] not in ("total", "shopperid") for key in _index_keys(d)),
        ),
        WrongAnswer(
            "CREATE INDEX Newest ON Purchases (BoughtAt DESC) STORING (Total); CREATE INDEX B ON Purchases (BoughtAt)",
            "The query reads one index only. The other is written with every purchase all the same; leave it out.",
            lambda d: len(_index_keys(d)) > 1,
            full=True,
        ),
        WrongAnswer(
            "CREATE UNIQUE INDEX Newest ON Purchases (BoughtAt DESC) STORING (Total)",
            "It does what was asked. But UNIQUE refuses the second purchase of the same moment; leave it out.",
            lambda d: (
                d.ask(_NEWEST).plan.sorts + d.ask(_NEWEST).plan.back_joins == 0
                and any(i.unique and not i.managed for i in d.schema.indexes_on("Purchases"))
                and not any(column == "purchaseid" for key in _index_keys(d) for column, _ in key)
            ),
            full=True,
        ),
    ),
    hints=(
        "In a good plan there is one Index Scan, it stops after 20 rows, and nothing above it sorts.",
        "Keep the rows in the order in which they are read: the newest first. Which word does that?",
        "BoughtAt DESC is the key; Total, which the query also wants, is cargo.",
    ),
    note="At 12,000 purchases a second this index would be the hotspot of lesson 7: its first column is the time. At "
    "50 a second it is harmless.",
    topic="Querying: order, limit and secondary indexes",
)

# ------------------------------------------------------------------------------------- 9.4 Prove the covered plan

_NARROW, _FULL = "PurchasesByBoughtAt", "PurchasesByBoughtAtFull"
_BOTH = f"""
CREATE INDEX {_NARROW} ON Purchases (BoughtAt);
CREATE INDEX {_FULL} ON Purchases (BoughtAt) STORING (Status, Total)"""
_OLD_ROWS = 200.0
_REFUSALS = ("for a statement FORCE_INDEX", "no index of that name", "There is no table PurchasesBy")


@cache
def _two_indexes() -> Database:
    """The shop with both indexes, and with statistics that are older than the second of them.

    When they were collected there were 200 purchases; of the new index the optimizer knows nothing. By these figures
    the narrow index with its back-joins looks cheaper.
    """
    from spanlab.query.statistics import DEFAULT_ROWS, Statistics
    from spanlab.schema import Schema

    class Old(Statistics):
        """What the optimizer knew then."""

        def rows(self, name: str) -> float:
            return {"Purchases": _OLD_ROWS, _NARROW: _OLD_ROWS}.get(name, DEFAULT_ROWS)

    database = _filled(Schema.from_ddl(f"{_shop_ddl()};{_BOTH}"))
    database.statistics = Old(database)
    return database


@cache
def _purchases() -> list[tuple[datetime, str, Any]]:
    """BoughtAt, Status and Total of every purchase."""
    return [(row["BoughtAt"], row["Status"], row["Total"]) for row in _two_indexes().rows("Purchases")]  # type: ignore[misc]


class Since:
    """A query for the purchases since a day, over a database with old statistics.

    Its one parameter may have any name. What Spanner says about a hint that it refuses is kept as `refusal`; every
    other QueryError is raised.
    """

    def __init__(self, text: str, seed: int) -> None:
        from spanlab.query import data

        self.text, self.day = text, data.day(90 - 7 * (seed % 12))
        self.names = sorted(parameters_in(text))
        params = {self.names[0]: self.day} if len(self.names) == 1 else {"d": self.day}
        self._result: Result | None = None
        self.refusal: QueryError | None = None
        try:
            self._result = _two_indexes().query(text, params)
        except QueryError as error:
            if not any(words in str(error) for words in _REFUSALS):
                raise
            self.refusal = error

    @property
    def result(self) -> Result:
        if self._result is None:
            raise self.refusal or QueryError("The query did not run.")
        return self._result

    def ask(self, sql: str = "") -> Result:
        """Its result, for the criteria of queries."""
        return self.result

    @cached_property
    def asked_for(self) -> list[tuple[datetime, str, Any]]:
        """BoughtAt, Status and Total of its rows, in whatever order the columns stand; [] where one is not there."""
        rows = self.result.rows
        places = _three_of(rows[0]) if rows else None
        return list(map(itemgetter(*places), rows)) if places else []

    @cached_property
    def follows_the_day(self) -> bool:
        """Whether it returns other rows for another day; where it is refused, or finds nothing, that cannot be seen."""
        from spanlab.query import data

        if self.refusal is not None or not self.result.rows:
            return True
        another = dict.fromkeys(self.names, data.day(95))
        return _two_indexes().query(self.text, another).rows != self.result.rows

    @property
    def complete(self) -> bool:
        """Whether its rows have the three columns."""
        return bool(self.asked_for)

    @cached_property
    def right(self) -> bool:
        """Whether it returns the purchases since the day; without a parameter, since whatever day its text names."""
        if not self.complete:
            return False
        first = self.day if self.names else min(at for at, _, _ in self.asked_for)
        wanted = [row for row in _purchases() if row[0] >= first]
        alike = len(wanted) == len(self.asked_for) < len(_purchases())
        return alike and Counter(wanted) == Counter(self.asked_for)

    @cached_property
    def read(self) -> list[str]:
        """The tables and indexes that its plan reads, each once, those of back-joins included."""
        return list(dict.fromkeys(node.target for node in self.result.plan if node.is_scan))

    @property
    def certain(self) -> bool:
        """Whether it finds its rows in the covering index and nowhere else."""
        from spanlab.query.plans import is_back_join

        scans = [node for node in self.result.plan if node.is_scan and not is_back_join(node)]
        return bool(scans) and all(node.target == _FULL for node in scans)


def _three_of(row: Sequence[Any]) -> tuple[int, int, int] | None:
    """The places of BoughtAt, Status and Total in a row, told by their values; None where one of them is not there."""
    from decimal import Decimal

    times = [place for place, value in enumerate(row) if isinstance(value, datetime)]
    states = [place for place, value in enumerate(row) if value in ("OPEN", "DONE")]
    totals = [place for place, value in enumerate(row) if isinstance(value, Decimal)]
    return (times[0], states[0], totals[0]) if times and states and totals else None


def _certainly(query: Since) -> Outcome:
    seen = f"from old statistics, it reads {' and '.join(query.read)}"
    if query.certain and not query.right:
        return Outcome(0.5, f"{seen}, but not the rows that are asked for")
    return Outcome(float(query.certain), seen)


def _fetches_none(query: Since) -> Outcome:
    if query.refusal is not None:
        return Outcome(0.0, "it is refused")
    fetched = query.result.plan.back_joins
    if not query.complete:
        return Outcome(0.0, "it does not return the three columns")
    if not query.result.plan.index_used:
        return Outcome(0.0, "it reads no index")
    return Outcome(float(fetched == 0), f"it fetches {fetched:,} rows")


def _day_is_parameter(query: Since) -> Outcome:
    if not query.names:
        return Outcome(0.0, "there is no parameter in it")
    said = f"@{', @'.join(query.names)}"
    return Outcome(1.0, said) if query.follows_the_day else Outcome(0.0, f"{said} makes no difference to the rows")


def _refused(words: str) -> Callable[[Since], bool]:
    return lambda query: query.refusal is not None and words in str(query.refusal)


def _unhinted(query: Since) -> bool:
    return "FORCE_INDEX" not in query.text.upper()


def _since(columns: str = "BoughtAt, Status, Total", hint: str = f"@{{FORCE_INDEX={_FULL}}}", day: str = "@d") -> str:
    return f"SELECT {columns} FROM Purchases{hint} WHERE BoughtAt >= {day}"


covered = Challenge(
    id="9.4",
    title="Prove the covered plan",
    points=2,
    kind=sql(),
    look=Since,
    criteria=(
        Criterion(50, f"whatever the statistics say, it reads {_FULL}", _certainly),
        Criterion(30, "for the three columns, no row is fetched from the base table", _fetches_none),
        Criterion(20, "the day is a parameter", _day_is_parameter),
    ),
    wrong=(
        WrongAnswer(
            f"@{{FORCE_INDEX={_FULL}}} {_since(hint='')}",
            "In front of SELECT it is a statement hint, and there FORCE_INDEX takes only _BASE_TABLE. The hint for one "
            "table stands right behind the name of that table.",
            _refused("for a statement FORCE_INDEX"),
        ),
        WrongAnswer(
            _since(hint=f"@{{FORCE_INDEX={_FULL}l}}"),
            "FORCE_INDEX is an order, not a wish: where no index has that name, the query is refused.",
            _refused("no index of that name"),
        ),
        WrongAnswer(
            _since().replace(f"Purchases@{{FORCE_INDEX={_FULL}}}", _FULL),
            "An index is no table: FROM names the table, and the hint behind it the index.",
            _refused("There is no table PurchasesBy"),
        ),
        WrongAnswer(
            _since(hint=""),
            "Without a hint the optimizer chooses. From old statistics it takes the narrow index here, and fetches.",
            lambda q: q.refusal is None and _unhinted(q),
        ),
        WrongAnswer(
            _since(hint=f" /*@ FORCE_INDEX={_FULL} */"),
            "/*@ … */ is the hint of the PostgreSQL dialect. In GoogleSQL it is a comment, and nobody reads it.",
            lambda q: "/*@" in q.text and _FULL not in q.read,
        ),
        WrongAnswer(
            _since(hint=f"@{{FORCE_INDEX={_NARROW}}}"),
            "That is the other index, without STORING: it is sure to be used, and so are the fetches.",
            lambda q: not _unhinted(q) and "/*@" not in q.text and _NARROW in q.read,
        ),
        WrongAnswer(
            _since(hint="@{FORCE_INDEX=_BASE_TABLE}"),
            "_BASE_TABLE forbids every index: the whole table is read.",
            lambda q: q.read == ["Purchases"] and not _unhinted(q) and "/*@" not in q.text,
        ),
        WrongAnswer(
            _since(columns="*"),
            "* asks for ShipDueAt too, which the index does not hold: the fetches return. Name the columns.",
            lambda q: q.certain and q.result.plan.back_joins > 0,
        ),
        WrongAnswer(
            _since(day="TIMESTAMP '2026-04-01T00:00:00Z'"),
            "With the day in its text each day is another text, and a plan is made for each.",
            lambda q: not q.names and len(q.result.rows) < len(_purchases()),
        ),
        WrongAnswer(
            _since().replace(" WHERE BoughtAt >= @d", ""),
            "No condition at all: it returns every purchase there is.",
            lambda q: len(q.result.rows) == len(_purchases()),
        ),
        WrongAnswer(
            _since(columns="BoughtAt, Total"),
            "Three columns were asked for: BoughtAt, Status, Total.",
            lambda q: not q.complete and bool(q.result.rows),
        ),
        WrongAnswer(
            _since().replace(">=", ">"),
            "“Since” has the beginning in it: a purchase at exactly that moment is lost with >.",
            lambda q: q.complete and bool(q.names) and _lost_only(q, q.day),
        ),
        WrongAnswer(
            _since().replace(">=", "<"),
            "Turned round: those are the purchases before that moment.",
            lambda q: q.complete and bool(q.names) and _latest(q) <= q.day and not _that_moment(q),
        ),
        WrongAnswer(
            _since().replace(">=", "="),
            "Those are the purchases of that one moment. “Since” means that moment and all that came later.",
            lambda q: q.complete and bool(q.names) and _that_moment(q),
        ),
    ),
    hints=(
        "A hint for one table sits at the name of that table, in FROM.",
        "FROM T@{…} WHERE …; an alias comes behind the brace.",
        f"FORCE_INDEX={_FULL}, spelled exactly: a wrong name is an error.",
    ),
    note="Take the hint out again when ANALYZE has run: it stays true when a better index comes, and the query fails "
    "when this one is dropped.",
    topic="Querying: hints",
)


def _latest(query: Since) -> datetime:
    return max(at for at, _, _ in query.asked_for)


def _that_moment(query: Since) -> bool:
    """Whether all its rows are of the moment that was asked for."""
    return {at for at, _, _ in query.asked_for} == {query.day}


def _lost_only(query: Since, moment: datetime) -> bool:
    """Whether nothing but the purchases of that one moment is missing."""
    lost = Counter(row for row in _purchases() if row[0] >= moment) - Counter(query.asked_for)
    return lost.total() > 0 and all(at == moment for at, _, _ in lost)


# ------------------------------------------------------------------------------------ 9.5 One plan for everyone

_BY_NAME = "CREATE INDEX ShoppersByName ON Shoppers (Name)"
_PREFIXES = 50


@cache
def _by_name() -> Database:
    from spanlab.schema import Schema

    return _filled(Schema.from_ddl(f"{_shop_ddl().split(';')[0]};{_BY_NAME}"))


@cache
def _shoppers() -> list[tuple[str, str]]:
    return [(str(row["ShopperId"]), str(row["Name"])) for row in _by_name().rows("Shoppers")]


def _with_text(text: str, prefix: str) -> str:
    """The query as the application would build it for this prefix: its first text literal has it, with its % if any.

    A literal with @ in it, '@prefix%', stays: who wrote it meant a parameter, and Spanner looks for the sign @.
    """
    from sqlglot import exp

    from spanlab.sql import canonical, parse_query

    tree = parse_query(text)
    literal = next((one for one in tree.find_all(exp.Literal) if one.is_string), None)
    if literal is None or "@" in literal.this:
        return text
    literal.set("this", prefix + "%" * literal.this.endswith("%"))
    return canonical(tree)


class Prefixes:
    """A query for the shoppers whose names begin with a text, asked for fifty such texts.

    Its one parameter may have any name. It gets the beginning, or for a pattern the beginning with %. Raises QueryError
    where the query does not parse, names what is not there, or has more parameters than the beginning can fill.
    """

    def __init__(self, text: str, seed: int) -> None:
        self.text, self.names = text, sorted(parameters_in(text))
        if len(self.names) > 1:
            raise QueryError(
                f"One parameter is filled here, with the beginning of the name; yours has @{', @'.join(self.names)}.",
                hint="a condition that needs the beginning only",
            )
        first = 10 + 15 * (seed % 60)
        self.prefixes = [f"Shopper {number}" for number in range(first, first + _PREFIXES)]
        self.pattern = ""
        if self.names and not self._finds(self._ask(self.prefixes[0]), self.prefixes[0]):
            self.pattern = "%" if self._finds(self._ask(self.prefixes[0], "%"), self.prefixes[0]) else ""
        _by_name().plan_cache.clear()
        self.results = {prefix: self._ask(prefix, self.pattern) for prefix in self.prefixes}
        self.compiled = _by_name().plan_cache.compiled

    def _ask(self, prefix: str, more: str = "") -> Result:
        text = self.text if self.names else _with_text(self.text, prefix)
        return _by_name().query(text, dict.fromkeys(self.names, prefix + more))

    @staticmethod
    def _finds(result: Result, prefix: str) -> bool:
        """Whether all shoppers that are asked for are among the rows, by their id or their name at least."""
        wanted = [one for one in _shoppers() if one[1].startswith(prefix)]
        values = {value for row in result.rows for value in row}
        return any({one[place] for one in wanted} <= values for place in (0, 1))

    @cached_property
    def found(self) -> bool:
        """Whether it has a beginning in it, and always returns all the shoppers of it, and perhaps more."""
        asks = bool(self.names) or self.compiled > 1
        return asks and all(self._finds(result, prefix) for prefix, result in self.results.items())

    @cached_property
    def whole(self) -> bool:
        """Whether its rows have both the id and the name."""
        names = dict(_shoppers())
        return all(any(names.get(value, ...) in row for value in row) for row in self.results[self.prefixes[0]].rows)

    @cached_property
    def right(self) -> bool:
        """Whether it always returns just those shoppers."""
        return self.found and not any(self.strange(prefix) for prefix in self.prefixes)

    def strange(self, prefix: str) -> int:
        """How many of the rows are not asked for."""
        wanted = sum(name.startswith(prefix) for _, name in _shoppers())
        return len(self.results[prefix].rows) - wanted

    @cached_property
    def most_read(self) -> tuple[int, int]:
        """The most rows that are read beyond those returned, as (read, returned)."""
        pairs = [(result.plan.scanned, len(result.rows)) for result in self.results.values()]
        return max(pairs, key=lambda pair: pair[0] - pair[1])


def _one_plan(query: Prefixes) -> Outcome:
    if not query.found:
        return Outcome(0.0, "it does not find the shoppers")
    plans = f"{query.compiled} plan{'s' * (query.compiled != 1)} for {_PREFIXES} beginnings"
    return Outcome(float(query.compiled == 1 and bool(query.names)), plans)


def _reads_matches(query: Prefixes) -> Outcome:
    read, returned = query.most_read
    seen = f"it reads up to {read:,} rows and returns {returned:,}"
    reached = float(query.right and 0 < read <= returned + 1)
    if reached and not query.whole:
        return Outcome(0.5, f"{seen}, without one of the two columns")
    return Outcome(reached, seen)


def _no_fetch(query: Prefixes) -> Outcome:
    if not query.found:
        return Outcome(0.0, "it does not find the shoppers")
    if not query.whole:
        return Outcome(0.0, "it does not return the two columns")
    if not _by_index(query):
        return Outcome(0.0, "it reads no index")
    fetched = sum(result.plan.back_joins for result in query.results.values())
    return Outcome(float(fetched == 0), f"it fetches {fetched:,} rows")


def _calls(*names: str) -> Callable[[Prefixes], bool]:
    """Whether one of these functions is called in the query."""
    return lambda query: any(f"{name}(" in query.text.upper().replace(" ", "") for name in names)


def _reads_all(query: Prefixes) -> bool:
    return query.most_read[0] == len(_shoppers())


def _quoted_parameter(query: Prefixes) -> bool:
    """Whether a parameter stands in quotes, where it is none."""
    return not query.names and bool(re.search(r"""['"]%?@\w+%?['"]""", query.text))


def _by_index(query: Prefixes) -> bool:
    return all(result.plan.index_used for result in query.results.values())


def _named_like(condition: str) -> str:
    return f"SELECT ShopperId, Name FROM Shoppers WHERE {condition}"


one_plan = Challenge(
    id="9.5",
    title="One plan for everyone",
    points=2,
    kind=sql(),
    look=Prefixes,
    criteria=(
        Criterion(40, f"one plan serves {_PREFIXES} beginnings of names", _one_plan),
        Criterion(40, "it returns those shoppers, and reads at most one row more", _reads_matches),
        Criterion(20, "no row is fetched from the base table", _no_fetch),
    ),
    wrong=(
        WrongAnswer(
            _named_like("Name LIKE @p"),
            "One plan. But what the pattern will be is unknown when the plan is made, it might begin with %: so the "
            "whole index is read.",
            lambda q: bool(q.names) and " LIKE " in q.text.upper() and not _calls("CONCAT")(q) and "||" not in q.text,
        ),
        WrongAnswer(
            _named_like("Name LIKE CONCAT(@p, '%')"),
            "The % is certain now, the rest is still a pattern that is unknown when the plan is made: the whole index "
            "is read.",
            lambda q: bool(q.names) and " LIKE " in q.text.upper() and (_calls("CONCAT")(q) or "||" in q.text),
        ),
        WrongAnswer(
            _named_like("Name >= @p"),
            "A seek, but with one end only: everything after these names is returned too.",
            lambda q: q.found and not q.right and not _reads_all(q),
        ),
        WrongAnswer(
            _named_like("Name LIKE 'Shopper 12%'"),
            "With the text in it, every beginning is another query: 50 plans. And whoever types the beginning can "
            "type SQL.",
            lambda q: not q.names and q.compiled > 1,
        ),
        WrongAnswer(
            _named_like("SUBSTR(Name, 1, LENGTH(@p)) = @p"),
            "One plan, and the right rows. But a function of the column is no range of the key: the whole index is "
            "read.",
            lambda q: q.right and _reads_all(q) and bool(q.names) and " LIKE " not in q.text.upper() and _by_index(q),
        ),
        WrongAnswer(
            _named_like("STARTS_WITH(Name, @p)").replace("Shoppers", "Shoppers@{FORCE_INDEX=_BASE_TABLE}"),
            "_BASE_TABLE keeps the query from the index: all 1,000 rows of the table are read.",
            lambda q: q.found and _reads_all(q) and not _by_index(q),
        ),
        WrongAnswer(
            _named_like("STARTS_WITH(@p, Name)"),
            "The column comes first: STARTS_WITH(text, beginning).",
            lambda q: not q.found and "STARTS_WITH(@" in q.text.upper().replace(" ", ""),
        ),
        WrongAnswer(
            _named_like("STARTS_WITH(Name, CONCAT(@p, '%'))"),
            "% is a sign of LIKE only. STARTS_WITH takes the beginning as it is; here it looks for names with a % in "
            "them.",
            lambda q: not q.found and _calls("STARTS_WITH")(q) and bool(q.names) and "%" in q.text,
        ),
        WrongAnswer(
            _named_like("Name LIKE '@p%'"),
            "In quotes it is no parameter but text: this looks for names that begin with the sign @. A parameter "
            "stands without quotes.",
            _quoted_parameter,
        ),
        WrongAnswer(
            _named_like("Name = @p"),
            "That finds the one name that is equal, not those that begin so.",
            lambda q: (
                not q.found
                and bool(q.names)
                and not _calls("STARTS_WITH")(q)
                and all(len(r.rows) <= 1 for r in q.results.values())
            ),
        ),
        WrongAnswer(
            "SELECT Name FROM Shoppers WHERE STARTS_WITH(Name, @p)",
            "ShopperId and Name were asked for; the index has both, the key of the table is in every entry.",
            lambda q: q.found and not q.whole,
        ),
        WrongAnswer(
            "SELECT ShopperId, Name FROM Shoppers",
            "All shoppers are returned, whoever is asked for. Where is the condition?",
            lambda q: not q.names and q.compiled <= 1 and not _quoted_parameter(q),
        ),
        WrongAnswer(
            _named_like("Name >= @p AND Name < CONCAT(@p, 'z')"),
            "It seeks as well, for these names. A name that goes on with a letter behind your upper bound (ž, 山) "
            "would be lost; STARTS_WITH loses none.",
            lambda q: (
                q.right
                and q.whole
                and bool(q.names)
                and "STARTS_WITH" not in q.text.upper()
                and bool(re.search(r"[<>]|\bBETWEEN\b", q.text.upper()))
            ),
            full=True,
        ),
    ),
    hints=(
        "Two things are wanted: one text for every beginning, and a condition that is a range of the key.",
        "The beginning comes as a parameter. Which function promises a prefix, whatever the parameter will be?",
        "STARTS_WITH(column, @parameter).",
    ),
    note="Parameters carry a type as well as a value: a NULL needs its type declared. And no name, however it is "
    "spelled, can break out of a parameter.",
    topic="Querying: parameters and plan reuse",
)

CHALLENGES = (residual, seek_or_sift, whose_plan, no_sort, covered, one_plan)
