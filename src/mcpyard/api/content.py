"""The routes of resources and prompts of servers."""

from typing import Final

from msgspec import UNSET
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcpyard.api import requests
from mcpyard.api.bodies import CompleteBody, PromptBody
from mcpyard.api.http_server.disconnects import while_asked
from mcpyard.api.responses import answer
from mcpyard.asgi_scope import caller_name
from mcpyard.domain.errors import ArgumentsRefused, Problem
from mcpyard.yard.content_access import PROMPT, TEMPLATE, ContentAccess
from mcpyard.yard.yard import YardCore

_SOMEBODY: Final = "api"


class ContentRoutes:
    """Answers from one yard."""

    def __init__(self, yard: YardCore) -> None:
        self._yard = yard

    async def resources(self, request: Request) -> Response:
        """The resources that a server lists."""
        return answer(await self._access(request).resources(requests.part(request, "ref")))

    async def templates(self, request: Request) -> Response:
        """The resource templates of a server."""
        return answer(await self._access(request).templates(requests.part(request, "ref")))

    async def read(self, request: Request) -> Response:
        """What a resource holds."""
        uri = request.query_params.get("uri", "")
        if not uri:
            raise ArgumentsRefused.of(Problem("uri", "must name the resource"))
        access, ref = self._access(request), requests.part(request, "ref")

        async def reading() -> Response:
            return answer(await access.read(ref, uri))

        return await while_asked(request, reading())

    async def prompts(self, request: Request) -> Response:
        """The prompts of a server."""
        return answer(await self._access(request).prompts(requests.part(request, "ref")))

    async def prompt(self, request: Request) -> Response:
        """A prompt, filled in."""
        body = await requests.read(request, PromptBody)
        ref, name = requests.part(request, "ref"), requests.part(request, "prompt")
        access = self._access(request)

        async def filling() -> Response:
            return answer(await access.prompt(ref, name, body.arguments))

        return await while_asked(request, filling())

    async def complete(self, request: Request) -> Response:
        """What the value of an argument may be."""
        body = await requests.read(request, CompleteBody)
        if (body.prompt is UNSET) == (body.template is UNSET):
            raise ArgumentsRefused.of(Problem("prompt", "name either a prompt or a template"))
        reference = (
            {"type": TEMPLATE, "uri": str(body.template)}
            if body.prompt is UNSET
            else {"type": PROMPT, "name": str(body.prompt)}
        )
        access, ref = self._access(request), requests.part(request, "ref")
        argument = body.argument, body.value
        return answer(await access.complete(ref, reference, argument, body.others))

    def _access(self, request: Request) -> ContentAccess:
        return ContentAccess(self._yard, caller_name(request.scope, _SOMEBODY))


def content_routes(yard: YardCore) -> list[Route]:
    """Every route of resources and prompts."""
    content, one = ContentRoutes(yard), "/api/mcp/servers/{ref}"
    return [
        Route(f"{one}/resources", content.resources),
        Route(f"{one}/resources/read", content.read),
        Route(f"{one}/resources/templates", content.templates),
        Route(f"{one}/prompts", content.prompts),
        Route(f"{one}/prompts/{{prompt}}/get", content.prompt, methods=["POST"]),
        Route(f"{one}/complete", content.complete, methods=["POST"]),
    ]
