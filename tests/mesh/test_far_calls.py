"""Calls to servers of other nodes: the same as to servers of this one."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import pytest

from mcpyard.domain.callers import Caller, Quotas
from mcpyard.domain.errors import CallRefused, ServerUnknown, TimedOut
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.model import Scope
from mcpyard.domain.observed import Figures
from mcpyard.domain.ports import CallTerms, NotificationInterest
from mcpyard.wire.jsonrpc import RpcError
from tests.mesh.nodes import ECHO, OTHER, ClusterNode, cluster_in, desired_servers

TERMS = CallTerms(timeout=10)


class Pair(NamedTuple):
    """Two linked nodes, the second of which runs the server `echo`."""

    asker: ClusterNode
    owner: ClusterNode


@asynccontextmanager
async def pair(folder: Path) -> AsyncGenerator[Pair]:
    async with cluster_in(folder) as cluster:
        cluster.place("n2")
        asker, owner = await cluster.start("n1", "n2")
        await asker.until(lambda: phase(asker) is Phase.CONNECTED)
        yield Pair(asker, owner)


def phase(node: ClusterNode, server: UUID = ECHO) -> Phase | None:
    observed = node.mesh.observed().get(server)
    return observed.state.phase if observed else None


async def test_arguments_and_results_pass_as_the_bytes_that_came(tmp_path: Path) -> None:
    async with pair(tmp_path) as (asker, owner):
        result = b'{"content":[],"x":1.0,  "y":12345678901234567890123}'
        owner.scripted.answers["echo"] = lambda _tool, _arguments: result
        arguments = '{"a": 1.50,\t"b":"\\u00e9é"}'.encode()
        assert await asker.mesh.call(ECHO, "say", arguments, TERMS) == result
        assert await owner.mesh.call(ECHO, "say", arguments, TERMS) == result
        assert [call[:3] for call in owner.scripted.calls] == [("echo", "say", arguments)] * 2
        assert not asker.scripted.calls


async def test_other_requests_reach_the_owner_too(tmp_path: Path) -> None:
    async with pair(tmp_path) as (asker, owner):
        owner.scripted.answers["echo"] = lambda method, params: (
            b'["%b",%b]'
            % (
                method.encode(),
                params,
            )
        )
        answer = await asker.mesh.request(ECHO, "resources/read", b'{"uri":"a:b"}', TERMS)
        assert answer == b'["resources/read",{"uri":"a:b"}]'


async def test_the_terms_of_a_call_travel(tmp_path: Path) -> None:
    async with pair(tmp_path) as (asker, owner):
        owner.scripted.answers["echo"] = lambda _tool, _arguments: b"{}"
        caller = Caller("token a", Quotas())
        terms = CallTerms(
            timeout=9,
            longest=60,
            capabilities=b'{"roots":{}}',
            log_level="info",
            client_key="k",
            caller=caller,
        )
        await asker.mesh.call(ECHO, "say", b"{}", terms)
        received = owner.scripted.calls[0][3]
        assert received.timeout == pytest.approx(9, abs=0.5)
        assert (received.longest, received.capabilities) == (60, b'{"roots":{}}')
        assert (received.log_level, received.client_key) == ("info", "k")
        assert received.caller
        assert received.caller.name == "token a"
        assert received.on_request is None


async def test_progress_and_notifications_come_back_in_order(tmp_path: Path) -> None:
    async with pair(tmp_path) as (asker, owner):

        async def script(_tool: str, _arguments: bytes, terms: CallTerms) -> bytes:
            assert terms.progress
            assert terms.on_notification
            terms.progress({"progressToken": 7, "progress": 1, "total": 2})
            terms.on_notification("notifications/message", b'{"data": "half"}')
            terms.progress({"progressToken": 7, "progress": 2})
            return b"{}"

        owner.scripted.scripts["echo"] = script
        heard: list[object] = []

        def progress(params: Mapping[str, object]) -> None:
            heard.append(params["progress"])

        def notice(method: str, params: bytes) -> None:
            heard.append((method, params))

        terms = CallTerms(timeout=10, progress=progress, on_notification=notice)
        await asker.mesh.call(ECHO, "say", b'{"_meta":{"a":1}}', terms)
        assert heard == [1, ("notifications/message", b'{"data": "half"}'), 2]
        assert owner.scripted.calls[0][2] == b'{"_meta":{"a":1}}'


async def test_a_server_asks_its_caller_in_the_middle_of_a_call(tmp_path: Path) -> None:
    async with pair(tmp_path) as (asker, owner):

        async def script(_tool: str, _arguments: bytes, terms: CallTerms) -> bytes:
            assert terms.on_request
            return await terms.on_request("elicitation/create", b'{"message":"who?"}')

        async def answer(method: str, params: bytes) -> bytes:
            assert (method, params) == ("elicitation/create", b'{"message":"who?"}')
            return b'{"action":"accept"}'

        owner.scripted.scripts["echo"] = script
        terms = CallTerms(timeout=10, on_request=answer)
        assert await asker.mesh.call(ECHO, "say", b"{}", terms) == b'{"action":"accept"}'


async def test_a_refused_question_is_refused_at_the_server(tmp_path: Path) -> None:
    async with pair(tmp_path) as (asker, owner):

        async def script(_tool: str, _arguments: bytes, terms: CallTerms) -> bytes:
            assert terms.on_request
            with pytest.raises(RpcError, match="no thanks") as caught:
                await terms.on_request("sampling/createMessage", b"{}")
            return b'{"code":%d}' % caught.value.code

        async def answer(_method: str, _params: bytes) -> bytes:
            raise RpcError(-1, "no thanks")

        owner.scripted.scripts["echo"] = script
        terms = CallTerms(timeout=10, on_request=answer)
        assert await asker.mesh.call(ECHO, "say", b"{}", terms) == b'{"code":-1}'


async def test_the_clock_of_a_call_stands_still_while_a_person_answers(tmp_path: Path) -> None:
    async with pair(tmp_path) as (asker, owner):

        async def script(_tool: str, _arguments: bytes, terms: CallTerms) -> bytes:
            assert terms.on_request
            return await terms.on_request("elicitation/create", b"{}")

        async def answer(_method: str, _params: bytes) -> bytes:
            await asyncio.sleep(1.5)
            return b'{"late":true}'

        owner.scripted.scripts["echo"] = script
        terms = CallTerms(timeout=0.1, on_request=answer)
        assert await asker.mesh.call(ECHO, "say", b"{}", terms) == b'{"late":true}'


async def test_a_cancelled_call_is_cancelled_at_the_owner(tmp_path: Path) -> None:
    async with pair(tmp_path) as (asker, owner):
        begun, cancelled = asyncio.Event(), asyncio.Event()

        async def script(_tool: str, _arguments: bytes, _terms: CallTerms) -> bytes:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()
            return b""

        owner.scripted.scripts["echo"] = script
        call = asyncio.create_task(asker.mesh.call(ECHO, "say", b"{}", TERMS))
        await begun.wait()
        call.cancel()
        await cancelled.wait()
        with pytest.raises(asyncio.CancelledError):
            await call


async def test_the_owner_says_that_a_call_timed_out(tmp_path: Path) -> None:
    async with pair(tmp_path) as (asker, owner):

        async def script(_tool: str, _arguments: bytes, _terms: CallTerms) -> bytes:
            raise TimedOut("say was not answered in time (10 s)", sent=False)

        owner.scripted.scripts["echo"] = script
        with pytest.raises(TimedOut, match="say was not answered") as caught:
            await asker.mesh.call(ECHO, "say", b"{}", TERMS)
        assert caught.value.sent is False


async def test_a_call_ends_though_its_owner_never_answers(tmp_path: Path) -> None:
    async with pair(tmp_path) as (asker, owner):
        cancelled = asyncio.Event()

        async def script(_tool: str, _arguments: bytes, _terms: CallTerms) -> bytes:
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()
            return b""

        owner.scripted.scripts["echo"] = script
        with pytest.raises(TimedOut, match=r'node "n2" did not answer in time \(0.05 s\)'):
            await asker.mesh.call(ECHO, "say", b"{}", CallTerms(timeout=0.05))
        await cancelled.wait()


async def test_an_error_of_a_far_server_has_its_code_and_data(tmp_path: Path) -> None:
    async with pair(tmp_path) as (asker, owner):

        async def script(_tool: str, _arguments: bytes, _terms: CallTerms) -> bytes:
            raise CallRefused("no such thing", -32042, {"why": [1, None]})

        owner.scripted.scripts["echo"] = script
        with pytest.raises(CallRefused, match="no such thing") as caught:
            await asker.mesh.call(ECHO, "say", b"{}", TERMS)
        assert (caught.value.code, caught.value.data) == (-32042, {"why": [1, None]})


async def test_a_thousand_calls_at_once_are_all_answered(tmp_path: Path) -> None:
    async with pair(tmp_path) as (asker, owner):
        owner.scripted.answers["echo"] = lambda _tool, arguments: arguments
        calls = [asker.mesh.call(ECHO, "say", b'{"n":%d}' % n, TERMS) for n in range(1000)]
        assert await asyncio.gather(*calls) == [b'{"n":%d}' % n for n in range(1000)]


async def test_a_result_of_many_megabytes_comes_whole(tmp_path: Path) -> None:
    async with pair(tmp_path) as (asker, owner):
        result = b'{"text":"%b"}' % (b"x" * 20_000_000)
        owner.scripted.answers["echo"] = lambda _tool, _arguments: result
        assert await asker.mesh.call(ECHO, "say", b"{}", TERMS) == result


async def test_every_node_shows_every_shared_server_and_its_changes(tmp_path: Path) -> None:
    async with pair(tmp_path) as (asker, owner):
        assert ECHO not in asker.mesh.held()
        assert ECHO in owner.mesh.held()
        owner.want(desired_servers())
        asker.want(desired_servers())
        await asker.until(lambda: ECHO not in asker.mesh.observed())


async def test_a_pinned_server_runs_here_alone_and_is_called_directly(tmp_path: Path) -> None:
    async with pair(tmp_path) as (asker, owner):
        asker.want(desired_servers("other", scope=Scope.PROJECT))
        asker.scripted.answers["other"] = lambda _tool, _arguments: b"{}"
        assert await asker.mesh.call(OTHER, "say", b"{}", TERMS) == b"{}"
        assert OTHER not in owner.mesh.observed()


async def test_a_server_that_was_removed_is_unknown(tmp_path: Path) -> None:
    async with pair(tmp_path) as (asker, _):
        removed = asker.mesh.router.ask
        with pytest.raises(ServerUnknown):
            await removed(OTHER, question("say"), TERMS)


def question(tool: str):  # noqa: ANN201  of one test
    from mcpyard.mesh.questions import ServerQuestion  # noqa: PLC0415

    return ServerQuestion(tool, b"{}")


class NoticeLog:
    def __init__(self) -> None:
        self.heard: list[tuple[UUID, str, bytes]] = []
        self.event = asyncio.Event()

    def on_notification(self, server: UUID, method: str, params: bytes) -> None:
        self.heard.append((server, method, params))
        self.event.set()


async def test_subscriptions_reach_far_servers_and_their_notifications_come_back(
    tmp_path: Path,
) -> None:
    async with pair(tmp_path) as (asker, owner):
        notices, own = NoticeLog(), NoticeLog()
        asker.mesh.set_listener(notices)
        owner.mesh.set_listener(own)
        asker.mesh.tune(ECHO, NotificationInterest("info", frozenset({"a:b"})))
        owner.mesh.tune(ECHO, NotificationInterest("debug", frozenset({"c:d"})))
        both = NotificationInterest("debug", frozenset({"a:b", "c:d"}))
        await owner.until(lambda: owner.scripted.tuned.get(ECHO) == both)
        owner.mesh.on_notification(ECHO, "notifications/resources/updated", b'{"uri":"a:b"}')
        await notices.event.wait()
        assert notices.heard == own.heard
        await asker.close()
        interest = NotificationInterest("debug", frozenset({"c:d"}))
        await owner.until(lambda: owner.scripted.tuned[ECHO] == interest)


async def test_logs_figures_probes_and_released_clients_cross_the_link(tmp_path: Path) -> None:
    async with pair(tmp_path) as (asker, owner):
        assert await asker.mesh.fetch_log(ECHO) == ()
        await asker.until(lambda: asker.mesh.figures(ECHO) == Figures(1, 1024, 0.5))
        # The page samples figures in a thread.
        assert await asyncio.to_thread(asker.mesh.figures, ECHO) == Figures(1, 1024, 0.5)
        asker.mesh.probe(ECHO)
        asker.mesh.release("client")
        await owner.until(lambda: owner.scripted.probed and owner.scripted.released)
        assert asker.scripted.released == owner.scripted.released == ["client"]


async def test_a_near_call_takes_few_steps_more_than_without_a_cluster(tmp_path: Path) -> None:
    from tests.steps import steps  # noqa: PLC0415

    async with pair(tmp_path) as (_, owner):

        def make(call: Callable[..., object]) -> int:
            made: list[object] = []
            count = steps(lambda: made.append(call(ECHO, "say", b"{}", TERMS)))
            made[0].close()  # type: ignore[attr-defined]
            return count

        assert make(owner.mesh.call) - make(owner.local.call) < 40
