"""The files of other programs on a real disk: read once, written whole, under locks."""

import asyncio
import fcntl
import os
import struct
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from mcpyard.domain.errors import DocumentMoved, FileBusy, StorageFull
from mcpyard.domain.files import FileLock, FileText, FileWrite, LockKind
from mcpyard.sources import client_files
from mcpyard.sources.client_files import DiskClientFiles
from mcpyard.sources.locking import STALE_AFTER

SHORT = 0.1


def files(folder: Path, timeout: float = SHORT) -> DiskClientFiles:
    return DiskClientFiles(folder / "locks", timeout=timeout)


async def one(disk: DiskClientFiles, path: Path, *, fresh: bool = False) -> FileText:
    return (await disk.read([str(path)], fresh=fresh))[str(path)]


async def test_a_file_is_read_to_the_last_byte(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"\xef\xbb\xbf{}\r\n")
    path.chmod(0o640)
    content = await one(files(tmp_path), path)
    assert content.text == "\ufeff{}\r\n"
    assert (content.fault, content.mode, content.tracked) == (None, 0o640, False)


@pytest.mark.parametrize("path", ["none", "file/below"])
async def test_a_file_that_is_not_there_has_no_text_and_no_fault(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").write_text("")
    assert await one(files(tmp_path), tmp_path / path) == FileText(str(tmp_path / path))


async def test_what_is_no_text_file_has_a_fault_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "bytes").write_bytes(b"ok\n\xff")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    disk = files(tmp_path)
    faults = {}
    for name in ("folder", "bytes", "pipe", "loop", "no\0path"):
        fault = (await one(disk, tmp_path / name)).fault
        assert fault is not None
        assert fault.place is not None
        faults[name] = fault.message, fault.place.line
    assert faults == {
        "folder": ("is a folder, not a file", 0),
        "bytes": ("is not UTF-8", 2),
        "pipe": ("is something else, not a file", 0),
        "loop": ("cannot be read: Too many levels of symbolic links", 0),
        "no\0path": ("is no path", 1),
    }


async def test_a_file_that_is_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_files, "LARGEST", 3)
    (tmp_path / "large").write_text("four")
    fault = (await one(files(tmp_path), tmp_path / "large")).fault
    assert fault is not None
    assert fault.message == "is larger than 3 bytes"


async def test_a_file_that_stays_is_read_once_and_one_that_changes_anew(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("one")
    disk = files(tmp_path)
    first = await one(disk, path)
    assert await one(disk, path) is first
    assert await one(disk, path, fresh=True) is not first
    path.write_text("other")
    assert (await one(disk, path)).text == "other"
    path.unlink()
    assert (await one(disk, path)).text is None


async def test_a_text_that_is_not_there_after_it_was_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_text("one")
    write = client_files.edit_file

    def overtaken(*arguments: Any) -> None:  # noqa: ANN401  as it is called
        write(*arguments)
        path.write_text("three")

    monkeypatch.setattr(client_files, "edit_file", overtaken)
    with pytest.raises(DocumentMoved, match="by another program right after the edit"):
        await files(tmp_path).write(FileWrite(str(path), "one", "two"))


async def test_git_is_asked_by_its_index(tmp_path: Path) -> None:
    inner = tmp_path / "sub"
    inner.mkdir()
    for name in (".mcp.json", "x.mcp.json"):
        (inner / name).write_text("{}")
    entry = b"sub/.mcp.json"
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "index").write_bytes(
        b"DIRC" + struct.pack(">H", len(entry)) + entry + b"\0"
    )
    disk = files(tmp_path)
    assert (await one(disk, inner / ".mcp.json")).tracked
    assert not (await one(disk, inner / "x.mcp.json")).tracked


async def test_a_work_tree_of_git_has_its_index_elsewhere(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a").write_text("")
    (tree / ".git").write_text("gitdir: ../real\n")
    assert not (await one(files(tmp_path), tree / "a")).tracked
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "index").write_bytes(b"\0\1a\0")
    assert (await one(files(tmp_path), tree / "a")).tracked


async def test_a_link_stays_a_link_and_mode_and_bytes_stay_those_of_its_target(
    tmp_path: Path,
) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old\r\n")
    target.chmod(0o604)
    link.symlink_to(target)
    await files(tmp_path).write(FileWrite(str(link), "old\r\n", "\ufeffnew\r\n"))
    assert link.is_symlink()
    assert target.read_bytes() == b"\xef\xbb\xbfnew\r\n"
    assert target.stat().st_mode & 0o777 == 0o604


async def test_a_new_file_is_private_and_can_be_removed_again(tmp_path: Path) -> None:
    path = tmp_path / "some" / "folder" / "a"
    change = FileWrite(str(path), None, "{}\n")
    disk = files(tmp_path)
    await disk.write(change)
    assert path.stat().st_mode & 0o777 == 0o600
    await disk.write(change.back)
    assert not path.exists()


@pytest.mark.parametrize("after", ["mine", None])
async def test_what_somebody_else_wrote_is_not_written_over(
    tmp_path: Path, after: str | None
) -> None:
    path = tmp_path / "a"
    path.write_text("theirs")
    with pytest.raises(DocumentMoved):
        await files(tmp_path).write(FileWrite(str(path), "as I saw it", after))
    assert path.read_text() == "theirs"
    assert [each.name for each in tmp_path.iterdir()] == ["a"]


async def test_a_folder_that_cannot_be_made_is_told_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageFull):
        await files(tmp_path).write(FileWrite(str(tmp_path / "file" / "a"), None, "x"))
    with pytest.raises(StorageFull):
        async with DiskClientFiles(tmp_path / "file" / "locks").locked(["a"], []):
            pass


async def test_two_who_write_the_same_file_take_turns(tmp_path: Path) -> None:
    one_yard, other = files(tmp_path, 5), files(tmp_path, 5)
    order: list[str] = []
    first_in, second_tries = asyncio.Event(), asyncio.Event()

    async def first() -> None:
        async with one_yard.locked(["/x"], []):
            order.append("first in")
            first_in.set()
            await second_tries.wait()
            order.append("first out")

    async def second() -> None:
        await first_in.wait()
        second_tries.set()
        async with other.locked(["/x"], []):
            order.append("second in")

    await asyncio.gather(first(), second())
    assert order == ["first in", "first out", "second in"]


async def test_whoever_holds_a_file_too_long_is_told_of(tmp_path: Path) -> None:
    async with files(tmp_path).locked(["/x"], []):
        with pytest.raises(FileBusy, match="another mcpyard is writing /x"):
            async with files(tmp_path).locked(["/x"], []):
                pass
        async with files(tmp_path).locked(["/y"], []):
            pass


async def test_a_programs_folder_is_made_and_taken_away_again(tmp_path: Path) -> None:
    lock = FileLock(LockKind.FOLDER, str(tmp_path / "a.lock"))
    async with files(tmp_path).locked([], [lock]):
        assert Path(lock.path).is_dir()
    assert not Path(lock.path).exists()


async def test_a_programs_folder_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    path.mkdir()
    lock = FileLock(LockKind.FOLDER, str(path))
    with pytest.raises(FileBusy, match=r"a\.lock is locked"):
        async with files(tmp_path).locked([], [lock]):
            pass
    assert path.exists()
    letting_go = threading.Timer(0.05, path.rmdir)
    letting_go.start()
    async with files(tmp_path, 5).locked([], [lock]):
        letting_go.join()
    assert not path.exists()


async def test_a_folder_that_was_left_behind_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    path.mkdir()
    long_ago = time.time() - STALE_AFTER - 1
    os.utime(path, (long_ago, long_ago))
    async with files(tmp_path).locked([], [FileLock(LockKind.FOLDER, str(path))]):
        assert time.time() - path.stat().st_mtime < STALE_AFTER
    assert not path.exists()


async def test_a_programs_file_is_locked_and_otherwise_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    path.write_text("theirs")
    before = path.stat()
    lock = FileLock(LockKind.FILE, str(path))
    with path.open() as theirs:
        async with files(tmp_path).locked([], [lock]):
            with pytest.raises(BlockingIOError):
                fcntl.flock(theirs, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(theirs, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with pytest.raises(FileBusy, match=r"a\.lock is locked"):
            async with files(tmp_path).locked([], [lock]):
                pass
    after = path.stat()
    assert (path.read_text(), after.st_ino, after.st_mtime_ns) == (
        "theirs",
        before.st_ino,
        before.st_mtime_ns,
    )


@pytest.mark.parametrize("kind", LockKind)
async def test_a_program_that_was_never_run_needs_no_lock(tmp_path: Path, kind: LockKind) -> None:
    async with files(tmp_path).locked([], [FileLock(kind, str(tmp_path / "none" / "a.lock"))]):
        assert not (tmp_path / "none").exists()
    async with files(tmp_path).locked([], [FileLock(LockKind.FILE, str(tmp_path / "a.lock"))]):
        assert not (tmp_path / "a.lock").exists()
