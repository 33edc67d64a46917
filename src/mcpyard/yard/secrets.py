"""Stored secrets: set and removed from here, and who uses them.

A reference such as `${NAME}` finds the environment first, then a stored secret. What uses a secret
is launched anew when it changes. The file of a project finds only the names that it was allowed.
"""

import re
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from mcpyard.domain.definition import checks
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import ArgumentsRefused, Problem, ReadOnlyOwner, SecretUnknown
from mcpyard.domain.model import Scope
from mcpyard.domain.ports import KeyRing, VariableSource
from mcpyard.domain.repositories import SecretConsents, Secrets
from mcpyard.yard.views.secrets import SecretChangeView, SecretStore, StoredSecretView

if TYPE_CHECKING:
    from mcpyard.yard.clients.reaching import ReachedClients

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_LONGEST: Final = 65_536
_NO_STORE: Final = "this mcpyard instance stores no secrets"
_NO_KEY_RING: Final = "the nodes of a cluster share their secrets; a key ring belongs to one user"


EditPart: TypeAlias = tuple[str, bytes | None, bytes | None]
"""What an edit changed, before and after."""


class SecretPorts(Struct, frozen=True):
    """What secrets are reached through; a cluster has no key ring."""

    stored: Secrets
    consents: SecretConsents
    variables: VariableSource
    key_ring: KeyRing | None = None


class SecretChange(Struct, frozen=True):
    """A change of a secret.

    Attributes:
        name: Its name.
        value: Its new value; None removes it.
        store: Where it is stored.
        places: The files of projects that are allowed to use it with this.
        who: Who asks, for the journal.
    """

    name: str
    value: str | None = None
    store: SecretStore = "mcpyard"
    places: Sequence[str] = ()
    who: str = "library"

    def __repr__(self) -> str:
        """The change without the value."""
        return f"SecretChange({self.name!r})"


class SecretBook:
    """The stored secrets of a yard."""

    def __init__(
        self,
        ports: SecretPorts | None,
        servers: Callable[[], Collection[DesiredServer]],
        clients: "Callable[[], ReachedClients] | None",
    ) -> None:
        self._ports = ports
        self._servers = servers
        self._clients = clients

    @property
    def has_key_ring(self) -> bool:
        """Whether secrets can be stored in a key ring."""
        return self._ports is not None and self._ports.key_ring is not None

    @property
    def available(self) -> bool:
        """Whether secrets can be stored."""
        return self._ports is not None

    @property
    def names(self) -> Collection[str]:
        """The names of the stored secrets."""
        return self._ports.stored.all().keys() if self._ports else ()

    def all(self) -> list[StoredSecretView]:
        """Every stored secret, by name, without its value."""
        return [self.view(name) for name in sorted(self.names)]

    def view(self, name: str) -> StoredSecretView:
        """A secret without its value; also one that is not stored, but used."""
        ports = self._reached()
        secret = ports.stored.all().get(name)
        users = self.users(name)
        allowed = sorted(place for place, each in ports.consents.all() if each == name)
        places = {each.owner.place for each in users if each.owner.scope is Scope.PROJECT}
        return StoredSecretView(
            name=name,
            stored=secret is not None,
            store="key-ring" if secret and secret.in_key_ring else "mcpyard",
            readable=secret is not None and (secret.in_key_ring or secret.value is not None),
            overridden=ports.variables.is_set(name),
            used_by=[each.name for each in users],
            allowed=allowed,
            needs_consent=sorted(places - {*allowed}),
        )

    def users(self, name: str) -> list[DesiredServer]:
        """The servers whose definitions refer to a name."""
        return sorted(
            (each for each in self._servers() if name in each.values), key=lambda each: each.name
        )

    def preview(self, change: SecretChange) -> SecretChangeView:
        """What a change would do.

        Raises:
            ArgumentsRefused: The name or the value cannot be used.
            SecretUnknown: There is no secret to remove.
        """
        return self._outcome(change, self._checked(change))

    async def change(self, change: SecretChange) -> SecretChangeView:
        """Set or remove a secret; what uses it is launched anew.

        Raises:
            ArgumentsRefused: The name or the value cannot be used.
            SecretUnknown: There is no secret to remove.
            NotWritable: The key ring refuses.
        """
        ports = self._checked(change)
        outcome = self._outcome(change, ports)
        stored, name = ports.stored, change.name
        before = await stored.sealed(name)
        was_in_ring = name in stored.all() and stored.all()[name].in_key_ring
        if change.value is None:
            if was_in_ring and ports.key_ring:
                await ports.key_ring.remove(name)
            await stored.restore(name, None)
        elif change.store == "key-ring" and ports.key_ring:
            await ports.key_ring.set(name, change.value)
            ports.variables.forget(name)
            await stored.set(name, None)
        else:
            await stored.set(name, change.value)
        parts: list[EditPart] = []
        if not was_in_ring and (change.value is None or change.store == "mcpyard"):
            # What a key ring held before is not known here, so that cannot be put back.
            parts.append((f"secret:{name}", before, await stored.sealed(name)))
        pairs = {*ports.consents.all()}
        for place in change.places:
            if (place, name) not in pairs:
                await ports.consents.set(place, name, allowed=True)
                parts.append((f"consent:{name}:{place}", None, b"1"))
        return await self._noted(outcome, parts, change.who)

    async def allow(self, name: str, places: Sequence[str], who: str) -> SecretChangeView:
        """Allow files of projects to use a stored secret."""
        ports = self._reached()
        if name not in ports.stored.all():
            raise SecretUnknown(f'there is no secret "{name[:80]}"')
        parts: list[EditPart] = []
        for place in places:
            await ports.consents.set(place, name, allowed=True)
            parts.append((f"consent:{name}:{place}", None, b"1"))
        outcome = self._outcome(SecretChange(name, places=places), ports)
        return await self._noted(outcome, parts, who)

    async def _noted(
        self,
        outcome: SecretChangeView,
        parts: Sequence[EditPart],
        who: str,
    ) -> SecretChangeView:
        if self._clients is None or all(before == after for _, before, after in parts):
            return outcome
        number = await self._clients().note_parts(parts, "secret", who)
        return SecretChangeView(name=outcome.name, launched_anew=outcome.launched_anew, edit=number)

    def _outcome(self, change: SecretChange, ports: SecretPorts) -> SecretChangeView:
        allowed = {place for place, name in ports.consents.all() if name == change.name}
        allowed |= {*change.places}
        overridden = ports.variables.is_set(change.name)
        users = [
            each.name
            for each in self.users(change.name)
            if each.owner.scope is not Scope.PROJECT or each.owner.place in allowed
        ]
        return SecretChangeView(
            name=change.name, launched_anew=[] if overridden else users, edit=None
        )

    def _checked(self, change: SecretChange) -> SecretPorts:
        ports = self._reached()
        if not _NAME.fullmatch(change.name):
            message = "must be the name of a variable: letters, digits and _"
            raise ArgumentsRefused.of(Problem("name", message))
        if change.value is None:
            if change.name not in ports.stored.all():
                raise SecretUnknown(f'there is no secret "{change.name}"')
        elif fault := _value_fault(change.value):
            raise ArgumentsRefused.of(Problem("value", fault))
        if change.store == "key-ring" and ports.key_ring is None:
            raise ArgumentsRefused.of(Problem("store", _NO_KEY_RING))
        return ports

    def _reached(self) -> SecretPorts:
        if self._ports is None:
            raise ReadOnlyOwner(_NO_STORE)
        return self._ports


def _value_fault(value: str) -> str | None:
    if not value:
        return "must not be empty"
    if len(value) > _LONGEST:
        return f"is longer than {_LONGEST} characters"
    return checks.text_fault(value)
