"""Edits go to the owner, one at a time, whole or not at all."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.desired import Definition, Document, Owner
from mcpyard.domain.errors import (
    DefinitionError,
    DocumentMoved,
    NameRefused,
    NameTaken,
    ReadOnlyOwner,
    ServerUnknown,
    StartFailed,
    StillRunning,
    StorageFull,
)
from mcpyard.domain.model import LocalConfig, RemoteConfig, Scope
from mcpyard.domain.plan import UpdateInterest
from mcpyard.domain.remedies import remedy
from mcpyard.testing import (
    FakeEditableSource,
    FakeServers,
    FakeSource,
    ManualClock,
    VolatileMemory,
    VolatilePolicies,
)
from mcpyard.yard.edit import Change
from mcpyard.yard.yard import Ports, YardCore
from tests.yard.begun import begun

ECHO = {"command": "echo", "args": ["hi"], "transport": "stdio"}


class Setup:
    def __init__(self, *, project: bool = True) -> None:
        self.project = FakeEditableSource(Document(Owner(Scope.PROJECT, "p/.mcp.json")))
        self.user = FakeEditableSource(Document(Owner(Scope.USER)))
        legal = Definition("legal", RemoteConfig(url="http://h"))
        self.env = FakeSource(Document(Owner(Scope.ENV), (legal,)))
        self.servers = FakeServers()
        self.policies = VolatilePolicies()
        sources = [self.user, self.env, *([self.project] if project else [])]
        self.yard = YardCore(
            Ports(sources, VolatileMemory(), self.policies, self.servers, ManualClock(), {}.get)
        )


@asynccontextmanager
async def running(*, project: bool = True) -> AsyncGenerator[Setup]:
    around = Setup(project=project)
    async with begun(around.yard):
        yield around


def configs(source: FakeSource) -> dict[str, object]:
    return {each.name: each.config for each in source.document().definitions}


async def test_a_new_server_lands_in_the_project_and_runs_at_once() -> None:
    async with running() as it:
        record = await it.yard.register({"name": "fs", **ECHO}, wait=1)
        assert (record.scope, record.state, record.command) == ("project", "running", "echo")
        assert configs(it.project) == {"fs": LocalConfig(command=["echo", "hi"])}
        assert record.warnings == []


async def test_without_a_project_it_lands_with_the_user_and_waits() -> None:
    async with running(project=False) as it:
        record = await it.yard.register({"name": "fs", **ECHO}, wait=1)
        assert (record.scope, record.state, record.wanted) == ("user", "stopped", "stopped")
        started = await it.yard.register({"name": "b", "start": True, **ECHO}, wait=1)
        assert started.state == "running"
        with pytest.raises(ReadOnlyOwner, match="no project is open"):
            await it.yard.register({"name": "c", "scope": "project", **ECHO})


@pytest.mark.parametrize(
    ("scope", "advice"),
    [
        ("project", "mcpyard up --project DIR"),
        ("env", "NAME_MCP_SERVER_URL"),
        ("code", "yard.code.add"),
    ],
)
async def test_where_nothing_can_be_added_it_is_told_what_to_do_instead(
    scope: str, advice: str
) -> None:
    async with running(project=False) as it:
        with pytest.raises(ReadOnlyOwner) as refused:
            await it.yard.register({"name": "c", "scope": scope, **ECHO})
        assert advice in remedy(refused.value)
        assert "change it there" not in refused.value.message


async def test_the_scope_can_be_said_and_policy_goes_to_the_store() -> None:
    async with running() as it:
        body = {"name": "fs", "scope": "user", "timeout": 5, "enabled": False, **ECHO}
        record = await it.yard.register(body)
        assert (record.scope, record.timeout, record.enabled) == ("user", 5, False)
        assert configs(it.user) == {"fs": LocalConfig(command=["echo", "hi"])}
        assert [*it.policies.all().values()] == [{"timeout": 5, "enabled": False}]


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ({}, DefinitionError, "name: must be a string"),
        ({"name": ""}, NameRefused, "name: must not be empty"),
        ({"name": "legal", **ECHO}, NameTaken, '"legal" is in use'),
        ({"name": "x"}, DefinitionError, "command: is missing"),
        ({"name": "x", "scope": "moon", **ECHO}, DefinitionError, "scope: is not one of"),
        ({"name": "x", "scope": "env", **ECHO}, ReadOnlyOwner, "environment variables"),
        ({"name": "x", "start": "yes", **ECHO}, DefinitionError, "start: must be true or false"),
    ],
)
async def test_a_wrong_registration_changes_nothing(
    body: dict[str, object], kind: type[Exception], message: str
) -> None:
    async with running() as it:
        with pytest.raises(kind, match=message):
            await it.yard.register(body)
        assert [each.name for each in it.yard.servers()] == ["legal"]
        assert it.policies.all() == {}


async def test_a_registration_that_cannot_be_stored_leaves_nothing_behind() -> None:
    async with running() as it:
        it.project.fault = StorageFull("no room")
        with pytest.raises(StorageFull):
            await it.yard.register({"name": "fs", "timeout": 5, **ECHO})
        assert it.policies.all() == {}
        with pytest.raises(ServerUnknown):
            it.yard.record("fs")


async def test_a_literal_secret_in_a_project_file_is_warned_about() -> None:
    async with running() as it:
        secret = {"API_KEY": "abc", "OTHER": "x", "TOKEN": "${T}"}
        record = await it.yard.register({"name": "fs", "env": secret, **ECHO})
        assert str(record.warnings).count("env.") == 1
        assert "env.API_KEY: is plain text" in str(record.warnings)
        user = await it.yard.register({"name": "u", "scope": "user", "env": secret, **ECHO})
        assert user.warnings == []
        headers = {"url": "http://h", "type": "http", "headers": {"Authorization": "Bearer x"}}
        remote = await it.yard.register({"name": "r", **headers})
        assert "headers.Authorization" in str(remote.warnings)


async def test_a_change_of_the_launch_goes_to_the_document_and_restarts() -> None:
    async with running() as it:
        await it.yard.register({"name": "fs", **ECHO}, wait=1)
        before = len(it.servers.applied)
        record = await it.yard.change("fs", Change({"args": ["bye"], "timeout": 7}), wait=1)
        assert (record.args, record.timeout, record.state) == (["bye"], 7, "running")
        assert configs(it.project) == {"fs": LocalConfig(command=["echo", "bye"])}
        assert [type(each).__name__ for each in it.servers.applied[before:]] == ["Replace"]


async def test_a_change_of_policy_restarts_nothing_and_leaves_the_document() -> None:
    async with running() as it:
        await it.yard.register({"name": "fs", **ECHO}, wait=1)
        document = it.project.document()
        record = await it.yard.change("fs", Change({"timeout": 7}), wait=1)
        assert record.timeout == 7
        assert it.project.document() is document
        back = await it.yard.change("fs", {"timeout": None}, wait=1)
        assert back.timeout == 30000
        assert it.policies.all() == {}
        assert all(type(each).__name__ != "Replace" for each in it.servers.applied)


async def test_a_renamed_server_keeps_its_id_and_its_policy() -> None:
    async with running() as it:
        first = await it.yard.register({"name": "fs", "timeout": 9, **ECHO}, wait=1)
        record = await it.yard.change("fs", Change({"name": "files", "args": ["x"]}), wait=1)
        assert (record.id, record.name, record.timeout) == (first.id, "files", 9)
        assert configs(it.project) == {"files": LocalConfig(command=["echo", "x"])}
        with pytest.raises(NameTaken):
            await it.yard.change("files", Change({"name": "legal"}))


async def test_a_new_name_reaches_a_server_that_runs_on() -> None:
    async with running() as it:
        await it.yard.register({"name": "fs", "wanted": "running", **ECHO}, wait=1)
        it.servers.applied.clear()
        record = await it.yard.change("fs", Change({"name": "files"}), wait=1)
        assert record.status == "connected"
        assert it.servers.applied == [UpdateInterest(UUID(str(record.id)))]
        info = it.yard.registry.get("files")
        assert info is not None
        assert info.status == "connected"


async def test_a_change_can_name_the_record_it_means() -> None:
    async with running() as it:
        record = await it.yard.register({"name": "fs", **ECHO}, wait=1)
        digest = str(record.digest)
        changed = await it.yard.change("fs", Change({"args": ["1"]}, expected=digest), wait=1)
        with pytest.raises(DocumentMoved):
            await it.yard.change("fs", Change({"args": ["2"]}, expected=digest))
        await it.yard.change("fs", Change({"args": ["3"]}, expected=str(changed.digest)))


async def test_a_running_server_can_be_spared() -> None:
    async with running() as it:
        await it.yard.register({"name": "fs", **ECHO}, wait=1)
        with pytest.raises(StillRunning):
            await it.yard.change("fs", Change({"args": []}, refuse_running=True))
        await it.yard.change("fs", Change({"timeout": 3}, refuse_running=True))
        await it.yard.stop("fs", wait=1)
        record = await it.yard.change("fs", Change({"args": []}, refuse_running=True), wait=1)
        assert (record.args, record.state) == ([], "stopped")


async def test_of_many_changes_at_once_none_is_lost() -> None:
    async with running() as it:
        await it.yard.register({"name": "fs", **ECHO}, wait=1)
        changes = [Change({"env": {f"V{number}": "x"}}) for number in range(32)]
        await asyncio.gather(*(it.yard.change("fs", change) for change in changes))
        assert it.yard.reveal("fs").env == {f"V{number}": "x" for number in range(32)}


async def test_a_server_of_somebody_elses_is_not_edited() -> None:
    async with running() as it:
        moved, renamed = Change({"url": "http://i"}), Change({"name": "law", "timeout": 1})
        edits = it.yard.change("legal", moved), it.yard.change("legal", renamed)
        for edit in (*edits, it.yard.remove("legal")):
            with pytest.raises(ReadOnlyOwner, match='"legal" comes from environment variables'):
                await edit


async def test_the_policy_of_a_server_of_somebody_elses_is_stored_here() -> None:
    async with running() as it:
        record = await it.yard.change("legal", Change({"timeout": 1, "fallback": ["fs"]}), wait=1)
        assert (record.timeout, record.fallback) == (1, ["fs"])
        assert [*it.policies.all().values()] == [{"timeout": 1, "fallback": ["fs"]}]
        await it.yard.change("legal", Change({"timeout": 1, "fallback": ["fs"]}))


async def test_a_removed_server_is_stopped_and_leaves_no_trace() -> None:
    async with running() as it:
        first = await it.yard.register({"name": "fs", "timeout": 9, **ECHO}, wait=1)
        await it.yard.remove("fs", wait=1)
        assert configs(it.project) == {}
        assert it.policies.all() == {}
        with pytest.raises(ServerUnknown):
            it.yard.record(str(first.id))


async def test_a_trial_tells_what_is_there_and_keeps_nothing() -> None:
    async with running() as it:
        it.servers.tools["trial"] = [{"name": "t", "description": "d"}]
        report = await it.yard.trial({"command": "echo"})
        assert [each.to_dict() for each in report.tools] == [{"name": "t", "description": "d"}]
        it.servers.broken["trial"] = Cause(Code.COMMAND_MISSING, "no echo")
        with pytest.raises(StartFailed, match="no echo"):
            await it.yard.trial({"command": "echo"})
        assert [each.name for each in it.yard.servers()] == ["legal"]


async def test_secrets_are_revealed_only_when_asked_for() -> None:
    async with running() as it:
        await it.yard.register({"name": "fs", "env": {"TOKEN": "abc"}, **ECHO})
        revealed = {"command": "echo", "args": ["hi"], "env": {"TOKEN": "abc"}}
        assert it.yard.reveal("fs").to_dict() == revealed
        assert it.yard.reveal("legal").to_dict() == {"url": "http://h", "headers": {}, "oauth": {}}
        assert "abc" not in str(it.yard.record("fs"))
