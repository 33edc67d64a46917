import subprocess
import sys
from pathlib import Path

import pytest

from mcpyard.domain.errors import StateBroken, StorageFull, YardBusy
from mcpyard.store.home import Home

HOLDER = """
import sys
from pathlib import Path
from mcpyard.store.home import Home
home = Home(Path(sys.argv[1]))
home.take()
home.announce("http://127.0.0.1:1")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_home_is_held_by_one_yard_at_a_time(tmp_path: Path) -> None:
    one, two = Home(tmp_path / "h"), Home(tmp_path / "h")
    assert one.running() is None
    one.take()
    running = two.running()
    assert running is not None
    one.announce("http://127.0.0.1:8712")
    with pytest.raises(YardBusy, match=rf"pid {running.pid} at http://127.0.0.1:8712"):
        two.take()
    one.release()
    assert two.running() is None
    two.take()
    two.release()
    two.release()


@pytest.mark.real
def test_a_killed_yard_keeps_nobody_out(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        running = Home(tmp_path).running()
        assert running is not None
        assert (running.pid, running.url) == (holder.pid, "http://127.0.0.1:1")
        holder.kill()
    home = Home(tmp_path)
    assert home.running() is None
    home.take()
    home.release()


def test_a_yard_that_cannot_say_that_it_runs_keeps_nobody_out(tmp_path: Path) -> None:
    (tmp_path / "yard.json").mkdir()
    home = Home(tmp_path)
    with pytest.raises((OSError, StorageFull)):
        home.take()
    (tmp_path / "yard.json").rmdir()
    another = Home(tmp_path)
    another.take()
    another.release()


def test_the_folder_and_its_files_are_the_owners_alone(tmp_path: Path) -> None:
    home = Home(tmp_path / "h")
    home.take()
    home.token()
    assert home.folder.stat().st_mode & 0o777 == 0o700
    assert {each.stat().st_mode & 0o777 for each in home.folder.iterdir()} == {0o600}
    home.release()


@pytest.mark.parametrize("content", [b"\x00\xff\xfe", b"two\nlines", "schlüssel".encode()])
def test_a_file_that_holds_no_token_is_named(tmp_path: Path, content: bytes) -> None:
    home = Home(tmp_path)
    home.token()
    (tmp_path / "token").write_bytes(content)
    with pytest.raises(StateBroken, match="token does not contain a token") as caught:
        home.token()
    assert str(tmp_path / "token") in caught.value.message
    (tmp_path / "token").unlink()
    (tmp_path / "token").mkdir()
    with pytest.raises(StateBroken, match="cannot be read"):
        home.token()


def test_the_token_stays_and_can_be_fixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MCPYARD_TOKEN", raising=False)
    token = Home(tmp_path / "h").token()
    assert len(token) >= 43
    assert Home(tmp_path / "h").token() == token
    monkeypatch.setenv("MCPYARD_TOKEN", "mine")
    assert Home(tmp_path / "h").token() == "mine"


def test_a_home_whose_yard_said_nothing_readable_is_still_held(tmp_path: Path) -> None:
    one = Home(tmp_path)
    one.take()
    (tmp_path / "yard.json").write_text("?")
    assert Home(tmp_path).running() is None
    with pytest.raises(YardBusy, match="another mcpyard process is using"):
        Home(tmp_path).take()
    one.release()
