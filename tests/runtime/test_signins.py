"""The sign-ins of a yard stay good, whatever becomes of the calls that wait for them."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qs

import httpx2
import pytest
from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.definition.launch import OAuthValues, RemoteLaunch
from mcpyard.runtime.signins import SignInManager, VolatileCredentials
from mcpyard.wire.remote import token_renewal
from mcpyard.wire.remote.signin import Identity, SignIn
from tests.wire.issuer import Issuer
from tests.wire.servers import asgi_server
from tests.wire.test_signin import BACK, sign_in

pytestmark = pytest.mark.real


@dataclass
class SlowIssuer(Issuer):
    """Takes a refresh token at once, and answers when it may."""

    requested: threading.Event = field(default_factory=threading.Event)
    may_answer: threading.Event = field(default_factory=threading.Event)
    renewed_as: list[str] = field(default_factory=list)

    async def token(self, request: Request) -> Response:
        form = parse_qs((await request.body()).decode())
        response = await super().token(request)
        if form["grant_type"] == ["refresh_token"]:
            self.renewed_as += form["client_id"]
            self.requested.set()
            await asyncio.to_thread(self.may_answer.wait, 10)
        return response


@pytest.fixture
def issuer() -> Generator[SlowIssuer]:
    slow_issuer = SlowIssuer()
    with asgi_server(slow_issuer.app()) as slow_issuer.base:
        yield slow_issuer
        slow_issuer.may_answer.set()


@pytest.fixture
async def tokens(issuer: SlowIssuer) -> VolatileCredentials:
    """Those of a sign-in that has run out."""
    store, url = VolatileCredentials(), f"{issuer.base}/mcp"
    await sign_in(SignIn(url, store, Identity(BACK)))
    credentials = await store.get(url)
    assert credentials is not None
    await store.put(replace(credentials, expires_at=time.time() - 1))
    return store


@pytest.fixture
async def sign_ins(tokens: VolatileCredentials) -> AsyncGenerator[SignInManager]:
    manager = SignInManager(tokens)
    yield manager
    await manager.close()


async def called(issuer: Issuer, sign_ins: SignInManager, oauth: OAuthValues | None = None) -> int:
    """Call over a connection of its own; the status that came back."""
    launch = RemoteLaunch(f"{issuer.base}/mcp", {}, None, oauth or OAuthValues())
    async with httpx2.AsyncClient(auth=sign_ins.auth(launch)) as client:
        response = await client.post(launch.url, json={"id": 1})
    return response.status_code


async def test_a_call_that_is_given_up_in_a_renewal_costs_no_sign_in(
    issuer: SlowIssuer, sign_ins: SignInManager
) -> None:
    impatient = asyncio.create_task(called(issuer, sign_ins))
    await asyncio.to_thread(issuer.requested.wait, 10)
    impatient.cancel()
    await asyncio.wait({impatient})
    issuer.may_answer.set()
    assert await called(issuer, sign_ins) == 200
    assert issuer.refreshes == 1


async def test_connections_of_one_server_renew_its_sign_in_once(
    issuer: SlowIssuer, sign_ins: SignInManager
) -> None:
    issuer.may_answer.set()
    statuses = await asyncio.gather(*(called(issuer, sign_ins) for _ in range(4)))
    assert statuses == [200] * 4
    assert issuer.refreshes == 1


async def test_tokens_are_renewed_as_the_client_that_got_them(
    issuer: SlowIssuer, sign_ins: SignInManager
) -> None:
    issuer.may_answer.set()
    by_hand = OAuthValues(client_id="another")
    assert await called(issuer, sign_ins, by_hand) == 200
    assert issuer.renewed_as == [*issuer.clients]


async def test_the_end_waits_for_a_renewal_and_keeps_what_came_of_it(
    issuer: SlowIssuer, sign_ins: SignInManager, tokens: VolatileCredentials
) -> None:
    impatient = asyncio.create_task(called(issuer, sign_ins))
    await asyncio.to_thread(issuer.requested.wait, 10)
    impatient.cancel()
    ending = asyncio.create_task(sign_ins.close())
    await asyncio.wait({impatient})
    issuer.may_answer.set()
    await ending
    stored = await tokens.get(f"{issuer.base}/mcp")
    assert stored is not None
    assert stored.refresh_token in issuer.refreshable


async def test_the_end_does_not_wait_for_an_issuer_that_says_nothing(
    issuer: SlowIssuer, sign_ins: SignInManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_renewal, "_LAST_SECONDS", 0.0)
    waiting = asyncio.create_task(called(issuer, sign_ins))
    await asyncio.to_thread(issuer.requested.wait, 10)
    await sign_ins.close()
    await asyncio.wait({waiting})
    assert waiting.cancelled()
