"""Where a claim comes from, and what a word means: the two look-ups that keep the lessons short.

    sl.source("1.2.6")       the claim, the page of Spanner's documentation behind it, and when it was read
    sl.glossary("split")     a word of the course, and the lesson that introduces it

Both are data in the package, so that they work offline and a test can find a citation that leads nowhere.
"""

from __future__ import annotations

import functools
import html
import re
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any

from spanlab.errors import suggest

DOCUMENTATION = "Cloud Spanner documentation"


@dataclass(frozen=True)
class Entry:
    """A short text with a heading and a line about where it is from; prints as text, in a notebook as a paragraph."""

    heading: str
    text: str
    origin: str

    def __repr__(self) -> str:
        return f"{self.heading}: {self.text}" + (f"\n({self.origin})" if self.origin else "")

    def _repr_html_(self) -> str:
        said = (html.escape(part) for part in (self.heading, self.text, self.origin))
        return "<p><b>{}</b>: {}<br><small>{}</small></p>".format(*said)


@functools.cache
def _data(name: str) -> dict[str, Any]:
    return tomllib.loads((resources.files("spanlab.course") / "data" / name).read_text(encoding="utf-8"))


def fact_numbers() -> list[str]:
    """The numbers of all facts that `source` knows."""
    return list(_data("sources.toml")["facts"])


def source(number: str) -> Entry:
    """The fact of that number ("1.2.6", or "facts 1.2.6"): the claim in our words, the pages behind it, the date.

    An unknown number gives an entry that says so and names the nearest one; nothing raises.
    """
    data = _data("sources.toml")
    key = str(number).strip().split()[-1] if str(number).strip() else ""
    found = data["facts"].get(key)
    if found is None:
        near = suggest(key, data["facts"])
        return Entry(f"fact {key}", f"there is no fact of that number.{near} Numbers look like 1.2.6 or 2.3.", "")
    pages = ", ".join(found["pages"])
    return Entry(f"fact {key}", found["claim"], f"{found.get('kind', DOCUMENTATION)}: {pages}; read {data['read']}")


def glossary(term: str = "") -> Entry:
    """The meaning of a word of the course; without a word, the list of all words."""
    words = _data("glossary.toml")
    if not term:
        return Entry("words of the course", " · ".join(words), 'sl.glossary("split") explains one')
    # an entry may stand for several words: "Split boundary, split point"
    entry_of = {part.strip().casefold(): entry for entry in words for part in _names(entry)}
    name = entry_of.get(str(term).strip().casefold())
    if name is None:
        return Entry(str(term), f"is not in the glossary.{suggest(str(term), words)}", "sl.glossary() lists all words")
    return Entry(name, words[name]["meaning"], f"introduced in lesson {words[name]['lesson']}")


def _names(entry: str) -> list[str]:
    """The names that a word goes by: "Helper (backing) index" is also "Helper index"."""
    return [entry, *re.split(r"[,/()]", entry), re.sub(r" *\(.*?\)", "", entry)]
