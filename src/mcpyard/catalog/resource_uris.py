"""How a server's addresses are written outside: as they are, or with the name of their owner.

The owner form has the server's name as its first segment: `ui://app/main.html` of the server `maps`
is `ui://maps/app/main.html`. It is made and taken apart by inserting and removing that segment
only, so that it holds for templates too.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final
from urllib.parse import quote, unquote

from mcpyard.domain.narrowing import is_array, is_object, object_of

_START: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://)?")
_OWNED: Final = frozenset({"ui", "skill"})
_META: Final = "_meta"
_UI: Final = "ui"
_UI_ADDRESS: Final = "resourceUri"
_MOST_LEVELS: Final = 8

Change = Callable[[str], str]


def carries_owner(address: str) -> bool:
    """Whether addresses of this scheme are always written with their owner.

    They name parts of one server, and many servers choose the same names for theirs.
    """
    start = _START.match(address)
    return start is not None and start[1].lower() in _OWNED


def owner_form(address: str, server: str) -> str | None:
    """An address with the name of its server; None for one without a scheme."""
    start = _START.match(address)
    if start is None:
        return None
    return f"{start[0]}{quote(server, safe='')}/{address[start.end() :]}"


def split_owner(address: str) -> tuple[str, str] | None:
    """The server's name and its own address, if this is an owner form; None if it cannot be."""
    start = _START.match(address)
    if start is None:
        return None
    name, slash, rest = address[start.end() :].partition("/")
    return (unquote(name), start[0] + rest) if name and slash else None


def ui_addresses(tool: Mapping[str, object]) -> Iterator[str]:
    """The addresses of a tool's user interface (MCP Apps), in both spellings."""
    meta = object_of(tool.get(_META))
    nested = object_of(meta.get(_UI))
    for address in (nested.get(_UI_ADDRESS), meta.get(f"{_UI}/{_UI_ADDRESS}")):
        if isinstance(address, str) and address:
            yield address


def with_meta_changed(item: Mapping[str, object], change: Change) -> Mapping[str, object]:
    """A tool, resource or template whose `_meta` has its addresses written anew.

    These are the user interface's, and every text that is an address with an owner.
    """
    if _META not in item:
        return item
    named = {*ui_addresses(item)}

    def changed(text: str) -> str:
        return change(text) if text in named or carries_owner(text) else text

    return {**item, _META: _changed(item[_META], changed, _MOST_LEVELS)}


def _changed(value: object, change: Change, levels: int) -> object:
    if isinstance(value, str):
        return change(value)
    if is_object(value) and levels:
        return {key: _changed(each, change, levels - 1) for key, each in value.items()}
    if is_array(value) and levels:
        return [_changed(each, change, levels - 1) for each in value]
    return value
