"""The notebook tool: one normal form for every notebook of the course, and the commands that keep them in it.

A lesson is one .ipynb file. The file that a learner opens is the file that an author edits and that git compares, so it
has a normal form: stable cell ids, sorted keys, no timings, no state of widgets, outputs of one fresh run from top to
bottom. Running it twice gives the same bytes.

    spanlab notebook view  FILE.ipynb -o FILE.py      text to edit; cell ids stand in the markers
    spanlab notebook apply FILE.py FILE.ipynb         text back; a code cell that did not change keeps its outputs
    spanlab notebook run   FILE…                      execute in a fresh kernel, write outputs in normal form
    spanlab notebook check FILE…                      say what breaks the rules of the course (exit code 1)
    spanlab notebook fmt   FILE… [--check]            normal form only
    spanlab notebook fill  FILE… -o FOLDER [--run]    copies with the answers of solutions/ filled in

The text is jupytext's "py:percent". A marker opens a cell; `id`, `tags` and `spanlab` are its metadata, as JSON values.
Cells without an id get one. An example with a markdown cell, a code cell and a challenge cell:

    # %% [markdown] id="objectives"
    # ## After this lesson you can
    # - **sort** rows as Spanner sorts them

    # %% id="setup"
    import spanlab as sl

    # %% [markdown] id="ch-1-4-text"
    # ### Challenge 1.4 · When do nodes help?
    # The UUID table must commit …

    # %% id="ch-1-4" spanlab={"challenge": "1.4"}
    answer = ...
    sl.check("1.4", answer)

    # %% id="deliberate-error" tags=["raises-exception"]
    sl.Schema.from_ddl("CREATE TABEL")

The cells "objectives" and "takeaways" are known by their ids; `# %% [markdown]` cells hold everything else. In
`solutions/01_address.ipynb` the cell "ch-1-4" holds the reference answer in the same two statements.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from spanlab.course.notebook_form import NotebookProblem, normal, read_notebook, slug_of, to_bytes, write_notebook
from spanlab.course.notebook_run import execute
from spanlab.course.places import course_root
from spanlab.course.solutions import fill

Action = Callable[[argparse.Namespace], Iterator[str]]
"""A command: does its work and yields a line for each complaint."""


def _fmt(args: argparse.Namespace) -> Iterator[str]:
    for path in args.files:
        notebook = normal(read_notebook(path), slug_of(path))
        if not args.check and write_notebook(path, notebook):
            print(f"{path}: formatted")
        elif args.check and path.read_bytes() != to_bytes(notebook):
            yield f"{path}: not in normal form; `spanlab notebook fmt {path}` mends it"


def _run(args: argparse.Namespace) -> Iterator[str]:
    for path in args.files:
        notebook = normal(read_notebook(path), slug_of(path))
        try:
            done = normal(execute(notebook, path.resolve().parent, args.timeout), slug_of(path))
        except NotebookProblem as problem:
            yield f"{path}: {problem}"
            continue
        print(f"{path}: {'written' if write_notebook(path, done) else 'unchanged'}")


def _check(args: argparse.Namespace) -> Iterator[str]:
    from spanlab.course.notebook_checks import check_notebook

    for path in args.files:
        yield from (f"{path}: {complaint}" for complaint in check_notebook(path))


def _fill(args: argparse.Namespace) -> Iterator[str]:
    for path in args.files:
        root = course_root(path.resolve().parent)
        if root is None:
            yield f"{path}: not inside a copy of the course, so there is no solutions/ to take answers from"
            continue
        target = args.output / path.name
        if target.resolve() == path.resolve():
            yield f"{path}: choose another folder than the notebook's own; answers are never filled in place"
            continue
        try:
            filled = fill(normal(read_notebook(path), slug_of(path)), root)
            if args.execute:
                filled = execute(filled, path.resolve().parent, args.timeout)
        except NotebookProblem as problem:
            yield f"{path}: {problem}"
            continue
        write_notebook(target, normal(filled, slug_of(path)))
        print(f"{target}: written")


def _view(args: argparse.Namespace) -> Iterator[str]:
    from spanlab.course.notebook_text import to_text

    for path in args.files:
        text = to_text(normal(read_notebook(path), slug_of(path)))
        if args.output is None:
            sys.stdout.write(text)
        else:
            args.output.write_text(text, encoding="utf-8", newline="\n")
    return iter(())


def _apply(args: argparse.Namespace) -> Iterator[str]:
    from spanlab.course.notebook_text import apply_text

    old = read_notebook(args.notebook) if args.notebook.exists() else None
    text = args.text.read_text(encoding="utf-8")
    done = normal(apply_text(text, old), slug_of(args.notebook))
    print(f"{args.notebook}: {'written' if write_notebook(args.notebook, done) else 'unchanged'}")
    return iter(())


def add_commands(commands: Any) -> None:
    """Adds fmt, run, check, fill, view and apply to the commands of a parser."""

    def command(name: str, action: Action, summary: str) -> argparse.ArgumentParser:
        sub: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=summary)
        sub.set_defaults(run=partial(_carry_out, action))
        return sub

    fmt = command("fmt", _fmt, "write notebooks in normal form")
    fmt.add_argument("--check", action="store_true", help="change nothing; exit code 1 where something would change")
    run = command("run", _run, "execute notebooks in a fresh kernel and keep the outputs")
    check = command("check", _check, "say what breaks the rules of the course")
    fill_ = command("fill", _fill, "copies with the answers of solutions/ filled in")
    fill_.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    fill_.add_argument("--run", dest="execute", action="store_true", help="execute the copies as well")
    view = command("view", _view, "a notebook as text to edit")
    view.add_argument("-o", "--output", type=Path, metavar="FILE.py")
    for sub in (fmt, run, check, fill_, view):
        sub.add_argument("files", nargs="+", type=Path, metavar="FILE")
    for sub in (run, fill_):
        sub.add_argument("--timeout", type=int, default=120, metavar="SECONDS", help="longest time for one cell (120)")
    apply = command("apply", _apply, "make or update a notebook from its text")
    apply.add_argument("text", type=Path, metavar="FILE.py")
    apply.add_argument("notebook", type=Path, metavar="FILE.ipynb")


def _notebooks(places: Iterable[Path]) -> list[Path]:
    """The files that are meant: a folder means the notebooks in it."""
    return [path for place in places for path in (sorted(place.glob("*.ipynb")) if place.is_dir() else [place])]


def _carry_out(action: Action, args: argparse.Namespace) -> int:
    complaints = 0
    if hasattr(args, "files"):
        args.files = _notebooks(args.files)
    try:
        for complaint in action(args):
            print(complaint)
            complaints += 1
    except (NotebookProblem, OSError) as problem:
        print(problem)
        return 1
    return 1 if complaints else 0


def main(argv: list[str] | None = None) -> int:
    """Run one command of the notebook tool. 0 when all is well, 1 with a line for each complaint, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="spanlab notebook", description="Keep the course's notebooks in normal form.")
    add_commands(parser.add_subparsers(required=True, metavar="COMMAND"))
    args = parser.parse_args(argv)
    code: int = args.run(args)
    return code


if __name__ == "__main__":
    sys.exit(main())
