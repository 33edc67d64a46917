"""`claude mcp add` and the like: commands that a server's documentation prints.

A command that starts a server itself is read by `bare_commands`.

Options may stand anywhere around the name and the URL. What follows `--`, or the command of a
local server, belongs to that command. A line is read whole or not at all: an unknown option, a word
too many and a missing value are faults of the line. What says something about a server and has no
place in a definition is a warning; the scope that a line names is left to the import.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from mcpyard.domain.errors import Problem
from mcpyard.domain.narrowing import is_object
from mcpyard.formats.pasting.bare_commands import bare_server, starts_servers
from mcpyard.formats.pasting.command_options import (
    JSON_OPTIONS,
    LOCAL,
    OPTIONS,
    REMOTE,
    LineRefused,
    Options,
    Use,
    is_option,
    names_option,
    next_value,
    option_of,
    refuse,
    short,
)
from mcpyard.formats.pasting.shell_words import ShellCommand, shell_commands

_PACKAGES: Final = {
    "@anthropic-ai/claude-code": "claude",
    "@openai/codex": "codex",
    "@google/gemini-cli": "gemini",
    "@qwen-code/qwen-code": "qwen",
    "@github/copilot": "copilot",
    "opencode-ai": "opencode",
}
_PROGRAMS: Final = frozenset({*_PACKAGES.values(), "amp", "auggie", "droid", "mcpyard"})
_EDITORS: Final = frozenset({"code", "code-insiders", "codium", "cursor"})
_RUNNERS: Final = frozenset({"npx", "bunx", "pnpm", "yarn", "npm"})
_RUNNER_WORDS: Final = frozenset({"-y", "--yes", "dlx", "exec", "--"})

_TAKES_MANY: Final = frozenset({"claude", "opencode"})
"""Their `--env A=1 B=2` sets both."""

_QUOTES_THE_COMMAND: Final = frozenset({"droid"})
"""Their command may stand in quotes, as one word."""

_ENDS_AT_THE_COMMAND: Final = frozenset({"codex"})
"""Whatever follows the command is the command's; the others drop a `--` even there."""

_BEGINNING: Final = re.compile(
    r"""(?:\s|\#[^\n]*\n)*(?:[$%>][ ]+)?
    (?:[A-Za-z_][A-Za-z0-9_]*=(?:[^\s"']|"[^"]*"|'[^']*')*[ ]+)*
    (?:[^\s"'{}\[\]=]*/)?
    (?:(?:claude|codex|gemini|qwen|copilot|opencode|npx|bunx|pnpm|yarn|npm)\s+[^\s=]
    |(?:amp|auggie|droid)\s+mcp\s|mcpyard\s+add\s
    |(?:[\w.]+[-_])?mcp[-_][\w.-]+(?:\s+[^\s=:]|\s*\Z)|[\w.-]+[-_]mcp(?:\s+[^\s=:]|\s*\Z)
    |(?:uvx|uv|pipx|pnpx|node|bun|deno|python3?|go|dotnet|java|docker|podman|nerdctl)\s+[^\s=]
    |(?:code|code-insiders|codium|cursor)\s+-)""",
    re.VERBOSE,
)
_TYPESET: Final = ("\u2014", "\u2013", "\u2212", "\u201c", "\u201d", "\u2018", "\u2019")
"""What word processors and web pages make of dashes and quotes."""

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_CLIENT_SECRET: Final = "MCP_CLIENT_SECRET"  # noqa: S105  the name of a variable


@dataclass(frozen=True, slots=True)
class LineEntry:
    """A server that a line would add, raw; the name is empty where the line gives none."""

    line: int
    name: str
    raw: object
    warnings: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class LineFault:
    """Why nothing is taken from a line."""

    line: int
    message: str


def holds_command_lines(text: str) -> bool:
    """Whether a text begins with a command of a program that adds servers."""
    return _BEGINNING.match(text) is not None


def read_command_lines(text: str) -> Iterator[LineEntry | LineFault]:
    """The servers that the commands of a text would add, and the commands that cannot be taken."""
    for command in shell_commands(text):
        try:
            # A line with one server that is wrong adds none.
            yield from [*_read(command)]
        except LineRefused as error:
            yield LineFault(command.line, str(error))


def _read(command: ShellCommand) -> Iterator[LineEntry]:
    if command.fault:
        refuse(command.fault)
    for word in command.words:
        if word.startswith(_TYPESET):
            message = f'"{short(word)}" begins with {word[0]}, which no program reads'
            refuse(f"{message}; write plain dashes and quotes")
    assigned, whole = _assignments(command.words)
    program, words = _program(whole)
    options = Options(many=program in _TAKES_MANY, secret=assigned.pop(_CLIENT_SECRET, ""))
    for name in command.variables:
        options.warn(f"${name}", f"is read from mcpyard's environment, as ${{{name}}}")
    if _is_bare(whole, program):
        name, raw = bare_server(whole, assigned, options)
        yield LineEntry(command.line, name, raw, tuple(options.warnings))
        return
    for name in assigned:
        options.warn(name, f"applies to {program} only: dropped")
    for name, raw in _servers(program, words, options):
        yield LineEntry(command.line, name, raw, tuple(options.warnings))


def _is_bare(words: list[str], program: str) -> bool:
    """Whether a command starts a server itself, and is no program that would add one."""
    return program not in _PROGRAMS and words[:1] != [] and starts_servers(words[0])


def _assignments(words: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
    """The variables that are set before a command, and the command."""
    before = [*takewhile(_ASSIGNMENT.match, words)]
    pairs = (each.partition("=") for each in before)
    return {name: value for name, _, value in pairs}, [*words[len(before) :]]


def _program(words: list[str]) -> tuple[str, list[str]]:
    """The program, whether it is installed or run out of its package, and its own words."""
    program = "".join(words[:1]).rsplit("/", 1)[-1]
    rest = words[1:]
    if program in _RUNNERS:
        rest = rest[len([*takewhile(_RUNNER_WORDS.__contains__, rest)]) :]
        package = "".join(rest[:1])
        bare = package[: package.rfind("@")] if package.rfind("@") > 0 else package
        return _PACKAGES.get(bare, ""), rest[1:]
    return program, rest


def _servers(program: str, words: list[str], options: Options) -> list[tuple[str, object]]:
    if program in _EDITORS:
        return _editor(program, words)
    if program == "mcpyard":
        words = ["mcp", *words]
    if program not in _PROGRAMS or words[:1] != ["mcp"]:
        line = short(" ".join([program, *words[:1]]))
        refuse(f'"{line}" is not a command that adds a server')
    match words[1:]:
        case ["add", *rest]:
            return [_Adding(program, rest, options).server()]
        case ["add-json", *rest]:
            return [_json(rest, options)]
        case _:
            raise LineRefused(f"`{program} mcp` adds a server with `add` or `add-json`")


def _editor(program: str, words: list[str]) -> list[tuple[str, object]]:
    servers: list[tuple[str, object]] = []
    while words:
        option, _, value = words.pop(0).partition("=")
        if option not in {"--add-mcp", "--profile"}:
            refuse(f'{program} adds a server with `--add-mcp`; "{short(option)}" is unknown')
        value = value or next_value(option, words)
        if option == "--add-mcp":
            raw = _decoded(value)
            servers.append((str(raw.pop("name", "")), raw))
    return servers or refuse(f"{program} adds a server with `--add-mcp`")


def _json(words: list[str], options: Options) -> tuple[str, object]:
    plain: list[str] = []
    while words:
        word = words.pop(0)
        if not is_option(word):
            plain.append(word)
        elif option_of(word) in JSON_OPTIONS:
            options.take(word, words)
        else:
            refuse(f'the option "{short(option_of(word))}" is unknown')
    match plain:
        case [name, text]:
            return name, _decoded(text)
        case _:
            raise LineRefused("add-json takes a name and a JSON text")


def _decoded(text: str) -> dict[str, object]:
    try:
        value: object = json.loads(text)
    except RecursionError:
        refuse("the JSON text is nested too deeply")
    except ValueError as error:
        # Lines for Windows escape the quotes even between single ones.
        if r"\"" in text:
            return _decoded(text.replace(r"\"", '"'))
        refuse(f"the JSON text is broken: {error}")
    if not is_object(value):
        refuse("the JSON text is not an object")
    return value


class _Adding:
    """The words behind `mcp add`."""

    def __init__(self, program: str, words: list[str], options: Options) -> None:
        self._program = program
        self._words = words
        self._options = options
        self._name = ""
        self._address = ""
        self._command: list[str] = []

    def server(self) -> tuple[str, object]:
        """The server that they add."""
        while self._words:
            word = self._words.pop(0)
            if word == "--":
                self._behind_dashes()
            elif is_option(word):
                self._options.take(word, self._words)
            else:
                self._plain(word)
        if not self._name:
            refuse("has no server name")
        return self._name, self._entry()

    def _behind_dashes(self) -> None:
        words, self._words = self._words, []
        for word in words[:1]:
            self._target(word, words[1:])
        for word in words[1:] if self._address else ():
            self._surplus(word)

    def _plain(self, word: str) -> None:
        if not self._name:
            self._name = word
        elif self._is_address(word):
            self._target(word, [])
        elif self._program in _QUOTES_THE_COMMAND and len(word.split()) > 1:
            command, *own = word.split()
            self._target(command, own)
        else:
            rest, self._words = self._words, []
            self._target(word, self._own_words(word, rest))

    def _own_words(self, command: str, rest: list[str]) -> list[str]:
        """The words of a command that no `--` sets apart."""
        if self._program in _ENDS_AT_THE_COMMAND:
            return rest
        own = [*takewhile(lambda word: word != "--", rest)]
        for option in dict.fromkeys(each for each in own if names_option(each)):
            self._options.warn(
                option_of(option),
                f"comes after the command and is passed to {short(command)};"
                f" if it is meant for {self._program}, put it before the name",
            )
        return own + rest[len(own) + 1 :]

    def _target(self, word: str, rest: list[str]) -> None:
        if self._address or self._options.url or self._command:
            self._surplus(word)
        if self._is_address(word):
            self._address = word
        else:
            self._command = [word, *rest]

    def _surplus(self, word: str) -> None:
        refuse(f'"{short(word)}" is an unexpected argument after the URL')

    def _is_address(self, word: str) -> bool:
        if _URL.match(word) or self._options.transport in REMOTE:
            return True
        # A URL may be left to be filled in; then the transport tells it from a command.
        return word.startswith(("$", "<", "{", "[")) and any(
            OPTIONS.get(each.split("=", 1)[0]) is Use.TRANSPORT for each in self._words
        )

    def _entry(self) -> dict[str, object]:
        options, url = self._options, self._address or self._options.url
        if url and (self._command or (self._address and options.url)):
            refuse("has more than one URL or command")
        if not url and not self._command:
            refuse(f'"{short(self._name)}" has neither a command nor a URL')
        if url and options.transport in LOCAL:
            refuse(f"the transport {options.transport} cannot be used with a URL")
        entry: dict[str, object] = {"type": options.transport or ("http" if url else "stdio")}
        entry |= {"url": url} if url else {"command": self._command[0], "args": self._command[1:]}
        more = {"env": options.env, "headers": options.headers, "oauth": options.oauth}
        return entry | {key: value for key, value in more.items() if value} | options.policy
