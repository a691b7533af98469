"""The marks of a class as files: CSV for a spreadsheet, JSON for a program, pages for people.

Whatever a learner wrote is shown and nothing of it acts: cells of a CSV that a spreadsheet would take for a formula
begin with an apostrophe, pages escape every text and forbid scripts, and file names are made of letters, digits and a
checksum. No file holds a time of day, so the same marks give the same bytes.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections import Counter
from dataclasses import asdict
from html import escape
from pathlib import Path

from spanlab import __version__
from spanlab.course.challenge import FAILED, NOT_ATTEMPTED, PARTIAL, PASSED, UNREADABLE
from spanlab.course.challenges import find_challenge, name_of
from spanlab.course.feedback import LOOK, Card, number
from spanlab.course.grading import Mark, Row

_FORMULA = r"=+@\-\uff1d\uff0b\uff0d\uff20"  # also as wide as Chinese characters are
_UNSEEN = " \u200b\u00a0\ufeff"  # a spreadsheet may skip these before it looks for a formula
_AT_THE_START = re.compile(rf"(?=[{_UNSEEN}]*[{_FORMULA}|%\t\r\n])")
_AFTER_A_BREAK = re.compile(rf"([;\t\r\n])(?=[{_UNSEEN}]*[{_FORMULA}])")
_PAGE = """<!doctype html> <html lang="en"><head><meta charset="utf-8"><meta name="viewport"
content="width=device-width"> <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src
'unsafe-inline'"> <title>{title}</title><style> body{{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:1.5em
auto;padding:0 1em;color:#1f2328;background:#fff}} table{{border-collapse:collapse;width:100%}} th,td{{padding:.25em
.6em;text-align:left;border-bottom:1px solid #d0d7de}} td.n,th.n{{text-align:right;white-space:nowrap}}
.wide{{overflow-x:auto}} td{{overflow-wrap:break-word}}
pre{{background:#f6f8fa;padding:.6em;overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere}}
.bar{{background:#e6e8eb;height:.9em;min-width:8em}} .bar div{{background:#2f6f9f;height:100%}}
bdi{{overflow-wrap:anywhere}} </style></head><body> {body} </body></html>
"""


def cell(value: object) -> object:
    """A value for a CSV. What a spreadsheet would run as a formula gets an apostrophe in front; also after a semicolon,
    a tab or a line break, where many a country's spreadsheet begins the next cell."""
    if not isinstance(value, str):
        return value
    text = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "\ufffd", value).encode("utf-8", "replace").decode("utf-8")
    text = _AFTER_A_BREAK.sub(r"\1'", text)
    return "'" + text if _AT_THE_START.match(text) else text


def _csv(lines: list[list[object]]) -> bytes:
    """Comma-separated, quoted where needed, UTF-8 with the mark by which spreadsheets know it."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\r\n").writerows([cell(value) for value in line] for line in lines)
    return b"\xef\xbb\xbf" + file.getvalue().encode("utf-8", "replace")


_LONG = [
    "student",
    "file",
    "lesson",
    "status",
    "challenge",
    "state",
    "points",
    "max_points",
    "criteria_met",
    "criteria_total",
    "seed",
    "version",
    "notebook_sha256",
    "remarks",
]


def long_csv(rows: list[Row], seed: int = 0) -> bytes:
    """One line for each learner and challenge."""
    lines: list[list[object]] = [list(_LONG)]
    for row in rows:
        for mark in row.marks.values():
            who = (row.student, row.file, row.chapter, row.status)
            what = (mark.challenge, mark.state, mark.points, mark.max_points, mark.criteria_met, len(mark.lines))
            lines.append([*who, *what, seed, __version__, row.sha256, "; ".join(row.remarks)])
    return _csv(lines)


def wide_csv(rows: list[Row]) -> bytes:
    """One line for each learner, with a column for each challenge and the total: what a gradebook imports."""
    ids = list(rows[0].marks) if rows else []
    lines: list[list[object]] = [["student", "file", "status", *ids, "points", "max_points", "percent", "remarks"]]
    for row in rows:
        percent = round(100 * row.points / row.max_points, 1) if row.max_points else 0.0
        points = [row.marks[id_].points for id_ in ids]
        lines.append(
            [row.student, row.file, row.status, *points, row.points, row.max_points, percent, "; ".join(row.remarks)]
        )
    return _csv(lines)


def to_json(rows: list[Row], seed: int = 0) -> bytes:
    """Everything: {"version", "lesson", "seed", "submissions": [row with its marks, criteria and messages]}."""
    data = {
        "version": __version__,
        "lesson": rows[0].chapter if rows else "",
        "seed": seed,
        "submissions": [
            asdict(row)
            | {"points": row.points, "max_points": row.max_points, "marks": [asdict(m) for m in row.marks.values()]}
            for row in rows
        ],
    }
    return (json.dumps(data, ensure_ascii=True, indent=1, sort_keys=True) + "\n").encode()


# ---- pages ---------------------------------------------------------------------------------------------------------


def page_name(row: Row) -> str:
    """The file name of a learner's page: what is plain in the name, and a checksum of all of it."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", row.student).strip("-")[:40] or "learner"
    return f"{plain}-{hashlib.sha256(row.student.encode('utf-8', 'replace')).hexdigest()[:8]}.html"


_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")


def page(title: str, body: str) -> bytes:
    """An HTML page that loads nothing and runs nothing. `title` is text, `body` is HTML made here. Characters that turn
    the order of letters are shown as such: a name or an answer must not look like another one."""
    return _TURNING.sub("\ufffd", _PAGE.format(title=escape(title), body=body)).encode("utf-8", "replace")


def mark_card(mark: Mark) -> Card:
    """A mark as the card that the learner knows from the notebook. Criteria say what was seen; held-out inputs are
    not told."""
    paragraphs = []
    if mark.message:
        paragraphs.append(("What happened", mark.message))
    paragraphs += [("Look again" if mark.state != PASSED else "A remark", text) for text in mark.diagnoses]
    challenge = find_challenge(mark.challenge)
    if mark.state == PASSED and challenge:
        paragraphs.append(("Worth knowing", challenge.note))
    state = mark.state if mark.state in LOOK else UNREADABLE
    word = LOOK[state][1] if mark.state in LOOK else mark.state.replace("_", " ")
    headline = f"{mark.challenge} {mark.title}: {word}, {number(mark.points)} of {mark.max_points} points"
    return Card(state, headline, tuple(paragraphs), mark.lines)


def feedback_page(row: Row) -> bytes:
    """One learner's page: points, then each challenge with the answer that was read and what it did."""
    title = name_of(row.chapter)
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p><bdi>{escape(row.student)}</bdi> · file <bdi>{escape(row.file)}</bdi></p>",
    ]
    parts.append(
        f"<p><b>{number(row.points)} of {row.max_points} points</b> · {escape(row.status.replace('_', ' '))}</p>"
    )
    parts += [f"<p>{escape(remark)}</p>" for remark in row.remarks]
    for mark in row.marks.values():
        parts.append(f"<h2>{escape(mark.challenge)} {escape(mark.title)}</h2>")
        if mark.answer and mark.state != NOT_ATTEMPTED:
            parts.append(f'<p>The answer that was read:</p><pre tabindex="0"><bdi>{escape(mark.answer)}</bdi></pre>')
        parts.append(mark_card(mark).html())
    return page(title, "\n".join(parts))


def overview_page(rows: list[Row]) -> bytes:
    """The class: how many passed each challenge, which criteria fail most, which mistakes were made, and all
    learners."""
    title = f"{name_of(rows[0].chapter)}: the class" if rows else "The class"
    parts = [f"<h1>{escape(title)}</h1>"]
    if rows:
        mean = sum(row.points for row in rows) / len(rows)
        parts.append(
            f"<p>{len(rows)} learners, on average {number(round(mean, 2))} of {rows[0].max_points} points.</p>"
        )
        parts += ["<h2>Challenges</h2>", _challenge_table(rows)]
        parts += ["<h2>What to explain again</h2>", _criterion_table(rows), _mistake_table(rows)]
        parts += ["<h2>Learners</h2>", _learner_table(rows)]
    return page(title, "\n".join(parts))


def _bar(share: float) -> str:
    """A bar for the eye; the number beside it says the same."""
    return f'<div class="bar" aria-hidden="true"><div style="width:{100 * share:.0f}%"></div></div>'


def _table(label: str, heads: list[str], lines: list[list[str]], numbers: set[int]) -> str:
    """A table that scrolls by itself where the window is narrow, also by keyboard."""

    def line(cells: list[str], tag: str) -> str:
        scope = " scope=col" if tag == "th" else ""
        parts = (f"<{tag}{scope}{' class=n' if i in numbers else ''}>{c}</{tag}>" for i, c in enumerate(cells))
        return f"<tr>{''.join(parts)}</tr>"

    table = "<table>" + line(heads, "th") + "".join(line(cells, "td") for cells in lines) + "</table>"
    return f'<div class="wide" role="group" aria-label="{escape(label)}" tabindex="0">{table}</div>'


def _challenge_table(rows: list[Row]) -> str:
    lines = []
    for id_, mark in rows[0].marks.items():
        states = Counter(row.marks[id_].state for row in rows)
        got = sum(row.marks[id_].points for row in rows) / (len(rows) * max(1, mark.max_points))
        lines.append([
            f"{escape(id_)} {escape(mark.title)}", str(states[PASSED]), str(states[PARTIAL]), str(states[FAILED]),
            str(len(rows) - states[PASSED] - states[PARTIAL] - states[FAILED]), f"{100 * got:.0f} %", _bar(got),
        ])  # fmt: skip
    heads = ["challenge", "passed", "in part", "not yet", "no readable answer", "points earned", "share"]
    return _table("challenges", heads, lines, {1, 2, 3, 4, 5})


def _criterion_table(rows: list[Row]) -> str:
    """Criteria by how many of those who answered missed them, most first; ten at most."""
    missed: Counter[tuple[str, str]] = Counter()
    judged: Counter[tuple[str, str]] = Counter()
    for mark in (mark for row in rows for mark in row.marks.values()):
        for line in mark.lines:
            judged[mark.challenge, line.wanted] += 1
            missed[mark.challenge, line.wanted] += line.share < 1 - 1e-9
    order = sorted((key for key in missed if missed[key]), key=lambda key: (-missed[key], key))[:10]
    if not order:
        return "<p>Nobody who answered missed a criterion.</p>"
    lines = [
        [escape(key[0]), escape(key[1]), f"{missed[key]} of {judged[key]}", _bar(missed[key] / judged[key])]
        for key in order
    ]
    return _table("criteria", ["challenge", "criterion", "missed by", "share"], lines, {2})


def _mistake_table(rows: list[Row]) -> str:
    count = Counter(
        (m.challenge, text) for row in rows for m in row.marks.values() if m.state != PASSED for text in m.diagnoses
    )
    lines = [
        [escape(key[0]), escape(key[1]), str(times)]
        for key, times in sorted(count.items(), key=lambda i: (-i[1], i[0]))[:10]
    ]
    table = _table("mistakes", ["challenge", "mistake", "learners"], lines, {2})
    return f"<h2>Mistakes that were made</h2>{table}" if lines else ""


def _learner_table(rows: list[Row]) -> str:
    lines = [
        [
            f'<a href="{page_name(row)}"><bdi>{escape(row.student)}</bdi></a>', escape(row.status.replace("_", " ")),
            *(number(mark.points) for mark in row.marks.values()), f"{number(row.points)} of {row.max_points}",
            escape("; ".join(row.remarks)[:300]),
        ]
        for row in rows
    ]  # fmt: skip
    ids = [escape(id_) for id_ in rows[0].marks]
    return _table("learners", ["learner", "status", *ids, "points", "remarks"], lines, set(range(2, 3 + len(ids))))


def write_pages(rows: list[Row], folder: Path) -> None:
    """The class overview as index.html, and a page for each learner."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_bytes(overview_page(rows))
    for row in rows:
        (folder / page_name(row)).write_bytes(feedback_page(row))
