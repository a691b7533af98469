"""A lab with other numbers: papermill sets the names of its `parameters` cell and runs a copy.

Papermill takes any name and only logs the ones that the notebook does not have, so a typo would silently give the usual
result. Here the names are compared first.
"""

from __future__ import annotations

import ast
import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spanlab.course.notebook_form import NotebookProblem, normal, read_notebook, slug_of, write_notebook
from spanlab.course.notebook_run import kernel_settings, run_environment
from spanlab.course.outputs import refuse_if_not_writable
from spanlab.errors import suggest


def parameters_of(notebook: Path) -> dict[str, Any]:
    """Names and values of the cell tagged "parameters"; {} where there is none."""
    for cell in read_notebook(notebook)["cells"]:
        if "parameters" in cell.get("metadata", {}).get("tags", []):
            pairs = [s for s in ast.parse(cell["source"]).body if isinstance(s, ast.Assign)]
            return {s.targets[0].id: ast.literal_eval(s.value) for s in pairs if isinstance(s.targets[0], ast.Name)}
    return {}


def read_parameter(text: str, known: dict[str, Any]) -> tuple[str, Any]:
    """A "NAME=VALUE" of the command line. The value is a Python literal, else a string.

    Raises ValueError for an unknown name, with a suggestion, and for a value of another kind than the notebook's own.
    """
    name, sign, written = text.partition("=")
    if not sign:
        raise ValueError(f"-p {text!r}: write NAME=VALUE, such as NODES=30")
    if name not in known:
        names = ", ".join(known) or "none"
        raise ValueError(f"-p {text!r}: the notebook has no parameter {name!r}.{suggest(name, known)} It has: {names}")
    try:
        value = ast.literal_eval(written)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        value = written
    numbers = (int, float)
    same = type(value) is type(known[name]) or (type(value) in numbers and type(known[name]) in numbers)
    if not same:
        kind = type(known[name]).__name__
        raise ValueError(f"-p {text!r}: {name} is of the kind {kind} ({known[name]!r} in the notebook), not {value!r}")
    return name, value


def _label(values: dict[str, Any]) -> str:
    """The values in the name of the copy, in letters that every system takes for a name."""
    said = "_".join(f"{name}-{value}" for name, value in values.items())
    return re.sub(r'[\x00-\x1f/\\:*?"<>|]', "-", said)[:100] or "as_it_is"


def run_with(notebook: Path, parameters: Sequence[str], output: Path | None) -> Path:
    """Run a copy of the notebook with these parameters and return where it was written. Raises ValueError."""
    try:
        known = parameters_of(notebook)
    except NotebookProblem as problem:
        raise ValueError(str(problem)) from None
    if not known:
        raise ValueError(f"{notebook}: no cell is tagged `parameters`, so there is nothing to vary")
    values = dict(read_parameter(text, known) for text in parameters)
    target = output or Path(f"{notebook.stem}_{_label(values)}.ipynb")
    if target.resolve() == notebook.resolve():
        raise ValueError("-o names the notebook itself; choose another file")
    refuse_if_not_writable([target])
    import papermill

    with tempfile.TemporaryDirectory() as scratch:
        draft = Path(scratch) / "draft.ipynb"
        before = dict(os.environ)
        os.environ.update(run_environment(Path(scratch)))
        try:
            papermill.execute_notebook(
                str(notebook), str(draft), parameters=values, cwd=str(notebook.resolve().parent),
                kernel_name="python3", language="python", progress_bar=False, config=kernel_settings(),
            )  # fmt: skip
        except papermill.PapermillExecutionError as error:
            raise ValueError(f"{notebook} fails with these parameters: {error.ename}: {error.evalue}") from None
        finally:
            os.environ.clear()
            os.environ.update(before)
        write_notebook(target, normal(read_notebook(draft), slug_of(notebook)))
    return target
