"""A test at its time limit fails once, and the run goes on."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SLOW = """
import pytest
from hypothesis import given, strategies as st

pytestmark = pytest.mark.timeout(0.5)

def busy():
    while True:
        pass

@given(st.lists(st.integers()))
def test_a_property(values):
    if len(values) > 3:
        busy()

def test_that_swallows_it():
    for _ in range(2):
        try:
            busy()
        except BaseException:
            pass
    assert False

@pytest.fixture
def slow_to_end():
    yield
    busy()

def test_with_a_slow_fixture(slow_to_end):
    busy()

def test_that_holds_the_interpreter():
    sum(range(10**15))

def test_that_is_quick():
    pass
"""


@pytest.mark.real
def test_a_slow_test_fails_once_and_the_next_one_runs(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(SLOW)
    plugins = ("tests.time_limits", "xdist", "_hypothesis_pytestplugin")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *(f"-p{each}" for each in plugins), "-n1", "test_it.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=50,
        env={"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    lines = ran.stdout.splitlines()
    assert {"4 failed", "1 passed", "1 error"} <= set(re.findall(r"\d+ [a-z]+", lines[-1]))
    assert sum("TimeLimitReached: test_a_property took longer" in line for line in lines) == 1
    assert "E       test_that_swallows_it took longer than 0.5 s" in lines
