"""What a learner did is kept: two notebooks at once, a process killed while it writes, a damaged file, a full disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spanlab as sl
from spanlab.course import learner
from spanlab.course.progress import Progress, Record, Records, current, default_folder, digest, merge, progress_file

STATES = ("not_attempted", "unreadable", "failed", "partial", "recorded", "passed")
records = st.dictionaries(
    st.sampled_from(["1.1", "1.2", "B.5"]),
    st.builds(
        Record,
        epoch=st.integers(0, 2),
        points=st.sampled_from([0.0, 0.4, 2.0]),
        state=st.sampled_from(STATES),
        tries=st.lists(st.sampled_from("abcd"), unique=True).map(sorted),
        hints=st.integers(0, 3),
        revealed=st.booleans(),
    ),
)


@settings(max_examples=100, deadline=None)
@given(records, records, records)
def test_merging_takes_any_order_any_number_of_times(a: Records, b: Records, c: Records) -> None:
    assert merge(a, b) == merge(b, a)
    assert merge(merge(a, b), c) == merge(a, merge(b, c))
    assert merge(a, a) == a
    assert merge(merge(a, b), b) == merge(a, b)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPANLAB_PROGRESS", str(tmp_path / "progress"))
    return tmp_path / "progress"


def test_the_best_result_is_kept(folder: Path) -> None:
    progress = Progress(folder)
    progress.update("1.1", state="passed", points=2.0, tries=["a"])
    progress.update("1.1", state="failed", points=0.0, tries=["b"])
    record = Progress(folder).get("1.1")
    assert (record.state, record.points, record.tries) == ("passed", 2.0, ["a", "b"])


def test_a_reset_forgets_and_is_not_undone_by_older_news(folder: Path) -> None:
    one, two = Progress(folder), Progress(folder)
    one.update("1.1", state="passed", points=2.0)
    two.update("1.2", state="partial", points=0.8)
    two.reset("1.1")
    one.update("1.3", state="failed")
    third = Progress(folder)
    assert (third.get("1.1").state, third.get("1.2").state, third.get("1.3").state) == (
        "not_attempted",
        "partial",
        "failed",
    )
    third.reset()
    assert all(record.points == 0 for record in Progress(folder).records().values())


WRITER = """
import sys
from pathlib import Path
from spanlab.course.progress import Progress
progress = Progress(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
number = 0
while number < int(sys.argv[3]):
    progress.update(f"{sys.argv[2]}.{number}", state="partial", points=1.0, tries=[str(number)])
    print(number, flush=True)
    number += 1
"""


def writer(folder: Path, name: str, times: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), name, str(times)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_two_notebooks_at_once_lose_nothing(folder: Path) -> None:
    processes = [writer(folder, name, 40) for name in ("A", "B", "C")]
    for process in processes:
        process.communicate("go\n")
    kept = Progress(folder).records()
    assert set(kept) == {f"{name}.{number}" for name in "ABC" for number in range(40)}


def test_a_process_killed_while_it_writes_loses_nothing_that_it_reported(folder: Path) -> None:
    for round_ in range(5):
        process = writer(folder, f"K{round_}", 10_000)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        reported = [int(process.stdout.readline()) for _ in range(1 + round_)]
        time.sleep(0.003 * round_)  # so that the kill falls on different steps of a write
        process.kill()
        process.communicate()
        progress = Progress(folder)
        assert {f"K{round_}.{number}" for number in reported} <= set(progress.records())
        assert progress.warning == ""
        json.loads((folder / "progress.json").read_bytes())


def one_record(points: str) -> bytes:
    record = f'{{"epoch": 0, "points": {points}, "state": "passed", "tries": [], "hints": 0, "revealed": false}}'
    return f'{{"version": 1, "challenges": {{"1.1": {record}}}}}'.encode()


DAMAGED = [
    *(b"", b"{", b"\xff\xfe", b"[]", b"[" * 100_000),
    *(b'{"version": 1}', b'{"version": "x", "challenges": {}}', b'{"version": 1, "challenges": {"1.1": 3}}'),
    *(one_record("1e400"), one_record("NaN"), one_record("-1"), one_record('"x"')),
]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_file_is_set_aside_and_said_once(folder: Path, content: bytes) -> None:
    folder.mkdir()
    (folder / "progress.json").write_bytes(content)
    shown = repr(sl.check("1.4", 4))
    assert "set aside" in shown
    assert "passed" in shown
    assert [path.read_bytes() for path in folder.glob("damaged-*")] == [content]
    assert "set aside" not in repr(sl.check("1.4", 4))
    assert Progress(folder).get("1.4").state == "passed"


@pytest.mark.parametrize("name", ["progress.json", "session-1-abc.json"])
def test_a_file_of_a_newer_course_stays_as_it_is(folder: Path, name: str) -> None:
    """The course was brought up to date while an old notebook is still open: neither may cost the other anything."""
    content = b'{"version": 99, "challenges": {"1.4": {"state": "new"}}}'
    folder.mkdir()
    (folder / name).write_bytes(content)
    old = Progress(folder)
    old.update("1.1", state="passed", points=2.0)
    assert "newer version of the course" in old.warning
    old.warning = ""
    old.update("1.2", state="partial", points=1.0)
    assert old.warning == ""  # once is enough
    assert (folder / name).read_bytes() == content
    assert not list(folder.glob("damaged-*"))
    (folder / name).unlink()  # what the newer course would fold in is there
    assert Progress(folder).get("1.1").points == 2
    assert Progress(folder).get("1.2").points == 1


def test_the_overview_says_what_became_of_a_damaged_file(folder: Path) -> None:
    sl.check("1.4", 4)
    (folder / "progress.json").write_text("{")
    shown = sl.progress()
    assert "set aside" in repr(shown)
    assert "set aside" in shown.html()
    assert "set aside" not in repr(sl.progress())


def test_points_of_a_forged_file_do_not_exceed_the_challenge(folder: Path) -> None:
    Progress(folder).update("1.4", state="passed", points=900.0)
    assert sl.progress().points == 2


def test_a_disk_that_refuses_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("SPANLAB_PROGRESS", str(blocked / "below"))
    shown = repr(sl.check("1.4", 4))
    assert "could not be saved" in shown
    assert "4 1.4" not in shown
    assert current().get("1.4").state == "passed"  # it counts until the session ends


def test_old_sessions_are_folded_in_and_removed(folder: Path) -> None:
    old = Progress(folder)
    old.update("1.1", state="passed", points=2.0)
    Progress(folder).update("1.2", state="failed")
    (folder / "progress.json.1.tmp").write_text("half")
    long_ago = time.time() - 3600
    for path in folder.iterdir():
        os.utime(path, (long_ago, long_ago))
    young = Progress(folder)
    young.update("1.3", state="failed")
    names = sorted(path.name for path in folder.iterdir())
    assert names[0] == "progress.json"
    assert len(names) == 2
    assert set(Progress(folder).records()) == {"1.1", "1.2", "1.3"}


def course_copy(place: Path) -> Path:
    (place / "lessons").mkdir(parents=True)
    (place / "course.py").write_text("")
    return place


def test_each_copy_of_the_course_has_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPANLAB_PROGRESS", raising=False)
    first, second = course_copy(tmp_path / "a"), course_copy(tmp_path / "b c")
    monkeypatch.chdir(first / "lessons")
    assert default_folder() == first / ".spanlab"
    assert progress_file() == first / ".spanlab" / "progress.json"
    monkeypatch.chdir(second)
    assert default_folder() == second / ".spanlab"


def test_a_copy_that_cannot_be_written_to_uses_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPANLAB_PROGRESS", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(course_copy(tmp_path / "copy"))
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert tmp_path in default_folder().parents
    assert tmp_path / "copy" not in default_folder().parents


# ---- what a learner calls ------------------------------------------------------------------------------------------


def test_hints_come_one_by_one(folder: Path) -> None:
    assert repr(sl.hint("1.4")).count("Hint ") == 1
    assert repr(sl.hint("1.4")).count("Hint ") == 2
    assert repr(sl.hint("1.4")).count("Hint ") == 3
    assert repr(sl.hint("1.4")).count("Hint ") == 3


def test_reveal_waits_for_three_different_tries(folder: Path) -> None:
    assert "0 of 3" in repr(sl.reveal("1.4"))
    for answer in (3, 3, "x", 7):
        sl.check("1.4", answer)
    assert "2 of 3" in repr(sl.reveal("1.4"))
    sl.check("1.4", 1)
    shown = repr(sl.reveal("1.4"))
    assert "answer = 4" in shown
    assert "sl.check" not in shown


def test_reveal_after_a_pass(folder: Path) -> None:
    sl.check("1.1", [1, 2, 3, 3, 4])
    assert "[1, 2, 3, 3, 4]" in repr(sl.reveal("1.1"))


def test_reveal_without_solutions_says_so(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sl.check("1.4", 4)
    monkeypatch.chdir(course_copy(tmp_path / "packed"))
    assert "without solutions" in repr(sl.reveal("1.4"))


def test_a_prediction_is_recorded_and_then_told(folder: Path) -> None:
    assert "Say first" in repr(sl.reveal("1.P1"))
    assert "recorded" in repr(sl.check("1.P1", "a"))
    assert "c: the same" in repr(sl.reveal("1.P1"))
    assert sl.progress().points == 0


def test_reset_of_one_of_a_lesson_and_of_all(folder: Path) -> None:
    sl.check("1.4", 4)
    sl.check("1.1", [1, 2, 3, 3, 4])
    assert sl.progress().points == 4
    sl.reset("1.4")
    assert sl.progress().points == 2
    sl.check("1.4", 4)
    sl.reset("1")
    assert sl.progress().points == 0
    sl.check("1.4", 4)
    assert "forgotten" in repr(sl.reset("all"))
    assert sl.progress().points == 0


def test_progress_marks_what_is_finished(folder: Path) -> None:
    sl.check("1.4", 4)
    sl.check("1.1", [1, 2, 3, 3, 3])
    line = next(line for line in repr(sl.progress()).splitlines() if "A key is an address" in line)
    assert "3.6 of 10" in line
    assert "✔ 1.4" in line
    assert "◐ 1.1" in line
    html = sl.progress().html()
    assert 'aria-label="passed"' in html
    assert "<table>" in html


def test_progress_of_one_chapter(folder: Path) -> None:
    sl.check("1.4", 4)
    assert len(repr(sl.progress("1")).splitlines()) == 2
    assert repr(sl.progress("1")).startswith("2 of 10 points")
    for wrong in ("Z", 1, ["1"]):
        assert "in quotes" in repr(sl.progress(wrong))  # type: ignore[arg-type]


@pytest.mark.parametrize("call", [sl.check, sl.hint, sl.reveal, sl.reset])
@pytest.mark.parametrize(
    ("id_", "words"),
    [
        ("1.44", "Did you mean 1.4?"),
        ("9.99", "no challenge '9.99'"),
        ("", "no challenge ''"),
        ("../../etc/passwd", "no challenge"),
        (1.3, "in quotes: sl."),
        (None, "in quotes"),
        (["1.3"], "in quotes"),
    ],
)
def test_a_wrong_id_gets_a_sentence(folder: Path, call: object, id_: object, words: str) -> None:
    shown = repr(call(id_))  # type: ignore[operator]
    assert words in shown
    assert "fault of the course" not in shown


def test_a_fault_of_the_course_is_a_card_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def boom(*_: object) -> None:
        raise KeyError("inside")

    monkeypatch.setattr(learner, "judge", boom)
    shown = repr(sl.check("1.4", 4))
    assert "KeyError" in shown
    assert "fault of the course" in shown


def test_digest_tells_answers_apart() -> None:
    assert digest([1, 2]) != digest([2, 1])
    assert digest("\ud800")
