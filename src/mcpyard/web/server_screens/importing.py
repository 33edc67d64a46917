"""Taking in what is there already: the servers of other programs, and the example."""

import asyncio
import sys
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.errors import NameTaken
from mcpyard.web import requests
from mcpyard.web.client_screens.presenters import line_of
from mcpyard.web.messages import joined
from mcpyard.web.problems import line_about
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import TemplateData, answer
from mcpyard.yard.clients.clients import Copy, EditTerms
from mcpyard.yard.edit_note import EditNote

EXAMPLE: Final = "legal"
TARGET: Final = "yard:user"

_PROGRAM: Final = "mcpyard-legal"
_BETWEEN: Final = "\n"


class ImportRoutes:
    """Takes servers into a yard."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._yard = presenter.yard

    async def found(self, request: Request) -> Response:
        """The servers of other programs on this machine that are not here yet."""
        return answer(request, "parts/found.html", {"servers": await self._importable()})

    async def take(self, request: Request) -> Response:
        """Take in the chosen ones; the button says whether they are started, too."""
        form = await requests.form(request)
        terms = EditTerms(who=requests.caller(request))
        places = [each.partition(_BETWEEN) for each in form.all("server")]
        copies = [Copy(place, TARGET, name) for place, _, name in places]
        done, copied = await self._yard.clients.copy_all(copies, terms)
        names = [each.name for each in copied if each.error is None]
        refused = [
            joined(each.name, ": ", line_about(request, each.error))
            for each in copied
            if each.error is not None
        ]
        if form["start"]:
            # All at once: what they are wanted to be is one write, and one look.
            enabled = [name for name in names if self._yard.server(name).config.enabled]
            await asyncio.gather(*map(self._yard.start, enabled))
        return answer(
            request, "parts/added.html", {"names": names, "refused": refused, "edit": done.edit}
        )

    async def example(self, request: Request) -> Response:
        """Add the example server, and start it."""
        beside = Path(sys.executable).with_name(_PROGRAM)
        command = str(beside) if beside.exists() else _PROGRAM
        body: dict[str, object] = {
            "name": EXAMPLE,
            "command": command,
            "args": [],
            "transport": "stdio",
        }
        note = EditNote(requests.caller(request), "add")
        try:
            await self._yard.register(body | {"scope": "user", "start": True}, note=note)
        except NameTaken:
            await self._yard.start(EXAMPLE)
        data = {"names": [EXAMPLE], "refused": [], "edit": note.number}
        return answer(request, "parts/added.html", data)

    async def _importable(self) -> list[TemplateData]:
        rows = await self._yard.clients.import_all(terms=EditTerms(dry_run=True))
        importable = [each for each in rows if each.outcome == "importable"]
        lines = await self._lines() if importable else {}
        return [
            {
                "name": each.name,
                "source": each.source,
                "ref": f"{each.source}{_BETWEEN}{each.name}",
                "line": lines.get((each.source, each.name), ""),
            }
            for each in importable
        ]

    async def _lines(self) -> dict[tuple[str, str], str]:
        """What each server would run, by its place and name."""
        return {
            (f"{group.client}:{group.scope}", server.name): line_of(server)
            for group in await self._yard.clients.groups()
            for server in group.servers
        }
