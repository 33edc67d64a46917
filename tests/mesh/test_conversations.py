"""Questions between nodes outside of calls."""

import asyncio
import time
from pathlib import Path

import pytest

from mcpyard.domain.errors import Disconnected, NameTaken
from mcpyard.domain.node_channel import SendPart, owned, owner_of
from mcpyard.mesh.conversations import MeshChannel
from mcpyard.wire.jsonrpc import RpcError
from tests.mesh.nodes import ClusterNode, cluster_in


def channel_of(node: ClusterNode) -> MeshChannel:
    mesh = node.mesh
    return MeshChannel(node.view, mesh.links, mesh.answers, mesh.router.changes)


def test_an_id_names_the_node_that_made_it() -> None:
    assert owner_of(owned("n1", "abc")) == "n1"
    assert owner_of(owned("", "abc")) == ""
    assert owner_of("abc") == ""


async def test_a_question_is_answered_with_its_parts_in_order(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        asker, owner = map(channel_of, await cluster.start("n1", "n2"))
        parts: list[bytes] = []

        async def answer(params: bytes, send: SendPart) -> bytes:
            for number in range(3):
                await send(b'{"_meta":%d}' % number)
                # It goes on once the asking node has dealt with it.
                assert len(parts) == number + 1
            return b"[%b]" % params

        async def take(part: bytes) -> None:
            await asyncio.sleep(0)
            parts.append(part)

        owner.answer_with("what", answer)
        question = b'{"a": "\\u00e9", "_meta": 1.50}'
        assert await asker.ask("n2", "what", question, on_part=take) == b"[%b]" % question
        assert parts == [b'{"_meta":%d}' % number for number in range(3)]


class Slow:
    """Answers when nobody wants it any more, and tells then what became of a part."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.refused = asyncio.Event()

    async def answer(self, _params: bytes, send: SendPart) -> bytes:
        self.began.set()
        try:
            await asyncio.sleep(60)
        finally:
            with pytest.raises((RpcError, Disconnected)):
                await send(b"{}")
            self.refused.set()
        return b"{}"


async def take_none(_part: bytes) -> None:
    raise AssertionError


@pytest.mark.parametrize("loses_link", [False, True])
async def test_whoever_answers_learns_that_nobody_wants_it_any_more(
    tmp_path: Path, loses_link: bool
) -> None:
    async with cluster_in(tmp_path) as cluster:
        nodes = await cluster.start("n1", "n2")
        asker, owner = map(channel_of, nodes)
        slow = Slow()
        owner.answer_with("what", slow.answer)
        asking = asyncio.create_task(asker.ask("n2", "what", b"{}", on_part=take_none))
        async with asyncio.timeout(10):
            await slow.began.wait()
            if loses_link:
                await nodes[0].mesh.links.close()
                with pytest.raises(Disconnected) as lost:
                    await asking
                assert not lost.value.untaken
            else:
                asking.cancel()
            await slow.refused.wait()


async def test_errors_of_the_other_node_are_raised_here(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        asker, owner = map(channel_of, await cluster.start("n1", "n2"))

        async def answer(_params: bytes, _send: SendPart) -> bytes:
            raise NameTaken("it is taken")

        owner.answer_with("what", answer)
        with pytest.raises(NameTaken, match="it is taken"):
            await asker.ask("n2", "what", b"{}")
        with pytest.raises(Disconnected) as unknown:
            await asker.ask("n2", "something else", b"{}")
        assert unknown.value.untaken


async def test_nobody_waits_for_a_node_that_is_unknown_or_gone(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        first, second, third = await cluster.start("n1", "n2", "n3")
        asker = channel_of(first)
        began = time.monotonic()
        with pytest.raises(Disconnected) as unknown:
            await asker.ask("n9", "what", b"{}")
        assert unknown.value.untaken
        assert time.monotonic() - began < 1

        async def answer(_params: bytes, _send: SendPart) -> bytes:
            return b"{}"

        channel_of(second).answer_with("what", answer)
        assert await asker.others(2) == ["n2", "n3"]
        assert await asker.ask_each(["n2", "n3"], "what", b"{}", 2) == {"n2": b"{}", "n3": None}
        await third.die()
        with pytest.raises(Disconnected) as gone:
            await asker.ask("n3", "what", b"{}")
        assert gone.value.untaken
        assert time.monotonic() - began < 6
        assert await asker.ask_each(["n2", "n3"], "what", b"{}", 2) == {"n2": b"{}", "n3": None}


async def test_a_question_waits_for_the_link_to_a_node_that_just_started(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        first, second = await cluster.start("n1", "n2")

        async def answer(_params: bytes, _send: SendPart) -> bytes:
            return b"{}"

        channel_of(first).answer_with("what", answer)
        link = first.mesh.links.get("n2")
        assert link
        await link.close()
        await second.until(lambda: second.mesh.links.get("n1") is None)
        assert await channel_of(second).ask("n1", "what", b"{}") == b"{}"
