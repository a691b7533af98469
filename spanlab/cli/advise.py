"""`spanlab advise FILE…`: what will hurt in the schema of a real database.

    spanlab advise schema.sql
    gcloud spanner databases ddl describe DATABASE --instance=INSTANCE | spanlab advise -

Exit code 0: nothing of the severity of `--fail-on` or graver was found (without `--fail-on`: always). 1: something was.
2: a file could not be read, or its text is not DDL at all.
"""

from __future__ import annotations

import argparse
import glob
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from spanlab import __version__
from spanlab.advisor import RULES, SEVERITIES, Finding, Findings, advise_text

Report = list[tuple[str, str, Findings]]
"""(file name, its text, what was found) of each file."""

SARIF_LEVEL = {"high": "error", "medium": "warning", "low": "note"}
GITHUB_LEVEL = {"high": "error", "medium": "warning", "low": "notice"}


def add_commands(commands: Any) -> None:
    """Adds `advise` to the commands of the parser."""
    parser = commands.add_parser("advise", help="say what will hurt in a schema", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="DDL files, folders, patterns, or - for standard input"
    )
    parser.add_argument("--format", choices=sorted(FORMATS), default="text", help="form of the report (default: text)")
    parser.add_argument("--fail-on", choices=SEVERITIES, help="exit with 1 if a finding is that grave")
    parser.set_defaults(run=run)


def run(asked: argparse.Namespace) -> int:
    """Reads, advises, prints."""
    report = [(name, text, advise_text(text)) for name, text in read_all(asked.files)]
    print(FORMATS[asked.format](report))
    if asked.fail_on is None:
        return 0
    grave = SEVERITIES[: SEVERITIES.index(asked.fail_on) + 1]
    return int(any(f.severity in grave for _, _, found in report for f in found))


def read_all(names: Iterable[str]) -> list[tuple[str, str]]:
    """(name, text) of every file that is meant; a folder means the .sql and .ddl files below it."""
    read: list[tuple[str, str]] = []
    for name in names:
        if name == "-":
            read.append(("<standard input>", sys.stdin.read()))
            continue
        path = Path(name)
        if path.is_dir():
            files = sorted(p for ending in ("*.sql", "*.ddl") for p in path.rglob(ending))
        else:
            files = [path] if path.exists() else [Path(p) for p in sorted(glob.glob(name, recursive=True))]  # noqa: PTH207 (absolute patterns too)
        if not files:
            raise FileNotFoundError(f"{name}: no such file, and no .sql or .ddl file is meant by it")
        read += [(str(p), p.read_text(encoding="utf-8-sig")) for p in files]
    return read


def as_text(report: Report) -> str:
    """For people: each finding with the line of DDL that it speaks of."""
    parts = []
    for name, text, found in report:
        lines = text.splitlines()
        counts = {s: sum(f.severity == s for f in found) for s in SEVERITIES}
        parts.append(f"{name}: {counts['high']} refused, {counts['medium']} will hurt, {counts['low']} worth knowing")
        for f in found:
            if f.line and f.line <= len(lines):
                parts.append(f"\n  {f.line:4} | {lines[f.line - 1].strip()}")
            parts.append("         " + str(replace(f, line=None)).replace("\n", "\n         "))
        parts.append("")
    return "\n".join(parts).rstrip()


def as_json(report: Report) -> str:
    """For programs: a list of files, each with its findings."""
    return json.dumps([{"file": name, "findings": [vars(f) for f in found]} for name, _, found in report], indent=2)


def as_github(report: Report) -> str:
    """Workflow commands, which GitHub shows as annotations beside the lines of a change."""

    def line(name: str, f: Finding) -> str:
        message = f"{f.message} {('Try: ' + f.fix) if f.fix else ''}".strip()
        for raw, escaped in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A")):
            message = message.replace(raw, escaped)
        return (
            f"::{GITHUB_LEVEL[f.severity]} file={name},line={f.line or 1},title={f.rule} {f.name}::{f.subject}: "
            f"{message}"
        )

    return "\n".join(line(name, f) for name, _, found in report for f in found)


def as_sarif(report: Report) -> str:
    """SARIF 2.1.0, the exchange format of static analysis."""
    rules = [{"id": r.code, "name": r.name, "shortDescription": {"text": r.name}} for r in RULES.values()]
    results = [
        {
            "ruleId": f.rule,
            "level": SARIF_LEVEL[f.severity],
            "message": {"text": f"{f.subject}: {f.message}" + (f"\nTry: {f.fix}" if f.fix else "")},
            "locations": [
                {"physicalLocation": {"artifactLocation": {"uri": name}, "region": {"startLine": f.line or 1}}},
            ],
        }
        for name, _, found in report
        for f in found
    ]
    tool = {"driver": {"name": "spanlab", "version": __version__, "rules": rules}}
    return json.dumps({"version": "2.1.0", "runs": [{"tool": tool, "results": results}]}, indent=2)


FORMATS: dict[str, Callable[[Report], str]] = {
    "text": as_text,
    "json": as_json,
    "github": as_github,
    "sarif": as_sarif,
}
