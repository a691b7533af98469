"""What a notebook of the course must keep to, as checks that each say what is wrong, where, and what to do.

A reader opens a lesson without running it, by keyboard, offline, on a small screen, and may read only its first and its
last cell. Each rule guards one of these: pictures that draw offline and are described in words, headings without gaps,
objectives that the takeaways answer, a clock that says how far one has come, outputs of one honest run.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from spanlab.course.notebook_form import (
    ERROR_TAG,
    VEGA_LITE,
    WIDGET,
    Cell,
    Notebook,
    NotebookProblem,
    challenge_cells,
    normal,
    read_notebook,
    slug_of,
    to_bytes,
)
from spanlab.course.places import cell_id, chapter_of

MAX_BYTES = 300_000
LESSON_CELLS, LESSON_WORDS, LESSON_CODE_CELLS = (28, 40), (1200, 1800), (10, 18)
LESSON_CHALLENGES, LESSON_PANELS, LAB_CHALLENGES = (3, 5), (1, 2), (5, 8)
_CLOCK = re.compile(r"so far:\W*(\d+)\s+of\s+(\d+)\s+min", re.IGNORECASE)
_FOREIGN = re.compile(
    r"<(script|link|iframe)\b|\b(src|href)\s*=\s*[\"']?(https?:)?//|\bimport\s*\(\s*[\"']https?:"
    r"|https?://[\w.-]*(jsdelivr|unpkg|cdnjs|esm\.sh|googleapis|cloudflare)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,}|/tmp/|/home/|/Users/|[A-Z]:\\Users")
_FORBIDDEN_CALLS = {
    "Output": "a panel (an Output widget shows nothing until it runs, and nbval cannot compare it)",
    "interact": "a panel",
    "interactive": "a panel",
    "interactive_output": "a panel",
    "interact_manual": "a panel",
    "clear_output": "a panel, which replaces its outputs",
    "update_display": "a panel",
    "JupyterChart": "a chart of spanlab.charts (a JupyterChart prints an address)",
}

Complaints = Iterator[str]


def check_notebook(path: Path) -> list[str]:
    """Every rule that the notebook breaks, each one line: where, what, and what to do. [] when all is well.

    The folder says which rules apply: `lessons` (all), `labs` (all but the counts and the clock of lessons),
    `solutions` and others (normal form, outputs, links). `lessons/00_…` is the map of the course and has no
    challenges.
    """
    try:
        notebook = read_notebook(path)
    except NotebookProblem as problem:
        return [str(problem).removeprefix(f"{path}: ")]
    kind = path.resolve().parent.name
    checks: list[Callable[[Notebook, Path], Complaints]] = [_form, _execution, _outputs, _code, _links, _headings]
    if kind in ("lessons", "labs"):
        checks += [_charts, _challenges, _predictions, _mirror]
    if kind == "lessons" and not path.name.startswith("00"):
        checks += [_lesson_counts, _clock]
    if kind == "labs" and path.stem != "mock_exam":
        checks += [_lab_counts]
    return [complaint for check in checks for complaint in check(notebook, path)]


def _cells(notebook: Notebook, kind: str) -> list[Cell]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


def _where(cell: Cell) -> str:
    return f"cell {cell.get('id', '?')}"


def _form(notebook: Notebook, path: Path) -> Complaints:
    content = path.read_bytes()
    if content != to_bytes(normal(notebook, slug_of(path))):
        yield f"not in normal form: run `spanlab notebook fmt {path.name}` (or `run`, where outputs are old)"
    if len(content) > MAX_BYTES:
        yield f"{len(content):,} bytes; the limit is {MAX_BYTES:,}: aggregate the data of its charts"


def _execution(notebook: Notebook, path: Path) -> Complaints:
    want = 0
    for cell in _cells(notebook, "code"):
        if not cell["source"].strip():
            yield f"{_where(cell)}: an empty code cell; remove it"
            continue
        want += 1
        if cell.get("execution_count") != want:
            yield (
                f"{_where(cell)}: was not executed in order (count {cell.get('execution_count')}, place "
                f"{want}): `run` it"
            )
            return


def _outputs(notebook: Notebook, path: Path) -> Complaints:
    for cell in _cells(notebook, "code"):
        tags = cell.get("metadata", {}).get("tags", [])
        errors = [o for o in cell.get("outputs", []) if o["output_type"] == "error"]
        if errors and ERROR_TAG not in tags:
            yield f"{_where(cell)}: ends in {errors[0]['ename']}; mend it, or tag the cell {ERROR_TAG!r} if it is meant"
        if ERROR_TAG in tags and not errors:
            yield f"{_where(cell)}: is tagged {ERROR_TAG!r} and raises nothing"
        for tag in tags:
            if tag.startswith("nbval-"):
                yield f"{_where(cell)}: the tag {tag!r} hides its outputs from the tests; make them comparable instead"
        for output in cell.get("outputs", []):
            yield from (f"{_where(cell)}: {what}" for what in _output_faults(output))


def _output_faults(output: dict[str, Any]) -> Complaints:
    if output["output_type"] == "stream":
        if output["name"] == "stderr":
            yield "writes a warning or a log to stderr; it differs from run to run"
        if found := _ADDRESS.search("".join(output["text"])):
            yield f"prints {found.group()!r}, which differs from machine to machine"
    for mime, value in output.get("data", {}).items():
        text = value if isinstance(value, str) else json.dumps(value) if isinstance(value, dict) else "".join(value)
        if mime == VEGA_LITE:
            text = re.sub(r'"\$schema": "[^"]*"', "", text)
            if '"url": "http' in text:
                yield "a chart fetches data from the network"
        if found := _FOREIGN.search(text):
            yield f"loads something from the network or runs a script ({found.group()[:40]!r})"
        if mime == "text/plain" and (found := _ADDRESS.search(text)):
            yield (
                f"shows {found.group()!r}, which differs from machine to machine: end the cell with something printable"
            )


def _charts(notebook: Notebook, path: Path) -> Complaints:
    for cell in _cells(notebook, "code"):
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            spec = data.get(VEGA_LITE)
            if isinstance(spec, dict) and len(str(spec.get("description", "")).split()) < 4:
                yield f"{_where(cell)}: the chart has no description for readers who cannot see it"
            if any(mime.startswith("image/") for mime in data):
                yield f"{_where(cell)}: a picture as pixels; use a chart, which readers can enlarge and hear"
    for cell in _cells(notebook, "markdown"):
        for alt in re.findall(r"!\[([^\]]*)\]\(", cell["source"]):
            if not alt.strip():
                yield f"{_where(cell)}: a picture without a text in its place: ![what it shows](…)"


def _code(notebook: Notebook, path: Path) -> Complaints:
    for cell in _cells(notebook, "code"):
        source = cell["source"].rstrip()
        if source.endswith(";"):
            yield f"{_where(cell)}: ends with a semicolon; assign the value to a name instead"
        if re.search(r"(?m)^\s*(%pip|!|%%?(bash|sh|writefile))", source):
            yield f"{_where(cell)}: installs or starts something; a lesson runs offline with what is there"
        try:
            tree = ast.parse(re.sub(r"(?m)^\s*[%!].*$", "", source))
        except SyntaxError:
            if ERROR_TAG not in cell.get("metadata", {}).get("tags", []):
                yield f"{_where(cell)}: is not Python"
            continue
        for node in ast.walk(tree):
            name = node.func if isinstance(node, ast.Call) else None
            word = name.attr if isinstance(name, ast.Attribute) else name.id if isinstance(name, ast.Name) else ""
            if word == "progress" and isinstance(node, ast.Call) and not node.args:
                yield f'{_where(cell)}: progress() shows every lesson and changes with each; name one: progress("1")'
            if word in _FORBIDDEN_CALLS:
                yield f"{_where(cell)}: calls {word}; use {_FORBIDDEN_CALLS[word]}"


def _links(notebook: Notebook, path: Path) -> Complaints:
    for cell in _cells(notebook, "markdown"):
        text = re.sub(r"`[^`]*`", "", re.sub(r"(?s)```.*?```", "", cell["source"]))
        for target in re.findall(r"\]\(<?([^)>\s]+)>?[^)]*\)", text):
            if complaint := _link_fault(target, notebook, path):
                yield f"{_where(cell)}: {complaint}"


def _link_fault(target: str, notebook: Notebook, path: Path) -> str | None:
    if target.startswith("http://"):
        return f"the link {target} is not https"
    if re.match(r"[a-z]+:", target):
        return None  # https and mailto: the course works offline, so these are not fetched
    file, _, anchor = target.partition("#")
    linked = (path.parent / file).resolve() if file else path.resolve()
    if not linked.exists():
        return f"the link {target} leads nowhere"
    if anchor and linked.suffix == ".ipynb":
        there = notebook if not file else read_notebook(linked)
        if anchor not in {re.sub("[`*]", "", title).replace(" ", "-") for _, title, _ in _heading_list(there)}:
            return f"the link {target} names no heading of {linked.name}"
    return None


def _heading_list(notebook: Notebook) -> list[tuple[int, str, Cell]]:
    """(level, title, cell) of every heading, code fences left out."""
    found = []
    for cell in _cells(notebook, "markdown"):
        for line in re.sub(r"(?s)```.*?```", "", cell["source"]).splitlines():
            if match := re.match(r"(#{1,6})\s+(.*?)\s*#*$", line):
                found.append((len(match[1]), match[2], cell))
    return found


def _headings(notebook: Notebook, path: Path) -> Complaints:
    headings = _heading_list(notebook)
    if not headings or headings[0][0] != 1 or headings[0][2] is not notebook["cells"][0]:
        yield "the first cell does not begin the page with a heading `# …`"
    before = 0
    for level, title, cell in headings:
        if level > before + 1:
            yield f"{_where(cell)}: the heading {title!r} skips a level (from {before} to {level})"
        if level == 1 and before:
            yield f"{_where(cell)}: {title!r} is a second heading of the first level"
        before = level


def _challenges(notebook: Notebook, path: Path) -> Complaints:
    from spanlab.course.challenges import challenges_of, find_challenge
    from spanlab.course.extract import NotStatic, Unreadable, answer_in, checked_ids

    cells = challenge_cells(notebook)
    for challenge, cell in cells.items():
        if find_challenge(challenge) is None:
            yield f"{_where(cell)}: there is no challenge {challenge!r} in spanlab/course/challenges"
        if cell.get("id") != cell_id(challenge):
            yield f"{_where(cell)}: the cell of challenge {challenge} has the id {cell_id(challenge)!r}"
        if checked_ids(cell["source"]) != [challenge]:
            yield f'{_where(cell)}: does not end with `sl.check("{challenge}", answer)`'
            continue
        try:
            if answer_in(cell["source"], challenge) is not ...:
                yield f"{_where(cell)}: an open challenge begins with `answer = ...`"
        except (NotStatic, Unreadable) as reason:
            yield f"{_where(cell)}: {reason}"
    for cell in _cells(notebook, "code"):
        for challenge in checked_ids(cell["source"]):
            if challenge not in cells:
                yield (
                    f"{_where(cell)}: checks {challenge} but its metadata lacks "
                    f'`spanlab={{"challenge": "{challenge}"}}`'
                )
    for chapter in sorted({chapter_of(c) for c in cells} | _chapter_in_name(path)):
        for wanted in challenges_of(chapter):
            if wanted.id not in cells:
                yield f"challenge {wanted.id} ({wanted.title}) has no cell here"


def _chapter_in_name(path: Path) -> set[str]:
    prefix = path.stem.split("_")[0]
    return {str(int(prefix))} if prefix.isdigit() else {prefix.upper()} if len(prefix) == 1 else set()


def _is_panel(cell: Cell) -> bool:
    """A quiz is a widget as well, but it asks itself."""
    return any(WIDGET in output.get("data", {}) and VEGA_LITE in output["data"] for output in cell.get("outputs", []))


def _predictions(notebook: Notebook, path: Path) -> Complaints:
    asked = False
    for cell in notebook["cells"]:
        challenge = str((cell.get("metadata", {}).get("spanlab") or {}).get("challenge", ""))
        asked = asked or ".P" in challenge
        if cell["cell_type"] == "code" and _is_panel(cell):
            if not asked:
                yield f"{_where(cell)}: a panel that nobody had to predict; ask before it"
            asked = False


def _bold(cell: Cell) -> set[str]:
    return {word.strip(" .,:;").casefold() for word in re.findall(r"\*\*(.+?)\*\*", cell["source"])}


def _mirror(notebook: Notebook, path: Path) -> Complaints:
    by_id = {cell.get("id"): cell for cell in notebook["cells"]}
    if path.name.startswith("00") or path.stem == "mock_exam":
        return
    for needed in ("objectives", "takeaways"):
        if needed not in by_id:
            yield f"no markdown cell has the id {needed!r}"
    if "objectives" in by_id and "takeaways" in by_id:
        goals = _bold(by_id["objectives"])
        if not goals:
            yield "cell objectives: no word is bold, so the takeaways have nothing to mirror"
        if missing := sorted(goals - _bold(by_id["takeaways"])):
            yield f"cell takeaways: the bold words of the objectives do not come back: {', '.join(missing)}"


def _outside(name: str, value: int, limits: tuple[int, int]) -> Complaints:
    if not limits[0] <= value <= limits[1]:
        yield f"{value:,} {name}; it should have {limits[0]:,} to {limits[1]:,}"


def words(notebook: Notebook) -> int:
    """Words of prose: markdown cells without code, links' addresses and table rules."""
    text = "\n".join(cell["source"] for cell in _cells(notebook, "markdown"))
    text = re.sub(r"(?s)```.*?```", " ", text)
    text = re.sub(r"\]\([^)]*\)", "] ", text)
    return len(re.findall(r"[^\W_]+(?:['’.,-][^\W_]+)*", text))


def _graded(notebook: Notebook) -> int:
    return sum(".P" not in challenge for challenge in challenge_cells(notebook))


def _lesson_counts(notebook: Notebook, path: Path) -> Complaints:
    code = _cells(notebook, "code")
    yield from _outside("cells", len(notebook["cells"]), LESSON_CELLS)
    yield from _outside("words", words(notebook), LESSON_WORDS)
    yield from _outside("code cells", len(code), LESSON_CODE_CELLS)
    yield from _outside("challenges", _graded(notebook), LESSON_CHALLENGES)
    yield from _outside("panels", sum(map(_is_panel, code)), LESSON_PANELS)


def _lab_counts(notebook: Notebook, path: Path) -> Complaints:
    yield from _outside("challenges", _graded(notebook), LAB_CHALLENGES)


def _clock(notebook: Notebook, path: Path) -> Complaints:
    """Sections say how far one has come: "So far: 12 of 30 min". The times rise, and the whole never changes."""
    before, whole = 0, int((notebook.get("metadata", {}).get("spanlab") or {}).get("minutes", 0))
    seen = 0
    for cell in _cells(notebook, "markdown"):
        for now, total in ((int(a), int(b)) for a, b in _CLOCK.findall(cell["source"])):
            seen += 1
            whole = whole or total
            if now <= before or now > total or total != whole:
                yield f"{_where(cell)}: the clock says {now} of {total} min after {before} of {whole}"
            before = now
    sections = sum(level == 2 for level, _, _ in _heading_list(notebook))
    if seen < min(3, sections):
        yield f"{seen} running clocks (“So far: 12 of 30 min”) in {sections} sections; each section ends with one"
