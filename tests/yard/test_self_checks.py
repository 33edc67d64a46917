"""Checks of mcpyard itself: what they tell, how often they run, and one that hangs."""

import asyncio

import pytest

from mcpyard.domain.degradation import Degradation, SelfCheck
from mcpyard.domain.errors import StorageFull
from mcpyard.yard.self_checks import SelfChecks, reconciler_check

BROKEN = Degradation("journal", "broken", "repair it")


async def test_what_does_not_work_is_told_and_what_works_is_not() -> None:
    async def fine() -> None:
        """Nothing is wrong."""

    async def broken() -> Degradation:
        return BROKEN

    async def full() -> None:
        raise StorageFull("the disk is full")

    checks = [SelfCheck("keeper", fine), SelfCheck("journal", broken), SelfCheck("storage", full)]
    assert await SelfChecks(checks).degradations() == [
        BROKEN,
        Degradation("storage", "the disk is full", "Free some disk space, then try again."),
    ]


async def test_many_who_ask_at_once_share_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcpyard.yard.self_checks._FRESH", 1000.0)
    runs = 0

    async def counted() -> None:
        nonlocal runs
        runs += 1
        await asyncio.sleep(0)

    checks = SelfChecks([SelfCheck("storage", counted)])
    await asyncio.gather(*(checks.degradations() for _ in range(50)))
    await checks.degradations()
    assert runs == 1


async def test_a_check_that_hangs_is_told_and_not_begun_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcpyard.yard.self_checks._WAIT", 0.01)
    monkeypatch.setattr("mcpyard.yard.self_checks._FRESH", 0.0)
    monkeypatch.setattr("mcpyard.yard.self_checks._TIMEOUT", 1000.0)
    released, runs = asyncio.Event(), 0

    async def hanging() -> None:
        nonlocal runs
        runs += 1
        await released.wait()

    checks = SelfChecks([SelfCheck("storage", hanging)])
    assert await checks.degradations() == [], "it may only be slow"
    monkeypatch.setattr("mcpyard.yard.self_checks._TIMEOUT", 0.0)
    for _ in range(3):
        (degradation,) = await checks.degradations()
        assert degradation.component == "storage"
        assert degradation.detail.startswith("no response for ")
    assert runs == 1
    released.set()
    monkeypatch.setattr("mcpyard.yard.self_checks._WAIT", 20.0)
    assert await checks.degradations() == []


async def test_a_reconciler_that_ended_is_told() -> None:
    assert await reconciler_check(lambda: None).run() is None
    task = asyncio.create_task(asyncio.sleep(0))
    assert await reconciler_check(lambda: task).run() is None
    await task
    ended = await reconciler_check(lambda: task).run()
    assert ended
    assert (ended.component, ended.hint) == ("reconciler", "Check the log, and restart mcpyard.")
