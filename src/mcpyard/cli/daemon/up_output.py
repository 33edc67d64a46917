"""The output of `up`: JSON lines, plain lines, or lines with colours on a terminal."""

import json
import os
from collections.abc import Mapping
from typing import Protocol, cast

from mcpyard import __version__
from mcpyard.cli.lines import STDOUT, LineWriter
from mcpyard.cli.output import clean
from mcpyard.cli.printing import NO_SERVERS
from mcpyard.cli.status_words import approval_text, reason, status_word, style_of
from mcpyard.domain.display_status import DisplayStatus
from mcpyard.domain.narrowing import list_of
from mcpyard.yard.events import RESYNC, Event

_STARTING = frozenset({DisplayStatus.CONNECTING, DisplayStatus.RETRYING})
_SHOWN_NAMES = 3


class Writer(Protocol):
    """Takes the lines of an output."""

    def put(self, line: bytes) -> None:
        """Take one; never waits."""
        ...

    def close(self) -> None:
        """There are no more."""
        ...


class UpOutput(Protocol):
    """Writes what happens; never waits for the reader."""

    def ready(self, url: str, sign_in: str = "") -> None:
        """Mcpyard answers at the address; the one-time link signs a browser in."""
        ...

    def event(self, event: Event) -> None:
        """Something happened."""
        ...

    def close(self) -> None:
        """Nothing more will happen."""
        ...


def make_output(*, as_json: bool) -> UpOutput:
    """The output for this standard output."""
    if as_json:
        return JsonOutput(LineWriter(STDOUT, _json_line(RESYNC, {})))
    writer = LineWriter(STDOUT, b"(some lines were dropped)\n")
    return TerminalOutput(writer) if os.isatty(STDOUT) else PlainOutput(writer, hints=True)


class JsonOutput:
    """One JSON object a line."""

    def __init__(self, writer: LineWriter) -> None:
        self._writer = writer

    def ready(self, url: str, sign_in: str = "") -> None:
        """The first line; without the link, since programs may store what they read."""
        del sign_in
        self._writer.put(_json_line("ready", {"url": url, "pid": os.getpid()}))

    def event(self, event: Event) -> None:
        """Every event as it is."""
        self._writer.put(_json_line(event.kind, event.data))

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()


class PlainOutput:
    """A line whenever the status of a server or the reason for it changes.

    With hints it also says what to do next, for a person who reads along.
    """

    def __init__(self, writer: Writer, *, hints: bool = False) -> None:
        self._writer = writer
        self._hints = hints
        self._servers: object = None
        self._last: dict[object, tuple[str, str]] = {}
        self._waiting: Mapping[str, str] = {}

    def ready(self, url: str, sign_in: str = "") -> None:
        """The address, the link and how to stop."""
        self._print(f"mcpyard {__version__} at {url} (pid {os.getpid()})")
        if sign_in:
            self._print(f"open this link in a browser (it works once): {sign_in}")
        if self._hints:
            self._print("press Ctrl-C to stop")

    def event(self, event: Event) -> None:
        """The lines for an event, if it has any."""
        match event.kind:
            case "status":
                self._status(event.data)
            case "removed":
                self._last.pop(event.data.get("id"), None)
            case "documents":
                self._documents(event.data)
            case "backup":
                self._fallback(event.data)
            case "recovered":
                self._print(f"{'recovered':14} {_subject(event.data)}")
            case _:
                pass

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()

    def _documents(self, data: Mapping[str, object]) -> None:
        problems, servers = _texts(data.get("problems")), data.get("servers")
        for problem in problems:
            self._print(f"problem: {problem}")
        self._print_waiting(cast("dict[str, str]", data.get("waiting") or {}))
        if self._hints and servers == 0 and servers != self._servers and not problems:
            for line in NO_SERVERS:
                self._print(line)
        self._servers = servers

    def _status(self, data: Mapping[str, object]) -> None:
        word, (why, hint) = status_word(data), reason(data)
        # A retry was printed when it was announced.
        again = data["phase"] == "connecting" and why
        if again or self._last.get(data["id"]) == (word, why):
            return
        self._last[data["id"]] = word, why
        self._changed(word, clean(str(data["name"])), why or _tools(word, data), hint)

    def _print_waiting(self, waiting: Mapping[str, str]) -> None:
        """Print the entries that wait while another one runs; the others have a status."""
        for name, kind in waiting.items():
            if kind != "added" and self._waiting.get(name) != kind:
                self._print(
                    f"{DisplayStatus.NEEDS_APPROVAL:14} {clean(name)}: {approval_text(kind)}"
                )
        self._waiting = waiting

    def _fallback(self, data: Mapping[str, object]) -> None:
        server, why = data.get("backup"), clean(str(data.get("reason") or ""))
        target = f'calls go to "{clean(str(server))}"' if server else "no fallback is available"
        self._print(f"{'fallback':14} {_subject(data)}: {target}{f' ({why})' if why else ''}")

    def _changed(self, word: str, name: str, why: str, hint: str) -> None:
        self._print(f"{word:14} {name}{': ' if why else ''}{clean(why)}")
        if hint:
            self._print(f"{'':14} hint: {clean(hint)}")

    def _print(self, line: str) -> None:
        self._writer.put(f"{line}\n".encode(errors="replace"))


class TerminalOutput(PlainOutput):
    """The same in colour; servers that are starting share one line at the bottom."""

    def __init__(self, writer: LineWriter) -> None:
        super().__init__(writer, hints=True)
        from rich.console import Console

        self._console = Console()
        self._starting: dict[str, None] = {}

    def _changed(self, word: str, name: str, why: str, hint: str) -> None:
        if word in _STARTING:
            self._starting[name] = None
        else:
            self._starting.pop(name, None)
        if word == DisplayStatus.CONNECTING:
            self._print("")
        else:
            super()._changed(word, name, why, hint)

    def _print(self, line: str) -> None:
        from rich.text import Text

        word = line[:14].strip()
        text = Text(line)
        text.stylize(style_of(word), 0, len(word))
        with self._console.capture() as capture:
            if line:
                self._console.print(text, soft_wrap=True)
        self._writer.put(f"\r\x1b[K{capture.get()}{self._progress()}".encode(errors="replace"))

    def _progress(self) -> str:
        if not self._starting:
            return ""
        names = ", ".join([*self._starting][:_SHOWN_NAMES])
        more = ", ..." if len(self._starting) > _SHOWN_NAMES else ""
        room = max(20, self._console.width - 1)
        return f"starting {len(self._starting)}: {names}{more}"[:room]


def _json_line(kind: str, data: Mapping[str, object]) -> bytes:
    return json.dumps({"event": kind, **data}).encode() + b"\n"


def _tools(word: str, data: Mapping[str, object]) -> str:
    return f"{data.get('toolCount')} tools" if word == DisplayStatus.CONNECTED else ""


def _subject(data: Mapping[str, object]) -> str:
    """The server, or the one tool of it, that an event is about."""
    name, tool = clean(str(data.get("name"))), data.get("tool")
    return f"{name}, {clean(str(tool))}" if tool else name


def _texts(value: object) -> list[str]:
    return [clean(str(each)) for each in list_of(value)]
