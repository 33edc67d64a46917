"""`mcpyard up`: mcpyard in the foreground: the servers, the gateway, the API and the web page."""

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
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import uvloop

from mcpyard.api.app import build
from mcpyard.api.audit import Audit
from mcpyard.api.http_server.idle_timer import Idle
from mcpyard.api.http_server.uvicorn_server import WebServer
from mcpyard.api.page_login import link_address
from mcpyard.api.security.keys import AdminKey, Keys
from mcpyard.api.tokens import TokenStore
from mcpyard.app import WiredYard, open_yard
from mcpyard.asgi_scope import Principal
from mcpyard.cli.browser import open_browser
from mcpyard.cli.cli_errors import usage
from mcpyard.cli.commands.approve import find_project
from mcpyard.cli.commands.connect import bridge_command
from mcpyard.cli.daemon.binding import BindOptions, listen, url_of
from mcpyard.cli.daemon.logfile import LogFile, RedactingFormatter, Redactor
from mcpyard.cli.daemon.service_manager import ServiceManager
from mcpyard.cli.daemon.startup_wait import await_predecessor, make_home
from mcpyard.cli.daemon.up_output import PlainOutput, UpOutput, make_output
from mcpyard.cli.daemon.watchdog import Watchdog, stuck_limit
from mcpyard.cli.home_files import AUDIT_FILE, LOG_FILE
from mcpyard.cli.lines import STDERR, STDOUT, LogHandler
from mcpyard.domain.callers import Limits, read_limits
from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.errors import InputError
from mcpyard.gateway.app import Gateway
from mcpyard.runtime.clock import SystemClock
from mcpyard.runtime.processes.adoption import ADOPTION
from mcpyard.runtime.processes.cgroups import make_room_for_limits
from mcpyard.sources.project_file import ProjectFile
from mcpyard.store.home import Home
from mcpyard.web.app import pages
from mcpyard.web.context import PageContext
from mcpyard.yard.trust import ApprovalPolicy

log = logging.getLogger(__name__)

_FORCE_AGAIN: Final = 0.25
_COLLECT_AFTER: Final = (20_000, 5, 2)
"""Rarely, but everything: what a connection leaves behind outlives the younger generations, and a
full collection takes milliseconds since it leaves out what existed at the start."""
_DURATION: Final = re.compile(r"([1-9]\d{0,6})([smh]?)")
_PRINTED_ANYWAY: Final = {
    "mcpyard.runtime.connection",
    "mcpyard.sources.environment",
    "mcpyard.sources.project_file",
}
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True, slots=True)
class UpOptions:
    """The options of `up`; `idle_exit` is in seconds, None for never."""

    home: Path
    bind: BindOptions
    project: Path | None = None
    strict: bool = False
    trust_folder: bool = False
    as_json: bool = False
    idle_exit: float | None = None
    log_level: str = "info"
    open_page: bool = False
    limits: Limits = Limits()  # noqa: RUF009  immutable


def read_duration(option: str, text: str) -> float:
    """The seconds of a duration such as 90, 90s, 10m or 1h."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise usage(f'{option}: "{text[:80]}" is not a duration', "for example: 90s, 10m or 1h")
    return int(match[1]) * _UNITS[match[2]]


def configured_limits() -> Limits:
    """The limits that the environment sets."""
    try:
        return read_limits(os.environ.get("MCPYARD_LIMITS", ""))
    except InputError as error:
        raise usage(f"MCPYARD_LIMITS: {error.message}") from None


def run_yard(options: UpOptions) -> int:
    """Run mcpyard until a signal ends it."""
    limit, limits = stuck_limit(), configured_limits()
    await_predecessor(options.home)
    redactor = Redactor()
    _configure_log(options, redactor)
    if not sys.platform.startswith("linux"):
        log.warning("on this system processes of servers may survive if mcpyard is killed")
    _raise_file_limit()
    with listen(options.bind, options.home) as listener:
        make_home(options.home)
        ask = not options.as_json and not options.trust_folder
        current = None if options.project else find_project(options.home, ask=ask)
        # Approvals are stored by the name of the folder, which must be valid text for that.
        str(options.project or current).encode()
        ADOPTION.begin()
        make_room_for_limits()
        uvloop.run(_watched(replace(options, limits=limits), current, listener, redactor, limit))
    return 0


async def _watched(
    options: UpOptions,
    current: Path | None,
    listener: socket.socket,
    redactor: Redactor,
    limit: float | None,
) -> None:
    manager = ServiceManager()
    with Watchdog(options.home / LOG_FILE, limit, manager.alive):
        await _run(options, current, listener, redactor, manager)


class Signals:
    """The first signal ends everything in order, each further one at once."""

    def __init__(self) -> None:
        self.stop = asyncio.Event()
        self.force_close: Callable[[], None] = lambda: None
        self._loop = asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            # `nohup` has SIGHUP ignored, so that mcpyard goes on without its terminal.
            if each != signal.SIGHUP or signal.getsignal(each) != signal.SIG_IGN:
                self._loop.add_signal_handler(each, self._came)

    def _came(self) -> None:
        if self.stop.is_set():
            self._force_close_again()
        self.stop.set()

    def _force_close_again(self) -> None:
        # Python 3.11 can lose a cancellation that meets the end of a wait, so one is not enough.
        self.force_close()
        self._loop.call_later(_FORCE_AGAIN, self._force_close_again)


async def _run(
    options: UpOptions,
    current: Path | None,
    listener: socket.socket,
    redactor: Redactor,
    manager: ServiceManager,
) -> None:
    signals, closing = Signals(), asyncio.Event()
    url = url_of(listener, options.bind)
    async with _open(options, current, _identity(options, url)) as yard:
        yard.calls.callers.limit(options.limits.quotas)
        home, gateway = Home(options.home), Gateway(yard, closing)
        keys = _keys(home, yard)
        keys.revocations.listen(gateway.dismiss)
        yard.clients.revoked = lambda token: keys.revocations.dispatch(
            Principal.holding(token).name
        )
        redactor.own, redactor.desired = frozenset({home.token()}), lambda: yard.desired
        app = build(
            yard,
            keys=keys,
            hosts=options.bind.hosts,
            closing=closing,
            audit=Audit(home.folder / AUDIT_FILE),
            pages=pages(yard, closing, _page_context(options, keys)),
            gateway=gateway,
        )
        if options.idle_exit is not None:
            app = Idle(app, options.idle_exit, signals.stop.set)
        web = WebServer(app, options.bind.tls, options.limits.connections)
        signals.force_close = _both(yard.force_close, web.force_close)
        serving = asyncio.create_task(web.serve([listener]), name="web server")
        try:
            await _reached(web.ready, serving)
            home.announce(url, str(options.bind.tls.certificate) if options.bind.tls else "")
            output, log_output = make_output(as_json=options.as_json), PlainOutput(_LogWriter())
            output.ready(url, await _sign_in(options, keys, url))
            log_output.ready(url)
            if options.open_page:
                _open_page(link_address(url, await keys.make_link()))
            manager.ready()
            _spare_the_collector()
            printing = asyncio.create_task(_print_events(yard, output, log_output), name="output")
            await _reached(signals.stop, serving)
        finally:
            manager.stopping()
            # Requests in flight end together with the servers they wait for.
            closing.set()
            web.stop()
    await serving
    await printing


def _spare_the_collector() -> None:
    """Collect garbage less often: what calls leave behind is mostly freed without it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


def _open(
    options: UpOptions, current: Path | None, identity: SelfIdentity
) -> AbstractAsyncContextManager[WiredYard]:
    folder = options.project or current
    sources = [ProjectFile(folder, strict=options.strict)] if folder else []
    return open_yard(
        sources=sources, home=options.home, approval=_approval(options, current), identity=identity
    )


def _approval(options: UpOptions, current: Path | None) -> ApprovalPolicy:
    if options.trust_folder:
        return ApprovalPolicy()
    named = frozenset({options.project} if options.project else ())
    return ApprovalPolicy(named, frozenset({current} if current else ()))


def _identity(options: UpOptions, url: str) -> SelfIdentity:
    homes = {str(options.home.absolute()), str(options.home.resolve())}
    scheme, port = url.split(":", 1)[0], url.rsplit(":", 1)[1]
    named = {
        f"{scheme}://{f'[{each}]' if ':' in each else each}:{port}" for each in options.bind.hosts
    }
    return SelfIdentity(frozenset(homes), frozenset({url, *named}))


def _keys(home: Home, yard: WiredYard) -> Keys:
    renew = None if home.token_is_fixed else home.renew_token
    admin = AdminKey(home.token(), renew)
    return Keys(admin, yard.storage.call_tokens, yard.storage.sessions, SystemClock())


def _page_context(options: UpOptions, keys: Keys) -> PageContext:
    bridge = tuple(bridge_command(options.home))
    return PageContext(str(options.home.absolute()), bridge, TokenStore(keys))


async def _sign_in(options: UpOptions, keys: Keys, url: str) -> str:
    """A one-time link to print; on a terminal only, since other output may be stored."""
    if options.as_json or not os.isatty(STDOUT):
        return ""
    return link_address(url, await keys.make_link())


def _open_page(link: str) -> None:
    """Open the web page; in a thread, since some browsers block their caller until they end."""

    def work() -> None:
        if not open_browser(link):
            log.warning("no browser found; get a link with: mcpyard open")

    threading.Thread(target=work, name="browser", daemon=True).start()


async def _print_events(yard: WiredYard, *outputs: UpOutput) -> None:
    async for event in yard.events(after=0):
        for each in outputs:
            each.event(event)
    for each in outputs:
        each.close()


class _LogWriter:
    """The lines of an output as records of the log."""

    def put(self, line: bytes) -> None:
        log.info("%s", line.decode().rstrip("\n"))

    def close(self) -> None:
        log.info("ended")


async def _reached(event: asyncio.Event, serving: asyncio.Task[None]) -> None:
    """Wait for an event, but not longer than the web server runs."""
    waiting = asyncio.create_task(event.wait())
    await asyncio.wait({waiting, serving}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if serving.done():
        await serving


def _both(one: Callable[[], None], other: Callable[[], None]) -> Callable[[], None]:
    def force_close() -> None:
        one()
        other()

    return force_close


def _configure_log(options: UpOptions, redactor: Redactor) -> None:
    console, log_file = LogHandler(STDERR), LogFile(options.home, redactor)
    console.setLevel(logging.WARNING)
    console.setFormatter(RedactingFormatter("%(levelname)s %(message)s", redactor))
    # Other libraries log a lot that is rarely useful.
    logging.basicConfig(level=logging.WARNING, handlers=[console, log_file])
    logging.getLogger("mcpyard").setLevel(options.log_level.upper())
    if not options.as_json and (os.isatty(STDERR) or _same_place(STDOUT, STDERR)):
        console.addFilter(lambda record: record.name not in _PRINTED_ANYWAY)


def _same_place(one: int, other: int) -> bool:
    """Whether both lead to the same terminal, file or pipe; a closed one leads nowhere."""
    with contextlib.suppress(OSError):
        return os.path.sameopenfile(one, other)
    return False


def _raise_file_limit() -> None:
    """Hundreds of servers need more files than a shell allows by default."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
