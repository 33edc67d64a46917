"""What nodes tell each other of keys that were taken away, also while the database is away."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from mcpyard.api.security import other_nodes
from mcpyard.api.security.keys import AdminKey, Keys, hashed
from mcpyard.api.security.other_nodes import OtherNodes
from mcpyard.api.security.revocations import Revocations
from mcpyard.domain.errors import Disconnected, SignInUnknown, StoreAway, YardError
from mcpyard.domain.node_channel import Answerer, RevokedKey, SendPart
from mcpyard.runtime.clock import SystemClock
from mcpyard.store.volatile import VolatileCallTokens, VolatileSessions


class Channel:
    """The way from a node to the other one."""

    def __init__(self, node: str) -> None:
        self.node = node
        self.topics: dict[str, Answerer] = {}
        self.other: Channel | None = None
        self.far: dict[str, Channel | None] = {}
        self.error: YardError | None = None
        self.within: list[float] = []

    def answer_with(self, topic: str, answerer: Answerer) -> None:
        self.topics[topic] = answerer

    async def ask(
        self,
        node: str,
        topic: str,
        params: bytes,
        *,
        on_part: SendPart | None = None,
        within: float | None = None,
    ) -> bytes:
        assert (on_part, within) != (None, None)
        if self.error:
            raise self.error
        assert self.other
        assert node == self.other.node
        return await self.other.topics[topic](params, _send_nothing)

    @property
    def linked(self) -> Sequence[str]:
        return [*self.far]

    async def others(self, within: float) -> Sequence[str]:
        assert within
        return [self.other.node] if self.other else []

    async def ask_each(
        self, nodes: Sequence[str], topic: str, params: bytes, within: float
    ) -> Mapping[str, bytes | None]:
        self.within.append(within)
        return {node: await self._answer_of(node, topic, params) for node in nodes}

    async def _answer_of(self, node: str, topic: str, params: bytes) -> bytes | None:
        channel = self.far.get(node, self.other)
        try:
            return await channel.topics[topic](params, _send_nothing) if channel else None
        except YardError:
            return None


async def _send_nothing(_part: bytes) -> None:
    raise AssertionError


class Shared:
    """What a node has of the keys; its database can be away."""

    def __init__(self) -> None:
        self.written = 3
        self.away = False
        self.admin: list[str] = []
        self.revoked: list[RevokedKey] = []

    async def reached(self, rev: int) -> None:
        assert rev == 3
        if self.away:
            await asyncio.sleep(60)

    async def set_admin(self, token_hash: str) -> None:
        if self.away:
            raise StoreAway("the database is away")
        self.admin.append(token_hash)

    def revoke_elsewhere(self, key: RevokedKey) -> None:
        self.revoked.append(key)


class Node:
    """One of two nodes."""

    def __init__(self, name: str) -> None:
        self.channel, self.shared, self.revocations = Channel(name), Shared(), Revocations()
        self.dismissed: list[str] = []
        self.revocations.listen(self.dismissed.append)
        self.nodes = OtherNodes(
            self.channel, self.shared, self.revocations, self._redeem, self._finish
        )

    def keys(self, admin: AdminKey) -> Keys:
        tokens, sessions = VolatileCallTokens(), VolatileSessions()
        return Keys(
            admin,
            tokens,
            sessions,
            SystemClock(),
            revocations=self.revocations,
            other_nodes=self.nodes,
        )

    def _redeem(self, ticket: str, cookie_hash: str) -> bool:
        return (ticket, cookie_hash) == ("n2~t", "c")

    async def _finish(self, answer: Mapping[str, str]) -> str:
        return f"server of {answer['code']}"


@pytest.fixture
def two() -> tuple[Node, Node]:
    one, other = Node("n1"), Node("n2")
    one.channel.other, other.channel.other = other.channel, one.channel
    return one, other


def a_key(**more: object) -> RevokedKey:
    return RevokedKey("token:x", datetime.now(UTC), **more)  # pyright: ignore[reportArgumentType]


async def test_a_node_without_the_database_confirms_what_it_was_told_itself(
    two: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_nodes, "_CATCH_UP_SECONDS", 0.05)
    one, other = two
    other.shared.away = True
    token = uuid4()
    assert await one.nodes.revoke(a_key(token=token)) == []
    assert await one.nodes.revoke(a_key(cookie_hash="c")) == []
    assert {each.token for each in other.shared.revoked} == {token, None}
    assert other.dismissed == ["token:x"] * 2
    # Which admin token is valid stands in the database alone.
    assert await one.nodes.revoke(a_key()) == ["n2"]
    assert other.dismissed == ["token:x"] * 2
    other.shared.away = False
    assert await one.nodes.revoke(a_key()) == []


async def test_who_is_told_of_a_key_tells_the_nodes_that_nobody_told(
    two: tuple[Node, Node],
) -> None:
    one, other = two
    third = Node("n3")
    other.channel.far = {"n1": one.channel, "n3": third.channel, "n4": None}
    third.channel.far = {"n2": other.channel}
    assert await one.nodes.revoke(a_key(token=uuid4())) == ["n4"]
    assert (one.dismissed, other.dismissed, third.dismissed) == ([], ["token:x"], ["token:x"])
    other.channel.far = {"n1": one.channel}
    assert await one.nodes.revoke(a_key(token=uuid4())) == []
    assert third.dismissed == ["token:x"]


async def test_what_the_database_took_is_missing_to_the_wait_for_other_nodes(
    two: tuple[Node, Node],
) -> None:
    one, _ = two
    keys = one.keys(AdminKey("secret"))
    for seconds in (0.0, 1.2, 30.0):
        await keys.revoked("token:x", keys.clock.monotonic() - seconds)
    assert one.channel.within == pytest.approx([2.0, 0.8, 0.5], abs=0.2)


async def test_the_admin_token_of_the_cluster_is_replaced_for_all_or_not_at_all(
    two: tuple[Node, Node],
) -> None:
    one, other = two
    hashes = [hashed("old")]
    made: list[str] = []

    def renew() -> str:
        made.append("new")
        return "new"

    keys = one.keys(AdminKey("old", renew, lambda: hashes[0]))
    one.shared.away = True
    with pytest.raises(StoreAway):
        await keys.rotate_admin("admin")
    assert made == []
    one.shared.away = False
    assert await keys.rotate_admin("admin") == []
    assert one.shared.admin[-1] == hashed("new")
    assert one.dismissed == other.dismissed == ["admin"]
    # That of one home alone concerns no other node.
    own = one.keys(AdminKey("own", renew, lambda: hashed("another")))
    assert await own.rotate_admin("admin") == ()
    assert (one.dismissed, other.dismissed) == (["admin"] * 2, ["admin"])
    assert await one.keys(AdminKey("fixed")).rotate_admin("admin") is None


async def test_tickets_and_sign_ins_are_asked_for_where_they_began(
    two: tuple[Node, Node],
) -> None:
    one, _ = two
    assert await one.nodes.redeem("n2~t", "c")
    assert not await one.nodes.redeem("n2~t", "d")
    assert not await one.nodes.redeem("t", "c")
    assert await one.nodes.finish_sign_in({"state": "n2~s", "code": "7"}) == "server of 7"
    assert await one.nodes.finish_sign_in({"state": "n1~s", "code": "7"}) is None
    assert await one.nodes.finish_sign_in({"code": "7"}) is None
    one.channel.error = Disconnected("lost meanwhile")
    assert not await one.nodes.redeem("n2~t", "c")
    with pytest.raises(Disconnected):
        await one.nodes.finish_sign_in({"state": "n2~s", "code": "7"})
    one.channel.error.untaken = True
    with pytest.raises(SignInUnknown, match="start again"):
        await one.nodes.finish_sign_in({"state": "n2~s", "code": "7"})
