"""How a server's tool is called outside: `mcp_<server>_<tool>`.

An exposed name is assigned once and then kept: agents remember it, prompts mention it, and rules
that allow or forbid a tool are written with it. So a name never depends on what else is there
later, and it is never taken apart again: what was assigned is the only way back.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Final, TypeAlias
from uuid import UUID

from anyascii import anyascii

MAX_NAME: Final = 64
"""The longest tool name that every known agent accepts."""

_HASH_DIGITS: Final = 8
_SPELLED: Final = 1_000
"""Characters of a text that its slug is made of; far more than a name has room for."""

_USABLE: Final = re.compile(r"[A-Za-z0-9_-]+")
_ACCEPTED: Final = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_NAME}}}")


@dataclass(frozen=True, slots=True)
class ToolKey:
    """One tool of one server.

    Two keys are equal when server id and tool are: a renamed server keeps the exposed names.
    """

    server_id: UUID
    server_name: str = field(compare=False)
    tool: str


Digest: TypeAlias = Callable[[ToolKey, int], str]
"""Gives the hash suffix of a tool for a try, counted from 0."""


def name_fault(name: str) -> str | None:
    """Why agents would not accept what somebody wants to call a tool; None when they would."""
    if _ACCEPTED.fullmatch(name):
        return None
    return f"must be 1 to {MAX_NAME} letters, digits, _ or -"


def slug(text: str) -> str:
    """A readable stand-in for a text out of `[A-Za-z0-9_-]`; never empty, same text same slug."""
    parts = _USABLE.findall(anyascii(text[:_SPELLED]))
    return "_".join(parts) or "x" + short_hash(_bytes(text))


def assign(
    tools: Iterable[ToolKey],
    earlier: Mapping[ToolKey, str],
    digest: Digest | None = None,
    *,
    reserved: Iterable[str] = (),
) -> dict[ToolKey, str]:
    """Give each tool its exposed name.

    Args:
        tools: The tools to name, in any order.
        earlier: Names given before. They are kept exactly, and stay reserved for tools that are
            away at the moment.
        digest: Where hash suffixes come from; ours unless told.
        reserved: Further names that no tool may get.

    Returns:
        The names of `tools`, and of no others.
    """
    taken = {*earlier.values(), *reserved}
    names: dict[ToolKey, str] = {}
    for key in sorted(tools, key=_rank):
        if key not in names:
            names[key] = earlier.get(key) or _fresh(key, taken, digest or _digest)
            taken.add(names[key])
    return names


def unused(plain: str, taken: set[str], digest: Callable[[int], str]) -> str:
    """A name that is not taken: this one, or its beginning with the first hash that makes it so.

    The digest gives the hash for a try, counted from 0.
    """
    if len(plain) <= MAX_NAME and plain not in taken:
        return plain
    suffixes = (f"_{digest(attempt)}" for attempt in count())
    return next(
        name
        for suffix in suffixes
        if (name := plain[: MAX_NAME - len(suffix)] + suffix) not in taken
    )


def short_hash(data: bytes) -> str:
    """As much of a hash as a name has room for."""
    return hashlib.sha256(data).hexdigest()[:_HASH_DIGITS]


def _rank(key: ToolKey) -> tuple[UUID, str, str]:
    return key.server_id, key.tool, key.server_name


def _fresh(key: ToolKey, taken: set[str], digest: Digest) -> str:
    # Names are compared exactly: MCP tool names are case-sensitive, `Read` and `read` are two.
    plain = f"mcp_{slug(key.server_name)}_{slug(key.tool)}"
    return unused(plain, taken, lambda attempt: digest(key, attempt))


def _digest(key: ToolKey, attempt: int) -> str:
    return short_hash(key.server_id.bytes + attempt.to_bytes(4) + _bytes(key.tool))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
