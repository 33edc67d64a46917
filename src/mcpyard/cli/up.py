"""`mcpyard up`: a yard in the foreground, with its faces."""

import asyncio
import contextlib
import errno
import logging
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvloop

from mcpyard.api.app import build
from mcpyard.api.serving import WebServer
from mcpyard.app import Yard
from mcpyard.cli.complaints import Complaint, usage
from mcpyard.cli.lines import STDERR, LogHandler, fill_standard_files
from mcpyard.cli.narrator import Narrator, make_narrator
from mcpyard.sources.project_file import ProjectFile
from mcpyard.store.home import Home

log = logging.getLogger(__name__)

_HURRY_AGAIN: Final = 0.25


@dataclass(frozen=True, slots=True)
class Terms:
    """What `up` was asked for."""

    home: Path
    host: str
    port: int
    project: Path | None = None
    strict: bool = False
    as_json: bool = False


def run_yard(terms: Terms) -> int:
    """Run a yard until a signal ends it."""
    fill_standard_files()
    _configure_log(terms)
    if not sys.platform.startswith("linux"):
        log.warning("on this system the clean-up of a killed yard's servers is best effort")
    _raise_file_limit()
    with _listen(terms) as listener:
        uvloop.run(_run(terms, listener))
    return 0


class Signals:
    """The first signal asks for an end in order, each further one for haste."""

    def __init__(self) -> None:
        self.stop = asyncio.Event()
        self.hurry: Callable[[], None] = lambda: None
        self._loop = asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(each, self._came)

    def _came(self) -> None:
        if self.stop.is_set():
            self._hurry_on()
        self.stop.set()

    def _hurry_on(self) -> None:
        # Python 3.11 can lose a cancellation that meets the end of a wait, so one is not enough.
        self.hurry()
        self._loop.call_later(_HURRY_AGAIN, self._hurry_on)


async def _run(terms: Terms, listener: socket.socket) -> None:
    signals = Signals()
    sources = [ProjectFile(terms.project, strict=terms.strict)] if terms.project else []
    closing = asyncio.Event()
    async with Yard.open(sources=sources, home=terms.home) as yard:
        home, hosts = Home(terms.home), {terms.host, str(listener.getsockname()[0])}
        web = WebServer(build(yard, token=home.token(), hosts=hosts, closing=closing))
        signals.hurry = _both(yard.hurry, web.hurry)
        serving = asyncio.create_task(web.serve([listener]), name="web server")
        try:
            await _reached(web.ready, serving)
            home.announce(_url(listener))
            telling = _begin_to_tell(yard, _url(listener), as_json=terms.as_json)
            await _reached(signals.stop, serving)
        finally:
            # Requests in flight end together with the servers they wait for.
            closing.set()
            web.stop()
    await serving
    await telling


def _begin_to_tell(yard: Yard, url: str, *, as_json: bool) -> asyncio.Task[None]:
    narrator = make_narrator(as_json=as_json)
    narrator.ready(url)
    return asyncio.create_task(_tell(yard, narrator), name="narrator")


async def _tell(yard: Yard, narrator: Narrator) -> None:
    async for event in yard.events(after=0):
        narrator.event(event)
    narrator.close()


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


def _listen(terms: Terms) -> socket.socket:
    try:
        found = socket.getaddrinfo(terms.host, terms.port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError):
        raise usage(f'--host: "{terms.host}" is no address of this machine') from None
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # Bound alone it would not yet keep others away, since they may reuse the address too.
        listener.listen()
    except OSError as error:
        listener.close()
        raise _cannot_listen(terms, error) from None
    return listener


def _cannot_listen(terms: Terms, error: OSError) -> Complaint:
    if error.errno != errno.EADDRINUSE:
        return Complaint(f"cannot listen on {terms.host}:{terms.port}: {error.strerror}")
    # That a yard of this home runs already is the better news, and what this raises then.
    home = Home(terms.home)
    home.take()
    home.release()
    return Complaint(
        f"port {terms.port} of {terms.host} is in use by another program",
        hint="choose another with --port, or --port 0 for any free one",
        slug="port-in-use",
    )


def _url(listener: socket.socket) -> str:
    bound, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(bound, str(bound))  # noqa: S104  named, not bound
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _configure_log(terms: Terms) -> None:
    logging.basicConfig(level=logging.WARNING, handlers=[LogHandler(STDERR)])
    if not terms.as_json and os.isatty(STDERR):
        # On the same screen the display tells these already.
        for name in ("mcpyard.runtime.connection", "mcpyard.sources.project_file"):
            logging.getLogger(name).setLevel(logging.CRITICAL)


def _raise_file_limit() -> None:
    """A yard of hundreds of servers needs more files than a shell allows by default."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
