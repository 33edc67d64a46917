"""A module of another package that is spared is known, and runs when it is needed after all."""

import sys
from importlib import import_module
from pathlib import Path

import pytest
import watchfiles

from mcpyard.sources import watching
from mcpyard.spared_modules import spare_module


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package that tells when it runs, and a module in it that asks it for something."""
    folder = tmp_path / "costly"
    folder.mkdir()
    (folder / "__init__.py").write_text("print('costly runs')\nlimit = 3\nname = 'costly'\n")
    (folder / "asking.py").write_text("from costly import limit\n")
    (folder / "asking_it.py").write_text("from costly.silent import limit\n")
    (folder / "silent.py").write_text("print('silent runs')\nlimit = 5\n")
    monkeypatch.syspath_prepend(tmp_path)
    for each in ("costly", "costly.asking", "costly.asking_it", "costly.silent"):
        # What is there afterwards is taken away again.
        monkeypatch.setitem(sys.modules, each, None)
        del sys.modules[each]
    return "costly"


def test_what_is_in_a_package_is_loaded_without_it(
    package: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spare_module(package, {"limit": lambda: 4})
    asking = import_module("costly.asking")
    assert (asking.limit, capsys.readouterr().out) == (4, "")


def test_a_package_runs_once_somebody_asks_for_what_only_it_has(
    package: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spare_module(package, {"limit": lambda: 4})
    spared = sys.modules[package]
    assert (spared.name, spared.limit) == ("costly", 3)
    with pytest.raises(AttributeError):
        _ = spared.nothing
    assert capsys.readouterr().out == "costly runs\n"


def test_a_module_within_a_package_can_be_spared_too(
    package: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spare_module(f"{package}.silent", {"limit": lambda: 6})
    asking = import_module("costly.asking_it")
    assert (asking.limit, capsys.readouterr().out) == (6, "costly runs\n")


def test_what_runs_already_is_left_alone() -> None:
    spare_module("watchfiles")
    assert sys.modules["watchfiles"] is watchfiles


def test_the_number_of_a_deletion_is_the_one_of_the_library() -> None:
    assert watchfiles.Change.deleted == watching._DELETED
