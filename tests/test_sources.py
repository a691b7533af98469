"""Citations resolve: every fact that the course cites is there, with a claim and a page; every word has a meaning."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import spanlab as sl
from spanlab.advisor import RULES
from spanlab.course.sources import fact_numbers

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted(path for folder in ("lessons", "labs", "solutions") for path in (ROOT / folder).glob("*.ipynb"))
CITED = re.compile(r"\bfacts? ((?:\d+(?:\.\d+)*(?:, | and )?)+)")


def prose(path: Path) -> str:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def cited(text: str) -> set[str]:
    return {number for found in CITED.findall(text) for number in re.findall(r"\d+(?:\.\d+)*", found)}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_cites_only_facts_that_resolve(path: Path) -> None:
    missing = cited(prose(path)) - set(fact_numbers())
    assert missing == set()


@pytest.mark.parametrize("path", [p for p in NOTEBOOKS if p.parent.name != "solutions"], ids=lambda p: p.stem)
def test_no_exam_box_stands_without_its_source(path: Path) -> None:
    boxes = [block for block in prose(path).split("\n\n") if "Exam answer / What Spanner does" in block]
    unsourced = [box[:120] for box in boxes if not cited(box)]
    assert unsourced == []


def test_every_lesson_has_a_box_where_material_and_service_differ() -> None:
    lessons = [p for p in NOTEBOOKS if p.parent.name == "lessons" and not p.name.startswith("00")]
    assert lessons
    assert [p.name for p in lessons if "Exam answer / What Spanner does" not in prose(p)] == []


def test_the_facts_behind_the_advisor_resolve() -> None:
    known = set(fact_numbers())
    for rule in RULES.values():
        if rule.source.startswith("facts"):
            numbers = re.findall(r"\d+(?:\.\d+)*", rule.source)
            assert numbers
            assert set(numbers) <= known, rule.code


@pytest.mark.parametrize("number", fact_numbers())
def test_a_fact_is_a_claim_with_a_page_and_a_date(number: str) -> None:
    said = repr(sl.source(number))
    assert said.startswith(f"fact {number}: ")
    assert re.search(r"\(.+: .+; read \d{4}-\d\d-\d\d\)$", said)


def test_an_unknown_fact_and_an_odd_one_get_a_sentence() -> None:
    assert "no fact of that number" in repr(sl.source("99.9"))
    assert "no fact of that number" in repr(sl.source(""))
    assert repr(sl.source("facts 1.2.6")) == repr(sl.source("1.2.6"))


def test_a_word_is_found_in_any_case_and_by_each_of_its_names() -> None:
    assert repr(sl.glossary("SPLIT")) == repr(sl.glossary("Split"))
    assert repr(sl.glossary("split point")) == repr(sl.glossary("Split boundary"))
    assert repr(sl.glossary("helper index")).startswith("Helper (backing) index: ")
    assert "Did you mean Back-join?" in repr(sl.glossary("backjoin"))
    assert "Covering index" in repr(sl.glossary())
