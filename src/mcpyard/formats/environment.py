"""Servers in environment variables: `X_MCP_SERVER_URL`, `X_MCP_TRANSPORT` and so on.

The prefix in lower case is the server's name. With the transport `stdio` the "URL" is a command
line. Without a transport an address means SSE and anything else a command. An empty URL means that
the server is not configured. Of two prefixes that differ only in case the first one counts.
"""

import re
import shlex
from collections.abc import Mapping

import orjson

from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.desired import Definition, Document, Owner
from mcpyard.domain.errors import DefinitionError, Problem
from mcpyard.domain.model import Scope
from mcpyard.domain.narrowing import is_array, is_object

OWNER = Owner(Scope.ENV)

_URL = re.compile(r"([A-Za-z][A-Za-z0-9_]*)_MCP_SERVER_URL")
_TRANSPORTS = ("sse", "stdio", "http", "streamable-http")
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_FIELDS = {
    "url": "SERVER_URL",
    "command": "SERVER_URL",
    "transport": "TRANSPORT",
    "timeout": "TIMEOUT",
    "fallback": "FALLBACK",
    "headers": "HEADERS",
    "token": "TOKEN",
}
_TOKEN = re.compile(r"[\x21-\x7e]+")
_OF_ADDRESSES = ("HEADERS", "TOKEN")


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
    raw |= _more(prefix, transport, _values(prefix, environment))
    try:
        # A variable's value is what it is: nothing in it is a reference.
        return Definition(name, read_definition(_escaped(raw)).config)
    except DefinitionError as error:
        raise _named(prefix, *error.problems) from None


def _values(prefix: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of a server that are set, by the ends of their names."""
    values = {end: environment.get(f"{prefix}_MCP_{end}", "").strip() for end in _FIELDS.values()}
    return {end: value for end, value in values.items() if value}


def _more(prefix: str, transport: str, values: Mapping[str, str]) -> dict[str, object]:
    """The fields of a definition besides how the server is reached."""
    for end in _OF_ADDRESSES if transport == "stdio" else ():
        if end in values:
            fault = "only a server with a URL is sent headers; this one is a command"
            raise _named(prefix, Problem(end.lower(), fault))
    fields: dict[str, object] = {}
    if timeout := values.get("TIMEOUT"):
        fields["timeout"] = _milliseconds(prefix, timeout)
    if fallback := values.get("FALLBACK"):
        fields["fallback"] = _names(prefix, fallback)
    if headers := _headers(prefix, values):
        fields["headers"] = headers
    return fields


def _names(prefix: str, text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise _named(prefix, Problem("fallback", "expected names of servers, with commas between"))
    return names


def _headers(prefix: str, values: Mapping[str, str]) -> dict[str, object]:
    """The headers with the token; no message repeats what may be a secret."""
    headers = _json_object(prefix, values.get("HEADERS", "{}"))
    token = values.get("TOKEN")
    if token is None:
        return headers
    if not _TOKEN.fullmatch(token):
        fault = "must consist of visible ASCII characters, without spaces"
        raise _named(prefix, Problem("token", fault))
    if any(name.lower() == "authorization" for name in headers):
        fault = f"{prefix}_MCP_HEADERS already contains an Authorization header; set one of them"
        raise _named(prefix, Problem("token", fault))
    return {**headers, "Authorization": f"Bearer {token}"}


def _json_object(prefix: str, text: str) -> dict[str, object]:
    try:
        value: object = orjson.loads(text)
    except ValueError as error:
        fault = f"expected a JSON object of names and values: {error}"
        raise _named(prefix, Problem("headers", fault)) from None
    if not is_object(value) or not all(isinstance(each, str) for each in value.values()):
        fault = "expected a JSON object of names and values, all of them strings"
        raise _named(prefix, Problem("headers", fault))
    return value


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
    if is_object(value):
        return _escaped(value)
    return [_escape(each) for each in value] if is_array(value) else value
