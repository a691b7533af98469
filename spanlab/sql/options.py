"""OPTIONS (name = value, …): which options each kind of object has, and what they may be set to.

An option set to NULL goes back to its default. Spanner refuses a name that it does not know, a value of the wrong type
and an option that is named twice (Spanner's DDL reference; facts.md 2.3, 4.1, 5.4).
"""

from __future__ import annotations

from spanlab.catalog import Options
from spanlab.errors import suggest
from spanlab.sql.lexical import Word, string_value
from spanlab.sql.reader import Reader

BIT_REVERSED = "bit_reversed_positive"
"""The only kind of sequence that Spanner has."""

_KNOWN: dict[str, dict[str, type]] = {
    "column": {"allow_commit_timestamp": bool, "locality_group": str},
    "table": {
        "locality_group": str,
        "columnar_policy": str,
        "fulltext_dictionary_table": bool,
        "fulltext_dictionary_staleness": str,
    },
    "index": {"locality_group": str, "columnar_policy": str},
    "sequence": {
        "sequence_kind": str,
        "skip_range_min": int,
        "skip_range_max": int,
        "start_with_counter": int,
    },
    "database": {
        "default_leader": str,
        "optimizer_version": int,
        "optimizer_statistics_package": str,
        "version_retention_period": str,
        "default_sequence_kind": str,
        "default_time_zone": str,
        "use_unenforced_foreign_key_for_query_optimization": bool,
        "read_lease_regions": str,
        "witness_location": str,
        "columnar_policy": str,
    },
}
_WORDS = {bool: "true, false or null", int: "an integer or null", str: "a string or null"}


def options(read: Reader, kind: str) -> Options:
    """OPTIONS (…) of an object of that kind: "column", "table", "index", "sequence" or "database"."""
    read.expect("OPTIONS")
    found: dict[str, object] = {}

    def option(read: Reader) -> None:
        name = _option_name(read, kind, found)
        read.expect("=")
        found[name] = _option_value(read, kind, name)

    read.listed(option, empty=False)
    return tuple(found.items())


def _option_name(read: Reader, kind: str, found: dict[str, object]) -> str:
    word, known = read.word, _KNOWN[kind]
    name = read.name("the name of an option", "option")
    if name.lower() not in known:
        hint = "one of " + ", ".join(known)
        raise read.error(f"No {kind} has an option {name}.{suggest(name, known)}", word, hint)
    if name.lower() in found:
        raise read.error(f"The option {name} is set twice.", word)
    return name.lower()


def _option_value(read: Reader, kind: str, name: str) -> object:
    word, wanted = read.word, _KNOWN[kind][name]
    value: object
    if read.accept("NULL"):
        value = None
    elif wanted is bool and word.key in ("TRUE", "FALSE"):
        read.index += 1
        value = word.key == "TRUE"
    elif wanted is str and word.kind == "string":
        read.index += 1
        value = string_value(word.text)
    elif wanted is int and word.kind != "string":
        value = read.integer(f"{_WORDS[int]} for {name}")
    else:
        read.fail(f"{_WORDS[wanted]} for {name}")
    if name == "sequence_kind" or (name == "default_sequence_kind" and value is not None):
        _check_sequence_kind(read, value, word)
    return value


def _check_sequence_kind(read: Reader, value: object, word: Word) -> None:
    if value != BIT_REVERSED:
        found = "NULL" if value is None else value
        message = f"There is no sequence kind {found}: Spanner's sequences are bit-reversed, so that they do not rise."
        raise read.error(message, word, f"'{BIT_REVERSED}'")
