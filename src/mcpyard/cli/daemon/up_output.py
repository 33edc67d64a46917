"""How `up` tells what happens: as JSON lines, as plain lines, or calmly on a terminal."""

import json
import os
from collections.abc import Mapping
from typing import Protocol, cast

from mcpyard import __version__
from mcpyard.cli.lines import STDOUT, LineWriter
from mcpyard.cli.output import clean
from mcpyard.cli.status_words import approval_text, lamp, reason, style_of
from mcpyard.domain.display_status import DisplayStatus
from mcpyard.yard.events import RESYNC, Event

_STARTING = frozenset({DisplayStatus.CONNECTING, DisplayStatus.RETRYING})
_SHOWN_NAMES = 3


class Writer(Protocol):
    """Takes the lines of a narrator."""

    def put(self, line: bytes) -> None:
        """Take one; never waits."""
        ...

    def close(self) -> None:
        """There are no more."""
        ...


class Narrator(Protocol):
    """Tells of a yard; never waits for whoever reads."""

    def ready(self, url: str, sign_in: str = "") -> None:
        """The faces answer; a browser is let in by the one-time address."""
        ...

    def event(self, event: Event) -> None:
        """Something happened."""
        ...

    def close(self) -> None:
        """Nothing more will happen."""
        ...


def make_narrator(*, as_json: bool) -> Narrator:
    """The narrator for this standard output."""
    if as_json:
        return JsonNarrator(LineWriter(STDOUT, _json_line(RESYNC, {})))
    writer = LineWriter(STDOUT, b"(some lines were left out)\n")
    return TerminalNarrator(writer) if os.isatty(STDOUT) else PlainNarrator(writer)


class JsonNarrator:
    """One JSON object a line."""

    def __init__(self, writer: LineWriter) -> None:
        self._writer = writer

    def ready(self, url: str, sign_in: str = "") -> None:
        """The first line; what lets a browser in is not for programs that keep what they read."""
        del sign_in
        self._writer.put(_json_line("ready", {"url": url, "pid": os.getpid()}))

    def event(self, event: Event) -> None:
        """Every event as it is."""
        self._writer.put(_json_line(event.kind, event.data))

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()


class PlainNarrator:
    """A line whenever a server's lamp or the reason for it changes."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._last: dict[object, tuple[str, str]] = {}
        self._waiting: Mapping[str, str] = {}

    def ready(self, url: str, sign_in: str = "") -> None:
        """The address."""
        self._say(f"mcpyard {__version__} at {url} (pid {os.getpid()})")
        if sign_in:
            self._say(f"open it in a browser, once: {sign_in}")

    def event(self, event: Event) -> None:
        """What a person wants to know of it."""
        match event.kind:
            case "status":
                self._status(event.data)
            case "removed":
                self._last.pop(event.data.get("id"), None)
            case "documents":
                for problem in _texts(event.data.get("problems")):
                    self._say(f"problem: {problem}")
                self._tell_waiting(cast("dict[str, str]", event.data.get("waiting") or {}))
            case "backup":
                self._stood_in(event.data)
            case "recovered":
                self._say(f"{'recovered':14} {_what(event.data)}")
            case _:
                pass

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()

    def _status(self, data: Mapping[str, object]) -> None:
        word, (why, hint) = lamp(data), reason(data)
        # A try again that is under way was told when it was announced.
        again = data["phase"] == "connecting" and why
        if again or self._last.get(data["id"]) == (word, why):
            return
        self._last[data["id"]] = word, why
        self._changed(word, clean(str(data["name"])), why or _tools(word, data), hint)

    def _tell_waiting(self, waiting: Mapping[str, str]) -> None:
        """Tell of entries that wait while another one runs; of the others their lamps tell."""
        for name, kind in waiting.items():
            if kind != "added" and self._waiting.get(name) != kind:
                self._say(f"{DisplayStatus.NEEDS_APPROVAL:14} {clean(name)}: {approval_text(kind)}")
        self._waiting = waiting

    def _stood_in(self, data: Mapping[str, object]) -> None:
        backup, why = data.get("backup"), clean(str(data.get("reason") or ""))
        instead = f'"{clean(str(backup))}" answers in its place'
        instead = instead if backup else "nobody can stand in"
        self._say(f"{'backup':14} {_what(data)}: {instead}{f' ({why})' if why else ''}")

    def _changed(self, word: str, name: str, why: str, hint: str) -> None:
        self._say(f"{word:14} {name}{': ' if why else ''}{clean(why)}")
        if hint:
            self._say(f"{'':14} hint: {clean(hint)}")

    def _say(self, line: str) -> None:
        self._writer.put(f"{line}\n".encode(errors="replace"))


class TerminalNarrator(PlainNarrator):
    """The same in colour; servers that are coming up share one line at the bottom."""

    def __init__(self, writer: LineWriter) -> None:
        super().__init__(writer)
        from rich.console import Console

        self._console = Console()
        self._starting: dict[str, None] = {}

    def _changed(self, word: str, name: str, why: str, hint: str) -> None:
        if word in _STARTING:
            self._starting[name] = None
        else:
            self._starting.pop(name, None)
        if word == DisplayStatus.CONNECTING:
            self._say("")
        else:
            super()._changed(word, name, why, hint)

    def _say(self, line: str) -> None:
        from rich.text import Text

        word = line[:14].strip()
        text = Text(line)
        text.stylize(style_of(word), 0, len(word))
        with self._console.capture() as shown:
            if line:
                self._console.print(text, soft_wrap=True)
        self._writer.put(f"\r\x1b[K{shown.get()}{self._progress()}".encode(errors="replace"))

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


def _what(data: Mapping[str, object]) -> str:
    """The server, or the one tool of it, that an event is about."""
    name, tool = clean(str(data.get("name"))), data.get("tool")
    return f"{name}, {clean(str(tool))}" if tool else name


def _texts(value: object) -> list[str]:
    texts = cast("list[object]", value) if isinstance(value, list) else []
    return [clean(str(each)) for each in texts]
