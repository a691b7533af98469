"""One honest run of a notebook: a fresh kernel, from top to bottom, the same on every machine."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from spanlab.course.notebook_form import ERROR_TAG, Cell, Notebook, NotebookProblem


def execute(notebook: Notebook, folder: Path, timeout: int = 120) -> Notebook:
    """A copy of the notebook with the outputs of a fresh kernel started in `folder`.

    The run sees no progress of the learner's and leaves none (SPANLAB_PROGRESS points into a scratch folder), no
    start-up files of IPython, and the same hash seed every time. Raises NotebookProblem naming the cell that failed,
    unless the cell is tagged "raises-exception".
    """
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    node = nbformat.from_dict(json.loads(json.dumps(notebook)))
    for cell in node.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    with tempfile.TemporaryDirectory() as scratch:
        client = NotebookClient(
            node, timeout=timeout, kernel_name="python3", record_timing=False, coalesce_streams=True,
            store_widget_state=False, allow_errors=True, resources={"metadata": {"path": str(folder)}},
            config=kernel_settings(),
        )  # fmt: skip
        try:
            client.execute(env=run_environment(Path(scratch)))
        except CellTimeoutError:
            raise NotebookProblem(f"a cell took longer than {timeout} s and was stopped") from None
        except DeadKernelError:
            raise NotebookProblem("Python ended while a cell was running") from None
    done: Notebook = json.loads(json.dumps(node))
    _number_in_order(done["cells"])
    _refuse_errors(done["cells"])
    return done


def run_environment(scratch: Path) -> dict[str, str]:
    """The environment of a kernel whose outputs shall be the same on every machine."""
    return os.environ | {
        "PYTHONHASHSEED": "0",
        "SPANLAB_PROGRESS": str(scratch / "progress"),
        "SPANLAB_BARS": "off",
        "IPYTHONDIR": str(scratch / "ipython"),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",  # the debugger's advice would stand in the first cell's output
    }


def kernel_settings() -> Any:
    """Settings for whoever starts a kernel: the two encrypt what they say to each other, where both can.

    Else a new kernel warns on stderr that its connection is in plain text.
    """
    import zmq
    from jupyter_client import KernelManager
    from traitlets.config import Config

    can = hasattr(KernelManager, "transport_encryption") and zmq.has("curve")
    return Config({"KernelManager": {"transport_encryption": "auto"}} if can else {})


def _number_in_order(cells: list[Cell]) -> None:
    count = 0
    for cell in cells:
        if cell["cell_type"] == "code" and cell["source"].strip():
            count += 1
            cell["execution_count"] = count


def _refuse_errors(cells: list[Cell]) -> None:
    for cell in cells:
        for output in cell.get("outputs", []):
            if output["output_type"] == "error" and ERROR_TAG not in cell.get("metadata", {}).get("tags", []):
                first = cell["source"].splitlines()[0]
                raise NotebookProblem(f"cell {cell['id']} ({first}) fails: {output['ename']}: {output['evalue']}")
