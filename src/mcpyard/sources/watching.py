"""Telling that a file may have changed, whatever was done to it or to the folders around it.

The system tells of changes in the folders that are watched, at once. It says nothing when such a
folder is another one by now (made anew, moved away, reached through a link that turned), nor of
what other machines do to a shared disk. So once a second the file is looked at from outside as
well, and the watch begins anew where it looks at the wrong folders.
"""

import asyncio
import logging
import os
import threading
from collections.abc import AsyncGenerator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from pathlib import Path
from typing import Final, NoReturn

from msgspec import Struct

# The asynchronous function of the library does the same by anyio, which takes long to load.
from watchfiles._rust_notify import RustNotify

LOOK_EVERY: Final = 1.0
"""Seconds between looks from outside."""

_STEP_MS: Final = 20
_DEBOUNCE_MS: Final = 60
_POLL_MS: Final = 300
_DELETED: Final = 3
"""What the watcher tells of a file or folder that is gone: `watchfiles.Change.deleted`."""

_NO_NOTICE: Final = "microsoft-standard" in os.uname().release.lower()
"""A Linux within Windows is not told of changes that Windows makes."""

# As the watcher's library words what the system refused.
_OUT_OF_WATCHES: Final = ("Too many open files", "file watch limit reached")
_MORE_WATCHES: Final = (
    "the system has no inotify watches left"
    " (raise fs.inotify.max_user_instances and fs.inotify.max_user_watches)"
)

_Identity = tuple[int, ...]

log = logging.getLogger(__name__)


class Sight(Struct, frozen=True):
    """A file as it looks from outside.

    Attributes:
        fingerprint: Differs after nearly every write of the file.
        folders: The folders to watch for it, each with what tells it from another in its place.
        names: What the file is called in them.
    """

    fingerprint: _Identity
    folders: tuple[tuple[str, _Identity], ...]
    names: frozenset[str]


def see(path: Path) -> Sight:
    """Look at a file, which may be a link, from outside."""
    real = Path(os.path.realpath(path))
    seen = {_folder(real.parent): real.parent, _folder(path.parent): path.parent}
    # Where a link leads nowhere there may be no folder to watch; its own is always one.
    folders = [
        (str(folder), identity)
        for identity, folder in seen.items()
        if folder == path.parent or len(identity) > 1
    ]
    return Sight(_fingerprint(path), tuple(folders), frozenset({path.name, real.name}))


async def keep_watch(path: Path, sight: Sight, changed: Callable[[], None]) -> NoReturn:
    """Tell whenever a file may have changed; ends by being cancelled.

    Args:
        path: The file.
        sight: How it looked before it was read; what is different from that is told.
        changed: Is called within moments where the folder can be watched, else within a second.
    """
    reported = False
    while True:
        try:
            sight = await _watch_folders(path, sight, changed)
            reported = False
        except (OSError, RuntimeError, UnicodeError) as error:
            # The folder may be made yet, and the system may have watches to spare later;
            # one whose name is not UTF-8 cannot be told to the watcher at all.
            if not reported:
                message = f"cannot watch {path}, checking it every second: {_reason(error)}"
                # A name that is no text must not break whoever writes the log down.
                log.warning("%s", message.encode(errors="backslashreplace").decode())
            reported = True
            await asyncio.sleep(LOOK_EVERY)
            sight = await _compare(path, sight, changed)


def _reason(error: Exception) -> str:
    """Why a folder cannot be watched, and what to do where the system has no watches left."""
    if any(words in str(error) for words in _OUT_OF_WATCHES):
        return _MORE_WATCHES
    return str(error) or type(error).__name__


async def _watch_folders(path: Path, sight: Sight, changed: Callable[[], None]) -> Sight:
    """Watch as long as the folders stay the same ones; the sight that ended it."""
    watched = {folder for folder, _ in sight.folders}
    news = _changes([*watched])
    async with aclosing(news):
        async for changes in news:
            before = sight
            sight = await _compare(path, before, changed, [each for _, each in changes])
            # A folder that is made anew may get the number of the old one.
            gone = any(kind == _DELETED and each in watched for kind, each in changes)
            if gone or sight.folders != before.folders:
                break
    return sight


async def _changes(folders: list[str]) -> AsyncGenerator[set[tuple[int, str]]]:
    """What changed in folders, each time something did; nothing after a while without changes."""
    watcher = RustNotify(
        folders,
        debug=False,
        force_polling=_NO_NOTICE,
        poll_delay_ms=_POLL_MS,
        recursive=False,
        ignore_permission_denied=False,
    )
    timeout, stop = int(LOOK_EVERY * 1000), threading.Event()
    # A thread of its own, since it waits there all the time.
    thread = ThreadPoolExecutor(1, thread_name_prefix="watch")
    loop = asyncio.get_running_loop()
    try:
        while True:
            changes = await loop.run_in_executor(
                thread, watcher.watch, _DEBOUNCE_MS, _STEP_MS, timeout, stop
            )
            yield set() if isinstance(changes, str) else changes
    finally:
        stop.set()
        thread.shutdown(wait=False)


async def _compare(
    path: Path, before: Sight, changed: Callable[[], None], written: Iterable[str] = ()
) -> Sight:
    # Looked at first and told then: a write in between shows at the next look.
    now = await asyncio.to_thread(see, path)
    # Two writes within one tick of the disk's clock look the same from outside.
    if now.fingerprint != before.fingerprint or any(
        Path(each).name in before.names for each in written
    ):
        changed()
    return now


def _fingerprint(path: Path) -> _Identity:
    try:
        stat = path.stat()
    except OSError as error:
        return (error.errno or 0,)
    times = stat.st_mtime_ns, stat.st_ctime_ns
    return (stat.st_dev, stat.st_ino, stat.st_size, *times)


def _folder(path: Path) -> _Identity:
    try:
        stat = path.stat()
    except OSError as error:
        return (error.errno or 0,)
    return stat.st_dev, stat.st_ino
