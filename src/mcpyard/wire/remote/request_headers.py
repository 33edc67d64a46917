"""The HTTP headers of the modern era, which repeat parts of a request for those that route it.

A server refuses a request whose headers and body differ, so both are made from the same values.
"""

import base64
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from mcpyard.domain.narrowing import is_array, is_mapping, is_object

VERSION_HEADER: Final = "MCP-Protocol-Version"
METHOD_HEADER: Final = "Mcp-Method"
NAME_HEADER: Final = "Mcp-Name"
PARAM_PREFIX: Final = "Mcp-Param-"

NAMED_BY: Final[Mapping[str, str]] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
}
"""The methods that have a name, and the parameter that is it."""

_KEYWORD: Final = "x-mcp-header"
_KINDS: Final = ("string", "integer", "boolean")
_DATA_KEYWORDS: Final = frozenset({"default", "examples", "const", "enum", _KEYWORD})
_PLAIN = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?")
_WRAPPED = re.compile(r"=\?base64\?.*\?=")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

Path = tuple[str, ...]


def header_value(text: str) -> str:
    """A text as a header can carry it: in Base64 between marks if it would not arrive whole."""
    if _PLAIN.fullmatch(text) and not _WRAPPED.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


@lru_cache(maxsize=1024)
def routing_headers(version: str, method: str, name: str | None) -> Mapping[str, str]:
    """The headers every request has; remembered, since calls repeat. Not to be changed."""
    headers = {VERSION_HEADER: version, METHOD_HEADER: method}
    if name is not None:
        headers[NAME_HEADER] = header_value(name)
    return headers


def mirrored(schema: object) -> dict[Path, str]:
    """The arguments that a tool's input schema wants repeated, each with its header.

    Raises:
        ValueError: An annotation that the specification forbids; such a tool must not be offered.
    """
    headers: dict[Path, str] = {}
    names: set[str] = set()
    for path, node in _annotated(schema):
        header = node[_KEYWORD]
        if not path:
            raise ValueError(f"{_KEYWORD} is set on something that is not an argument")
        where = ".".join(path)
        if not isinstance(header, str) or not _TOKEN.fullmatch(header):
            raise ValueError(f"{where}: {_KEYWORD} is not a valid header name")
        if node.get("type") not in _KINDS:
            raise ValueError(f"{where}: only a string, integer or boolean can have {_KEYWORD}")
        if header.lower() in names:
            raise ValueError(f"{where}: the header {header} is used twice")
        names.add(header.lower())
        headers[path] = PARAM_PREFIX + header
    return headers


def headers_for(paths: Mapping[Path, str], arguments: Mapping[str, Any]) -> dict[str, str]:
    """The headers of one call of a tool whose schema was looked through before."""
    headers: dict[str, str] = {}
    for path, header in paths.items():
        text = _as_text(_value_at(arguments, path))
        if text is not None:
            headers[header] = header_value(text)
    return headers


def _as_text(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def _value_at(arguments: Mapping[str, Any], path: Path) -> object:
    value: object = arguments
    for key in path:
        if not is_mapping(value):
            return None
        value = value.get(key)
    return value


def _annotated(schema: object) -> Iterator[tuple[Path | None, dict[str, Any]]]:
    """Every annotated place; its path is None off the chain of `properties` from the root."""
    # A stack of our own: a schema may be nested deeper than Python likes to call.
    stack: list[tuple[Path | None, object]] = [((), schema)]
    while stack:
        path, node = stack.pop()
        if is_array(node):
            stack.extend((None, item) for item in node)
        elif is_object(node):
            if _KEYWORD in node:
                yield path, node
            stack.extend(_below(path, node))


def _below(path: Path | None, members: dict[str, Any]) -> Iterator[tuple[Path | None, object]]:
    for keyword, value in members.items():
        if keyword == "properties" and is_object(value):
            for name, node in value.items():
                yield (None if path is None else (*path, name)), node
        elif keyword not in _DATA_KEYWORDS:
            yield None, value
