"""Signing in to a protected server, staying signed in, and being signed out."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx2
import pytest

from mcpyard.domain.cause import Code
from mcpyard.wire.remote.credentials import Credentials
from mcpyard.wire.remote.http_errors import Challenge
from mcpyard.wire.remote.issuer_requests import IssuerRefused, ask_issuer
from mcpyard.wire.remote.signin import Identity, SignIn, SignInFailed
from mcpyard.wire.remote.streamable_http import HttpLink
from tests.free_ports import free_port
from tests.wire.issuer import Issuer, consent
from tests.wire.servers import Recorder, Talk, asgi_server, call, raw_server

pytestmark = pytest.mark.real

BACK = "http://127.0.0.1:7/oauth/callback"


class Drawer:
    """A token store in memory."""

    def __init__(self) -> None:
        self.stored: dict[tuple[str, str], Credentials] = {}

    async def get(self, resource: str) -> Credentials | None:
        matches = [
            credentials for credentials in self.stored.values() if credentials.resource == resource
        ]
        return matches[-1] if matches else None

    async def put(self, credentials: Credentials) -> None:
        self.stored[credentials.issuer, credentials.resource] = credentials

    async def delete(self, resource: str) -> None:
        for key in [each for each in self.stored if each[1] == resource]:
            del self.stored[key]

    @property
    def only(self) -> Credentials:
        (credentials,) = self.stored.values()
        return credentials


@pytest.fixture
def issuer() -> Generator[Issuer]:
    server = Issuer()
    with asgi_server(server.app()) as server.base:
        yield server


def sign_in_at(issuer: Issuer, drawer: Drawer, back: str = BACK) -> SignIn:
    return SignIn(f"{issuer.base}/mcp", drawer, Identity(back))


async def sign_in(flow: SignIn) -> None:
    back = await consent(await flow.begin())
    await flow.finish(back["code"], back["state"], back["iss"])


@asynccontextmanager
async def linked(issuer: Issuer, flow: SignIn) -> AsyncGenerator[tuple[HttpLink, Recorder]]:
    link, recorder = HttpLink(f"{issuer.base}/mcp", auth=flow.auth), Recorder()
    await link.open(recorder)
    try:
        yield link, recorder
    finally:
        await link.close()


async def test_a_server_that_wants_a_sign_in_says_where_and_then_lets_in(issuer: Issuer) -> None:
    drawer = Drawer()
    flow = sign_in_at(issuer, drawer)
    async with linked(issuer, flow) as (link, recorder):
        link.send(call(1))
        assert (await recorder.loss()).code is Code.NEEDS_AUTH
        challenge = link.challenge
    url = await flow.begin(challenge)
    assert url.startswith(f"{issuer.base}/authorize?")
    back = await consent(url)
    assert flow.state == back["state"]
    await flow.finish(back["code"], back["state"], back["iss"])
    assert flow.state is None
    async with linked(issuer, flow) as (link, recorder):
        link.send(call(1))
        await recorder.answer(1)
    assert drawer.only.issuer == issuer.base
    assert issuer.resources == [f"{issuer.base}/mcp"]


async def test_the_next_start_needs_no_sign_in(issuer: Issuer) -> None:
    drawer = Drawer()
    await sign_in(sign_in_at(issuer, drawer))
    async with linked(issuer, sign_in_at(issuer, drawer)) as (link, recorder):
        link.send(call(1))
        await recorder.answer(1)
    assert issuer.refreshes == 0


async def test_a_token_that_has_run_out_is_renewed_once_for_all_who_wait(issuer: Issuer) -> None:
    drawer = Drawer()
    issuer.lifetime = 1
    await sign_in(sign_in_at(issuer, drawer))
    issuer.lifetime = 3600
    issuer.valid.clear()
    async with linked(issuer, sign_in_at(issuer, drawer)) as (link, recorder):
        for number in range(20):
            link.send(call(number))
        for number in range(20):
            await recorder.answer(number)
    assert issuer.refreshes == 1
    assert drawer.only.access_token in issuer.valid


async def test_a_token_that_was_revoked_early_is_renewed_once_for_all(issuer: Issuer) -> None:
    flow = sign_in_at(issuer, Drawer())
    await sign_in(flow)
    issuer.valid.clear()
    async with linked(issuer, flow) as (link, recorder):
        for number in range(20):
            link.send(call(number))
        for number in range(20):
            await recorder.answer(number)
    assert issuer.refreshes == 1
    assert issuer.calls == 20


async def test_a_revoked_refresh_token_means_to_sign_in_again(issuer: Issuer) -> None:
    drawer = Drawer()
    flow = sign_in_at(issuer, drawer)
    await sign_in(flow)
    issuer.valid.clear()
    issuer.refreshable.clear()
    async with linked(issuer, flow) as (link, recorder):
        link.send(call(1))
        assert (await recorder.loss()).code is Code.NEEDS_AUTH
        assert link.challenge is not None
        assert "resource_metadata" in link.challenge.header
    assert drawer.only.access_token == ""
    await sign_in(flow)
    async with linked(issuer, flow) as (link, recorder):
        link.send(call(1))
        await recorder.answer(1)
    assert len(issuer.clients) == 1


async def test_an_issuer_that_is_down_costs_the_call_and_not_the_sign_in(issuer: Issuer) -> None:
    drawer = Drawer()
    flow = sign_in_at(issuer, drawer)
    await sign_in(flow)
    before = drawer.only
    issuer.valid.clear()
    issuer.broken = True
    async with linked(issuer, flow) as (link, recorder):
        link.send(call(1))
        assert (await recorder.failure(1)).code is Code.UNREACHABLE
        assert recorder.losses == []
        assert drawer.only == before
        issuer.broken = False
        link.send(call(2))
        await recorder.answer(2)


async def test_two_yards_with_one_store_do_not_spend_each_others_refresh_token(
    issuer: Issuer,
) -> None:
    drawer = Drawer()
    one, two = sign_in_at(issuer, drawer), sign_in_at(issuer, drawer)
    await sign_in(one)
    await two.token()
    issuer.valid.clear()
    for flow in (one, two):
        async with linked(issuer, flow) as (link, recorder):
            link.send(call(1))
            await recorder.answer(1)
    assert issuer.refreshes == 1


async def test_a_state_is_good_for_one_time_only(issuer: Issuer) -> None:
    flow = sign_in_at(issuer, Drawer())
    back = await consent(await flow.begin())
    with pytest.raises(SignInFailed):
        await flow.finish(back["code"], "guessed", back["iss"])
    await flow.finish(back["code"], back["state"], back["iss"])
    with pytest.raises(SignInFailed):
        await flow.finish(back["code"], back["state"], back["iss"])
    assert await flow.token() in issuer.valid


async def test_of_two_callbacks_at_once_one_is_refused(issuer: Issuer) -> None:
    flow = sign_in_at(issuer, Drawer())
    back = await consent(await flow.begin())
    outcomes = await asyncio.gather(
        flow.finish(back["code"], back["state"], back["iss"]),
        flow.finish(back["code"], back["state"], back["iss"]),
        return_exceptions=True,
    )
    assert [type(outcome) for outcome in outcomes] == [type(None), SignInFailed]


async def test_beginning_again_makes_the_first_attempt_void(issuer: Issuer) -> None:
    flow = sign_in_at(issuer, Drawer())
    first = await consent(await flow.begin())
    second = await consent(await flow.begin())
    with pytest.raises(SignInFailed):
        await flow.finish(first["code"], first["state"], first["iss"])
    await flow.finish(second["code"], second["state"], second["iss"])


async def test_an_answer_from_another_issuer_is_refused(issuer: Issuer) -> None:
    drawer = Drawer()
    flow = sign_in_at(issuer, drawer)
    back = await consent(await flow.begin())
    with pytest.raises(SignInFailed):
        await flow.finish(back["code"], back["state"], "http://evil.example")
    assert drawer.stored == {}


async def test_a_person_may_say_no(issuer: Issuer) -> None:
    flow = sign_in_at(issuer, Drawer())
    await flow.begin()
    state = flow.state
    assert state
    await flow.decline(state, "access_denied")
    assert flow.state is None
    assert await flow.token() == ""


async def test_giving_up_leaves_nothing_under_way(issuer: Issuer) -> None:
    flow = sign_in_at(issuer, Drawer())
    await flow.begin()
    attempt = flow._attempt
    assert attempt is not None
    await flow.close()
    assert attempt.task is not None
    assert attempt.task.done()
    assert flow.state is None


async def test_another_address_to_come_back_to_is_registered_anew(issuer: Issuer) -> None:
    drawer = Drawer()
    await sign_in(sign_in_at(issuer, drawer))
    await sign_in(sign_in_at(issuer, drawer, "http://127.0.0.1:8/oauth/callback"))
    assert len(issuer.clients) == 2


async def test_a_client_registered_by_hand_is_not_registered_again(issuer: Issuer) -> None:
    issuer.clients["mine"] = {"redirect_uris": [BACK]}
    flow = SignIn(f"{issuer.base}/mcp", Drawer(), Identity(BACK, client_id="mine"))
    await sign_in(flow)
    assert set(issuer.clients) == {"mine"}


@pytest.mark.parametrize("way", ["basic", "post"])
async def test_a_secret_is_shown_in_the_way_that_the_issuer_takes(issuer: Issuer, way: str) -> None:
    issuer.clients["mine"] = {"redirect_uris": [BACK]}
    issuer.secrets_in = way
    issuer.lifetime = 0
    drawer = Drawer()
    hush = "hush-hush"
    identity = Identity(BACK, client_id="mine", client_secret=hush)
    await sign_in(SignIn(f"{issuer.base}/mcp", drawer, identity))
    assert issuer.token_requests == [hush]
    issuer.lifetime = 3600
    assert await SignIn(f"{issuer.base}/mcp", drawer, identity).token()
    assert issuer.token_requests == [hush, hush], "a renewal shows it too"


async def test_a_server_that_is_not_there_fails_the_beginning() -> None:
    url = f"http://127.0.0.1:{free_port()}/mcp"
    with pytest.raises(SignInFailed):
        await SignIn(url, Drawer(), Identity(BACK)).begin(Challenge())


@pytest.mark.parametrize("methods", [None, [], ["plain"]])
async def test_an_issuer_without_pkce_is_refused(issuer: Issuer, methods: list[str] | None) -> None:
    issuer.challenge_methods = methods
    with pytest.raises(SignInFailed, match="does not support PKCE with S256"):
        await sign_in_at(issuer, Drawer()).begin()


async def test_a_description_that_has_no_end_is_not_read_to_it(issuer: Issuer) -> None:
    issuer.flood = 4 * 1024 * 1024
    with pytest.raises(SignInFailed, match="is larger than 1048576 bytes"):
        await sign_in_at(issuer, Drawer()).begin()


async def test_an_issuer_cannot_send_us_to_link_local_addresses(issuer: Issuer) -> None:
    issuer.elsewhere = "http://169.254.169.254"
    with pytest.raises(SignInFailed, match=r"169\.254\.169\.254 is in a private network"):
        await sign_in_at(issuer, Drawer()).begin()


@pytest.mark.parametrize(
    ("server", "target", "allowed"),
    [
        ("https://93.184.216.34/mcp", "http://127.0.0.1:9/a", False),
        ("https://93.184.216.34/mcp", "http://10.0.0.1/a", False),
        ("https://93.184.216.34/mcp", "http://[::ffff:10.0.0.1]/a", False),
        ("https://93.184.216.34/mcp", "http://localhost/a", False),
        ("https://93.184.216.34/mcp", "ftp://93.184.216.34/a", False),
        ("http://10.0.0.1/mcp", "http://169.254.169.254/a", False),
        ("https://93.184.216.34/mcp", "https://93.184.216.35/a", True),
        ("http://127.0.0.1:1/mcp", "http://localhost:2/a", True),
        ("http://127.0.0.1:1/mcp", "https://nowhere.invalid/a", True),
        ("http://169.254.1.1/mcp", "http://169.254.1.1/a", True),
    ],
)
async def test_a_private_target_is_for_private_servers(
    server: str, target: str, *, allowed: bool
) -> None:
    async def reached(_request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(204)

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(reached)) as client:
        answer = ask_issuer(client, httpx2.Request("GET", target), httpx2.URL(server))
        if allowed:
            assert (await answer).status_code == 204
        else:
            with pytest.raises(IssuerRefused):
                await answer


async def test_a_compressed_answer_is_refused() -> None:
    async def reached(_request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"Content-Encoding": "gzip"})

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(reached)) as client:
        url = httpx2.URL("http://127.0.0.1/a")
        with pytest.raises(IssuerRefused, match="compressed"):
            await ask_issuer(client, httpx2.Request("GET", url), url)


async def test_signing_out_deletes_the_tokens(issuer: Issuer) -> None:
    drawer = Drawer()
    flow = sign_in_at(issuer, drawer)
    await sign_in(flow)
    assert flow.signed_in
    await flow.forget()
    assert (drawer.stored, flow.signed_in, await flow.token()) == ({}, False, "")


async def test_secrets_do_not_show_in_the_text_of_credentials(issuer: Issuer) -> None:
    drawer = Drawer()
    await sign_in(sign_in_at(issuer, drawer))
    text = repr(replace(drawer.only, client='{"client_secret":"s3"}'))
    assert drawer.only.access_token not in text
    assert drawer.only.refresh_token not in text
    assert "s3" not in text


async def test_signed_in_calls_run_at_the_same_time() -> None:
    both = asyncio.Barrier(2)

    async def script(talk: Talk) -> None:
        await both.wait()
        await talk.answer()

    async with raw_server(script) as server:
        drawer = Drawer()
        await drawer.put(Credentials("http://issuer", server.url, "{}", "t"))
        recorder = Recorder()
        link = HttpLink(server.url, auth=SignIn(server.url, drawer, Identity(BACK)).auth)
        await link.open(recorder)
        for number in (1, 2):
            link.send(call(number))
        for number in (1, 2):
            await recorder.answer(number)
        assert server.heard[0].headers["authorization"] == "Bearer t"
        await link.close()


def test_the_sdk_is_not_loaded_for_servers_without_a_sign_in() -> None:
    modules = "mcpyard.wire.remote.streamable_http, mcpyard.wire.remote.signin"
    code = f"import sys, {modules}; print('mcp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "False"
