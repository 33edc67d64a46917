"""The use cases, over fakes of the ports."""

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from uuid import UUID

import pytest

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.desired import Definition, Document, Owner
from mcpyard.domain.errors import (
    ArgumentsRefused,
    Disabled,
    Disconnected,
    InputError,
    Problem,
    ProtocolBroken,
    ServerUnknown,
    ToolUnknown,
)
from mcpyard.domain.model import LocalConfig, RemoteConfig, Scope, ToolPolicy
from mcpyard.testing import (
    FakeServers,
    FakeSource,
    ManualClock,
    VolatileMemory,
    VolatilePolicies,
)
from mcpyard.yard.views.servers import ToolSummary
from mcpyard.yard.yard import Ports, YardCore
from tests.runtime.waiting import eventually
from tests.yard.begun import begun

PROJECT = Owner(Scope.PROJECT, "p/.mcp.json")
PATH_TOOL = {
    "name": "read_file",
    "description": "Reads",
    "inputSchema": {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
    },
}


def document(**configs: LocalConfig | RemoteConfig) -> Document:
    return Document(PROJECT, tuple(Definition(name, each) for name, each in configs.items()))


def local(**more: object) -> LocalConfig:
    return LocalConfig.model_validate({"command": ["x"], **more})


class Setup:
    """A yard and the fakes around it."""

    def __init__(self, *documents: Document) -> None:
        self.sources = [FakeSource(each) for each in documents]
        self.servers = FakeServers()
        self.clock = ManualClock()
        self.memory = VolatileMemory()
        self.servers.tools = {"fs": [PATH_TOOL], "other": [{"name": "t"}]}
        self.servers.answers = {
            "fs": lambda tool, _: json.dumps({"content": [], "was": tool}).encode()
        }
        self.yard = YardCore(
            Ports(
                sources=self.sources,
                memory=self.memory,
                policies=VolatilePolicies(),
                servers=self.servers,
                clock=self.clock,
                lookup={"HOME": "/h"}.get,
            )
        )

    def open(self) -> AbstractAsyncContextManager[YardCore]:
        return begun(self.yard)


async def test_what_should_run_is_started_and_shown() -> None:
    around = Setup(document(fs=local(), off=local(enabled=False)))
    async with around.open() as yard:
        states = {each.name: (each.status, each.state) for each in yard.servers()}
        assert states == {"fs": ("connected", "running"), "off": ("disconnected", "stopped")}
        assert yard.record("fs").tools == [ToolSummary(name="read_file", description="Reads")]
        assert yard.record("fs", tools=False).tools is None
    assert around.servers.closed
    assert not around.sources[0].is_open


async def test_a_reference_is_an_id_or_a_name() -> None:
    async with Setup(document(fs=local())).open() as yard:
        identity = str(yard.record("fs").id)
        assert yard.record(identity) == yard.record("fs")
        with pytest.raises(ServerUnknown, match='"nobody"'):
            yard.record("nobody")


async def test_a_call_goes_to_the_server_and_comes_back_with_its_origin() -> None:
    around = Setup(document(fs=local(timeout=1500)))
    async with around.open() as yard:
        outcome = await yard.call("mcp_fs_read_file", {"path": "/x"})
        ((server, tool, arguments, terms),) = around.servers.calls
        assert (server, tool, json.loads(arguments)) == ("fs", "read_file", {"path": "/x"})
        assert (terms.timeout, terms.longest) == (1.5, None)
        fields = outcome.to_dict()
        assert fields["was"] == "read_file"
        unknown = {"source": "fs", "updatedAt": None, "retrievedAt": None}
        assert fields["yard"] == {
            "server": "fs", "tool": "read_file", "ms": 0.0, "attribution": unknown, "tried": ["fs"]
        }  # fmt: skip


@pytest.mark.spec("D6.3")
async def test_arguments_that_break_the_schema_never_reach_the_server() -> None:
    around = Setup(document(fs=local()))
    async with around.open() as yard:
        with pytest.raises(ArgumentsRefused) as caught:
            await yard.call("mcp_fs_read_file", {"path": 3})
        assert str(caught.value) == "path: expected a string, found the number 3"
        with pytest.raises(ArgumentsRefused, match='"path" is missing'):
            await yard.call("mcp_fs_read_file")
        assert around.servers.calls == []


async def test_arguments_that_are_no_json_are_refused() -> None:
    async with Setup(document(other=local())).open() as yard:
        with pytest.raises(InputError, match="arguments: cannot be sent as JSON"):
            await yard.call("mcp_other_t", {"x": object()})


async def test_a_tool_that_is_not_there_is_not_found() -> None:
    around = Setup(document(fs=local(tools={"read_file": ToolPolicy(enabled=False)})))
    async with around.open() as yard:
        for name in ("mcp_fs_read_file", "mcp_fs_nothing"):
            with pytest.raises(ToolUnknown):
                await yard.call(name, {"path": "x"})
        with pytest.raises(ToolUnknown, match='the server "fs" has no tool "x"'):
            await yard.call_tool("fs", "x")
        with pytest.raises(
            ToolUnknown, match='the tool "read_file" of the server "fs" is disabled'
        ):
            await yard.call_tool("fs", "read_file", {"path": "x"})
        assert around.servers.calls == []
        assert yard.tools() == []
        assert [each.enabled for each in yard.tools("fs")] == [False]


async def test_a_tool_has_its_own_time_out_and_progress_may_extend_it() -> None:
    policy = ToolPolicy(timeout=50, progress_extends=True, description="Mine")
    around = Setup(document(fs=local(tools={"read_file": policy})))
    async with around.open() as yard:
        await yard.call_tool("fs", "read_file", {"path": "x"})
        await yard.call_tool("fs", "read_file", {"path": "x"}, timeout=900)
        assert [(terms.timeout, terms.longest) for *_, terms in around.servers.calls] == [
            (0.05, 600.0),
            (900, 900),
        ]
        assert yard.tools()[0].description == "Mine"


async def test_a_server_that_does_not_answer_is_told_apart_from_a_tool_that_fails() -> None:
    around = Setup(document(fs=local(), other=local()))
    around.servers.answers["fs"] = lambda *_: (
        b'{"content": [{"type": "text", "text": "no"}, 3], "isError": true}'
    )
    async with around.open() as yard:
        outcome = await yard.call("mcp_fs_read_file", {"path": "x"})
        assert outcome.is_error
        assert outcome.text == "no"
        with pytest.raises(Disconnected):
            await yard.call("mcp_other_t")


async def test_meta_reaches_the_server_but_for_what_is_ours() -> None:
    around = Setup(document(fs=local()))
    around.servers.answers["fs"] = lambda *_: b'{"content":[]}'
    meta = {"traceparent": "00-1", "progressToken": 1, "mcpyard/hops": 9}
    async with around.open() as yard:
        await yard.call("mcp_fs_read_file", {"path": "x"}, meta=meta)
        await yard.call_tool("fs", "read_file", {"path": "x"}, meta=meta)
        with pytest.raises(ArgumentsRefused, match="_meta: cannot be sent as JSON"):
            await yard.call("mcp_fs_read_file", {"path": "x"}, meta={"a": object()})
    sent = {"name": "read_file", "arguments": {"path": "x"}, "_meta": {"traceparent": "00-1"}}
    requests = [(method, json.loads(params)) for _, method, params, _ in around.servers.calls]
    assert requests == [("tools/call", sent)] * 2


async def test_an_answer_that_is_no_object_is_the_servers_fault() -> None:
    around = Setup(document(fs=local()))
    around.servers.answers["fs"] = lambda *_: b"[1]"
    async with around.open() as yard:
        with pytest.raises(
            ProtocolBroken, match='the server "fs": the result is not a JSON object'
        ):
            await yard.call("mcp_fs_read_file", {"path": "x"})
        (failed,) = await yard.failed_calls()
        assert (failed.server, failed.outcome) == ("fs", "protocol-broken")


async def test_a_change_in_a_document_is_followed() -> None:
    around = Setup(document(fs=local(), keep=local()))
    async with around.open() as yard:
        server_id = yard.record("keep").id
        listening = yard.events()
        around.sources[0].say(document(keep=local(), other=local()))
        await yard.settled("keep")
        assert [each.name for each in yard.servers()] == ["keep", "other"]
        assert yard.record("keep").id == server_id
        assert [each.exposed_name for each in yard.tools()] == ["mcp_other_t"]
        with pytest.raises(ToolUnknown):
            await yard.call("mcp_fs_read_file", {"path": "x"})
    kinds = {event.kind async for event in listening}
    assert {"documents", "removed", "status", "tools"} <= kinds


async def test_a_server_is_stopped_started_and_restarted_by_word() -> None:
    around = Setup(document(fs=local()))
    async with around.open() as yard:
        assert (await yard.stop("fs", wait=1)).state == "stopped"
        assert (await yard.stop("fs", wait=1)).state == "stopped"
        assert yard.tools() == []
        assert (await yard.start("fs", wait=1)).state == "running"
        applied = len(around.servers.applied)
        assert (await yard.start("fs", wait=1)).state == "running"
        assert len(around.servers.applied) == applied
        assert (await yard.restart("fs", wait=1)).state == "running"
        assert len(around.servers.applied) == applied + 1
        await yard.stop("fs")
        assert (await yard.restart("fs", wait=1)).state == "running"


async def test_a_word_that_comes_in_the_middle_of_an_edit_is_not_lost() -> None:
    async with Setup(document(fs=local())).open() as yard:
        with yard._reconciler.hold():
            assert (await yard.stop("fs", wait=0.01)).state == "running"
            await yard.start("fs")
        assert (await yard.settled("fs")).wanted == "running"
        with yard._reconciler.hold():
            await yard.stop("fs")
            await yard.restart("fs")
        assert (await yard.settled("fs")).state == "running"
        await yard.stop("fs")
        with yard._reconciler.hold():
            await yard.start("fs")
            await yard.stop("fs")
        assert (await yard.settled("fs")).state == "stopped"


async def test_waiting_for_a_stop_does_not_end_before_it_though_an_edit_holds_it_back() -> None:
    async with Setup(document(fs=local())).open() as yard:
        with yard._reconciler.hold():
            stopping = asyncio.create_task(yard.stop("fs", wait=10))
            for _ in range(10):
                await asyncio.sleep(0)
            assert not stopping.done()
        assert (await stopping).state == "stopped"


async def test_a_failed_server_can_be_asked_to_start_again() -> None:
    around = Setup(document(fs=local()))
    around.servers.broken["fs"] = Cause(Code.COMMAND_MISSING, "no x", "Install x.")
    async with around.open() as yard:
        record = await yard.settled("fs")
        assert record.error
        assert record.error.to_dict() == {
            "code": "command_missing", "message": "no x", "hint": "Install x.", "stderr": []
        }  # fmt: skip
        around.servers.broken.clear()
        assert (await yard.start("fs", wait=1)).status == "connected"


async def test_a_disabled_server_is_not_started() -> None:
    async with Setup(document(fs=local(enabled=False))).open() as yard:
        with pytest.raises(Disabled):
            await yard.start("fs")


async def test_a_start_that_takes_long_answers_with_how_far_it_came() -> None:
    around = Setup(document(fs=local(wanted="stopped")))
    async with around.open() as yard:
        around.servers.deaf = True
        assert (await yard.start("fs", wait=0.01)).state == "stopped"


async def test_an_on_demand_server_offers_what_it_is_known_to_have() -> None:
    around = Setup(document(fs=local(wanted="on_demand")))
    async with around.open() as yard:
        assert (await yard.settled("fs")).state == "stopped"
        assert yard.record("fs").wanted == "on_demand"


async def test_a_look_that_fails_is_survived(caplog: pytest.LogCaptureFixture) -> None:
    around = Setup(document(fs=local()))
    async with around.open() as yard:
        good = around.sources[0].document

        def broken() -> Document:
            around.sources[0].document = good
            raise RuntimeError("once")

        around.sources[0].document = broken
        around.sources[0].say(document(fs=local(), other=local()))
        assert await eventually(lambda: "updating the servers failed" in caplog.text)
        around.sources[0].say(document(other=local()))
        assert await eventually(lambda: [each.name for each in yard.servers()] == ["other"])


async def test_problems_of_a_document_are_told() -> None:
    around = Setup(Document(PROJECT, problems=(Problem("x", "is odd"),)))
    async with around.open() as yard:
        assert [str(each) for each in yard.desired.problems] == ["x: is odd"]


async def test_the_log_of_a_server_can_be_read() -> None:
    async with Setup(document(fs=local())).open() as yard:
        assert yard.log("fs") == ()


async def test_names_stay_when_a_server_goes_and_comes_back() -> None:
    around = Setup(document(fs=local()))
    async with around.open() as yard:
        around.sources[0].say(document())
        assert await eventually(lambda: not yard.servers())
        around.sources[0].say(document(fs=local()))
        assert await eventually(lambda: bool(yard.tools()))
        assert [each.exposed_name for each in yard.tools()] == ["mcp_fs_read_file"]


async def test_the_registry_of_a_yard_follows_it() -> None:
    around = Setup(document(fs=local(), bad=local()))
    around.servers.broken["bad"] = Cause(Code.EXITED, "gone")
    async with around.open() as yard:
        servers = {
            each.name: (each.status, each.error, each.tool_count) for each in yard.registry.list()
        }
        assert servers == {"fs": ("connected", None, 1), "bad": ("error", "gone", 0)}
        around.sources[0].say(document(fs=local()))
        assert await eventually(lambda: [each.name for each in yard.registry.list()] == ["fs"])


async def test_every_call_is_accounted_for() -> None:
    around = Setup(document(fs=local(), other=local()))
    async with around.open() as yard:
        await yard.call("mcp_fs_read_file", {"path": "x"}, who="me")
        around.servers.answers["fs"] = lambda *_: b'{"content": [], "isError": true}'
        await yard.call_tool("fs", "read_file", {"path": "x"})
        with pytest.raises(Disconnected):
            await yard.call("mcp_other_t")
        with pytest.raises(ArgumentsRefused):
            await yard.call("mcp_fs_read_file", {})
        accounts = {
            str(yard.record(str(each)).name): it for each, it in yard.accounts.by_server.items()
        }
        assert (accounts["fs"].calls, accounts["fs"].errors) == (2, 1)
        assert (accounts["other"].calls, accounts["other"].errors) == (1, 1)
        assert accounts["fs"].bytes_in == 2 * len(b'{"path":"x"}')
        assert next(accounts["fs"].cumulative()) == (1.0, 2)


async def test_the_tools_of_a_server_on_demand_that_failed_are_not_offered() -> None:
    around = Setup(document(fs=local()))
    async with around.open() as yard:
        around.sources[0].say(document(fs=local(wanted="on_demand")))
        assert await eventually(lambda: yard.record("fs").wanted == "on_demand")
        assert [each.name for each in yard.tools()] == ["read_file"]
        around.servers.lose(UUID(str(yard.record("fs").id)), Cause(Code.EXITED, "gone"))
        assert yard.tools() == []
