"""Where the files of a client are: a pure function of the facts and of what the caller knows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from mcpyard.formats.facts import PROJECT, Client, ClientScope, EntrySchema, Location
from mcpyard.formats.provenance import Provenance

_SUPPORT: Final = {
    "darwin": ("", "{home}/Library/Application Support"),
    "win32": ("APPDATA", "{home}/AppData/Roaming"),
}
_XDG: Final = ("XDG_CONFIG_HOME", "{home}/.config")


@dataclass(frozen=True, slots=True)
class ClientFolders:
    """What decides where files are: the environment, the folders, the system as `sys.platform`."""

    environment: Mapping[str, str]
    home: str
    project: str = ""
    platform: str = "linux"


@dataclass(frozen=True, slots=True)
class ClientScopeRef:
    """A client, one of its scopes, and the project it is looked at from.

    The schema is the one its file was found in; None for that of a new file. The client is the one
    that reads the file of the scope, where it reads that file in another way.
    """

    client: Client
    scope: ClientScope
    project: str = ""
    schema: EntrySchema | None = None

    def __post_init__(self) -> None:
        if reading := self.scope.reading:
            members = {name: getattr(reading, name) for name in reading.__slots__}
            object.__setattr__(self, "client", replace(self.client, **members))

    @property
    def shape(self) -> EntrySchema:
        """How its entries are spelled."""
        return self.schema or self.client.shapes[0]

    @property
    def above(self) -> tuple[str, ...]:
        """The keys above those of the shape."""
        return filled(self.scope.above, self.project)

    @property
    def provenance(self) -> Provenance:
        """How the facts about it were found out."""
        return self.scope.provenance or self.client.provenance

    def __str__(self) -> str:
        return f"{self.client.id}:{self.scope.name}"


def filled(path: tuple[str, ...], project: str) -> tuple[str, ...]:
    """A path of keys with the project's folder put in."""
    return tuple(project if step == PROJECT else step for step in path)


def candidates(location: Location, host: ClientFolders) -> tuple[str, ...]:
    """The paths that a file can have; the first is the one to create when there is none."""
    folders = {
        "home": host.home,
        "project": host.project,
        "config": _folder(*_XDG, host),
        "support": _folder(*_SUPPORT.get(host.platform, _XDG), host),
    }
    templates = location.templates
    if location.moved and (moved := host.environment.get(location.moved[0])):
        templates = location.moved[1]
        folders["moved"] = moved
    if location.added and (added := host.environment.get(location.added[0])):
        templates = (*templates, *location.added[1])
        folders["added"] = added
    return tuple(template.format_map(folders) for template in templates)


def usable(location: Location, keys: tuple[str, ...], host: ClientFolders) -> bool:
    """Whether a place can be looked for: one that depends on the project needs one."""
    asks = PROJECT in keys or any(PROJECT in template for template in location.templates)
    return bool(host.project) or not asks


def _folder(variable: str, default: str, host: ClientFolders) -> str:
    return host.environment.get(variable) or default.format(home=host.home)
