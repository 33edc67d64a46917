"""The gateway of a running mcpyard as a client of the stateless protocol, over HTTP.

A server that asks something is answered by another request, so nothing has to be kept between two
of them, and a mcpyard that was restarted is met as if nothing had happened.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import count
from time import perf_counter
from typing import Final

import orjson

from mcpyard.client.home_client import HomeClient
from mcpyard.client.http import EVENT_STREAM, Answer, TransportError
from mcpyard.client.problems import error_of, kind_of_problem
from mcpyard.domain.errors import CallRefused, Disconnected, YardError
from mcpyard.domain.narrowing import object_of
from mcpyard.gateway.in_process import LISTEN, gateway_path, hand_update
from mcpyard.gateway.listening import URIS
from mcpyard.gateway.protocol import (
    CLIENT_CAPABILITIES,
    INPUT_RESPONSES,
    META,
    MODERN_VERSION,
    PROTOCOL_VERSION,
    REQUEST_STATE,
)
from mcpyard.gateway.translating import InputRequired, input_required, questions, to_handshake
from mcpyard.wire.jsonrpc import ABSENT, Envelope, RpcError, read, read_error
from mcpyard.wire.remote.request_headers import NAMED_BY, headers_for, mirrored, routing_headers
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.server_content import UpdateListener
from mcpyard.yard.server_questions import QuestionAnswerer
from mcpyard.yard.views.servers import ToolView

_ACCEPT: Final = {
    "Accept": f"application/json, {EVENT_STREAM}",
    "Content-Type": "application/json",
}
_REFUSED: Final = 400
_MOST_ROUNDS: Final = 16
"""A server that keeps asking is not going to answer."""


class GatewayRequests:
    """Requests to the gateway of a running mcpyard (see `ContentRequests`)."""

    def __init__(self, http: HomeClient, answerer: QuestionAnswerer) -> None:
        self._http = http
        self._answerer = answerer
        self._ids = count(1)
        self._listening: set[asyncio.Task[None]] = set()

    async def request(self, server: str | None, method: str, params: Mapping[str, object]) -> bytes:
        """The result of a request (see `ContentRequests`)."""
        return await self._ask(server, gateway_path(server), method, params)

    async def call(
        self,
        tool: ToolView,
        arguments: Mapping[str, object],
        meta: Mapping[str, object] | None,
        *,
        own_name: bool,
    ) -> Outcome:
        """Call a tool whose server may ask the application, by its exposed or its own name."""
        name = tool.name if own_name else str(tool.exposed_name)
        path = gateway_path(tool.server if own_name else None)
        params: dict[str, object] = {"name": name, "arguments": arguments}
        if meta:
            params[META] = meta
        headers = headers_for(mirrored(tool.input_schema), dict(arguments))
        began = perf_counter()
        raw = await self._ask(tool.server, path, "tools/call", params, headers)
        return Outcome(to_handshake(raw), tool.server, tool.name, (perf_counter() - began) * 1000)

    async def listen(
        self, server: str | None, uris: Sequence[str], listener: UpdateListener
    ) -> None:
        """Report changes of resources until cancelled (see `ContentRequests`)."""
        params = {"notifications": {URIS: [*uris]}}
        task = asyncio.current_task()
        if task:
            self._listening.add(task)
        try:
            async for message in self._messages(gateway_path(server), LISTEN, params, {}):
                _raise_failure(read(message))
                hand_update(message, listener)
        finally:
            if task:
                self._listening.discard(task)

    async def close(self) -> None:
        """End what is open."""
        tasks = {*self._listening}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _ask(
        self,
        server: str | None,
        path: str,
        method: str,
        params: Mapping[str, object],
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        answers: Mapping[str, object] = {}
        for _ in range(_MOST_ROUNDS):
            raw = await self._result(path, method, {**params, **answers}, headers or {})
            required = input_required(raw)
            if required is None:
                return raw
            answers = await self._answers(server or "", required)
        raise CallRefused(f"the server asked for input {_MOST_ROUNDS} times")

    async def _answers(self, server: str, required: InputRequired) -> Mapping[str, object]:
        results = {
            key: await self._answerer.answer(server, each.method, orjson.loads(bytes(each.params)))
            for key, each in questions(required).items()
        }
        answers: dict[str, object] = {INPUT_RESPONSES: results}
        if required.request_state is not ABSENT:
            answers[REQUEST_STATE] = orjson.loads(bytes(required.request_state))
        return answers

    async def _result(
        self, path: str, method: str, params: Mapping[str, object], headers: Mapping[str, str]
    ) -> bytes:
        async for message in self._messages(path, method, params, headers):
            envelope = read(message)
            _raise_failure(envelope)
            if envelope.method is None:
                return bytes(envelope.result)
        raise Disconnected("mcpyard ended the answer too early")

    async def _messages(
        self, path: str, method: str, params: Mapping[str, object], headers: Mapping[str, str]
    ) -> AsyncIterator[bytes]:
        meta = {
            **object_of(params.get(META)),
            PROTOCOL_VERSION: MODERN_VERSION,
            CLIENT_CAPABILITIES: self._answerer.capabilities,
        }
        message = {
            "jsonrpc": "2.0",
            "id": next(self._ids),
            "method": method,
            "params": {**params, META: meta},
        }
        key = NAMED_BY.get(method)
        name = str(params[key]) if key else None
        sent = {**_ACCEPT, **routing_headers(MODERN_VERSION, method, name), **headers}
        try:
            async with self._http.send("POST", path, sent, orjson.dumps(message)) as answer:
                async for each in _read(answer):
                    yield each
        except TransportError as error:
            raise Disconnected(f"mcpyard does not answer: {error}") from error


async def _read(answer: Answer) -> AsyncIterator[bytes]:
    if not answer.is_stream:
        body = await answer.body()
        if answer.status >= _REFUSED and b'"jsonrpc"' not in body:
            raise error_of(answer.status, body)
        yield body
        return
    async for events in answer.events():
        for each in events:
            if each.data:
                yield each.data


def _raise_failure(envelope: Envelope) -> None:
    if envelope.failed:
        raise _error(read_error(envelope.error))


def _error(error: RpcError) -> YardError:
    """The error of a mcpyard that its gateway made an error of JSON-RPC."""
    kind = kind_of_problem(str(object_of(error.data).get("problem", "")))
    if kind is None:
        return CallRefused(error.message, error.code, error.data)
    return kind(error.message)
