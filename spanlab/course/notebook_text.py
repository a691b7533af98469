"""A notebook as text to edit, and back. The format is jupytext's "py:percent"; `notebooks.py` shows an example.

Jupytext does the converting. Added here is what it drops: cell ids travel in the cell markers, and a code cell whose
source did not change keeps its outputs and its execution count.
"""

from __future__ import annotations

import json
from typing import Any

from spanlab.course.notebook_form import CELL_METADATA, Cell, Notebook, NotebookProblem

_OURS = {"notebook_metadata_filter": "spanlab,-all", "cell_metadata_filter": "id,tags,spanlab,deletable,editable,-all"}


def _jupytext() -> Any:
    try:
        import jupytext
    except ImportError:
        raise NotebookProblem("jupytext is missing: pip install -e '.[dev]' brings it") from None
    return jupytext


def to_text(notebook: Notebook) -> str:
    """The notebook's cells as py:percent text, without outputs."""
    import nbformat

    node = nbformat.from_dict(json.loads(json.dumps(notebook)))
    node.metadata = nbformat.from_dict({"jupytext": _OURS} | {k: v for k, v in node.metadata.items() if k == "spanlab"})
    for cell in node.cells:
        cell.metadata = nbformat.from_dict({"id": cell.id} | dict(cell.metadata))
    return str(_jupytext().writes(node, fmt="py:percent"))


def apply_text(text: str, old: Notebook | None) -> Notebook:
    """The notebook that a text describes; `old` lends outputs, and ids to cells that the text leaves without.

    Raises NotebookProblem where an id is used twice.
    """
    node = _jupytext().reads(text, fmt="py:percent")
    before = {cell.get("id"): cell for cell in (old or {"cells": []})["cells"]}
    cells: list[Cell] = []
    named = [cell.metadata.get("id") for cell in node.cells]
    for id_ in named:
        if id_ is not None and named.count(id_) > 1:
            raise NotebookProblem(f"the id {id_!r} stands on {named.count(id_)} cells; each cell needs its own")
    free = {id_: cell for id_, cell in before.items() if id_ not in named}
    for part in node.cells:
        id_ = part.metadata.get("id") or _same_source(part, free)
        free.pop(id_, None)
        cells.append(_cell(part, id_, before.get(id_)))
    own = node.metadata.get("spanlab", (old or {}).get("metadata", {}).get("spanlab"))
    return {"cells": cells, "metadata": {"spanlab": own} if own else {}, "nbformat": 4, "nbformat_minor": 5}


def _same_source(part: Any, free: dict[str, Cell]) -> str | None:
    return next((i for i, c in free.items() if c["cell_type"] == part.cell_type and c["source"] == part.source), None)


def _cell(part: Any, id_: str | None, before: Cell | None) -> Cell:
    metadata = {key: part.metadata[key] for key in CELL_METADATA if key in part.metadata}
    cell: Cell = {"cell_type": part.cell_type, "id": id_, "metadata": metadata, "source": part.source}
    if part.cell_type == "code":
        same = before is not None and before["cell_type"] == "code" and before["source"] == part.source
        cell["outputs"] = before["outputs"] if same and before else []
        cell["execution_count"] = before["execution_count"] if same and before else None
    return cell
