"""What clients of either era ask for, and who answers it."""

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson
from msgspec.structs import replace

from mcpyard.catalog.routes import Route
from mcpyard.domain.errors import ArgumentsRefused, CallRefused
from mcpyard.domain.narrowing import is_object
from mcpyard.gateway.era_bridge import EraBridge
from mcpyard.gateway.exposures import LISTS, Target
from mcpyard.gateway.links import with_links_exposed
from mcpyard.gateway.pending_input import PendingInput
from mcpyard.gateway.protocol import RESOURCE_NOT_FOUND
from mcpyard.gateway.requests import Request, arguments_of, decoded, refuse_loops
from mcpyard.wire.jsonrpc import ABSENT, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError, quoted
from mcpyard.yard.calls.call_context import CallContext
from mcpyard.yard.yard import YardCore

_NOT_THERE: Final = frozenset({RESOURCE_NOT_FOUND, INVALID_PARAMS})
_SHOWN: Final = 200
_NO_COMPLETION: Final = b'{"completion":{"values":[]}}'

_TOOL_ERRORS_SINCE: Final = "2025-11-25"
"""From this revision on arguments that do not fit are the tool's error, for the model to see."""

Handler = Callable[[Request], Coroutine[Any, Any, bytes]]


class _ToolCall(NamedTuple):
    route: Route
    arguments: bytes
    answering: list[UUID | None]
    """Gets the server that answered."""


class Methods:
    """The methods that both eras have.

    Attributes:
        bridge: Carries their requests.
    """

    def __init__(self, yard: YardCore, pending: PendingInput) -> None:
        self._calls = yard.calls
        self._directory = yard.directory
        self.bridge = EraBridge(yard, pending)
        self._handlers: Mapping[str, Handler] = {
            "tools/call": self._call,
            "resources/read": self._read,
            "prompts/get": self._prompt,
            "completion/complete": self._complete,
            **dict.fromkeys(LISTS, _list),
        }

    def answer(self, request: Request) -> Coroutine[Any, Any, bytes]:
        """The result of a request.

        Raises:
            RpcError: It is refused here.
            YardError: It cannot be carried out.
        """
        handler = self._handlers.get(request.method)
        if handler is None:
            raise RpcError(METHOD_NOT_FOUND, f"{request.method[:_SHOWN]} is not supported")
        refuse_loops(request.meta)
        return handler(request)

    async def _call(self, request: Request) -> bytes:
        name = request.text("name")
        target = request.exposure.tools.get(name)
        if target is None:
            raise RpcError(INVALID_PARAMS, f"Unknown tool: {name[:_SHOWN]}")
        route, era = target
        arguments = arguments_of(request.params.get("arguments", ABSENT))
        try:
            context = self.bridge.direct(request, route.server, era)
            if context is None:
                raw, server = await self._bridged(request, target, arguments)
            else:
                outcome = await self._calls.call(route, arguments, context)
                raw, server = outcome.raw, outcome.server_id
        except ArgumentsRefused as error:
            if request.client.version < _TOOL_ERRORS_SINCE:
                raise
            return _tool_error(str(error), modern=request.modern)
        return with_links_exposed(raw, request.exposure.addresses, server or route.server)

    async def _bridged(
        self, request: Request, target: Target, arguments: bytes
    ) -> tuple[bytes, UUID | None]:
        """The result of a tool of any era, and the server that answered."""
        answering: list[UUID | None] = []
        work = partial(self._work, _ToolCall(target.route, arguments, answering))
        raw = await self.bridge.carry(request, target.route.server, work, target.era)
        return raw, answering[-1] if answering else None

    async def _work(
        self, call: _ToolCall, context: CallContext, more: Mapping[str, bytes]
    ) -> bytes:
        """Call a tool, with these members added to the parameters."""
        outcome = await self._calls.call(call.route, call.arguments, with_answers(context, more))
        call.answering.append(outcome.server_id)
        return outcome.raw

    async def _read(self, request: Request) -> bytes:
        uri = request.text("uri")
        message, data = "Resource not found", None
        if (place := request.exposure.addresses.find(uri)) is not None:
            changed = {} if place.own == uri else {"uri": quoted(place.own)}
            try:
                raw = await self._carry(request, place.server, changed)
            except CallRefused as refused:
                if refused.code not in _NOT_THERE:
                    raise
                message, data = refused.message, refused.data
            else:
                return with_links_exposed(raw, request.exposure.addresses, place.server)
        code = INVALID_PARAMS if request.modern else RESOURCE_NOT_FOUND
        if place is None or data in (None, {"uri": place.own}):
            data = {"uri": uri}
        raise RpcError(code, message, data)

    async def _prompt(self, request: Request) -> bytes:
        name = request.text("name")
        prompt = request.exposure.prompts.get(name)
        if prompt is None:
            raise RpcError(INVALID_PARAMS, f"Unknown prompt: {name[:_SHOWN]}")
        raw = await self._carry(request, prompt.server, {"name": quoted(prompt.own)})
        return with_links_exposed(raw, request.exposure.addresses, prompt.server)

    async def _complete(self, request: Request) -> bytes:
        ref = decoded(request.params.get("ref", b"{}"))
        if not is_object(ref):
            raise RpcError(INVALID_PARAMS, "ref must be an object")
        server, own = self._referred(request, ref)
        session = self._directory.observed(server).session
        if session is not None and "completions" not in session.capabilities:
            return (
                b'{"resultType":"complete",' + _NO_COMPLETION[1:]
                if request.modern
                else (_NO_COMPLETION)
            )
        return await self._carry(request, server, {"ref": orjson.dumps(own)})

    def _referred(self, request: Request, ref: dict[str, object]) -> tuple[UUID, dict[str, object]]:
        """The server that a reference of a completion means, and the reference in its words."""
        exposure = request.exposure
        if ref.get("type") == "ref/prompt":
            if prompt := exposure.prompts.get(str(ref.get("name"))):
                return prompt.server, {**ref, "name": prompt.own}
        elif ref.get("type") == "ref/resource":
            uri = str(ref.get("uri"))
            addresses = exposure.addresses
            if place := addresses.find_template(uri) or addresses.find(uri):
                return place.server, {**ref, "uri": place.own}
        raise RpcError(INVALID_PARAMS, "ref was not found")

    async def _carry(self, request: Request, server: UUID, changed: Mapping[str, bytes]) -> bytes:
        to_yard = self._directory.is_yard(server)

        async def work(context: CallContext, more: Mapping[str, bytes]) -> bytes:
            params = request.forwarded({**changed, **more}, to_yard=to_yard)
            return await self._calls.request(server, request.method, params, context)

        return await self.bridge.carry(request, server, work)


def with_answers(context: CallContext, answers: Mapping[str, bytes]) -> CallContext:
    """A context whose call brings answers to the questions of its server."""
    if not answers:
        return context
    extras = context.extras._replace(members={**context.extras.members, **answers})
    return replace(context, extras=extras, fall_back=False)


async def _list(request: Request) -> bytes:
    return request.exposure.encoded_list(request.method, modern=request.modern)


def _tool_error(text: str, *, modern: bool) -> bytes:
    result: dict[str, object] = {"resultType": "complete"} if modern else {}
    result |= {"content": [{"type": "text", "text": text}], "isError": True}
    return orjson.dumps(result)
