"""Sequences: counters whose bits are reversed, so that their values are spread over all of INT64 (facts.md 2.3)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spanlab.schema import expressions, names
from spanlab.schema.refusal import Refusal
from spanlab.sql.statements import RestartCounter, SetSequenceOptions, SkipRange

if TYPE_CHECKING:
    from spanlab.catalog import Options, Sequence
    from spanlab.schema.objects import Draft, Objects
    from spanlab.sql.statements import AlterSequence, CreateSequence, DropSequence

KIND = "bit_reversed_positive"


def create(draft: Draft, statement: CreateSequence) -> None:
    """CREATE SEQUENCE."""
    sequence = statement.sequence
    if statement.if_not_exists and draft.names.get(sequence.name.casefold(), ("",))[0] == "sequence":
        return
    names.check_new_name(draft, sequence.name, "sequence")
    if sequence.kind is None and draft.options.get("default_sequence_kind") is None:
        raise Refusal(
            f"Which kind of sequence is {sequence.name}? The database has no default_sequence_kind.",
            sequence.name,
            "object",
            hint=f"CREATE SEQUENCE {sequence.name} BIT_REVERSED_POSITIVE",
        )
    check_numbers(sequence.skip_range, sequence.start_counter, sequence.name, "object")
    draft.put_sequence(sequence)


def alter(draft: Draft, statement: AlterSequence) -> None:
    """ALTER SEQUENCE: another skipped range, another counter; the kind stays."""
    if statement.if_exists and statement.name not in draft.sequences:
        return
    sequence = names.find_sequence(draft, statement.name)
    change = statement.change
    if isinstance(change, SkipRange):
        changed = replace(sequence, skip_range=(change.low, change.high))
    elif isinstance(change, RestartCounter):
        changed = replace(sequence, start_counter=change.value)
    elif isinstance(change, SetSequenceOptions):
        changed = _with_options(sequence, change.options)
    else:
        changed = replace(sequence, skip_range=None)
    check_numbers(changed.skip_range, changed.start_counter, changed.name, "object")
    draft.put_sequence(changed)


def _with_options(sequence: Sequence, options: Options) -> Sequence:
    """The sequence after SET OPTIONS; an option that is not named stays, one that is NULL is cleared."""
    low, high = sequence.skip_range or (None, None)
    old: dict[str, object] = {
        "skip_range_min": low,
        "skip_range_max": high,
        "start_with_counter": sequence.start_counter,
    }
    new = old | dict(options)
    low, high, start = (_number(new[name]) for name in ("skip_range_min", "skip_range_max", "start_with_counter"))
    if low is None or high is None:
        if low is not high:
            raise Refusal(
                "skip_range_min and skip_range_max are given together or not at all.", sequence.name, "option"
            )
        return replace(sequence, skip_range=None, start_counter=start)
    return replace(sequence, skip_range=(low, high), start_counter=start)


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def drop(draft: Draft, statement: DropSequence) -> None:
    """DROP SEQUENCE: refused while the default of a column draws from it."""
    if statement.if_exists and statement.name not in draft.sequences:
        return
    sequence = names.find_sequence(draft, statement.name)
    for user in users(draft, sequence.name):
        raise Refusal(
            f"{sequence.name} cannot be dropped: the default of {user} draws from it.",
            sequence.name,
            "object",
            hint=f"ALTER TABLE {user.rpartition('.')[0]} ALTER COLUMN {user.rpartition('.')[2]} DROP DEFAULT first",
        )
    draft.drop("sequence", sequence.name)


def users(objects: Objects, name: str) -> list[str]:
    """The columns ("Table.Column") whose defaults draw from the sequence."""
    return [
        f"{table.name}.{column.name}"
        for table in objects.tables.values()
        for column in table.columns
        if column.default and name in expressions.sequences_read(column.default)
    ]


def check_numbers(skipped: tuple[int, int] | None, start: int | None, name: str, role: str) -> None:
    """The skipped range and the start of a counter: positive, and in order."""
    if skipped is not None:
        low, high = skipped
        if low > high:
            raise Refusal(
                f"The range that {name} skips begins at {low:,} and ends before that, at {high:,}.",
                name,
                role,
                hint=f"SKIP RANGE {high}, {low}",
            )
        if high < 1:
            raise Refusal(f"{name} gives positive values only; a range up to {high:,} skips none of them.", name, role)
    if start is not None and start < 1:
        raise Refusal(f"The counter of {name} starts at 1 or more, not at {start:,}.", name, role)
