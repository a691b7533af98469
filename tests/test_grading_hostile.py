"""Forty submissions made to break a grader. Each gets its row, none runs, none touches another's mark or a reader's
page."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import zipfile
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from spanlab.course.grade_reports import feedback_page, long_csv, overview_page, to_json, wide_csv, write_pages
from spanlab.course.grading import ROW_STATES, Row, Task
from spanlab.course.submissions import find_submissions
from spanlab.course.workers import grade

RIGHT = {
    "1.1": "[1, 2, 3, 3, 4]",
    "1.2": '[(None, 5), ("07", 1), ("10", 12), ("10", 9), ("10", None), ("7", 1)]',
    "1.3": '"""CREATE TABLE PageHits (HitId STRING(36) NOT NULL DEFAULT (GENERATE_UUID()), HitAt TIMESTAMP NOT NULL '
    'OPTIONS (allow_commit_timestamp = true), Path STRING(2048)) PRIMARY KEY (HitId)"""',
    "1.4": "4",
}
TRACE = "TOUCHED"  # what a line that ran would leave behind


def cell(challenge: str, source: str, **extra: Any) -> dict[str, Any]:
    base = {"cell_type": "code", "id": "ch-" + challenge.replace(".", "-"), "outputs": [], "execution_count": None}
    return base | {"metadata": {"spanlab": {"challenge": challenge}}, "source": source} | extra


def answer(challenge: str, text: str) -> dict[str, Any]:
    return cell(challenge, f'answer = {text}\nsl.check("{challenge}", answer)')


def notebook(*extra: dict[str, Any], **changed: str) -> bytes:
    """A notebook with right answers; `c14="…"` replaces the answer of 1.4, `extra` cells come first."""
    texts = RIGHT | {f"1.{name[2]}": text for name, text in changed.items()}
    cells = [*extra, *(answer(challenge, text) for challenge, text in texts.items())]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def attack(source: str) -> dict[str, Any]:
    """A cell of the learner's own before the answers."""
    return {"cell_type": "code", "id": "own", "metadata": {}, "outputs": [], "execution_count": 1, "source": source}


def leading(challenge: str, line: str) -> bytes:
    """The attack stands in the answer cell itself, before the answer."""
    body = notebook(c14="4") if challenge == "1.4" else notebook()
    data = json.loads(body)
    for item in data["cells"]:
        if item["id"] == "ch-" + challenge.replace(".", "-"):
            item["source"] = line + "\n" + item["source"]
    return json.dumps(data).encode()


def ddl(columns: str, key: str = "HitId") -> str:
    return repr(f"CREATE TABLE PageHits (HitId STRING(36), {columns}) PRIMARY KEY ({key})")


def raw(text: str) -> bytes:
    return text.encode()


TOUCH = f"open('{TRACE}', 'w').write('x')"
ABOUT_SIX = pytest.approx(6.2, abs=0.21)  # a table that is read after all keeps the tenth for the advice
OK, NOT_STATIC, UNREADABLE, WRONG, TWICE = "ok", "not_static", "unreadable", "wrong_notebook", "duplicate_answer"

PATCH = f"import builtins\nbuiltins.len = builtins.sum = lambda *a: 99\n{TOUCH}"
DEEP_CELL = b'{"nbformat": 4, "cells": [{"cell_type": "code", "metadata": '
NONSENSE = b'{"nbformat": 4, "cells": [1, null, {}, {"cell_type": "code", "source": 7, "metadata": []}]}'
CHAIN = "C0 INT64, " + ", ".join(f"C{i} INT64 AS (C{i - 1} + 1)" for i in range(1, 500))

# name of the learner, the file, the row's status, its points
CASES: list[tuple[str, bytes, str, float]] = [
    ("patched builtins", notebook(attack(PATCH)), OK, 10),
    ("patched check", notebook(attack("import spanlab as sl\nsl.check = lambda *a: 'passed'"), c14="3"), OK, 8),
    ("exit", leading("1.4", "import sys; sys.exit(0)"), OK, 10),
    ("endless loop", leading("1.4", "while True: pass"), OK, 10),
    ("fork bomb", leading("1.4", "import os\nwhile True: os.fork()"), OK, 10),
    ("ten gigabytes", leading("1.4", "x = bytearray(10**10)"), OK, 10),
    ("ten gigabytes of text", notebook(c13="'x' * 10**10"), NOT_STATIC, 6),
    ("forged progress", notebook(attack("open('.spanlab/progress.json', 'w')"), c14="..."), OK, 8),
    ("opens a file", notebook(c14=f"open('{TRACE}', 'w')"), NOT_STATIC, 8),
    ("imports", notebook(c14="__import__('os').system('touch " + TRACE + "')"), NOT_STATIC, 8),
    ("tower of powers", notebook(c14="9 ** 9 ** 9 ** 9"), NOT_STATIC, 8),
    ("huge hex", notebook(c14="0x" + "f" * 40_000), NOT_STATIC, 8),
    ("huge decimal", notebook(c14="9" * 40_000), OK, 8),
    ("infinite", notebook(c14="1e999"), OK, 8),
    ("not a number", notebook(c14="1e999 - 1e999"), OK, 8),
    ("lying object", notebook(c14="type('L', (int,), {'__eq__': lambda *a: True})(4)"), NOT_STATIC, 8),
    ("doubling", notebook(), NOT_STATIC, 8),
    ("wide format", notebook(c14="f'{1:>99999999999}'"), NOT_STATIC, 8),
    ("deep json", b"[" * 1_000_000, UNREADABLE, 0),
    ("deep json in a cell", DEEP_CELL + b"[" * 200_000, UNREADABLE, 0),
    ("deep python", notebook(c14="(" * 20_000 + "4" + ")" * 20_000), OK, 8),
    ("deep minus", notebook(c14="-" * 40_000 + "4"), OK, 8),
    ("deep list", notebook(c14="[" * 90 + "]" * 90), OK, 8),
    ("long cell", notebook(c14="4 # " + "x" * 200_000), OK, 8),
    ("deep ddl", notebook(c13=ddl("A INT64, CHECK (" + "(" * 8_000 + "A > 0" + ")" * 8_000 + ")")), OK, ABOUT_SIX),
    ("deep type", notebook(c13=ddl("A " + "ARRAY<" * 3_000 + "INT64" + ">" * 3_000)), OK, ABOUT_SIX),
    ("deep minus in sql", notebook(c13=ddl("A INT64 DEFAULT (" + "-" * 19_000 + "1)")), OK, ABOUT_SIX),
    ("long or", notebook(c13=ddl("A INT64, CHECK (" + " OR ".join(["A = 1"] * 2_000) + ")")), OK, ABOUT_SIX),
    ("open quotes", notebook(c13=ddl("A INT64 " + "'" * 15_001)), OK, ABOUT_SIX),
    ("open comments", notebook(c13=ddl("/*" * 9_000)), OK, ABOUT_SIX),
    ("many columns", notebook(c13=ddl(", ".join(f"C{i} INT64" for i in range(1_500)))), OK, ABOUT_SIX),
    ("chain of generated", notebook(c13=ddl(CHAIN)), OK, ABOUT_SIX),
    ("half a character", notebook(c14='"\\ud800"'), OK, 8),
    ("null bytes", notebook(c14="4\x00"), OK, 8),
    ("surrogate in the file", notebook().replace(b"answer = 4", b"answer = '\\ud800'"), OK, 8),
    ("path in an id", notebook(cell("../../../etc/passwd", "answer = 1", id="../../x")), OK, 10),
    ("html", notebook(c13='"<script>alert(1)</script><img src=x onerror=alert(1)>"'), OK, 6),
    ("<img src=x onerror=alert(1)>", notebook(), OK, 10),
    ("=HYPERLINK(1)", notebook(c14='"=1+1"'), OK, 8),
    ("@sum, +1, -1", notebook(), OK, 10),
    ("twice", notebook(answer("1.4", "3")), TWICE, 10),
    ("twice, the last is broken", notebook(answer("1.4", "4"), c14="(("), OK, 10),
    ("format 3", raw('{"nbformat": 3, "worksheets": []}'), UNREADABLE, 0),
    ("not a notebook", raw("%PDF-1.4"), UNREADABLE, 0),
    ("empty", b"", UNREADABLE, 0),
    ("cells of nonsense", NONSENSE, WRONG, 0),
    ("many cells", raw(json.dumps({"nbformat": 4, "cells": [attack("1")] * 3_000})), UNREADABLE, 0),
    ("another lesson", raw(json.dumps({"nbformat": 4, "cells": [cell("77.1", "answer = 1")]})), WRONG, 0),
    ("עִבְרִית \u202e emoji 🦉", notebook(), OK, 10),
    ("x" * 120, notebook(), OK, 10),
]  # fmt: skip
DOUBLING = "\n".join(["a0 = [0]", *(f"a{i} = a{i - 1} + a{i - 1}" for i in range(1, 60)), "answer = a59"])


def hand_in(folder: Path) -> None:
    for name, content, _, _ in CASES:
        place = folder / name.replace("/", "_")
        place.mkdir()
        data = content
        if name == "doubling":
            data = notebook().replace(b'"answer = 4', json.dumps(DOUBLING)[:-1].encode())
        (place / "01_address.ipynb").write_bytes(data)
    big = folder / "two hundred megabytes"
    big.mkdir()
    with (big / "01_address.ipynb").open("wb") as file:
        file.truncate(200_000_000)
    (folder / "json.py").write_text(TOUCH)
    (folder / "sitecustomize.py").write_text(TOUCH)
    (folder / "progress.json").write_text('{"version": 1, "challenges": {"1.4": {"points": 99}}}')
    _zips(folder)


def _zips(folder: Path) -> None:
    with zipfile.ZipFile(folder / "slip.zip", "w") as archive:
        archive.writestr("../../../escaped.ipynb", notebook())
    with zipfile.ZipFile(folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb/01_address.ipynb", b"0" * 60_000_000)
    (folder / "damaged.zip").write_bytes(b"PK\x03\x04" + b"\0" * 50)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    folder = tmp_path_factory.mktemp("class")
    hand_in(folder)
    with contextlib.chdir(folder):  # modules that lie beside the notebooks must not be imported
        marked = grade([Task(s, "1") for s in find_submissions(folder)], jobs=2)
    assert not list(folder.rglob(TRACE))
    assert not list(folder.parent.glob("escaped*"))
    return {row.student: row for row in marked}


@pytest.mark.parametrize(("name", "status", "points"), [pytest.param(n, s, p, id=n[:30]) for n, _, s, p in CASES])
def test_each_gets_the_row_that_it_deserves(rows: dict[str, Row], name: str, status: str, points: float) -> None:
    row = rows[name]
    assert row.status == status, row.remarks
    assert row.points == points, [mark.message for mark in row.marks.values()]
    assert set(row.marks) == set(RIGHT)
    assert not any("fault of the course" in mark.message for mark in row.marks.values())


FILES = [
    ("two hundred megabytes", UNREADABLE, 0),
    ("slip", OK, 10),
    ("bomb", UNREADABLE, 0),
    ("damaged", UNREADABLE, 0),
]


@pytest.mark.parametrize(("name", "status", "points"), FILES)
def test_files_and_zips(rows: dict[str, Row], name: str, status: str, points: float) -> None:
    assert (rows[name].status, rows[name].points) == (status, points), rows[name].remarks


def test_every_file_has_one_row(rows: dict[str, Row]) -> None:
    assert len(rows) == len(CASES) + 4
    assert all(row.status in ROW_STATES for row in rows.values())


class Tags(HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_nothing_acts_on_a_page(rows: dict[str, Row]) -> None:
    marked = list(rows.values())
    for page in (overview_page(marked), *map(feedback_page, marked)):
        seen = Tags()
        seen.feed(page.decode())
        assert not seen.tags & {"script", "img", "iframe", "object", "link", "base", "form", "svg"}
        assert not any(name.startswith("on") or name in ("src", "srcdoc") for name in seen.attributes)
        assert b"default-src 'none'" in page


def test_names_of_pages_stay_in_the_folder(rows: dict[str, Row], tmp_path: Path) -> None:
    write_pages(list(rows.values()), tmp_path / "feedback")
    names = [path.name for path in (tmp_path / "feedback").iterdir()]
    assert len(names) == len(rows) + 1
    assert all(re.fullmatch(r"[A-Za-z0-9-]{1,60}\.html", name) for name in names)


@pytest.mark.parametrize("write", [long_csv, wide_csv])
def test_no_cell_of_a_csv_is_a_formula(rows: dict[str, Row], write: Callable[[list[Row]], bytes]) -> None:
    text = write(list(rows.values())).decode("utf-8-sig")
    lines = list(csv.reader(io.StringIO(text)))
    assert len({len(line) for line in lines}) == 1
    assert not [value for line in lines for value in line if value.lstrip().startswith(("=", "+", "-", "@"))]
    assert {line[0].lstrip("'") for line in lines[1:]} == set(rows)


def test_json_holds_every_row(rows: dict[str, Row]) -> None:
    data = json.loads(to_json(list(rows.values())))
    assert {item["student"] for item in data["submissions"]} == set(rows)
