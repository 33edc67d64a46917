import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from errno import ENOTSUP
from pathlib import Path

import pytest

from mcpyard.domain.errors import DocumentBroken, DocumentMoved, ReadOnlyOwner, StorageFull
from mcpyard.domain.remedies import remedy
from mcpyard.sources import writing
from mcpyard.sources.reading import LARGEST, read_file
from mcpyard.sources.swapping import exchange
from mcpyard.sources.writing import edit_file, remove_file, text_digest


def litter(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir() if each.name.startswith(".f.")]


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"\xef\xbb\xbfone\r\n")
    edit_file(path, lambda text: text.replace("one", "two"))
    assert path.read_bytes() == b"\xef\xbb\xbftwo\r\n"
    assert [each.name for each in tmp_path.iterdir()] == ["f"]


def test_a_file_beyond_all_measure_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(OSError, match="Larger than"):
        read_file(path)
    os.truncate(path, LARGEST)
    assert len(read_file(path)) == LARGEST


def test_an_edit_that_changes_nothing_does_not_touch_the_file(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("same")
    before = path.stat()
    edit_file(path, lambda text: text)
    assert path.stat().st_ino == before.st_ino


def test_a_new_file_is_the_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "f"
    edit_file(path, lambda text: f"[{text}]")
    assert path.read_text() == "[]"
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_mode_stays(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("x")
    path.chmod(0o640)
    edit_file(path, lambda _: "y")
    assert path.stat().st_mode & 0o7777 == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_owner_stays(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("x")
    os.chown(path, 12345, 23456)
    edit_file(path, lambda _: "y")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


def noted(path: Path) -> None:
    """Write a file with an extended attribute, where the disk has such."""
    path.write_text("x")
    if sys.platform != "linux":
        pytest.skip("only here they are kept")
    try:
        os.setxattr(path, "user.note", b"mine")
    except OSError:
        pytest.skip("the disk has no extended attributes")


def test_extended_attributes_stay(tmp_path: Path) -> None:
    path = tmp_path / "f"
    noted(path)
    edit_file(path, lambda _: "y")
    assert path.read_text() == "y"
    assert os.getxattr(path, "user.note") == b"mine"


def test_attributes_that_cannot_be_kept_do_not_keep_the_text_from_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"
    noted(path)

    def refuse(*_: object) -> None:
        raise PermissionError(1, "no")

    monkeypatch.setattr(os, "setxattr", refuse)
    edit_file(path, lambda _: "y")
    assert (path.read_text(), litter(tmp_path)) == ("y", [])


def test_a_file_that_is_protected_from_writing_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("x")
    path.chmod(0o444)
    with pytest.raises(ReadOnlyOwner, match=r"f is write-protected \(mode 0444\)") as caught:
        edit_file(path, lambda _: "y")
    assert remedy(caught.value).endswith(f"chmod u+w {path}")
    with pytest.raises(ReadOnlyOwner):
        remove_file(path, text_digest(b"x"))
    assert (path.read_text(), litter(tmp_path)) == ("x", [])
    edit_file(path, lambda text: text)


def test_a_link_that_leads_to_itself_is_told(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.symlink_to(other)
    other.symlink_to(one)
    with pytest.raises(DocumentBroken, match=r"/(one|other): cannot be read: Too many levels"):
        edit_file(one, lambda _: "y")
    with pytest.raises(DocumentBroken, match=r"/(one|other): cannot be read: Too many levels"):
        remove_file(one, text_digest(None))


def test_a_link_stays_a_link_and_its_target_changes(tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "real"
    target.parent.mkdir()
    target.write_text("x")
    link = tmp_path / "f"
    link.symlink_to(target)
    edit_file(link, lambda _: "y")
    assert link.is_symlink()
    assert target.read_text() == "y"


def test_an_edit_of_a_text_that_is_not_there_any_more_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("now")
    with pytest.raises(DocumentMoved):
        edit_file(path, lambda _: "mine", expected=text_digest(b"then"))
    assert path.read_text() == "now"
    edit_file(path, lambda _: "mine", expected=text_digest(b"now"))
    assert path.read_text() == "mine"


def test_what_somebody_wrote_meanwhile_is_edited_too(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("a")
    others = iter(["b"])

    def edit(text: str) -> str:
        for other in others:
            path.write_text(other)
        return text + "!"

    edit_file(path, edit)
    assert path.read_text() == "b!"


def at_the_last_look(
    monkeypatch: pytest.MonkeyPatch, path: Path, act: Callable[[], object]
) -> None:
    """Do something once, between the last look at a file and the step that replaces it."""
    looks, read = iter([False, True]), writing.read_file

    def then(target: Path) -> bytes:
        try:
            return read(target)
        finally:
            if target == path and next(looks, False):
                act()

    monkeypatch.setattr(writing, "read_file", then)


def replaced_by(path: Path, text: str) -> None:
    """Write as programs do that write beside a file, and rename."""
    beside = path.with_name("theirs")
    beside.write_text(text)
    beside.replace(path)


@pytest.mark.parametrize("write", [Path.write_text, replaced_by])
def test_what_somebody_wrote_after_the_last_look_is_edited_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path, str], object]
) -> None:
    path = tmp_path / "f"
    path.write_text("a")
    at_the_last_look(monkeypatch, path, lambda: write(path, "b"))
    edit_file(path, lambda text: text + "!")
    assert path.read_text() == "b!"
    assert litter(tmp_path) == []


def test_a_text_that_was_replaced_after_the_last_look_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"
    path.write_text("a")
    at_the_last_look(monkeypatch, path, lambda: replaced_by(path, "b"))
    with pytest.raises(DocumentMoved):
        edit_file(path, lambda _: "mine", expected=text_digest(b"a"))
    assert path.read_text() == "b"
    assert litter(tmp_path) == []


def test_a_file_that_somebody_made_after_the_last_look_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"
    at_the_last_look(monkeypatch, path, lambda: path.write_text("b"))
    edit_file(path, lambda text: text + "!")
    assert path.read_text() == "b!"
    assert litter(tmp_path) == []


def test_a_file_that_somebody_wrote_after_the_last_look_is_not_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, read = tmp_path / "f", writing.read_file
    path.write_text("a")

    def then(target: Path) -> bytes:
        try:
            return read(target)
        finally:
            if target == path:
                replaced_by(path, "b")

    monkeypatch.setattr(writing, "read_file", then)
    with pytest.raises(DocumentMoved):
        remove_file(path, text_digest(b"a"))
    assert path.read_text() == "b"
    assert litter(tmp_path) == []


def test_of_those_who_write_while_a_text_is_put_back_the_last_one_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, exchange = tmp_path / "f", writing.exchange
    path.write_text("a")
    others = iter(["b", "c"])

    def late(first: Path, second: Path) -> bool:
        for other in itertools.islice(others, 1):
            replaced_by(path, other)
        return exchange(first, second)

    monkeypatch.setattr(writing, "exchange", late)
    with pytest.raises(DocumentMoved):
        edit_file(path, lambda _: "mine", expected=text_digest(b"a"))
    assert path.read_text() == "c"
    assert litter(tmp_path) == []


def test_a_disk_that_exchanges_no_files_and_has_no_links_is_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"

    def without(_: Path, __: Path) -> None:
        raise OSError(ENOTSUP, "no links")

    monkeypatch.setattr(writing, "exchange", lambda _, __: False)
    monkeypatch.setattr(Path, "hardlink_to", without)
    for text in ("new", "changed"):
        edit_file(path, lambda _, text=text: text)
        assert path.read_text() == text
    assert litter(tmp_path) == []


def test_files_that_cannot_be_exchanged_are_told(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a")
    with pytest.raises(FileNotFoundError):
        exchange(tmp_path / "f", tmp_path / "missing")


def test_a_file_that_never_rests_is_given_up_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("0")

    def edit(text: str) -> str:
        path.write_text(str(int(text) + 1))
        return "mine"

    with pytest.raises(DocumentMoved):
        edit_file(path, edit)
    assert path.read_text() == "3"
    assert litter(tmp_path) == []


def test_an_edit_that_fails_leaves_everything_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("x")

    def edit(_: str) -> str:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        edit_file(path, edit)
    assert (path.read_text(), litter(tmp_path)) == ("x", [])


def test_what_is_no_text_is_not_edited(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"a\nb\xff")
    with pytest.raises(DocumentBroken, match=r"f:2:1: is not UTF-8"):
        edit_file(path, lambda text: text)


def test_a_folder_in_the_files_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    with pytest.raises(DocumentBroken, match="cannot be read: Is a directory"):
        edit_file(tmp_path / "f", lambda text: text)


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from mcpyard.domain.errors import StorageFull
from mcpyard.sources.swapping import exchange
from mcpyard.sources.writing import edit_file
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    edit_file(Path(sys.argv[1]), lambda text: "y" * 5000)
except StorageFull as error:
    print(error)
"""


@pytest.mark.real
def test_what_a_killed_write_left_is_swept_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a[1].json"
    stale, fresh, theirs = (
        tmp_path / f".{path.name}.{end}" for end in ("x.mcpyard", "y.mcpyard", "bak")
    )
    for each in (stale, fresh, theirs):
        each.write_text("half")
    for each in (stale, theirs):
        os.utime(each, (1, 1))
    edit_file(path, lambda _: "x")
    assert {*tmp_path.iterdir()} == {path, fresh, theirs}


def test_a_disk_without_room_leaves_the_old_text_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True
    )
    assert "cannot be written" in done.stdout
    assert (path.read_text(), litter(tmp_path)) == ("old", [])


def test_a_folder_that_cannot_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageFull, match="cannot be written"):
        edit_file(tmp_path / "file" / "f", lambda _: "x")
