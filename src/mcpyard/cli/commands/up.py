"""`mcpyard up`: mcpyard in the foreground: the servers, the gateway, the API and the web page."""

import asyncio
import contextlib
import gc
import logging
import os
import resource
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar, Unpack
from urllib.parse import urlsplit

import uvloop
from msgspec.structs import replace

from mcpyard.cli.confirmation import on_terminal
from mcpyard.cli.daemon.binding import listen, url_of
from mcpyard.cli.daemon.last_options import record_options
from mcpyard.cli.daemon.logfile import LogFile, RedactingFormatter, Redactor
from mcpyard.cli.daemon.service_manager import ServiceManager
from mcpyard.cli.daemon.start_lock import StartLock
from mcpyard.cli.daemon.startup_wait import await_predecessor, make_home
from mcpyard.cli.daemon.up_options import UpOptions, configured_limits, read_options
from mcpyard.cli.daemon.up_output import PlainOutput, UpOutput, make_output
from mcpyard.cli.daemon.watchdog import Watchdog, stuck_limit
from mcpyard.cli.home_files import LOG_FILE
from mcpyard.cli.lines import STDERR, STDOUT, LogHandler
from mcpyard.cli.quick_up import UpArguments
from mcpyard.domain import limits
from mcpyard.early_start import start_early
from mcpyard.runtime.processes.adoption import ADOPTION
from mcpyard.runtime.processes.cgroups import make_room_for_limits
from mcpyard.sources.file_names import PROJECT_FILE
from mcpyard.spared_modules import spare_module
from mcpyard.store.home import Home

if TYPE_CHECKING:
    from mcpyard.app import WiredYard
    from mcpyard.cli.daemon.http_interfaces import HttpInterfaces
    from mcpyard.cli.daemon.yard_opening import YardOpener
    from mcpyard.cluster_node import ClusterNode

log = logging.getLogger(__name__)

T = TypeVar("T")

_SYNC_EVERY: Final = 5.0
"""Seconds between two looks at the files of a sync."""

_FORCE_AGAIN: Final = 0.25
_STDIN: Final = 0
_PIPE_BYTES: Final = 4096
_GIVE_WAY: Final = 0.0005
_COLLECT_AFTER: Final = (20_000, 5, 2)
"""Rarely, but everything: what a connection leaves behind outlives the younger generations, and a
full collection takes milliseconds since it leaves out what existed at the start."""
_PRINTED_ANYWAY: Final = {
    "mcpyard.runtime.connection",
    "mcpyard.sources.environment",
    "mcpyard.sources.project_file",
}


def start(**arguments: Unpack[UpArguments]) -> int:
    """Run mcpyard as the options of the command say."""
    return run_yard(read_options(arguments))


def run_yard(options: UpOptions) -> int:
    """Run mcpyard until a signal ends it."""
    limit, limits = stuck_limit(), configured_limits()
    lock = StartLock(options.home)
    if not options.substitute:
        lock.wait()
    await_predecessor(options.home, substitute=options.substitute)
    redactor = Redactor()
    _configure_log(options, redactor)
    if not sys.platform.startswith("linux"):
        log.warning("on this system processes of servers may survive if mcpyard is killed")
    _raise_file_limit()
    with listen(options.bind, options.home) as listener:
        make_home(options.home)
        ask = not options.as_json and not options.trust_folder
        current = None if options.project else _current_project(options.home, ask=ask)
        # Approvals are stored by the name of the folder, which must be valid text for that.
        str(options.project or current).encode()
        ADOPTION.begin()
        make_room_for_limits()
        complete = replace(options, limits=limits, current=current)
        uvloop.run(_watched(complete, listener, redactor, limit, lock))
    return 0


def _current_project(home: Path, *, ask: bool) -> Path | None:
    """The current folder, if it has a project file.

    On a terminal the user is asked to approve its entries. Without a yes they are not started.
    """
    folder = Path.cwd()
    if not (folder / PROJECT_FILE).exists():
        return None
    if ask and on_terminal():
        from mcpyard.cli.commands.approve import ask_to_approve

        uvloop.run(ask_to_approve(home, folder))
    return folder


async def _watched(
    options: UpOptions,
    listener: socket.socket,
    redactor: Redactor,
    limit: float | None,
    lock: StartLock,
) -> None:
    manager = ServiceManager()
    with Watchdog(options.home / LOG_FILE, limit, manager.alive):
        await _run(options, listener, redactor, manager, lock)


class Signals:
    """The first signal ends everything in order, each further one at once.

    Args:
        parent: Whether the parent holds the other end of standard input, whose end does the same.
    """

    def __init__(self, *, parent: bool) -> None:
        self.stop, self.force = asyncio.Event(), asyncio.Event()
        self.force_close: Callable[[], None] = lambda: None
        self._loop = asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            # `nohup` has SIGHUP ignored, so that mcpyard goes on without its terminal.
            if each != signal.SIGHUP or signal.getsignal(each) != signal.SIG_IGN:
                self._loop.add_signal_handler(each, self._came)
        if parent:
            self._loop.add_reader(_STDIN, self._read_parent)

    def _read_parent(self) -> None:
        if not os.read(_STDIN, _PIPE_BYTES):
            self._loop.remove_reader(_STDIN)
            self.stop.set()

    def _came(self) -> None:
        if self.stop.is_set():
            self.force.set()
            self._force_close_again()
        self.stop.set()

    def _force_close_again(self) -> None:
        # Python 3.11 can lose a cancellation that meets the end of a wait, so one is not enough.
        self.force_close()
        self._loop.call_later(_FORCE_AGAIN, self._force_close_again)


async def _run(
    options: UpOptions,
    listener: socket.socket,
    redactor: Redactor,
    manager: ServiceManager,
    lock: StartLock,
) -> None:
    signals, closing = Signals(parent=options.parent_pipe), asyncio.Event()
    url, expected = url_of(listener, options.bind), bool(options.project or options.current)
    async with contextlib.AsyncExitStack() as undo:
        early = await undo.enter_async_context(start_early(options.home, servers=expected))
        open_yard = await asyncio.to_thread(_giving_way, _load_yard)
        yard = await undo.enter_async_context(open_yard(early, options, url))
        yard.calls.callers.limit(options.limits.quotas)
        signals.force_close, home = yard.force_close, Home(options.home)
        redactor.own, redactor.desired = frozenset({home.token()}), lambda: yard.desired
        # The servers start while the rest is loaded: they are what takes long.
        make_interfaces = await asyncio.to_thread(_giving_way, _load_interfaces)
        interfaces = make_interfaces(yard, options, closing, signals.stop.set)
        web = interfaces.web
        signals.force_close = _both(yard.force_close, web.force_close)
        serving = asyncio.create_task(web.serve([listener]), name="web server")
        syncing = asyncio.create_task(_keep_synced(yard, options), name="sync")
        try:
            await _reached(web.ready, serving)
            await interfaces.share_token()
            await _announce(options, home, url)
            lock.release()
            output, log_output = make_output(as_json=options.as_json), PlainOutput(_LogWriter())
            output.ready(url, await _sign_in(options, interfaces, url))
            log_output.ready(url)
            if options.open_page:
                _open_page(await interfaces.link(url))
            manager.ready()
            _spare_the_collector()
            printing = asyncio.create_task(_print_events(yard, output, log_output), name="output")
            await _reached(signals.stop, serving, yard.storage.node)
            await _hand_over(yard.storage.node, manager, signals.force)
        finally:
            syncing.cancel()
            await asyncio.wait({syncing})
            manager.stopping()
            # Requests in flight end together with the servers they wait for.
            closing.set()
            web.stop()
            # The servers of other nodes end for this one with its links, before any of its own.
            await _end_requests(yard.storage.node, serving, signals.force)
    await serving
    await printing


def _spare_the_collector() -> None:
    """Collect garbage less often: what calls leave behind is mostly freed without it.

    What the start made is left out for good, the few hundred objects of it that are garbage too: to
    look for them once costs a tenth of a start.
    """
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)
    gc.enable()


async def _announce(options: UpOptions, home: Home, url: str) -> None:
    certificate = str(options.bind.tls.certificate) if options.bind.tls else ""
    home.announce(url, certificate, substitute=options.substitute)
    if not options.substitute:
        arguments = options.arguments(urlsplit(url).port or options.bind.port)
        # It waits for the disk, and the servers are starting.
        await asyncio.to_thread(record_options, options.home, arguments)


def _giving_way(load: Callable[[], T]) -> T:
    """Load modules in a thread that gives way to the event loop, and to other threads, at once.

    By default each of them would wait for 5 ms whenever it has something to do.
    """
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_GIVE_WAY)
    try:
        return load()
    finally:
        sys.setswitchinterval(usual)


def _load_yard() -> "YardOpener":
    _spare_modules()
    from mcpyard.cli.daemon.yard_opening import open_yard

    return open_yard


def _spare_modules() -> None:
    """Do without what pydantic and watchfiles load for others, a thirtieth of a start."""
    # To look for plugins it reads the metadata of each package that is installed.
    spare_module("pydantic.plugin._loader", {"get_plugins": lambda: tuple})
    # It loads anyio and multiprocessing; the module with the watcher itself needs neither.
    spare_module("watchfiles")


def _load_interfaces() -> "type[HttpInterfaces]":
    from mcpyard.cli.daemon.http_interfaces import HttpInterfaces

    return HttpInterfaces


async def _sign_in(options: UpOptions, interfaces: "HttpInterfaces", url: str) -> str:
    """A one-time link to print; on a terminal only, since other output may be stored."""
    if options.as_json or not os.isatty(STDOUT):
        return ""
    return await interfaces.link(url)


def _open_page(link: str) -> None:
    """Open the web page; in a thread, since some browsers block their caller until they end."""

    def work() -> None:
        from mcpyard.cli.browser import open_browser

        if not open_browser(link):
            log.warning("no browser found; get a link with: mcpyard open")

    threading.Thread(target=work, name="browser", daemon=True).start()


async def _print_events(yard: "WiredYard", *outputs: UpOutput) -> None:
    from mcpyard.yard.events import RESYNC, Event
    from mcpyard.yard.views.events import state_events

    async for event in yard.events(after=0):
        for each in outputs:
            each.event(event)
        if event.kind == RESYNC:
            # Of many servers, some connect before anybody listens.
            for kind, data in state_events(yard.desired, yard.directory.observed):
                for each in outputs:
                    each.event(Event(event.id, kind, data))
                # What is written faster than it can be is dropped.
                await asyncio.sleep(0)
    for each in outputs:
        each.close()


async def _keep_synced(yard: "WiredYard", options: UpOptions) -> None:
    if not options.sync:
        return
    from mcpyard.cli.commands.connect import bridge_command
    from mcpyard.yard.sync.keeping import keep_synced

    command = tuple(bridge_command(options.home))
    await keep_synced(yard.clients.sync, command, lambda: asyncio.sleep(_SYNC_EVERY))


class _LogWriter:
    """The lines of an output as records of the log."""

    def put(self, line: bytes) -> None:
        log.info("%s", line.decode().rstrip("\n"))

    def close(self) -> None:
        log.info("ended")


async def _reached(
    event: asyncio.Event, serving: asyncio.Task[None], node: "ClusterNode | None" = None
) -> None:
    """Wait for an event, but not longer than the web server runs, or the node has its name.

    Raises:
        NodeTaken: Another daemon has the name of the node.
    """
    waiting = asyncio.create_task(event.wait())
    if node:
        node.end_when_taken(waiting.cancel)
    await asyncio.wait({waiting, serving}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if serving.done():
        await serving
    if node and node.taken:
        raise node.taken


async def _hand_over(
    node: "ClusterNode | None", manager: ServiceManager, force: asyncio.Event
) -> None:
    """Let other nodes take over the servers of this one, if it is a node, until a second signal."""
    if node is None:
        return
    manager.stopping(within=limits.HAND_OVER + limits.LAST_REQUESTS + limits.SHUTDOWN)
    tasks = {asyncio.create_task(node.hand_over()), asyncio.create_task(force.wait())}
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for each in tasks:
        each.cancel()
    await asyncio.wait(tasks)


async def _end_requests(
    node: "ClusterNode | None", serving: asyncio.Task[None], force: asyncio.Event
) -> None:
    """Let the requests to a node end: its own, and at the same time those relayed to it."""
    if node is None:
        return
    tasks = {asyncio.create_task(node.finish_relayed()), asyncio.create_task(force.wait())}
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for each in tasks:
        each.cancel()
    await asyncio.wait({serving, *tasks})


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
