"""Opens the course as a newcomer does: `python3 course.py --no-open` in a fresh clone. Used by `.ci/run`.

    python tests/newcomer.py FOLDER

Waits for the address, fetches lesson 1 through the server, ends the course with Ctrl-C, then does it again and measures
how long the second start takes until JupyterLab answers. Exits with 1, saying why, if any of it fails.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ADDRESS = re.compile(r"(http://127\.0\.0\.1:\d+)/lab/tree/(\S+?)\?token=(\w+)")


def open_and_close(folder: Path, port: int) -> float:
    """Serves the course, reads lesson 1 from it, ends it. Returns the seconds until it answered."""
    started = time.monotonic()
    course = subprocess.Popen(
        [sys.executable, "course.py", "--no-open", "--port", str(port)],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert course.stdout
    try:
        for line in course.stdout:
            print("   ", line.rstrip())
            if found := ADDRESS.search(line):
                break
        else:
            raise SystemExit(f"the course ended with exit code {course.wait()} before it printed an address")
        took = time.monotonic() - started
        host, lesson, token = found.groups()
        with urllib.request.urlopen(f"{host}/api/contents/{lesson}?token={token}", timeout=30) as answer:
            notebook = json.load(answer)["content"]
        assert len(notebook["cells"]) > 20, "lesson 1 is not there"
    finally:
        os.killpg(course.pid, signal.SIGINT)  # what Ctrl-C in a terminal does: everybody gets it
        code = course.wait(timeout=30)
    assert code == 0, f"Ctrl-C ended the course with exit code {code}"
    return took


def main() -> None:
    """Two visits: the first sets up, the second must not."""
    folder = Path(sys.argv[1])
    first = open_and_close(folder, 8900)
    second = open_and_close(folder, 8900)
    print(f"    first start {first:.0f} s with set-up, second {second:.1f} s until JupyterLab answers")
    changed = subprocess.run(
        ["git", "status", "--porcelain"], cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    assert changed == "", f"opening the course changed files: {changed}"


if __name__ == "__main__":
    main()
