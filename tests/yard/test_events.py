import asyncio

import pytest

from mcpyard.yard.events import RESYNC, Event, EventBus, Subscription


async def take(reader: Subscription, count: int) -> list[Event]:
    events: list[Event] = []
    async with asyncio.timeout(2):
        async for event in reader:
            events.append(event)
            if len(events) == count:
                break
    return events


async def test_every_reader_hears_what_happens_after_it_came() -> None:
    bus = EventBus()
    bus.publish("status", {"name": "early"})
    one, two = bus.subscribe(), bus.subscribe()
    bus.publish("status", {"name": "a"})
    bus.publish("tools", {"name": "b"})
    for reader in (one, two):
        assert [(each.kind, each.data["name"]) for each in await take(reader, 2)] == [
            ("status", "a"),
            ("tools", "b"),
        ]


async def test_a_reader_that_waits_is_woken() -> None:
    bus = EventBus()
    waiting = asyncio.create_task(take(bus.subscribe(), 1))
    await asyncio.sleep(0)
    bus.publish("status", {})
    assert [each.kind for each in await waiting] == ["status"]


async def test_a_slow_reader_gets_one_resync_and_no_old_news() -> None:
    bus = EventBus(limit=3)
    slow = bus.subscribe()
    for number in range(10):
        bus.publish("status", {"number": number})
    bus.close()
    events = [event async for event in slow]
    assert RESYNC in {each.kind for each in events}
    after = events[[each.kind for each in events].index(RESYNC) + 1 :]
    assert [each.data["number"] for each in after] == [*range(10 - len(after), 10)]
    assert len(events) <= 3
    assert [each.id for each in events] == sorted(each.id for each in events)


@pytest.mark.parametrize(("events", "kinds"), [(3, ["status"] * 3), (4, [RESYNC])])
async def test_a_reader_may_fall_behind_by_its_queue_and_no_further(
    events: int, kinds: list[str]
) -> None:
    bus = EventBus(limit=3)
    slow = bus.subscribe()
    for _ in range(events):
        bus.publish("status", {})
    assert [each.kind for each in await slow.batch()] == kinds


async def test_a_reader_that_comes_back_goes_on_where_it_was() -> None:
    bus = EventBus()
    for number in range(5):
        bus.publish("status", {"number": number})
    again = bus.subscribe(after=3)
    assert [each.id for each in await take(again, 2)] == [4, 5]


async def test_one_that_was_away_too_long_or_comes_from_elsewhere_is_told_to_resync() -> None:
    bus = EventBus(history=2)
    for _ in range(5):
        bus.publish("status", {})
    for after in (2, 6):
        assert [each.kind for each in await take(bus.subscribe(after=after), 1)] == [RESYNC]
    assert [each.id for each in await take(bus.subscribe(after=3), 2)] == [4, 5]


async def test_a_fresh_bus_has_nothing_to_catch_up_on() -> None:
    bus = EventBus()
    reader = bus.subscribe(after=0)
    bus.publish("status", {})
    assert [each.id for each in await take(reader, 1)] == [1]


async def test_a_closed_bus_ends_its_readers() -> None:
    bus = EventBus()
    reader = bus.subscribe()
    bus.publish("status", {})
    bus.close()
    assert [each.kind async for each in reader] == ["status"]


async def test_a_reader_that_leaves_is_forgotten() -> None:
    bus = EventBus(limit=1)
    reader = bus.subscribe()
    bus.publish("status", {})
    await take(reader, 1)
    await asyncio.sleep(0)
    reader.finish()
    bus.publish("status", {})
    assert [event async for event in reader] == []


async def test_a_batch_is_all_that_waits_and_giving_up_the_wait_loses_nothing() -> None:
    bus = EventBus()
    reader = bus.subscribe()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await reader.batch()
    bus.publish("status", {})
    bus.publish("tools", {})
    assert [each.kind for each in await reader.batch()] == ["status", "tools"]
    bus.publish("removed", {})
    bus.close()
    assert [each.kind for each in await reader.batch()] == ["removed"]
    assert await reader.batch() == []
