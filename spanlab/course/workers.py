"""The processes that mark a class, each with limits on its time and its memory.

Whatever a file does to the process that reads it, the parent goes on: it knows which answer a worker was busy with,
ends a worker that computes for too long, and gives the rest of the notebook to another one.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from typing import Any

from spanlab.course.challenge import UNREADABLE
from spanlab.course.grading import Mark, Row, Task, absorb, empty_row, mark_submission

CPU_SECONDS = 10.0
"""Longest computing time for one answer, and for reading one file (where the system can measure it)."""
ANSWER_SECONDS = 60.0
"""Longest time by the clock for the same. A busy machine must not cost anybody a mark, so it is generous."""
SUBMISSION_SECONDS = 240.0
MEMORY_BYTES = 4 << 30
TOO_LONG = "was stopped: it took too long"


def work(connection: Connection) -> None:
    """A worker process: marks the tasks that it is sent, and tells each step. Ends when told None."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    import spanlab.advisor
    import spanlab.schema
    import spanlab.splits  # noqa: F401  loaded before the clock of the first answer starts

    with contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        connection.send("ready")
        while (task := connection.recv()) is not None:
            _wind_up()
            for step in mark_submission(task):
                connection.send(step)
                _wind_up()
            connection.send(None)


def _wind_up() -> None:
    """Let the system end this process when the next step computes for too long, even inside a C function."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)


@dataclass
class _Worker:
    """A worker process as its parent sees it."""

    process: Any
    connection: Connection
    task: Task | None = None
    number: int = 0
    ready: bool = False
    challenge: str = ""
    step_ends: float = float("inf")
    task_ends: float = float("inf")


def grade(tasks: list[Task], *, jobs: int = 1, told: Callable[[int], None] = lambda done: None) -> list[Row]:
    """Mark all tasks; one row a task, in their order. `told` hears how many are finished.

    A step that computes for more than 10 s is stopped with its worker: that answer counts as unreadable and the
    others go on.
    """
    rows = [empty_row(task.submission, task.chapter) for task in tasks]
    crew = _Crew(tasks, rows, told)
    try:
        crew.run(max(1, min(jobs, len(tasks))))
    finally:
        crew.dismiss()
    return rows


class _Crew:
    """The workers, and who is doing what."""

    def __init__(self, tasks: list[Task], rows: list[Row], told: Callable[[int], None]) -> None:
        self.waiting = list(enumerate(tasks))[::-1]
        self.rows, self.told = rows, told
        self.workers: list[_Worker] = []
        self.finished = 0

    def run(self, jobs: int) -> None:
        while self.waiting or any(worker.task for worker in self.workers):
            while len(self.workers) < jobs and len(self.workers) < self._busy() + len(self.waiting):
                self.workers.append(self._hire())
            ends = min((min(w.step_ends, w.task_ends) for w in self.workers if w.task), default=float("inf"))
            patience = max(0.0, min(ends - time.monotonic(), 1.0))
            ready = wait([w.connection for w in self.workers], patience)
            for worker in list(self.workers):
                if worker.connection in ready:
                    self._hear(worker)
                elif worker.task and time.monotonic() > min(worker.step_ends, worker.task_ends):
                    self._stop(worker, TOO_LONG)

    def _busy(self) -> int:
        return sum(worker.task is not None for worker in self.workers)

    def _hire(self) -> _Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(theirs,), daemon=True)
        with _surroundings(_FOR_WORKERS):
            process.start()
        theirs.close()
        return _Worker(process, ours)

    def _hear(self, worker: _Worker) -> None:
        try:
            step = worker.connection.recv()
        except (EOFError, OSError):
            worker.process.join()
            timed_out = worker.process.exitcode == -getattr(signal, "SIGPROF", 0)
            self._stop(worker, TOO_LONG if timed_out else "ended the process that was reading it")
            return
        now = time.monotonic()
        worker.step_ends = now + ANSWER_SECONDS * (3 if worker.task and worker.task.execute else 1)
        if step == "ready" or step is None:
            worker.ready = True
            if step is None:
                self._finish(worker)
            self._next_task(worker, now)
            return
        absorb(self._row(worker), step)
        worker.challenge = step if isinstance(step, str) else ""
        if isinstance(step, Mark) and worker.task:
            worker.task = replace(worker.task, done=(*worker.task.done, step.challenge))

    def _row(self, worker: _Worker) -> Row:
        return self.rows[worker.number]

    def _next_task(self, worker: _Worker, now: float) -> None:
        worker.task, worker.challenge = None, ""
        worker.step_ends = worker.task_ends = float("inf")
        if self.waiting:
            worker.number, worker.task = self.waiting.pop()
            worker.step_ends, worker.task_ends = now + ANSWER_SECONDS, now + SUBMISSION_SECONDS
            worker.connection.send(worker.task)

    def _finish(self, worker: _Worker) -> None:
        self.finished += 1
        self.told(self.finished)

    def _stop(self, worker: _Worker, why: str) -> None:
        """End a worker, note what it was doing, and give the rest of its task to another one."""
        worker.process.kill()
        worker.process.join()
        worker.connection.close()
        self.workers.remove(worker)
        task = worker.task
        if task is None and worker.ready:
            return
        if task is None:
            raise ChildProcessError("a process that marks could not start; `spanlab doctor` may say why")
        row = self._row(worker)
        out_of_time = time.monotonic() > worker.task_ends
        left = [id_ for id_ in row.marks if id_ not in task.done]
        stopped = left if out_of_time or not worker.challenge else [worker.challenge]
        for id_ in stopped:
            row.marks[id_] = replace(row.marks[id_], state=UNREADABLE, message=f"This answer {why}.")
        row.worsen("unreadable", f"{', '.join(stopped)} {why}")
        rest = replace(task, done=(*task.done, *stopped))
        if len(rest.done) < len(row.marks):
            self.waiting.append((worker.number, rest))
        else:
            self._finish(worker)

    def dismiss(self) -> None:
        for worker in self.workers:
            with contextlib.suppress(OSError):
                worker.connection.send(None)
            worker.connection.close()
        for worker in self.workers:
            worker.process.join(2)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


_FOR_WORKERS = {
    "PYTHONSAFEPATH": "1",  # Python would look for its own modules among the files that were handed in
    "PYTHONHASHSEED": "0",  # a set is written in the same order by every worker
    "OPENBLAS_NUM_THREADS": "1",  # on many cores, numpy's threads would eat the memory limit
}


@contextlib.contextmanager
def _surroundings(settings: dict[str, str]) -> Iterator[None]:
    """Processes started meanwhile have these environment variables."""
    before = dict(os.environ)
    os.environ.update(settings)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def default_jobs() -> int:
    """As many workers as there are cores, at most 8."""
    return max(1, min(8, os.cpu_count() or 1))
