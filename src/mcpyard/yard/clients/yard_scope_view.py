"""The servers of the yard among those of the other programs: listed, shown, compared."""

from mcpyard.domain.desired import Owner
from mcpyard.domain.errors import SourceLocation
from mcpyard.domain.model import Scope
from mcpyard.formats.effective import Effective, ServerStatus
from mcpyard.formats.entry_list import Listed, nobody
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.registry import scope_ref_of
from mcpyard.yard.clients.results import Shown, own_shown
from mcpyard.yard.clients.yard_scope import YARD, OwnServers
from mcpyard.yard.clients.yard_scope_documents import entry_of
from mcpyard.yard.views.clients import EntryView, ScopeView, entry_view, scope_view


class OwnView:
    """Shows the yard's own servers as those of any client are shown."""

    def __init__(self, own: OwnServers) -> None:
        self._own = own

    def groups(self) -> list[ScopeView]:
        """Every scope with its servers, and what is wrong with its document."""
        return [self._group(spot, scope) for spot, scope in self._spots()]

    def standings(self) -> list[ServerStatus]:
        """Every server, and what becomes of it."""
        return [
            ServerStatus(spot, Listed(each.name, place, each.entry), each.state, each.reason)
            for spot, scope in self._spots()
            for place in (SourceLocation(self._own.path(scope), 1, 1),)
            for each in self._shown(spot, scope)
        ]

    def show(self, spot: ClientScopeRef, name: str) -> EntryView:
        """One server with everything that is said of it.

        Raises:
            ServerUnknown: There is none of that name.
        """
        scope = Scope(spot.scope.name)
        path = self._own.path(scope)
        for shown in self._shown(spot, scope):
            if shown.name == name:
                return entry_view(spot, path, shown)
        raise nobody(name, spot)

    def _spots(self) -> list[tuple[ClientScopeRef, Scope]]:
        scopes = [Scope.USER, *([Scope.PROJECT] if self._own.project else [])]
        return [(scope_ref_of(f"{YARD}:{scope}"), scope) for scope in scopes]

    def _group(self, spot: ClientScopeRef, scope: Scope) -> ScopeView:
        shown, path = self._shown(spot, scope), self._own.path(scope)
        return scope_view(spot, path, shown, self._own.problems(scope), exists=True)

    def _shown(self, spot: ClientScopeRef, scope: Scope) -> list[Shown]:
        picture = self._own.picture()
        return [
            own_shown(winner, entry_of(config, spot))
            if winner.owner.scope is scope
            else Shown(name, entry_of(config, spot), Effective.SHADOWED, _hidden_by(winner.owner))
            for name, config in picture.servers(scope).items()
            for winner in (picture.winner(name),)
        ]


def _hidden_by(owner: Owner) -> str:
    return f"overridden by the one of the {owner.words}"
