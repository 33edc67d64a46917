"""A yard ends its servers, whatever its other parts do."""

import asyncio

import pytest

from mcpyard.domain.desired import Definition, Document, Owner
from mcpyard.domain.model import LocalConfig, Scope
from mcpyard.testing import (
    FakeServers,
    FakeSource,
    ManualClock,
    VolatileMemory,
    VolatilePolicies,
)
from mcpyard.yard import yard as yard_module
from mcpyard.yard.closing import bounded
from mcpyard.yard.yard import Ports, YardCore


class FailingSource(FakeSource):
    """A source that cannot be closed."""

    async def close(self) -> None:
        raise OSError("no")


class StubbornSource(FakeSource):
    """A source that takes no notice of being cancelled."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.asked = asyncio.Event()
        self.released = asyncio.Event()

    async def close(self) -> None:
        self.asked.set()
        await stubborn(self.released)


async def stubborn(released: asyncio.Event) -> None:
    while not released.is_set():
        try:
            await released.wait()
        except asyncio.CancelledError:
            continue


def document() -> Document:
    config = LocalConfig(command=["x"])
    return Document(Owner(Scope.PROJECT, "p/.mcp.json"), (Definition("fs", config),))


async def begun(source: FakeSource) -> tuple[YardCore, FakeServers]:
    servers = FakeServers()
    ports = Ports(
        sources=[source],
        memory=VolatileMemory(),
        policies=VolatilePolicies(),
        servers=servers,
        clock=ManualClock(),
        lookup={}.get,
    )
    yard = YardCore(ports)
    await yard.begin()
    return yard, servers


async def test_a_source_that_cannot_be_closed_keeps_no_server_alive() -> None:
    yard, servers = await begun(FailingSource(document()))
    events = yard.events()
    with pytest.raises(OSError, match="no"):
        await yard.close()
    assert servers.closed
    assert [each async for each in events] == []


async def test_a_source_that_hangs_keeps_no_server_alive(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(yard_module, "STEP_TIMEOUT", 0.01)
    source = StubbornSource(document())
    yard, servers = await begun(source)
    await yard.close()
    assert servers.closed
    assert "Reconciler.close does not stop and is abandoned" in caplog.text
    source.released.set()


async def test_a_yard_whose_closing_is_cancelled_ends_its_servers_all_the_same() -> None:
    source = StubbornSource(document())
    yard, servers = await begun(source)
    closing = asyncio.create_task(yard.close())
    await source.asked.wait()
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert servers.closed
    source.released.set()


async def test_what_a_bounded_step_raises_is_raised() -> None:
    async def fails() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await bounded(fails(), 5)
