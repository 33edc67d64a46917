"""The tools of one conversation, over fakes and over real servers."""

import logging
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mcpyard import Outcome, Toolbox, Yard, own_tool
from mcpyard.domain.cause import Code
from mcpyard.domain.errors import (
    ArgumentsRefused,
    CallRefused,
    Disconnected,
    NameTaken,
    Problem,
    ProtocolBroken,
    StartFailed,
    TimedOut,
    ToolUnknown,
    YardError,
)
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.model import LocalConfig
from mcpyard.yard.calls.call_context import Progress
from mcpyard.yard.calls.outcome import ErrorKind
from mcpyard.yard.toolbox.gathering import gather, server_words
from mcpyard.yard.views.servers import CauseView, ServerView, ToolView
from tests.api.daemon import daemon
from tests.faults.watching import connected, state_of, until, zoo
from tests.yard.sample_views import sample_server

COMING_BACK = {"backoff", "connecting"}

EXITED = CauseView(code=Code.EXITED, message="exited", hint="", stderr=[])
SPARED = LocalConfig(command=["fs"], fallback=["spare"])


class FakeYard:
    """Offers tools by records, and answers as told."""

    def __init__(self, *tools: str, **conditions: Mapping[str, object]) -> None:
        self.offered = [tool_view(name) for name in tools]
        self.conditions = conditions or {"fs": {}}
        self.calls: list[tuple[str, object, float | None]] = []
        self.error: YardError | None = None
        self.invalid: list[Problem] = []
        self.version = 0

    def tools(self) -> list[ToolView]:
        return self.offered

    def servers(self, *, tools: bool = True) -> list[ServerView]:
        del tools
        return [sample_server(SPARED, name=name, **more) for name, more in self.conditions.items()]

    def problems(self) -> list[Problem]:
        return self.invalid

    async def call(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  the shape of the port
        progress: Progress | None = None,
    ) -> Outcome:
        del progress
        self.calls.append((name, arguments, timeout))
        if self.error:
            raise self.error
        return Outcome(b'{"content": []}', "fs", "read", 1.0)

    def box(self, **more: Any) -> Toolbox:  # noqa: ANN401  whatever `gather` takes
        return Toolbox.of(gather(self, **more))


def tool_view(name: str, **members: object) -> ToolView:
    view = ToolView(
        name=name,
        title=None,
        description=f"does {name}",
        input_schema={"type": "object"},
        output_schema=None,
        annotations={},
        enabled=True,
        exposed_name=f"mcp_fs_{name}",
        server="fs",
        stale=False,
    )
    return msgspec.structs.replace(view, **members)


def hello() -> str:
    """Say hello."""
    return "hello"


def names(box: Toolbox) -> list[str]:
    return [tool.name for tool in box]


async def test_a_toolbox_is_the_applications_own_tools_and_then_the_servers() -> None:
    box = FakeYard("read", "write").box(own=[hello, own_tool(hello, name="hi")])
    assert names(box) == ["hello", "hi", "mcp_fs_read", "mcp_fs_write"]
    assert (len(box), box.get("hello"), box.get("nobody")) == (4, box.tools[0], None)
    assert [tool.origin for tool in box] == ["own", "own", "fs", "fs"]
    assert (await box.call("hi")).text == "hello"


async def test_a_call_goes_to_the_server_with_everything_it_was_given() -> None:
    yard = FakeYard("read")
    outcome = await yard.box().call("mcp_fs_read", {"path": "x"}, timeout=3)
    assert (outcome.error, yard.calls) == (None, [("mcp_fs_read", {"path": "x"}, 3)])


async def test_a_tool_that_is_not_there_is_an_error_outcome_that_names_near_ones() -> None:
    outcome = await FakeYard("read").box().call("read", {})
    assert outcome.error is ErrorKind.VALIDATION
    assert outcome.text == 'there is no tool "read"; there are "mcp_fs_read"'


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ArgumentsRefused("path: is missing"), ErrorKind.VALIDATION),
        (TimedOut("too long"), ErrorKind.TIMEOUT),
        (Disconnected("gone"), ErrorKind.DISCONNECTED),
        (StartFailed("gone"), ErrorKind.DISCONNECTED),
        (ToolUnknown("gone"), ErrorKind.DISCONNECTED),
        (CallRefused("no"), ErrorKind.PROTOCOL),
        (ProtocolBroken("what?"), ErrorKind.PROTOCOL),
    ],
)
@pytest.mark.spec("D6.2")
async def test_whatever_goes_wrong_with_a_call_reaches_the_agent_as_its_outcome(
    error: YardError, kind: ErrorKind
) -> None:
    yard = FakeYard("read")
    yard.error = error
    outcome = await yard.box().tools[0].call({})
    assert (outcome.is_error, outcome.error, outcome.text) == (True, kind, error.message)
    assert (outcome.server, outcome.tool) == ("fs", "read")


def test_two_own_tools_of_one_name_are_refused() -> None:
    with pytest.raises(NameTaken, match='own tools are called "hello"'):
        FakeYard().box(own=[hello, hello])


def test_a_name_that_a_server_has_too_is_the_applications_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        box = FakeYard("read").box(own=[own_tool(hello, name="mcp_fs_read")])
    assert [tool.origin for tool in box] == ["own"]
    (warning,) = map(str, box.warnings)
    assert warning == (
        'mcp_fs_read: is a tool of the application and one of the server "fs"; '
        "the application's tool is used"
    )
    assert warning in caplog.text


def test_tools_are_selected_by_patterns_or_by_a_test() -> None:
    yard = FakeYard("read", "write", "remove")
    assert names(yard.box(own=[hello], select=["mcp_fs_re*"])) == [
        "hello",
        "mcp_fs_read",
        "mcp_fs_remove",
    ]
    assert names(yard.box(select="fs/w*")) == ["mcp_fs_write"]
    assert names(yard.box(select=lambda tool: tool.native == "read")) == ["mcp_fs_read"]
    assert names(yard.box(select=[])) == []
    box = yard.box(select=["fs/read", "fs/nothing"])
    assert [str(each) for each in box.warnings] == ['select: "fs/nothing" matches no tool']


async def test_a_local_function_answers_when_the_server_cannot() -> None:
    yard = FakeYard("read")
    yard.error = StartFailed("it does not start")
    outcome = await yard.box(local={"mcp_fs_read": hello}).call("mcp_fs_read")
    assert (outcome.server, outcome.text) == ("own", "hello")
    assert [*outcome.passed_over] == [("fs", "it does not start")]


@pytest.mark.parametrize(("hints", "server"), [({}, "fs"), ({"readOnlyHint": True}, "own")])
async def test_a_local_function_does_nothing_twice(hints: dict[str, object], server: str) -> None:
    yard = FakeYard()
    yard.offered = [tool_view("read", annotations=hints)]
    yard.error = TimedOut("too long")
    assert (await yard.box(local={"mcp_fs_read": hello}).call("mcp_fs_read")).server == server


async def test_a_local_function_is_not_given_arguments_that_the_tool_refuses() -> None:
    yard = FakeYard("read")
    yard.error = ArgumentsRefused("path: is missing")
    outcome = await yard.box(local={"mcp_fs_read": hello}).call("mcp_fs_read")
    assert outcome.error is ErrorKind.VALIDATION


async def test_a_local_function_is_offered_in_the_place_of_a_tool_that_is_not_there() -> None:
    box = FakeYard().box(local={"mcp_fs_read": hello})
    assert names(box) == ["mcp_fs_read"]
    assert (await box.call("mcp_fs_read")).text == "hello"


def test_the_search_finds_tools_by_what_they_are_for() -> None:
    yard = FakeYard("read", "write")
    yard.offered.append(tool_view("jiansuo", title="检索", description="检索合同条文"))
    box = yard.box(own=[hello])
    assert [tool.name for tool in box.search("合同")] == ["mcp_fs_jiansuo"]
    assert [tool.name for tool in box.search("条")] == ["mcp_fs_jiansuo"]
    assert [tool.name for tool in box.search("say hello")] == ["hello"]
    assert len(box.search("does", limit=1)) == 1


def test_an_empty_toolbox_has_nothing_to_say() -> None:
    assert (Toolbox([]).status(), Toolbox([]).search("x"), len(Toolbox([]))) == ({}, [], 0)


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ({"phase": "connecting"}, "calls wait until it is connected; fallback: spare"),
        ({"phase": "backoff"}, "reconnecting; its tools are cached, calls wait"),
        ({"phase": "failed", "error": EXITED}, "cannot be called (exited)"),
        ({"phase": "stopped"}, "stopped; its tools cannot be called"),
        ({"phase": "stopped", "enabled": False}, "disabled; its tools cannot be called"),
        ({"phase": "stopped", "wanted": "on_demand"}, "idle; the first call starts it"),
    ],
)
def test_the_status_tells_each_servers_state_in_words(
    condition: Mapping[str, object], words: str
) -> None:
    assert words in server_words(FakeYard(fs=condition))["fs"]


def test_of_a_connected_server_there_is_no_more_to_say() -> None:
    assert server_words(FakeYard()) == {"fs": "connected"}


def test_every_phase_has_its_words() -> None:
    words = server_words(FakeYard(**{phase: {"phase": str(phase)} for phase in Phase}))
    assert len({*words.values()}) == len(Phase)


@pytest.mark.real
@pytest.mark.spec("A3.4")
async def test_a_conversation_gets_the_tools_of_connected_servers_with_the_applications_own() -> (
    None
):
    servers = {
        "good": zoo("good"),
        "reconnecting": zoo("good"),
        "stopped": zoo("good"),
        "disabled": zoo("good", enabled=False),
        "failed": {**zoo("good"), "command": "no-such-command"},
        "removed": zoo("good"),
    }
    async with Yard.open(servers=servers) as yard:
        await connected(yard, "good", "reconnecting", "stopped", "removed")
        await until(yard, lambda: state_of(yard, "failed")["error"])
        before = yard.toolbox(own=[hello])
        await yard.stop("stopped", wait=10)
        yard.code.remove("removed")
        await until(yard, lambda: state_of(yard, "removed")["status"] is None)
        os.kill(state_of(yard, "reconnecting")["pid"], signal.SIGKILL)
        await until(yard, lambda: state_of(yard, "reconnecting")["phase"] in COMING_BACK)
        box = yard.toolbox(own=[hello])
        statuses = box.status()
        waited = await before.call("mcp_reconnecting_echo", {"text": "still there"})
        gone = [await before.call(f"mcp_{name}_echo") for name in ("stopped", "removed")]
    marks = {tool.origin: tool.stale for tool in box}
    assert marks == {"own": False, "good": False, "reconnecting": True}
    assert "connecting; its tools are cached" in statuses["reconnecting"]
    assert "no-such-command" in statuses["failed"]
    assert waited.text == "still there"
    assert [each.error for each in gone] == [ErrorKind.DISCONNECTED] * 2


@pytest.mark.real
@pytest.mark.spec("A3.3", "D1.4")
async def test_the_main_work_goes_on_with_local_tools_when_servers_fail(
    caplog: pytest.LogCaptureFixture,
) -> None:
    servers = {
        "laws": {**zoo("good"), "command": "no-such-command"},
        "slow": zoo("good", timeout=500),
    }
    async with Yard.open(servers=servers) as yard:
        await connected(yard, "slow")
        box = yard.toolbox(local={"mcp_laws_echo": hello})
        late = await box.call("mcp_slow_hang")
        instead = await box.call("mcp_laws_echo")
        broken = await box.call("mcp_slow_echo", {"text": 3})
        after = await box.call("mcp_slow_echo", {"text": "goes on"})
    assert late.error is ErrorKind.TIMEOUT
    assert (instead.text, instead.server) == ("hello", "own")
    assert broken.error is ErrorKind.VALIDATION
    assert after.text == "goes on"
    assert 'command not found: "no-such-command"' in caplog.text


@pytest.mark.real
async def test_a_call_that_never_reached_its_server_is_answered_locally(tmp_path: Path) -> None:
    """The first start works; after that the server never comes up again."""
    good, marker = zoo("good", timeout=100), tmp_path / "mute"
    script = f'test -e {marker} && exec sleep 60; touch {marker}; exec "$@"'
    server = {**good, "command": "sh", "args": ["-c", script, "sh", sys.executable, *good["args"]]}
    async with Yard.open(servers={"fs": server}) as yard:
        await connected(yard, "fs")
        box = yard.toolbox(local={"mcp_fs_echo": hello})
        os.kill(state_of(yard, "fs")["pid"], signal.SIGKILL)
        await until(yard, lambda: state_of(yard, "fs")["phase"] == "connecting")
        outcome = await box.call("mcp_fs_echo")
    assert (outcome.server, outcome.text) == ("own", "hello")


@pytest.mark.real
async def test_the_toolbox_of_a_yard_elsewhere_is_the_same(tmp_path: Path) -> None:
    with daemon(tmp_path / "home"):
        async with Yard.attach(tmp_path / "home") as yard:
            await yard.register({"name": "fs", **zoo("good")}, wait=20)
            await yard.register({"name": "a", **zoo("good", fallback=["fs"])}, wait=20)
            box = yard.toolbox(own=[hello], select=["*_echo", "fs/hang"])
            echoed = await box.call("mcp_fs_echo", {"text": "from afar"})
            late = await box.call("mcp_fs_hang", timeout=0.05)
            broken = await box.call("mcp_fs_echo", {"text": 3})
            statuses = box.status()
            errors = await yard.failed_calls()
            await yard.stop("a", wait=10)
            instead = await box.call("mcp_a_echo", {"text": "instead"})
            await yard.stop("fs", wait=10)
            nobody = await box.call("mcp_a_echo", {"text": "x"})
    assert sorted(names(box)) == ["hello", "mcp_a_echo", "mcp_fs_echo", "mcp_fs_hang"]
    assert echoed.text == "from afar"
    assert (late.error, broken.error) == (ErrorKind.TIMEOUT, ErrorKind.VALIDATION)
    assert statuses == {"a": "connected", "fs": "connected"}
    assert (instead.text, instead.server, [*instead.passed_over]) == (
        "instead",
        "fs",
        [("a", "is stopped")],
    )
    assert [server for server, _ in nobody.passed_over] == ["a", "fs"]
    assert [(each.tool, each.outcome) for each in errors] == [("hang", "timed-out")]
