"""Who asks, and what that one may do.

The admin token opens everything, a call token the gateway or one profile of it. A browser's cookie
opens pages and what can be read: cookies ignore ports, so that any program that listens on this
machine may be sent it. A change, a stream and what is recorded of a call also need the session's
key, which only pages of this origin hold, and the browser's word that such a page asks.
"""

import hmac
from collections.abc import Callable
from datetime import UTC
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from mcpyard.api.problems import refusal
from mcpyard.api.responses import refuse
from mcpyard.api.security.expiry import ExpiryTimers
from mcpyard.api.security.host_names import is_foreign
from mcpyard.api.security.incoming import Incoming
from mcpyard.api.security.keys import Keys, hashed
from mcpyard.api.security.unauthenticated import is_looking, strange_browser
from mcpyard.asgi_scope import Principal
from mcpyard.domain.stored import CallToken, LoginSession

if TYPE_CHECKING:
    from starlette.responses import Response

KEY_HEADER: Final = b"x-mcpyard-key"

_SHOWN: Final = 8
_BEARER: Final = {"WWW-Authenticate": "Bearer"}
_NEVER_IN_A_QUERY: Final = frozenset({"token", "access_token", "api_key", "authorization"})
_NO_TOKEN: Final = "a token is required: `Authorization: Bearer ...`"  # noqa: S105  a sentence
_IN_ADDRESS: Final = "a token in a URL ends up in logs and histories: send it as a header"


ADMIN: Final = Principal("admin")


class Authenticator:
    """Knows who holds which key."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._expiry = ExpiryTimers(keys)

    def know(self, incoming: Incoming) -> Principal | None:
        """Who asks; None for a stranger."""
        sent = incoming.headers.get(b"authorization")
        if sent is not None:
            return self._bearer(sent)
        # A foreign page may ask what is public, but gets no more than a stranger does.
        return None if is_foreign(incoming) else self._browser(incoming)

    def admin_check(self, incoming: Incoming) -> Callable[[], bool]:
        """What tells whether a request that came with the admin token still does."""
        _, _, token = incoming.headers[b"authorization"].partition(b" ")
        return partial(self._keys.admin.fits, token)

    def objection(self, incoming: Incoming, who: Principal | None) -> "Response | None":
        """Why a request may not pass."""
        if incoming.is_public:
            return None
        if not _NEVER_IN_A_QUERY.isdisjoint(incoming.parameters()):
            return _unauthorized(_IN_ADDRESS)
        if who is None:
            return strange_browser() if is_looking(incoming) else self._unknown(incoming)
        if who.token:
            return _objection_to_token(incoming, who.token)
        if who.session and (incoming.changes or incoming.is_stream or incoming.is_private):
            return self._objection_to_browser(incoming, who.session)
        return None

    async def fetch_ticket(self, incoming: Incoming, who: Principal | None) -> None:
        """Have the node of a cluster that issued the ticket of a request hand it over."""
        if not self._keys.other_nodes or who is None or who.session is None or incoming.changes:
            return
        if ticket := incoming.asked("ticket"):
            await self._keys.fetch_ticket(ticket, who.session)

    def _bearer(self, sent: bytes) -> Principal | None:
        scheme, _, token = sent.partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        if self._keys.admin.fits(token):
            return ADMIN
        record, now = self._record(token), self._keys.clock.now()
        if record is None or record.is_expired(now):
            return None
        self._keys.tokens.used(record.id, now)
        self._expiry.watch(record)
        return Principal.holding(record)

    def _record(self, token: bytes) -> CallToken | None:
        return self._keys.tokens.by_hash(hashed(token.decode("latin-1")))

    def _unknown(self, incoming: Incoming) -> "Response":
        """Why somebody who is not recognised is refused: only the holder of a token is told."""
        record = self._record((incoming.headers.get(b"authorization") or b"").partition(b" ")[2])
        if record is None or record.expires is None:
            return _unauthorized(_NO_TOKEN)
        at = record.expires.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
        detail = f'the token "{record.name}" expired at {at}'
        return refuse(refusal("token-expired", detail), _BEARER)

    def _browser(self, incoming: Incoming) -> Principal | None:
        cookie = incoming.cookie()
        session = cookie and self._keys.sessions.get(hashed(cookie), self._keys.clock.now())
        return (
            Principal(f"browser:{session.cookie_hash[:_SHOWN]}", session=session)
            if session
            else None
        )

    def _objection_to_browser(self, incoming: Incoming, session: LoginSession) -> "Response | None":
        if incoming.site != "same-origin":
            return refuse(refusal("foreign-origin", "only mcpyard's own page may send this"))
        if self._holds_key(incoming, session) or self._holds_ticket(incoming, session):
            return None
        return refuse(refusal("key-needed", "the key of the browser session is required"))

    def _holds_key(self, incoming: Incoming, session: LoginSession) -> bool:
        key = incoming.headers.get(KEY_HEADER, b"").decode("latin-1")
        return hmac.compare_digest(hashed(key), session.key_hash)

    def _holds_ticket(self, incoming: Incoming, session: LoginSession) -> bool:
        if incoming.changes or not (ticket := incoming.asked("ticket")):
            return False
        now = self._keys.clock.monotonic()
        return self._keys.tickets.redeem(ticket, session.cookie_hash, now)


def _objection_to_token(incoming: Incoming, token: CallToken) -> "Response | None":
    _, *parts = incoming.path.split("/")
    allowed = incoming.is_gateway
    if token.profile is not None:
        allowed = len(parts) > 1 and (parts[0], unquote(parts[1])) == ("mcp", token.profile)
    if allowed:
        return None
    opens = "/mcp" if token.profile is None else f"/mcp/{token.profile}"
    return refuse(refusal("beyond-token", f"this token gives access to {opens} only"))


def _unauthorized(detail: str) -> "Response":
    return refuse(refusal("unauthorized", detail), _BEARER)
