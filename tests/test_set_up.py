"""A newcomer's first minute: `course.py` says what is wrong, in one sentence, before anything breaks."""

from __future__ import annotations

import ast
import importlib.util
import socket
import subprocess
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def course(tmp_path: Path) -> types.ModuleType:
    """`course.py` as a module, standing in a scratch folder whose name has spaces in it."""
    spec = importlib.util.spec_from_file_location("course", ROOT / "course.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    home = tmp_path / "a new folder"
    home.mkdir()
    for name in ("pyproject.toml", "constraints.txt"):
        (home / name).write_bytes((ROOT / name).read_bytes())
    module.HERE = str(home)
    module.VENV = str(home / ".venv")
    module.PYTHON = str(home / ".venv" / "bin" / "python")
    return module


def test_old_pythons_can_read_course_py_far_enough_to_be_told_so() -> None:
    tree = ast.parse((ROOT / "course.py").read_text(encoding="utf-8"))
    too_new = (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.AsyncFunctionDef, ast.Match)
    assert [node.lineno for node in ast.walk(tree) if isinstance(node, too_new)] == []
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert functions
    annotated = [f.name for f in functions if f.returns or any(a.annotation for a in f.args.args + f.args.kwonlyargs)]
    assert annotated == []
    assert [f.name for f in functions if f.args.kwonlyargs or f.args.posonlyargs] == []


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 10, 13), (3, 15, 0)])
def test_the_wrong_python_is_named_with_the_right_ones(course, monkeypatch, version) -> None:
    monkeypatch.setattr(course.sys, "version_info", version)
    with pytest.raises(course.Trouble) as trouble:
        course.check_python()
    assert ".".join(map(str, version)) in trouble.value.what
    assert "3.11 to 3.14" in trouble.value.what
    assert "python.org" in trouble.value.mend


def test_a_python_without_venv_is_told_which_package_to_install(course, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)  # what Debian's python3 without python3-venv looks like
    with pytest.raises(course.Trouble) as trouble:
        course.check_venv_module()
    assert f"python{sys.version_info[0]}.{sys.version_info[1]}-venv" in trouble.value.mend


def test_a_folder_that_cannot_be_written_to(course, monkeypatch) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(course.tempfile, "TemporaryFile", refuse)
    with pytest.raises(course.Trouble, match="cannot be written to") as trouble:
        course.check_folder()
    assert "copy the whole folder" in trouble.value.mend


def test_a_half_made_venv_is_noticed_and_one_that_is_missing_is_not_a_fault(course) -> None:
    course.check_venv()
    Path(course.VENV).mkdir()
    with pytest.raises(course.Trouble, match="half made"):
        course.check_venv()
    Path(course.PYTHON).parent.mkdir()
    Path(course.PYTHON).write_text("not a program", encoding="utf-8")
    Path(course.PYTHON).chmod(0o755)
    with pytest.raises(course.Trouble, match="half made"):
        course.check_venv()


def test_no_network_is_said_with_what_to_do(course, monkeypatch) -> None:
    monkeypatch.setattr(course.subprocess, "call", lambda *a, **k: 1)
    with pytest.raises(course.Trouble, match="no network") as trouble:
        course.check_network()
    assert "offline" in trouble.value.mend


def test_a_finished_set_up_is_recognised_until_the_recipe_changes(course) -> None:
    assert not course.ready("lab")
    Path(course.PYTHON).parent.mkdir(parents=True)
    Path(course.PYTHON).touch()
    Path(course.stamp("lab")).write_text(course.recipe(), encoding="utf-8")
    assert course.ready("lab")
    assert not course.ready("dev")
    constraints = Path(course.HERE) / "constraints.txt"
    constraints.write_text(constraints.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    assert not course.ready("lab")


def test_a_busy_port_picks_the_next(course, capsys) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        taken = course.free_port(port)
    assert taken > port
    assert f"Port {port} is busy" in capsys.readouterr().out


def test_doctor_makes_every_check_and_says_what_to_do(course, monkeypatch, capsys) -> None:
    monkeypatch.setattr(course.sys, "version_info", (3, 9, 1))
    monkeypatch.setattr(course, "check_network", lambda: None)
    Path(course.VENV).mkdir()
    assert course.doctor() == 1
    said = capsys.readouterr().out
    assert said.count("TROUBLE") == 2
    assert said.count("To mend it") == 2
    assert "ok      folder" in said


def test_trouble_is_two_sentences_and_no_traceback(tmp_path: Path) -> None:
    script = (
        "import sys, runpy; sys.version_info = (3, 8, 0); sys.argv = ['course.py']; runpy.run_path("
        f"{str(ROOT / 'course.py')!r}, run_name='__main__')"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert ran.returncode == 1
    assert "Traceback" not in ran.stdout + ran.stderr
    assert ran.stdout.startswith("The course cannot start: this is Python 3.8.0")
    assert "To mend it: " in ran.stdout
