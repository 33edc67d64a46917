"""What the links to remote servers have in common: how they fail.

One request fails, or the link does. A request fails alone when the server was reached and said no,
or when its own answer was cut. The link is lost when no connection can be made, when the server
wants a sign-in, or when it forbids everything. A 403 on a link that has worked concerns that
request only: firewalls in front of servers answer so to a body they dislike.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Final

import httpx2

from mcpyard.domain.cause import Cause, Code
from mcpyard.wire.link import LinkFailed, Outgoing, Receiver
from mcpyard.wire.remote.eventstream import DEFAULT_LIMIT
from mcpyard.wire.remote.http11 import DirectAnswer
from mcpyard.wire.remote.http_client import (
    direct_transport,
    new_client,
    parse_url,
    read_refusal,
)
from mcpyard.wire.remote.http_errors import (
    Challenge,
    broken,
    challenge_of,
    needs_auth,
    never_reached,
    refused,
    sample,
)
from mcpyard.wire.remote.message_ids import rpc_error
from mcpyard.wire.remote.outbox import Outbox
from mcpyard.wire.remote.post_sender import Answer, PostSender
from mcpyard.wire.remote.throttle import Throttle

_log = logging.getLogger(__name__)

_SAMPLE: Final = 200


class RemoteLink(ABC):
    """A link over HTTP.

    Attributes:
        challenge: What the server said when it asked for a sign-in; None when it did not.
        throttle: Until when it asked not to be sent anything.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        limit: int = DEFAULT_LIMIT,
        auth: httpx2.Auth | None = None,
    ) -> None:
        self.challenge: Challenge | None = None
        self.throttle = Throttle()
        self._address = url
        self._headers = dict(headers or {})
        self._limit = limit
        self._auth = auth
        self._outbox = Outbox(self._deliver, self._crashed)
        self._client: httpx2.AsyncClient | None = None
        self._worked = False
        self._dead = False

    def send(self, message: Outgoing) -> None:
        """Start to POST a message; raises `Busy` when too many are under way."""
        if not self._dead:
            self._outbox.put(message)

    def abandon(self, request: int) -> None:
        """Close the answer stream of a request that nobody waits for."""
        self._outbox.drop(request)

    def _prepare(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._url = parse_url(self._address)
        self._post_url = self._url
        transport = direct_transport(self._url)
        self._client = new_client(self._url, self._headers, self._auth, transport=transport)
        plain = None if self._url.userinfo else transport
        self._sender = PostSender(self._client, plain, self._auth)

    @property
    def _http(self) -> httpx2.AsyncClient:
        if self._client is None:
            raise RuntimeError("the connection was never opened")
        return self._client

    @abstractmethod
    def _post_headers(self, message: Outgoing) -> dict[str, str]:
        """The headers of the POST that carries a message."""

    @abstractmethod
    async def _accepted(self, message: Outgoing, response: Answer) -> None:
        """Take the answer to a POST that succeeded."""

    async def _deliver(self, message: Outgoing) -> None:
        if left := self.throttle.left:
            if message.id is not None:
                self._fail(message.id, self.throttle.cause())
                return
            # Nobody waits for a notification, but the server may need it.
            await asyncio.sleep(left)
        try:
            response = await self._send_post(message)
            try:
                if isinstance(response, DirectAnswer) or response.is_success:
                    self._worked = True
                    await self._accepted(message, response)
                else:
                    await self._refused(message.id, response)
            finally:
                await response.aclose()
        except LinkFailed as failure:
            self._fail(message.id, failure.cause)
            if failure.cause.code is Code.NEEDS_AUTH:
                self._lose(failure.cause)
        except httpx2.HTTPError as error:
            cause = broken(error, self._url)
            self._fail(message.id, cause)
            if never_reached(error):
                self._lose(cause)

    async def _send_post(self, message: Outgoing) -> Answer:
        client, url, body = self._http, self._post_url, message.body
        headers = self._post_headers(message)
        return await self._sender.send(
            body,
            tuple(headers.items()),
            lambda: client.build_request("POST", url, content=body, headers=headers),
        )

    async def _refused(self, request: int | None, response: httpx2.Response) -> None:
        body = await read_refusal(response)
        cause = self._cause_of(response, body)
        frame = None
        if request is not None and cause.code is Code.HTTP_ERROR and not cause.retry_after:
            frame = rpc_error(body, request)
        if frame is None:
            self._fail(request, cause, body)
        else:
            self._receiver.message(frame, request)
        self._draw_consequences(cause, response)

    def _cause_of(self, response: httpx2.Response, body: bytes) -> Cause:
        if self.throttle.note(response.status_code, response.headers):
            return self.throttle.cause(sent=True, sample=sample(body))
        challenge = challenge_of(response)
        if challenge is None:
            return refused(response, body)
        self.challenge = challenge
        return needs_auth(self.challenge, had_token="authorization" in response.request.headers)

    def _draw_consequences(self, cause: Cause, response: httpx2.Response) -> None:
        del response
        barred = cause.code is Code.FORBIDDEN and not self._worked
        if barred or cause.code is Code.NEEDS_AUTH:
            self._lose(cause)

    def _fail(self, request: int | None, cause: Cause, sample: bytes = b"") -> None:
        if self._dead:
            return
        if request is None:
            self._receiver.noise(cause.message, sample[:_SAMPLE])
            return
        self._outbox.drop(request)
        self._receiver.failed(request, cause)

    def _lose(self, cause: Cause) -> None:
        if self._dead:
            return
        self._dead = True
        self._outbox.drop_all()
        self._receiver.lost(cause)

    def _background_ended(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or (error := task.exception()) is None:
            return
        if isinstance(error, LinkFailed):
            self._lose(error.cause)
        elif isinstance(error, httpx2.HTTPError):
            self._lose(broken(error, self._url))
        else:
            _log.error("the stream of %s failed unexpectedly", self._url.host, exc_info=error)
            self._lose(Cause(Code.CLOSED, f"The stream failed: {error!r}"))

    def _crashed(self, message: Outgoing, error: BaseException) -> None:
        _log.error("a message to %s failed unexpectedly", self._url.host, exc_info=error)
        self._fail(message.id, Cause(Code.CLOSED, f"The exchange failed: {error!r}"))
