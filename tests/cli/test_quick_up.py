"""The words of `up` that are read without the library for command lines."""

from pathlib import Path
from typing import Any, cast

import pytest
import typer

from mcpyard.cli.main import app
from mcpyard.cli.quick_up import DEFAULT_HOST, DEFAULT_PORT, FLAGS, LEVELS, TEXTS, read_up


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MCPYARD_HOME", "_MCPYARD_COMPLETE"):
        monkeypatch.delenv(name, raising=False)


def options_of_up() -> dict[str, Any]:
    group = cast("Any", typer.main.get_command(app))
    return {option: each for each in group.commands["up"].params for option in each.opts}


def test_every_option_that_is_read_is_one_of_the_command() -> None:
    options = options_of_up()
    for table, is_flag in ((FLAGS, True), (TEXTS, False)):
        for option, name in table.items():
            assert (options[option].name, options[option].is_flag) == (name, is_flag)
    assert (options["--host"].default, options["--port"].default) == (DEFAULT_HOST, DEFAULT_PORT)
    assert ", ".join(LEVELS[:-1]) in options["--log-level"].help


def test_plain_words_are_read(tmp_path: Path) -> None:
    words = [
        "up",
        "--port",
        "0",
        f"--home={tmp_path / 'new'}",
        "--json",
        "--project",
        str(tmp_path),
    ]
    assert read_up(words) == {
        "port": 0,
        "home": tmp_path / "new",
        "as_json": True,
        "project": tmp_path,
    }
    assert read_up(["up"]) == {}
    assert read_up(["up", "--port", "1", "--port", "2", "--log-level", "debug"]) == {
        "port": 2,
        "log_level": "debug",
    }


def test_the_home_of_the_environment_gives_way_to_the_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCPYARD_HOME", str(tmp_path / "variable"))
    assert read_up(["up"]) == {"home": tmp_path / "variable"}
    assert read_up(["up", "--home", str(tmp_path)]) == {"home": tmp_path}


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["status"],
        ["up", "--help"],
        ["up", "more"],
        ["up", "--port"],
        ["up", "--port", "x"],
        ["up", "--port", "70000"],
        ["up", "--port", "\u0661"],
        ["up", "--port", "-1"],
        ["up", "--json=yes"],
        ["up", "--home", ""],
        ["up", "--home", __file__],
        ["up", "--project", "/nowhere"],
        ["up", "--log-level", "loud"],
        ["up", "--tls-cert", "a.pem"],
        ["up", "--"],
    ],
)
def test_all_other_words_go_the_usual_way(words: list[str]) -> None:
    assert read_up(words) is None


def test_a_shell_that_asks_for_completions_gets_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_MCPYARD_COMPLETE", "complete_bash")
    assert read_up(["up"]) is None
