"""What the addresses of servers are called in one exposure, and which server an address belongs to.

An address is never offered to one server after the other. It belongs to the server that listed it
first (see `AddressBook`), that it names as its owner, or whose template it fits.
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple
from uuid import UUID

from mcpyard.catalog.resource_uris import carries_owner, owner_form, split_owner
from mcpyard.gateway.uri_templates import UriTemplate, UriText, template_of

MOST_TEMPLATES: Final = 500
"""Templates of one server that addresses are compared with."""

_MOST_COMPARED: Final = 20_000
"""Comparisons with templates for the links of one result; links beyond that stay as they came."""

Holder = Callable[[str], "UUID | None"]
"""The server that an address was given to; None when that is nobody."""


class ResourceLocation(NamedTuple):
    """A resource or template: its server, and what that calls it."""

    server: UUID
    own: str


class _Matched(NamedTuple):
    template: UriTemplate
    place: ResourceLocation


class Addresses:
    """The addresses of an exposure.

    Attributes:
        as_they_are: Whether every address stays as it came: there is one server only.
    """

    def __init__(self, holder: Holder, *, as_they_are: bool) -> None:
        self.as_they_are = as_they_are
        self._holder = holder
        self._names: dict[UUID, str] = {}
        self._readable: dict[str, UUID] = {}
        self._places: dict[str, ResourceLocation] = {}
        self._templates: dict[str, ResourceLocation] = {}
        self._plain: list[_Matched] = []
        self._displaced: list[_Matched] = []

    def add_server(self, server: UUID, name: str, *, has_resources: bool) -> None:
        """Know of a server, before anything of it is taken."""
        self._names[server] = name
        if has_resources:
            self._readable[name] = server

    def take(self, server: UUID, own: str) -> str | None:
        """What an address that a server named is called here; None when it cannot be shown."""
        return self._take(self._places, ResourceLocation(server, own))

    def take_template(self, server: UUID, own: str) -> str | None:
        """The same for a template."""
        if (exposed := self._take(self._templates, place := ResourceLocation(server, own))) is None:
            return None
        matched = self._plain if exposed == own else self._displaced
        few = sum(each.place.server == server for each in matched) < MOST_TEMPLATES
        if few and (template := template_of(exposed)) is not None:
            matched.append(_Matched(template, place))
        return exposed

    def find(self, uri: str) -> ResourceLocation | None:
        """The server that has what a client asks for, and the address in that server's words."""
        if (location := self._places.get(uri)) is not None:
            return location
        if self.as_they_are:
            return next((ResourceLocation(server, uri) for server in self._readable.values()), None)
        if (named := self._named(uri)) is not None:
            return named
        if carries_owner(uri):
            return None
        address = UriText(uri)
        for matched in self._displaced:
            if matched.template.fits(address) and (split := split_owner(uri)):
                return ResourceLocation(matched.place.server, split[1])
        owner = self._plain_owner(uri)
        return None if owner is None or owner not in self._names else ResourceLocation(owner, uri)

    def find_template(self, text: str) -> ResourceLocation | None:
        """The template that is called so here."""
        return self._templates.get(text)

    def exposed(self, server: UUID, own: str) -> str:
        """What an address of a server is called here, whether or not it was listed."""
        if self.as_they_are or server not in self._names:
            return own
        if carries_owner(own) or self._plain_owner(own) not in {None, server}:
            return owner_form(own, self._names[server]) or own
        return own

    def links(self, server: UUID) -> Callable[[str], str]:
        """`exposed` for the links of one result of a server, within bounds."""
        budget = iter(range(0, _MOST_COMPARED, len(self._plain) + 1))

        def exposed(own: str) -> str:
            is_cheap = carries_owner(own)
            return self.exposed(server, own) if is_cheap or next(budget, None) is not None else own

        return exposed

    def _take(self, places: dict[str, ResourceLocation], place: ResourceLocation) -> str | None:
        for exposed in self._forms(place):
            if places.setdefault(exposed, place) == place:
                return exposed
        return None

    def _forms(self, place: ResourceLocation) -> Iterator[str]:
        """What an address may be called, the best first."""
        if self.as_they_are:
            yield place.own
            return
        is_free = self._holder(place.own) in {None, place.server}
        if is_free and not carries_owner(place.own):
            yield place.own
        if (form := owner_form(place.own, self._names[place.server])) is not None:
            yield form

    def _named(self, uri: str) -> ResourceLocation | None:
        """What an address in owner form stands for."""
        split = split_owner(uri)
        server = self._readable.get(split[0]) if split else None
        if split is None or server is None or self.exposed(server, split[1]) != uri:
            return None
        return ResourceLocation(server, split[1])

    def _plain_owner(self, uri: str) -> UUID | None:
        """The server that an address without an owner's name leads to."""
        holder = self._holder(uri)
        if holder is not None:
            return holder
        if (location := self._places.get(uri)) is not None and location.own == uri:
            return location.server
        address = UriText(uri)
        fitting = (each.place.server for each in self._plain if each.template.fits(address))
        return next(fitting, None)
