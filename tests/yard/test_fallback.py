"""Who answers in a server's place, over fakes of the ports."""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any
from uuid import UUID

import pytest

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.desired import Definition, Document, Owner
from mcpyard.domain.errors import (
    ArgumentsRefused,
    CallRefused,
    Disconnected,
    NeedsAuth,
    NobodyAnswered,
    StartFailed,
    TimedOut,
    YardError,
)
from mcpyard.domain.model import LocalConfig, Scope
from mcpyard.testing import (
    FakeServers,
    FakeSource,
    ManualClock,
    VolatileMemory,
    VolatilePolicies,
)
from mcpyard.yard.calls.breakers import REST
from mcpyard.yard.calls.outcome import PassedOver
from mcpyard.yard.yard import Ports, YardCore
from tests.runtime.waiting import eventually
from tests.yard.begun import begun

GONE = Cause(Code.EXITED, "it died")
READS = {"readOnlyHint": True}
SEARCH = {
    "name": "search",
    "inputSchema": {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
    },
}
ASKED = {"query": "x"}
SWITCHES = {"backup", "recovered"}


def local(**policy: object) -> LocalConfig:
    return LocalConfig.model_validate({"command": ["x"], "wanted": "running", **policy})


class Library:
    """A yard of servers that each have a tool `search`, and tell who they are."""

    def __init__(self, hints: Mapping[str, object] = READS, **configs: LocalConfig) -> None:
        self.servers = FakeServers()
        self.clock = ManualClock()
        for name in configs:
            self.servers.tools[name] = [{**SEARCH, "annotations": hints}]
            self.servers.answers[name] = _says(name)
        document = Document(
            Owner(Scope.CODE), tuple(Definition(name, each) for name, each in configs.items())
        )
        self.yard = YardCore(
            Ports(
                sources=[FakeSource(document)],
                memory=VolatileMemory(),
                policies=VolatilePolicies(),
                servers=self.servers,
                clock=self.clock,
                lookup={}.get,
            )
        )

    def open(self) -> AbstractAsyncContextManager[YardCore]:
        return begun(self.yard)

    def lose(self, *names: str) -> None:
        for name in names:
            self.servers.lose(UUID(str(self.yard.record(name).id)), GONE)

    def fail(self, name: str, error: YardError) -> None:
        def answer(tool: str, arguments: bytes) -> bytes:
            del tool, arguments
            raise error

        self.servers.answers[name] = answer

    @property
    def called(self) -> list[str]:
        return [name for name, *_ in self.servers.calls]


def _says(name: str) -> Callable[[str, bytes], bytes]:
    return lambda tool, arguments: json.dumps(
        {"content": [{"type": "text", "text": f"{name}.{tool} {arguments.decode()}"}]}
    ).encode()


async def test_a_server_that_is_there_answers_itself() -> None:
    library = Library(a=local(fallback=["b"]), b=local())
    async with library.open() as yard:
        outcome = await yard.call("mcp_a_search", ASKED)
    assert (outcome.server, outcome.passed_over, library.called) == ("a", (), ["a"])


async def test_the_fallback_answers_for_a_server_that_is_not_connected() -> None:
    library = Library({}, a=local(fallback=["b"]), b=local())
    async with library.open() as yard:
        library.lose("a")
        outcome = await yard.call("mcp_a_search", ASKED)
    assert (outcome.server, library.called) == ("b", ["b"])
    assert outcome.passed_over == (PassedOver("a", "not connected: it died"),)


async def test_fallbacks_of_fallbacks_count_and_a_cycle_ends() -> None:
    library = Library(
        a=local(fallback=["b"]), b=local(fallback=["a", "c"]), c=local(fallback=["b"])
    )
    async with library.open() as yard:
        library.lose("a", "b")
        assert (await yard.call("mcp_a_search", ASKED)).server == "c"
        library.lose("c")
        with pytest.raises(NobodyAnswered, match=r'"a": .*it died; "b": .*it died; "c"') as caught:
            await yard.call("mcp_a_search", ASKED)
    assert [name for name, _ in caught.value.passed_over] == ["a", "b", "c"]


async def test_fallbacks_that_are_missing_or_lack_the_tool_are_passed_over() -> None:
    off = {"search": {"enabled": False}}
    fallback = ["nobody", "other", "off", "a", "b"]
    library = Library(a=local(fallback=fallback), other=local(), off=local(tools=off), b=local())
    library.servers.tools["other"] = [{"name": "else"}]
    async with library.open() as yard:
        library.lose("a")
        outcome = await yard.call("mcp_a_search", ASKED)
        warnings = yard.record("a").warnings
    assert [*outcome.passed_over] == [
        ("a", "not connected: it died"),
        ("nobody", "no such server"),
        ("other", 'it has no tool "search"'),
        ("off", 'it has no tool "search"'),
    ]
    assert outcome.server == "b"
    assert warnings == [
        'fallback[0]: there is no server "nobody"',
        "fallback[3]: is the server itself; ignored",
    ]


async def test_a_tools_own_fallback_gets_the_arguments_by_its_own_names() -> None:
    fallback = [{"server": "b", "tool": "find", "arguments": {"query": "q", "shelf": None}}]
    library = Library(a=local(fallback=["c"], tools={"search": {"fallback": fallback}}), b=local())
    library.servers.tools["b"] = [{"name": "find"}]
    async with library.open() as yard:
        library.lose("a")
        outcome = await yard.call("mcp_a_search", {"query": "x", "shelf": 3})
    assert (outcome.tool, outcome.text) == ("find", 'b.find {"q":"x"}')


async def test_a_fallback_whose_schema_refuses_the_arguments_is_passed_over() -> None:
    library = Library(a=local(fallback=["b", "c"]), b=local(), c=local())
    library.servers.tools["b"] = [{**SEARCH, "inputSchema": {"required": ["shelf"]}}]
    async with library.open() as yard:
        library.lose("a")
        outcome = await yard.call("mcp_a_search", ASKED)
    assert outcome.server == "c"
    assert '"shelf" is missing' in outcome.passed_over[1].why


async def test_arguments_that_break_the_tools_own_schema_reach_nobody() -> None:
    library = Library(a=local(fallback=["b"]), b=local())
    async with library.open() as yard:
        for _ in range(2):
            with pytest.raises(ArgumentsRefused):
                await yard.call("mcp_a_search", {"query": 3})
            library.lose("a")
    assert library.called == []


@pytest.mark.parametrize("error", [TimedOut("too long"), Disconnected("lost in flight")])
async def test_a_call_that_may_have_had_an_effect_is_not_repeated(error: YardError) -> None:
    library = Library({}, a=local(fallback=["b"]), b=local())
    library.fail("a", error)
    async with library.open() as yard:
        with pytest.raises(type(error), match="no fallback was tried after that"):
            await yard.call("mcp_a_search", ASKED)
    assert library.called == ["a"]


@pytest.mark.parametrize("error", [TimedOut("too long"), Disconnected("lost in flight")])
async def test_a_call_that_is_safe_to_repeat_moves_on(error: YardError) -> None:
    library = Library(a=local(fallback=["b"]), b=local())
    library.fail("a", error)
    async with library.open() as yard:
        outcome = await yard.call("mcp_a_search", ASKED)
    assert (outcome.server, library.called) == ("b", ["a", "b"])
    assert outcome.passed_over == (PassedOver("a", error.message),)


async def test_the_user_may_say_that_a_tool_is_safe_to_repeat() -> None:
    tools = {"search": {"repeatable": True}}
    library = Library({}, a=local(fallback=["b"], tools=tools), b=local())
    library.fail("a", TimedOut("too long"))
    async with library.open() as yard:
        assert (await yard.call("mcp_a_search", ASKED)).server == "b"


async def test_a_server_that_certainly_never_took_the_call_is_replaced_in_any_case() -> None:
    library = Library({}, a=local(fallback=["b", "c"]), b=local(), c=local())
    never = Disconnected("still starting")
    never.untaken = True
    library.fail("a", never)
    expired = Disconnected("expired").because(Cause(Code.CLOSED, "expired", untaken=True))
    library.fail("b", expired)
    async with library.open() as yard:
        assert (await yard.call("mcp_a_search", ASKED)).server == "c"


@pytest.mark.parametrize("error", [StartFailed("does not start"), NeedsAuth("wants a sign-in")])
async def test_a_server_that_could_not_be_asked_at_all_is_replaced(error: YardError) -> None:
    library = Library({}, a=local(fallback=["b"]), b=local())
    library.fail("a", error)
    async with library.open() as yard:
        assert (await yard.call("mcp_a_search", ASKED)).server == "b"


async def test_an_answer_is_an_answer_also_when_it_says_error() -> None:
    library = Library(a=local(fallback=["b"]), b=local())
    library.servers.answers["a"] = lambda *_: b'{"content": [], "isError": true}'
    async with library.open() as yard:
        outcome = await yard.call("mcp_a_search", ASKED)
        library.fail("a", CallRefused("no such thing", -32602))
        with pytest.raises(CallRefused):
            await yard.call("mcp_a_search", ASKED)
    assert (outcome.server, outcome.is_error, library.called) == ("a", True, ["a", "a"])


async def test_a_tool_that_ran_out_of_time_is_left_alone_for_a_while() -> None:
    library = Library(a=local(fallback=["b"]), b=local())
    library.fail("a", TimedOut("too long"))
    async with library.open() as yard:
        events = yard.events()
        for _ in range(2):
            await yard.call("mcp_a_search", ASKED)
        assert library.called == ["a", "b", "b"]
        library.clock.advance(REST)
        library.servers.answers["a"] = _says("a")
        outcome = await yard.call("mcp_a_search", ASKED)
        switches = [(each.kind, each.data["tool"]) for each in await events.batch()]
    assert (outcome.server, outcome.passed_over) == ("a", ())
    assert switches == [("backup", "search"), ("recovered", "search")]


async def test_one_that_was_lost_is_asked_again_at_the_next_call() -> None:
    library = Library(a=local(fallback=["b"]), b=local())
    library.fail("a", Disconnected("lost in flight"))
    async with library.open() as yard:
        for _ in range(2):
            await yard.call("mcp_a_search", ASKED)
    assert library.called == ["a", "b", "a", "b"]


async def test_one_that_was_left_alone_is_asked_when_nobody_else_is_there() -> None:
    library = Library(a=local(fallback=["b"]), b=local())
    library.fail("a", TimedOut("too long"))
    async with library.open() as yard:
        await yard.call("mcp_a_search", ASKED)
        library.lose("b")
        library.servers.answers["a"] = _says("a")
        assert (await yard.call("mcp_a_search", ASKED)).server == "a"


async def test_a_fallback_that_somebody_stopped_is_not_woken() -> None:
    library = Library(a=local(fallback=["b"]), b=local())
    async with library.open() as yard:
        await yard.stop("b", wait=1)
        library.lose("a")
        with pytest.raises(NobodyAnswered, match='"b": is stopped'):
            await yard.call("mcp_a_search", ASKED)


@pytest.mark.spec("D5.3")
async def test_a_server_that_is_away_is_probed_while_its_fallback_answers() -> None:
    library = Library(a=local(fallback=["b"]), b=local())
    async with library.open():
        library.lose("a")
        assert (await library.yard.call("mcp_a_search", ASKED)).server == "b"
        assert library.servers.probed == [UUID(str(library.yard.record("a").id))]


async def test_the_tools_of_a_server_that_a_call_probes_are_offered() -> None:
    library = Library(a=local(), b=local(fallback=["a"]))
    async with library.open() as yard:
        library.lose("a", "b")
        assert [each.server for each in yard.tools()] == []
        library.servers.lose(UUID(str(yard.record("a").id)), GONE, probing=True)
        assert [each.server for each in yard.tools()] == ["a"]
        assert [server.name for server, _ in yard.directory.servers()] == ["a"]
        assert (await yard.call("mcp_b_search", ASKED)).server == "a"


async def test_the_switch_to_a_fallback_and_the_way_back_are_told() -> None:
    library = Library(a=local(fallback=["gone", "b"]), b=local())
    async with library.open() as yard:
        events = yard.events()
        library.lose("a")
        away = (await yard.call("mcp_a_search", ASKED)).server
        await yard.start("a")
        assert await eventually(lambda: yard.record("a").status == "connected")
        back = (await yard.call("mcp_a_search", ASKED)).server
        switches = [each for each in await events.batch() if each.kind in SWITCHES]
        identity = yard.record("a").id
    assert (away, back) == ("b", "a")
    about: dict[str, Any] = {"id": identity, "name": "a", "tool": None}
    assert [(each.kind, each.data) for each in switches] == [
        ("backup", about | {"backup": "b", "reason": "it died"}),
        ("recovered", about),
    ]


async def test_every_switch_is_told_once() -> None:
    library = Library(a=local(fallback=["b"]), b=local())
    async with library.open() as yard:
        events = yard.events()
        for _ in range(2):
            library.lose("a")
            library.lose("a")
            await yard.start("a")
            assert await eventually(lambda: yard.record("a").status == "connected")
        kinds = [each.kind for each in await events.batch()]
    assert [each for each in kinds if each in SWITCHES] == ["backup", "recovered"] * 2


async def test_a_server_that_only_sleeps_is_not_told_as_gone() -> None:
    library = Library(a=local(fallback=["b"], wanted="on_demand"), b=local())
    async with library.open() as yard:
        assert await eventually(lambda: yard.record("b").status == "connected")
        kinds = [each.kind for each in await yard.events(after=0).batch()]
    assert kinds.count("status") == 2
    assert not SWITCHES & {*kinds}


async def test_a_server_without_fallbacks_tells_of_none() -> None:
    library = Library(a=local())
    async with library.open() as yard:
        events = yard.events()
        library.lose("a")
        kinds = {each.kind for each in await events.batch()}
    assert kinds == {"status"}


async def test_a_tool_called_at_its_own_server_has_no_fallback() -> None:
    library = Library(a=local(fallback=["b"]), b=local())
    library.fail("a", Disconnected("lost"))
    async with library.open() as yard:
        with pytest.raises(Disconnected):
            await yard.call_tool("a", "search", ASKED)
    assert library.called == ["a"]
