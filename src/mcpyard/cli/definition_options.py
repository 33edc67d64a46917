"""The options of a definition, as the API takes it."""

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mcpyard.cli.cli_errors import CliError, usage
from mcpyard.domain.edges import EXIT_DEFINITION
from mcpyard.domain.narrowing import is_object

STDIN: Final = "-"

_EXAMPLES: Final = {
    "--env": "--env MODE=fast",
    "--header": "--header 'Authorization: Bearer ${TOKEN}'",
    "--oauth": "--oauth clientId=mine",
}
_QUOTING: Final = "a JSON object in single quotes, for example: '{\"timeout\": 30000}'"

_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_REMOTE: Final = frozenset({"http", "sse"})
_LOCAL_ONLY: Final = ("command", "args", "env", "cwd")
_REMOTE_ONLY: Final = ("url", "headers", "oauth")


@dataclass(frozen=True, slots=True)
class DefinitionOptions:
    """The options of a definition, as they were typed; None and empty ones do not occur.

    The command line may be a URL instead; the timeout is in milliseconds.
    """

    command_line: Sequence[str] = ()
    env: Sequence[str] = field(default=(), repr=False)
    headers: Sequence[str] = field(default=(), repr=False)
    oauth: Sequence[str] = field(default=(), repr=False)
    transport: str | None = None
    cwd: str | None = None
    timeout: int | None = None

    def fields(self) -> dict[str, object]:
        """The fields that occur, and no others; an empty value of a pair is None."""
        fields: dict[str, object] = {
            "transport": self.transport,
            "cwd": whole_path(self.cwd) if self.cwd else None,
            "timeout": self.timeout,
            "env": pairs("--env", "=", self.env) or None,
            "headers": pairs("--header", ":", self.headers) or None,
            "oauth": pairs("--oauth", "=", self.oauth) or None,
            **self._reach(),
        }
        return {name: value for name, value in fields.items() if value is not None}

    def _reach(self) -> dict[str, object]:
        if not self.command_line:
            return {}
        first, *rest = self.command_line
        if self.transport not in _REMOTE and not _ADDRESS.match(first):
            return {"command": first, "args": rest}
        if rest:
            hint = "use --header 'NAME: VALUE' for headers; put a command after --"
            raise usage(f'unexpected "{rest[0][:80]}" after the URL', hint)
        return {"url": first}


def typed(fields: dict[str, object]) -> dict[str, object]:
    """A new definition with its type, so that nothing has to be detected."""
    kind = "remote" if "url" in fields else "local"
    return {"type": kind, **fields}


def exclusive(patch: dict[str, object]) -> dict[str, object]:
    """A change that makes a server local or remote, without the fields of the other kind."""
    if "url" in patch:
        return {**dict.fromkeys(_LOCAL_ONLY), **patch}
    return {**dict.fromkeys(_REMOTE_ONLY), **patch} if "command" in patch else patch


def pairs(option: str, mark: str, words: Sequence[str]) -> dict[str, str | None]:
    """Names and values out of an option that may be repeated; an empty value is None."""
    values: dict[str, str | None] = {}
    for each in words:
        name, separator, value = each.partition(mark)
        if not separator or not name.strip():
            # The word is not repeated: it may be a secret whose name was forgotten.
            raise usage(f"{option} takes NAME{mark}VALUE", f"for example: {_EXAMPLES[option]}")
        values[name.strip()] = (value.strip() if mark == ":" else value) or None
    return values


def whole_path(folder: str) -> str:
    """A folder for mcpyard, which runs in another one than the command."""
    return folder if "${" in folder else str(Path(folder).absolute())


def read_text(place: str) -> str:
    """The text of a file, or of standard input."""
    raw = sys.stdin.buffer.read() if place == STDIN else _read(Path(place))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = "standard input" if place == STDIN else place
        message = f"{where}: not valid UTF-8 (byte {error.start})"
        hint = "save the file as UTF-8"
        slug = "broken-document"
        raise CliError(message, hint=hint, slug=slug, exit_code=EXIT_DEFINITION) from None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        hint = "check the path and its permissions, or use - for standard input"
        raise CliError(f"{path}: {error.strerror}", hint=hint) from None


def read_object(option: str, text: str) -> dict[str, object]:
    """The object in the JSON text of an option; `-` reads it from standard input."""
    return parse_object(option, read_text(STDIN) if text == STDIN else text, _QUOTING, json.loads)


def parse_object(
    option: str, text: str, hint: str, loads: Callable[[str], object]
) -> dict[str, object]:
    """The object in a JSON text, or an error that names the option and the position."""
    try:
        value = loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise usage(f"{option} is not JSON: {error.msg} at {where}", hint) from None
    except UnicodeEncodeError:
        raise usage(f"{option} contains half of a character (a lone surrogate)", hint) from None
    except ValueError:
        raise usage(f"{option} contains a number with too many digits", hint) from None
    except RecursionError:
        raise usage(f"{option} is nested too deeply", hint) from None
    if not is_object(value):
        raise usage(f"{option} must be a JSON object", hint)
    return value
