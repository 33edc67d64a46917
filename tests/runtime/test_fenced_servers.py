"""Servers of a cluster start under their fence, and singletons run for as long as a lease only."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.definition.launch import LocalLaunch
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import Problem
from mcpyard.runtime.causes import LEASE_EXPIRED
from mcpyard.runtime.clock import SystemClock
from mcpyard.runtime.open_server import LiveServer
from mcpyard.runtime.opening import WireOpener
from mcpyard.runtime.processes.keeper_client import KeeperClient
from mcpyard.runtime.processes.table import read_file
from mcpyard.runtime.server_api import OpenFailed
from mcpyard.runtime.signins import SignInManager, VolatileCredentials
from mcpyard.runtime.stderr import StderrRing
from mcpyard.store.memory import VolatileMemory
from mcpyard.wire.eras import ClientFace
from tests.runtime.small_yard import KEY, boottime
from tests.runtime.watched import server

pytestmark = pytest.mark.real

ECHO = Path(__file__).parents[1] / "faults" / "echo.py"


class Events:
    """Notes why a server was lost."""

    def __init__(self) -> None:
        self.ring = StderrRing(SystemClock())
        self.causes: asyncio.Queue[Cause] = asyncio.Queue()

    def lost(self, cause: Cause) -> None:
        self.causes.put_nowait(cause)

    def on_list_changed(self, kind: str) -> None: ...
    def on_notification(self, method: str, params: bytes) -> None: ...
    def on_warning(self, problem: Problem) -> None: ...


class Node:
    """An opener with a keeper of its own."""

    def __init__(self) -> None:
        self.keeper = KeeperClient(uuid4().hex, key=KEY)
        sign_ins = SignInManager(VolatileCredentials())
        face = ClientFace("test", "1")
        self.opener = WireOpener(self.keeper, VolatileMemory(), os.environ, face, sign_ins)
        self.events = Events()

    async def open(self, desired: DesiredServer) -> LiveServer:
        return await self.opener.open(desired, self.events)


@asynccontextmanager
async def a_node() -> AsyncGenerator[Node]:
    node = Node()
    try:
        yield node
    finally:
        await node.opener.close()


def echo(*, singleton: bool) -> DesiredServer:
    launch = LocalLaunch((sys.executable, "-I", "-S", str(ECHO)), {}, None, ())
    return server(launch=replace(launch, singleton=singleton))


def fence_of(live: LiveServer) -> bytes | None:
    begin = b"MCPYARD_FENCE="
    variables = read_file(f"/proc/{live.pid}/environ").split(b"\0")
    return next((each.removeprefix(begin) for each in variables if each.startswith(begin)), None)


async def test_a_server_of_a_cluster_knows_its_fence_and_outlives_the_lease() -> None:
    async with a_node() as node:
        node.opener.fence = lambda _server: 7
        live = await node.open(echo(singleton=False))
        assert fence_of(live) == b"7"
        node.keeper.until(0)
        await live.ping(5)
        await live.close()


async def test_a_singleton_is_lost_with_the_lease_and_is_not_started_without_one() -> None:
    async with a_node() as node:
        node.opener.fence = lambda _server: 7
        with pytest.raises(OpenFailed) as refusal:
            await node.open(echo(singleton=True))
        assert refusal.value.cause == LEASE_EXPIRED
        node.keeper.until(boottime() + 60)
        live = await node.open(echo(singleton=True))
        assert fence_of(live) == b"7"
        node.keeper.until(0)
        assert (await node.events.causes.get()).code is Code.LEASE_EXPIRED
        await live.kill(None)


async def test_what_no_node_shares_has_no_fence() -> None:
    async with a_node() as node:
        live = await node.open(echo(singleton=True))
        assert fence_of(live) is None
        node.keeper.until(0)
        await live.ping(5)
        await live.close()


async def test_a_server_of_another_node_is_not_started() -> None:
    def elsewhere(_server: UUID) -> int:
        raise OpenFailed(LEASE_EXPIRED)

    async with a_node() as node:
        node.opener.fence = elsewhere
        with pytest.raises(OpenFailed):
            await node.open(echo(singleton=False))
        assert node.keeper.pid is None
