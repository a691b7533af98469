"""Lesson 5, Seeing heat: its two predictions and its four challenges."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from spanlab.course.challenge import Challenge, Criterion, Outcome, WrongAnswer
from spanlab.course.kinds import Choice, Fields, Number, OneOf, SomeOf, sql
from spanlab.errors import QueryError

TITLE = "Seeing heat"
_PICTURES = "Maintaining workloads: reading Key Visualizer"
_STATISTICS = "Maintaining workloads: reading Spanner's hot-split statistics"

old_table = Challenge(
    id="5.P1",
    title="Ninety days later",
    points=0,
    kind=Choice("abcd"),
    hints=(
        "All rows of the picture hold the same number of table rows. How many of those came in the last 15 minutes?",
    ),
    note="b: a flat line at the lower edge. The newest fifteen minutes are a sliver of ninety days, so all of it lies "
    "in the last row of the picture.",
    topic=_PICTURES,
)

two_bands = Challenge(
    id="5.P2",
    title="An index on the time",
    points=0,
    kind=Choice("abcd"),
    hints=("An index is sorted by its own key. Where does the next entry go, and where the next row of the table?",),
    note="b: even grain for the table, a diagonal for the index. The rows scatter, their index entries queue up.",
    topic=_PICTURES,
)


def _each(right: Mapping[str, str], names: Mapping[str, str]) -> tuple[Criterion, ...]:
    """One criterion for each field, all of the same weight; the right word is not told."""

    def measure(name: str) -> Callable[[Mapping[str, Any]], Outcome]:
        def look(answer: Mapping[str, Any]) -> Outcome:
            said = answer[name]
            return Outcome(float(said == right[name]), "you left it open" if said is ... else f"you say {said}")

        return look

    return tuple(Criterion(100 // len(right), names[name], measure(name)) for name in right)


def _says(name: str, *words: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda answer: answer[name] in words


# ------------------------------------------------------------------------------------------------- 5.1 Five pictures

_PATTERNS = OneOf(("even", "sequential", "hot_range", "roving", "sudden"))
_SHOWN = {"p1": "sequential", "p2": "even", "p3": "hot_range", "p4": "roving", "p5": "sudden"}

five_pictures = Challenge(
    id="5.1",
    title="Five pictures",
    points=3,
    kind=Fields(tuple((name, _PATTERNS) for name in _SHOWN)),
    criteria=_each(_SHOWN, {name: f"picture {name}" for name in _SHOWN}),
    wrong=(
        WrongAnswer(
            {**_SHOWN, "p1": "hot_range", "p3": "sequential"},
            "p1: follow the brightest point with your finger. Does it stay at its height?",
            _says("p1", "hot_range"),
        ),
        WrongAnswer(
            {**_SHOWN, "p1": "roving", "p4": "sequential"},
            "p4: one diagonal is the tail of the inserts. Several short slants are something that walks through the "
            "keys, again and again.",
            _says("p4", "sequential"),
        ),
        WrongAnswer(
            {**_SHOWN, "p3": "sequential"},
            "p3: the bright line never moves. It is the same rows all the time.",
            _says("p3", "sequential"),
        ),
        WrongAnswer(
            {**_SHOWN, "p5": "hot_range"},
            "p5: it begins half-way. Ask what was deployed at that minute.",
            _says("p5", "hot_range"),
        ),
        WrongAnswer(
            {**_SHOWN, "p1": "roving"},
            "p1: count the lines. There is one, from corner to corner, and it never begins anew.",
            _says("p1", "roving"),
        ),
        WrongAnswer(
            {**_SHOWN, "p1": "even"},
            "p1: in each column one range is far brighter than all others, so the load is not spread.",
            _says("p1", "even", "sudden"),
        ),
        WrongAnswer(
            {**_SHOWN, "p2": "sudden"},
            "p2: look at the left edge. The grain is there from the first column to the last.",
            _says("p2", "sudden"),
        ),
        WrongAnswer(
            {**_SHOWN, "p2": "hot_range"},
            "p2: find a line, standing or slanted. There is none: every range gets a little, always.",
            _says("p2", "hot_range", "sequential", "roving"),
        ),
        WrongAnswer(
            {**_SHOWN, "p3": "even"},
            "p3: below the grain there is more: one bright line, at one height, from the first column to the last.",
            _says("p3", "even", "roving", "sudden"),
        ),
        WrongAnswer(
            {**_SHOWN, "p4": "hot_range"},
            "p4: on the grain lie slanted lines. Follow one with a finger: its height changes.",
            _says("p4", "hot_range", "even", "sudden"),
        ),
        WrongAnswer(
            {**_SHOWN, "p5": "sequential"},
            "p5: nothing moves up or down here. What changes, changes at one minute, over the whole height.",
            _says("p5", "sequential", "roving"),
        ),
        WrongAnswer(
            {**_SHOWN, "p2": "sudden", "p5": "even"},
            "p5: the grain is even, that is true, but only in the second half. What did the first look like?",
            _says("p5", "even"),
        ),
    ),
    hints=(
        "Lay a finger on the brightest point and go to the right. Does it move up or down?",
        "If it moves: is it one line or several? If it stays: is there a line at all?",
        "One of the five begins in the middle, and one has no line and no beginning.",
    ),
    note="Colours are relative: a bright map may belong to a quiet database. The picture tells the kind of load, not "
    "whether it hurts.",
    topic=_PICTURES,
)

# ----------------------------------------------------------------------------------------------- 5.2 Which medicine?

_MEDICINES = OneOf(("key", "spread_row", "query", "index", "nodes"))
_CURES = {"r1": "key", "r2": "spread_row", "r3": "query", "r4": "index"}
_ROWS = {
    "r1": "r1, MOVING_HOT_SPOT at the end of Clicks",
    "r2": "r2, HOT_ROW in Totals",
    "r3": "r3, LARGE_SCAN_HOT_SPOT in Parts",
    "r4": "r4, MOVING_HOT_SPOT at the end of ByCreated",
}

which_medicine = Challenge(
    id="5.2",
    title="Which medicine?",
    points=3,
    kind=Fields(tuple((name, _MEDICINES) for name in _CURES)),
    criteria=_each(_CURES, _ROWS),
    wrong=(
        WrongAnswer(
            {**_CURES, "r4": "key"},
            "r4: the range belongs to the index ByCreated. The key of the table is innocent.",
            _says("r4", "key"),
        ),
        WrongAnswer(
            {**_CURES, "r2": "key"},
            "r2: the key is fine. One row is popular, and another key for it leaves it one row.",
            _says("r2", "key"),
        ),
        WrongAnswer(
            {**_CURES, "r3": "spread_row"},
            "r3: no row is popular here. The load is a scan over many rows: let it read less.",
            _says("r3", "spread_row"),
        ),
        WrongAnswer(
            {**_CURES, "r1": "nodes"},
            "nodes: no. Each of these ranges has one leader, and a new node does not divide the range.",
            lambda answer: "nodes" in answer.values(),
        ),
        WrongAnswer(
            {**_CURES, "r1": "index"},
            "r1: this range belongs to the table Clicks itself. An index helps readers; these are inserts.",
            _says("r1", "index"),
        ),
        WrongAnswer(
            {**_CURES, "r3": "index"},
            "r3: the range names the table Parts, not an index of it, and the load is a scan: somebody reads too much.",
            _says("r3", "index"),
        ),
        WrongAnswer(
            {**_CURES, "r3": "key"},
            "r3: no insert point moves here. Whoever scans 890 parts scans them under another key as well.",
            _says("r3", "key"),
        ),
        WrongAnswer(
            {**_CURES, "r1": "spread_row", "r2": "key"},
            "r1: no single row is hot. The place of the inserts moves, since the key grows.",
            _says("r1", "spread_row", "query"),
        ),
        WrongAnswer(
            {**_CURES, "r2": "query", "r3": "spread_row"},
            "r2: the reason says one row, in the table itself. It cannot be divided, but its content can be.",
            _says("r2", "query", "index"),
        ),
        WrongAnswer(
            {**_CURES, "r4": "spread_row", "r2": "index"},
            "r4: the start names the index, and the place moves: its first column grows with time.",
            _says("r4", "spread_row", "query"),
        ),
    ),
    hints=(
        "Read the start of the range first: is it a table or an index?",
        "Then read the reason: does the place move, is it one row, or is it a scan?",
        "Four of the five medicines are used, each once. The one that is left over cures no hotspot.",
    ),
    note="The start of the range names the index, AFFECTED_TABLES only its table: people who read one of the two "
    "re-key an innocent table.",
    topic=_STATISTICS,
)

# ------------------------------------------------------------------------------------------ 5.3 Ten minutes in one row

_REASONS = SomeOf(("HOT_ROW", "MOVING_HOT_SPOT", "LARGE_SCAN_HOT_SPOT", "UNISOLATABLE_HOT_ROW", "UNSPECIFIED"))
_BOTH = ("HOT_ROW", "LARGE_SCAN_HOT_SPOT")


def _score(answer: Mapping[str, Any]) -> Outcome:
    said = answer["score"]
    return Outcome(float(said == 97), "you left it open" if said is ... else f"you say {said}")


def _reasons(answer: Mapping[str, Any]) -> Outcome:
    said = answer["reasons"]
    if said is ...:
        return Outcome(0.0, "you name none")
    return Outcome(float(said == _BOTH), f"you name {' and '.join(said)}")


def _scored(low: float, high: float) -> Callable[[Mapping[str, Any]], bool]:
    return lambda answer: answer["score"] is not ... and low <= answer["score"] <= high


ten_minutes = Challenge(
    id="5.3",
    title="Ten minutes in one row",
    points=2,
    kind=Fields((("score", Number("score")), ("reasons", _REASONS))),
    criteria=(
        Criterion(50, "CPU_USAGE_SCORE of the ten minutes", _score),
        Criterion(50, "UNSPLITTABLE_REASONS of the ten minutes, in any order", _reasons),
    ),
    wrong=(
        WrongAnswer(
            {"score": 21, "reasons": list(_BOTH)},
            "That is the mean of all ten minutes, or of the busy ones. Not a mean is kept: the maximum.",
            lambda answer: _scored(21, 22)(answer) or _scored(53, 53)(answer) or _scored(76, 76)(answer),
        ),
        WrongAnswer(
            {"score": 97, "reasons": ["HOT_ROW"]},
            "The score of minute 2 wins, but its reason does not: reasons are united over the interval.",
            lambda answer: answer["reasons"] == ("HOT_ROW",),
        ),
        WrongAnswer(
            {"score": 212, "reasons": list(_BOTH)},
            "Scores are not added. None is ever above 100.",
            _scored(101, 1_000),
        ),
        WrongAnswer(
            {"score": 0, "reasons": []},
            "There is a row: the split was warm, 50 or more, in at least one minute, and that is enough to be listed.",
            _scored(0, 0),
        ),
    ),
    hints=(
        "Of all the minute scores one survives. Which would you keep, if you wanted to miss nothing?",
        "The row holds the MAX of the scores and the UNION of the reasons.",
        "The score is 97. And two different words were seen within the ten minutes.",
    ),
    note="So a ten-minute score of 97 can mean one bad minute. Look into the minute table before you act.",
    topic=_STATISTICS,
)

# ------------------------------------------------------------------------------------------------ 5.4 Ask the database

Row = tuple[object, ...]
_CLOCK = datetime(2026, 9, 21, tzinfo=UTC)
_COLUMNS = ("SPLIT_START", "SPLIT_LIMIT", "UNSPLITTABLE_REASONS")
_LENGTHS = {"MINUTE": 1, "10MINUTE": 10, "HOUR": 60}
# split start, limit, table, reason, minutes in which it was warm or hot, score of the first of them and of the others
_HISTORY = (
    ("Totals(2026)", "Totals(2027)", "Totals", "HOT_ROW", range(2, 4), 97, 61),
    ("Totals(2024)", "Totals(2025)", "Totals", None, range(5, 6), 50, 0),  # the least that counts as warm
    ("Clicks(700)", "<end>", "Clicks", None, range(6, 10), 74, 70),
    ("Parts(10)", "Parts(900)", "Parts", "LARGE_SCAN_HOT_SPOT", range(8, 9), 58, 0),
    ("Clicks(700)", "<end>", "Clicks", "MOVING_HOT_SPOT", range(10, 20), 100, 100),
    ("Parts(10)", "Parts(450)", "Parts", "LARGE_SCAN_HOT_SPOT", range(13, 15), 88, 92),
)


@dataclass
class Watched:
    """Twenty minutes of a database, as the split statistics have them; it remembers which of the tables were read."""

    seed: int
    asked: set[str] = field(default_factory=set)

    def split_stats(self, interval: str = "MINUTE") -> list[dict[str, object]]:
        """The warm and hot splits: MAX of the minutes' scores, UNION of their reasons (facts.md 1.4)."""
        self.asked.add(interval)
        random_, length = random.Random(self.seed), _LENGTHS[interval]
        found: dict[tuple[int, str, str, str], tuple[int, set[str]]] = {}
        for start, limit, table, reason, minutes, first, others in _HISTORY:
            less = random_.randrange(3)
            for minute in minutes:
                score = first if minute == minutes.start else others
                key = minute // length, start, limit, table
                most, reasons = found.setdefault(key, (0, set()))
                found[key] = max(most, score - less * (50 < score < 100)), reasons | ({reason} if reason else set())
        rows = [
            {
                "INTERVAL_END": _CLOCK + timedelta(minutes=length * (part + 1)),
                "SPLIT_START": start,
                "SPLIT_LIMIT": limit,
                "CPU_USAGE_SCORE": score,
                "AFFECTED_TABLES": [table],
                "UNSPLITTABLE_REASONS": sorted(reasons),
            }
            for (part, start, limit, table), (score, reasons) in found.items()
        ]
        return sorted(rows, key=lambda row: (row["INTERVAL_END"], row["SPLIT_START"]))


@dataclass(frozen=True)
class Listing:
    """What a query returned: start, limit and reasons of each row, and what the table that it read holds."""

    asked: frozenset[str]
    rows: tuple[Row, ...]
    held: tuple[tuple[Row, int], ...]
    other_table: bool = False

    @property
    def scores(self) -> list[int]:
        """The scores of the rows, in the order in which they came; of equal rows the hottest is thought to be first."""
        left = sorted(self.held, key=lambda pair: pair[1])
        found = []
        for row in self.rows:
            place = next((at for at in reversed(range(len(left))) if left[at][0] == row), None)
            if place is not None:
                found.append(left.pop(place)[1])
        return found


def _triples(rows: Iterable[Mapping[str, Any]]) -> list[Row]:
    return [(row["SPLIT_START"], row["SPLIT_LIMIT"], tuple(sorted(row["UNSPLITTABLE_REASONS"]))) for row in rows]


def _ask(answer: str, seed: int) -> Listing:
    from spanlab.query import Database
    from spanlab.schema import Schema

    watched = Watched(seed)
    database = Database(Schema())
    database.observe(watched)
    try:
        result = database.query(answer)
    except QueryError:
        if re.search(r"\bQUERY_STATS", answer, re.IGNORECASE):
            return Listing(frozenset(), (), (), other_table=True)
        raise
    asked = frozenset(watched.asked)
    stats = watched.split_stats(next(iter(asked))) if len(asked) == 1 else []
    held = tuple(zip(_triples(stats), [int(str(row["CPU_USAGE_SCORE"])) for row in stats], strict=True))
    return Listing(asked, tuple(_wanted_columns([name.upper() for name in result.columns], result.rows)), held)


def _wanted_columns(names: list[str], rows: Iterable[Row]) -> Iterable[Row]:
    """Start, limit and reasons of each row: by name, or the first three columns where they have other names."""
    if len(names) < len(_COLUMNS):
        return []
    places = [names.index(name) for name in _COLUMNS] if set(_COLUMNS) <= set(names) else [0, 1, 2]
    picked = [tuple(row[place] for place in places) for row in rows]
    return [(start, limit, tuple(sorted(why)) if isinstance(why, list) else why) for start, limit, why in picked]


def _right_table(listing: Listing) -> Outcome:
    if listing.asked:
        read = " and ".join(f"SPLIT_STATS_TOP_{interval}" for interval in sorted(listing.asked))
        return Outcome(float(listing.asked == {"10MINUTE"}), f"you read {read}")
    return Outcome(0.0, "you read a table of other statistics" if listing.other_table else "you read another table")


def _all_and_no_other(listing: Listing) -> Outcome:
    listed, held, right = len(listing.rows), len(listing.held), len(listing.scores)
    if not held:
        return Outcome(0.0, "none of them is")
    others = f", and {listed - right} others" * (listed > right)
    return Outcome(float(listed == right == held), f"{right} of {held} are{others}")


def _hottest_first(listing: Listing) -> Outcome:
    scores = listing.scores
    if not scores:
        return Outcome(0.0, "there is nothing to order")
    return Outcome(float(scores == sorted(scores, reverse=True)), f"the scores run {', '.join(map(str, scores))}")


def _coolest_first(listing: Listing) -> bool:
    return listing.scores == sorted(listing.scores) and not _hottest_first(listing).share and bool(listing.scores)


def _select(table: str, condition: str, order: str = " ORDER BY CPU_USAGE_SCORE DESC") -> str:
    return f"SELECT {', '.join(_COLUMNS)} FROM SPANNER_SYS.{table} WHERE CPU_USAGE_SCORE {condition}{order}"


ask_the_database = Challenge(
    id="5.4",
    title="Ask the database",
    points=2,
    kind=sql(),
    look=_ask,
    criteria=(
        Criterion(40, "the table of ten-minute intervals is read", _right_table),
        Criterion(40, "all its warm and hot splits are listed: start, limit, reasons", _all_and_no_other),
        Criterion(20, "the hottest come first", _hottest_first),
    ),
    wrong=(
        WrongAnswer(
            _select("SPLIT_STATS_TOP_10MINUTE", "= 100"),
            "Only 100 is hot, but 50 to 99 is warm, and the warm ones were asked for as well.",
            lambda listing: bool(listing.scores) and min(listing.scores) == 100,
        ),
        WrongAnswer(
            _select("SPLIT_STATS_TOP_10MINUTE", "> 50"),
            "A split with a score of exactly 50 is missing, and warm begins at 50: write >=.",
            lambda listing: len(listing.scores) == len(listing.held) - 1 and 50 not in listing.scores,
        ),
        WrongAnswer(
            _select("SPLIT_STATS_TOP_MINUTE", ">= 50"),
            "That table holds single minutes. The length of the interval is part of the name.",
            lambda listing: listing.asked == {"MINUTE"},
        ),
        WrongAnswer(
            _select("SPLIT_STATS_TOP_HOUR", ">= 50"),
            "That table holds whole hours. The length of the interval is part of the name.",
            lambda listing: listing.asked == {"HOUR"},
        ),
        WrongAnswer(
            _select("SPLIT_STATS_TOP_10MINUTE", ">= 50", order=""),
            "The rows do not come by their score. Without ORDER BY CPU_USAGE_SCORE no order is ever promised.",
            lambda listing: not _hottest_first(listing).share and not _coolest_first(listing) and bool(listing.scores),
        ),
        WrongAnswer(
            _select("SPLIT_STATS_TOP_10MINUTE", ">= 50", order=" ORDER BY CPU_USAGE_SCORE"),
            "ORDER BY sorts ascending unless told otherwise, so the coolest come first: add DESC.",
            lambda listing: _coolest_first(listing),
        ),
        WrongAnswer(
            _select("SPLIT_STATS_TOP_10MINUTE", ">= 50 AND INTERVAL_END = TIMESTAMP '2026-09-21T00:20:00Z'"),
            "That is one interval alone. The task asks for all intervals of the table.",
            lambda listing: listing.asked == {"10MINUTE"} and len(listing.scores) == 2,
        ),
        WrongAnswer(
            "SELECT TEXT FROM SPANNER_SYS.QUERY_STATS_TOP_10MINUTE ORDER BY AVG_CPU_SECONDS DESC",
            "QUERY_STATS lists queries. You were asked for splits.",
            lambda listing: listing.other_table,
        ),
    ),
    hints=(
        "The query of section 5 is nearly it. Which words of it have to change?",
        "The table is in the schema SPANNER_SYS, and its name ends in the length of the interval. Warm begins at 50.",
        "SELECT three columns FROM SPANNER_SYS.SPLIT_STATS_TOP_… WHERE the score is at least 50 ORDER BY it, DESC.",
    ),
    note="An empty result is good news: no split was warm.",
    topic=_STATISTICS,
)

CHALLENGES = (old_table, two_bands, five_pictures, which_medicine, ten_minutes, ask_the_database)
