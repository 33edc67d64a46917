"""Signing in at remote servers: the address to send a browser to, and the way back from there.

The way back is open to everybody, because a browser comes to it from the authorization server's
page. What guards it is the `state`, which only that page was given and which is good for one time.
"""

from collections.abc import Mapping
from html import escape
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.api import requests
from mcpyard.api.responses import answer
from mcpyard.api.security.incoming import CALLBACK
from mcpyard.api.security.other_nodes import OtherNodes
from mcpyard.api.security.plain_page import plain_page
from mcpyard.domain.edges import edge
from mcpyard.domain.errors import YardError
from mcpyard.yard.views.access import SignInView
from mcpyard.yard.yard import YardCore

_DONE: Final = ("已登录。可以关闭此窗口。", "已登入。可以關閉此視窗。")
_FAILED: Final = ("登录失败。", "登入失敗。")
"""The same in Chinese, simplified and traditional."""


class SignInRoutes:
    """Signs one yard in."""

    def __init__(self, yard: YardCore, other_nodes: OtherNodes | None = None) -> None:
        self._yard = yard
        self._other_nodes = other_nodes

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
            name = await self._finish(dict(request.query_params))
        except YardError as error:
            return _page("Not signed in", f"{error.message}.", _FAILED, edge(error).status)
        return _page("Signed in", f'"{name}" is signed in. You can close this window.', _DONE)

    async def _finish(self, answer: Mapping[str, str]) -> str:
        """Finish a sign-in where it was begun; the name of the server."""
        nodes = self._other_nodes
        name = await nodes.finish_sign_in(answer) if nodes else None
        return await self._yard.logged_in(answer) if name is None else name


def _page(title: str, text: str, chinese: tuple[str, str], status: int = 200) -> Response:
    hans, hant = chinese
    paragraphs = (
        f"<h2>{escape(title)}</h2>\n<p>{escape(text)}</p>",
        f'<p lang="zh-Hans">{hans}</p>',
        f'<p lang="zh-Hant">{hant}</p>',
    )
    return plain_page("\n".join(paragraphs), status, title=title)
