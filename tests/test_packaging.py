"""What is installed, where: versions live in pyproject.toml, and every other way of setting up follows it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def constraints() -> dict[str, Version]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {re.sub(r"[-_.]+", "-", name).lower(): Version(version) for name, version in pairs}


def requirements() -> list[Requirement]:
    extras = PROJECT["optional-dependencies"]
    texts = [*PROJECT["dependencies"], *extras["lab"], *extras["dev"], *extras["browser"]]
    return [r for r in map(Requirement, texts) if r.name != "spanlab"]


def test_conda_brings_python_and_pip_brings_the_rest() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert environment["name"] == "spanlab"
    assert environment["channels"] == ["conda-forge", "nodefaults"]
    python, pip, by_pip = environment["dependencies"]
    assert pip == "pip"
    assert by_pip == {"pip": ["-e .[lab]"]}
    name, version = python.split("=")
    assert name == "python"
    assert SpecifierSet(PROJECT["requires-python"]).contains(version + ".0")


def test_course_py_asks_for_the_pythons_of_the_package() -> None:
    source = (ROOT / "course.py").read_text(encoding="utf-8")
    oldest, too_new = re.findall(r"\((\d+, \d+)\)", source)[:2]
    spec = SpecifierSet(PROJECT["requires-python"])
    assert spec == SpecifierSet(f">={oldest.replace(', ', '.')},<{too_new.replace(', ', '.')}")


@pytest.mark.parametrize("requirement", requirements(), ids=lambda r: r.name)
def test_the_tested_versions_are_versions_that_the_package_allows(requirement: Requirement) -> None:
    tested = constraints()[re.sub(r"[-_.]+", "-", requirement.name).lower()]
    assert requirement.specifier.contains(tested)


def test_the_dev_container_is_valid_and_uses_the_same_constraints() -> None:
    text = (ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8")
    container = json.loads("\n".join(line for line in text.splitlines() if not line.strip().startswith("//")))
    assert "constraints.txt" in container["postCreateCommand"]
    assert container["postAttachCommand"] == "python3 course.py --no-open"
    image_python = container["image"].split(":")[1]
    assert SpecifierSet(PROJECT["requires-python"]).contains(image_python + ".0")


def test_the_wheel_holds_every_module_and_data_file(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    [wheel] = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    source = {p for p in (ROOT / "spanlab").rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    missing = {p.relative_to(ROOT).as_posix() for p in source} - inside
    assert missing == set()


def test_importing_spanlab_loads_nothing_heavy() -> None:
    heavy = ("numpy", "altair", "sqlglot", "ipywidgets", "IPython", "rich", "nbformat", "papermill")
    code = f"import sys, spanlab; print([m for m in {heavy!r} if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"


def test_every_public_name_can_be_loaded_and_python_can_suggest_one_for_a_typo() -> None:
    import spanlab

    for name in spanlab.__all__:
        assert getattr(spanlab, name) is not None
    with pytest.raises(AttributeError) as typo:
        _ = spanlab.simulat
    # what Python needs to add "Did you mean: 'simulate'?" to the traceback
    assert (typo.value.name, typo.value.obj) == ("simulat", spanlab)
    assert "simulate" in dir(spanlab)


def test_altair_is_loaded_only_when_a_chart_is_drawn() -> None:
    code = (
        "import sys, spanlab as sl; sl.simulate('now', writes_per_second=100, nodes=1); print('altair' in sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "False"


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md"])
def test_links_and_commands_of_the_documents_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    linked = [target for target in re.findall(r"\]\(([^)#\s]+)\)", text) if "://" not in target]
    called = re.findall(r"python (benchmarks/\w+\.py)", text)
    assert [path for path in [*linked, *called] if not (ROOT / path).exists()] == []
