"""Every challenge, in a loop: the stub earns nothing, the solution everything, each wrong answer its own diagnosis."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from spanlab.course.challenge import NOT_ATTEMPTED, PASSED, RECORDED, STATES, Challenge, Verdict, judge
from spanlab.course.challenges import all_challenges, challenges_of, chapters, find_challenge, title_of
from spanlab.course.extract import answer_in
from spanlab.course.feedback import card
from spanlab.course.notebook_form import challenge_cells, read_notebook
from spanlab.course.places import cell_id, chapter_of, notebook_of, solutions_of

ROOT = Path(__file__).resolve().parent.parent
INDEX = ROOT.parent / "shared" / "challenges_index.json"
ALL = [pytest.param(challenge, id=challenge.id) for challenge in all_challenges()]
GRADED = [pytest.param(challenge, id=challenge.id) for challenge in all_challenges() if not challenge.is_prediction]
WRONG = [
    pytest.param(challenge, number, id=f"{challenge.id}-{number}")
    for challenge in all_challenges()
    for number in range(len(challenge.wrong))
]


def points_of_criteria(verdict: Verdict) -> float:
    return sum(line.weight * line.share for line in verdict.lines) * verdict.max_points / 100


def test_there_are_challenges() -> None:
    assert [c.id for c in challenges_of("1")] == ["1.1", "1.2", "1.P1", "1.3", "1.4"]
    assert chapters()["1"] == "lesson_01"


@pytest.mark.parametrize("challenge", ALL)
@pytest.mark.parametrize("stub", [..., None, "", "  \n"])
def test_a_stub_earns_nothing_and_says_so(challenge: Challenge, stub: object) -> None:
    verdict = judge(challenge, stub)
    assert (verdict.state, verdict.points, verdict.lines) == (NOT_ATTEMPTED, 0, ())
    assert "Not attempted" in verdict.message


@pytest.mark.parametrize("challenge", ALL)
def test_its_parts_are_complete(challenge: Challenge) -> None:
    assert find_challenge(challenge.id) is challenge
    assert re.fullmatch(r"(\d+|[A-H])\.P?\d+", challenge.id)
    assert all((challenge.title, challenge.topic, challenge.note))
    assert "  " not in challenge.note + "".join(challenge.hints)
    if challenge.is_prediction:
        assert challenge.points == 0
        return
    assert sum(c.weight for c in challenge.criteria) == 100
    assert len(challenge.hints) == 3
    assert len(challenge.wrong) >= 3
    assert all(len(hint.split()) <= 60 for hint in challenge.hints)
    assert len({w.say for w in challenge.wrong}) == len(challenge.wrong)


@pytest.mark.parametrize(("challenge", "number"), WRONG)
def test_a_wrong_answer_gets_its_own_diagnosis(challenge: Challenge, number: int) -> None:
    wrong = challenge.wrong[number]
    verdict = judge(challenge, wrong.example)
    assert wrong.say in verdict.diagnoses
    assert (verdict.state == PASSED) == wrong.full
    assert verdict.points == pytest.approx(points_of_criteria(verdict), abs=0.005)
    assert 0 <= verdict.points <= verdict.max_points
    assert verdict.state in STATES


@pytest.mark.parametrize("challenge", ALL)
def test_the_solution_earns_everything(challenge: Challenge) -> None:
    path = solutions_of(chapter_of(challenge.id), ROOT)
    assert path is not None, f"solutions/ has no notebook for {challenge.id}"
    cell = challenge_cells(read_notebook(path))[challenge.id]
    assert cell["id"] == cell_id(challenge.id)
    answer = answer_in(cell["source"], challenge.id)
    for seed in (0, 1, 2, 71, 2**32 - 1):
        verdict = judge(challenge, answer, seed=seed)
        assert verdict.state == (RECORDED if challenge.is_prediction else PASSED), str(card(verdict))
        assert verdict.points == challenge.points
        assert not [w for w in challenge.wrong if w.say in verdict.diagnoses and not w.full]


@pytest.mark.parametrize("chapter", list(chapters()))
def test_ids_match_between_registry_and_notebook(chapter: str) -> None:
    path = notebook_of(chapter, ROOT)
    assert path is not None, f"no notebook for chapter {chapter}"
    notebook = read_notebook(path)
    cells = challenge_cells(notebook)
    assert list(cells) == [c.id for c in challenges_of(chapter)]
    assert title_of(chapter) in notebook["cells"][0]["source"]


@pytest.mark.parametrize("chapter", list(chapters()))
def test_points_of_a_chapter(chapter: str) -> None:
    whole = {"H": 40}.get(chapter, 10 if chapter.isdigit() else 20)
    assert sum(c.points for c in challenges_of(chapter)) == whole


@pytest.mark.parametrize("challenge", GRADED)
def test_it_agrees_with_the_index(challenge: Challenge) -> None:
    if not INDEX.exists():
        pytest.skip("the index of challenges lies outside the project and is absent here")
    entry = next(e for e in json.loads(INDEX.read_text(encoding="utf-8")) if e["id"] == challenge.id)
    assert (challenge.title, challenge.points) == (entry["title"], entry["points"])
    weights = [float(w) for w in re.findall(r"\((\d+)\)", entry["criteria"])]
    if sum(weights) == 100:
        assert sorted(c.weight for c in challenge.criteria) == sorted(weights)


@pytest.mark.parametrize("challenge", GRADED)
def test_the_same_answer_prints_the_same_bytes(challenge: Challenge) -> None:
    answer = challenge.wrong[0].example
    first, second = card(judge(challenge, answer)), card(judge(challenge, answer))
    assert (repr(first), first.html()) == (repr(second), second.html())
