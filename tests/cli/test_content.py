"""`prompts` and `resources`, with a running mcpyard and without one; `logs` with log messages."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.api.daemon import Daemon, daemon, one
from tests.cli.commands import answer, mcpyard, write_project
from tests.web.test_running_calls import asking

pytestmark = pytest.mark.real

NOTES = "test://notes.md"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Daemon, Path]]:
    home = tmp_path_factory.mktemp("content") / "home"
    with daemon(home) as yard:
        yard.register("asking", asking(), start=True)
        yard.until("asking", lambda record: record["status"] == "connected")
        yield yard, home


@pytest.mark.spec("F6.3")
def test_prompts_are_listed_and_filled_in(running: tuple[Daemon, Path]) -> None:
    _, home = running
    listed = mcpyard("prompts", home=home)
    assert listed.returncode == 0
    assert "greet" in listed.stdout
    assert "city" in listed.stdout
    prompt = mcpyard("prompts", "get", "asking", "greet", "--arg", "city=Oslo", home=home)
    assert prompt.stdout == "user: Greet **Oslo** warmly.\n"
    whole = answer("prompts", "get", "asking", "greet", "--arg", "city=Oslo", home=home)
    assert whole["description"] == "A greeting"
    wrong = mcpyard("prompts", "get", "asking", home=home)
    assert wrong.returncode == 2
    assert "mcpyard prompts get SERVER PROMPT" in wrong.stderr


@pytest.mark.spec("F6.3")
def test_resources_are_listed_and_read(running: tuple[Daemon, Path], tmp_path: Path) -> None:
    _, home = running
    listed = mcpyard("resources", "asking", home=home)
    assert NOTES in listed.stdout
    assert "test://city/{name}{?year}" in listed.stdout
    assert "(template)" in listed.stdout
    read = mcpyard("resources", "read", "asking", "test://city/Oslo", home=home)
    assert read.stdout == "about test://city/Oslo\n"
    file = tmp_path / "city.txt"
    mcpyard("resources", "read", "asking", "test://city/Oslo", "--output", file, home=home)
    assert file.read_text() == "about test://city/Oslo"
    missing = mcpyard("resources", "read", "asking", "test://nothing", home=home)
    assert missing.returncode != 0
    assert "not found" in missing.stderr


def test_log_messages_are_printed_with_their_level(running: tuple[Daemon, Path]) -> None:
    yard, home = running
    yard.post(one("asking", "tools", "log", "call"), {"arguments": {"text": "x"}})
    lines = mcpyard("logs", "asking", "--source", "mcp", "--level", "error", home=home).stdout
    assert "[error] " in lines
    assert "[debug]" not in lines


def test_without_a_running_mcpyard_the_servers_are_started_for_the_command(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", write_project(tmp_path / "p", asking=asking())
    use = ("--project", folder)
    prompts = answer("prompts", *use, home=home)
    assert [each["name"] for each in prompts] == ["greet", "plain"]
    read = mcpyard("resources", "read", "asking", "test://data", *use, home=home)
    assert read.stdout == '{"answer": [42]}\n'
