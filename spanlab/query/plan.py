"""A query plan: a tree of operators with Spanner's own names, and what each of them did when it ran.

Read it from the inside out: the deepest scan reads rows, everything above passes them on. Four looks give a verdict:
how are rows found (Seek Condition, or Full scan), how many are read (Residual Condition: read, then dropped), how many
hops they make (Distributed operators), and is anything sorted (facts.md 7.2, 7.3).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Counts:
    """What an operator did: rows given, executions, rows read, calls to other servers, splits reached.

    `reached` are the numbers of the splits that a scan's rows lie in, so that a split that several scans reach counts
    once for the plan.
    """

    rows: int = 0
    executions: int = 0
    scanned: int = 0
    remote_calls: int = 0
    splits: int = 0
    reached: frozenset[int] = frozenset()


@dataclass(eq=False)
class Node:
    """One operator.

    `operator` is the name that Spanner prints, `target` the table, index, batch or spool that a scan reads, `link` the
    role in which the parent reads it ("Input", "Map", "Build", "Probe", "Left", "Right", "Scalar", or ""). Conditions
    are texts. `details` holds the other metadata in Spanner's spelling. `step` is what execution needs; None for a plan
    read from a file.
    """

    operator: str
    children: list[Node] = field(default_factory=list)
    target: str = ""
    link: str = ""
    full_scan: bool = False
    seek_condition: str = ""
    residual_condition: str = ""
    condition: str = ""
    split_range: str = ""
    timestamp_condition: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    step: Any = None
    id: int = 0
    depth: int = 0
    counts: Counts | None = None

    @property
    def is_scan(self) -> bool:
        """True for an operator that reads a table or an index."""
        return self.operator in ("Table Scan", "Index Scan")

    @property
    def distributed(self) -> bool:
        """True for an operator that calls other servers."""
        return self.operator.startswith("Distributed") or self.operator.startswith("Push Broadcast")

    @property
    def sorts(self) -> bool:
        """True for an operator that sorts."""
        return "Sort" in self.operator.split()

    def walk(self) -> Iterator[Node]:
        """The operator and all below it, in the order in which plans are printed."""
        yield self
        for child in self.children:
            yield from child.walk()

    def clone(self) -> Node:
        """A copy of the operator and all below it; what execution needs is shared."""
        copy = Node.__new__(Node)
        copy.__dict__.update(self.__dict__)
        copy.children, copy.details = [child.clone() for child in self.children], dict(self.details)
        return copy

    def predicates(self) -> list[tuple[str, str]]:
        """The conditions that it carries, with the names that Spanner gives them."""
        named = (
            ("Split Range", self.split_range),
            ("Seek Condition", self.seek_condition),
            ("Residual Condition", self.residual_condition),
            ("Condition", self.condition),
            ("Timestamp Condition", self.timestamp_condition),
        )
        return [(name, text) for name, text in named if text]

    def title(self) -> str:
        """The operator as one line: name, target, metadata."""
        return self.operator + (f" on {self.target}" if self.target else "")

    def metadata(self) -> str:
        """The metadata in brackets as the Spanner CLI prints it, or ""."""
        shown = {**({"Full scan": True} if self.full_scan else {}), **self.details}
        parts = [f"{name}: {_shown(value)}" for name, value in shown.items()]
        return f" ({', '.join(parts)})" if parts else ""


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def numbered(root: Node) -> Node:
    """Gives every operator of a tree its id and its depth, and every batch its name ($v2, $v5 …)."""

    def number(node: Node, depth: int, next_id: int) -> int:
        node.id, node.depth = next_id, depth
        next_id += 1
        for child in node.children:
            next_id = number(child, depth + 1, next_id)
        return next_id

    number(root, 0, 0)
    batches = [node for node in root.walk() if node.operator == "Batch Scan" and node.step is None]
    for place, node in enumerate(batches):
        node.target = node.target or f"$v{3 * place + 2}"
    return root
