"""Lesson 4, How Spanner cuts: its two predictions and its four challenges."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from spanlab.course.challenge import Challenge, Criterion, Outcome, WrongAnswer
from spanlab.course.criteria import committed, number_is, p99
from spanlab.course.kinds import Choice, Fields, Kind, Number, OneOf
from spanlab.errors import SpanlabError

TITLE = "How Spanner cuts"
_TOPIC = "Storing data: how Spanner splits by load and size, warm-up, pre-splitting, hot rows"

when_warm = Challenge(
    id="4.P1",
    title="The first minutes of a cold table",
    points=0,
    kind=Choice("abcd"),
    hints=("How many splits carry 20,000 writes/s? And how often must one become two until there are so many?",),
    note="c: after about 9 minutes. 20,000 writes/s need 12 splits; doubling reaches 16 of them after four rounds "
    "of two minutes, so all is committed from minute 9 on.",
    topic=_TOPIC,
)

due_dates = Challenge(
    id="4.P2",
    title="Fourteen days wide",
    points=0,
    kind=Choice("abc"),
    hints=("While a cut takes effect, the front moves on by two minutes. How much of fourteen days is that?",),
    note="b: much more. In the two minutes that a cut takes, the front moves by a ten-thousandth of its width, so a "
    "cut that was chosen in its middle is still in its middle.",
    topic=_TOPIC,
)

# ------------------------------------------------------------------------------------------------------- 4.1: warm-up

warm_up = Challenge(
    id="4.1",
    title="How long is the warm-up?",
    points=2,
    kind=Number("minute", whole=True),
    criteria=(number_is(100, "the first minute with at least 99 %", 11, within=1, partly={9: 0.5, 13: 0.5}),),
    wrong=(
        WrongAnswer(5, "Five doublings are right, but each takes two minutes."),
        WrongAnswer(1, "Only a table that was split beforehand starts at full speed."),
        WrongAnswer(
            2,
            "The first cut works after two minutes, and then there are two splits: 3,600 writes/s.",
            lambda minute: minute in (2, 3),
        ),
        WrongAnswer(9, "One doubling short: from minute 9 on there are 16 splits, and 16 × 1,800 is less than 40,000."),
        WrongAnswer(23, "So many splits are needed, but they do not come one by one: each round doubles them."),
        WrongAnswer(24, "That is the number of nodes. They bound how many splits can work; the cuts take their time."),
        WrongAnswer(
            45,
            "One cut after the other would take so long. But all busy splits are cut in the same round, so their "
            "number doubles.",
            lambda minute: 44 <= minute <= 47,
        ),
        WrongAnswer(13, "That is the first picture: 50,000 writes/s, which took 64 splits."),
    ),
    hints=(
        "How many splits carry 40,000 writes/s, if each commits 1,800?",
        "The number of splits doubles, so take the next power of two. How many doublings lead from 1 to it?",
        "Two minutes for each doubling, and the minute behind the last of them is the first good one.",
    ),
    note="A load test that ends after five minutes condemns a good schema. Warm a new table up, or pre-split it, "
    "before you judge it.",
    topic=_TOPIC,
)

# ------------------------------------------------------------------------------------------------------- 4.2: reasons

_REASONS = OneOf(("HOT_ROW", "MOVING_HOT_SPOT", "LARGE_SCAN_HOT_SPOT", "UNISOLATABLE_HOT_ROW", "UNSPECIFIED"))
_CASES = {
    "a": ("the daily total", "HOT_ROW"),
    "b": ("the log", "MOVING_HOT_SPOT"),
    "c": ("the dashboard", "LARGE_SCAN_HOT_SPOT"),
    "d": ("the narrow prefix", "UNISOLATABLE_HOT_ROW"),
}


def _reason(case: str) -> Criterion:
    name, right = _CASES[case]

    def measure(answer: dict[str, Any]) -> Outcome:
        said = answer[case]
        return Outcome(float(said == right), "you left it open" if said is ... else f"you say {said}")

    return Criterion(25, f"{case}, {name}", measure)


_RIGHT = {case: right for case, (_, right) in _CASES.items()}


def _mistaken(case: str, say: str, word: str, *others: str) -> WrongAnswer:
    """What to say to those who gave `word`, or one of the `others`, in a case."""
    return WrongAnswer({**_RIGHT, case: word}, say, lambda answer: answer[case] in (word, *others))


why_hot = Challenge(
    id="4.2",
    title="Why does it stay hot?",
    points=3,
    kind=Fields(tuple((case, _REASONS) for case in _CASES)),
    criteria=tuple(_reason(case) for case in _CASES),
    wrong=(
        _mistaken("a", "a: the place does not move. It is one row, all day.", "MOVING_HOT_SPOT"),
        _mistaken(
            "a",
            "a: count the rows that are written. There is one, and it stands alone.",
            "UNISOLATABLE_HOT_ROW",
            "LARGE_SCAN_HOT_SPOT",
        ),
        _mistaken("b", "b: every insert is another row. It is the place that moves on.", "HOT_ROW"),
        _mistaken(
            "b",
            "b: where does the insert of the next minute fall? Not where this one's fell.",
            "UNISOLATABLE_HOT_ROW",
            "LARGE_SCAN_HOT_SPOT",
        ),
        _mistaken(
            "c",
            "c: the load is a scan over a large range. Spanner avoids cutting such a range finely, since that would "
            "make the scan dearer.",
            "HOT_ROW",
        ),
        _mistaken(
            "c",
            "c: the range is the same every minute, and it is large: neither does the place move, nor is it narrow.",
            "MOVING_HOT_SPOT",
            "UNISOLATABLE_HOT_ROW",
        ),
        _mistaken("d", "d: several rows share the load, but no useful cut was found between them.", "HOT_ROW"),
        _mistaken(
            "d",
            "d: the thirty rows stay where they are, and nobody scans a large range.",
            "MOVING_HOT_SPOT",
            "LARGE_SCAN_HOT_SPOT",
        ),
        WrongAnswer(
            {**_RIGHT, "c": "UNSPECIFIED"},
            "UNSPECIFIED is for what fits none of the other reasons, and may pass. Each of these cases fits one, and "
            "lasts.",
            lambda answer: "UNSPECIFIED" in answer.values(),
        ),
    ),
    hints=(
        "Ask first: is it one row, or many?",
        "Then: does the hot place wander through the keys? Is it writes, or reads of a range?",
        "One case is one row, one wanders, one reads a range; in the last one, hot rows lie close together.",
    ),
    note="Reads can wander as well: a job that walks through the keys one by one also shows MOVING_HOT_SPOT.",
    topic="Maintaining workloads: reading Spanner's hot-split statistics",
)

# ------------------------------------------------------------------------------------------------------- 4.3: hot row

_MOST_ROWS = 16
_ALL = 8_820
"""Writes/s: 98 % of the 9,000 that are offered."""


@dataclass(frozen=True)
class Stamps:
    """One stamp, spread over `rows` rows, and what the simulator makes of the load in the last of 30 minutes."""

    rows: int
    summary: dict[str, Any]


def _stamps(rows: int, seed: int) -> Stamps:
    from spanlab.splits import simulate

    if rows < 1:
        raise SpanlabError(f"The stamp is spread over {rows} rows; it needs one row at least.")
    run = simulate(f"ids({min(rows, 10_000)})", writes_per_second=9_000, nodes=8, minutes=30, start="cold", seed=seed)
    return Stamps(rows, dict(run.summary()))


def _few_rows(stamps: Stamps) -> Outcome:
    """Few rows are no merit of their own: they count when the load commits."""
    seen = f"a reader looks at {stamps.rows:,} row{'s' * (stamps.rows != 1)}"
    if stamps.summary["committed"] < _ALL:
        return Outcome(0.0, f"{seen}, but not all commit")
    return Outcome(float(stamps.rows <= _MOST_ROWS), seen)


spread_row = Challenge(
    id="4.3",
    title="Split the hot row",
    points=2,
    kind=Number("rows", whole=True),
    look=_stamps,
    criteria=(
        committed(50, _ALL),
        p99(20, 40),
        Criterion(30, f"they do so while a reader looks at no more than {_MOST_ROWS} rows", _few_rows),
    ),
    wrong=(
        WrongAnswer(1, "One row is one split, for ever: 1,800 writes/s, and the reason is HOT_ROW."),
        WrongAnswer(
            5,
            "Exactly full: 9,000 = 5 × 1,800 leaves no air, so a queue builds up and the p99 is near 190 ms.",
        ),
        WrongAnswer(
            32,
            "Each read must look at all of these rows to find the newest; 16 were allowed.",
            lambda s: s.rows > _MOST_ROWS,
        ),
        WrongAnswer(
            4,
            "A row commits 1,800 writes/s, so four of them commit 7,200: too few for 9,000.",
            lambda s: 1 < s.rows < 5,
        ),
    ),
    hints=(
        "A single row lies in one split, so the ceiling of a row is the ceiling of a split.",
        "A split that is exactly full has a queue. Leave a fifth of each free.",
        "Plan with 1,500 writes/s a row: 9,000 ÷ 1,500. A few more do no harm, up to what a reader may look at.",
    ),
    note="In a schema: the key (MarkerId, Slot), Slot drawn at random; a reader takes the MAX over the slots. For a "
    "counter, which reads before it writes, locks are the tighter limit (11.5): append rows, and sum them up.",
    topic=_TOPIC,
)

# -------------------------------------------------------------------------------------------------- 4.4: a splits file

_SALE = "CREATE TABLE SaleOrders (OrderId STRING(36) NOT NULL, PlacedAt TIMESTAMP) PRIMARY KEY (OrderId)"
_ORDERS = 20_000


class Lines(Kind):
    """The lines of a file: a list of texts, or one text. Reads as a tuple of lines that are not blank."""

    wants = "a list of texts in quotes, one for each line of the file"

    def read(self, value: Any) -> tuple[str, ...]:
        lines = value.splitlines() if type(value) is str else value
        if type(lines) not in (list, tuple) or any(type(line) is not str for line in lines):
            raise self.refuse(value)
        if not (kept := tuple(line.strip() for line in lines if line.strip())):
            raise self.refuse(value)
        return kept


@lru_cache(maxsize=4)
def _uuids(seed: int) -> list[str]:
    source = random.Random(seed)
    digits = (f"{source.getrandbits(128):032x}" for _ in range(_ORDERS))
    return [f"{d[:8]}-{d[8:12]}-4{d[13:16]}-{'89ab'[int(d[16], 16) % 4]}{d[17:20]}-{d[20:]}" for d in digits]


@dataclass(frozen=True)
class Handed:
    """A splits file that was handed in: its lines, why lines are refused, its split points, the share of each part.

    `cuts` are read in whatever form their lines have, so that one mistake does not cost the points of another.
    """

    lines: tuple[str, ...]
    refused: tuple[str, ...]
    cuts: tuple[str, ...]
    shares: tuple[float, ...]


def _handed(lines: tuple[str, ...], seed: int) -> Handed:
    from spanlab.schema import Schema
    from spanlab.splits import route, splits_file

    schema, refused = Schema.from_ddl(_SALE), []
    for number, line in enumerate(lines):
        try:
            splits_file([*[""] * number, line], schema)
        except (ValueError, SpanlabError) as error:
            refused.append(str(error))
    values = (re.fullmatch(r"""(?:.*\()?\s*['"]?([^'"()]*?)['"]?\s*(?:\).*)?""", line) for line in lines)
    cuts = tuple(sorted({value[1] for value in values if value and value[1]}))
    owners = route(["<begin>", *cuts], _uuids(seed))
    shares = tuple(owners.count(part) / len(owners) for part in range(1, len(cuts) + 2))
    return Handed(lines, tuple(refused), cuts, shares)


def _readable(handed: Handed) -> Outcome:
    share = 1 - len(handed.refused) / len(handed.lines)
    return Outcome(share, handed.refused[0] if handed.refused else "it can")


def _even(handed: Handed) -> Outcome:
    right = sum(abs(share - 0.25) <= 0.02 for share in handed.shares) if len(handed.shares) == 4 else 0
    found = " · ".join(f"{100 * share:.1f} %" for share in handed.shares)
    return Outcome(right / 4, f"{len(handed.shares)} part{'s' * (len(handed.shares) != 1)}: {found}")


def _right_table(handed: Handed) -> Outcome:
    others = [line for line in handed.lines if not re.match(r"TABLE\s+SaleOrders\b", line, re.IGNORECASE)]
    return Outcome(float(not others), f"not so: {others[0][:40]}" if others else "all lines do")


def _cut_at(*values: str, form: str = "TABLE SaleOrders ('{}')") -> list[str]:
    return [form.format(value) for value in values]


def _some_line(pattern: str) -> Callable[[Handed], bool]:
    return lambda handed: any(re.match(pattern, line, re.IGNORECASE) for line in handed.lines)


def _cuts_begin(*starts: str) -> Callable[[Handed], bool]:
    """Whether the split points, in key order, begin so."""
    wanted = sorted(starts)
    return lambda handed: (
        len(handed.cuts) == len(wanted)
        and all(cut.startswith(start) for cut, start in zip(handed.cuts, wanted, strict=True))
    )


four_parts = Challenge(
    id="4.4",
    title="Four equal parts",
    points=3,
    kind=Lines(),
    look=_handed,
    criteria=(
        Criterion(30, "gcloud can read every line", _readable),
        Criterion(50, f"there are four parts, each with 25 ± 2 % of {_ORDERS:,} random UUIDs", _even),
        Criterion(20, "every line begins with TABLE SaleOrders", _right_table),
    ),
    wrong=(
        WrongAnswer(
            _cut_at("25000000", "50000000", "75000000"),
            "UUIDs are written in hexadecimal digits, of which there are sixteen: the quarters are at 4, 8 and c.",
            _cuts_begin("25", "50", "75"),
        ),
        WrongAnswer(
            _cut_at("4…", "8…", "c…"),
            "Dots are part of the key here: '4…' lies behind every id that begins with 4. The beginning of a key "
            "stands there without dots.",
            lambda handed: any("…" in cut or "..." in cut for cut in handed.cuts),
        ),
        WrongAnswer(
            _cut_at("0", "4", "8"),
            "No id lies before '0', so a cut there leaves the first part empty. The first part needs no line: it "
            "begins where the table begins.",
            lambda handed: any(not cut.strip("0-") for cut in handed.cuts),
        ),
        WrongAnswer(
            _cut_at("4", "8", "12"),
            "The key is text: '12' lies between '1' and '2'. The sixteen digits are 0 to 9 and a to f; number twelve "
            "is written c.",
            lambda handed: any(cut.startswith("12") for cut in handed.cuts),
        ),
        WrongAnswer(
            _cut_at("5", "9", "d"),
            "The digits begin with 0, so five of them, 0 to 4, lie before '5'. A quarter is four.",
            _cuts_begin("5", "9", "d"),
        ),
        WrongAnswer(
            _cut_at("3", "6", "9"),
            "Three first digits make less than a fifth of all ids, and seven, 9 to f, are left for the last part. A "
            "quarter of sixteen is four.",
            _cuts_begin("3", "6", "9"),
        ),
        WrongAnswer(
            _cut_at("4", "8"),
            "Each line is a cut, and each cut makes one part more: four parts take three lines.",
            lambda handed: len(handed.cuts) < 3,
        ),
        WrongAnswer(
            _cut_at("4", "8", "c", form="TABLE SaleOrders ('{}');"),
            "A splits file is no SQL: a line ends with its bracket, without a semicolon.",
            _some_line(r".*;\s*$"),
        ),
        WrongAnswer(
            _cut_at("4", "8", "c", form="SaleOrders ('{}')"),
            "The cuts are read, the lines are not: each begins with the word TABLE (or INDEX) and the name.",
            lambda handed: any(not re.match("TABLE|INDEX|ALTER|CREATE", line, re.IGNORECASE) for line in handed.lines),
        ),
        WrongAnswer(
            _cut_at("40000000", "80000000", "c0000000", form="TABLE SaleOrders ({})"),
            "The key is a STRING: in a splits file its values stand in single quotes.",
            _some_line(r"TABLE\s+SaleOrders\s*\(\s*[^'\s]"),
        ),
        WrongAnswer(
            _cut_at("40000000", "80000000", "C0000000"),
            "Capitals come after the digits and before all small letters: 'C' < 'a'. So the last part gets every id "
            "that begins with a to f, and the third only those with 8 and 9.",
            lambda handed: any(re.search("[A-F]", cut) for cut in handed.cuts),
        ),
        WrongAnswer(
            _cut_at("40000000", "80000000", "c0000000", "ffffffff"),
            "Three cuts make four parts; more lines make more parts.",
            lambda handed: len(handed.cuts) > 3,
        ),
        WrongAnswer(
            _cut_at("40000000", "80000000", "c0000000", form="ALTER TABLE SaleOrders SPLIT AT ('{}')"),
            "There is no such DDL: split points are no part of the schema. Each line is TABLE, the name, and the key.",
            _some_line("(ALTER|CREATE)"),
        ),
    ),
    hints=(
        "Picture all ids in order, from those that begin with 0 to those that begin with f. Where are the quarters?",
        "The first character of a UUID has sixteen values; a quarter of them is four.",
        "TABLE SaleOrders ('4') is the first line; two more are missing. The digits after 9 are a, b, c, d, e, f.",
    ),
    note="Four parts are practice: the 24 nodes of the sale would get about 240 points, in three requests of at most "
    "100. The price: a commit whose rows lie in several splits takes longer, and after ten days Spanner may merge what "
    "is cold.",
    topic="Storing data: pre-splitting a table for a known event",
)

CHALLENGES = (when_warm, warm_up, due_dates, why_hot, spread_row, four_parts)
