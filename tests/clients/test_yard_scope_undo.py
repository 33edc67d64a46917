"""What the yard says of its own servers comes back with an undo: all of it, and nothing else."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mcpyard.domain.errors import ChangedSince
from mcpyard.domain.files import FileWrite
from mcpyard.yard.clients.clients import Copy
from mcpyard.yard.clients.yard_scope import USER_DOCUMENT
from mcpyard.yard.clients.yard_scope_documents import document, moved, rebased, servers_of
from tests.api.asgi import slug
from tests.clients.machine import Machine, machine

POLICY: Mapping[str, object] = {
    "enabled": False,
    "timeout": 1234,
    "startTimeout": 5678,
    "progressExtends": True,
    "fallback": ["other"],
    "inherit": ["HOSTNAME"],
    "isolation": "per-client",
    "concurrency": 2,
    "maxMessage": 4096,
    "title": "The one",
    "description": "Does it all.",
    "tags": ["work", "law"],
    "tools": {
        "read": {"name": "look", "timeout": 99, "fallback": [{"server": "other", "tool": "see"}]},
        "write": {"enabled": False, "progressExtends": True},
    },
}
DEFINITION = {"command": "run", "args": ["a"], "env": {"KEY": "a-secret-value"}, **POLICY}


async def register(it: Machine, scope: str, **more: object) -> None:
    body = {"name": "x", "scope": scope, "start": False, **DEFINITION, **more}
    answer = await it.http.post("/api/mcp/servers", json=body)
    assert answer.status_code == 201, answer.text


def policy(it: Machine, name: str = "x") -> dict[str, Any]:
    """All that is said of a server, whoever says it; nothing where there is none."""
    config = {each.server.name: each.server.config for each in it.yard.pictures()}.get(name)
    return config.model_dump(mode="json", by_alias=True, exclude_unset=True) if config else {}


async def until_said(it: Machine, expected: dict[str, Any], fields: tuple[str, ...]) -> None:
    """Wait for what comes back through the project's file, which is watched."""
    events = it.yard.events()
    while {word: policy(it).get(word) for word in fields} != {
        word: expected[word] for word in fields
    }:
        await anext(aiter(events))
    events.finish()


@pytest.mark.parametrize("scope", ["user", "project"])
async def test_a_server_that_was_removed_comes_back_with_all_that_was_said_of_it(
    tmp_path: Path, scope: str
) -> None:
    async with machine(tmp_path) as it:
        await register(it, scope)
        before = policy(it)
        assert before["tools"]["read"]["name"] == "look"
        await it.clients.remove(f"yard:{scope}", "x")
        await it.clients.undo()
        await until_said(it, before, ("command",))
        assert policy(it) == before


@pytest.mark.parametrize("scope", ["user", "project"])
async def test_what_other_programs_have_no_word_for_outlives_edits_and_their_undo(
    tmp_path: Path, scope: str
) -> None:
    async with machine(tmp_path) as it:
        await register(it, scope)
        where, before = f"yard:{scope}", policy(it)
        await it.clients.edit(where, "x", {"args": ["b"], "env": {"KEY": None, "NEW": "1"}})
        await it.clients.toggle(where, "x", enabled=True)
        await it.clients.rename(where, "x", "y")
        changed = policy(it, "y")
        assert (changed["command"], changed["enabled"]) == (["run", "b"], True)
        assert {word: changed[word] for word in POLICY if word != "enabled"} == {
            word: before[word] for word in POLICY if word != "enabled"
        }
        for _ in range(3):
            await it.clients.undo()
        await until_said(it, before, ("command", "environment"))
        assert policy(it) == before


async def test_tags_stay_here_when_a_server_is_copied_away_and_back(tmp_path: Path) -> None:
    async with machine(tmp_path) as it:
        await register(it, "user")
        for source, target in (("yard", "opencode"), ("opencode", "yard")):
            await it.clients.copy(Copy(source, target, "x", replace=True))
            assert policy(it)["tags"] == ["work", "law"]
            assert "law" not in it.read("opencode")


@pytest.mark.parametrize("scope", ["user", "project"])
async def test_fields_switch_and_name_can_be_changed_by_one_edit(
    tmp_path: Path, scope: str
) -> None:
    async with machine(tmp_path) as it:
        await register(it, scope)
        before = policy(it)
        patch = {"args": ["b"], "enabled": True, "name": "y"}
        done = await it.clients.edit(f"yard:{scope}", "x", patch)
        assert policy(it) == {}
        changed = policy(it, "y")
        assert (changed["command"], changed["enabled"]) == (["run", "b"], True)
        assert changed["fallback"] == ["other"]
        await it.clients.undo(done.edit)
        await until_said(it, before, ("command",))
        assert policy(it) == before


async def test_a_change_of_another_server_of_the_yard_does_not_keep_an_edit_from_being_undone(
    tmp_path: Path,
) -> None:
    async with machine(tmp_path) as it:
        await register(it, "user")
        copied = await it.clients.copy(Copy("yard", "yard", "x", "y"))
        await it.http.patch("/api/mcp/servers/x", json={"tools": {"read": {"name": "see"}}})
        await it.clients.undo(copied.edit)
        (left,) = it.yard.pictures()
        assert left.server.name == "x"
        assert policy(it)["tools"]["read"]["name"] == "see"


async def test_a_policy_that_was_said_since_is_not_lost_by_an_undo(tmp_path: Path) -> None:
    async with machine(tmp_path, claude='{"mcpServers": {"x": {"command": "run"}}}') as it:
        copied = await it.clients.copy(Copy("claude", "yard", "x"))
        await it.http.patch("/api/mcp/servers/x", json={"fallback": ["other"]})
        with pytest.raises(ChangedSince, match="yard:user"):
            await it.clients.undo(copied.edit)
        assert policy(it)["fallback"] == ["other"]


def test_an_edit_that_was_noted_by_the_old_names_is_taken_back_by_those_of_today() -> None:
    launch = {"type": "stdio", "command": "run", "args": []}
    was = document({"x": {**launch, "lanes": 1, "tools": {"t": {"backup": ["b"]}}}})
    left = document({"x": {**launch, "lanes": "per-client", "backup": ["a"]}})
    now = document(
        {"x": {**launch, "fallback": ["a"], "isolation": "per-client", "concurrency": 0}}
    )
    back = FileWrite(USER_DOCUMENT, left, was)
    assert moved(back, now) == set()
    tools = {"t": {"fallback": ["b"]}}
    assert servers_of(rebased(back, now).after) == {
        "x": {**launch, "isolation": "shared", "concurrency": 1, "tools": tools}
    }


async def test_a_new_address_keeps_the_way_that_was_said(tmp_path: Path) -> None:
    async with machine(tmp_path) as it:
        web = {"name": "web", "scope": "user", "url": "https://h.example/a", "transport": "sse"}
        await it.http.post("/api/mcp/servers", json=web)
        await it.clients.edit("yard", "web", {"url": "https://h.example/b"})
        assert (policy(it, "web")["url"], policy(it, "web")["transport"]) == (
            "https://h.example/b",
            "sse",
        )


@pytest.mark.parametrize("source", ["claude", "yard"])
async def test_of_two_undos_at_once_the_second_is_told_that_it_is_done(
    tmp_path: Path, source: str
) -> None:
    async with machine(tmp_path, claude='{"mcpServers": {"z": {"command": "run"}}}') as it:
        await it.clients.copy(Copy("claude", "codex", "z"))
        await it.clients.copy(Copy("claude", "yard" if source == "yard" else "gemini", "z"))
        answers = await asyncio.gather(
            *(it.http.post("/api/clients/undo", json={}) for _ in range(2))
        )
        done, late = sorted(answers, key=lambda each: each.status_code)
        assert done.status_code == 200
        assert slug(late) == (404, "edit-unknown")
        assert "already undone" in late.json()["detail"]
        assert it.path("codex").exists(), "the edit before it stays"
