"""`--execute`: what is not plain data runs in a child process with limits, and only its answer comes back."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
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


FLOOD = """
import os
for n in range(800):
    try:
        os.write(3 + n % 2, b"x" * 65536)
    except OSError:
        pass
"""


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
        ("import os, resource; resource.prlimit(os.getppid(), 0, (1, 1))", "resource.prlimit is not allowed"),
        ("import os, signal; signal.pidfd_send_signal(os.pidfd_open(os.getppid()), 0)", "nor what reaches another one"),
        ("import sqlite3", "importing _sqlite3 is not allowed"),
        ("import zmq", "importing zmq is not allowed"),
        ("import os; os.mknod('/tmp/x-of-a-learner')", "is not allowed"),
        ("import os; os.remove('f', dir_fd=os.open('/', os.O_RDONLY))", "reads no file"),
        ("import os; os.remove('f', dir_fd=os.open('/usr', os.O_RDONLY))", "reads no file"),
        ("import os\nanswer = open(f'/proc/{os.getppid()}/environ').read()" + CHECK, "reads no file"),
        ("for n in range(1000): open(str(n), 'w')", "at most 64 files"),
        (FLOOD, "the most that is read"),
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
    monkeypatch.setattr(execute, "CLOCK_SECONDS", 2)
    with pytest.raises(Refused, match="within 2 s"):
        run("import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass" + CHECK)


WAITING = """
from spanlab.course.execute import run_for_answer
from tests.test_grading_execute import book
cell = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(10**6); check('1.4', 4)"
run_for_answer(book(cell), "1.4")
"""


def test_it_ends_with_the_process_that_marks(tmp_path: Path) -> None:
    """A worker that takes too long is killed, and an instructor presses Ctrl-C: a cell that sleeps must not stay."""

    def wait_for(happened: Callable[[], object]) -> bool:
        return any(happened() or time.sleep(0.1) for _ in range(300))

    def pids() -> list[str]:
        return [text for path in tmp_path.glob("*/pid") if (text := path.read_text())]

    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parent.parent)}
    marking = subprocess.Popen([sys.executable, "-c", WAITING], env=environment)
    try:
        assert wait_for(pids)
        child = Path("/proc") / pids()[0]
        assert "execute" in (child / "cmdline").read_text()
    finally:
        marking.kill()
        marking.wait()
    assert wait_for(lambda: not child.exists())


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


def test_an_answer_may_compute_with_numpy_and_the_simulator() -> None:
    """What the lessons' own cells do must run, for all of them run before the answer."""
    assert run(
        "import numpy as np\nfrom pathlib import Path\ndisplay('a chart')",
        "run = sl.simulate(sl.Uuid4(), writes_per_second=12_000, nodes=4, minutes=1)",
        "Path('mine').write_text('own files can be read')\n"
        "answer = [int(np.ceil(12_000 / 3_500)), bool(run.committed[-1] > 11_000), open('mine').read()]" + CHECK,
    ) == [4, True, "own files can be read"]


@pytest.mark.parametrize(
    "source",
    [
        "answer = open(SECRET).read()",
        "answer = open(SOLUTION).read()",
        "answer = open(sl.__path__[0] + '/../solutions/01_address.ipynb').read()",
        "from spanlab.course import solutions as s\nanswer = s.read_notebook(s.Path(SOLUTION))",
    ],
)
def test_neither_other_peoples_files_nor_the_solutions_can_be_read(tmp_path: Path, source: str) -> None:
    secret = tmp_path / "ann.ipynb"
    secret.write_text("another learner's work")
    solution = Path(execute.__file__).parents[2] / "solutions" / "01_address.ipynb"
    with pytest.raises(Refused, match="an answer"):
        run(f"SECRET, SOLUTION = {str(secret)!r}, {str(solution)!r}\n{source}{CHECK}")


def test_a_line_that_begins_with_a_percent_sign_inside_a_text_stays() -> None:
    assert run('%time\nanswer = """\n%s\n""".strip()' + CHECK) == "%s"


def test_the_challenges_own_cell_is_run_also_without_a_call_of_check() -> None:
    cells = [{"cell_type": "code", "id": "ch-1-4", "metadata": {}, "source": "answer = len('abcd')"}]
    assert run_for_answer(json.dumps({"cells": cells, "nbformat": 4}).encode(), "1.4") == 4


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
    assert count <= 2  # the pipe of the request, the file for the reply
