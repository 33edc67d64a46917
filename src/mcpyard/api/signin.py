"""Signing in at remote servers: the address to send a browser to, and the way back from there.

The way back is open to everybody, because a browser comes to it from the authorization server's
page. What guards it is the `state`, which only that page was given and which is good for one time.
"""

from html import escape
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.api import requests
from mcpyard.api.responses import answer
from mcpyard.api.security.incoming import CALLBACK
from mcpyard.domain.errors import YardError, edge
from mcpyard.yard.views.access import SignInView
from mcpyard.yard.yard import YardCore

_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>{title} - mcpyard</title>
</head>
<body>
<h1>{title}</h1>
<p>{text}</p>
<p lang="zh-Hans">{hans}</p>
<p lang="zh-Hant">{hant}</p>
</body>
</html>
"""

_DONE: Final = ("已登录。可以关闭此窗口。", "已登入。可以關閉此視窗。")
_FAILED: Final = ("登录失败。", "登入失敗。")
"""The same in Chinese, simplified and traditional."""


class SignInRoutes:
    """Signs one yard in."""

    def __init__(self, yard: YardCore) -> None:
        self._yard = yard

    async def begin(self, request: Request) -> Response:
        """Begin a sign-in at a server."""
        back = f"{request.scope['scheme']}://{request.headers['host']}{CALLBACK}"
        url = await self._yard.login(requests.part(request, "ref"), back)
        return answer(SignInView(authorization_url=url))

    async def end(self, request: Request) -> Response:
        """Delete the tokens of a server."""
        return answer(await self._yard.logout(requests.part(request, "ref")))

    async def callback(self, request: Request) -> Response:
        """Take what the browser brings back, and tell the person how it went."""
        try:
            name = await self._yard.logged_in(dict(request.query_params))
        except YardError as error:
            return _page("Not signed in", f"{error.message}.", _FAILED, edge(error).status)
        return _page("Signed in", f'"{name}" is signed in. You can close this window.', _DONE)


def _page(title: str, text: str, chinese: tuple[str, str], status: int = 200) -> Response:
    hans, hant = chinese
    html = _PAGE.format(title=escape(title), text=escape(text), hans=hans, hant=hant)
    return Response(html, status, media_type="text/html")
