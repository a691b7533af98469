"""What learners hand in: notebooks in a folder or a zip, each read with distrust and never run.

A class hands in whatever its system makes of it: one file a learner, one folder a learner, a zip of either, a zip of
zips. The first part of the path names the learner. Zips are read in memory and nothing of them is ever written to
disk, so a name like `../../x` is only a name.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import re
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

MAX_NOTEBOOK = 20_000_000
MAX_SUBMISSIONS = 5_000
MAX_INNER_ZIP = 100_000_000
"""Bytes of a zip that lies in a zip."""
MAX_UNPACKED = 1_000_000_000
"""Bytes of all the zips in one zip: a zip may swell a thousandfold when it is unpacked."""


_DAMAGED = "?"
"""Stands for the files of a zip that cannot be opened. No zip has a file of this name, so reading it fails as well."""
_ENDING = re.compile(r"\.ipynb(\.txt|\.json)?$", re.IGNORECASE)  # some browsers add another ending


class BadSubmission(ValueError):
    """A file that cannot be marked at all; `str()` says why."""


@dataclass(frozen=True)
class Submission:
    """One learner's notebook: a file, or where `members` is not empty, the file of that name in the zip `path`; a
    second name is that of a file in the zip which the first one is."""

    student: str
    path: Path
    members: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The file's name, for reports."""
        inside = [name for name in self.members if name != _DAMAGED]
        return re.split(r"[/\\]", inside[-1])[-1] if inside else self.path.name

    def content(self) -> bytes:
        """The file's bytes, at most 20 MB. Raises BadSubmission."""
        try:
            content = self._read()
        except BadSubmission:
            raise
        except Exception as error:  # damaged archives fail in more ways than zipfile names
            raise BadSubmission(f"the file cannot be read ({error})") from None
        _bound(len(content), MAX_NOTEBOOK)  # the size in a zip's directory may be a lie
        return content

    def _read(self) -> bytes:
        if not self.members:
            _bound(self.path.stat().st_size, MAX_NOTEBOOK)
            return self.path.read_bytes()
        *zips, name = self.members
        with contextlib.ExitStack() as opened:
            archive = opened.enter_context(zipfile.ZipFile(self.path))
            for inner in zips:
                archive = opened.enter_context(zipfile.ZipFile(io.BytesIO(_member(archive, inner, MAX_INNER_ZIP))))
            return _member(archive, name, MAX_NOTEBOOK)


def _member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """A file of a zip; never more of it than one byte above `most` is unpacked. Raises BadSubmission."""
    _bound(archive.getinfo(name).file_size, most)
    with archive.open(name) as file:
        content = file.read(most + 1)
    _bound(len(content), most)
    return content


def _bound(size: int, most: int) -> None:
    if size > most:
        raise BadSubmission(f"the file has {size / 1e6:,.0f} MB; {most / 1e6:.0f} MB are the most that is read")


# ---- finding them --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _File:
    """A file that was handed in: the folders that it lies in and its name, where a zip counts as a folder of its name,
    and where to read it."""

    parts: tuple[str, ...]
    path: Path
    members: tuple[str, ...] = ()

    @property
    def is_notebook(self) -> bool:
        return bool(_ENDING.search(self.parts[-1])) or self.parts[-1] == _DAMAGED


def find_submissions(place: Path, besides: Iterable[Path] = ()) -> list[Submission]:
    """Every notebook handed in under a folder, or in a zip, in the order of learners' names. A learner who handed in
    files and no notebook has one of the files here, to be refused with a reason. What lies in `besides` (files and
    folders that marking itself writes) was not handed in.

    Raises FileNotFoundError where there is nothing of the name, ValueError where it holds no notebook.
    """
    if not place.exists():
        raise FileNotFoundError(f"{place}: there is no such folder or zip")
    if place.is_dir():
        files = list(_in_folder(place, [path.resolve() for path in besides]))
    elif place.suffix.lower() == ".zip":
        files = list(_in_zip(place, ()))
    else:
        files = [_File((f"{place.stem}.ipynb",), place)]
    if not any(file.is_notebook for file in files):
        raise ValueError(f"{place} holds no notebook (.ipynb) and no zip with one")
    found = _submissions(_under_the_first_fork(files))
    if len(found) > MAX_SUBMISSIONS:
        raise ValueError(f"{place} holds more than {MAX_SUBMISSIONS:,} notebooks; mark it in parts")
    return sorted(found, key=lambda s: (s.student.casefold(), s.student, s.path.as_posix(), s.members))


def _under_the_first_fork(files: list[_File]) -> list[_File]:
    """The files without a folder that all of them lie in, where there are folders below it. Who zips the folder
    `class` hands on `class/ann/…`, `class/bob/…`, and no learner is called class."""
    while len({file.parts[0] for file in files}) == 1 and all(len(file.parts) > 2 for file in files):
        if len({file.parts[1] for file in files}) == 1 and all(len(file.parts) == 3 for file in files):
            break  # one learner's only folder
        files = [_File(file.parts[1:], file.path, file.members) for file in files]
    return files


def _submissions(files: list[_File]) -> list[Submission]:
    """A submission for each notebook, and one for each learner's folder that has none."""
    found: list[Submission] = []
    others: dict[str, Submission] = {}
    for file in files:
        student = _student(file.parts[0] if len(file.parts) > 1 else _ENDING.sub("", file.parts[0]))
        submission = Submission(student, file.path, file.members)
        if file.is_notebook:
            found.append(submission)
        elif len(file.parts) > 1:
            others.setdefault(student, submission)
    having = {submission.student for submission in found}
    return found + [other for student, other in others.items() if student not in having]


def _student(name: str) -> str:
    """A learner's name, in the form in which names are usually typed: some systems store ü as u and two dots."""
    return unicodedata.normalize("NFC", name)


def _in_folder(folder: Path, besides: list[Path]) -> Iterator[_File]:
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if _is_hidden("/".join(parts)):
            continue  # checkpoints and other hidden files
        real = path.resolve()
        if path.is_symlink() or not real.is_relative_to(folder.resolve()) or not path.is_file():
            continue  # links could lead out of the folder, or to another learner's work
        if any(real.is_relative_to(other) for other in besides):
            continue
        if path.suffix.lower() == ".zip":
            yield from _in_zip(path, (*parts[:-1], path.stem))
        else:
            yield _File(parts, path)


def _in_zip(path: Path, folders: tuple[str, ...]) -> Iterator[_File]:
    """The files in a zip and in the zips in it."""
    left = MAX_UNPACKED
    try:
        with zipfile.ZipFile(path) as archive:
            for name, parts in _listing(archive):
                if not name.lower().endswith(".zip"):
                    yield _File((*folders, *parts), path, (name,))
                    continue
                below = (*folders, *parts[:-1], parts[-1][:-4])
                try:
                    content = _member(archive, name, min(MAX_INNER_ZIP, left))
                    left -= len(content)
                    with zipfile.ZipFile(io.BytesIO(content)) as inner:
                        yield from [_File((*below, *p), path, (name, n)) for n, p in _listing(inner)]
                except Exception:
                    yield _File((*below, _DAMAGED), path, (name, _DAMAGED))
    except Exception:  # a zip can be damaged in more ways than zipfile names
        yield _File((*(folders or (path.stem,)), _DAMAGED), path, (_DAMAGED,))


def _listing(archive: zipfile.ZipFile) -> list[tuple[str, list[str]]]:
    """The files of a zip that are not hidden, in order: the name to open each by, and its parts."""
    found = []
    for info in archive.infolist():
        name = info.filename
        if not info.flag_bits & 0x800:  # not said to be UTF-8, and often is: Macs do not say so
            with contextlib.suppress(UnicodeError):
                name = name.encode("cp437").decode("utf-8")
        parts = [part for part in re.split(r"[/\\]", name) if part not in ("", ".", "..")]
        if parts and not info.is_dir() and not _is_hidden(name):
            found.append((info.filename, parts))
    return sorted(found)


def _is_hidden(name: str) -> bool:
    parts = [part for part in re.split(r"[/\\]", name) if part not in (".", "..")]
    return any(part.startswith(".") or part == "__MACOSX" for part in parts)


def sha256(content: bytes) -> str:
    """The mark by which a file is known again."""
    return hashlib.sha256(content).hexdigest()
