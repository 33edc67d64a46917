"""Whether an entry points back to this gateway.

A yard that connected to its own gateway would offer every tool twice, and call itself. So an entry
that leads here is shown as `this yard`, and never connected or imported.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from mcpyard.domain.definition.launch import Launch, LocalLaunch, RemoteLaunch, Unlaunchable

NAME: Final = "mcpyard"
"""Our command, and the name that the gateway gives in its server's info."""

INSTANCE: Final = "instance"
"""The member of the server's info by which a yard knows itself."""

THIS_YARD_NOTE: Final = "points back to this gateway (loop), so it is never connected"

_BRIDGE: Final = "stdio"
_HOME: Final = "MCPYARD_HOME"
_GATEWAY: Final = re.compile(r"/mcp(/|$)")
_LOOPBACK: Final = "loopback"
_PORTS: Final = {"http": 80, "https": 443}


class SelfIdentity(Struct, frozen=True):
    """What this yard is known by.

    Attributes:
        homes: The spellings of its home's path.
        addresses: Where it listens, as urls, by all its names.
        instance: Differs between any two yards.
    """

    homes: frozenset[str] = frozenset()
    addresses: frozenset[str] = frozenset()
    instance: str = ""

    def is_reached_by(self, launch: Launch | Unlaunchable) -> bool:
        """Whether what would be launched leads back here."""
        if isinstance(launch, LocalLaunch):
            return self.is_run_by(launch.command, launch.environment)
        return isinstance(launch, RemoteLaunch) and self.is_at(launch.url)

    def is_run_by(self, command: Sequence[str], environment: Mapping[str, str]) -> bool:
        """Whether a command is our bridge, to this home's yard or to the user's own."""
        options = _after_bridge(command)
        if options is None:
            return False
        home = _option(options, "--home") or environment.get(_HOME, "")
        return not home or home.rstrip("/") in self.homes

    def is_at(self, url: str) -> bool:
        """Whether an address is one of this yard's gateway."""
        address = _place(url)
        return (
            address is not None
            and _GATEWAY.match(urlsplit(url).path) is not None
            and any(address == _place(each) for each in self.addresses)
        )

    def matches_info(self, server_info: Mapping[str, object]) -> bool:
        """Whether a server that was met says that it is this yard."""
        identity = server_info.get("name"), server_info.get(INSTANCE)
        return bool(self.instance) and identity == (NAME, self.instance)


def are_same_bridge(command: Sequence[str], own: Sequence[str]) -> bool:
    """Whether a command starts the same bridge as one of this machine.

    Where the program and the home are differs between machines, but not the profile.
    """
    written, ours = _after_bridge(command), _after_bridge(own)
    if written is None or ours is None:
        return False
    return [*written] in ([*ours], _without_home(ours))


def _without_home(parts: Sequence[str]) -> list[str]:
    homes = [index for index, part in enumerate(parts) if part == "--home"]
    left_out = {*homes, *(index + 1 for index in homes)}
    return [part for index, part in enumerate(parts) if index not in left_out]


def _after_bridge(command: Sequence[str]) -> Sequence[str] | None:
    """What stands behind `mcpyard`, if `stdio` is among it as the command; else None."""
    for index, part in enumerate(command):
        program = part.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".exe")
        if program == NAME:
            rest = command[index + 1 :]
            return rest if next(_words(rest), None) == _BRIDGE else None
    return None


def _words(parts: Sequence[str]) -> Iterator[str]:
    return (each for each in parts if not each.startswith("-"))


def _option(parts: Sequence[str], name: str) -> str:
    for index, part in enumerate(parts):
        if part == name:
            return next(iter(parts[index + 1 :]), "")
        if part.startswith(f"{name}="):
            return part.partition("=")[2]
    return ""


def _place(url: str) -> tuple[str, int] | None:
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    return (_host(parts), port) if parts.hostname and port else None


def _host(parts: SplitResult) -> str:
    """The host; all names of this very machine's loopback are one."""
    name = (parts.hostname or "").rstrip(".")
    local = name in {"localhost", "::1"} or name.endswith(".localhost") or name.startswith("127.")
    return _LOOPBACK if local else name
