"""JupyterLab in a scratch copy of the course, and a browser that looks at it as a learner does.

Only `pytest -m browser tests/browser` collects this folder (`.ci/run` does): it needs chromium, and takes minutes.
Screenshots are written to the folder that SPANLAB_SCREENSHOTS names, if it names one.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = os.environ.get("SPANLAB_CHROMIUM", "/usr/bin/chromium")
TOKEN = "spanlab-browser-test"
SETTINGS = {
    # all cells in the document, so that a test can look at those that are scrolled away
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension:notification": {"checkForUpdates": False, "fetchNews": "false"},
}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return None if config.getoption("markexpr") == "browser" else True


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the notebooks, beside a home of its own for settings and progress."""
    home = tmp_path_factory.mktemp("home")
    copy = home / "course"
    copy.mkdir()
    for name in ("lessons", "labs", "solutions"):
        shutil.copytree(ROOT / name, copy / name)
    config = home / "config" / "labconfig"
    config.mkdir(parents=True)
    off = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    (config / "page_config.json").write_text(json.dumps(off), encoding="utf-8")
    (config / "default_setting_overrides.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    return copy


@pytest.fixture(scope="session")
def pictures(course: Path) -> None:
    """Two notebooks in the copy, with every picture and every move."""
    from everything import NOTEBOOKS, write_notebook

    for name in NOTEBOOKS:
        write_notebook(course / name)


@contextmanager
def serving(course: Path) -> Iterator[str]:
    """JupyterLab on the copy, as `course.py` starts it, at the address that is given."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = course.parent
    places = {name: str(home / name.lower()) for name in ("JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")}
    places |= {name: str(home / "data") for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
    environment = os.environ | places | {"HOME": str(home), "JUPYTER_CONFIG_DIR": str(home / "config")}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += [f"--IdentityProvider.token={TOKEN}", "--LabApp.news_url=None", f"--ServerApp.root_dir={course}"]
    # a notebook of yesterday is not trusted today: its panels, whose kernel is gone, show their still picture
    command += ["--NotebookNotary.db_file=:memory:"]
    log = home / "jupyter.log"
    with log.open("wb") as output:
        server = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(f"{address}/api/status?token={TOKEN}", server, log)
            yield address
        finally:
            server.terminate()
            server.wait(timeout=30)


def _wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    for _ in range(120):
        if server.poll() is not None:
            raise RuntimeError(f"JupyterLab ended: {log.read_text(encoding='utf-8')[-2000:]}")
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except OSError:
            time.sleep(0.5)
    raise RuntimeError(f"JupyterLab did not answer: {log.read_text(encoding='utf-8')[-2000:]}")


@pytest.fixture(scope="session")
def jupyter(course: Path) -> Iterator[str]:
    with serving(course) as address:
        yield address


@pytest.fixture(scope="session")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


@contextmanager
def window(chromium, address: str):
    from lab import Lab

    context = chromium.new_context(viewport={"width": 1280, "height": 1000})
    lab = Lab(context.new_page(), address, TOKEN)
    try:
        yield lab
    finally:
        lab.shut_down()
        context.close()
    assert lab.foreign == [], "something asked for another machine"


@pytest.fixture
def lab(chromium, jupyter):
    """A fresh browser window on JupyterLab. The test fails if anything asked for another machine."""
    with window(chromium, jupyter) as lab:
        yield lab


@pytest.fixture
def another_day(chromium, course: Path):
    """A window on a JupyterLab that was started anew, on the same files."""
    with serving(course) as address, window(chromium, address) as lab:
        yield lab
