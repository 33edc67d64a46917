"""What HTTP and the network say when they fail, as causes.

A status is kept beside the sentence (`HttpCause`), because two decisions hang on it: whether a
server speaks only the old SSE transport, and whether a call that failed was never taken.
"""

import re
import socket
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, cast

import httpx2

from mcpyard.domain.cause import Cause, Code

_SAMPLE: Final = 200
_SSE_ONLY: Final = frozenset(
    {HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED}
)
LACKING: Final = "insufficient_scope"
"""The error of a server whose token is good, but not for this."""

_SCOPE: Final = re.compile(r'\bscope\s*=\s*(?:"[^"]*"|[^\s,"]+)')
# Only from the beginning of a word: to try each letter of a long one would take its square.
_PARAMETER: Final = re.compile(r'(?<!\w)(\w++)\s*=\s*(?:"([^"]*)"|([^\s,"]+))')


class HttpCause(Cause, frozen=True):
    """A cause that came as an HTTP status."""

    status: int = 0


@dataclass(frozen=True, slots=True)
class Challenge:
    """What a server that wants a sign-in said about it.

    Attributes:
        header: The `WWW-Authenticate` header as it came.
        resource_metadata: Where the server describes its sign-in, when it says so.
        scope: The scopes it asks for.
        error: Why it refused a token, when one was sent.
    """

    header: str = ""
    resource_metadata: str = ""
    scope: str = ""
    error: str = ""

    @classmethod
    def read(cls, headers: Iterable[str]) -> "Challenge":
        """The challenge in the `WWW-Authenticate` headers of an answer."""
        header = ", ".join(headers)
        parameters = {
            name.lower(): quoted or bare for name, quoted, bare in _PARAMETER.findall(header)
        }
        return cls(
            header,
            parameters.get("resource_metadata", ""),
            parameters.get("scope", ""),
            parameters.get("error", ""),
        )

    def widened(self, granted: str) -> str:
        """The header, asking besides what it asks for anyway for what was granted before."""
        if self.error != LACKING or not self.scope:
            return self.header
        scopes = " ".join(dict.fromkeys((*granted.split(), *self.scope.split())))
        return _SCOPE.sub(lambda _: f'scope="{scopes}"', self.header, count=1)


def challenge_of(response: httpx2.Response) -> Challenge | None:
    """What an answer says of a sign-in, if one would help: a first one, or one that allows more."""
    challenge = Challenge.read(response.headers.get_list("www-authenticate"))
    if response.status_code == HTTPStatus.UNAUTHORIZED:
        return challenge
    lacking = response.status_code == HTTPStatus.FORBIDDEN and challenge.error == LACKING
    return challenge if lacking else None


def place(url: httpx2.URL) -> str:
    """An address as it may be shown: no password, no query, for both can be secrets."""
    return str(url.copy_with(userinfo=b"", query=None, fragment=None))


def looks_like_sse_only(cause: Cause) -> bool:
    """Whether the failure of the first POST means that the server may speak SSE only."""
    return (
        isinstance(cause, HttpCause) and cause.code is Code.HTTP_ERROR and cause.status in _SSE_ONLY
    )


def refused(response: httpx2.Response, body: bytes) -> HttpCause:
    """The cause of an answer with a status that is no success."""
    status = response.status_code
    if response.next_request is not None:
        target = place(response.next_request.url)
        return HttpCause(
            Code.HTTP_ERROR,
            f"HTTP {status}: the server redirects to {target}, which is not followed",
            hint="Use that URL if it is the intended one.",
            status=status,
        )
    if status == HTTPStatus.FORBIDDEN:
        code, hint = Code.FORBIDDEN, "Check the headers and the permissions of the token."
    else:
        code, hint = Code.HTTP_ERROR, ""
    return HttpCause(code, _with_sample(f"HTTP {status}", body), hint=hint, status=status)


def needs_auth(challenge: Challenge, *, had_token: bool) -> HttpCause:
    """The cause of a 401."""
    message = "Sign-in required"
    if had_token:
        message = "The server rejected the credentials"
    if challenge.error:
        message += f" ({challenge.error})"
    return HttpCause(
        Code.NEEDS_AUTH,
        message,
        hint="Sign in, or set a header with a valid token.",
        status=HTTPStatus.UNAUTHORIZED,
    )


def garbage(message: str, body: bytes = b"") -> Cause:
    """The cause of an answer that is not MCP."""
    return Cause(Code.GARBAGE, _with_sample(message, body))


def too_long(limit: int) -> Cause:
    """The cause of an answer over the limit."""
    return Cause(
        Code.GARBAGE,
        f"The response is larger than {limit} bytes",
        hint="Increase the message limit if this response is legitimate.",
    )


def session_expired(status: int = 0) -> HttpCause:
    """The cause of a request whose session the server no longer knows.

    Args:
        status: 404 for the request that was turned away, so never taken; 0 for one that was
            already under way.
    """
    message = "The server ended the session"
    return HttpCause(Code.CLOSED, message, untaken=status == HTTPStatus.NOT_FOUND, status=status)


def never_reached(error: httpx2.HTTPError) -> bool:
    """Whether an error means that no connection could be made at all."""
    unreachable = (
        httpx2.ConnectError,
        httpx2.ConnectTimeout,
        httpx2.ProxyError,
        httpx2.UnsupportedProtocol,
    )
    return isinstance(error, unreachable)


def broken(error: httpx2.HTTPError, url: httpx2.URL) -> Cause:
    """The cause of an exchange that the network ended."""
    if never_reached(error):
        return _unreachable(error, url)
    if isinstance(error, httpx2.LocalProtocolError):
        return Cause(Code.HTTP_ERROR, f"The request cannot be sent over HTTP: {error}")
    return Cause(Code.CLOSED, f"Connection to {place(url)} lost: {error or _kind(error)}")


def _unreachable(error: httpx2.HTTPError, url: httpx2.URL) -> Cause:
    roots = list(_chain(error))
    for root in roots:
        if isinstance(root, socket.gaierror):
            return Cause(Code.UNREACHABLE, f"DNS lookup failed for {url.host}")
        if isinstance(root, ssl.SSLCertVerificationError):
            return Cause(
                Code.UNREACHABLE,
                f"TLS certificate of {url.host} is not trusted: {root.verify_message}",
                hint="Set SSL_CERT_FILE to the certificate authority that signed it.",
            )
        if isinstance(root, ConnectionRefusedError):
            return Cause(
                Code.UNREACHABLE,
                f"Connection refused: {place(url)}",
                hint="Check that the server is running and the port is correct.",
            )
    reason = "timed out" if isinstance(error, httpx2.ConnectTimeout) else str(error)
    return Cause(Code.UNREACHABLE, f"Cannot connect to {place(url)}: {reason or _kind(error)}")


def _chain(error: BaseException) -> Iterable[BaseException]:
    waiting: list[BaseException] = [error]
    while waiting:
        current = waiting.pop()
        yield current
        if isinstance(current, BaseExceptionGroup):
            waiting.extend(cast("BaseExceptionGroup[BaseException]", current).exceptions)
        if (inner := current.__cause__ or current.__context__) is not None:
            waiting.append(inner)


def _kind(error: BaseException) -> str:
    return type(error).__name__


def sample(body: bytes) -> str:
    """The beginning of a body, in one line."""
    return " ".join(body[: 4 * _SAMPLE].decode(errors="replace").split())[:_SAMPLE]


def _with_sample(message: str, body: bytes) -> str:
    beginning = sample(body)
    return f"{message}: {beginning}" if beginning else message
