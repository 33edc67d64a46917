"""A home that version 0.1 made and used, opened by this version.

Its content is kept as SQL. It was made by `mcpyard up` of 0.1 and its commands: servers of the user
and of a project, a fallback, a tool switched off, a profile, tokens, a browser's session, calls,
copies between clients and an undo, a sign-in. What is stored keeps its names for good.
"""

import hashlib
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from uuid import UUID

import pytest

from mcpyard.app import open_yard
from mcpyard.domain.stored import CallQuery
from mcpyard.store.sqlite.store import Store

KEPT = Path(__file__).parent / "home_0_1"
PROJECT = "/srv/shop"
"""Where the project was."""

LAW = UUID("ae4a5fbf-388a-49b1-b16b-d879db875485")
LAPTOP = "mcpyard_ADfxuzuEO1bP-L9sGPLKKFtQPiuRv84LqqJNeYNFzPw"


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MCPYARD_KEY", raising=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / ".mcp.json").write_bytes((KEPT / "project.mcp.json").read_bytes())
    return folder


@pytest.fixture
def home(tmp_path: Path, project: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("state", "journal"):
        script = (KEPT / f"{name}.sql").read_text().replace(PROJECT, str(project))
        with closing(sqlite3.connect(folder / f"{name}.db")) as database:
            database.executescript(script)
    for name in ("key", "token"):
        (folder / name).write_bytes((KEPT / name).read_bytes())
        (folder / name).chmod(0o600)
    return folder


async def test_everything_that_0_1_stored_is_there(home: Path, project: Path) -> None:
    store = await Store.open(home)
    try:
        names = sorted(each.name for each in store.definitions.all())
        token = store.tokens.by_hash(hashlib.sha256(LAPTOP.encode()).hexdigest())
        signed_in = await store.credentials.get("https://mcp.example.com/mcp")
        calls = await store.journal.query(CallQuery())
        edits = await store.edits.recent()
        left = await store.dropped_fields.get("claude-code:user@/home/ann/.claude.json", "docs")
        assert names == ["docs", "law", "remote", "reserve"]
        assert token
        assert (token.name, token.profile) == ("laptop", "work")
        assert sorted(each.name for each in store.tokens.all() if each.revoked) == ["old"]
        assert dict(store.profiles.all()) == {"work": {"servers": ["law", "clock"], "tools": {}}}
        assert signed_in
        assert signed_in.access_token == "an-access-token"  # noqa: S105
        assert [(each.tool, each.outcome) for each in calls] == [
            ("get_article", "tool_error"),
            ("list_templates", "ok"),
        ]
        assert [(each.kind, each.undone) for each in edits] == [("copy", True), ("copy", False)]
        assert left
        assert str(project) in store.approvals.all()
        assert store.policies.all()[LAW] == {
            "wanted": "running",
            "timeout": 30_000,
            "tools": {"fill_template": {"enabled": False}},
            "isolation": "per-client",
            "concurrency": 0,
            "fallback": ["reserve"],
        }
    finally:
        await store.close()


@pytest.mark.real
async def test_servers_of_0_1_run_with_their_policies_and_the_names_of_their_tools(
    home: Path, project: Path
) -> None:
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": programs}
    async with open_yard(home=home, project=project, environment=environment) as yard:
        for name in ("law", "reserve", "uhr"):
            await yard.settled(name)
        servers = {str(each.name): each for each in yard.servers()}
        law = servers["law"]
        tools = sorted(str(each.exposed_name) for each in yard.tools("uhr"))
        outcome = await yard.call("mcp_law_list_templates")
    assert {name: each.phase for name, each in servers.items()} == {
        "docs": "stopped",
        "law": "connected",
        "remote": "stopped",
        "reserve": "connected",
        "sleeper": "stopped",
        "uhr": "connected",
    }
    assert (law.timeout, law.fallback, law.isolation, law.wanted_concurrency) == (
        30_000,
        ["reserve"],
        "per-client",
        0,
    )
    assert law.tool_policies == {"fill_template": {"enabled": False}}
    assert servers["uhr"].timeout == 9_000
    assert all(name.startswith("mcp_clock_") for name in tools), "renamed since, and yet the same"
    assert not outcome.is_error
