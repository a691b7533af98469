"""Is this set-up able to run the course? One line for each thing that the course stands on, with the mend beside it."""

from __future__ import annotations

import importlib.metadata
import json
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any

PACKAGES = ("numpy", "altair", "sqlglot", "ipywidgets", "jupyterlab", "nbformat", "nbclient", "papermill")


def python_version() -> str:
    """The version of Python; the course needs 3.11 to 3.14."""
    if not (3, 11) <= sys.version_info[:2] < (3, 15):
        raise RuntimeError("the course needs Python 3.11 to 3.14: start course.py with such a Python")
    return "Python " + ".".join(str(n) for n in sys.version_info[:3])


def packages() -> str:
    """The libraries that the course stands on, with their versions."""
    found, missing = [], []
    for name in PACKAGES:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        raise RuntimeError(f"not installed: {', '.join(missing)}. Run 'python3 course.py', which installs them")
    return ", ".join(found)


def kernel() -> str:
    """The kernel named python3 must be this very Python, or notebooks would run without spanlab."""
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        argv = KernelSpecManager().get_kernel_spec("python3").argv
    except NoSuchKernel:
        raise RuntimeError("JupyterLab has no kernel 'python3': run 'python3 course.py' again") from None
    found = subprocess.run([argv[0], "-c", "import spanlab"], capture_output=True, check=False)
    if found.returncode:
        raise RuntimeError(
            f"the kernel 'python3' starts {argv[0]}, which has no spanlab: open the course with 'python3 course.py', "
            "or set JUPYTER_PREFER_ENV_PATH=1"
        )
    return "the kernel of the notebooks has spanlab"


def port() -> str:
    """A free port on this machine for JupyterLab."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return "a port can be opened on this machine"


def pictures() -> str:
    """Draws one chart into the form that JupyterLab shows without a network."""
    from spanlab.charts import MIME, Servers, bundle, server_bars

    picture = Servers("A test", "one server", [1_800.0], 12_000, 1_800, 3_500, "study")
    data, _ = bundle(server_bars(picture, description="A test picture"))
    size = len(json.dumps(data[MIME]))
    return f"charts are drawn offline ({size:,} bytes for a test picture)"


def simulator() -> str:
    """The first experiment of the course, as a check: a key led by the time commits what one split commits."""
    from spanlab.splits import simulate

    summary: dict[str, Any] = simulate("now", writes_per_second=12_000, nodes=10).summary()
    committed = summary["committed"]
    if round(committed) != 1_800:
        raise RuntimeError(f"a time-led key commits {committed:,.0f} writes/s here, not 1,800: reinstall the course")
    return "the simulator gives 1,800 writes/s for a time-led key, as it must"


def progress_folder() -> str:
    """Where finished challenges are remembered."""
    from spanlab.course.progress import progress_file

    return f"progress is kept in {progress_file()}"


CHECKS: tuple[Callable[[], str], ...] = (python_version, packages, kernel, port, simulator, pictures, progress_folder)


def examine(*, brief: bool = False) -> int:
    """Makes every check and prints a line for each (with `brief`, only for what is wrong). Returns 0 if all is well."""
    wrong = 0
    for check in CHECKS:
        try:
            said = check()
        except Exception as trouble:
            wrong += 1
            print(f"TROUBLE {check.__name__.replace('_', ' ')}: {trouble}")
        else:
            if not brief:
                print(f"ok      {said}")
    return 1 if wrong else 0
