"""Addresses in results, as the client must write them to get there.

Only the texts of addresses are written anew; every other byte stays as it came. A result without
any is not even taken apart.
"""

from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

import msgspec
from msgspec import Raw

from mcpyard.gateway.resource_uris import Addresses
from mcpyard.wire.jsonrpc import quoted

_MARK: Final = b'"uri"'
_LINKS: Final = frozenset({"resource_link", "resource"})
_LIST: Final = b"["

Edit = Callable[[bytes], bytes]

_members = msgspec.json.Decoder(dict[str, Raw])
_items = msgspec.json.Decoder(list[Raw])
_text = msgspec.json.Decoder(str)


class _Typed(msgspec.Struct):
    type: str = ""


_typed = msgspec.json.Decoder(_Typed)


def with_links_exposed(raw: bytes, addresses: Addresses, server: UUID) -> bytes:
    """A result of a server with its addresses as they are called in an exposure."""
    if addresses.as_they_are or _MARK not in raw:
        return raw
    try:
        return _result(raw, addresses.links(server))
    except (ValueError, RecursionError):
        # What does not look like a result of MCP has no addresses of MCP either.
        return raw


def _result(raw: bytes, exposed: Callable[[str], str]) -> bytes:
    def uri(value: bytes) -> bytes:
        own = _text.decode(value)
        public = exposed(own)
        return value if public == own else quoted(public)

    def contents(value: bytes) -> bytes:
        return _object(value, {"uri": uri})

    def block(value: bytes) -> bytes:
        if _MARK not in value or _typed.decode(value).type not in _LINKS:
            return value
        return _object(value, {"uri": uri, "resource": contents})

    def blocks(value: bytes) -> bytes:
        return _list(value, block) if value.startswith(_LIST) else block(value)

    def message(value: bytes) -> bytes:
        return _object(value, {"content": blocks})

    return _object(
        raw,
        {
            "content": blocks,
            "contents": lambda value: _list(value, contents),
            "messages": lambda value: _list(value, message),
        },
    )


def _object(raw: bytes, edits: Mapping[str, Edit]) -> bytes:
    members = _members.decode(raw)
    changed = {key: edits[key](bytes(members[key])) for key in edits if key in members}
    if all(bytes(members[key]) == value for key, value in changed.items()):
        return raw
    each = (b"%b:%b" % (quoted(key), changed.get(key, value)) for key, value in members.items())
    return b"{%b}" % b",".join(each)


def _list(raw: bytes, edit: Edit) -> bytes:
    items = [bytes(item) for item in _items.decode(raw)]
    changed = [edit(item) for item in items]
    return raw if changed == items else b"[%b]" % b",".join(changed)
