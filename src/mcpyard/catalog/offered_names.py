"""Tool names that every agent accepts.

The exposed names of servers' tools are such names already. An application calls its own tools what
it likes, and one name that is refused costs the whole request.
"""

import re
from collections.abc import Iterable
from typing import Final

from mcpyard.catalog.names import short_hash, slug, unused

_ACCEPTED: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


def offer(names: Iterable[str]) -> dict[str, str]:
    """Give each name the one to offer it by: itself where that is accepted, else one like it."""
    unique = list(dict.fromkeys(names))
    offered = {name: name for name in unique if _ACCEPTED.fullmatch(name)}
    taken = set(offered)
    for name in unique:
        if name not in offered:
            offered[name] = _like(name, taken)
            taken.add(offered[name])
    return offered


def _like(name: str, taken: set[str]) -> str:
    plain = slug(name)
    if not _ACCEPTED.match(plain):
        plain = f"_{plain}"
    encoded = name.encode("utf-8", "surrogatepass")
    return unused(plain, taken, lambda attempt: short_hash(b"%d %b" % (attempt, encoded)))
