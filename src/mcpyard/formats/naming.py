"""The names a client takes, and one it would take in place of another."""

import re
from collections.abc import Collection
from typing import Final

from anyascii import anyascii

from mcpyard.domain.definition import checks
from mcpyard.formats.facts import Client

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+")


def name_fault(client: Client, name: str, taken: Collection[str] = ()) -> str | None:
    """What keeps a client from taking a new server's name, as a sentence with an offer."""
    if fault := _fault(client, name, taken):
        better = slug(client, name, taken)
        offer = f'; use for example "{better}"' if better != name else ""
        return f'"{name[:80]}" {fault}{offer}'
    return None


def slug(client: Client, name: str, taken: Collection[str] = ()) -> str:
    """The name, or the nearest to it that the client takes and nobody has, if there is one."""
    if _fault(client, name, taken) is None:
        return name
    base = _UNSAFE.sub("-", anyascii(name)).strip("-")[: checks.MAX_NAME - 8] or "server"
    numbered = (base, *(f"{base}-{number}" for number in range(2, len(taken) + 4)))
    # Some programs take no capital letters.
    tries = (*numbered, *map(str.lower, numbered))
    return next((each for each in tries if _fault(client, each, taken) is None), name)


def rule_fault(client: Client, name: str) -> str | None:
    """What the client's own rule has against a name."""
    rule = client.names
    if not re.fullmatch(rule.pattern, name):
        return f"is not a valid name in {client.title}, which accepts {rule.says}"
    if name in rule.reserved:
        return f"is reserved by {client.title}"
    return None


def _fault(client: Client, name: str, taken: Collection[str]) -> str | None:
    rule = client.names
    if fault := checks.name_fault(name) or rule_fault(client, name):
        return fault
    if name in taken:
        return "is taken"
    if rule.folded and name.casefold() in {each.casefold() for each in taken}:
        return f"differs only in case from another name; {client.title} ignores case"
    return None
