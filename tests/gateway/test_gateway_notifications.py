"""How notifications come from a server to the gateway."""

import asyncio
import sys
from pathlib import Path
from uuid import UUID

import pytest

import mcpyard
from mcpyard.app import open_yard
from mcpyard.gateway.change_notifications import ChangeNotifier
from mcpyard.gateway.exposures import Exposure
from mcpyard.gateway.selection import ROOT, Selections
from mcpyard.yard.notifications import Notifications
from tests.gateway.talking import odd_server

pytestmark = pytest.mark.real

OURS = Path(mcpyard.__file__).parent
MOST = 4


class Listener:
    """A client of the gateway that notes through which functions it was called."""

    def __init__(self) -> None:
        self.path = ROOT
        self.frames: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
        self.lists: asyncio.Queue[str] = asyncio.Queue()

    def changed(self, kind: str) -> None:
        self.lists.put_nowait(kind)

    def shown(self, exposure: Exposure, notifications: Notifications) -> None:
        """It watches nothing."""

    def updated(self, server: UUID, uri: str) -> None:
        del server, uri
        self.frames.set_result(frames_of_ours())

    def logged(self, message: bytes) -> None:
        """No server logs."""


def frames_of_ours() -> list[str]:
    """The functions of the product that the event loop went through to the present one."""
    names: list[str] = []
    frame = sys._getframe(1)
    while frame is not None and Path(frame.f_code.co_filename).parent.name != "asyncio":
        if OURS in Path(frame.f_code.co_filename).parents:
            names.append(frame.f_code.co_qualname)
        frame = frame.f_back
    assert frame is not None, "the event loop called it"
    return names


async def test_a_notification_takes_at_most_four_calls_from_the_peer_to_the_listener() -> None:
    async with open_yard(servers={"old": odd_server()}) as yard:
        await yard.settled("old")
        changes, listener = ChangeNotifier(yard, Selections(yard)), Listener()
        changes.add(listener)
        await yard.call("mcp_old_touch", {})
        async with asyncio.timeout(10):
            frames = await listener.frames
        await changes.close()
    assert 0 < len(frames) <= MOST, frames


async def test_a_changed_list_is_listed_anew_before_the_listener_hears_of_it() -> None:
    async with open_yard(servers={"old": odd_server()}) as yard:
        await yard.settled("old")
        selections, listener = Selections(yard), Listener()
        changes = ChangeNotifier(yard, selections)
        changes.add(listener)
        await yard.call("mcp_old_vanish", {})
        async with asyncio.timeout(10):
            assert await listener.lists.get() == "tools"
        assert "odd" not in [tool.name for tool in yard.tools()]
        await changes.close()
