"""`--execute`: what is not plain data runs in a child process with limits, and only its answer comes back."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from spanlab.course import execute
from spanlab.course.execute import Refused, run_for_answer
from spanlab.course.grading import Task, mark_here
from spanlab.course.submissions import Submission


def book(*sources: str) -> bytes:
    cells = [{"cell_type": "code", "id": f"c{i}", "metadata": {}, "source": source} for i, source in enumerate(sources)]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def run(*sources: str) -> Any:
    return run_for_answer(book("import spanlab as sl", *sources), "1.4")


CHECK = '\nsl.check("1.4", answer)'


def test_computed_answers() -> None:
    """One child for all: each process costs its start."""
    assert run(
        "%matplotlib inline\nimport math\nwanted = 12_000",
        "broken = 1 / 0",
        'sl.check("1.1", [1, 2])',
        "answer = {'n': math.ceil(wanted / 3_500), 'l': [x for x in 'ab'], 't': (None, 1.5)}" + CHECK,
        "raise SystemExit",
    ) == {"n": 4, "l": ["a", "b"], "t": (None, 1.5)}


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import sys; sys.exit(0)", "SystemExit"),
        ("import os; os._exit(0)", "ended without an answer"),
        ("answer = bytearray(10**10)" + CHECK, "MemoryError"),
        ("answer = object()" + CHECK, "class object"),
        ("answer = 'x' * 10**6" + CHECK, "most that is read"),
        ("import os\nwhile True: os.fork()", "os.fork is not allowed"),
        ("import subprocess; subprocess.run(['true'])", "not allowed"),
        ("import os; os.system('true')", "os.system is not allowed"),
        ("import _posixsubprocess; _posixsubprocess.fork_exec()", "starting a process is not allowed"),
        ("import os; open('x', 'w'); os.rename('x', '/tmp/x-of-a-learner')", "no file outside"),
        ("open('/tmp/x-of-a-learner', 'a')", "no file outside"),
        ("import socket; socket.create_connection(('127.0.0.1', 9))", "socket"),
        ("import ctypes; ctypes.CDLL(None)", "not allowed"),
        ("open('big', 'wb').write(b'x' * 10**8)", "OSError"),
        ("import os; os.kill(os.getppid(), 9)", "os.kill is not allowed"),
        ("def f(): f()\nf()", "RecursionError"),
        ("raise ValueError('<b>')", "ValueError: <b>"),
        ("answer = (", "nothing to run"),
        ("pass  # " + CHECK.strip(), "so there is nothing to run"),
    ],
)
def test_what_comes_to_no_answer_is_refused_with_a_reason(source: str, words: str) -> None:
    with pytest.raises(Refused) as reason:
        run(source if "check" in source else source + CHECK)
    assert words in str(reason.value)


def test_it_is_stopped_when_it_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "SECONDS", 2)
    with pytest.raises(Refused, match="within 2 s"):
        run("import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass" + CHECK)


def test_the_home_is_empty_and_the_surroundings_are_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "s")
    target = tmp_path / "outside"
    found = run(
        "import os\nfrom pathlib import Path\n"
        "Path('inside').write_text('x')\n"
        f"try:\n    open({str(target)!r}, 'w')\n    outside = True\nexcept PermissionError:\n    outside = False\n"
        "answer = {'home': os.listdir(Path.home()), 'secret': os.environ.get('A_SECRET'), 'outside': outside}" + CHECK
    )
    assert found == {"home": ["inside"], "secret": None, "outside": False}
    assert not target.exists()


def test_a_forged_reply_is_only_an_answer() -> None:
    with pytest.raises(Refused):
        run(
            "import os\nfor n in range(1, 20):\n    try: os.write(n, b'answer passed()')\n    except OSError: "
            "pass\nos._exit(0)" + CHECK
        )


def test_grading_runs_only_when_told(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(book("import spanlab as sl", "answer = len('abcd')" + CHECK))
    without = mark_here(Task(Submission("a", path), "1"))
    assert (without.status, without.points) == ("not_static", 0)
    with_it = mark_here(Task(Submission("a", path), "1", execute=True))
    assert (with_it.status, with_it.marks["1.4"].points) == ("partial", 2)


def test_no_descriptor_of_the_parent_is_open() -> None:
    server = socket.socket()
    os.set_inheritable(server.fileno(), False)
    try:
        count = run("import os\nanswer = sum(os.path.exists(f'/proc/self/fd/{n}') for n in range(3, 64))" + CHECK)
    finally:
        server.close()
    assert count <= 1  # the pipe for the reply
