"""How a browser comes in, opens streams and goes.

A one-time link answers with a page that signs the browser in and continues by itself. The answer is
no redirect, because a browser that follows one from elsewhere would not send the new cookie along.
The session's key is handed out here and nowhere else: in the page's `mcpyard-key`, and to the page
it continues to in the fragment of the address, which no server is ever sent. That page keeps it in
its own storage, which, unlike a cookie, belongs to this port alone.
"""

import contextlib
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.api.problems import refusal
from mcpyard.api.responses import answer, refuse
from mcpyard.api.security.incoming import LOGIN, Incoming
from mcpyard.api.security.keys import (
    LINK_LIFE,
    SESSION_LIFE,
    TICKET_LIFE,
    Keys,
    hashed,
    make_secret,
)
from mcpyard.api.security.plain_page import plain_page
from mcpyard.api.tokens import revoked_answer
from mcpyard.asgi_scope import principal_of
from mcpyard.domain.errors import StateGone, StorageFull
from mcpyard.domain.stored import LoginSession
from mcpyard.yard.views.access import LoginLinkView, TicketView
from mcpyard.yard.views.base import moment

_WELCOME: Final = """<meta name="mcpyard-key" content="{key}">
<meta http-equiv="refresh" content="0; url=/#key={key}">
"""
_GO_ON: Final = '<p>You are signed in. <a href="/#key={key}">Continue</a></p>'
_WORTHLESS: Final = (
    "<p>This link was already used or has expired. To get a new one, run <code>mcpyard open</code> "
    "on the machine that runs mcpyard.</p>\n"
    '<p lang="zh-Hans">此链接已被使用或已过期。请在运行 mcpyard 的机器上执行 '
    "<code>mcpyard open</code> 获取新链接。</p>\n"
    '<p lang="zh-Hant">此連結已被使用或已過期。請在執行 mcpyard 的機器上執行 '
    "<code>mcpyard open</code> 取得新連結。</p>"
)
_NO_BROWSER: Final = "tickets are issued to signed-in browsers only"


class LoginRoutes:
    """Answers from the keys of one yard."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    async def make_link(self, request: Request) -> Response:
        """A new one-time link."""
        secret = await self._keys.make_link()
        base = f"{request.scope['scheme']}://{request.headers['host']}"
        expires = moment(self._keys.clock.now() + LINK_LIFE)
        return answer(LoginLinkView(url=link_address(base, secret), expires=expires), 201)

    async def login(self, request: Request) -> Response:
        """Let a browser in that comes with a link."""
        now, link = self._keys.clock.now(), request.query_params.get("link", "")
        if not await self._keys.sessions.take_link(hashed(link), now):
            return plain_page(_WORTHLESS, 403)
        incoming, cookie, key = Incoming.of(request.scope), make_secret(), make_secret()
        if earlier := incoming.cookie():
            # A disk that cannot forget the old session is no reason to refuse the new one.
            with contextlib.suppress(StorageFull, StateGone):
                await self._keys.sessions.remove(hashed(earlier))
        session = LoginSession(hashed(cookie), hashed(key), now, now + SESSION_LIFE)
        await self._keys.sessions.add(session)
        welcome = plain_page(_GO_ON.format(key=key), head=_WELCOME.format(key=key))
        _set_cookie(welcome, incoming, cookie)
        return welcome

    async def logout(self, request: Request) -> Response:
        """Shut the browser out that asks."""
        who = principal_of(request.scope)
        if who and who.session:
            since, cookie_hash = self._keys.clock.monotonic(), who.session.cookie_hash
            await self._keys.sessions.remove(cookie_hash)
            farewell = revoked_answer(
                await self._keys.revoked(who.name, since, cookie_hash=cookie_hash)
            )
        else:
            farewell = Response(status_code=204)
        _set_cookie(farewell, Incoming.of(request.scope), "")
        return farewell

    async def make_ticket(self, request: Request) -> Response:
        """A ticket that opens one stream for the browser that asks."""
        who = principal_of(request.scope)
        if who is None or who.session is None:
            return refuse(refusal("no-browser", _NO_BROWSER))
        ticket = self._keys.tickets.issue(who.session, self._keys.clock.monotonic())
        return answer(TicketView(ticket=ticket, expires_in=TICKET_LIFE), 201)


def link_address(base: str, secret: str) -> str:
    """The address of a one-time link."""
    return f"{base}{LOGIN}?link={quote(secret, safe='')}"


def _set_cookie(response: Response, incoming: Incoming, value: str) -> None:
    """Have the browser keep a value, or drop the one it has."""
    response.set_cookie(
        incoming.cookie_name,
        value,
        max_age=round(SESSION_LIFE.total_seconds()) if value else 0,
        path="/",
        secure=incoming.scheme == "https",
        httponly=True,
        samesite="strict",
    )
