"""Where a copy of the course keeps its parts: lessons, labs, solutions.

A learner may start Python in any folder of the course, or in none; everything here works from the folder given and
walks up. A course copy is a folder that holds `course.py` and `lessons/`.
"""

from __future__ import annotations

from pathlib import Path


def course_root(start: Path | None = None) -> Path | None:
    """The course copy that `start` (default: the working folder) lies in, or None outside of any."""
    try:
        here = (start or Path.cwd()).resolve()
    except OSError:  # the working folder was deleted, or cannot be reached
        return None
    for folder in (here, *here.parents):
        if (folder / "course.py").is_file() and (folder / "lessons").is_dir():
            return folder
    # inside the project without a finished copy around it, pyproject.toml and lessons/ do as well
    return next(
        (f for f in (here, *here.parents) if (f / "pyproject.toml").is_file() and (f / "lessons").is_dir()), None
    )


def chapter_of(challenge_id: str) -> str:
    """The lesson or lab that a challenge belongs to: "1" for "1.3", "B" for "B.5"."""
    return challenge_id.partition(".")[0]


def cell_id(challenge_id: str) -> str:
    """The notebook cell that holds a challenge's answer: "1.3" -> "ch-1-3", "1.P1" -> "ch-1-P1"."""
    return "ch-" + challenge_id.replace(".", "-")


def notebook_of(chapter: str, root: Path) -> Path | None:
    """The lesson or lab of a chapter, or None where the copy lacks it."""
    pattern = f"lessons/{int(chapter):02d}_*.ipynb" if chapter.isdigit() else f"labs/{chapter.lower()}_*.ipynb"
    return next(iter(sorted(root.glob(pattern))), None)


def solutions_of(chapter: str, root: Path) -> Path | None:
    """The notebook with a chapter's answers, or None where it was packed away."""
    pattern = f"{int(chapter):02d}_*.ipynb" if chapter.isdigit() else f"lab_{chapter.lower()}_*.ipynb"
    return next(iter(sorted((root / "solutions").glob(pattern))), None)
