"""What servers use, noted for the charts."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

import pytest
from msgspec.structs import replace

from mcpyard.domain.call_history import CallCount, CallPoint, Span, UsageSample
from mcpyard.domain.desired import Document, Owner
from mcpyard.domain.model import Scope
from mcpyard.domain.observed import Figures
from mcpyard.testing import (
    FakeEditableSource,
    FakeServers,
    ManualClock,
    VolatileMemory,
    VolatilePolicies,
)
from mcpyard.yard import usage_sampling
from mcpyard.yard.charts import ChartRange, Charts
from mcpyard.yard.usage_sampling import UsageSampler, sampling
from mcpyard.yard.yard import Ports, YardCore
from tests.yard.begun import begun


class Working(FakeServers):
    """Servers that use more time with each look."""

    used = 0.0

    def figures(self, server: UUID) -> Figures | None:
        before = super().figures(server)
        return before and replace(before, cpu_seconds=self.used)


class FakeHistory:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.samples: list[UsageSample] = []
        self.noted = asyncio.Event()

    async def counts(self, span: Span, server: UUID | None = None) -> Sequence[CallCount]:
        del server
        return [CallCount(span.since, "ok", 5, 2)]

    async def points(
        self, span: Span, server: UUID | None = None, most: int = 2000
    ) -> tuple[Sequence[CallPoint], int]:
        del server, most
        return [CallPoint(span.since, 1.0, "ok")], 1

    async def last_calls(self) -> dict[UUID, int]:
        return {}

    def note_usage(self, samples: Sequence[UsageSample]) -> None:
        self.samples += samples
        self.noted.set()

    async def usage(self, span: Span, server: UUID) -> Sequence[UsageSample]:
        return [UsageSample(span.until - span.step, server, 1, 2.04)]


def a_yard(servers: FakeServers, history: FakeHistory | None) -> YardCore:
    source = FakeEditableSource(Document(Owner(Scope.USER)))
    ports = Ports([source], VolatileMemory(), VolatilePolicies(), servers, ManualClock(), {}.get)
    return YardCore(replace(ports, history=history))


async def test_servers_that_run_are_sampled_and_others_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    servers, history = Working(), FakeHistory()
    monkeypatch.setattr(usage_sampling, "_LEAST", 10.0)
    async with begun(a_yard(servers, history)) as yard:
        await yard.register({"name": "idle", "command": "run"})
        running = await yard.register({"name": "up", "command": "run", "start": True})
        await yard.settled("up")
        sampler = UsageSampler(yard, history)
        for used in (4.0, 5.0, 1.0):
            servers.used = used
            await sampler.sample()
    assert {str(each.server) for each in history.samples} == {running.id}
    assert [each.cpu for each in history.samples] == [0.0, 10.0, 0.0]


async def test_sampling_goes_on_after_a_failure_and_ends_with_its_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(usage_sampling, "EVERY", 0.0)
    servers, history = Working(), FakeHistory()
    async with begun(a_yard(servers, history)) as yard:
        await yard.register({"name": "up", "command": "run", "start": True})
        await yard.settled("up")
        pictures, failures = yard.pictures, iter([OSError("the process table is gone")])

        def failing_once() -> object:
            for failure in failures:
                raise failure
            return pictures()

        monkeypatch.setattr(yard, "pictures", failing_once)
        async with sampling(yard, history):
            await history.noted.wait()
        assert not [each for each in asyncio.all_tasks() if each.get_name() == "usage"]
        async with sampling(yard, None):
            pass


async def test_charts_are_empty_without_a_history_and_full_with_one() -> None:
    now, server = 1_000_000.0, UUID(int=1)
    empty = Charts(a_yard(FakeServers(), None))
    chart = await empty.calls(ChartRange.HOUR, now)
    assert (chart.total, chart.points, chart.overall) == (0, None, {"p50": None, "p95": None})
    assert set((await empty.usage(ChartRange.HOUR, now, server)).rss) == {None}
    charts = Charts(a_yard(FakeServers(), FakeHistory()))
    assert (await charts.calls(ChartRange.WEEK, now)).total == 2
    assert (await charts.usage(ChartRange.WEEK, now, server)).cpu[-1] == 2.0
