"""The bridge between a program that speaks MCP over pipes and the gateway of the running yard.

Messages pass as the bytes they are. The bridge reads of them only what HTTP wants repeated in its
headers, and it knows the two eras apart: the older one has a session, which the bridge begins anew
by itself when the yard was started anew; in the newer one a request is cancelled by closing it.
What is refused because the token was replaced is asked once more, with the new one: it never ran.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Final

import msgspec

from mcpyard.client.http import EVENT_STREAM, Answer, Cut, HttpClient, NotReached, TransportError
from mcpyard.client.mcp_messages import ClientMessage, ToolHeaders, read_message
from mcpyard.client.problems import error_of
from mcpyard.wire.jsonrpc import Envelope, Id, RpcError, failure, read, read_error

Reach = Callable[[], Awaitable[HttpClient]]
"""Finds the yard, or starts one."""

Tell = Callable[[bytes], Awaitable[None]]
"""Takes a line for the program."""

MAX_IN_FLIGHT: Final = 1024

_CONNECTION_CLOSED: Final = -32000
_PARSE_ERROR: Final = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON"}}'
_POST: Final = {
    "Accept": f"application/json, {EVENT_STREAM}",
    "Content-Type": "application/json",
}
_SESSION: Final = "mcp-session-id"
_REFUSED: Final = 400
_UNKNOWN_TOKEN: Final = 401
_GONE: Final = 404
_TOO_MANY: Final = 429
"""Other streams of the same token may end, and then this one has its place."""

_LISTEN_PAUSE: Final = 1.0
_LAST_WORDS: Final = 1.0
"""Seconds that requests have to end after the program's last word, and the session to be ended."""


class _Greeted(msgspec.Struct, rename="camel"):
    protocol_version: str = ""


class Bridge:
    """Carries the messages of one program."""

    def __init__(self, path: str, reach: Reach, tell: Tell) -> None:
        self._path = path
        self._reach = reach
        self._tell = tell
        self._client: HttpClient | None = None
        self._changing = asyncio.Lock()
        self._flights: dict[Id, asyncio.Task[None]] = {}
        self._closes: set[Id] = set()
        self._tools = ToolHeaders()
        self._initialize = b""
        self._session = ""
        self._version = ""
        self._listening: asyncio.Task[None] | None = None

    async def take(self, line: bytes) -> None:
        """Carry one message of the program's; a request is answered later."""
        try:
            request = read_message(line)
        except (ValueError, RecursionError):
            await self._tell(_PARSE_ERROR)
            return
        if request.id is not None and request.method is not None:
            await self._begin(request.id, request)
        elif request.cancels in self._closes:
            self._flights[request.cancels].cancel()
        else:
            await self._notify(request)

    async def finish(self, *, force: bool = False) -> None:
        """Wait a little for what is under way, then let go of everything."""
        tasks = {*self._flights.values()}
        if tasks and not force:
            await asyncio.wait(tasks, timeout=_LAST_WORDS)
        ending = {*tasks, *({self._listening} if self._listening else ())}
        for task in ending:
            task.cancel()
        if ending:
            await asyncio.wait(ending)
        if self._client is not None:
            await self._say_goodbye(self._client)
            await self._client.aclose()

    async def _begin(self, number: Id, request: ClientMessage) -> None:
        if len(self._flights) >= MAX_IN_FLIGHT:
            full = RpcError(_CONNECTION_CLOSED, f"{MAX_IN_FLIGHT} requests are under way already")
            await self._tell(failure(number, full))
            return
        task = asyncio.create_task(self._request(number, request))
        self._flights[number] = task
        if request.version:
            self._closes.add(number)
        task.add_done_callback(lambda done: self._ended(number, done))
        # Lets the request leave first, so that what follows it also arrives later.
        await asyncio.sleep(0)

    def _ended(self, number: Id, task: asyncio.Task[None]) -> None:
        if self._flights.get(number) is task:
            del self._flights[number]
            self._closes.discard(number)

    async def _request(self, number: Id, request: ClientMessage) -> None:
        async def answered(answer: Answer) -> None:
            await self._relay(answer, number, request)

        try:
            await self._post(request, answered)
        except TransportError as error:
            lost = RpcError(_CONNECTION_CLOSED, f"the connection to mcpyard was lost: {error}")
            await self._tell(failure(number, lost))

    async def _notify(self, notification: ClientMessage) -> None:
        async def taken(answer: Answer) -> None:
            await answer.body()

        with contextlib.suppress(TransportError):
            await self._post(notification, taken)
        if notification.method == "notifications/initialized":
            self._listen_anew()

    async def _post(
        self, message: ClientMessage, take: Callable[[Answer], Awaitable[None]]
    ) -> None:
        for last in (False, True):
            client, session = await self._reached(), self._session
            try:
                async with client.send(
                    "POST", self._path, self._headers(message), message.line
                ) as got:
                    outdated = got.status == _UNKNOWN_TOKEN
                    if last or not (outdated or _is_over(got, session, message)):
                        await take(got)
                        return
            except NotReached:
                if last:
                    raise
                outdated = True
            if outdated:
                await self._reach_anew(client)
            else:
                await self._greet_anew(session)

    def _headers(self, message: ClientMessage) -> Mapping[str, str]:
        if message.version:
            return _POST | self._tools.headers(message)
        if message.method == "initialize":
            self._initialize, self._session, self._version = message.line, "", ""
            return _POST
        return _POST | self._of_session()

    def _of_session(self) -> dict[str, str]:
        headers = {"Mcp-Session-Id": self._session, "MCP-Protocol-Version": self._version}
        return {name: value for name, value in headers.items() if value}

    async def _relay(self, answer: Answer, number: Id, request: ClientMessage) -> None:
        if answer.status >= _REFUSED:
            await self._tell(failure(number, _refusal(answer.status, await answer.body())))
            return
        if request.method == "initialize":
            self._session = answer.headers.get(_SESSION, "")
        answered = False
        async for message in self._messages(answer):
            answered |= self._take_note(message, number, request)
            await self._tell(message)
        if not answered:
            raise Cut("the answer did not come")

    def _take_note(self, message: bytes, number: Id, request: ClientMessage) -> bool:
        """Whether a message is the answer to a request; some are read on their way."""
        envelope = _envelope(message)
        if envelope is None or envelope.method is not None or envelope.id != number:
            return False
        if request.method == "initialize" and not envelope.failed:
            self._version = msgspec.json.decode(envelope.result, type=_Greeted).protocol_version
        elif request.method == "tools/list":
            self._tools.take_list(bytes(envelope.result))
        return True

    async def _messages(self, answer: Answer) -> AsyncIterator[bytes]:
        if not answer.is_stream:
            yield _one_line(await answer.body())
            return
        async for events in answer.events():
            for each in events:
                if each.data:
                    yield _one_line(each.data)

    async def _reached(self) -> HttpClient:
        async with self._changing:
            if self._client is None:
                self._client = await self._reach()
            return self._client

    async def _reach_anew(self, lost: HttpClient) -> None:
        async with self._changing:
            if self._client is not lost:
                return
            self._client = await self._reach()
            await lost.aclose()
            if self._session:
                await self._greet(self._client)

    async def _greet_anew(self, session: str) -> None:
        async with self._changing:
            if self._session == session and self._client is not None:
                await self._greet(self._client)

    async def _greet(self, client: HttpClient) -> None:
        """Begin a session as the program did, without its notice."""
        async with client.send("POST", self._path, _POST, self._initialize) as answer:
            session = answer.headers.get(_SESSION)
            await answer.body()
        if session is None:
            # Whatever comes next is refused within the old session, and so tries this again.
            return
        self._session = session
        ready = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
        async with client.send("POST", self._path, _POST | self._of_session(), ready) as answer:
            await answer.body()
        self._listen_anew()

    def _listen_anew(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
        if self._session:
            self._listening = asyncio.create_task(self._listen(self._session))

    async def _listen(self, session: str) -> None:
        """Hand on what the yard says unasked, for as long as the session lasts."""
        while session == self._session:
            with contextlib.suppress(TransportError):
                client, accept = await self._reached(), {"Accept": EVENT_STREAM}
                headers = accept | self._of_session()
                async with client.send("GET", self._path, headers) as answer:
                    if answer.status == _UNKNOWN_TOKEN:
                        await self._reach_anew(client)
                    if answer.is_stream:
                        async for message in self._messages(answer):
                            await self._tell(message)
                    elif answer.status != _TOO_MANY:
                        return
            await asyncio.sleep(_LISTEN_PAUSE)

    async def _say_goodbye(self, client: HttpClient) -> None:
        if self._session:
            with contextlib.suppress(TransportError, TimeoutError):
                async with (
                    asyncio.timeout(_LAST_WORDS),
                    client.send("DELETE", self._path, self._of_session()) as answer,
                ):
                    await answer.body()


def _is_over(answer: Answer, session: str, message: ClientMessage) -> bool:
    """Whether a message was refused because the yard does not know its session any more."""
    outside = message.method == "initialize" or message.version
    return answer.status == _GONE and bool(session) and not outside


def _envelope(message: bytes) -> Envelope | None:
    try:
        return read(message)
    except (ValueError, RecursionError):
        return None


def _refusal(status: int, body: bytes) -> RpcError:
    envelope = _envelope(body)
    if envelope is not None and envelope.failed:
        return read_error(envelope.error)
    return RpcError(_CONNECTION_CLOSED, error_of(status, body).message, {"status": status})


def _one_line(message: bytes) -> bytes:
    # Between the tokens of JSON a line end is a blank like any other; inside of strings none is.
    if b"\n" in message or b"\r" in message:
        return message.replace(b"\n", b" ").replace(b"\r", b" ")
    return message
