"""Lesson 2, Scatter the keys: its prediction and its four challenges."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache

from spanlab.catalog import Column
from spanlab.course.challenge import Challenge, Criterion, Outcome, WrongAnswer
from spanlab.course.criteria import Design, Refused, committed, hottest, key_of, number_is, p99
from spanlab.course.criteria.unusual import changes_tables, with_sampled_laws
from spanlab.course.kinds import MultiChoice, Number, ddl
from spanlab.errors import SchemaError

TITLE = "Scatter the keys"
_TOPIC = "Storing data: ids that spread writes in Spanner"

prediction = Challenge(
    id="2.P1",
    title="Which of these ids spread?",
    points=0,
    kind=MultiChoice("abcd"),
    hints=("Take two ids that are made one after the other. Which of their bits are the same, the first or the last?",),
    note="c alone, UUIDv4. The other three begin with bits of a clock, so the ids of one moment are neighbours.",
    topic=_TOPIC,
)

# ------------------------------------------------------------------------------------------------- 2.1 Safe in front?

_SAFE = ("A", "D", "F")
_LETTERS = "ABCDEFGH"


def _safe_ones(answer: tuple[str, ...]) -> Outcome:
    """Each unsafe letter takes away what a safe one earns: whoever names all eight has chosen nothing."""
    safe = sum(letter in _SAFE for letter in answer)
    unsafe = len(answer) - safe
    return Outcome(max(0, safe - unsafe) / len(_SAFE), f"you name {safe} that are safe and {unsafe} that are not")


def _without(letter: str) -> Callable[[tuple[str, ...]], bool]:
    return lambda answer: letter not in answer


safe_in_front = Challenge(
    id="2.1",
    title="Safe in front?",
    points=2,
    kind=MultiChoice(_LETTERS),
    criteria=(
        Criterion(100, "all that are safe are named, and no other; each wrong letter cancels a right one", _safe_ones),
    ),
    wrong=(
        WrongAnswer(
            ["A", "B", "D", "F"],
            "B: in a UUIDv1 the fast, low bits of a clock lead. The insert point sweeps over the whole key space, and "
            "at any moment it is in one split.",
            lambda a: "B" in a,
        ),
        WrongAnswer(
            ["A", "C", "D", "F", "G"],
            "C and G: the first 48 bits of a ULID and of a UUIDv7 are milliseconds. The random part comes after them, "
            "too late to decide where a row goes.",
            lambda a: "C" in a or "G" in a,
        ),
        WrongAnswer(
            ["A", "D", "E", "F"],
            "E: padding with zeros keeps the order of the numbers; that is what it is for. The counter still grows.",
            lambda a: "E" in a,
        ),
        WrongAnswer(
            ["A", "D", "F", "H"],
            "H: the newest commit timestamp is always the largest, so each row goes behind the one before.",
            lambda a: "H" in a,
        ),
        WrongAnswer(
            ["A", "F"],
            "D is missing: an IDENTITY column of Spanner is bit-reversed; its numbers do not rise.",
            _without("D"),
        ),
        WrongAnswer(
            ["A", "D"],
            "F is missing: a hash of a value that differs in each row spreads like a random number.",
            _without("F"),
        ),
        WrongAnswer(
            ["D", "F"],
            "A is missing: NEW_UUID() makes a UUIDv4, 122 random bits.",
            _without("A"),
        ),
    ),
    hints=(
        "Imagine two rows, written one second apart, as two dots on the key line. Are they neighbours?",
        "Never mind how random the whole text looks: read its first bits or characters only.",
        "Three letters are right: one is random, one is a counter read backwards, one is a hash.",
    ),
    note="F is fine for spread. But two e-mail addresses can have the same hash, so the address must stay in the key, "
    "behind the hash.",
    topic=_TOPIC,
)

# ----------------------------------------------------------------------------------------------------- 2.2 Reverse it

reverse_it = Challenge(
    id="2.2",
    title="Reverse it",
    points=2,
    kind=Number("a fraction of 2^63"),
    criteria=(number_is(100, "BIT_REVERSE(12, TRUE) as a fraction of 2^63", 0.1875, within=0.001),),
    wrong=(
        WrongAnswer(
            0.75,
            "0.75 is 1100 read from the left, without reversing it. The lowest bit comes first, and it is 0.",
        ),
        WrongAnswer(
            0.375,
            "0.375 is BIT_REVERSE(12, FALSE) ÷ 2^63, which turns all 64 bits round. With TRUE the sign bit stays "
            "where it is, and the other 63 turn round.",
        ),
        WrongAnswer(
            0.09375,
            "0.09375 counts the sign bit as a place. With TRUE it stays where it is, and the 1/2 place is the first "
            "one after it.",
            lambda a: abs(a - 0.09375) < 0.005,
        ),
        WrongAnswer(
            1_729_382_256_910_270_464,
            "That is the value itself. A fraction is asked for: value ÷ 2^63.",
            lambda a: a > 1,
        ),
        WrongAnswer(
            0.125,
            "That is one of the two ones of 1100 alone. The 4 becomes 1/8 and the 8 becomes 1/16: add both.",
            lambda a: a in (0.125, 0.0625),
        ),
        WrongAnswer(
            12 / 2**63,
            "That is 12 ÷ 2^63, not reversed yet: turn the 63 digits round first.",
            lambda a: 0 < a < 1e-6,
        ),
        WrongAnswer(
            0.6875,
            "0.6875 is 13, in binary 1101. 12 is 8 + 4, without the 1.",
        ),
    ),
    hints=(
        "In the first picture, on the line of the reversed ids, the right dot lies between the dots 4 and 2.",
        "12 is 1100. The lowest bit becomes the 1/2 place, the next one the 1/4 place, and so on.",
        "0 · 1/2 + 0 · 1/4 + 1 · 1/8 + 1 · 1/16.",
    ),
    note="Numbers that follow each other differ in the lowest bit, which becomes the highest: 12 and 13 land half the "
    "key space apart.",
    topic=_TOPIC,
)

# -------------------------------------------------------------------------------------- 2.3 Sign-ups with whole numbers


_COLUMN_IN_DEFAULT, _NO_SUCH_KIND = "cannot read a column", "There is no sequence kind"
_WHICH_KIND, _NO_SEQUENCE = "Which kind of sequence", re.compile(r"There is no sequence (\w[\w.]*)\.(?:\s|$)")
_KIND = "ALTER DATABASE db SET OPTIONS (default_sequence_kind = 'bit_reversed_positive')"


class SignUps(Design):
    """The sign-ups of the campaign.

    `lacks` is a statement that Spanner misses in the answer and that was put before it, so that the rest can be
    measured all the same. Ids that the DDL does not fill come from where they come from today: the counter in the
    application.
    """

    def __init__(self, answer: str, seed: int, lacks: str = "") -> None:
        given = "; ".join(filter(None, (_members("MemberId INT64 NOT NULL") if changes_tables(answer) else "", lacks)))
        values = {"Email": "text(24)", "JoinedAt": "now"}
        super().__init__(answer, "Members", writes_per_second=9_000, values=values, nodes=8, seed=seed, given=given)
        self.lacks, self.unfilled_by_ddl = lacks, self.unfilled()
        self.values |= dict.fromkeys(self.unfilled_by_ddl, "seq")
        with_sampled_laws(self, _some_members(), "JoinedAt")


@cache
def _some_members() -> dict[str, list[object]]:
    """2,000 sign-ups, 9,000 a second."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    times: list[object] = [start + timedelta(seconds=n / 9_000) for n in range(2_000)]
    return {"JoinedAt": times, "Email": [f"member{n}@example.com" for n in range(2_000)]}


def _sign_ups(answer: str, seed: int) -> SignUps | Refused:
    try:
        return SignUps(answer, seed)
    except SchemaError as error:
        text, refused = str(error), error
    unknown = _NO_SEQUENCE.search(text)
    if not (unknown or any(known in text for known in (_WHICH_KIND, _COLUMN_IN_DEFAULT, _NO_SUCH_KIND))):
        raise refused
    try:
        lacks = f"CREATE SEQUENCE {unknown[1]} BIT_REVERSED_POSITIVE" if unknown else _KIND
        return SignUps(answer, seed, lacks)
    except SchemaError:
        return Refused(refused)


def _id_column(design: Design) -> Column | None:
    return design.table.column("MemberId")


def _has_id(test: Callable[[Column], bool]) -> Callable[[Design], bool]:
    """Whether there is a column MemberId, and the test holds for it."""
    return lambda design: (column := _id_column(design)) is not None and test(column)


def _from_the_application(design: Design) -> bool:
    """Whether the counter in the application is still at work, behind MemberId or behind what it is computed from."""
    return bool(design.unfilled_by_ddl) if isinstance(design, SignUps) else False


def _leads(design: Design, name: str) -> bool:
    return key_of(design)[0][0] == name


def _spanner_says(text: str) -> Callable[[Design | Refused], bool]:
    return lambda design: isinstance(design, Refused) and text in str(design.error)


def _has_hot_index(design: Design) -> bool:
    """Whether the table itself spreads, and an index on the time of the sign-up does not."""
    indexes = [design.schema.index_key(index)[0].column.casefold() for index in design.schema.indexes_on("Members")]
    return "joinedat" in indexes and design.summary["hottest_share"] <= 0.1


def _whole_number_filled(design: SignUps) -> Outcome:
    column = _id_column(design)
    if column is None:
        return Outcome(0.0, "there is no column MemberId")
    if column.type.name != "INT64":
        return Outcome(0.0, f"MemberId is {column.type}")
    if design.lacks:
        return Outcome(0.0, f"Spanner refuses it without {design.lacks}")
    filled = column.filled_by_schema and not design.unfilled_by_ddl
    return Outcome(float(filled), "it is" if filled else "the application still counts")


def _key_alone(design: Design) -> Outcome:
    key = [part.column for part in design.table.key]
    if [name.casefold() for name in key] != ["memberid"]:
        return Outcome(0.0, f"the key is ({', '.join(key)})")
    for name, type_name in (("MemberId", "INT64"), ("Email", "STRING"), ("JoinedAt", "TIMESTAMP")):
        column = design.table.column(name)
        if column is None or column.type.name != type_name:
            return Outcome(0.0, f"{name} is {column.type if column else 'missing'}")
        if name == "JoinedAt" and not column.commit_timestamp:
            return Outcome(0.0, "JoinedAt lacks OPTIONS (allow_commit_timestamp = true)")
    return Outcome(1.0, "it is, and they are")


def _members(id_column: str, key: str = "MemberId") -> str:
    return (
        f"CREATE TABLE Members ({id_column}, Email STRING(320) NOT NULL, JoinedAt TIMESTAMP NOT NULL OPTIONS "
        f"(allow_commit_timestamp = true)) PRIMARY KEY ({key})"
    )


_SHARD = "ShardId INT64 NOT NULL AS (ABS(MOD(FARM_FINGERPRINT(CAST(MemberId AS STRING)), 16))) STORED"

sign_ups = Challenge(
    id="2.3",
    title="Sign-ups with whole numbers",
    points=4,
    kind=ddl(),
    look=_sign_ups,
    criteria=(
        committed(40, 8_800),
        hottest(20, 0.10),
        Criterion(20, "MemberId is INT64, and the DDL says who fills it", _whole_number_filled),
        p99(10, 25),
        Criterion(10, "the whole number MemberId alone is the key, and Email and JoinedAt are kept", _key_alone),
    ),
    wrong=(
        WrongAnswer(
            _members("MemberId STRING(36) NOT NULL DEFAULT (GENERATE_UUID())"),
            "It spreads, but the task asks for INT64: with whole numbers, joins, foreign keys and index entries keep "
            "their 8 bytes.",
            _has_id(lambda column: column.type.name != "INT64"),
        ),
        WrongAnswer(
            _members("MemberId INT64 NOT NULL DEFAULT (BIT_REVERSE(MemberId, TRUE))"),
            "A DEFAULT cannot read another column, nor the one that it fills. Something must count: a sequence does.",
            _spanner_says(_COLUMN_IN_DEFAULT),
        ),
        WrongAnswer(
            _members("MemberId INT64 NOT NULL"),
            "Who fills MemberId? Still the counter in the application, so each new row goes behind the one before.",
            lambda d: _leads(d, "memberid") and len(key_of(d)) == 1 and d.unfilled_by_ddl == ["MemberId"],
        ),
        WrongAnswer(
            _members(f"MemberId INT64 NOT NULL, {_SHARD}", "ShardId, MemberId"),
            "A hash shard in front spreads the rows, but the ids still come from the counter in the application, and "
            "whoever refers to a member now needs two columns.",
            lambda d: len(key_of(d)) > 1 and not _leads(d, "email") and _from_the_application(d),
        ),
        WrongAnswer(
            "CREATE SEQUENCE MemberIds OPTIONS (sequence_kind = 'monotonic'); "
            + _members("MemberId INT64 NOT NULL DEFAULT (GET_NEXT_SEQUENCE_VALUE(SEQUENCE MemberIds))"),
            "Spanner has one kind of sequence only: bit_reversed_positive.",
            _spanner_says(_NO_SUCH_KIND),
        ),
        WrongAnswer(
            _members("MemberId INT64 NOT NULL AUTO_INCREMENT"),
            "The right idea, and one statement is missing before it: Spanner refuses AUTO_INCREMENT, and a counter "
            "without its kind, as long as the database has no default_sequence_kind.",
            lambda d: d.lacks == _KIND,
        ),
        WrongAnswer(
            _members("MemberId INT64 NOT NULL DEFAULT (GET_NEXT_SEQUENCE_VALUE(SEQUENCE MemberIds))"),
            "The right idea, and one statement is missing before it: CREATE SEQUENCE, with its sequence_kind.",
            lambda d: d.lacks.startswith("CREATE SEQUENCE"),
        ),
        WrongAnswer(
            _members("MemberId INT64 NOT NULL DEFAULT (GET_NEXT_SEQUENCE_VALUE(SEQUENCE MemberIds))")
            + "; CREATE SEQUENCE MemberIds OPTIONS (sequence_kind = 'bit_reversed_positive')",
            "Statements run from top to bottom: create the sequence before the table that reads it.",
            lambda d: isinstance(d, Refused) and bool(_NO_SEQUENCE.search(str(d.error))),
        ),
        WrongAnswer(
            "CREATE SEQUENCE MemberIds OPTIONS (sequence_kind = 'bit_reversed_positive'); "
            + _members(
                "MemberId INT64 NOT NULL DEFAULT (BIT_REVERSE(GET_NEXT_SEQUENCE_VALUE(SEQUENCE MemberIds), TRUE))"
            ),
            "The values of a sequence are reversed already. Reversed once more they are 1, 2, 3 … again.",
            _has_id(lambda column: "BIT_REVERSE" in (column.default or "").upper()),
        ),
        WrongAnswer(
            _members("OldId INT64 NOT NULL, MemberId INT64 NOT NULL AS (BIT_REVERSE(OldId, TRUE)) STORED"),
            "Reversing the old id scatters the rows. But the application still has to count; Spanner can do both.",
            _has_id(lambda column: "BIT_REVERSE" in (column.generated or "").upper()),
        ),
        WrongAnswer(
            _members("MemberId INT64 NOT NULL DEFAULT (UNIX_MICROS(CURRENT_TIMESTAMP()))"),
            "A time is no id: it only grows, and two sign-ups in the same microsecond would get the same number.",
            _has_id(lambda column: "CURRENT_TIMESTAMP" in (column.default or "").upper()),
        ),
        WrongAnswer(
            _members(
                "MemberId INT64 NOT NULL GENERATED BY DEFAULT AS IDENTITY (BIT_REVERSED_POSITIVE)", "JoinedAt, MemberId"
            ),
            "The ids scatter, but the key begins with the time of the sign-up, and the first column decides.",
            lambda d: _leads(d, "joinedat"),
        ),
        WrongAnswer(
            _members("MemberId INT64 NOT NULL", "Email"),
            "Addresses spread as well, for they come in no order. But now 320 characters are what every reference "
            "holds, and whoever changes the address moves the row. MemberId should be the key, made by the database.",
            lambda d: _leads(d, "email"),
        ),
        WrongAnswer(
            _members(
                f"MemberId INT64 NOT NULL GENERATED BY DEFAULT AS IDENTITY (BIT_REVERSED_POSITIVE), {_SHARD}",
                "ShardId, MemberId",
            ),
            "Ids that Spanner makes scatter by themselves and occur once. A second column in the key only makes every "
            "reference longer.",
            lambda d: (
                len(key_of(d)) > 1 and not d.unfilled_by_ddl and not _leads(d, "joinedat") and not _leads(d, "email")
            ),
        ),
        WrongAnswer(
            _members("MemberId INT64 NOT NULL GENERATED BY DEFAULT AS IDENTITY (BIT_REVERSED_POSITIVE)")
            + "; CREATE INDEX ByTime ON Members (JoinedAt)",
            "The table spreads now. But an index is a sorted table as well: this one is sorted by time, and every "
            "sign-up writes an entry at its end.",
            _has_hot_index,
        ),
        WrongAnswer(
            _members("MemberId INT64 NOT NULL GENERATED BY DEFAULT AS IDENTITY (BIT_REVERSED_POSITIVE)")
            + "; CREATE UNIQUE INDEX ByEmail ON Members (Email)",
            "An index that nobody asked for: its entry lies elsewhere, so each sign-up commits in two phases "
            "(lesson 7) and takes longer.",
            lambda d: not _has_hot_index(d) and bool(d.schema.indexes_on("Members")) and d.summary["p99_ms"] > 25,
        ),
        WrongAnswer(
            _members("MemberId INT64 NOT NULL AS (FARM_FINGERPRINT(Email)) STORED"),
            "Two addresses can have the same hash, and then the second member cannot sign up. A sequence "
            "never gives a number twice.",
            _has_id(lambda column: "FARM_FINGERPRINT" in (column.generated or "").upper()),
            full=True,
        ),
    ),
    hints=(
        "Eight equal servers, and ids as on the second line of the first picture: who hands out such numbers?",
        "Two ways are open: a SEQUENCE of the bit-reversed kind that a DEFAULT reads, or an IDENTITY column.",
        "First CREATE SEQUENCE with its sequence_kind, then DEFAULT (GET_NEXT_SEQUENCE_VALUE(SEQUENCE …)) for the id.",
    ),
    note="GET_NEXT_SEQUENCE_VALUE works in read-write transactions and in defaults only. And sorting by MemberId no "
    "longer means sorting by age: for that, JoinedAt is there.",
    topic=_TOPIC,
)

# --------------------------------------------------------------------------------- 2.4 What do 36 characters cost?

_SAVED_GB = 22.4  # (44 − 16) bytes × 4 places × 200 million
_PAID_IN_PART = {16.8: 0.4, 5.6: 0.2}
"""The table forgotten; all three indexes forgotten, which are what the question is about."""


def _near(value: float) -> Callable[[float], bool]:
    return lambda answer: abs(answer - value) <= 0.02 * value


def _saved(answer: float) -> Outcome:
    shares = {_SAVED_GB: 1.0, **_PAID_IN_PART}
    return Outcome(next((shares[gb] for gb in shares if _near(gb)(answer)), 0.0), f"you say {answer:,} GB")


long_ids = Challenge(
    id="2.4",
    title="What do 36 characters cost?",
    points=2,
    kind=Number("GB"),
    criteria=(Criterion(100, "GB of key data less, within 2 %", _saved),),
    wrong=(
        WrongAnswer(
            5.6,
            "5.6 GB is the table alone. Every index entry holds the key once more, so there are four places.",
            _near(5.6),
        ),
        WrongAnswer(16.8, "16.8 GB are the three indexes. The table itself counts as well.", _near(16.8)),
        WrongAnswer(
            28.8,
            "28.8 GB are the 36 characters alone. Both sides have 8 bytes of overhead, and INT64 takes 8 more: "
            "44 − 16 bytes a place.",
            _near(28.8),
        ),
        WrongAnswer(
            6.4,
            "6.4 GB is the native UUID against INT64. The question says STRING(36).",
            _near(6.4),
        ),
        WrongAnswer(
            16.0,
            "16 GB are 20 bytes a place: 44 − 24, which is the native UUID in place of INT64, or 36 − 16, with the "
            "8 bytes of overhead on one side only.",
            _near(16.0),
        ),
        WrongAnswer(35.2, "35.2 GB is STRING(36) alone. INT64 takes 16 bytes a place: subtract them.", _near(35.2)),
        WrongAnswer(0.0224, "Those look like TB. Give GB, of 10^9 bytes each.", _near(0.0224)),
        WrongAnswer(20.86, "That is in GiB, of 2^30 bytes. Here a GB has 10^9 bytes.", _near(20.86)),
        WrongAnswer(
            22_400_000_000,
            "Those look like bytes or MB. Give GB, of 10^9 bytes each.",
            lambda a: a > 1_000,
        ),
    ),
    hints=(
        "Draw a row of the table, and an entry of each index beside it. How often does MemberId stand there?",
        "In each place the key is 28 bytes shorter: 44 against 16.",
        "28 bytes, times four places, times 200 million; then divide by 10^9.",
    ),
    note="The native type UUID, 24 bytes, keeps most of that saving and needs no sequence. What INT64 gives up: the "
    "application can no longer make an id before it asks the database.",
    topic="Storing data: the size of keys and indexes",
)

CHALLENGES = (prediction, reverse_it, safe_in_front, sign_ups, long_ids)
