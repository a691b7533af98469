"""What a learner has done so far, kept between sittings.

Progress is one JSON file for each copy of the course, `.spanlab/progress.json` in it. Where the copy cannot be
written to (a shared folder, an image), it lives in the user's own data folder. The environment variable
SPANLAB_PROGRESS names another folder, so that tests and the runs of authors neither see a learner's progress nor
touch it.

Two notebooks may run at once, and a process may be killed at any moment. So every process writes a file of its own
(`session-….json`: all that happened in it) and then folds all files into `progress.json`, each time by writing a
spare and renaming it. Records only ever grow and merging them takes the better of two, in any order, any number of
times; nothing is locked and nothing is lost. A session file is removed when it is old and the main file already holds
it.

A file that cannot be read is set aside under another name, said so once, and never stops a lesson. A file that a newer
course wrote is not damaged: it stays as it is, and what is done here waits in this session's file until the newer
course folds it in.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
import uuid
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from spanlab.course.places import course_root

VERSION = 1
MAX_TRIES_KEPT = 50
_OLD_SECONDS = 600
"""A session file is left alone for this long: no other process can still be about to overwrite the main file without
it."""


@dataclass
class Record:
    """One challenge. `epoch` counts resets; of two records the one with the later epoch stands alone."""

    epoch: int = 0
    points: float = 0.0
    state: str = "not_attempted"
    tries: list[str] = field(default_factory=list)
    hints: int = 0
    revealed: bool = False

    def merged(self, other: Record) -> Record:
        """The better of two records of the same challenge. The order does not matter."""
        if self.epoch != other.epoch:
            return self if self.epoch > other.epoch else other
        better = max(self, other, key=lambda r: (r.points, _RANK.get(r.state, 0), r.state))
        return Record(
            epoch=self.epoch,
            points=better.points,
            state=better.state,
            tries=sorted({*self.tries, *other.tries})[:MAX_TRIES_KEPT],
            hints=max(self.hints, other.hints),
            revealed=self.revealed or other.revealed,
        )


_RANK = {"not_attempted": 0, "unreadable": 1, "failed": 2, "partial": 3, "recorded": 4, "passed": 5}

Records = dict[str, Record]


def merge(first: Records, second: Records) -> Records:
    """Two sets of records as one."""
    return {
        id_: first[id_].merged(second[id_]) if id_ in first and id_ in second else first.get(id_) or second[id_]
        for id_ in sorted({*first, *second})
    }


def digest(answer: object) -> str:
    """A short mark of an answer, to count different tries without keeping them."""
    return hashlib.sha256(repr(answer).encode("utf-8", "backslashreplace")).hexdigest()[:12]


# ---- files ---------------------------------------------------------------------------------------------------------


def default_folder() -> Path:
    """Where progress belongs: SPANLAB_PROGRESS, else the course copy, else the user's data folder."""
    if chosen := os.environ.get("SPANLAB_PROGRESS"):
        return Path(chosen)
    root = course_root()
    if root is not None and os.access(root, os.W_OK):
        return root / ".spanlab"
    import platformdirs

    copy = hashlib.sha256(str(root or "no copy").encode()).hexdigest()[:12]
    return Path(platformdirs.user_data_dir("spanlab", appauthor=False)) / copy


def progress_file() -> Path:
    """The file that remembers what was done in this copy of the course."""
    return default_folder() / "progress.json"


class _Newer(Exception):
    """The file is of a version that this course does not know."""


def _parse(content: bytes) -> Records:
    """The records of a file. Raises ValueError for anything that is not one of ours, _Newer for one of a newer
    course."""
    data = json.loads(content)
    if (
        not isinstance(data, dict)
        or not isinstance(data.get("challenges"), dict)
        or not isinstance(data.get("version"), int)
    ):
        raise ValueError("not a progress file")
    if data["version"] > VERSION:
        raise _Newer
    return {str(id_): _record(item) for id_, item in data["challenges"].items()}


def _record(item: Any) -> Record:
    record = Record(
        epoch=int(item["epoch"]),
        points=float(item["points"]),
        state=str(item["state"]),
        tries=[str(t) for t in item["tries"]][:MAX_TRIES_KEPT],
        hints=int(item["hints"]),
        revealed=item["revealed"] is True,
    )
    if record.state not in _RANK or not 0 <= record.points <= 1000 or not 0 <= record.epoch < 10**9:
        raise ValueError("not a record")
    return record


def _dump(records: Records) -> bytes:
    data = {"version": VERSION, "challenges": {id_: asdict(record) for id_, record in sorted(records.items())}}
    return (json.dumps(data, indent=1, sort_keys=True) + "\n").encode()


def _replace(path: Path, content: bytes) -> None:
    """Write a file in one step: whoever reads sees the old one or the new one, whenever this process is killed."""
    spare = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        with spare.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        for attempt in range(10):  # Windows refuses while another process has the file open for a moment
            try:
                spare.replace(path)
                return
            except PermissionError:
                if attempt == 9:
                    raise
                time.sleep(0.01)
    finally:
        spare.unlink(missing_ok=True)


class Progress:
    """The progress kept in one folder. `warning` says, once, what could not be read or written; "" when all is well."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.warning = ""
        self._session = f"session-{os.getpid()}-{uuid.uuid4().hex[:8]}.json"
        self._pid = os.getpid()
        self._own: Records = {}
        self._told_of_newer = False

    @property
    def main_file(self) -> Path:
        return self.folder / "progress.json"

    def records(self) -> Records:
        """All records, those of other running notebooks included."""
        found = dict(self._own)
        for path in self._session_files():
            found = merge(found, self._read(path))
        return merge(found, self._read(self.main_file))

    def get(self, challenge_id: str) -> Record:
        """The record of one challenge; an empty one where nothing was done."""
        return self.records().get(challenge_id, Record())

    def update(self, challenge_id: str, **changes: Any) -> None:
        """Merge a change into a challenge's record and keep it. A disk that refuses is a warning, never an error."""
        known = self.get(challenge_id)
        change = Record(**{"epoch": known.epoch, **changes})
        self._own = merge(self._own, {challenge_id: change})
        self._save()

    def reset(self, *challenge_ids: str) -> None:
        """Forget what was done for these challenges; without any, for all."""
        records = self.records()
        for id_ in challenge_ids or tuple(records):
            self._own[id_] = Record(epoch=records.get(id_, Record()).epoch + 1)
        self._save()

    def _save(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if os.getpid() != self._pid:  # a forked process is another session
                self._pid, self._session = os.getpid(), f"session-{os.getpid()}-{uuid.uuid4().hex[:8]}.json"
            _replace(self.folder / self._session, _dump(self._own))
            self._fold()
        except OSError as error:
            self.warning = (
                f"Your progress could not be saved in {self.folder} ({error.strerror or error}). It "
                f"counts until you close."
            )

    def _fold(self) -> None:
        """Bring all session files into the main file. They are read first and the main file last: whatever was removed
        in between is then already in the main file."""
        files = self._session_files()
        sessions = [(path, self._read(path)) for path in files]
        main = self._read(self.main_file)
        if main is _OF_A_NEWER_COURSE:
            return
        total = main
        for _, records in sessions:
            total = merge(total, records)
        if total != main or not self.main_file.exists():
            _replace(self.main_file, _dump(total))
        held = [
            path
            for path, records in sessions
            if path.name != self._session and records is not _OF_A_NEWER_COURSE and merge(main, records) == main
        ]
        for path in (*held, *self.folder.glob("*.tmp")):  # a spare is left behind by a process that was killed
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _OLD_SECONDS:
                    path.unlink()

    def _session_files(self) -> list[Path]:
        try:
            return sorted(self.folder.glob("session-*.json"))
        except OSError:
            return []

    def _read(self, path: Path) -> Records:
        try:
            content = path.read_bytes()
        except OSError:
            return {}
        try:
            return _parse(content)
        except _Newer:
            if not self._told_of_newer:
                self._told_of_newer = True
                self.warning = (
                    f"{path.name} was written by a newer version of the course, so what it holds is not seen here. "
                    f"Close this notebook and open it with the newer course; nothing is lost."
                )
            return _OF_A_NEWER_COURSE
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
            return self._set_aside(path, error)

    def _set_aside(self, path: Path, error: Exception) -> Records:
        aside = path.with_name(f"damaged-{uuid.uuid4().hex[:6]}-{path.name}")
        with contextlib.suppress(OSError):
            path.replace(aside)
        self.warning = (
            f"{path.name} could not be read ({error}); it was set aside as {aside.name}, and "
            f"progress goes on without it."
        )
        return {}


_OF_A_NEWER_COURSE: Records = {}
_OPEN: dict[Path, Progress] = {}


def current() -> Progress:
    """The progress of the course copy that the working folder lies in; the same object for the same folder."""
    folder = default_folder()
    return _OPEN.setdefault(folder, Progress(folder))
