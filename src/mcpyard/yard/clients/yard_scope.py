"""The yard as one more client: servers go into it and out of it by the same code.

The project's servers are those of its `.mcp.json`, and how to treat them is in no file, as are the
user's own. Of these a document is made up (see `own_documents`).
"""

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from mcpyard.domain.desired import Desired, DesiredServer, Owner
from mcpyard.domain.errors import DocumentBroken, Problem, ReadOnlyOwner, ServerUnknown, YardError
from mcpyard.domain.files import FileText, FileWrite
from mcpyard.domain.model import Config, Scope
from mcpyard.formats import mcp_json
from mcpyard.yard.clients.workspace import OwnAction, OwnPut, OwnRemove, OwnRename, OwnSwitch
from mcpyard.yard.clients.yard_scope_documents import (
    Plain,
    by_model,
    document,
    patch_between,
    policy_of,
    servers_of,
    whole_of,
)
from mcpyard.yard.clients.yard_scope_snapshot import NOTHING, OwnPicture
from mcpyard.yard.edit import Change, ServerEditor
from mcpyard.yard.registration import Registered

YARD: Final = "yard"
USER_DOCUMENT: Final = "yard:user"
"""Stands for the path of the user's own servers."""

PROJECT_DOCUMENT: Final = "yard:project"
"""Stands for the path of what the yard keeps about the project's servers beside their file."""

MADE_UP: Final = frozenset({USER_DOCUMENT, PROJECT_DOCUMENT})


class OwnServers:
    """The servers that the yard itself keeps, in the words of its format."""

    def __init__(
        self, editor: ServerEditor, desired: Callable[[], Desired], project: Path | None = None
    ) -> None:
        self._editor = editor
        self._desired = desired
        self._picture = NOTHING
        self.project = project

    def picture(self) -> OwnPicture:
        """All of it, as it is now; the same one for as long as nothing changes."""
        desired = self._desired()
        if self._picture.desired is not desired:
            self._picture = OwnPicture(desired)
        return self._picture

    def servers(self, scope: Scope) -> Mapping[str, Config]:
        """What each server of a scope is, by all that was said about it."""
        return self.picture().servers(scope)

    def problems(self, scope: Scope) -> list[Problem]:
        """What is wrong with the documents of a scope; with no file's, for the user's own."""
        mine = str(self.project / ".mcp.json") if self.project else ""
        return [
            each
            for each in self._desired().problems
            if (each.place is not None and each.place.file == mine) is (scope is Scope.PROJECT)
        ]

    def path(self, scope: Scope) -> str:
        """The document of a scope.

        Raises:
            ReadOnlyOwner: The yard has no such scope.
        """
        if scope is Scope.USER:
            return USER_DOCUMENT
        if self.project is None:
            raise ReadOnlyOwner("no project is open; set the folder with up --project")
        return str(self.project / ".mcp.json")

    def text(self, path: str) -> FileText:
        """What is in no file, as a document."""
        if path == USER_DOCUMENT:
            return FileText(path, document(self._definitions(Scope.USER)))
        policies = {
            name: policy_of(definition)
            for name, definition in self._definitions(Scope.PROJECT).items()
        }
        return FileText(path, document({name: each for name, each in policies.items() if each}))

    async def carry_out(self, actions: Sequence[OwnAction]) -> None:
        """Do what was planned; servers that come, or go, one after the other are one edit."""
        fresh: list[Registered] = []
        try:
            for kind, group in groupby(actions, self._kind):
                if kind is OwnPut:
                    await self._register(group, fresh)
                elif kind is OwnRemove:
                    await self._editor.remove_all([self._server(it.scope, it.name) for it in group])
                else:
                    for action in group:
                        await self._do(action)
        except BaseException:
            # Of many that were to come, all do or none.
            servers = self._desired().servers
            with contextlib.suppress(YardError):
                await self._editor.remove_all(
                    [servers[each.id] for each in fresh if each.id in servers]
                )
            raise

    def removed_by(self, writes: Sequence[FileWrite]) -> tuple[str, ...]:
        """The servers that changes of the yard's documents take out; renamed ones stay."""
        gone: set[str] = set()
        for each in writes:
            if each.path == USER_DOCUMENT:
                gone |= self._lost(servers_of(each.before), servers_of(each.after))
            elif self._is_project(each) and self._renamed(each) is None:
                gone |= mcp_json.names(each.before or "") - mcp_json.names(each.after or "")
        return tuple(sorted(gone))

    async def become(self, path: str, text: str | None) -> None:
        """Make what is in no file what a document says, as it was made by `text`."""
        servers = servers_of(text)
        if path == USER_DOCUMENT:
            await self.carry_out(self._way_to(servers))
            return
        # All are looked up before the first changes: their file is watched, and one that an undo
        # took out of it may be gone any moment.
        changes = [
            (self._server(Scope.PROJECT, name), Change(patch))
            for name, definition in self._definitions(Scope.PROJECT).items()
            if (patch := patch_between(policy_of(definition), servers.get(name, {})))
        ]
        for server, change in changes:
            await self._editor.change(server, change)

    async def prepare(self, writes: Sequence[FileWrite]) -> None:
        """Let the servers wait that will appear again in the project's file."""
        documents = (each.after for each in writes if each.path == PROJECT_DOCUMENT)
        policies = servers_of(next(documents, None))
        for write in writes:
            if self._is_project(write) and self._renamed(write) is None:
                names = mcp_json.names(write.after or "") - self.servers(Scope.PROJECT).keys()
                waiting = {name: by_model(policies.get(name, {})) for name in names}
                await self._editor.let_wait(Scope.PROJECT, waiting)

    async def rename_back(self, write: FileWrite) -> bool:
        """Do what a write of the project's file comes to, if that is to rename a server.

        Seen from the file alone one would go and another one come; so it stays the same, and runs
        on.
        """
        renamed = self._renamed(write) if self._is_project(write) else None
        if renamed is None:
            return False
        await self.carry_out([renamed])
        return True

    async def approve_write(self, write: FileWrite) -> None:
        """Approve what a write of the project's file changed: whoever asked for it approved it."""
        if not self._is_project(write):
            return
        before, after = _entries(write.before), _entries(write.after)
        changed = {name: config for name, config in after.items() if before.get(name) != config}
        if changed:
            await self._editor.approve_edits(Scope.PROJECT, changed)

    def _is_project(self, write: FileWrite) -> bool:
        return self.project is not None and write.path == self.path(Scope.PROJECT)

    def _renamed(self, write: FileWrite) -> OwnRename | None:
        """The one change of name that makes all of a write."""
        before, after = write.before or "", write.after or ""
        old, new = mcp_json.names(before), mcp_json.names(after)
        gone, fresh = [*old - new], [*new - old]
        if len(gone) != 1 or len(fresh) != 1 or mcp_json.rename(before, *gone, *fresh) != after:
            return None
        server = self.picture().named(gone[0])
        in_project = server is not None and server.owner.scope is Scope.PROJECT
        return OwnRename(Scope.PROJECT, gone[0], fresh[0]) if in_project else None

    def _definitions(self, scope: Scope) -> dict[str, dict[str, object]]:
        return {name: whole_of(config) for name, config in self.servers(scope).items()}

    def _way_to(self, servers: Mapping[str, Plain]) -> list[OwnAction]:
        present = self._definitions(Scope.USER)
        gone = [name for name in present if name not in servers]
        fresh = [name for name in servers if name not in present]
        if len(gone) == len(fresh) == 1 and present[gone[0]] == servers[fresh[0]]:
            return [OwnRename(Scope.USER, gone[0], fresh[0])]
        changed = [name for name in servers if name in present and present[name] != servers[name]]
        return [
            *(OwnRemove(Scope.USER, name) for name in gone),
            *(OwnPut(Scope.USER, name, servers[name]) for name in (*fresh, *changed)),
        ]

    @staticmethod
    def _lost(old: Mapping[str, Plain], new: Mapping[str, Plain]) -> set[str]:
        gone, fresh = [*old.keys() - new.keys()], [*new.keys() - old.keys()]
        renamed = len(gone) == len(fresh) == 1 and old[gone[0]] == new[fresh[0]]
        return set() if renamed else {*gone}

    def _kind(self, action: OwnAction) -> type[OwnAction] | None:
        """The kind of what can be done together with others of it; None for anything else."""
        if isinstance(action, OwnPut):
            return None if action.name in self.servers(action.scope) else OwnPut
        return OwnRemove if isinstance(action, OwnRemove) else None

    async def _register(self, actions: Iterable[OwnAction], fresh: list[Registered]) -> None:
        """Add servers, which wait, stopped; those that come are noted even if others do not."""
        bodies = [
            {**each.definition, "name": each.name, "scope": str(each.scope), "start": False}
            for each in actions
            if isinstance(each, OwnPut)
        ]
        outcomes = await self._editor.register_all(bodies)
        fresh += [each for each in outcomes if isinstance(each, Registered)]
        for each in outcomes:
            if isinstance(each, YardError):
                raise each

    async def _do(self, action: OwnAction) -> None:
        server = self._server(action.scope, action.name)
        match action:
            case OwnPut():
                present = whole_of(self.servers(action.scope)[action.name])
                patch = patch_between(present, action.definition)
                await self._editor.change(server, Change(patch))
            case OwnRename():
                await self._editor.change(server, Change({"name": action.new_name}))
            case OwnSwitch():
                await self._editor.change(server, Change({"enabled": action.enabled}))
            case OwnRemove():
                await self._editor.remove(server)

    def _server(self, scope: Scope, name: str) -> DesiredServer:
        server = self.picture().named(name)
        if server is not None and server.owner.scope is scope:
            return server
        raise ServerUnknown(f'there is no server "{name[:80]}" in {YARD}:{scope}')


def _entries(text: str | None) -> dict[str, Config]:
    try:
        document = mcp_json.read(text or "{}", Owner(Scope.PROJECT))
    except DocumentBroken:
        return {}
    return {each.name: each.config for each in document.definitions}
