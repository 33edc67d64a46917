"""Profiles: stored selections of servers and tools, each an address of the gateway's own.

A profile names servers by name, id or pattern, so that it holds also for servers that come later.
What it says of a tool lies over what the user's policy says of it, for this address alone.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Final

from msgspec import Meta, Struct, field
from msgspec.structs import asdict

from mcpyard.catalog.names import MAX_NAME, name_fault
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import ArgumentsRefused, NameRefused, NameTaken, Problem, ProfileUnknown
from mcpyard.domain.narrowing import is_array, is_object
from mcpyard.domain.repositories import Profiles
from mcpyard.yard.name_patterns import fits
from mcpyard.yard.views.access import ProfileView

RESERVED: Final = "servers"
"""Stands in the gateway's addresses for a single server."""

LONGEST_NAME: Final = 80
_MEMBERS: Final = frozenset({"servers", "tools"})
_NAME: Final = rf"^[A-Za-z0-9_-]{{1,{MAX_NAME}}}$"


class ToolOverride(Struct, frozen=True):
    """What a profile says of one tool; None leaves it as it is."""

    enabled: Annotated[bool, Meta(description="Whether it is shown.")] | None = None
    name: Annotated[str, Meta(description="What it is called here.", pattern=_NAME)] | None = None
    description: Annotated[str, Meta(description="What it does, in other words.")] | None = None


_AS_IT_IS: Final = ToolOverride()


class Profile(Struct, frozen=True):
    """One selection.

    Attributes:
        name: Its part of the gateway's address.
        servers: Names, ids or patterns of the servers it shows.
        tools: What it says of tools, by the server's name or id and the tool's own name.
    """

    name: str
    servers: tuple[str, ...] = ("*",)
    tools: Mapping[str, Mapping[str, ToolOverride]] = field(
        default_factory=dict[str, Mapping[str, ToolOverride]]
    )

    def select(self, servers: Iterable[DesiredServer]) -> list[DesiredServer]:
        """Those of the servers that it shows, in their order."""
        return [each for each in servers if self.shows(each)]

    def shows(self, server: DesiredServer) -> bool:
        """Whether it shows a server."""
        return any(
            str(server.id) == pattern or server.name == pattern or fits(server.name, pattern)
            for pattern in self.servers
        )

    def override(self, server: DesiredServer, tool: str) -> ToolOverride:
        """What it says of a server's tool."""
        for key in (server.name, str(server.id)):
            if override := self.tools.get(key, {}).get(tool):
                return override
        return _AS_IT_IS

    def view(self) -> ProfileView:
        """The profile as the faces show it."""
        return ProfileView(name=self.name, servers=[*self.servers], tools=_tools(self))


class VolatileProfiles:
    """Profiles for as long as the program runs (see the `Profiles` port)."""

    def __init__(self) -> None:
        self._all: dict[str, Mapping[str, object]] = {}

    def all(self) -> Mapping[str, Mapping[str, object]]:
        """Every profile by its name."""
        return self._all

    async def set(self, name: str, profile: Mapping[str, object]) -> None:
        """Put a profile in place of the one with its name, if there is one."""
        self._all[name] = profile

    async def remove(self, name: str) -> bool:
        """Take a profile out; whether there was one."""
        return self._all.pop(name, None) is not None


class ProfileBook:
    """The profiles of a yard; `changed` is told the name of each that changed."""

    def __init__(self, repository: Profiles, changed: Callable[[str], None]) -> None:
        self._repository = repository
        self._changed = changed
        self._read: dict[str, tuple[Mapping[str, object], Profile]] = {}

    def all(self) -> list[Profile]:
        """Every profile, by name."""
        return [self.get(name) for name in sorted(self._repository.all())]

    def changed_elsewhere(self) -> None:
        """Another node changed some of them."""
        for name in self._repository.all():
            self._changed(name)

    def get(self, name: str) -> Profile:
        """The profile of that name.

        Raises:
            ProfileUnknown: There is none.
        """
        stored = self._repository.all().get(name)
        if stored is None:
            raise ProfileUnknown(f'there is no profile "{name[:LONGEST_NAME]}"')
        cached = self._read.get(name)
        if cached is None or cached[0] is not stored:
            cached = self._read[name] = stored, read_profile(name, stored)
        return cached[1]

    async def create(self, body: Mapping[str, object]) -> Profile:
        """Store a new profile.

        Raises:
            NameTaken: There is one of that name.
        """
        name = body.get("name")
        if not isinstance(name, str):
            raise NameRefused.of(Problem("name", "must be a string"))
        profile = read_profile(name, {key: body[key] for key in body if key != "name"})
        if name in self._repository.all():
            raise NameTaken(f'a profile "{name}" already exists')
        return await self._keep(profile)

    async def replace(self, name: str, body: Mapping[str, object]) -> Profile:
        """Put something else in place of what a profile says."""
        self.get(name)
        return await self._keep(read_profile(name, body))

    async def remove(self, name: str) -> None:
        """Take a profile out."""
        self.get(name)
        await self._repository.remove(name)
        self._read.pop(name, None)
        self._changed(name)

    async def _keep(self, profile: Profile) -> Profile:
        stored = {"servers": [*profile.servers], "tools": _tools(profile)}
        await self._repository.set(profile.name, stored)
        self._changed(profile.name)
        return profile


def read_profile(name: str, body: Mapping[str, object]) -> Profile:
    """A profile out of what somebody gave.

    Raises:
        NameRefused: The name cannot be part of an address.
        ArgumentsRefused: Something else is wrong; names the field.
    """
    if fault := _address_fault(name):
        raise NameRefused.of(Problem("name", fault))
    if unknown := sorted(body.keys() - _MEMBERS):
        raise _refused(unknown[0][:LONGEST_NAME], "is unknown; expected servers or tools")
    views = _views(_members("tools", body.get("tools", {})))
    return Profile(name, _patterns(body.get("servers", ["*"])), views)


def _address_fault(name: str) -> str | None:
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        return f"must be a text of 1 to {LONGEST_NAME} printable characters"
    if name == RESERVED:
        return f'"{RESERVED}" is reserved: /mcp/{RESERVED}/NAME is a single server'
    if "/" in name or name in {".", ".."} or name != name.strip():
        return "must be usable as one part of an address: no slash, no . or .., no outer space"
    return None


def _patterns(value: object) -> tuple[str, ...]:
    patterns: list[str] = []
    for index, each in enumerate(value if is_array(value) else [None]):
        if not isinstance(each, str) or not each:
            field_ = f"servers[{index}]" if is_array(value) else "servers"
            raise _refused(field_, "must be the name, the id or a pattern of a server, in a list")
        patterns.append(each)
    return tuple(patterns)


def _views(tools: Mapping[str, object]) -> Mapping[str, Mapping[str, ToolOverride]]:
    views = {
        server: {
            tool: _view(f"tools.{server}.{tool}", override)
            for tool, override in _members(f"tools.{server}", each).items()
        }
        for server, each in tools.items()
    }
    names: set[str] = set()
    for server, seen in views.items():
        for tool, view in seen.items():
            if view.name is not None and view.name in names:
                raise _refused(f"tools.{server}.{tool}.name", f'"{view.name}" is given twice')
            names |= {view.name} if view.name is not None else set()
    return views


def _view(place: str, value: object) -> ToolOverride:
    members = _members(place, value)
    enabled, name, description = (members.get(key) for key in ("enabled", "name", "description"))
    if unknown := sorted(members.keys() - {"enabled", "name", "description"}):
        raise _refused(f"{place}.{unknown[0]}", "is unknown; expected enabled, name or description")
    if not isinstance(enabled, bool | None):
        raise _refused(f"{place}.enabled", "must be true or false")
    if not isinstance(name, str | None):
        raise _refused(f"{place}.name", "must be a string")
    if name is not None and (fault := name_fault(name)):
        raise _refused(f"{place}.name", fault)
    if not isinstance(description, str | None):
        raise _refused(f"{place}.description", "must be a string")
    return ToolOverride(enabled, name, description)


def _members(place: str, value: object) -> Mapping[str, object]:
    if not is_object(value):
        raise _refused(place[: 4 * LONGEST_NAME], "must be an object")
    return value


def _tools(profile: Profile) -> dict[str, dict[str, dict[str, object]]]:
    return {
        server: {tool: _written(view) for tool, view in views.items()}
        for server, views in profile.tools.items()
    }


def _written(view: ToolOverride) -> dict[str, object]:
    return {key: value for key, value in asdict(view).items() if value is not None}


def _refused(place: str, message: str) -> ArgumentsRefused:
    return ArgumentsRefused.of(Problem(place, message))
