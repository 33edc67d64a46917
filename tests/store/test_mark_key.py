import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from mcpyard.store.home import Home
from mcpyard.store.mark_key import home_mark_key, user_folder, user_mark_key


def replace_by_link(path: Path) -> None:
    aside = path.rename(path.with_name("aside"))
    path.symlink_to(aside)


UNUSABLE: dict[str, Callable[[Path], object]] = {
    "readable by others": lambda path: path.chmod(0o644),
    "writable by others": lambda path: path.chmod(0o620),
    "cut short": lambda path: path.write_bytes(b"short"),
    "a link": replace_by_link,
}


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return user_folder()


@pytest.mark.spec("F2.7")
def test_a_home_keeps_one_key_that_its_owner_alone_can_read(tmp_path: Path) -> None:
    key = home_mark_key(tmp_path)
    assert home_mark_key(tmp_path) == key
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    other = tmp_path / "other"
    other.mkdir()
    assert home_mark_key(other) != key


@pytest.mark.spec("F2.7")
@pytest.mark.parametrize("how", UNUSABLE)
def test_a_key_of_a_home_that_others_may_know_is_replaced(tmp_path: Path, how: str) -> None:
    key = home_mark_key(tmp_path)
    UNUSABLE[how](tmp_path / "mark.key")
    assert home_mark_key(tmp_path) != key
    assert home_mark_key(tmp_path) == home_mark_key(tmp_path)


@pytest.mark.spec("F2.7")
def test_yards_without_a_home_share_one_key_of_their_user(temporary: Path) -> None:
    key = user_mark_key()
    assert user_mark_key() == key
    assert temporary.stat().st_mode & 0o777 == 0o700
    assert [each.name for each in temporary.iterdir()] == ["mark.key"]


@pytest.mark.spec("F2.7")
@pytest.mark.parametrize("how", ["readable by others", "a link"])
def test_a_folder_that_others_may_write_to_has_no_key(temporary: Path, how: str) -> None:
    key = user_mark_key()
    UNUSABLE[how](temporary)
    keys = [user_mark_key() for _ in range(2)]
    assert len({key, *keys}) == 3, "each process has one of its own then"


@pytest.mark.spec("F2.7")
def test_where_no_key_can_be_kept_each_process_has_its_own(temporary: Path) -> None:
    temporary.write_text("in the way")
    assert user_mark_key() != user_mark_key()


@pytest.mark.spec("F2.7")
def test_a_home_tells_which_yard_held_it_and_never_released_it(tmp_path: Path) -> None:
    killed = Home(tmp_path)
    killed.take()
    (tmp_path / "yard.lock").unlink()
    successor = Home(tmp_path)
    successor.take()
    assert successor.predecessor
    assert successor.predecessor.pid == os.getpid()
    successor.release()
    third = Home(tmp_path)
    third.take()
    assert third.predecessor is None
    third.release()
    killed.release()
