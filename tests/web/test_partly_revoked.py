"""What the page says of a token that not every node knows to be revoked."""

from collections.abc import Sequence
from datetime import datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast
from uuid import UUID, uuid4

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from mcpyard.domain.stored import CallToken
from mcpyard.web.context import PageContext
from mcpyard.web.tokens import TokenPages

if TYPE_CHECKING:
    from mcpyard.web.server_screens.presenters import ServerPresenter

NODES = [f"node-with-a-long-name-{number}" for number in range(12)]


class Tokens:
    """The tokens of a cluster with nodes that do not answer."""

    def __init__(self, unconfirmed: Sequence[str]) -> None:
        self._unconfirmed = unconfirmed

    def all(self) -> Sequence[CallToken]:
        return ()

    async def create(
        self, name: str, profile: str | None, expires: datetime | None = None
    ) -> tuple[CallToken, str]:
        raise NotImplementedError(name, profile, expires)

    async def revoke(self, token: UUID) -> Sequence[str]:
        assert token
        return self._unconfirmed


@pytest.mark.parametrize("language", ["en", "zh-Hans", "zh-Hant"])
async def test_the_page_names_every_node_that_did_not_confirm(language: str) -> None:
    for missing, tone in ([], "good"), (NODES, "warn"):
        presenter = cast("ServerPresenter", SimpleNamespace(yard=None))
        pages = TokenPages(presenter, PageContext("", (), Tokens(missing)))
        app = Starlette(routes=[Route("/", pages.revoke, methods=["POST"])])
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://yard") as client:
            reply = await client.post(
                "/", data={"ref": str(uuid4())}, headers={"Accept-Language": language}
            )
        assert reply.status_code == 200
        assert f'class="notice {tone}"' in reply.text
        assert all(node in reply.text for node in missing)
