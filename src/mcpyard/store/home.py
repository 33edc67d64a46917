"""The home of a yard: the folder that holds all its state, and the lock that makes it one yard's.

The lock is the operating system's: it ends with the process that holds it, however that ends, so a
stale file can never keep anybody out.
"""

import contextlib
import fcntl
import json
import os
import re
import secrets
from collections.abc import Generator
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict, fields

from mcpyard.domain.errors import NotWritable, StateBroken, YardBusy
from mcpyard.domain.write_errors import unwritten
from mcpyard.store.atomic_files import sweep, write_private

_TOKEN_BYTES: Final = 32
_TOKEN_TEXT: Final = re.compile(rb"[!-~]*")
_REPLACE: Final = "Delete the file; mcpyard makes a new token when it is started."
NO_HOME_DIRECTORY: Final = "HOME is not set, and this user has no home directory"
_SET_HOME: Final = "set HOME, or choose a folder for the state with --home or MCPYARD_HOME"
_ELSEWHERE: Final = (
    "mcpyard stores its state there; choose another folder with --home or MCPYARD_HOME."
)


class Running(Struct, frozen=True):
    """The yard that holds a home; `url` is empty until it listens.

    `started` is when its process began, in the system's ticks: with the pid it names this process
    and no later one. `certificate` is the file of its TLS certificate, where it has one. A
    `substitute` was started by `mcpyard stdio`, and ends when another yard wants the home.
    """

    pid: int
    url: str = ""
    started: int = 0
    certificate: str = ""
    substitute: bool = False


_RUNNING: Final = frozenset(each.name for each in fields(Running))


def default_home() -> Path:
    """Where state lives when nobody says: MCPYARD_HOME, else the user's data folder.

    Raises:
        NotWritable: The user has no home directory.
    """
    variable = os.environ.get("MCPYARD_HOME")
    folder = Path(variable) if variable else usual_home()
    if folder is None:
        raise NotWritable(NO_HOME_DIRECTORY).advising(_SET_HOME)
    return folder


def usual_home() -> Path | None:
    """Where state lives when not even the environment says; None without a home directory."""
    from platformdirs import user_data_path  # noqa: PLC0415  most callers name their home

    try:
        return user_data_path("mcpyard")
    except RuntimeError:
        return None


def user_directory() -> Path | None:
    """The user's home directory: HOME, or what the system knows; None where neither says."""
    try:
        return Path.home()
    except RuntimeError:
        return None


class Home:
    """A yard's folder. Reading needs no lock; only the yard that took it may write.

    Attributes:
        predecessor: The yard that held the home before and did not release it, having been killed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.predecessor: Running | None = None
        self._lock = folder / "yard.lock"
        self._running = folder / "yard.json"
        self._token = folder / "token"
        self._descriptor: int | None = None

    def take(self) -> None:
        """Make this process the home's yard.

        Raises:
            YardBusy: Another process is; the message names its pid and address.
            StorageFull: Nothing can be kept there.
        """
        with self._writing():
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise YardBusy(self._who()) from None
        try:
            sweep(self.folder)
            self.predecessor = self._read_running()
            self.announce("")
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def announce(self, url: str, certificate: str = "", *, substitute: bool = False) -> None:
        """Say where this yard listens, and how to know that it is this one."""
        started = _started(os.getpid()) or 0
        running = asdict(Running(os.getpid(), url, started, certificate, substitute))
        # Bridges that were started before an update do not read a member they do not know.
        if not substitute:
            del running["substitute"]
        # It is true of a process that does not survive the loss of power either.
        write_private(self._running, json.dumps(running).encode(), durable=False)

    def release(self) -> None:
        """Let another yard take the home."""
        if self._descriptor is not None:
            # A home that was replaced underneath is another yard's by now.
            if (running := self._read_running()) and running.pid == os.getpid():
                self._running.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None

    def running(self) -> Running | None:
        """The yard that holds the home now, if one does.

        Known by what it announced, not by trying its lock: a look must not be in anybody's way.
        """
        running = self._read_running()
        return running if running and _started(running.pid) == running.started else None

    def token(self) -> str:
        """The admin token, made at the first sight; MCPYARD_TOKEN fixes it.

        Raises:
            StateBroken: The file does not contain a token.
        """
        if fixed := os.environ.get("MCPYARD_TOKEN"):
            return fixed
        try:
            token = self._token.read_bytes().strip()
        except FileNotFoundError:
            token = b""
        except OSError as error:
            raise StateBroken(f"{self._token} cannot be read: {error.strerror}") from error
        if not _TOKEN_TEXT.fullmatch(token):
            message = f"{self._token} does not contain a token: it must be one line of ASCII text"
            raise StateBroken(message).advising(_REPLACE)
        return token.decode() or self.renew_token()

    @property
    def token_is_fixed(self) -> bool:
        """Whether the environment says what the admin token is."""
        return bool(os.environ.get("MCPYARD_TOKEN"))

    def renew_token(self) -> str:
        """Put a new admin token in place of the one there is, if there is one."""
        with self._writing():
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        write_private(self._token, token.encode())
        return token

    @contextlib.contextmanager
    def _writing(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            message = f"{error.filename or self.folder} cannot be written: {error.strerror}"
            raise unwritten(message, error).advising(_ELSEWHERE) from error

    def _read_running(self) -> Running | None:
        try:
            record = json.loads(self._running.read_bytes())
            return Running(**{name: record[name] for name in _RUNNING & record.keys()})
        except (OSError, ValueError, TypeError, AttributeError):
            return None

    def _who(self) -> str:
        running = self._read_running()
        if running is None:
            return f"another mcpyard process is using {self.folder}"
        where = f" at {running.url}" if running.url else ""
        return f"another mcpyard process (pid {running.pid}{where}) is using {self.folder}"


def _started(pid: int) -> int | None:
    """When a process began; 0 where the system does not say, None when there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None if Path("/proc/self").exists() else _alive(pid)
    # The name in parentheses may hold anything; the fields behind it are plain.
    state, *numbers = stat.rsplit(b")", 1)[1].split()
    return None if state == b"Z" else int(numbers[18])


def _alive(pid: int) -> int | None:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        return 0
    return 0
