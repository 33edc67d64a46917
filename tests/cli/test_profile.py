"""`mcpyard profile`: selections of servers and tools, from the command line."""

from collections.abc import Generator

import pytest

from tests.cli.commands import Up, answer, echo, mcpyard, write_project, yard_up

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Generator[Up]:
    folder = tmp_path_factory.mktemp("yard")
    project = write_project(folder / "p", docs=echo(), files=echo(), git=echo())
    with yard_up(folder / "home", "--project", project) as up:
        yield up


def test_a_profile_is_added_changed_listed_and_deleted(up: Up) -> None:
    added = mcpyard(
        *("profile", "add", "work", "--server", "docs", "--server", "git*"),
        *("--hide", "docs/fail", "--hide", "docs/echo"),
        home=up.home,
    )
    assert (added.returncode, added.stdout) == (0, "added work: docs, git*\n")
    assert "mcpyard connect CLIENT --profile work" in added.stderr
    changed = mcpyard(
        *("profile", "edit", "work", "--add", "files", "--remove", "git*", "--show", "docs/echo"),
        home=up.home,
    )
    assert changed.stdout == "changed work: docs, files\n"
    (profile,) = answer("profile", "ls", home=up.home)
    assert profile == {
        "name": "work",
        "servers": ["docs", "files"],
        "tools": {"docs": {"fail": {"enabled": False}}},
    }
    listed = mcpyard("profile", "ls", home=up.home).stdout.split()
    assert listed[-5:] == ["work", "/mcp/work", "docs,", "files", "docs/fail"]
    deleted = mcpyard("profile", "rm", "work", "--yes", home=up.home)
    assert (deleted.returncode, deleted.stdout) == (0, "deleted work\n")
    assert answer("profile", "ls", home=up.home) == []


def test_a_server_that_does_not_exist_yet_is_named(up: Up) -> None:
    done = mcpyard("profile", "add", "later", "--server", "docz", home=up.home)
    assert done.returncode == 0
    assert "note: there is no server docz yet" in done.stderr
    mcpyard("profile", "rm", "later", "--yes", home=up.home)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("add",), 2, "profile add: NAME is missing"),
        (("add", "x"), 2, "profile add: --server is missing"),
        (("ls", "x"), 2, "profile ls: takes no NAME"),
        (("rm", "x", "--server", "y"), 2, "--server applies to profile add and edit only"),
        (("add", "x", "--server", "y", "--add", "z"), 2, "--add applies to profile edit only"),
        (("add", "x", "--server", "y", "--hide", "z"), 2, '"z" is not SERVER/TOOL'),
        (("add", "a/b", "--server", "y"), 3, "no slash"),
        (("edit", "x"), 2, "profile edit: nothing to change"),
        (("edit", "none", "--add", "docs"), 2, 'there is no profile "none"'),
        (("rm", "none", "--yes"), 2, 'there is no profile "none"'),
    ],
)
def test_what_cannot_be_done_says_why(
    up: Up, words: tuple[str, ...], code: int, message: str
) -> None:
    done = mcpyard("profile", *words, home=up.home)
    assert message in done.stderr
    assert done.returncode == code


def test_a_server_that_is_not_listed_cannot_be_removed(up: Up) -> None:
    mcpyard("profile", "add", "small", "--server", "docs", home=up.home)
    done = mcpyard("profile", "edit", "small", "--remove", "git", home=up.home)
    assert (done.returncode, 'the profile does not list "git"' in done.stderr) == (2, True)
    assert answer("profile", "ls", home=up.home)[0]["servers"] == ["docs"]
