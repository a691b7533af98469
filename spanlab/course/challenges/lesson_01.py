"""Lesson 1, A key is an address: its prediction and its four challenges."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from spanlab.catalog import Column
from spanlab.course.challenge import Challenge, Criterion, Outcome, WrongAnswer
from spanlab.course.criteria import (
    Design,
    Refused,
    advice_lacks,
    committed,
    each_item,
    has_columns,
    hottest,
    key_of,
    number_is,
    p99,
)
from spanlab.course.criteria.unusual import changes_tables, with_sampled_laws
from spanlab.course.kinds import Choice, ListOf, Number, Ordering, ddl
from spanlab.errors import SchemaError

TITLE = "A key is an address"
_TOPIC = "Storing data: choosing a primary key for Spanner"

prediction = Challenge(
    id="1.P1",
    title="From 3 nodes to 30",
    points=0,
    kind=Choice("abcd"),
    hints=("Each new row goes to the split that owns its key. Which split is that, a second later?",),
    note="c: the same. Every new row is later than all others, so all go to the last split, and one leader "
    "serves that split.",
    topic=_TOPIC,
)

_KEYS = ("B4", "B40", "Kx", "T80", "t")

who_owns = Challenge(
    id="1.1",
    title="Who owns this key?",
    points=2,
    kind=ListOf(Number("split", whole=True), 5),
    criteria=each_item([f'split of "{key}"' for key in _KEYS], (1, 2, 3, 3, 4)),
    wrong=(
        WrongAnswer([0, 1, 2, 2, 3], "One too small throughout: the splits are numbered from 1.", lambda a: 0 in a),
        WrongAnswer(
            [2, 2, 3, 3, 4],
            '"B4": a shorter string that begins a longer one sorts before it, so B4 < B40.',
            lambda a: a[0] == 2 and 0 not in a,
        ),
        WrongAnswer(
            [1, 1, 3, 3, 4],
            '"B40": the start of a split belongs to it; a range is closed on the left, open on the right.',
            lambda a: a[1] == 1 and 0 not in a,
        ),
        WrongAnswer(
            [1, 2, 2, 3, 4],
            '"Kx": the border is "K" alone. "K" begins "Kx" and is shorter, so Kx comes after the border, in split 3.',
            lambda a: a[2] != 3 and 0 not in a,
        ),
        WrongAnswer(
            [1, 2, 3, 4, 4],
            '"T80": compare character by character: after the T, 8 < 9, so T80 < T9.',
            lambda a: a[3] == 4 and 0 not in a,
        ),
        WrongAnswer(
            [1, 2, 3, 3, 3],
            '"t": the order is by code point; small letters come after all capitals.',
            lambda a: a[4] in (1, 3) and 0 not in a,
        ),
    ),
    hints=(
        "Write the four borders in a row, and place each key between two of them.",
        "Strings are compared one code point after the other; a string that begins another is the smaller one.",
        "Exactly one of the five keys sits on a border. A border is the first key of the split to its right.",
    ),
    note="Study guides draw borders like 1000–1999, closed on both sides. Spanner's splits are [start, limit): "
    "the limit is the next one's start.",
    topic=_TOPIC,
)

_VISITS = (("7", 1), ("07", 1), ("10", 9), ("10", 12), ("10", None), (None, 5))
_VISITS_SORTED = ((None, 5), ("07", 1), ("10", 12), ("10", 9), ("10", None), ("7", 1))


def _whole_order(answer: tuple[tuple[str | None, int | None], ...]) -> Outcome:
    wrong = sum(a != b for a, b in zip(answer, _VISITS_SORTED, strict=True))
    return Outcome(
        float(not wrong), f"{wrong} of 6 keys stand elsewhere" if wrong else "all six stand where Spanner puts them"
    )


def _null_code_first(answer: tuple[tuple[str | None, int | None], ...]) -> Outcome:
    place = answer.index((None, 5)) + 1
    return Outcome(float(place == 1), f"it stands at place {place}")


def _null_number_last(answer: tuple[tuple[str | None, int | None], ...]) -> Outcome:
    last = [row for row in answer if row[0] == "10"][-1]
    return Outcome(float(last == ("10", None)), f'the group "10" ends with {last!r}')


in_order = Challenge(
    id="1.2",
    title="Put it in order",
    points=2,
    kind=Ordering(_VISITS),
    criteria=(
        Criterion(60, "the whole order", _whole_order),
        Criterion(20, "NULL comes first in the ascending column Code", _null_code_first),
        Criterion(20, "NULL comes last in the descending column Nr", _null_number_last),
    ),
    wrong=(
        WrongAnswer(
            [(None, 5), ("07", 1), ("7", 1), ("10", 12), ("10", 9), ("10", None)],
            "Code is text: '1' < '7', and the length does not matter, so \"10\" comes before \"7\".",
            lambda a: a.index(("7", 1)) < max(i for i, row in enumerate(a) if row[0] == "10"),
        ),
        WrongAnswer(
            [(None, 5), ("07", 1), ("10", 9), ("10", 12), ("10", None), ("7", 1)],
            "Nr is DESC: within one Code the larger number comes first, 12 before 9.",
            lambda a: a.index(("10", 9)) < a.index(("10", 12)),
        ),
        WrongAnswer(
            [(None, 5), ("07", 1), ("10", None), ("10", 12), ("10", 9), ("7", 1)],
            'NULL is the smallest value, and DESC turns the order round: within "10" it comes last.',
            lambda a: next(row for row in a if row[0] == "10") == ("10", None),
        ),
        WrongAnswer(
            [("07", 1), ("10", 12), ("10", 9), ("10", None), ("7", 1), (None, 5)],
            "Code is ascending: NULL comes before everything, so (None, 5) is the very first key.",
            lambda a: a[-1] == (None, 5),
        ),
    ),
    hints=(
        "Sort by Code alone first, and sort it as text.",
        "Within one Code the big numbers come first.",
        "NULL is smaller than any value. Ascending puts it first, descending last: apply that to both columns.",
    ),
    note="Zero-padding, '0007', makes text sort like numbers. The keys it makes still grow, so it is no cure "
    "for a hotspot.",
    topic=_TOPIC,
)

_HITS = {"HitAt": "now", "Path": "zipf(2000, 1.1)"}


_COMMIT_TIMESTAMP, _NO_KIND = "a commit timestamp column", "Which kind of sequence"


def _hits(answer: str, seed: int) -> Design | Refused:
    """The page hits. Changes to the table that is there (ALTER, DROP) are looked at as well as a new table."""
    try:
        return _design(answer, seed, given=_page_hits("HitAt") if changes_tables(answer) else "")
    except SchemaError as error:
        if _COMMIT_TIMESTAMP in str(error) or _NO_KIND in str(error):
            return Refused(error)
        raise


def _design(answer: str, seed: int, given: str) -> Design:
    load: dict[str, Any] = {"writes_per_second": 12_000, "values": _HITS, "nodes": 10, "seed": seed}
    return with_sampled_laws(Design(answer, "PageHits", given=given, **load), _some_hits(), "HitAt")


@cache
def _some_hits() -> dict[str, list[object]]:
    """2,000 hits, 12,000 a second, on pages of which few are popular."""
    draw, start = random.Random(1), datetime(2026, 1, 1, tzinfo=UTC)
    pages = draw.choices(range(2_000), [1 / (n + 1) ** 1.1 for n in range(2_000)], k=2_000)
    times = [start + timedelta(seconds=n / 12_000) for n in range(2_000)]
    return {"HitAt": list(times), "Path": [f"/page/{page}" for page in pages]}


def _page_hits(key: str, id_column: str = "") -> str:
    return (
        f"CREATE TABLE PageHits ({id_column}HitAt TIMESTAMP NOT NULL OPTIONS (allow_commit_timestamp = true), "
        f"Path STRING(2048)) PRIMARY KEY ({key})"
    )


def _first(design: Design) -> Column | None:
    return design.table.column(key_of(design)[0][0])


def _made_from_path(design: Design) -> bool:
    """Whether the key begins with something that is computed from the page alone, so that a page has one place."""
    first = _first(design)
    return first is not None and "path" in (first.generated or "").casefold()


def _is_another_time(design: Design) -> bool:
    """Whether the key begins with a time that is not HitAt, such as one that a DEFAULT takes from the clock."""
    first = _first(design)
    text = f"{first.type.name} {first.default or ''} {first.generated or ''}".upper() if first else ""
    return key_of(design)[0][0] != "hitat" and ("TIMESTAMP" in text or "CURRENT_DATE" in text or "DATE " in text)


def _has_few_shards(design: Design) -> bool:
    """Whether the key scatters over a few places that are then full, without a page's or a time's fault."""
    first = _first(design)
    computed = first is not None and bool(first.generated or first.default)
    full = 0.1 < design.summary["hottest_share"] < 0.99
    return computed and full and not _made_from_path(design) and not _is_another_time(design)


def _has_hot_index(design: Design) -> bool:
    """Whether the table itself spreads, and an index on the time does not."""
    indexes = [design.schema.index_key(index)[0].column.casefold() for index in design.schema.indexes_on("PageHits")]
    return "hitat" in indexes and design.summary["hottest_share"] <= 0.1


_RANDOM_ID = "HitId STRING(36) NOT NULL DEFAULT (GENERATE_UUID()), "

page_hits = Challenge(
    id="1.3",
    title="Page hits that pile up",
    points=4,
    kind=ddl(),
    look=_hits,
    criteria=(
        committed(40, 11_700),
        hottest(20, 0.10),
        p99(20, 25),
        has_columns(10, {"HitAt": "TIMESTAMP", "Path": "STRING"}, commit_timestamp="HitAt"),
        advice_lacks(10, ("SPL101", "SPL103"), "a key that begins with a time"),
    ),
    wrong=(
        WrongAnswer(
            _page_hits("HitAt DESC"),
            "DESC mirrors the order: now every insert goes to the first split instead of the last, and it is "
            "still one split.",
            lambda d: key_of(d)[0] == ("hitat", True),
        ),
        WrongAnswer(
            _page_hits("HitAt, HitId", _RANDOM_ID),
            "The first column decides where a row goes, and that is still the time. A random second column "
            "comes too late.",
            lambda d: len(key_of(d)) > 1 and key_of(d)[0] == ("hitat", False),
        ),
        WrongAnswer(
            _page_hits("HitAt"),
            "The key is still the time alone: the newest row is always the last one, so one split takes them all.",
            lambda d: key_of(d) == [("hitat", False)],
        ),
        WrongAnswer(
            _page_hits("Path, HitAt"),
            "Spread, but one popular page takes about a sixth of all hits and stays one growing tail. And two "
            "hits on one page in the same microsecond would have the same key.",
            lambda d: key_of(d)[0][0] == "path",
        ),
        WrongAnswer(
            _page_hits("PathHash, HitAt", "PathHash INT64 NOT NULL AS (FARM_FINGERPRINT(Path)) STORED, "),
            "The same page has the same hash, for ever. The popular page is still one growing tail, at another place.",
            _made_from_path,
        ),
        WrongAnswer(
            _page_hits(
                "Shard, HitAt", "Shard INT64 NOT NULL DEFAULT (ABS(MOD(FARM_FINGERPRINT(GENERATE_UUID()), 4))), "
            ),
            "Scattered, but over so few values that each is a full tail of its own, 1,800 writes/s each. With about "
            "twice 12,000 ÷ 1,800 values it would do; a random id has more values than anybody can count.",
            _has_few_shards,
        ),
        WrongAnswer(
            _page_hits("MadeAt", "MadeAt TIMESTAMP NOT NULL DEFAULT (CURRENT_TIMESTAMP()), "),
            "Another column, and again a time. Whatever its name is, the next value is larger than all before.",
            _is_another_time,
        ),
        WrongAnswer(
            _page_hits("HitId", _RANDOM_ID) + "; CREATE INDEX ByTime ON PageHits (HitAt)",
            "The table spreads now. But an index is a sorted table as well: this one is sorted by time, each hit "
            "writes an entry at its end, and the commit waits for that.",
            _has_hot_index,
        ),
        WrongAnswer(
            _page_hits(
                "Shard, HitAt",
                "Shard INT64 NOT NULL AS (ABS(MOD(FARM_FINGERPRINT(CAST(HitAt AS STRING)), 16))) STORED, ",
            ),
            "The idea is good, but a generated column cannot read a commit timestamp: while the row is written, that "
            "time is not known. Take something else that has many values, such as a random id.",
            lambda d: isinstance(d, Refused) and _COMMIT_TIMESTAMP in str(d.error),
        ),
        WrongAnswer(
            _page_hits("HitId", "HitId INT64 NOT NULL AUTO_INCREMENT, "),
            "A counter of Spanner's is a good idea, but its kind is missing; the line above names two ways to say it.",
            lambda d: isinstance(d, Refused) and _NO_KIND in str(d.error),
        ),
        WrongAnswer(
            _page_hits("HitId", "HitId INT64 NOT NULL, "),
            "Who makes HitId? The database needs a DEFAULT or an IDENTITY for it. A counter in the application "
            "would be the same tail again.",
            lambda d: d.unfilled() != [],
        ),
        WrongAnswer(
            "CREATE TABLE PageHits (HitId STRING(36) NOT NULL DEFAULT (GENERATE_UUID()), Path STRING(2048)) "
            "PRIMARY KEY (HitId)",
            "The time of the hit must survive: keep HitAt as a column. It only must not lead the key.",
            lambda d: d.table.column("HitAt") is None,
        ),
    ),
    hints=(
        "Which column decides where a new row goes? Write down the keys of the next ten rows: are they neighbours?",
        "The first column of the key should take many values in no order.",
        "Add a column whose DEFAULT makes a random id, and let that column alone be the key.",
    ),
    note='The price: "all hits of the last hour" is no longer one contiguous range. Lesson 3 buys part of it back.',
    topic=_TOPIC,
)

nodes_help = Challenge(
    id="1.4",
    title="When do nodes help?",
    points=2,
    kind=Number("nodes", whole=True),
    criteria=(number_is(100, "the smallest number of nodes that commits 12,000 writes/s", 4, partly={6: 0.5}),),
    wrong=(
        WrongAnswer(
            5,
            "Enough, but not the smallest number: with even load, divide and round up.",
            lambda a: a > 4 and a not in (6, 7),
        ),
        WrongAnswer(3, "3 nodes commit 3 × 3,500 = 10,500 row writes/s, fewer than 12,000."),
        WrongAnswer(6, "6 is right for the recommended 65 % CPU. The question asks for the bare minimum, at 100 %."),
        WrongAnswer(7, "7 comes from 1,800, which is the ceiling of one split. A node carries many splits."),
        WrongAnswer(
            1,
            "One busy server is the picture of the time key, and that one loses 10,200 of 12,000 "
            "writes/s. The UUID table uses every node.",
        ),
    ),
    hints=(
        "The load is even, so no single split is the limit. Which limit is left?",
        "One node commits 3,500 row writes/s at 100 % CPU.",
        "Divide the load by what one node commits, and round up.",
    ),
    note='For the table keyed by time the answer would be "no number": one split stays one split.',
    topic="Designing data processing: sizing Spanner",
)

CHALLENGES = (who_owns, in_order, prediction, page_hits, nodes_help)
