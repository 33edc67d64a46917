"""`mcpyard secret`: values come from the standard input, never from arguments."""

import os
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.cli.commands import MCPYARD, TIMEOUT, Up, answer, echo, mcpyard, write_project, yard_up

pytestmark = pytest.mark.real

VALUE = "ghp_a-value-that-nobody-may-read"


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Generator[Up]:
    folder = tmp_path_factory.mktemp("yard")
    project = write_project(folder / "p", shared=echo(env={"T": "${TOKEN}"}))
    with yard_up(folder / "home", "--project", project) as up:
        yield up


def secret(up: Up, *words: object, value: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*MCPYARD, "secret", *map(str, words)],
        input=value,
        text=True,
        capture_output=True,
        check=False,
        timeout=TIMEOUT * 2,
        env=os.environ | {"MCPYARD_HOME": str(up.home)},
    )


def test_a_secret_is_set_listed_undone_and_deleted(up: Up) -> None:
    home, project = up.home, up.home.parent / "p"
    mcpyard("add", "own", "--no-start", "--scope", "user", "--", "cat", "${TOKEN}", home=home)
    done = secret(up, "set", "TOKEN", "--allow", project, value=f"{VALUE}\n")
    assert (done.returncode, done.stdout) == (0, "set TOKEN; used by own, shared\n")
    number = done.stderr.removeprefix("undo it: mcpyard undo ").strip()
    up.event("status", name="shared", status="connected")
    listed = mcpyard("secret", "ls", home=home)
    assert "TOKEN" in listed.stdout
    assert VALUE not in listed.stdout
    (each,) = answer("secret", "ls", home=home)
    assert (each["usedBy"], each["allowed"]) == (["own", "shared"], [str(project / ".mcp.json")])
    assert mcpyard("undo", number, "--yes", home=home).returncode == 0
    assert answer("secret", "ls", home=home) == []
    assert secret(up, "set", "TOKEN", "--json", value=VALUE).returncode == 0
    deleted = mcpyard("secret", "rm", "TOKEN", "--yes", home=home)
    assert (deleted.returncode, deleted.stdout) == (0, "deleted TOKEN; used by own\n")


def test_deleting_a_secret_asks_first(up: Up) -> None:
    secret(up, "set", "ASKED", value=VALUE)
    refused = secret(up, "rm", "ASKED", value="n\n")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "ASKED" in str(answer("secret", "ls", home=up.home))


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("set",), 2, "secret set: NAME is missing"),
        (("ls", "TOKEN"), 2, "secret ls: takes no NAME"),
        (("rm", "X", "--keyring"), 2, "--keyring applies to secret set only"),
        (("rm", "X", "--allow", "."), 2, "--allow applies to secret set only"),
        (("rm", "NONE", "--yes"), 2, 'there is no secret "NONE"'),
        (("set", "a-b"), 2, "must be the name of a variable"),
        (("set", "EMPTY"), 2, "must not be empty"),
    ],
)
def test_what_cannot_be_done_says_why(
    up: Up, words: tuple[str, ...], code: int, message: str
) -> None:
    done = secret(up, *words, value="")
    assert message in done.stderr
    assert done.returncode == code


def test_an_import_of_a_file_is_one_edit_that_is_undone(up: Up, tmp_path: Path) -> None:
    file = tmp_path / "servers.json"
    file.write_text('{"mcpServers": {"x": {"command": "a"}, "y": {"command": "b"}}}')
    number = answer("import", file, "--scope", "user", home=up.home)["edit"]
    mcpyard("undo", number, "--yes", home=up.home)
    names = {each["name"] for each in answer("ls", home=up.home)}
    assert names.isdisjoint({"x", "y"})
