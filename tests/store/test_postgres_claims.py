"""Two nodes that share a sign-in renew it once, whatever happens meanwhile."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qs

import httpx2
import psycopg
import pytest
from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.definition.launch import OAuthValues, RemoteLaunch
from mcpyard.domain.errors import StoreAway
from mcpyard.runtime.signins import SignInManager
from mcpyard.store.postgres.store import SharedStore
from mcpyard.wire.link import LinkFailed
from mcpyard.wire.remote.signin import Identity, SignIn
from tests.postgres import KEY, Postgres
from tests.relay import Relay, relayed
from tests.wire.issuer import Issuer
from tests.wire.servers import asgi_server
from tests.wire.test_signin import BACK, sign_in

pytestmark = pytest.mark.real


@dataclass
class CountingIssuer(Issuer):
    """Counts refreshes, takes each refresh token once, and answers when it may."""

    requested: threading.Event = field(default_factory=threading.Event)
    may_answer: threading.Event = field(default_factory=threading.Event)

    async def token(self, request: Request) -> Response:
        form = parse_qs((await request.body()).decode())
        response = await super().token(request)
        if form["grant_type"] == ["refresh_token"]:
            self.requested.set()
            await asyncio.to_thread(self.may_answer.wait, 10)
        return response


@pytest.fixture
def issuer() -> Generator[CountingIssuer]:
    made = CountingIssuer()
    with asgi_server(made.app()) as made.base:
        yield made
        made.may_answer.set()


@dataclass(frozen=True, slots=True)
class SigningNode:
    """What a node has of the sign-ins."""

    store: SharedStore
    sign_ins: SignInManager

    async def call(self, issuer: Issuer) -> int:
        launch = RemoteLaunch(f"{issuer.base}/mcp", {}, None, OAuthValues())
        async with httpx2.AsyncClient(auth=self.sign_ins.auth(launch)) as client:
            return (await client.post(launch.url, json={"id": 1})).status_code


@asynccontextmanager
async def a_node(dsn: str) -> AsyncGenerator[SigningNode]:
    store = await SharedStore.open(dsn, KEY)
    manager = SignInManager(store.credentials, "n1", store.credentials)
    try:
        yield SigningNode(store, manager)
    finally:
        await manager.close()
        await store.close()


@asynccontextmanager
async def through(postgres: Postgres, dsn: str) -> AsyncGenerator[tuple[Relay, str]]:
    """A way to the database that can be cut, and its DSN."""
    async with relayed(postgres.port) as path:
        yield path, dsn.replace(str(postgres.port), str(path.port))


async def signed_in(node: SigningNode, issuer: Issuer) -> None:
    """Leave a sign-in whose token has run out."""
    url = f"{issuer.base}/mcp"
    await sign_in(SignIn(url, node.store.credentials, Identity(BACK)))
    credentials = await node.store.credentials.get(url)
    assert credentials is not None
    await node.store.credentials.put(replace(credentials, expires_at=time.time() - 1))


@pytest.mark.spec("F8.3")
async def test_two_nodes_renew_a_sign_in_once_and_both_go_on(
    cluster_dsn: str, issuer: CountingIssuer
) -> None:
    issuer.may_answer.set()
    async with a_node(cluster_dsn) as one, a_node(cluster_dsn) as two:
        await signed_in(one, issuer)
        for round_ in range(1, 4):
            statuses = await asyncio.gather(*(it.call(issuer) for it in (one, two) for _ in "ab"))
            assert statuses == [200] * 4
            assert issuer.refreshes == round_
            # Another round: the issuer takes the token of this one no more.
            issuer.valid.clear()


@pytest.mark.parametrize("until", ["2000-01-01", "2100-01-01"])
async def test_a_claim_that_a_node_left_behind_runs_out_by_no_wall_clock(
    cluster_dsn: str, issuer: CountingIssuer, monkeypatch: pytest.MonkeyPatch, until: str
) -> None:
    monkeypatch.setattr("mcpyard.store.postgres.claims.CLAIM_SECONDS", 1.0)
    issuer.may_answer.set()
    async with a_node(cluster_dsn) as one, a_node(cluster_dsn) as two:
        await signed_in(one, issuer)
        async with one.store.credentials.claim(f"{issuer.base}/mcp") as held:
            with psycopg.connect(cluster_dsn, autocommit=True) as connection:
                # The clock of the database jumped.
                connection.execute("UPDATE mcpyard.credentials SET claimed_until = %s", (until,))
            began = asyncio.get_running_loop().time()
            assert await two.call(issuer) == 200
            assert asyncio.get_running_loop().time() - began >= 1.0
            assert held.credentials
            assert await held.keep(held.credentials) != held.credentials
        assert issuer.refreshes == 1


async def test_no_transaction_is_open_while_the_issuer_is_asked(
    cluster_dsn: str, issuer: CountingIssuer
) -> None:
    async with a_node(cluster_dsn) as one, a_node(cluster_dsn) as two:
        await signed_in(one, issuer)
        first = asyncio.create_task(one.call(issuer))
        await asyncio.to_thread(issuer.requested.wait, 10)
        second = asyncio.create_task(two.call(issuer))
        with psycopg.connect(cluster_dsn, autocommit=True) as connection:
            open_ = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
            assert connection.execute(open_).fetchone() == (0,)
            # A writer of either node is not held up.
            assert await asyncio.wait_for(two.store.admin.set("x"), 5) == "x"
        issuer.may_answer.set()
        assert await asyncio.gather(first, second) == [200, 200]
        assert issuer.refreshes == 1


async def test_a_sign_in_that_is_taken_back_meanwhile_stays_so(
    cluster_dsn: str, issuer: CountingIssuer
) -> None:
    url = f"{issuer.base}/mcp"
    async with a_node(cluster_dsn) as one, a_node(cluster_dsn) as two:
        await signed_in(one, issuer)
        call = asyncio.create_task(one.call(issuer))
        await asyncio.to_thread(issuer.requested.wait, 10)
        await two.store.credentials.delete(url)
        issuer.may_answer.set()
        assert await call == 401
        assert await one.store.credentials.get(url) is None


async def test_a_new_sign_in_is_not_replaced_by_a_renewal_of_the_one_before(
    cluster_dsn: str, issuer: CountingIssuer
) -> None:
    url = f"{issuer.base}/mcp"
    async with a_node(cluster_dsn) as one, a_node(cluster_dsn) as two:
        await signed_in(one, issuer)
        call = asyncio.create_task(one.call(issuer))
        await asyncio.to_thread(issuer.requested.wait, 10)
        await sign_in(SignIn(url, two.store.credentials, Identity(BACK)))
        newest = await two.store.credentials.get(url)
        issuer.may_answer.set()
        assert await call == 200
        assert await one.store.credentials.get(url) == newest


async def test_a_claim_is_given_back_when_the_issuer_cannot_be_asked(
    cluster_dsn: str, issuer: CountingIssuer
) -> None:
    issuer.may_answer.set()
    async with a_node(cluster_dsn) as one, a_node(cluster_dsn) as two:
        await signed_in(one, issuer)
        issuer.broken = True
        with pytest.raises(LinkFailed):
            await one.call(issuer)
        issuer.broken = False
        assert await asyncio.wait_for(two.call(issuer), 10) == 200
        assert issuer.refreshes == 1


async def test_without_the_database_nothing_is_renewed(
    postgres: Postgres, cluster_dsn: str, issuer: CountingIssuer
) -> None:
    issuer.may_answer.set()
    async with through(postgres, cluster_dsn) as (path, far), a_node(far) as one:
        await signed_in(one, issuer)
        await path.close()
        with pytest.raises(StoreAway):
            await one.call(issuer)
        assert issuer.refreshes == 0


async def test_what_cannot_be_stored_at_once_is_stored_once_the_database_is_back(
    postgres: Postgres, cluster_dsn: str, issuer: CountingIssuer
) -> None:
    async with (
        through(postgres, cluster_dsn) as (path, far),
        a_node(far) as one,
        a_node(cluster_dsn) as two,
    ):
        await signed_in(one, issuer)
        call = asyncio.create_task(one.call(issuer))
        await asyncio.to_thread(issuer.requested.wait, 10)
        await path.close()
        issuer.may_answer.set()
        assert await call == 200
        waiting = asyncio.create_task(two.call(issuer))
        await path.start()
        assert await asyncio.wait_for(waiting, 15) == 200
        assert issuer.refreshes == 1
