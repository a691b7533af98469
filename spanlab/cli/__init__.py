"""The command line: `spanlab advise`, `explain`, `simulate` for schemas; `check`, `grade` and others for the course.

Each module here is one command, or a group of them, with a function `add_commands`; this one gathers them and turns an
error that spanlab raised on purpose into one message and the exit code 2.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from spanlab import __version__
from spanlab.errors import SpanlabError


def build_parser() -> argparse.ArgumentParser:
    """The parser with all commands."""
    from spanlab.cli import advise, explain, simulate
    from spanlab.course import commands as course

    parser = argparse.ArgumentParser(prog="spanlab", description="Cloud Spanner schema design: a course and its tools.")
    parser.add_argument("--version", action="version", version=f"spanlab {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for part in (advise, explain, simulate, course):
        part.add_commands(commands)
    doctor = commands.add_parser("doctor", help="say what is wrong with this set-up, and how to mend it")
    doctor.add_argument("--brief", action="store_true", help="say only what is wrong")
    doctor.set_defaults(run=run_doctor)
    return parser


def run_doctor(asked: argparse.Namespace) -> int:
    """`spanlab doctor`."""
    from spanlab.course.doctor import examine

    return examine(brief=asked.brief)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. Exit codes: 0 all is well, 1 the command found something, 2 it could not do its work, 130
    it was stopped by Ctrl-C."""
    asked = build_parser().parse_args(arguments)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a ? for what the terminal has no letter for, and on it goes
    try:
        code: int = asked.run(asked)
    except KeyboardInterrupt:
        print("spanlab: stopped; what was not written yet is not written", file=sys.stderr)
        return 130
    except (SpanlabError, OSError, ValueError) as error:
        if isinstance(error, BrokenPipeError):
            # whoever read our output closed it (`spanlab advise … | head`): nothing is wrong, nothing more can be said
            sys.stderr.close()
            return 0
        print(f"spanlab: {error}", file=sys.stderr)
        return 2
    return code
