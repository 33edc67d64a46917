"""What contributors are told to run is there, and everybody runs the same scripts."""

import os
import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

from tests import conftest
from tests.formats.clients import test_locations

ROOT = Path(__file__).parents[2]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
SAMPLES = ROOT / "tests" / "formats" / "clients" / "samples"


def load(name: str) -> dict[str, Any]:
    return yaml.safe_load((ROOT / name).read_text())


def is_script(name: str) -> bool:
    path = ROOT / name
    return path.is_file() and os.access(path, os.X_OK)


def test_the_commit_hook_runs_the_checks_of_everybody() -> None:
    (repository,) = load(".pre-commit-config.yaml")["repos"]
    (hook,) = repository["hooks"]
    assert (repository["repo"], hook["language"]) == ("local", "system")
    assert (hook["entry"], hook["pass_filenames"], hook["always_run"]) == (
        "scripts/check",
        False,
        True,
    )
    assert is_script(hook["entry"])


def test_the_workflow_runs_the_tests_of_everybody_on_every_python_that_is_supported() -> None:
    (job,) = load(".github/workflows/test.yml")["jobs"].values()
    (step,) = [each for each in job["steps"] if "run" in each]
    assert step["run"] == "scripts/test"
    assert is_script(step["run"])
    assert step["env"] == {"PYTHON": "python${{ matrix.python }}"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    supported = [
        version
        for each in project["classifiers"]
        if (version := each.rpartition("Python :: ")[2]) != each and "." in version
    ]
    assert job["strategy"]["matrix"]["python"] == supported


def test_neither_of_them_names_an_address() -> None:
    for name in (".pre-commit-config.yaml", ".github/workflows/test.yml"):
        assert "://" not in (ROOT / name).read_text()


def test_every_script_and_path_that_contributors_are_told_of_is_there() -> None:
    scripts = set(re.findall(r"`(scripts/\w+)", CONTRIBUTING))
    assert scripts >= {"scripts/check", "scripts/docs", "scripts/test", "scripts/words"}
    assert [each for each in scripts if not is_script(each)] == []
    words = re.findall(r"`((?:src|tests|docs|bench|\.github|\.\w)[\w./-]*)`", CONTRIBUTING)
    assert [each for each in words if each != ".venv" and not (ROOT / each).exists()] == []


def test_contributors_are_told_the_time_limits_of_a_test() -> None:
    assert "A test has 20 seconds, one marked `real`" in CONTRIBUTING
    assert "has 60" in CONTRIBUTING
    if not conftest.FULL:
        assert (conftest.QUICK_SECONDS, conftest.REAL_SECONDS) == (20, 60)


def test_contributors_are_told_the_samples_and_the_list_of_ids_of_a_client() -> None:
    named = set(re.findall(r"^   \| `(\w+)\.", CONTRIBUTING, re.MULTILINE))
    for folder in SAMPLES.iterdir():
        assert {path.stem for path in folder.iterdir()} == named, folder.name
    assert "`IDS` in `tests/formats/clients/test_locations.py`" in CONTRIBUTING
    assert test_locations.IDS.split()[-1] == "yard"
