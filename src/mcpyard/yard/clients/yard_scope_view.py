"""The servers of the yard among those of the other programs: listed, shown, compared."""

from mcpyard.domain.errors import SourceLocation
from mcpyard.domain.model import Scope
from mcpyard.formats.effective import Effective, ServerStatus
from mcpyard.formats.entry_list import Listed, nobody
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.registry import scope_ref_of
from mcpyard.yard.clients.edit_results import EntryStatus, own_status
from mcpyard.yard.clients.yard_scope import YARD, OwnServers
from mcpyard.yard.clients.yard_scope_documents import entry_of
from mcpyard.yard.views.clients import EntryView, ScopeView, entry_view, scope_view


class OwnView:
    """Shows the yard's own servers as those of any client are shown."""

    def __init__(self, own: OwnServers) -> None:
        self._own = own

    def groups(self) -> list[ScopeView]:
        """Every scope with its servers, and what is wrong with its document."""
        return [self._group(ref, scope) for ref, scope in self._refs()]

    def statuses(self) -> list[ServerStatus]:
        """Every server, and what becomes of it."""
        return [
            ServerStatus(ref, Listed(each.name, place, each.entry), each.state, each.reason)
            for ref, scope in self._refs()
            for place in (SourceLocation(self._own.path(scope), 1, 1),)
            for each in self._entries(ref, scope)
        ]

    def show(self, ref: ClientScopeRef, name: str) -> EntryView:
        """One server with everything that is said of it.

        Raises:
            ServerUnknown: There is none of that name.
        """
        scope = Scope(ref.scope.name)
        path = self._own.path(scope)
        for entry in self._entries(ref, scope):
            if entry.name == name:
                return entry_view(ref, path, entry)
        raise nobody(name, ref)

    def _refs(self) -> list[tuple[ClientScopeRef, Scope]]:
        scopes = [Scope.USER, *([Scope.PROJECT] if self._own.project else [])]
        return [(scope_ref_of(f"{YARD}:{scope}"), scope) for scope in scopes]

    def _group(self, ref: ClientScopeRef, scope: Scope) -> ScopeView:
        entries, path = self._entries(ref, scope), self._own.path(scope)
        return scope_view(ref, path, entries, self._own.problems(scope), exists=True)

    def _entries(self, ref: ClientScopeRef, scope: Scope) -> list[EntryStatus]:
        picture = self._own.picture()
        return [
            own_status(winner, entry_of(config, ref))
            if winner.owner.scope is scope
            else EntryStatus(
                name,
                entry_of(config, ref),
                Effective.SHADOWED,
                f"overridden by the one of the {winner.owner.words}",
            )
            for name, config in picture.servers(scope).items()
            for winner in (picture.winner(name),)
        ]
