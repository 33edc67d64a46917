"""A request as the guard sees it: before any route, and before its body."""

from collections.abc import Mapping
from typing import Final, Self
from urllib.parse import parse_qs

import msgspec
from starlette.types import Scope

LOGIN: Final = "/login"
CALLBACK: Final = "/oauth/callback"
EVENTS: Final = "/api/events"
NEWS: Final = "/ui/stream"
GATEWAY: Final = "/mcp"
STATIC: Final = "/static/"
CONTENTS: Final = "/api/mcp/calls/"

_SAFE: Final = frozenset({"GET", "HEAD"})
PROBES: Final = ("/livez", "/readyz", "/healthz")
_PUBLIC: Final = frozenset(
    {("GET", LOGIN), ("GET", CALLBACK), *((method, path) for method in _SAFE for path in PROBES)}
)
_ONCE: Final = (b"host", b"origin", b"authorization", b"content-length", b"sec-fetch-site")
_NO: Final = frozenset({"0", "false", "no", ""})


class Incoming(msgspec.Struct, frozen=True):
    """What a request says about itself. A msgspec struct because one is made for every call.

    Attributes:
        path: Its path as it was sent, still quoted.
        headers: Its headers; of one that came twice the last.
        doubled: Whether a header came twice that decides about entry.
        address: The local address it came to, at the local `port`.
        peer: The address it came from.
    """

    method: str
    path: str
    query: str
    headers: Mapping[bytes, bytes]
    doubled: bool
    address: str
    port: int
    scheme: str
    peer: str = ""

    @classmethod
    def of(cls, scope: Scope) -> Self:
        """Read a request's scope."""
        raw: list[tuple[bytes, bytes]] = scope["headers"]
        headers = dict(raw)
        doubled = len(headers) < len(raw) and any(
            sum(name == each for name, _ in raw) > 1 for each in _ONCE
        )
        address, port = scope.get("server") or ("", 0)
        peer, _ = scope.get("client") or ("", 0)
        path = scope["raw_path"].decode("latin-1")
        query = scope["query_string"].decode("latin-1")
        return cls(
            scope["method"],
            path,
            query,
            headers,
            doubled,
            address,
            port or 0,
            scope["scheme"],
            peer,
        )

    @property
    def is_public(self) -> bool:
        """Whether anybody may ask this."""
        if (self.method, self.path) in _PUBLIC:
            return True
        return self.method in _SAFE and self.path.startswith(STATIC)

    @property
    def changes(self) -> bool:
        """Whether it may change something."""
        return self.method not in _SAFE

    @property
    def is_gateway(self) -> bool:
        """Whether it is for the gateway."""
        return self.path == GATEWAY or self.path.startswith(f"{GATEWAY}/")

    @property
    def is_stream(self) -> bool:
        """Whether the answer may go on for long."""
        follows = self.path.endswith("/logs") and self.asked("follow").lower() not in _NO
        updates = self.path.startswith("/ui/") and self.path.endswith("/resources/updates")
        return self.path in {EVENTS, NEWS} or follows or updates or self.is_gateway

    @property
    def is_private(self) -> bool:
        """Whether the answer holds what calls were given and answered."""
        return self.path.startswith(CONTENTS)

    @property
    def cookie_name(self) -> str:
        """What this yard's cookie is called: cookies ignore ports, so the name tells it."""
        return f"mcpyard_{self.port}"

    def header(self, name: bytes) -> str | None:
        """A header's value."""
        value = self.headers.get(name)
        return None if value is None else value.decode("latin-1")

    @property
    def site(self) -> str:
        """What a browser says of the page that a request comes from; empty without a browser."""
        return (self.header(b"sec-fetch-site") or "").strip().lower()

    def cookie(self) -> str | None:
        """The value of this yard's cookie."""
        sent = self.header(b"cookie")
        if not sent:
            return None
        from starlette.requests import cookie_parser  # noqa: PLC0415  for browsers alone

        return cookie_parser(sent).get(self.cookie_name)

    def asked(self, name: str) -> str:
        """The last value of a query parameter; empty where there is none."""
        return self.parameters().get(name, [""])[-1]

    def parameters(self) -> dict[str, list[str]]:
        """The query, taken apart."""
        return parse_qs(self.query, keep_blank_values=True) if self.query else {}
