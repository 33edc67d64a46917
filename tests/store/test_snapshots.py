"""Backups of the state, the way back to one, and a home whose state is gone."""

import asyncio
import os
import shutil
import sqlite3
import time
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from mcpyard.domain.errors import NewerState, StateBroken, StorageFull
from mcpyard.store.sqlite.peeking import examine_state, peek_definitions
from mcpyard.store.sqlite.snapshots import DAYS, Snapshots, examine
from mcpyard.store.sqlite.store import Store
from mcpyard.store.sqlite.used_marker import MARKER
from mcpyard.store.upkeep import Upkeep
from tests.store.contract import NOW, added, opened

TODAY = f"state-{NOW:%Y-%m-%d}.db"


async def stored(home: Path, *names: str) -> None:
    async with opened(lambda: Store.open(home)) as store:
        for name in names:
            await added(store, name, {})


def names_in(home: Path) -> list[str]:
    return sorted(each.name for each in peek_definitions(home).definitions)


async def test_a_backup_holds_what_the_state_holds_while_others_write_it(tmp_path: Path) -> None:
    async with opened(lambda: Store.open(tmp_path)) as store:
        await added(store, "one", {})
        snapshots = Snapshots(tmp_path)
        assert snapshots.take(NOW)
        await added(store, "two", {})
        (snapshot,) = snapshots.all()
        assert snapshot.path == tmp_path / "backups" / TODAY
        assert examine(snapshot.path) == 1
        assert snapshot.path.stat().st_mode & 0o777 == 0o600
        assert snapshot.path.parent.stat().st_mode & 0o777 == 0o700
        assert [*snapshot.path.parent.iterdir()] == [snapshot.path]


async def test_one_of_today_is_replaced_when_the_state_changed_and_only_then(
    tmp_path: Path,
) -> None:
    snapshots = Snapshots(tmp_path)
    await stored(tmp_path, "one")
    assert snapshots.take(NOW)
    assert not snapshots.take(NOW)
    assert not snapshots.take(NOW + timedelta(days=1))
    await stored(tmp_path, "two")
    assert snapshots.take(NOW)
    assert [examine(each.path) for each in snapshots.all()] == [2]


async def test_the_last_days_are_kept_newest_first(tmp_path: Path) -> None:
    snapshots = Snapshots(tmp_path)
    for day in range(DAYS + 2):
        await stored(tmp_path, f"server{day}")
        assert snapshots.take(NOW + timedelta(days=day))
    (tmp_path / "backups" / "of-mine.db").touch()
    assert [examine(each.path) for each in snapshots.all()] == [7, 6, 5, 4, 3]
    assert (tmp_path / "backups" / "of-mine.db").exists()


async def test_backups_go_on_after_a_clock_that_was_years_ahead(tmp_path: Path) -> None:
    snapshots = Snapshots(tmp_path)
    for day in range(DAYS):
        await stored(tmp_path, f"early{day}")
        assert snapshots.take(NOW + timedelta(days=1000 + day))
    years_ahead = time.time() + timedelta(days=1000).total_seconds()
    for each in snapshots.all():
        os.utime(each.path, (years_ahead, years_ahead))
    for day in range(DAYS + 1):
        await stored(tmp_path, f"late{day}")
        assert snapshots.take(NOW + timedelta(days=day))
        assert not snapshots.take(NOW + timedelta(days=day))
    assert [examine(each.path) for each in snapshots.all()] == [5, 4, 3, 2, 1, 11, 10, 9, 8, 7]


async def test_a_backup_of_later_today_keeps_no_other_from_being_taken(tmp_path: Path) -> None:
    snapshots = Snapshots(tmp_path)
    await stored(tmp_path, "one")
    assert snapshots.take(NOW)
    hours_ahead = time.time() + timedelta(hours=5).total_seconds()
    os.utime(snapshots.all()[0].path, (hours_ahead, hours_ahead))
    assert snapshots.take(NOW)
    assert not snapshots.take(NOW)


async def test_a_backup_is_put_in_place_and_the_replaced_state_stays_beside_it(
    tmp_path: Path,
) -> None:
    snapshots = Snapshots(tmp_path)
    await stored(tmp_path, "old")
    snapshots.take(NOW)
    await stored(tmp_path, "new")
    source = snapshots.find(f"{NOW:%Y-%m-%d}")
    assert source == snapshots.find(TODAY) == snapshots.find(str(source))
    assert source
    aside = snapshots.restore(source, NOW)
    assert names_in(tmp_path) == ["old"]
    assert aside
    assert examine(aside) == 2
    assert (tmp_path / "state.db").stat().st_mode & 0o777 == 0o600
    await stored(tmp_path, "more")
    assert names_in(tmp_path) == ["more", "old"]
    assert examine(source) == 1


async def test_what_a_killed_yard_wrote_last_is_neither_lost_nor_played_into_a_backup(
    tmp_path: Path,
) -> None:
    killed, snapshots = tmp_path / "killed", Snapshots(tmp_path / "killed")
    await stored(tmp_path / "live", "one")
    store = await Store.open(tmp_path / "live")
    await added(store, "last", {})
    # A copy of the files, with the log that nobody has played in.
    shutil.copytree(tmp_path / "live", killed)
    await store.close()
    assert (killed / "state.db-wal").stat().st_size
    source = tmp_path / "source.db"
    await stored(tmp_path / "other")
    Snapshots(tmp_path / "other").take(NOW)
    shutil.copy(tmp_path / "other" / "backups" / TODAY, source)
    aside = snapshots.restore(source, NOW)
    assert names_in(killed) == []
    assert aside
    assert examine(aside) == 2
    assert snapshots.restore(aside, NOW + timedelta(seconds=1))
    assert names_in(killed) == ["last", "one"]


async def test_a_file_that_cannot_be_used_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    snapshots = Snapshots(tmp_path)
    await stored(tmp_path, "one", *(f"server{number}" for number in range(200)))
    snapshots.take(NOW)
    good = (tmp_path / "backups" / TODAY).read_bytes()
    before = (tmp_path / "state.db").read_bytes()
    bad = tmp_path / "bad.db"
    page = 4096
    for content in (b"", b"garbage" * 1000, good[: len(good) // 2], _overwritten(good, page)):
        bad.write_bytes(content)
        with pytest.raises(StateBroken):
            snapshots.restore(bad, NOW)
    bad.write_bytes(good)
    with closing(sqlite3.connect(bad)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(NewerState):
        snapshots.restore(bad, NOW)
    assert (tmp_path / "state.db").read_bytes() == before
    assert not [*tmp_path.glob("state.db.replaced*")]
    assert snapshots.find("2020-01-01") is None


def _overwritten(content: bytes, page: int) -> bytes:
    """The same with everything behind the first page overwritten."""
    return content[:page] + b"\xff" * (len(content) - page)


async def test_a_backup_that_fails_is_told_and_leaves_the_earlier_ones(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = await Store.open(tmp_path)
    upkeep = Upkeep(store, lambda: NOW)
    await upkeep.take_snapshot()
    assert upkeep.fault is None
    await added(store, "one", {})
    folder = tmp_path / "backups"
    folder.rename(tmp_path / "aside")
    folder.touch()
    await upkeep.take_snapshot()
    assert isinstance(upkeep.fault, StorageFull)
    assert "no backup" in caplog.text
    folder.unlink()
    (tmp_path / "aside").rename(folder)
    await upkeep.take_snapshot()
    assert upkeep.fault is None
    assert [examine(each.path) for each in Snapshots(tmp_path).all()] == [1]
    await store.close()
    (tmp_path / "state.db").unlink()
    with pytest.raises(StateBroken):
        Snapshots(tmp_path).take(NOW)
    await upkeep.take_snapshot()
    assert upkeep.fault is None, "a state that is gone has a check of its own"


async def test_the_first_backup_leaves_disk_and_processor_to_the_servers_that_start(
    tmp_path: Path,
) -> None:
    backups_at_each_pause: list[int] = []

    async def pause(seconds: float) -> None:
        assert seconds > 0
        backups_at_each_pause.append(len(Snapshots(tmp_path).all()))
        if len(backups_at_each_pause) == 2:
            raise asyncio.CancelledError

    store = await Store.open(tmp_path)
    with pytest.raises(asyncio.CancelledError):
        await Upkeep(store, lambda: NOW, pause).run()
    await store.close()
    assert backups_at_each_pause == [0, 1]


async def test_a_backup_that_failed_is_told_once_and_taken_as_soon_as_it_can_be(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder, pauses = tmp_path / "backups", list[float]()
    folder.touch()

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 4:
            folder.unlink()
        if len(pauses) == 5:
            raise asyncio.CancelledError

    store = await Store.open(tmp_path)
    upkeep = Upkeep(store, lambda: NOW, pause)
    with pytest.raises(asyncio.CancelledError):
        await upkeep.run()
    await store.close()
    assert (upkeep.fault, len(Snapshots(tmp_path).all())) == (None, 1)
    assert caplog.text.count("no backup") == 1
    assert max(pauses[1:4]) < pauses[4]


@pytest.mark.parametrize("how", ["missing", "empty"])
async def test_a_used_home_without_its_state_is_an_error_and_no_new_start(
    tmp_path: Path, how: str
) -> None:
    home, state = tmp_path / "home", tmp_path / "home" / "state.db"
    await stored(home, "one")
    Snapshots(home).take(NOW)
    state.unlink()
    if how == "empty":
        state.touch()
    for look in (peek_definitions, examine_state):
        with pytest.raises(StateBroken, match=f"is {how}, but this home was used before"):
            look(home)
    with pytest.raises(StateBroken, match=f"is {how}, but this home was used") as refused:
        await Store.open(home)
    assert "mcpyard restore" in refused.value.advice
    assert str(home / MARKER) in refused.value.advice
    assert state.exists() == (how == "empty")
    Snapshots(home).restore(home / "backups" / TODAY, NOW)
    assert names_in(home) == ["one"]
    await stored(home, "two")


async def test_without_the_marker_an_empty_home_is_a_new_one(tmp_path: Path) -> None:
    await stored(tmp_path, "one")
    (tmp_path / "state.db").unlink()
    (tmp_path / MARKER).unlink()
    assert names_in(tmp_path) == []
    await stored(tmp_path, "two")
    assert names_in(tmp_path) == ["two"]
    assert (tmp_path / MARKER).stat().st_mode & 0o777 == 0o600


async def test_a_state_whose_tables_are_only_in_its_log_is_not_empty(tmp_path: Path) -> None:
    live, killed = tmp_path / "live", tmp_path / "killed"
    store = await Store.open(live)
    shutil.copytree(live, killed)
    await store.close()
    await stored(killed, "one")
    assert names_in(killed) == ["one"]
    os.unlink(killed / "state.db")  # noqa: PTH108  the file, not the log
    with pytest.raises(StateBroken):
        await Store.open(killed)
