"""The hand-out: a zip of the course that learners unpack and open with `course.py`, without the answers.

It holds what a learner needs and nothing else: no solutions, no tests, no history, nobody's progress and nobody's
notes. The same course gives the same bytes.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from spanlab.course.answers import answers_in
from spanlab.course.challenge import FAILED, PARTIAL, PASSED, RECORDED, UNREADABLE
from spanlab.course.challenges import all_challenges
from spanlab.course.feedback import LOOK
from spanlab.course.notebook_form import read_notebook
from spanlab.course.outputs import refuse_if_not_writable
from spanlab.course.places import course_root
from spanlab.course.submissions import BadSubmission

_TOP = [
    "course.py",
    "README.md",
    "pyproject.toml",
    "constraints.txt",
    "environment.yml",
    "LICENSE",
    "LICENSE-TEXT.md",
    "CHANGELOG.md",
]
_FOLDERS = ("spanlab", "lessons", "labs", "docs", ".devcontainer")
_OF_LESSONS = (".ipynb", ".png", ".svg")
"""What a lesson is made of. Whatever else lies beside one is its author's."""
_LESSONS = ("lessons", "labs")
_SAID_TO_AN_ANSWER = tuple(LOOK[state][0] for state in (PASSED, PARTIAL, FAILED, UNREADABLE, RECORDED))
_DATE = (1980, 1, 1, 0, 0, 0)


def pack(notebooks: Sequence[Path], output: Path) -> int:
    """Write the hand-out; returns the number of files in it. `notebooks` narrows it to these lessons and labs.

    Raises ValueError outside a course copy, for a notebook of elsewhere, and where a notebook still holds answers.
    """
    chosen = [path.resolve() for path in notebooks]
    root = course_root(chosen[0].parent if chosen else None)
    if root is None:
        raise ValueError("this is not inside a copy of the course; change into its folder, or name a lesson in it")
    for path in chosen:
        if path.parent not in (root / "lessons", root / "labs") or not path.is_file():
            raise ValueError(f"{path}: this is not a lesson or lab of the course in {root}")
    files = [path for path in _files(root) if path.suffix != ".ipynb" or not chosen or path in chosen]
    for path in files:
        if path.suffix == ".ipynb":
            _refuse_answers(path)
    refuse_if_not_writable([output])
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            info = zipfile.ZipInfo(f"spanlab-course/{path.relative_to(root).as_posix()}", _DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, path.read_bytes())
    return len(files)


def _files(root: Path) -> Iterator[Path]:
    yield from (root / name for name in _TOP if (root / name).is_file())
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            inside = path.relative_to(root / folder).parts
            hidden = any(part.startswith(".") or part == "__pycache__" for part in inside)
            strange = path.suffix in (".pyc", ".zip") or (folder in _LESSONS and path.suffix not in _OF_LESSONS)
            if path.is_file() and not path.is_symlink() and not hidden and not strange:
                yield path


def _refuse_answers(path: Path) -> None:
    """What `spanlab grade` would read as an answer must not be handed out, nor what a check said to one."""
    try:
        answers = answers_in(path.read_bytes(), all_challenges())
    except BadSubmission as reason:
        raise ValueError(f"{path}: {reason}") from None
    for challenge, answer in answers.items():
        if answer.status not in ("missing", "open"):
            raise ValueError(f"{path}: challenge {challenge} is answered in it; put back `answer = ...` first")
    for cell in read_notebook(path)["cells"]:
        for output in cell.get("outputs", []):
            said = "".join(output.get("data", {}).get("text/plain", ""))
            if said.startswith(_SAID_TO_AN_ANSWER):
                mend = f"spanlab notebook run {path} writes those of the open cells"
                raise ValueError(f"{path}: its outputs still tell how an answer did ({said[:40]!r}); {mend}")
