"""Entries of programs that are taken into the source of a sync."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.errors import DefinitionError
from mcpyard.formats.copying.mapping import convert
from mcpyard.formats.editors import toml
from mcpyard.formats.entries import Entry, spell
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.warnings import Warned, WarningKind
from mcpyard.yard.clients.workspace import Workspace, within
from mcpyard.yard.clients.yard_scope_documents import entry_of
from mcpyard.yard.clients.yard_scope_store import YardScopeStore
from mcpyard.yard.sync.layers import OURS, SourceLayer, SourceServer, selects
from mcpyard.yard.sync.source_file import SyncTarget, secrets_in

if TYPE_CHECKING:
    from mcpyard.domain.model import Scope


class Adopting:
    """What was taken into the sources while an operation is worked out."""

    def __init__(self, user: YardScopeStore) -> None:
        self._user = user
        self._taken: dict[tuple[Scope, str], Entry] = {}

    def servers(self, layer: SourceLayer, target: SyncTarget) -> dict[str, SourceServer]:
        """The servers that were taken into a layer and that a target is to have."""
        # A profile decides by itself what it has.
        if target.gateway or target.profile:
            return {}
        return {
            name: SourceServer(entry)
            for (scope, name), entry in self._taken.items()
            if scope is layer.scope and selects(target, name)
        }

    def adopt(
        self,
        workspace: Workspace,
        layer: SourceLayer,
        name: str,
        entry: Entry,
        ref: ClientScopeRef,
    ) -> None:
        """Let the source of a layer say what an entry says.

        Raises:
            DefinitionError: It has a secret, which the file of a repository cannot have.
        """
        converted = convert(entry, ref, OURS)
        workspace.warn(*_stays_there(name, converted.warnings, ref.client.title))
        taken = converted.entry
        spelled = spell(taken, OURS.shape)
        config = read_definition(spelled).config
        if layer.configs is None:
            self._user.write(workspace, name, taken)
        else:
            if problems := [*secrets_in(config)]:
                raise DefinitionError.of(*problems)
            with within(layer.path):
                text = toml.put_table(workspace.text(layer.path), ("servers", name), spelled)
            workspace.put(layer.path, text)
        # The source keeps less than an entry may say, and that is what it says from then on.
        self._taken[layer.scope, name] = entry_of(config, OURS)


def _stays_there(name: str, warnings: Iterable[Warned], client: str) -> Iterator[Warned]:
    """What an entry says and the source cannot say, such as which tools are offered."""
    message = f"stays in {client} only: other clients get the server without it"
    for each in warnings:
        if each.kind is WarningKind.UNSUPPORTED:
            yield replace(each, field=f"{name}.{each.field}", message=message)
