"""`mcpyard up`: a yard in the foreground, with its faces."""

import asyncio
import contextlib
import gc
import logging
import os
import re
import resource
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvloop

from mcpyard.api.app import build
from mcpyard.api.audit import Audit
from mcpyard.api.http_server.idle_timer import Idle
from mcpyard.api.http_server.server import WebServer
from mcpyard.api.login import link_address
from mcpyard.api.security.authenticator import Principal
from mcpyard.api.security.keys import AdminKey, Keys
from mcpyard.api.tokens import TokenStore
from mcpyard.app import Yard
from mcpyard.cli.cli_errors import usage
from mcpyard.cli.commands.approve import find_project
from mcpyard.cli.commands.connect import bridge_command
from mcpyard.cli.commands.paths import AUDIT_FILE, LOG_FILE
from mcpyard.cli.daemon.listening import BindOptions, listen, url_of
from mcpyard.cli.daemon.logfile import LogFile, RedactingFormatter, Redactor
from mcpyard.cli.daemon.service_manager import ServiceManager
from mcpyard.cli.daemon.startup_wait import await_predecessor, make_home
from mcpyard.cli.daemon.up_output import Narrator, PlainNarrator, make_narrator
from mcpyard.cli.daemon.watchdog import Watchdog, stuck_limit
from mcpyard.cli.lines import STDERR, STDOUT, LogHandler
from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.gateway.app import Gateway
from mcpyard.runtime.clock import SystemClock
from mcpyard.runtime.processes.adoption import ADOPTION
from mcpyard.sources.project_file import ProjectFile
from mcpyard.store.home import Home
from mcpyard.web.app import pages
from mcpyard.web.context import PageContext
from mcpyard.yard.trust import ApprovalPolicy

log = logging.getLogger(__name__)

_HURRY_AGAIN: Final = 0.25
_COLLECT_AFTER: Final = (20_000, 5, 2)
"""Seldom, but all of it: what a connection leaves behind outlives the younger generations, and a
look at everything takes milliseconds since what was there at the start is left out."""
_DURATION: Final = re.compile(r"([1-9]\d{0,6})([smh]?)")
_TOLD_BY_THE_DISPLAY: Final = {
    "mcpyard.runtime.connection",
    "mcpyard.sources.environment",
    "mcpyard.sources.project_file",
}
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True, slots=True)
class UpOptions:
    """What `up` was asked for.

    Attributes:
        home: Where all state lives.
        entrance: Where to listen.
        project: The folder that was named.
        strict: Whether to skip entries that leave something out.
        trust_folder: Whether to follow every edit of the project's file without approval.
        as_json: Whether programs read the output.
        idle_exit: Seconds without a request after which to end; None for never.
        log_level: The least that the log file tells.
    """

    home: Path
    entrance: BindOptions
    project: Path | None = None
    strict: bool = False
    trust_folder: bool = False
    as_json: bool = False
    idle_exit: float | None = None
    log_level: str = "info"


def read_duration(option: str, text: str) -> float:
    """The seconds that a text such as 90, 90s, 10m or 1h means."""
    found = _DURATION.fullmatch(text)
    if found is None:
        raise usage(f"{option}: a time is meant, such as 90s, 10m or 1h")
    return int(found[1]) * _UNITS[found[2]]


def run_yard(terms: UpOptions) -> int:
    """Run a yard until a signal ends it."""
    limit = stuck_limit()
    await_predecessor(terms.home)
    veil = Redactor()
    _configure_log(terms, veil)
    if not sys.platform.startswith("linux"):
        log.warning("on this system the clean-up of a killed yard's servers is best effort")
    _raise_file_limit()
    with listen(terms.entrance, terms.home) as listener:
        make_home(terms.home)
        ask = not terms.as_json and not terms.trust_folder
        found = None if terms.project else find_project(terms.home, ask=ask)
        # What is known of a project is kept under its folder's name, which must be a text for that.
        str(terms.project or found).encode()
        ADOPTION.begin()
        uvloop.run(_watched(terms, found, listener, veil, limit))
    return 0


async def _watched(
    terms: UpOptions,
    found: Path | None,
    listener: socket.socket,
    veil: Redactor,
    limit: float | None,
) -> None:
    manager = ServiceManager()
    with Watchdog(terms.home / LOG_FILE, limit, manager.alive):
        await _run(terms, found, listener, veil, manager)


class Signals:
    """The first signal asks for an end in order, each further one for haste."""

    def __init__(self) -> None:
        self.stop = asyncio.Event()
        self.hurry: Callable[[], None] = lambda: None
        self._loop = asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            # `nohup` has SIGHUP ignored, so that mcpyard goes on without its terminal.
            if each != signal.SIGHUP or signal.getsignal(each) != signal.SIG_IGN:
                self._loop.add_signal_handler(each, self._came)

    def _came(self) -> None:
        if self.stop.is_set():
            self._hurry_on()
        self.stop.set()

    def _hurry_on(self) -> None:
        # Python 3.11 can lose a cancellation that meets the end of a wait, so one is not enough.
        self.hurry()
        self._loop.call_later(_HURRY_AGAIN, self._hurry_on)


async def _run(
    terms: UpOptions,
    found: Path | None,
    listener: socket.socket,
    veil: Redactor,
    manager: ServiceManager,
) -> None:
    signals, closing = Signals(), asyncio.Event()
    url = url_of(listener, terms.entrance)
    async with _open(terms, found, _here(terms, url)) as yard:
        home, gateway = Home(terms.home), Gateway(yard, closing)
        keys = _keys(home, yard)
        keys.dismissals.listen(gateway.dismiss)
        yard.clients.revoked = lambda token: keys.dismissals.tell(Principal.holding(token).name)
        veil.own, veil.desired = frozenset({home.token()}), lambda: yard.desired
        app = build(
            yard,
            keys=keys,
            hosts=terms.entrance.hosts,
            closing=closing,
            audit=Audit(home.folder / AUDIT_FILE),
            pages=pages(yard, closing, _premises(terms, keys)),
            gateway=gateway,
        )
        if terms.idle_exit is not None:
            app = Idle(app, terms.idle_exit, signals.stop.set)
        web = WebServer(app, terms.entrance.tls)
        signals.hurry = _both(yard.hurry, web.hurry)
        serving = asyncio.create_task(web.serve([listener]), name="web server")
        try:
            await _reached(web.ready, serving)
            home.announce(url, str(terms.entrance.tls.certificate) if terms.entrance.tls else "")
            narrator, chronicle = make_narrator(as_json=terms.as_json), PlainNarrator(_LogWriter())
            narrator.ready(url, await _sign_in(terms, keys, url))
            chronicle.ready(url)
            manager.ready()
            _spare_the_collector()
            telling = asyncio.create_task(_tell(yard, narrator, chronicle), name="narrator")
            await _reached(signals.stop, serving)
        finally:
            manager.stopping()
            # Requests in flight end together with the servers they wait for.
            closing.set()
            web.stop()
    await serving
    await telling


def _spare_the_collector() -> None:
    """Look for garbage less often: what calls leave behind is freed without, in waves of many."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


def _open(
    terms: UpOptions, found: Path | None, here: SelfIdentity
) -> AbstractAsyncContextManager[Yard]:
    folder = terms.project or found
    sources = [ProjectFile(folder, strict=terms.strict)] if folder else []
    return Yard.open(sources=sources, home=terms.home, approval=_approval(terms, found), here=here)


def _approval(terms: UpOptions, found: Path | None) -> ApprovalPolicy:
    if terms.trust_folder:
        return ApprovalPolicy()
    named = frozenset({terms.project} if terms.project else ())
    return ApprovalPolicy(named, frozenset({found} if found else ()))


def _here(terms: UpOptions, url: str) -> SelfIdentity:
    homes = {str(terms.home.absolute()), str(terms.home.resolve())}
    scheme, port = url.split(":", 1)[0], url.rsplit(":", 1)[1]
    named = {
        f"{scheme}://{f'[{each}]' if ':' in each else each}:{port}" for each in terms.entrance.hosts
    }
    return SelfIdentity(frozenset(homes), frozenset({url, *named}))


def _keys(home: Home, yard: Yard) -> Keys:
    renew = None if home.token_is_fixed else home.renew_token
    admin = AdminKey(home.token(), renew)
    return Keys(admin, yard.kept.call_tokens, yard.kept.sessions, SystemClock())


def _premises(terms: UpOptions, keys: Keys) -> PageContext:
    bridge = tuple(bridge_command(terms.home))
    return PageContext(str(terms.home.absolute()), bridge, TokenStore(keys))


async def _sign_in(terms: UpOptions, keys: Keys, url: str) -> str:
    """An address that lets a browser in, for a person's eyes: what is no terminal may be kept."""
    if terms.as_json or not os.isatty(STDOUT):
        return ""
    return link_address(url, await keys.make_link())


async def _tell(yard: Yard, *narrators: Narrator) -> None:
    async for event in yard.events(after=0):
        for each in narrators:
            each.event(event)
    for each in narrators:
        each.close()


class _LogWriter:
    """What a narrator tells, as records of the log."""

    def put(self, line: bytes) -> None:
        log.info("%s", line.decode().rstrip("\n"))

    def close(self) -> None:
        log.info("ended")


async def _reached(event: asyncio.Event, serving: asyncio.Task[None]) -> None:
    """Wait for an event, but not beyond the end of the web server."""
    waiting = asyncio.create_task(event.wait())
    await asyncio.wait({waiting, serving}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if serving.done():
        await serving


def _both(one: Callable[[], None], other: Callable[[], None]) -> Callable[[], None]:
    def hurry() -> None:
        one()
        other()

    return hurry


def _configure_log(terms: UpOptions, veil: Redactor) -> None:
    shown, kept = LogHandler(STDERR), LogFile(terms.home, veil)
    shown.setLevel(logging.WARNING)
    shown.setFormatter(RedactingFormatter("%(levelname)s %(message)s", veil))
    # What other libraries tell of themselves is seldom of use, and some of them tell a lot.
    logging.basicConfig(level=logging.WARNING, handlers=[shown, kept])
    logging.getLogger("mcpyard").setLevel(terms.log_level.upper())
    if not terms.as_json and (os.isatty(STDERR) or _same_place(STDOUT, STDERR)):
        shown.addFilter(lambda record: record.name not in _TOLD_BY_THE_DISPLAY)


def _same_place(one: int, other: int) -> bool:
    """Whether both end in the same terminal, file or pipe; one that is closed ends nowhere."""
    with contextlib.suppress(OSError):
        return os.path.sameopenfile(one, other)
    return False


def _raise_file_limit() -> None:
    """A yard of hundreds of servers needs more files than a shell allows by default."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
