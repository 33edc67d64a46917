"""All services behind one address on loopback, each for one conversation at a time."""

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.agents.services.anthropic_service import MessagesService
from tests.agents.services.gemini_service import GeminiService
from tests.agents.services.openai_service import ChatService, ResponsesService
from tests.agents.services.script import Refused, Script
from tests.wire.servers import asgi_server

# Several libraries keep a client, with its connections, for as long as the process lasts.
_CLOSE = {"Connection": "close"}


class Service(Protocol):
    """A scripted model behind an API."""

    def answer(self, body: dict[str, Any]) -> dict[str, Any]: ...

    def events(self, body: dict[str, Any]) -> list[dict[str, Any]]: ...


class Services:
    """The APIs; `play` says what the models behind them do next."""

    def __init__(self) -> None:
        self.play(Script([]))
        routes = [
            Route("/v1/responses", self._route("responses"), methods=["POST"]),
            Route("/v1/chat/completions", self._route("chat"), methods=["POST"]),
            Route("/v1/messages", self._route("messages"), methods=["POST"]),
            Route("/{version}/models/{model:path}", self._route("gemini"), methods=["POST"]),
        ]
        self.app = Starlette(routes=routes)

    def play(self, script: Script) -> None:
        """Begin another conversation."""
        self.apis: dict[str, Service] = {
            "responses": ResponsesService(script),
            "chat": ChatService(script),
            "messages": MessagesService(script),
            "gemini": GeminiService(script),
        }

    def _route(self, name: str) -> Callable[[Request], Any]:
        async def handle(request: Request) -> Response:
            body = await request.json()
            service = self.apis[name]
            streamed = body.get("stream") or "streamGenerate" in request.url.path
            try:
                if not streamed:
                    return JSONResponse(service.answer(body), headers=_CLOSE)
                events = service.events(body)
            except (Refused, KeyError) as error:
                message = f"{type(error).__name__}: {error}"
                problem = {"type": "invalid_request_error", "message": message, "code": 400}
                return JSONResponse({"type": "error", "error": problem}, 400, headers=_CLOSE)
            stream = map(_event, events)
            return StreamingResponse(stream, media_type="text/event-stream", headers=_CLOSE)

        return handle


def _event(event: dict[str, Any]) -> str:
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n"


@contextmanager
def services() -> Generator[tuple[Services, dict[str, str]]]:
    """The services, and the environment variables that lead the libraries to them."""
    made = Services()
    with asgi_server(made.app) as url:
        yield (
            made,
            {
                "OPENAI_BASE_URL": f"{url}/v1",
                "OPENAI_API_KEY": "none",
                "ANTHROPIC_BASE_URL": url,
                "ANTHROPIC_API_KEY": "none",
                "GOOGLE_GEMINI_BASE_URL": url,
                "GEMINI_API_KEY": "none",
            },
        )
