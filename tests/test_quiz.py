"""The question bank and the quiz: every option has a reason, no letter is a safe bet, answers are remembered."""

from __future__ import annotations

import collections
import re

import pytest

import spanlab as sl
from spanlab.course.progress import current
from spanlab.course.questions import LETTERS, Question, all_questions, questions_of
from spanlab.course.quiz import Quiz, verdict


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch):
    monkeypatch.setenv("SPANLAB_PROGRESS", str(tmp_path))


def test_the_bank_has_the_mock_exam_and_the_lessons_questions() -> None:
    ids = [q.id for q in all_questions()]
    assert len(ids) == len(set(ids)) == 87
    assert sum(re.fullmatch(r"C\d\d", i) is not None for i in ids) == 50
    assert all(re.fullmatch(r"C\d\d|(1[0-4]|[1-9]|[A-H])\.Q\d", i) for i in ids)


@pytest.mark.parametrize("question", all_questions(), ids=lambda q: q.id)
def test_every_option_has_a_text_and_a_reason_of_its_own(question: Question) -> None:
    assert 4 <= len(question.options) <= len(LETTERS)
    texts = [o.text for o in question.options]
    assert len(set(texts)) == len(texts)
    assert all(o.why for o in question.options)
    assert 1 <= len(question.right) < len(question.options)
    if len(question.right) > 1:
        word = {2: "two", 3: "three"}[len(question.right)]
        assert word in question.stem.lower(), "a question with several answers says how many"


def test_no_letter_is_a_safe_bet() -> None:
    single = [q for q in all_questions() if len(q.right) == 1 and len(q.options) == 4]
    counts = collections.Counter(q.right[0] for q in single)
    # with letters dealt at random, one of four letters gets 25 % of about 70; twice that would be a bias worth guessing
    assert set(counts) == set("ABCD")
    assert max(counts.values()) < 0.4 * len(single)


def test_a_chapter_is_found_with_and_without_its_leading_zero() -> None:
    assert [q.id for q in questions_of("03")] == [q.id for q in questions_of("3")] == ["3.Q1", "3.Q2"]
    assert [q.id for q in questions_of("b")] == ["B.Q1"]
    assert questions_of("99") == ()


def test_all_right_letters_and_no_other_are_needed() -> None:
    many = next(q for q in all_questions() if len(q.right) > 1)
    assert verdict(many, many.right)[0]
    assert not verdict(many, many.right[:1])[0]
    assert not verdict(many, LETTERS[: len(many.options)])[0]


def test_the_reasons_of_all_options_are_told_whatever_was_chosen() -> None:
    question = questions_of("1")[0]
    wrong = next(letter for letter in "ABCD" if letter not in question.right)
    right, said = verdict(question, wrong)
    assert not right
    assert f"the answer is {question.right[0]}" in said
    assert said.count("<li") == len(question.options)
    assert said.count("(your choice)") == 1


def test_a_lesson_quiz_goes_question_by_question_and_is_remembered() -> None:
    quiz = sl.quiz("01")
    assert isinstance(quiz, Quiz)
    assert quiz.answer("") is None
    assert "Choose an option first" in quiz._said.value
    first = quiz.question
    assert quiz.answer("".join(first.right)) is True
    assert current().get(first.id).points == 1.0
    quiz.next()
    assert quiz.question.id == "1.Q2"
    wrong = next(letter for letter in "ABCD" if letter not in quiz.question.right)
    assert quiz.answer(wrong) is False
    assert quiz.results == {"1.Q1": True, "1.Q2": False}
    quiz.next()
    assert quiz.question.id == "1.Q2"
    assert quiz._next.disabled


def test_the_buttons_do_it_by_what_is_chosen() -> None:
    quiz = sl.quiz("01")
    assert quiz._choice is not None
    quiz._choice.value = quiz._choice.options["ABCD".index(quiz.question.right[0])]
    quiz._answer.click()
    assert quiz.results == {"1.Q1": True}


def test_an_unknown_chapter_gets_a_sentence() -> None:
    assert "There is no quiz" in repr(sl.quiz("77"))
    assert "There is no quiz" in repr(sl.quiz(3))


def test_a_page_without_a_kernel_shows_every_question() -> None:
    bundle = sl.quiz("01")._repr_mimebundle_()
    assert bundle["text/plain"] == "Quiz of 2 questions: 1.Q1, 1.Q2"
    for question in questions_of("1"):
        assert question.stem[:40] in bundle["text/html"]
