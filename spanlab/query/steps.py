"""What an operator needs to run: the payload of a plan's nodes, made by the planner, read by
`spanlab.query.execute`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

    from spanlab.query.logical import SortKey, Variable
    from spanlab.query.predicates import KeyMatch


@dataclass
class Columns:
    """Which columns a scan reads: variable name to column name."""

    by_variable: dict[str, str]


@dataclass
class ScanStep:
    """Reads a table or an index by key ranges."""

    name: str
    columns: Columns
    key: tuple[str, ...]
    match: KeyMatch
    system: bool = False


@dataclass
class LookupStep:
    """Reads the base table's rows that belong to index entries: by the primary key, in the order given."""

    name: str
    columns: Columns
    key: tuple[str, ...]


@dataclass
class FilterStep:
    """Keeps the rows for which all conditions are true."""

    conditions: list[exp.Expr]


@dataclass
class ComputeStep:
    """Adds variables."""

    assignments: list[tuple[Variable, exp.Expr]]


@dataclass
class ApplyStep:
    """For each row of the input the rows of the map side; `names` is what that side adds."""

    kind: str
    names: list[str] = field(default_factory=list)


@dataclass
class JoinStep:
    """Hash and merge joins: pairs of equal expressions (left, right), and other conditions."""

    kind: str
    equal: list[tuple[exp.Expr, exp.Expr]]
    others: list[exp.Expr]
    left_first: bool = True


@dataclass
class AggregateStep:
    """Groups rows; only the innermost aggregate of a local and global pair has one."""

    keys: list[tuple[Variable, exp.Expr]]
    calls: list[tuple[Variable, exp.Expr]]
    single: bool = False


@dataclass
class SortStep:
    """Sorts, and keeps the first `count` after `offset` where these are given."""

    keys: list[SortKey]
    count: exp.Expr | None = None
    offset: exp.Expr | None = None


@dataclass
class LimitStep:
    """Keeps the first `count` rows after `offset`."""

    count: exp.Expr
    offset: exp.Expr | None = None


@dataclass
class UnnestStep:
    """The elements of an array."""

    array: exp.Expr
    element: Variable
    offset: Variable | None


@dataclass
class UnionStep:
    """The branches' rows after one another: for each branch the expressions of the outputs."""

    outputs: list[Variable]
    inputs: list[list[exp.Expr]]


@dataclass
class SpoolBuildStep:
    """Works out rows once and keeps them under a name."""

    name: str
    outputs: list[tuple[str, exp.Expr]]


@dataclass
class SpoolScanStep:
    """Reads kept rows."""

    name: str
    columns: dict[str, Variable]


@dataclass
class SubqueryStep:
    """A subquery that stands for a value in the parent's expressions."""

    variable: Variable
    kind: str
    outputs: list[tuple[str, exp.Expr]]
    as_struct: bool
    arguments: list[tuple[str, exp.Expr]]


@dataclass
class SampleStep:
    """Gives every row a random number."""

    variable: str


@dataclass
class OutputStep:
    """The result's columns."""

    outputs: list[tuple[str, exp.Expr]]


@dataclass
class EmptyStep:
    """No rows of these variables."""

    names: list[str]
