"""`claude mcp add` and its kin: lines that people copy out of a README.

Read the way the programs read them, as far as a definition is concerned; scopes are the target's
business and are passed over.
"""

import json
import shlex
from collections.abc import Iterator
from typing import Final

_PROGRAMS: Final = frozenset({"claude", "codex", "gemini"})

_TRANSPORT: Final = frozenset({"-t", "--transport", "--type"})
_ENV: Final = frozenset({"-e", "--env"})
_HEADER: Final = frozenset({"-H", "--header"})
_VALUED: Final = frozenset(
    {"-s", "--scope", "--client-id", "--callback-port", "--timeout", "--description"}
)
_URL: Final = frozenset({"--url"})
_OPTIONS: Final = _TRANSPORT | _ENV | _HEADER | _VALUED | _URL


class CommandLineBroken(ValueError):
    """A line that cannot be understood."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def read_command_lines(text: str) -> dict[str, object]:
    """The definitions that lines would add, by name, raw."""
    found: dict[str, object] = {}
    for number, line in _lines(text):
        name, entry = _read(line, number)
        found[name] = entry
    return found


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Whole lines with their numbers: continuations joined, prompts and comments dropped."""
    waiting, began = "", 1
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not waiting:
            began, line = number, line.removeprefix("$ ")
        if line.endswith("\\"):
            waiting += line[:-1] + " "
            continue
        whole, waiting = (waiting + line).strip(), ""
        if whole and not whole.startswith("#"):
            yield began, whole
    if waiting:
        yield began, waiting.strip()


def _read(line: str, number: int) -> tuple[str, object]:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise CommandLineBroken(f"is not a command line: {error}", number) from None
    program, *rest = words
    if program not in _PROGRAMS or rest[:1] != ["mcp"]:
        raise CommandLineBroken("is not a line that adds a server", number)
    match rest[1:]:
        case ["add-json", *parts]:
            return _json(_without_options(parts), number)
        case ["add", *parts]:
            return _add(parts, number)
        case _:
            raise CommandLineBroken(f"`{program} mcp` adds with `add` or `add-json`", number)


def _json(parts: list[str], number: int) -> tuple[str, object]:
    if len(parts) != 2:  # noqa: PLR2004  a name and a text
        raise CommandLineBroken("add-json takes a name and a JSON text", number)
    try:
        return parts[0], json.loads(parts[1])
    except ValueError as error:
        raise CommandLineBroken(f"the JSON text is broken: {error}", number) from None


def _without_options(parts: list[str]) -> list[str]:
    rest = iter(parts)
    kept: list[str] = []
    for part in rest:
        if part in _OPTIONS:
            next(rest, None)
        elif not part.startswith("-"):
            kept.append(part)
    return kept


def _add(parts: list[str], number: int) -> tuple[str, object]:
    options, plain = _options(parts, number)
    env, headers = dict(options.env), dict(options.headers)
    if options.url:
        plain.append(options.url)
    if not plain:
        raise CommandLineBroken("names no server", number)
    name, *command = plain
    if not command:
        raise CommandLineBroken(f'"{name}" has neither a command nor a url', number)
    remote = options.transport in {"http", "sse"} or options.url or _is_url(command)
    if remote:
        kind = options.transport or "http"
        return name, {"type": kind, "url": command[0]} | ({"headers": headers} if headers else {})
    entry: dict[str, object] = {"type": "stdio", "command": command[0], "args": command[1:]}
    return name, entry | ({"env": env} if env else {})


def _is_url(command: list[str]) -> bool:
    return len(command) == 1 and command[0].startswith(("http://", "https://"))


class _Options:
    def __init__(self) -> None:
        self.transport = ""
        self.url = ""
        self.env: list[tuple[str, str]] = []
        self.headers: list[tuple[str, str]] = []


def _options(parts: list[str], number: int) -> tuple[_Options, list[str]]:
    """The options, and the words that are none; behind `--` everything is the command's."""
    found, plain, rest = _Options(), list[str](), list(parts)
    while rest:
        part = rest.pop(0)
        if part == "--":
            return found, plain + rest
        # Once the command has begun, options are its own.
        if len(plain) > 1 or not part.startswith("-"):
            plain.append(part)
            continue
        option, _, value = part.partition("=")
        if option in _OPTIONS and not value:
            if not rest:
                raise CommandLineBroken(f"{option} needs a value", number)
            value = rest.pop(0)
        _take(found, option, value, number)
    return found, plain


def _take(found: _Options, option: str, value: str, number: int) -> None:
    if option in _TRANSPORT:
        found.transport = value
    elif option in _URL:
        found.url = value
    elif option in _ENV:
        found.env.append(_pair(value, "=", option, number))
    elif option in _HEADER:
        found.headers.append(_pair(value, ":", option, number))


def _pair(value: str, mark: str, option: str, number: int) -> tuple[str, str]:
    name, found, content = value.partition(mark)
    if not found or not name:
        raise CommandLineBroken(f'{option} takes NAME{mark}VALUE, found "{name[:40]}"', number)
    return name.strip(), content.strip() if mark == ":" else content
