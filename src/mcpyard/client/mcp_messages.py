"""What the bridge reads of a message: whose it is, of which era, and what headers repeat of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Raw

from mcpyard.wire.jsonrpc import ABSENT, Id, read
from mcpyard.wire.remote.request_headers import (
    NAMED_BY,
    Path,
    headers_for,
    mirrored,
    routing_headers,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEYWORD: Final = b"x-mcp-header"


class _Meta(msgspec.Struct):
    version: str = msgspec.field(default="", name="io.modelcontextprotocol/protocolVersion")


class _Params(msgspec.Struct):
    meta: _Meta = msgspec.field(default_factory=_Meta, name="_meta")
    name: str = ""
    uri: str = ""
    arguments: Raw = ABSENT
    request_id: Id | None = msgspec.field(default=None, name="requestId")


class _Tool(msgspec.Struct):
    name: str
    input_schema: object = msgspec.field(default=None, name="inputSchema")


class _Tools(msgspec.Struct):
    tools: list[_Tool] = msgspec.field(default_factory=list[_Tool])


_params = msgspec.json.Decoder(_Params)
_tools = msgspec.json.Decoder(_Tools)
_members = msgspec.json.Decoder(dict[str, object])


@dataclass(frozen=True, slots=True)
class ClientMessage:
    """A message of the program's.

    Attributes:
        line: The bytes it came as.
        id: Of a request or an answer.
        method: Of a request or a notification.
        version: The revision that a request of the modern era names; empty for others.
        name: What a request is about, where headers repeat it.
        arguments: Of the call of a tool.
        cancels: The request that a notification cancels.
    """

    line: bytes
    id: Id | None
    method: str | None
    version: str = ""
    name: str | None = None
    arguments: bytes = b""
    cancels: Id | None = None


def read_message(line: bytes) -> ClientMessage:
    """The message in a line; `ValueError` or `RecursionError` when there is none."""
    envelope = read(line)
    if envelope.method is None or envelope.params is ABSENT:
        return ClientMessage(line, envelope.id, envelope.method)
    try:
        params = _params.decode(envelope.params)
    except ValueError:
        # The gateway says what is wrong with them.
        return ClientMessage(line, envelope.id, envelope.method)
    member = NAMED_BY.get(envelope.method)
    name = params.uri if member == "uri" else params.name
    cancels = params.request_id if envelope.method == "notifications/cancelled" else None
    arguments = bytes(params.arguments)
    named = name if member else None
    return ClientMessage(
        line, envelope.id, envelope.method, params.meta.version, named, arguments, cancels
    )


class ToolHeaders:
    """The headers of the modern era; learns from the lists of tools which arguments they repeat."""

    def __init__(self) -> None:
        self._paths: dict[str, Mapping[Path, str]] = {}

    def take_list(self, result: bytes) -> None:
        """Look through a list of tools that passes by."""
        if _KEYWORD not in result:
            return
        try:
            listed = _tools.decode(result).tools
        except ValueError:
            return
        for tool in listed:
            try:
                self._paths[tool.name] = mirrored(tool.input_schema)
            except ValueError:
                self._paths.pop(tool.name, None)

    def headers(self, message: ClientMessage) -> dict[str, str]:
        """The headers of a message."""
        routing = routing_headers(message.version, message.method or "", message.name)
        paths = self._paths.get(message.name or "") if message.method == "tools/call" else None
        if not paths or not message.arguments:
            return dict(routing)
        return {**routing, **headers_for(paths, _members.decode(message.arguments))}
