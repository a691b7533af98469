"""The command line, as people and builds use it: what is read, what is printed, and the exit code."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from spanlab.cli import main

HOT = "CREATE TABLE Hits (At TIMESTAMP NOT NULL, Path STRING(99)) PRIMARY KEY (At);\n"
GOOD = "CREATE TABLE Hits (Id UUID NOT NULL DEFAULT (NEW_UUID()), Path STRING(99)) PRIMARY KEY (Id);\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "hot.sql").write_text(HOT, encoding="utf-8")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "good.ddl").write_text("\ufeff" + GOOD, encoding="utf-8")  # some editors put a mark in front
    (tmp_path / "notes.txt").write_text("no DDL", encoding="utf-8")
    return tmp_path


def test_a_file_is_advised_with_the_line_that_each_finding_speaks_of(folder: Path, capsys) -> None:
    assert main(["advise", str(folder / "hot.sql")]) == 0
    said = capsys.readouterr().out
    assert "0 refused, 1 will hurt" in said
    assert "   1 | CREATE TABLE Hits" in said
    assert "SPL101" in said


def test_a_folder_means_the_ddl_files_below_it(folder: Path, capsys) -> None:
    assert main(["advise", str(folder), "--format", "json"]) == 0
    files = {Path(entry["file"]).name: entry["findings"] for entry in json.loads(capsys.readouterr().out)}
    assert set(files) == {"hot.sql", "good.ddl"}
    assert [f["rule"] for f in files["hot.sql"]] == ["SPL101"]
    assert files["good.ddl"] == []


def test_a_pattern_and_standard_input(folder: Path, monkeypatch, capsys) -> None:
    assert main(["advise", str(folder / "**" / "*.ddl")]) == 0
    assert "good.ddl: 0 refused, 0 will hurt, 0 worth knowing" in capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.StringIO(HOT))
    assert main(["advise", "-", "--fail-on", "medium"]) == 1
    assert "<standard input>" in capsys.readouterr().out


@pytest.mark.parametrize(("grave", "code"), [("high", 0), ("medium", 1), ("low", 1)])
def test_fail_on_counts_what_is_that_grave_or_graver(folder: Path, grave: str, code: int) -> None:
    assert main(["advise", str(folder / "hot.sql"), "--fail-on", grave]) == code
    assert main(["advise", str(folder / "below"), "--fail-on", grave]) == 0


def test_a_file_that_is_not_there_is_one_sentence_and_exit_code_2(capsys) -> None:
    assert main(["advise", "nowhere.sql"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("spanlab: nowhere.sql: no such file")


def test_ctrl_c_is_one_sentence_and_exit_code_130(folder: Path, monkeypatch, capsys) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("spanlab.cli.advise.run", interrupted)
    assert main(["advise", str(folder / "hot.sql")]) == 130
    assert capsys.readouterr().err == "spanlab: stopped; what was not written yet is not written\n"


def test_sarif_names_every_rule_that_a_result_uses(folder: Path, capsys) -> None:
    main(["advise", str(folder / "hot.sql"), "--format", "sarif"])
    [run] = json.loads(capsys.readouterr().out)["runs"]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    [result] = run["results"]
    assert result["ruleId"] in rules
    assert result["level"] == "warning"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("hot.sql")
    assert place["region"]["startLine"] == 1


def test_annotations_for_github_stay_on_one_line(folder: Path, capsys) -> None:
    main(["advise", str(folder / "hot.sql"), "--format", "github"])
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith("::warning file=")
    assert ",line=1,title=SPL101" in line
    assert "%0A" in line  # the mend has several lines


def test_simulate_says_the_verdict_and_fails_where_writes_are_lost(folder: Path, capsys) -> None:
    rate = ["--table", "Hits", "--writes-per-second", "12000", "--nodes", "10"]
    assert main(["simulate", str(folder / "hot.sql"), *rate, "--value", "At=now", "--value", "Path=text(9)"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("1,800 of ")
    assert said.count("server ") >= 10
    assert main(["simulate", str(folder / "below" / "good.ddl"), *rate, "--value", "Path=text(9)"]) == 0


def test_simulate_asks_who_fills_a_column_and_suggests_a_table(folder: Path, capsys) -> None:
    rate = ["--writes-per-second", "100"]
    assert main(["simulate", str(folder / "hot.sql"), "--table", "Hit", *rate]) == 2
    assert "Did you mean Hits" in capsys.readouterr().err
    assert main(["simulate", str(folder / "hot.sql"), "--table", "Hits", *rate]) == 2
    assert "At" in capsys.readouterr().err


def test_doctor_has_a_line_for_each_thing_the_course_stands_on(capsys) -> None:
    from spanlab.course.doctor import CHECKS

    assert main(["doctor"]) == 0
    assert capsys.readouterr().out.count("ok      ") == len(CHECKS)
    assert main(["doctor", "--brief"]) == 0
    assert capsys.readouterr().out == ""


def test_doctor_says_what_is_wrong_and_goes_on(monkeypatch, capsys) -> None:
    from spanlab.course import doctor

    def broken() -> str:
        raise RuntimeError("there is no kernel: run course.py again")

    monkeypatch.setattr(doctor, "CHECKS", (broken, doctor.python_version))
    assert doctor.examine() == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "TROUBLE broken: there is no kernel: run course.py again"
    assert said[1].startswith("ok      Python 3.")
