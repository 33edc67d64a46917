"""The stored secrets in the settings: deleted here, set where a server misses one."""

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.web import requests
from mcpyard.web.client_screens.changes import done_answer
from mcpyard.web.templating import TemplateData, answer
from mcpyard.yard.clients.edit_results import Done
from mcpyard.yard.secrets import SecretBook, SecretChange


class SecretPages:
    """Deletes stored secrets."""

    def __init__(self, secrets: SecretBook) -> None:
        self._secrets = secrets

    async def ask(self, request: Request) -> Response:
        """Ask before a secret is deleted."""
        name = request.query_params.get("name", "")
        self._secrets.preview(SecretChange(name))
        data: TemplateData = {"what": "secret", "ref": name, "name": name}
        return answer(request, "dialogs/take_away.html", data)

    async def remove(self, request: Request) -> Response:
        """Delete a secret."""
        name = (await requests.form(request))["ref"]
        done = await self._secrets.change(SecretChange(name, who=requests.caller(request)))
        return done_answer(request, "secrets.removed", name, Done((), edit=done.edit))
