"""Login sessions on a disk that refuses, or in a database that is away."""

from datetime import UTC, datetime, timedelta

import pytest

from mcpyard.domain.errors import StorageFull, StoreAway, YardError
from mcpyard.domain.stored import LoginSession
from mcpyard.store.lenient import LenientSessions
from mcpyard.store.volatile import VolatileSessions

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(minutes=10)
SESSION = LoginSession("cookie", "key", NOW, LATER)
LONGER = LoginSession("cookie", "key", NOW, LATER + timedelta(days=1))


class Disk(VolatileSessions):
    full = True
    refusal: type[YardError] = StorageFull

    async def add(self, session: LoginSession) -> None:
        self._room()
        await super().add(session)

    async def remove(self, cookie_hash: str) -> None:
        self._room()
        await super().remove(cookie_hash)

    async def add_link(self, link_hash: str, expires: datetime) -> None:
        self._room()
        await super().add_link(link_hash, expires)

    def _room(self) -> None:
        if self.full:
            raise self.refusal("no room")


@pytest.fixture(autouse=True, params=[StorageFull, StoreAway])
def refusal(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Disk, "refusal", request.param)


async def test_a_link_that_cannot_be_written_works_once_and_in_time() -> None:
    sessions = LenientSessions(Disk())
    await sessions.add_link("link", LATER)
    await sessions.add_link("late", LATER)
    assert await sessions.take_link("link", NOW)
    assert not await sessions.take_link("link", NOW)
    assert not await sessions.take_link("late", LATER)


async def test_a_link_on_the_disk_is_taken_from_there() -> None:
    disk = Disk()
    disk.full = False
    sessions = LenientSessions(disk)
    await sessions.add_link("link", LATER)
    assert await disk.take_link("link", NOW)
    assert not await sessions.take_link("link", NOW)


async def test_a_browser_that_cannot_be_written_is_in_and_goes_again() -> None:
    sessions = LenientSessions(Disk())
    await sessions.add(SESSION)
    assert sessions.get("cookie", NOW) == SESSION
    assert sessions.get("cookie", LATER) is None
    await sessions.remove("cookie")
    assert sessions.get("cookie", NOW) is None


async def test_a_browser_that_stays_longer_is_known_by_its_last_word() -> None:
    disk = Disk()
    sessions = LenientSessions(disk)
    disk.full = False
    await sessions.add(SESSION)
    disk.full = True
    await sessions.add(LONGER)
    assert sessions.get("cookie", NOW) == LONGER, "or it would be renewed with every request"
    assert sessions.get("cookie", LATER) == LONGER
    disk.full = False
    await sessions.add(SESSION)
    assert sessions.get("cookie", LATER) is None, "the disk has the last word again"


async def test_a_browser_that_the_disk_would_let_in_again_is_not_said_to_be_out() -> None:
    disk = Disk()
    sessions = LenientSessions(disk)
    disk.full = False
    await sessions.add(SESSION)
    disk.full = True
    with pytest.raises(Disk.refusal):
        await sessions.remove("cookie")
    disk.full = False
    await sessions.remove("cookie")
    assert sessions.get("cookie", NOW) is None
