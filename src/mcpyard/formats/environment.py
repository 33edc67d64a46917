"""Servers in environment variables: `X_MCP_SERVER_URL`, `X_MCP_TRANSPORT`, `X_MCP_TIMEOUT`.

The prefix in lower case is the server's name. With the transport `stdio` the "URL" is a command
line. Without a transport an address means SSE and anything else a command. An empty URL means that
the server is not configured. Of two prefixes that differ only in case the first one counts.
"""

import re
import shlex
from collections.abc import Mapping

from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.desired import Definition, Document, Owner
from mcpyard.domain.errors import DefinitionError, Problem
from mcpyard.domain.model import Scope
from mcpyard.domain.narrowing import is_array

OWNER = Owner(Scope.ENV)

_URL = re.compile(r"([A-Za-z][A-Za-z0-9_]*)_MCP_SERVER_URL")
_TRANSPORTS = ("sse", "stdio", "http", "streamable-http")
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_FIELDS = {
    "url": "SERVER_URL",
    "command": "SERVER_URL",
    "transport": "TRANSPORT",
    "timeout": "TIMEOUT",
}


def read(environment: Mapping[str, str]) -> Document:
    """The servers that an environment configures."""
    definitions: dict[str, Definition] = {}
    problems: list[Problem] = []
    skipped: set[str] = set()
    for variable in sorted(environment):
        match = _URL.fullmatch(variable)
        if not match or not environment[variable].strip():
            continue
        name = match.group(1).lower()
        if name in definitions or name in skipped:
            problems.append(Problem(variable, f'ignored: a server "{name}" already exists'))
            continue
        try:
            definitions[name] = _definition(name, match.group(1), environment)
        except DefinitionError as error:
            problems += error.problems
            skipped.add(name)
    servers = tuple(definitions.values())
    return Document(OWNER, servers, tuple(problems), skipped=frozenset(skipped))


def _definition(name: str, prefix: str, environment: Mapping[str, str]) -> Definition:
    url = environment[f"{prefix}_MCP_SERVER_URL"].strip()
    transport = environment.get(f"{prefix}_MCP_TRANSPORT", "").strip().lower()
    transport = transport or ("sse" if _ADDRESS.match(url) else "stdio")
    if fault := _transport_fault(transport, url):
        raise _named(prefix, Problem("transport", fault))
    raw: dict[str, object] = {"type": transport}
    try:
        raw |= {"command": shlex.split(url)} if transport == "stdio" else {"url": url}
    except ValueError as error:
        raise _named(prefix, Problem("command", f"is not a command line: {error}")) from None
    timeout = environment.get(f"{prefix}_MCP_TIMEOUT", "").strip()
    if timeout:
        raw["timeout"] = _milliseconds(prefix, timeout)
    try:
        # A variable's value is what it is: nothing in it is a reference.
        return Definition(name, read_definition(_escaped(raw)).config)
    except DefinitionError as error:
        raise _named(prefix, *error.problems) from None


def _transport_fault(transport: str, url: str) -> str | None:
    if transport not in _TRANSPORTS:
        return f'"{transport[:40]}" is unknown; expected one of {", ".join(_TRANSPORTS)}'
    if transport == "stdio" and _ADDRESS.match(url):
        return "stdio requires a command line, but the URL is an HTTP URL"
    return None


def _milliseconds(prefix: str, text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        fault = f'expected a whole number of milliseconds, found "{text[:40]}"'
        raise _named(prefix, Problem("timeout", fault))
    return int(text)


def _named(prefix: str, *problems: Problem) -> DefinitionError:
    """The problems in the words the user wrote: the names of the variables."""
    return DefinitionError.of(
        *(
            Problem(f"{prefix}_MCP_{_FIELDS[problem.field.split('[')[0]]}", problem.message)
            for problem in problems
        )
    )


def _escaped(raw: Mapping[str, object]) -> dict[str, object]:
    return {key: _escape(value) for key, value in raw.items()}


def _escape(value: object) -> object:
    if isinstance(value, str):
        return value.replace("${", "$${")
    return [_escape(each) for each in value] if is_array(value) else value
