import os
import subprocess
import sys
from pathlib import Path

import pytest

from mcpyard.store.atomic_files import write_private
from mcpyard.store.home import Home

KILLED = """
import os, sys
from pathlib import Path
from mcpyard.store.atomic_files import write_private
Path.replace = lambda *_: os._exit(9)
write_private(Path(sys.argv[1]), b"half a secret")
"""


def kill_on_the_way(path: Path) -> Path:
    """Let a process die between writing and renaming; what it leaves."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False, timeout=30)
    assert done.returncode == 9
    (left,) = (each for each in path.parent.iterdir() if each != path)
    return left


def age(path: Path) -> None:
    """Let a file be of an hour ago."""
    then = path.stat().st_mtime - 3600
    os.utime(path, (then, then))


@pytest.mark.real
def test_what_a_killed_write_left_is_removed_by_the_next_one_of_that_file(tmp_path: Path) -> None:
    path = tmp_path / "token [1]"
    left = kill_on_the_way(path)
    write_private(path, b"one")
    assert left.exists(), "its writer may still be at it"
    age(left)
    write_private(tmp_path / "other", b"two")
    assert left.exists(), "it is no business of another file"
    write_private(path, b"three")
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {
        "token [1]": b"three",
        "other": b"two",
    }


@pytest.mark.real
def test_whoever_takes_a_home_removes_what_killed_writes_left(tmp_path: Path) -> None:
    left, mine = kill_on_the_way(tmp_path / "key"), tmp_path / ".hidden"
    mine.write_text("mine")
    for each in (left, mine):
        age(each)
    home = Home(tmp_path)
    home.take()
    home.release()
    assert {each.name for each in tmp_path.iterdir()} == {".hidden", "yard.lock"}
