"""What clients of either era ask for, and who answers it."""

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, Final, NamedTuple, cast
from uuid import UUID

import orjson

from mcpyard.catalog.routes import Route
from mcpyard.domain.errors import ArgumentsRefused, CallRefused, YardError, name_server
from mcpyard.gateway.carrying import Carrier
from mcpyard.gateway.links import with_links_exposed
from mcpyard.gateway.parking import Parking
from mcpyard.gateway.requests import Request, decoded, refuse_loops
from mcpyard.gateway.views import LISTS, Target
from mcpyard.gateway.words import RESOURCE_NOT_FOUND
from mcpyard.wire.messages import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError, quoted
from mcpyard.yard.relay import Errand, Note, Relay

_NOT_THERE: Final = frozenset({RESOURCE_NOT_FOUND, INVALID_PARAMS})
_NO_ARGUMENTS: Final = (b"", b"null")
_SHOWN: Final = 200
_NO_COMPLETION: Final = b'{"completion":{"values":[]}}'

_TOOL_ERRORS_SINCE: Final = "2025-11-25"
"""From this revision on arguments that do not fit are the tool's error, for the model to see."""

Handler = Callable[[Request], Coroutine[Any, Any, bytes]]


class _ToolCall(NamedTuple):
    request: Request
    target: Target
    arguments: bytes
    note: Note
    """Takes the server that answered."""


class Methods:
    """The methods that both eras have."""

    def __init__(self, relay: Relay, parking: Parking) -> None:
        self._relay = relay
        self._carrier = Carrier(relay, parking)
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
            raise RpcError(METHOD_NOT_FOUND, f"{request.method[:_SHOWN]} is not known here")
        refuse_loops(request.meta)
        return handler(request)

    async def _call(self, request: Request) -> bytes:
        name = request.text("name")
        target = request.view.tools.get(name)
        if target is None:
            raise RpcError(INVALID_PARAMS, f"Unknown tool: {name[:_SHOWN]}")
        route = target.route
        arguments = bytes(request.params.get("arguments", b""))
        if arguments in _NO_ARGUMENTS:
            arguments = b"{}"
        answering: list[UUID] = []
        work = partial(self._work, _ToolCall(request, target, arguments, answering.append))
        try:
            raw = await self._carrier.carry(request, route.server, work, target.era)
        except ArgumentsRefused as error:
            if request.client.version < _TOOL_ERRORS_SINCE:
                raise
            return _tool_error(str(error), modern=request.modern)
        except YardError as error:
            name_server(error, route.server_name)
            raise
        server = answering[-1] if answering else route.server
        return with_links_exposed(raw, request.view.addresses, server)

    def _work(
        self, call: _ToolCall, errand: Errand, more: Mapping[str, bytes]
    ) -> Coroutine[Any, Any, bytes]:
        """Call a tool, with these members added to the parameters."""
        request, (route, _, to_yard), arguments, note = call
        # An answer to a question belongs to the server that asked it.
        if route.backups and not (more or request.answers_a_question):
            params_for = partial(self._params, request)
            return self._relay.call_with_fallback(route, arguments, errand, params_for, note)
        if not (more or to_yard or request.has_extras):
            return self._relay.call(route, arguments, errand)
        changed = {"name": quoted(route.tool.name), "arguments": arguments, **more}
        params = request.forwarded(changed, to_yard=to_yard)
        return self._relay.call(route, arguments, errand, params)

    def _params(self, request: Request, route: Route, arguments: bytes) -> bytes | None:
        """All parameters of a call for the server of a route, where there are more than usual."""
        to_yard = self._relay.is_yard(route.server)
        if not (to_yard or request.has_extras):
            return None
        changed = {"name": quoted(route.tool.name), "arguments": arguments}
        return request.forwarded(changed, to_yard=to_yard)

    async def _read(self, request: Request) -> bytes:
        uri = request.text("uri")
        message, data = "Resource not found", None
        if (place := request.view.addresses.find(uri)) is not None:
            changed = {} if place.own == uri else {"uri": quoted(place.own)}
            try:
                raw = await self._carry(request, place.server, changed)
            except CallRefused as refused:
                if refused.code not in _NOT_THERE:
                    raise
                message, data = refused.message, refused.data
            else:
                return with_links_exposed(raw, request.view.addresses, place.server)
        code = INVALID_PARAMS if request.modern else RESOURCE_NOT_FOUND
        if place is None or data in (None, {"uri": place.own}):
            data = {"uri": uri}
        raise RpcError(code, message, data)

    async def _prompt(self, request: Request) -> bytes:
        name = request.text("name")
        found = request.view.prompts.get(name)
        if found is None:
            raise RpcError(INVALID_PARAMS, f"Unknown prompt: {name[:_SHOWN]}")
        raw = await self._carry(request, found.server, {"name": quoted(found.own)})
        return with_links_exposed(raw, request.view.addresses, found.server)

    async def _complete(self, request: Request) -> bytes:
        ref = decoded(request.params.get("ref", b"{}"))
        if not isinstance(ref, dict):
            raise RpcError(INVALID_PARAMS, "ref must be an object")
        server, own = self._referred(request, cast("dict[str, object]", ref))
        session = self._relay.observed(server).session
        if session is not None and "completions" not in session.capabilities:
            return (
                b'{"resultType":"complete",' + _NO_COMPLETION[1:]
                if request.modern
                else (_NO_COMPLETION)
            )
        return await self._carry(request, server, {"ref": orjson.dumps(own)})

    def _referred(self, request: Request, ref: dict[str, object]) -> tuple[UUID, dict[str, object]]:
        """The server that a reference of a completion means, and the reference in its words."""
        view = request.view
        if ref.get("type") == "ref/prompt":
            if found := view.prompts.get(str(ref.get("name"))):
                return found.server, {**ref, "name": found.own}
        elif ref.get("type") == "ref/resource":
            uri = str(ref.get("uri"))
            addresses = view.addresses
            if place := addresses.find_template(uri) or addresses.find(uri):
                return place.server, {**ref, "uri": place.own}
        raise RpcError(INVALID_PARAMS, "ref leads to nothing")

    async def _carry(self, request: Request, server: UUID, changed: Mapping[str, bytes]) -> bytes:
        to_yard = self._relay.is_yard(server)

        async def work(errand: Errand, more: Mapping[str, bytes]) -> bytes:
            params = request.forwarded({**changed, **more}, to_yard=to_yard)
            return await self._relay.request(server, request.method, params, errand)

        return await self._carrier.carry(request, server, work)


async def _list(request: Request) -> bytes:
    return request.view.listed(request.method, modern=request.modern)


def _tool_error(text: str, *, modern: bool) -> bytes:
    result: dict[str, object] = {"resultType": "complete"} if modern else {}
    result |= {"content": [{"type": "text", "text": text}], "isError": True}
    return orjson.dumps(result)
