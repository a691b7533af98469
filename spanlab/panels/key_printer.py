"""Panel 2A and `key_line`: print some keys, and see where they land."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spanlab.charts import Figure, Scene
from spanlab.charts.key_line import PARTS, in_parts
from spanlab.charts.key_line import key_line as draw_line
from spanlab.errors import suggest
from spanlab.panels.controls import Choice, Number
from spanlab.panels.panel import Panel
from spanlab.splits import key_codes
from spanlab.splits.keys import CLOCK_START

GENERATORS = (
    ("application counter", "seq"),
    ("bit-reversed sequence", "bit_reversed"),
    ("UUIDv4", "uuid4"),
    ("UUIDv1", "uuid1"),
    ("UUIDv7 or ULID", "ulid"),
)
WORDS = {word: words for words, word in GENERATORS} | {"uuid7": "UUIDv7 or ULID"}
INTEGERS = {"seq", "bit_reversed"}  # drawn on the line of the positive INT64 values: none of theirs is negative
MILLISECONDS = 2.0**48  # ULID and UUIDv7 lead with 48 bits of milliseconds since 1970


def places(kind: str, n: int, seconds: float) -> list[float]:
    """Where n keys land that are made one after the other, `seconds` apart: 0 to 1 on the line of all keys.

    Counters begin at 1, times at time 0 of the simulation, a UUIDv1 where its clock turns over.
    """
    if kind in ("ulid", "uuid7"):
        first = CLOCK_START.timestamp()
        return [1_000 * (first + seconds * number) / MILLISECONDS for number in range(n)]
    codes = key_codes(kind, n, seconds)
    return [2 * code - 1 for code in codes] if kind in INTEGERS else codes


def scene(kind: str, n: int, seconds: float) -> Scene:
    """The key line of n keys of one kind."""
    found = places(kind, n, seconds)
    fullest = max(in_parts(found))
    sentence = f"The fullest of {PARTS} ranges holds {100 * fullest / n:.3g} % of the new keys."
    what = "all positive INT64 values" if kind in INTEGERS else "all keys"
    pace = "" if kind in (*INTEGERS, "uuid4") else f", one every {seconds:g} s"
    title = f"{WORDS[kind]}: {n} new keys{pace}"
    chart = draw_line(
        found,
        title=title,
        subtitle=f"on the line of {what}. {sentence}",
        description=f"{title}, as dots on the line of {what}. {sentence}",
    )
    part = Figure("keys in the fullest range", fullest / n, f"{100 * fullest / n:.3g} %")
    return Scene(chart, f"{title}. {sentence}", part)


def key_line(kind: str, n: int, seconds: float = 1.0) -> Scene:
    """n keys of one kind, made `seconds` apart, as numbered dots on the line of all keys.

    `kind` is a word for a generator: "seq", "bit_reversed", "uuid4", "uuid1", "uuid7", "ulid". ValueError names
    an unknown kind, or a number of keys that is not 1 to 500.
    """
    if kind not in WORDS:
        raise ValueError(f"kind is {kind!r}; there are {', '.join(WORDS)}.{suggest(str(kind), WORDS)}")
    if not isinstance(n, int) or not 1 <= n <= 500:
        raise ValueError(f"n is {n!r}; a whole number from 1 to 500 is wanted.")
    return scene(kind, n, seconds)


def view_printer(parameters: Mapping[str, Any], before: Scene | None) -> Scene:
    return scene(parameters["generator"], parameters["keys"], parameters["seconds"])


def key_printer() -> Panel:
    """Panel 2A of lesson 2."""
    controls = (
        Choice("generator", "Generator", GENERATORS, "seq"),
        Number("keys", "How many keys", tuple(range(4, 65, 4)), 8),
        Choice("seconds", "Time between keys (s)", (("0.001", 0.001), ("1", 1), ("60", 60)), 1),
    )
    return Panel("2A · Key printer", controls, view_printer)
