"""The clients that a yard in another process reaches, with the interface of `Clients`.

Secrets never leave the other process, so nothing that is told shows them, whatever the terms say;
and who asked is noted there as the door that it came by.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec
import orjson

from mcpyard.client.discovery import segment
from mcpyard.client.home_client import HomeClient
from mcpyard.formats.warnings import Warned, WarningKind
from mcpyard.yard.clients.clients import Copy, EditTerms
from mcpyard.yard.clients.edit_results import Done
from mcpyard.yard.views.clients import (
    DriftView,
    EditView,
    EntryView,
    FindingView,
    ImportView,
    ScopeView,
)

_PLAIN = EditTerms()


class _Imported(msgspec.Struct):
    servers: list[ImportView]


class AttachedClients:
    """The servers of every program on the machine of a yard (see `Clients`)."""

    def __init__(self, http: HomeClient) -> None:
        self._http = http

    async def groups(self, project: str | None = None) -> list[ScopeView]:
        """Every scope of every client, with its servers and what becomes of each."""
        return await self._http.request(
            list[ScopeView], "GET", f"/api/clients{_query(project=project)}"
        )

    async def show(self, words: str, name: str, project: str | None = None) -> EntryView:
        """One server with everything that its file says of it."""
        return await self._http.request(EntryView, "GET", _one(words, name, project=project))

    async def edit(
        self, words: str, name: str, patch: Mapping[str, object], terms: EditTerms = _PLAIN
    ) -> Done:
        """Change a server by a merge patch in neutral words."""
        return await self._change("PATCH", _changed(words, name, terms), patch)

    async def toggle(
        self, words: str, name: str, *, enabled: bool, terms: EditTerms = _PLAIN
    ) -> Done:
        """Switch a server on or off."""
        return await self.edit(words, name, {"enabled": enabled}, terms)

    async def rename(self, words: str, name: str, new_name: str, terms: EditTerms = _PLAIN) -> Done:
        """Give a server another name."""
        return await self.edit(words, name, {"name": new_name}, terms)

    async def remove(self, words: str, name: str, terms: EditTerms = _PLAIN) -> Done:
        """Take a server out."""
        return await self._change("DELETE", _changed(words, name, terms))

    async def copy(self, copy: Copy, terms: EditTerms = _PLAIN) -> Done:
        """Copy a server, or move it; one unit to undo, even over several files."""
        body: dict[str, object] = {
            "from": copy.source,
            "to": copy.target,
            "name": copy.name,
            "matrix": str(copy.matrix),
            "replace": copy.replace,
            "move": copy.move,
            "dryRun": terms.dry_run,
            "unverified": terms.unverified,
        }
        more = _without_none(newName=copy.new_name, project=terms.project)
        return await self._change("POST", "/api/clients/copy", body | more)

    async def undo(self, number: int | None = None, terms: EditTerms = _PLAIN) -> Done:
        """Undo one of the last hundred edits; the newest that was not undone, unless told."""
        body = {"dryRun": terms.dry_run} | _without_none(id=number)
        return await self._change("POST", "/api/clients/undo", body)

    async def edits(self) -> list[EditView]:
        """The last edits, newest first."""
        return await self._http.request(list[EditView], "GET", "/api/clients/edits")

    async def lint(self, project: str | None = None) -> list[FindingView]:
        """What the rules of each program have to say about its files."""
        return await self._http.request(
            list[FindingView], "GET", f"/api/clients/lint{_query(project=project)}"
        )

    async def drift(self, project: str | None = None) -> list[DriftView]:
        """The servers that are not defined alike everywhere."""
        return await self._http.request(
            list[DriftView], "GET", f"/api/clients/drift{_query(project=project)}"
        )

    async def import_all(
        self, scope: str | None = None, terms: EditTerms = _PLAIN
    ) -> list[ImportView]:
        """Take every server that is found on the machine into the yard, where it waits, stopped."""
        body = {"dryRun": terms.dry_run} | _without_none(scope=scope, project=terms.project)
        content, path = orjson.dumps(body), "/api/mcp/import"
        imported = await self._http.request(_Imported, "POST", path, content)
        return imported.servers

    async def _change(
        self, method: str, path: str, body: Mapping[str, object] | None = None
    ) -> Done:
        content = b"" if body is None else orjson.dumps(body)
        return _done(await self._http.request(dict[str, Any], method, path, content))


def _done(body: dict[str, Any]) -> Done:
    return Done(
        tuple((each["path"], each["diff"]) for each in body["files"]),
        tuple(
            Warned(WarningKind(each["kind"]), each["field"], "", each["message"])
            for each in body["warnings"]
        ),
        body["edit"],
        tuple(body["removes"]) if "removes" in body else None,
    )


def _one(words: str, name: str, **more: str | None) -> str:
    client, _, scope = words.partition(":")
    path = f"/api/clients/{segment(client)}/servers/{segment(name)}"
    return path + _query(scope=scope or None, **more)


def _changed(words: str, name: str, terms: EditTerms) -> str:
    flags = {"dryRun": terms.dry_run, "unverified": terms.unverified}
    return _one(words, name, project=terms.project, **{each: "1" for each in flags if flags[each]})


def _query(**more: str | None) -> str:
    parameters = _without_none(**more)
    return f"?{urlencode(parameters)}" if parameters else ""


def _without_none(**more: object) -> dict[str, object]:
    return {word: value for word, value in more.items() if value is not None}
