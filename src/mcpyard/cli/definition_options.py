"""What a command line says about a definition, as the yard's API wants to hear it."""

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from mcpyard.cli.cli_errors import Complaint, usage
from mcpyard.domain.errors import EXIT_DEFINITION

STDIN: Final = "-"

_EXAMPLES: Final = {
    "--env": "--env MODE=fast",
    "--header": "--header 'Authorization: Bearer ${TOKEN}'",
    "--oauth": "--oauth clientId=mine",
}
_QUOTING: Final = 'give one JSON object, in single quotes against the shell: \'{"NAME": "VALUE"}\''

_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_REMOTE: Final = frozenset({"http", "sse"})
_LOCAL_ONLY: Final = ("command", "args", "env", "cwd")
_REMOTE_ONLY: Final = ("url", "headers", "oauth")


@dataclass(frozen=True, slots=True)
class DefinitionOptions:
    """The options about a definition, as they were typed; None and empty mean: not a word.

    Attributes:
        words: A url, or a command with its arguments.
        env: `NAME=VALUE` each.
        headers: `NAME: VALUE` each.
        oauth: `NAME=VALUE` each, of our registration where people sign in.
        transport: How to speak to it.
        cwd: The folder its command runs in.
        timeout: The limit of a call, in milliseconds.
    """

    words: Sequence[str] = ()
    env: Sequence[str] = field(default=(), repr=False)
    headers: Sequence[str] = field(default=(), repr=False)
    oauth: Sequence[str] = field(default=(), repr=False)
    transport: str | None = None
    cwd: str | None = None
    timeout: int | None = None

    def fields(self) -> dict[str, object]:
        """The members that were said, and no others; an empty value of a pair is None."""
        found: dict[str, object] = {
            "transport": self.transport,
            "cwd": whole_path(self.cwd) if self.cwd else None,
            "timeout": self.timeout,
            "env": pairs("--env", "=", self.env) or None,
            "headers": pairs("--header", ":", self.headers) or None,
            "oauth": pairs("--oauth", "=", self.oauth) or None,
            **self._reach(),
        }
        return {name: value for name, value in found.items() if value is not None}

    def _reach(self) -> dict[str, object]:
        if not self.words:
            return {}
        first, *rest = self.words
        if self.transport not in _REMOTE and not _ADDRESS.match(first):
            return {"command": first, "args": rest}
        if rest:
            hint = "headers go with --header 'NAME: VALUE'; a command stands behind --"
            raise usage(f'a url stands alone, but "{rest[0][:80]}" follows it', hint)
        return {"url": first}


def typed(fields: dict[str, object]) -> dict[str, object]:
    """A new definition that says what it is, so that nothing has to be inferred."""
    kind = "remote" if "url" in fields else "local"
    return {"type": kind, **fields}


def exclusive(patch: dict[str, object]) -> dict[str, object]:
    """A change that, where it makes a server local or remote, drops what only the other has."""
    if "url" in patch:
        return {**dict.fromkeys(_LOCAL_ONLY), **patch}
    return {**dict.fromkeys(_REMOTE_ONLY), **patch} if "command" in patch else patch


def pairs(option: str, mark: str, given: Sequence[str]) -> dict[str, str | None]:
    """Names and values out of an option that may be repeated; an empty value is None."""
    found: dict[str, str | None] = {}
    for each in given:
        name, there, value = each.partition(mark)
        if not there or not name.strip():
            # What has no mark may well be a secret whose name was forgotten.
            raise usage(f"{option} takes NAME{mark}VALUE", f"for example: {_EXAMPLES[option]}")
        found[name.strip()] = (value.strip() if mark == ":" else value) or None
    return found


def whole_path(folder: str) -> str:
    """A folder as the yard must hear it, which runs in another one than the command."""
    return folder if "${" in folder else str(Path(folder).absolute())


def read_text(place: str) -> str:
    """The text of a file, or of standard input."""
    raw = sys.stdin.buffer.read() if place == STDIN else _read(Path(place))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = "standard input" if place == STDIN else place
        message = f"{where}: is not UTF-8 (byte {error.start})"
        hint = "save it as UTF-8"
        told = Complaint(message, hint=hint, slug="broken-document", exit_code=EXIT_DEFINITION)
        raise told from None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        hint = "name a file that you may read, or - for standard input"
        raise Complaint(f"{path}: {error.strerror}", hint=hint) from None


def read_object(option: str, text: str) -> dict[str, object]:
    """The object that the JSON text of an option is; `-` takes it from standard input."""
    try:
        found = json.loads(read_text(STDIN) if text == STDIN else text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise usage(f"{option} is not JSON: {error.msg} at {where}", _QUOTING) from None
    except RecursionError:
        raise usage(f"{option} is nested too deeply", _QUOTING) from None
    if not isinstance(found, dict):
        raise usage(f"{option} must be a JSON object", _QUOTING)
    return cast("dict[str, object]", found)
