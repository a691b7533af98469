"""The normal form of a notebook: what is kept of a file that Jupyter wrote, and how its bytes are laid down.

Git compares notebooks and people review the comparison, so a file holds nothing that differs without a reason: cell
ids stay, keys are sorted, and random ids, times, window states and pictures that an editor added are left out.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Notebook = dict[str, Any]
Cell = dict[str, Any]

CELL_METADATA = ("deletable", "editable", "spanlab", "tags")
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
ERROR_TAG = "raises-exception"
VEGA_LITE = "application/vnd.vegalite.v5+json"
WIDGET = "application/vnd.jupyter.widget-view+json"
_JUPYTERS_OWN_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8}")


class NotebookProblem(Exception):
    """A notebook that cannot be read, run or filled; `str()` says which and why, in one sentence."""


def read_notebook(path: Path) -> Notebook:
    """The notebook as plain dicts and lists, with every source as one string. Raises NotebookProblem."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NotebookProblem(f"{path}: there is no such file") from None
    except (OSError, ValueError, RecursionError) as error:
        raise NotebookProblem(f"{path}: this is not a notebook ({error})") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list) or notebook.get("nbformat") != 4:
        raise NotebookProblem(f"{path}: this is not a notebook of format 4")
    for cell in notebook["cells"]:
        if not isinstance(cell, dict) or cell.get("cell_type") not in ("markdown", "code", "raw"):
            raise NotebookProblem(f"{path}: a cell is neither markdown nor code")
        cell["source"] = _text(cell.get("source", ""))
    return notebook


def _text(lines: object) -> str:
    return "".join(map(str, lines)) if isinstance(lines, list) else str(lines)


def to_bytes(notebook: Notebook) -> bytes:
    """The file of a notebook: UTF-8, LF, keys sorted, indent 1, long texts as lists of lines."""
    import nbformat

    text = nbformat.writes(nbformat.from_dict(notebook), version=nbformat.NO_CONVERT)
    return (text.rstrip("\n") + "\n").encode("utf-8")


def write_notebook(path: Path, notebook: Notebook) -> bool:
    """Write the file in one step, so that a killed process leaves the old one whole. False where nothing changed."""
    content = to_bytes(notebook)
    if path.is_file() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    spare = path.with_name(f".{path.name}.{os.getpid()}")
    spare.write_bytes(content)
    spare.replace(path)
    return True


def normal(notebook: Notebook, slug: str) -> Notebook:
    """The notebook in normal form. `slug` ("01-address") begins the ids of cells that have none of their own.

    Ids that Jupyter drew at random, and second uses of an id, are replaced by the next free `<slug>-<nnn>`; all
    others stay.
    """
    ids = _stable_ids(notebook["cells"], slug)
    cells = [_normal_cell(cell, id_) for cell, id_ in zip(notebook["cells"], ids, strict=True)]
    _renumber_widgets(cells)
    metadata: dict[str, Any] = {"kernelspec": dict(KERNEL), "language_info": {"name": "python"}}
    if own := notebook.get("metadata", {}).get("spanlab"):
        metadata["spanlab"] = own
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _stable_ids(cells: Iterable[Cell], slug: str) -> list[str]:
    kept: list[str | None] = []
    for cell in cells:
        own = cell.get("id")
        fine = (
            isinstance(own, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,64}", own) and not _JUPYTERS_OWN_ID.fullmatch(own)
        )
        kept.append(own if fine and own not in kept else None)
    numbers = (n for n in range(1, 1_000_000) if f"{slug}-{n:03d}" not in kept)
    return [own or f"{slug}-{next(numbers):03d}" for own in kept]


def _normal_cell(cell: Cell, id_: str) -> Cell:
    old = cell.get("metadata", {})
    metadata = {key: old[key] for key in CELL_METADATA if old.get(key) not in (None, [], {})}
    source = cell["source"].replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()
    done: Cell = {"cell_type": cell["cell_type"], "id": id_, "metadata": metadata, "source": source}
    if cell["cell_type"] == "code":
        done["execution_count"] = cell.get("execution_count") if source else None
        done["outputs"] = [_normal_output(o, cell.get("execution_count")) for o in cell.get("outputs", [])]
    return done


def _normal_output(output: dict[str, Any], count: int | None) -> dict[str, Any]:
    kind = output["output_type"]
    if kind == "stream":
        return {"output_type": kind, "name": output["name"], "text": _text(output["text"])}
    if kind == "error":
        return {key: output[key] for key in ("output_type", "ename", "evalue", "traceback")}
    data = {
        mime: _text(v) if isinstance(v, list) and mime.startswith("text/") else v for mime, v in output["data"].items()
    }
    if VEGA_LITE in data:
        data.pop("image/png", None)  # JupyterLab adds a picture when it saves; it differs with every font
    metadata = {mime: value for mime, value in output.get("metadata", {}).items() if mime in data}
    done = {"output_type": kind, "data": data, "metadata": metadata}
    return done | {"execution_count": count} if kind == "execute_result" else done


def _renumber_widgets(cells: list[Cell]) -> None:
    """Widgets get random model ids at every run: number them in the order of their appearance."""
    numbers: dict[str, str] = {}
    for cell in cells:
        for output in cell.get("outputs", []):
            view = output.get("data", {}).get(WIDGET)
            if isinstance(view, dict) and "model_id" in view:
                view["model_id"] = numbers.setdefault(view["model_id"], f"{len(numbers) + 1:032x}")


def slug_of(path: Path) -> str:
    """What a notebook's cell ids begin with: "01-address" for `lessons/01_address.ipynb`."""
    return re.sub(r"[^A-Za-z0-9]+", "-", path.stem).strip("-").lower()[:40] or "notebook"


def challenge_cells(notebook: Notebook) -> dict[str, Cell]:
    """The answer cells of a notebook by challenge id, in reading order (predictions are among them)."""
    found: dict[str, Cell] = {}
    for cell in notebook["cells"]:
        own = cell.get("metadata", {}).get("spanlab") if cell["cell_type"] == "code" else None
        if isinstance(own, dict) and isinstance(own.get("challenge"), str):
            found.setdefault(own["challenge"], cell)
    return found
