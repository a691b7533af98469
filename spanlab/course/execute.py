"""Running an answer that is not plain data, in a child process that can do little harm. Only with `--execute`.

Some learners compute their answer. An instructor may allow that: the notebook's cells up to the answer run in a fresh
process with an empty home, limits on time, memory, files and processes, and no network; what it hands to `sl.check`
comes back as text, is read like any other static answer, and is judged here. A forged answer is only an answer.

These are guard rails against accidents and mischief, not a sandbox: run it in a container where the notebooks could
be hostile.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from spanlab.course.extract import NotStatic, Unreadable, answer_in, checked_ids
from spanlab.course.submissions import code_cells

SECONDS = 20
MEMORY_BYTES = 2 << 30
FILE_BYTES = 1 << 20
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
    sources = [cell["source"] for cell in code_cells(content)]
    last = max((i for i, source in enumerate(sources) if challenge_id in checked_ids(source)), default=None)
    if last is None:
        raise Refused(f'No cell calls check("{challenge_id}", …), so there is nothing to run.')
    return [re.sub(r"(?m)^[ \t]*[%!?].*$", "", source) for source in sources[: last + 1]]


def _in_child(request: bytes, home: str) -> str:
    """Start the child, feed it, wait, and end its whole process group. Returns the answer as Python text."""
    keep = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "VIRTUAL_ENV")}
    environment = keep | {
        "HOME": home, "TMPDIR": home, "SPANLAB_PROGRESS": home, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg",
    }  # fmt: skip
    child = subprocess.Popen(
        [sys.executable, "-c", "from spanlab.course.execute import child; child()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        cwd=home, env=environment | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        start_new_session=True,
    )  # fmt: skip
    try:
        output, _ = child.communicate(request, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise Refused(f"The cell did not finish within {SECONDS} s.") from None
    finally:
        _end_group(child)
    if len(output) > MAX_RESULT:
        raise Refused(f"The answer has {len(output):,} characters; {MAX_RESULT:,} are the most that is read.")
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
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    child.wait()


# ---- inside the child ----------------------------------------------------------------------------------------------


class _Answered(BaseException):
    """Ends the run as soon as the answer is known."""


def child() -> None:
    """What the child process does: read the cells, shut the doors, run, and write the answer to the pipe it was
    given."""
    request = json.loads(sys.stdin.buffer.read())
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


def _run(cells: list[str]) -> str:
    """Run the cells; an error before the last cell is passed over, as in a notebook. Returns what went wrong."""
    names: dict[str, object] = {"__name__": "__main__"}
    problem = "problem The cell ran to its end and never called check."
    for source in cells:
        try:
            exec(compile(source, "<cell>", "exec"), names)
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
    "signal.pthread_kill",
)


def _shut_doors() -> None:
    """Limits of the operating system where it has them, and a hook that refuses what an answer never needs."""
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
    with contextlib.suppress(ImportError):
        import _posixsubprocess  # starts processes without telling the hook

        for module, name in ((_posixsubprocess, "fork_exec"), (subprocess, "_fork_exec")):
            setattr(module, name, _refuse_process)
    home = os.path.realpath(Path.cwd()) + os.sep

    def refuse(event: str, details: tuple[object, ...]) -> None:
        if event.startswith(_DOORS):
            raise PermissionError(f"{event} is not allowed in an answer")
        if event in _CHANGES or (event == "open" and _writes(details)):
            for place in details[: 2 if event == "os.rename" else 1]:
                if not isinstance(place, str | bytes) or not os.path.realpath(os.fsdecode(place)).startswith(home):
                    raise PermissionError("an answer writes to no file outside its own folder")

    sys.addaudithook(refuse)


_CHANGES = ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate")


def _refuse_process(*_: object) -> None:
    raise PermissionError("starting a process is not allowed in an answer")


def _writes(details: tuple[object, ...]) -> bool:
    """Whether an "open" event (path, mode, flags) opens a file for writing."""
    mode, flags = (*details, None, None)[1:3]
    if isinstance(mode, str) and set(mode) & set("wax+"):
        return True
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC))
