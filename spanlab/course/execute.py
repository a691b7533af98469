"""Running an answer that is not plain data, in a child process that can do little harm. Only with `--execute`.

Some learners compute their answer. An instructor may allow that: the notebook's cells up to the answer run in a fresh
process with an empty home, limits on time, memory, files and processes, and no network; what it hands to `sl.check`
comes back as text, is read like any other static answer, and is judged here. A forged answer is only an answer.

These are guard rails against accidents and mischief, not a sandbox: run it in a container where the notebooks could
be hostile.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from spanlab.course.answers import claims_of, code_cells
from spanlab.course.extract import NotStatic, Unreadable, answer_in, checked_ids, parse_cell

SECONDS = 20
"""Longest computing time of a notebook's cells up to an answer (where the system can measure it)."""
CLOCK_SECONDS = 60
"""Longest time by the clock for the same: a busy machine must not cost anybody a mark."""
MEMORY_BYTES = 2 << 30
FILE_BYTES = 1 << 20
MAX_FILES = 64
"""How often an answer may open a file for writing: each file is bounded, so all of them are."""
MAX_RESULT = 50_000


class Refused(Exception):
    """The cell did not come to an answer; `str()` says why."""


def run_for_answer(content: bytes, challenge_id: str) -> Any:
    """Run a notebook's cells up to the answer of a challenge and return what is handed to `check`. Raises Refused."""
    sources = _cells_up_to(content, challenge_id)
    with tempfile.TemporaryDirectory() as home:
        text = _in_child(json.dumps({"cells": sources, "challenge": challenge_id}).encode(), home)
    try:
        return answer_in("answer = " + text, challenge_id)
    except (NotStatic, Unreadable) as reason:
        raise Refused(f"The cell ran, but its answer is not plain data ({reason}).") from None


def _cells_up_to(content: bytes, challenge_id: str) -> list[str]:
    cells = code_cells(content)
    sources = [cell["source"] for cell in cells]
    checking = [i for i, source in enumerate(sources) if challenge_id in checked_ids(source)]
    if checking:
        return sources[: checking[-1] + 1]
    own = [i for i, cell in enumerate(cells) if challenge_id in claims_of(cell)]
    if not own:
        raise Refused(f'No cell calls check("{challenge_id}", …), so there is nothing to run.')
    return [*sources[: own[-1] + 1], f"import spanlab\nspanlab.check({challenge_id!r}, answer)"]


def _in_child(request: bytes, home: str) -> str:
    """Start the child, feed it, wait, and end its whole process group. Returns the answer as Python text."""
    keep = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "VIRTUAL_ENV")}
    environment = keep | {
        "HOME": home, "TMPDIR": home, "SPANLAB_PROGRESS": home, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg",
    }  # fmt: skip
    with tempfile.TemporaryFile() as said:  # a file has a limit, a pipe could be filled for ever
        child = subprocess.Popen(
            [sys.executable, "-c", "from spanlab.course.execute import child; child()"],
            stdin=subprocess.PIPE, stdout=said, stderr=subprocess.DEVNULL,
            cwd=home, env=environment | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,
        )  # fmt: skip
        try:
            if child.stdin is not None:  # it stays open: the child ends with whoever holds the other end
                with contextlib.suppress(BrokenPipeError):
                    child.stdin.write(request + b"\n")
                    child.stdin.flush()
            child.wait(CLOCK_SECONDS)
        except subprocess.TimeoutExpired:
            raise Refused(f"The cell did not finish within {CLOCK_SECONDS} s.") from None
        finally:
            _end_group(child)
        said.seek(0)
        output = said.read(MAX_RESULT + 1)
    if len(output) > MAX_RESULT:
        raise Refused(f"The answer has more than {MAX_RESULT:,} characters, the most that is read.")
    reply = output.decode("utf-8", "replace")
    if not reply.startswith("answer "):
        raise Refused(
            reply.removeprefix("problem ").strip()
            or "The process ended without an answer (memory, time or a call of exit)."
        )
    return reply.removeprefix("answer ")


def _end_group(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    if child.stdin is not None:
        with contextlib.suppress(OSError):
            child.stdin.close()
    child.wait()


# ---- inside the child ----------------------------------------------------------------------------------------------


class _Answered(BaseException):
    """Ends the run as soon as the answer is known."""


def child() -> None:
    """What the child process does: read the cells, shut the doors, run, and write the answer to the file it was
    given."""
    request = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_the_parent, args=(os.dup(0),), daemon=True).start()
    reply = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)
    import spanlab
    from spanlab.course.kinds import WrongKind, plain

    answers: list[str] = []

    def check(challenge_id: object = "", answer: object = ..., *rest: object) -> None:
        if challenge_id == request["challenge"]:
            try:
                answers.append("answer " + repr(plain(answer)))
            except WrongKind as reason:
                answers.append(f"problem {reason}")
            raise _Answered

    spanlab.check = check
    _shut_doors()
    problem = _run(request["cells"])
    with contextlib.suppress(OSError):
        os.write(reply, (answers[0] if answers else problem).encode("utf-8", "replace")[: MAX_RESULT + 1])
    os._exit(0)


def _end_with_the_parent(request: int) -> None:
    """Wait until the pipe is closed: then who wanted the answer is gone, and a sleeping cell would stay for ever."""
    os.read(request, 1)
    os._exit(1)


def _run(cells: list[str]) -> str:
    """Run the cells; an error before the last cell is passed over, as in a notebook. Returns what went wrong."""
    names: dict[str, object] = {"__name__": "__main__", "display": lambda *_, **__: None}
    problem = "problem The cell ran to its end and never called check."
    for source in cells:
        try:
            exec(compile(parse_cell(source), "<cell>", "exec"), names)
        except _Answered:
            break
        except BaseException as error:  # SystemExit and KeyboardInterrupt are a cell's doing as well
            problem = f"problem The cell fails with {type(error).__name__}: {str(error)[:200]}"
    return problem


_DOORS = (
    "socket.",
    "subprocess.",
    "os.system",
    "os.exec",
    "os.spawn",
    "os.posix_spawn",
    "os.fork",
    "os.kill",
    "os.startfile",
    "ctypes.",
    "pty.",
    "os.chmod",
    "os.chown",
    "os.symlink",
    "os.link",
    "os.setxattr",
    "os.removexattr",
    "resource.prlimit",
    "signal.pthread_kill",
)
_UNTOLD = (
    *("_cffi_backend", "_dbm", "_gdbm", "_interpreters", "_sqlite3", "_xxsubinterpreters"),
    *("psutil", "readline", "zmq"),
)
"""Modules that reach files, sockets or processes without telling Python's audit hook."""
_UNTOLD_CALLS = (
    ("_posixsubprocess", "fork_exec"),
    ("subprocess", "_fork_exec"),
    ("posix", "mknod"),
    ("os", "mknod"),
    ("posix", "mkfifo"),
    ("os", "mkfifo"),
    ("posix", "pidfd_open"),
    ("os", "pidfd_open"),
    ("_signal", "pidfd_send_signal"),
    ("signal", "pidfd_send_signal"),
)


def _shut_doors() -> None:
    """Limits of the operating system where it has them, and a hook that refuses what an answer never needs."""
    import numpy  # noqa: F401  opens libraries while it loads, which is refused from here on

    _limit()
    for module, name in _UNTOLD_CALLS:
        with contextlib.suppress(ImportError):
            setattr(importlib.import_module(module), name, _refuse_call)
    home = os.path.realpath(Path.cwd())
    readable = (home, *_readable())
    written = 0

    def refuse(event: str, details: tuple[object, ...]) -> None:
        nonlocal written
        if event.startswith(_DOORS):
            raise PermissionError(f"{event} is not allowed in an answer")
        if event == "import" and str(details[0]).partition(".")[0] in _UNTOLD:
            raise PermissionError(f"importing {details[0]} is not allowed in an answer")
        if event in _CHANGES or (event == "open" and _writes(details)):
            written += event == "open"
            if written > MAX_FILES:
                raise PermissionError(f"an answer writes to at most {MAX_FILES} files")
            for place in details[: 2 if event == "os.rename" else 1]:
                if not _below(place, (home,)):
                    raise PermissionError("an answer writes to no file outside its own folder")
        elif event == "open" and not isinstance(details[0], int) and not _readable_file(details[0], readable):
            raise PermissionError("an answer reads no file but its own and those of Python and spanlab")

    sys.addaudithook(refuse)


def _limit() -> None:
    with contextlib.suppress(ImportError):
        import resource

        for name, limit in (
            ("RLIMIT_CPU", SECONDS),
            ("RLIMIT_AS", MEMORY_BYTES),
            ("RLIMIT_FSIZE", FILE_BYTES),
            ("RLIMIT_NPROC", 0),
            ("RLIMIT_CORE", 0),
            ("RLIMIT_NOFILE", 64),
        ):
            with contextlib.suppress(ValueError, OSError, AttributeError):
                resource.setrlimit(getattr(resource, name), (limit, limit))


_CHANGES = ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate", "os.utime")
_SYSTEM = ("/usr", "/lib", "/lib64", "/etc", "/dev", "/sys", "/System", "/Library", "/proc/cpuinfo", "/proc/meminfo")


def _readable() -> list[str]:
    """Where Python, its packages, spanlab and the system keep their files. The copy of the course is not among them:
    its solutions are nobody's answer."""
    package = Path(__file__).resolve().parent.parent
    packages = [place for place in sys.path if Path(place).resolve() != package.parent]
    system = (*_SYSTEM, f"/proc/{os.getpid()}", os.environ.get("SYSTEMROOT", sys.prefix))
    places = (str(package), sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, *packages, *system)
    return [os.path.realpath(place) for place in places if place]


def _readable_file(place: object, readable: tuple[str, ...]) -> bool:
    """Whether a file lies where an answer may read. Folders are never opened: what is done through a folder's
    descriptor does not say where."""
    return _below(place, readable) and not Path(os.fsdecode(place)).is_dir()  # type: ignore[arg-type]


def _below(place: object, folders: tuple[str, ...]) -> bool:
    if not isinstance(place, str | bytes | os.PathLike):
        return False
    real = os.path.realpath(os.fsdecode(place))
    return any(real == folder or real.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


def _refuse_call(*_: object, **__: object) -> None:
    raise PermissionError("starting a process is not allowed in an answer, nor what reaches another one")


def _writes(details: tuple[object, ...]) -> bool:
    """Whether an "open" event (path, mode, flags) opens a file for writing."""
    mode, flags = (*details, None, None)[1:3]
    if isinstance(mode, str) and set(mode) & set("wax+"):
        return True
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC))
