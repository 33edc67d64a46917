"""Whatever people paste: JSON of any program, TOML, `claude mcp add` commands, a bare entry.

Reads only; nothing here is ever written back. What can be understood is returned, what cannot is
told with its place in the pasted text.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import tomli

from mcpyard.domain.definition import checks
from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.errors import DefinitionError, DocumentBroken, Problem, SourceLocation
from mcpyard.domain.model import Config, LocalConfig
from mcpyard.domain.narrowing import is_object, object_of
from mcpyard.formats.editors import jsonc
from mcpyard.formats.pasting.command_lines import (
    LineEntry,
    LineFault,
    holds_command_lines,
    read_command_lines,
)
from mcpyard.formats.pasting.command_options import reference, short
from mcpyard.formats.pasting.install_links import holds_links, read_links

PASTED: Final = "the pasted text"
"""Stands for the name of a file in what is told about a text that came from none."""

_UNKNOWN: Final = "is neither JSON, TOML, an install link nor a known command"

_MAPS: Final = ("mcpServers", "mcp_servers", "servers", "mcp", "context_servers")
"""The keys under which programs keep their servers."""

_RUNNERS: Final = frozenset(
    {"npx", "uvx", "uv", "pipx", "bunx", "node", "python", "python3", "docker"}
)
_AFFIXES: Final = ("mcp-server-", "server-", "mcp-", "-mcp-server", "-mcp", "-server")
_COMMAND: Final = re.compile(
    r"""(?!\#|//)(?:[a-z][\w+.-]*://\S+|[^\s"'{}\[\]=:,]+)(?=\s+[^\s=:]|$)""", re.MULTILINE
)
"""Begins with a URL, or with a word of which neither JSON nor TOML would make a key."""

_ADDRESS: Final = re.compile(r"https?://(?P<host>[\w.-]+)(?::\d+)?(?:[/?]\S*)?")
_PAGES: Final = frozenset(
    {"github.com", "gitlab.com", "www.npmjs.com", "npmjs.com", "pypi.org", "hub.docker.com"}
)
"""Hosts with pages about servers, which are no servers themselves."""

_FENCED: Final = re.compile(
    r"(?s)\s*(?P<fence>```|~~~)[^\S\n]*[\w+-]*[^\S\n]*\n(?P<inside>.*)\n[^\S\n]*(?P=fence)\s*"
)
_IN_BACKTICKS: Final = re.compile(r"\s*`(?P<inside>[^`\n]+)`\s*")

_ENTRY_KEYS: Final = frozenset({"command", "url", "type", "transport", "httpUrl", "serverUrl"})


@dataclass(frozen=True, slots=True)
class Pasted:
    """One server in a pasted text; a name that was not there is proposed.

    Of the warnings, `left_out` are those that tell of a loss.
    """

    name: str
    config: Config
    warnings: tuple[Problem, ...] = ()
    left_out: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Snippet:
    """What a pasted text holds."""

    servers: tuple[Pasted, ...] = ()
    problems: tuple[Problem, ...] = ()


def parse_snippet(text: str) -> Snippet:
    """Understand a pasted text, or raise `DocumentBroken` saying why it cannot be.

    Raises:
        DocumentBroken: It is none of the things that are understood.
    """
    whole = _without_marks(text.lstrip("\ufeff"))
    stripped = whole.strip().lstrip("\ufeff")
    if not stripped:
        raise _broken("nothing was pasted")
    if holds_command_lines(stripped):
        return _lines(read_command_lines(whole))
    if not stripped.startswith(("{", "[{")) and holds_links(stripped):
        return _lines(read_links(whole))
    return _snippet(_raw(stripped))


def _without_marks(text: str) -> str:
    """A text without the marks of Markdown around it; its lines stay where they are."""
    for marked in (_FENCED, _IN_BACKTICKS):
        if match := marked.fullmatch(text):
            return "\n" * text.count("\n", 0, match.start("inside")) + match["inside"]
    return text


def proposed_name(config: Config) -> str:
    """A name for a server that has none, after the package it runs or the host it is at."""
    if not isinstance(config, LocalConfig):
        host = config.url.split("://", 1)[-1].split("/", 1)[0].split(":", 1)[0]
        labels = [label for label in host.split(".") if label not in {"www", "mcp", "api"}]
        return labels[0] if labels else "server"
    words = [config.program, *config.args]
    program = words[0].rsplit("/", 1)[-1]
    if program in _RUNNERS:
        rest = [word for word in words[1:] if not word.startswith("-") and word != "run"]
        program = rest[0] if rest else program
    return _plain_name(program) or "server"


def _plain_name(program: str) -> str:
    name = program.rstrip("/").rsplit("/", 1)[-1]
    name = name.split("@", 1)[0] or name
    name = name.removesuffix(".py").removesuffix(".js")
    for affix in _AFFIXES:
        shorter = name.removeprefix(affix) if affix.endswith("-") else name.removesuffix(affix)
        name = shorter or name
    return name


def _raw(text: str) -> Mapping[str, object] | object:
    """The entries of a text, by name; or what a single entry holds."""
    if text.startswith("[") and not text.startswith(("[{", "[]")):
        return _toml(text)
    if (address := _ADDRESS.fullmatch(text)) and address["host"] not in _PAGES:
        return {"url": text}
    if unknown := _COMMAND.match(text):
        raise _broken(f'"{short(unknown[0])}" {_UNKNOWN}')
    first = text if text.startswith(("{", "[")) else "{" + text.rstrip().rstrip(",") + "}"
    try:
        return jsonc.parse(first).value
    except DocumentBroken as error:
        if "=" in text.split("\n", 1)[0]:
            return _toml(text)
        raise _broken(error.problems[0].message, _line(error)) from None


def _line(error: DocumentBroken) -> int:
    place = error.problems[0].place
    return place.line if place else 1


def _toml(text: str) -> Mapping[str, object]:
    try:
        return tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        raise _broken(f"is neither JSON nor TOML: {error}") from None
    except RecursionError:
        raise _broken("is nested too deeply") from None


def _snippet(value: object) -> Snippet:
    if not is_object(value):
        raise _broken("expected an object with servers")
    for key in _MAPS:
        if is_object(inner := value.get(key)) and not _is_entry(value):
            return _read(inner.items(), key)
    if _is_entry(value):
        return _read([("", value)], "")
    if value and all(isinstance(each, dict) for each in value.values()):
        return _read(value.items(), "")
    raise _broken("contains no server: neither a command nor a url")


def _is_entry(value: Mapping[str, object]) -> bool:
    return any(not isinstance(value.get(key, {}), dict) for key in _ENTRY_KEYS)


def _lines(entries: Iterable[LineEntry | LineFault]) -> Snippet:
    """The servers that commands or links add; a line that cannot be taken costs only itself."""
    servers: dict[str, tuple[int, Pasted]] = {}
    faults: list[tuple[int, str]] = []
    for each in entries:
        if isinstance(each, LineFault):
            faults.append((each.line, each.message))
            continue
        try:
            server = _pasted(each.name, each.raw, each.warnings)
        except DefinitionError as error:
            faults += [(each.line, str(problem)) for problem in error.problems]
            continue
        if server.name in servers:
            line, _ = servers[server.name]
            faults.append((each.line, f'the name "{server.name}" is already used on line {line}'))
            continue
        servers[server.name] = each.line, server
    if not servers:
        places = (Problem("", message, SourceLocation(PASTED, line, 1)) for line, message in faults)
        raise DocumentBroken.of(*places)
    problems = (Problem(f"line {line}", message) for line, message in faults)
    return Snippet(tuple(server for _, server in servers.values()), tuple(problems))


def _read(entries: Iterable[tuple[str, object]], path: str) -> Snippet:
    servers: list[Pasted] = []
    problems: list[Problem] = []
    for name, raw in entries:
        where = ".".join(part for part in (path, name[:80]) if part)
        try:
            servers.append(_pasted(name, raw))
        except DefinitionError as error:
            problems += [_under(where, each) for each in error.problems]
    return Snippet(tuple(servers), tuple(problems))


def _pasted(name: str, raw: object, warnings: tuple[Problem, ...] = ()) -> Pasted:
    reading = read_definition(_respelled(raw))
    chosen = name or proposed_name(reading.config)
    if fault := checks.name_fault(chosen):
        raise DefinitionError.of(Problem("", f"the name {fault}"))
    return Pasted(
        chosen,
        reading.config,
        (*warnings, *reading.warnings),
        (*warnings, *reading.left_out),
    )


def _respelled(raw: object) -> object:
    """An entry in the words of programs whose words are not ours."""
    if not is_object(raw):
        return raw
    entry = dict(raw)
    for theirs, kind in (("httpUrl", "http"), ("serverUrl", "remote")):
        if theirs in entry and "url" not in entry:
            entry |= {"url": entry.pop(theirs), "type": entry.get("type", kind)}
    if isinstance(entry.get("http_headers"), dict) and "headers" not in entry:
        entry["headers"] = entry.pop("http_headers")
    return _with_named_variables(entry)


def _with_named_variables(entry: dict[str, object]) -> dict[str, object]:
    """An entry with the headers whose values Codex looks up in its environment."""
    headers: object = entry.get("headers", {})
    named: dict[str, str] = {}
    for key in ("bearer_token_env_var", "env_http_headers"):
        if references := _references(entry.get(key)):
            named |= references
            del entry[key]
    if not named or not is_object(headers):
        return entry
    return entry | {"headers": {**headers, **named}}


def _references(value: object) -> dict[str, str]:
    """Headers out of the names of variables; a bare name is that of a bearer token."""
    if isinstance(value, str):
        return {"Authorization": f"Bearer {reference(value)}"} if reference(value) else {}
    pairs = object_of(value)
    headers = {header: reference(str(name)) for header, name in pairs.items()}
    return headers if all(headers.values()) else {}


def _under(where: str, problem: Problem) -> Problem:
    field = ".".join(part for part in (where, problem.field) if part)
    return Problem(field, problem.message)


def _broken(message: str, line: int = 1) -> DocumentBroken:
    return DocumentBroken.of(Problem("", message, SourceLocation(PASTED, line, 1)))
