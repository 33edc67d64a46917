"""What becomes of a sign-in while its token is renewed."""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from dataclasses import replace

import pytest

from mcpyard.runtime.signins import VolatileCredentials
from mcpyard.wire.remote.signin import Identity, SignIn
from tests.wire.issuer import Issuer, consent
from tests.wire.servers import asgi_server

pytestmark = pytest.mark.real

ANOTHER_PERSON = "of another person"


@pytest.fixture
def issuer() -> Generator[Issuer]:
    server = Issuer(lifetime=1)
    with asgi_server(server.app()) as server.base:
        yield server


async def signed_in(issuer: Issuer, store: VolatileCredentials) -> SignIn:
    flow = SignIn(f"{issuer.base}/mcp", store, Identity("http://127.0.0.1:7/oauth/callback"))
    back = await consent(await flow.begin())
    await flow.finish(back["code"], back["state"], back["iss"])
    return flow


def in_this_loop(work: Callable[[], Coroutine[object, object, None]]) -> Callable[[], None]:
    """What the issuer, whose thread is another one, calls to have this done."""
    loop = asyncio.get_running_loop()
    return lambda: asyncio.run_coroutine_threadsafe(work(), loop).result(10)


async def test_signing_out_while_the_token_is_renewed_deletes_it_for_good(issuer: Issuer) -> None:
    store = VolatileCredentials()
    flow = await signed_in(issuer, store)
    issuer.meanwhile = in_this_loop(flow.forget)
    assert not await flow.token()
    assert issuer.refreshes == 1
    assert (await store.get(f"{issuer.base}/mcp"), flow.signed_in) == (None, False)
    assert not await flow.token()


async def test_a_renewal_takes_nothing_from_a_sign_in_that_came_meanwhile(issuer: Issuer) -> None:
    store = VolatileCredentials()
    flow = await signed_in(issuer, store)
    first = await store.get(f"{issuer.base}/mcp")
    assert first
    other = replace(first, access_token=ANOTHER_PERSON, expires_at=None)
    issuer.meanwhile = in_this_loop(lambda: store.put(other))
    assert await flow.token() == ANOTHER_PERSON
    assert await store.get(f"{issuer.base}/mcp") == other
