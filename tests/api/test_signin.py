"""Signing in at a remote server through the yard, and what becomes of the tokens."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest

from mcpyard.api.app import build
from mcpyard.app import WiredYard, open_yard
from mcpyard.domain.errors import SignInUnknown
from mcpyard.yard.views.servers import ServerView
from tests.api.asgi import client_of, keys_of
from tests.api.office import Office, consent, local_part
from tests.cli.commands import echo
from tests.wire.issuer import Issuer
from tests.wire.servers import asgi_server

pytestmark = pytest.mark.real

LOGIN = "/api/mcp/servers/far/login"
FROM_ELSEWHERE = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}


@pytest.fixture
def office() -> Generator[Office]:
    issuer = Office()
    with asgi_server(issuer.app()) as issuer.base:
        yield issuer


@dataclass(frozen=True, slots=True)
class SignIns:
    """A yard, its owner, and a browser that holds no token of the yard."""

    yard: WiredYard
    owner: httpx2.AsyncClient
    browser: httpx2.AsyncClient

    async def begin(self) -> str:
        answer = await self.owner.post(LOGIN)
        assert answer.status_code == 200, answer.text
        return answer.json()["authorizationUrl"]

    async def come_back(self, location: str) -> httpx2.Response:
        return await self.browser.get(local_part(location))

    async def sign_in(self) -> httpx2.Response:
        return await self.come_back(await consent(await self.begin()))

    async def settled(self) -> ServerView:
        async with asyncio.timeout(20):
            return await self.yard.settled("far")

    async def call(self) -> httpx2.Response:
        return await self.owner.post("/api/mcp/servers/far/tools/greet/call", json={})


@asynccontextmanager
async def sign_ins_of(
    office: Office, home: Path | None = None, **definition: object
) -> AsyncGenerator[SignIns]:
    far = {"url": f"{office.base}/mcp", "wanted": "running", **definition}
    async with open_yard(servers={"far": far, "near": echo()}, home=home, environment={}) as yard:
        app = build(yard, keys=keys_of(yard), hosts=[], closing=asyncio.Event())
        async with client_of(app) as owner, client_of(app, FROM_ELSEWHERE) as browser:
            sign_ins = SignIns(yard, owner, browser)
            await sign_ins.settled()
            yield sign_ins


def problem(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].removeprefix("urn:mcpyard:error:")


async def test_a_server_that_wants_a_sign_in_gets_it_and_can_be_called(office: Office) -> None:
    async with sign_ins_of(office) as sign_ins:
        record = await sign_ins.settled()
        assert (record.phase, record.status) == ("needs_auth", "error")
        assert record.error
        assert record.error.hint == "Sign in: mcpyard login far"
        url = await sign_ins.begin()
        assert url.startswith(f"{office.base}/authorize?")
        (back,) = parse_qs(urlsplit(url).query)["redirect_uri"]
        assert back == "http://127.0.0.1/oauth/callback"
        page = await sign_ins.come_back(await consent(url))
        assert page.status_code == 200
        assert "&quot;far&quot; is signed in. You can close this window." in page.text
        assert (await sign_ins.settled()).status == "connected"
        assert (await sign_ins.call()).json()["content"][0]["text"] == "good day"


async def test_signing_out_deletes_the_tokens_and_asks_for_a_sign_in_again(
    office: Office, tmp_path: Path
) -> None:
    async with sign_ins_of(office, tmp_path / "home") as sign_ins:
        await sign_ins.sign_in()
        assert (await sign_ins.settled()).status == "connected"
        assert sign_ins.yard.signed_in(sign_ins.yard.server("far"))
        answer = await sign_ins.owner.post("/api/mcp/servers/far/logout")
        assert (answer.status_code, answer.json()["name"]) == (200, "far")
        assert (await sign_ins.settled()).phase == "needs_auth"
        assert not sign_ins.yard.signed_in(sign_ins.yard.server("far"))
        credentials = sign_ins.yard.storage.credentials
        assert await credentials.get(f"{office.base}/mcp") is None
        refused = await sign_ins.owner.post("/api/mcp/servers/near/logout")
        assert problem(refused)[0] == 409


async def test_the_tokens_of_a_server_are_deleted_with_it(office: Office, tmp_path: Path) -> None:
    definition = {"url": f"{office.base}/mcp", "name": "mine", "scope": "user"}
    async with sign_ins_of(office, tmp_path / "home") as sign_ins:
        yard, resource = sign_ins.yard, f"{office.base}/mcp"
        await sign_ins.sign_in()
        await yard.register(definition)
        await yard.remove("mine")
        assert await yard.storage.credentials.get(resource), "another server uses them"
        yard.code.remove("far")
        await yard.register(definition)
        await yard.remove("mine")
        assert await yard.storage.credentials.get(resource) is None


async def test_a_yard_that_was_registered_by_hand_signs_in_as_that(office: Office) -> None:
    office.clients["mine"] = {"redirect_uris": ["http://127.0.0.1/oauth/callback"]}
    office.secrets_in = "basic"
    oauth = {"clientId": "mine", "clientSecret": "hush-hush"}
    async with sign_ins_of(office, oauth=oauth) as sign_ins:
        settings = (await sign_ins.owner.get("/api/mcp/servers/far")).json()["oauth"]
        assert settings["clientId"] == "mine"
        assert settings["clientSecret"]["masked"] is True
        await sign_ins.sign_in()
        assert (await sign_ins.settled()).status == "connected"
    assert set(office.clients) == {"mine"}, "nothing was registered"
    assert office.token_requests == ["hush-hush"]


async def test_the_page_at_the_end_runs_no_script_and_is_not_kept(office: Office) -> None:
    async with sign_ins_of(office) as sign_ins:
        page = await sign_ins.sign_in()
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert page.headers["content-security-policy"].startswith("default-src 'none'")
        assert page.headers["cache-control"] == "no-store"
        assert page.headers["referrer-policy"] == "no-referrer"
        assert "<script" not in page.text


async def test_a_state_is_good_for_one_time(office: Office) -> None:
    async with sign_ins_of(office) as sign_ins:
        location = await consent(await sign_ins.begin())
        assert (await sign_ins.come_back(location)).status_code == 200
        again = await sign_ins.come_back(location)
        assert again.status_code == 400
        assert "start again" in again.text
        assert (await sign_ins.settled()).status == "connected"


@pytest.mark.parametrize("query", ["", "code=x", "state=", "state=guessed&code=x", "error=no"])
async def test_an_answer_to_no_sign_in_is_refused(office: Office, query: str) -> None:
    async with sign_ins_of(office) as sign_ins:
        await sign_ins.begin()
        assert (await sign_ins.browser.get(f"/oauth/callback?{query}")).status_code == 400
        assert (await sign_ins.settled()).phase == "needs_auth"


async def test_a_person_who_says_no_is_told_so_and_nobody_is_signed_in(office: Office) -> None:
    async with sign_ins_of(office) as sign_ins:
        (state,) = parse_qs(urlsplit(await sign_ins.begin()).query)["state"]
        parameters = {
            "state": state,
            "error": "access_denied",
            "error_description": "<b>not me</b>",
        }
        page = await sign_ins.browser.get(f"/oauth/callback?{urlencode(parameters)}")
        assert page.status_code == 502
        assert "refused: &lt;b&gt;not me&lt;/b&gt;" in page.text
        assert (await sign_ins.settled()).phase == "needs_auth"
        late = {"state": state, "code": "x"}
        assert (await sign_ins.browser.get(f"/oauth/callback?{urlencode(late)}")).status_code == 400


async def test_a_code_that_the_issuer_does_not_know_signs_nobody_in(office: Office) -> None:
    async with sign_ins_of(office) as sign_ins:
        location = await consent(await sign_ins.begin())
        office.codes.clear()
        page = await sign_ins.come_back(location)
        assert page.status_code == 502
        assert "Not signed in" in page.text
        assert (await sign_ins.settled()).phase == "needs_auth"


async def test_who_cannot_begin_a_sign_in_is_not_told_to_sign_in(office: Office) -> None:
    async with sign_ins_of(office, url="http://127.0.0.1:9/mcp", wanted="stopped") as sign_ins:
        error = (await sign_ins.owner.post(LOGIN)).json()
        assert error["type"] == "urn:mcpyard:error:needs-auth"
        assert "authorization server is reachable" in error["hint"]
        assert "mcpyard login" not in error["hint"]


async def test_beginning_again_makes_the_first_sign_in_void(office: Office) -> None:
    async with sign_ins_of(office) as sign_ins:
        first = await consent(await sign_ins.begin())
        second = await consent(await sign_ins.begin())
        assert (await sign_ins.come_back(first)).status_code == 400
        assert (await sign_ins.come_back(second)).status_code == 200


async def test_a_token_that_has_run_out_is_renewed_without_a_person(office: Office) -> None:
    async with sign_ins_of(office) as sign_ins:
        office.lifetime = 1
        await sign_ins.sign_in()
        assert (await sign_ins.settled()).status == "connected"
        office.lifetime = 3600
        before = office.refreshes
        assert (await sign_ins.call()).status_code == 200
        assert office.refreshes == before + 1
        assert (await sign_ins.call()).status_code == 200
        assert office.refreshes == before + 1


async def test_a_token_that_was_revoked_is_renewed_without_a_person(office: Office) -> None:
    async with sign_ins_of(office) as sign_ins:
        await sign_ins.sign_in()
        await sign_ins.settled()
        office.valid.clear()
        assert (await sign_ins.call()).status_code == 200
        assert office.refreshes == 1


async def test_a_revoked_refresh_token_means_to_sign_in_again(office: Office) -> None:
    async with sign_ins_of(office) as sign_ins:
        await sign_ins.sign_in()
        await sign_ins.settled()
        office.valid.clear()
        office.refreshable.clear()
        assert problem(await sign_ins.call()) == (502, "needs-auth")
        record = await sign_ins.settled()
        assert record.phase == "needs_auth"
        assert record.error
        assert record.error.hint == "Sign in: mcpyard login far"
        refused = (await sign_ins.call()).json()
        assert refused["cause"]["hint"] == "Sign in: mcpyard login far"
        await sign_ins.sign_in()
        assert (await sign_ins.settled()).status == "connected"
        assert (await sign_ins.call()).status_code == 200


async def test_a_sign_in_survives_a_restart_and_lies_nowhere_in_the_clear(
    office: Office, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    async with sign_ins_of(office, home) as sign_ins:
        await sign_ins.sign_in()
        assert (await sign_ins.settled()).status == "connected"
    secrets = [*office.valid, *office.refreshable]
    assert len(secrets) == 2
    files = [each for each in home.rglob("*") if each.is_file()]
    assert home / "state.db" in files
    for each in files:
        content = each.read_bytes()
        assert not [secret for secret in secrets if secret.encode() in content], each
    async with sign_ins_of(office, home) as sign_ins:
        assert (await sign_ins.settled()).status == "connected"
        assert (await sign_ins.call()).status_code == 200
    assert office.refreshes == 0
    assert len(office.clients) == 1


async def test_one_that_runs_on_demand_comes_up_when_somebody_signed_in(
    office: Office, tmp_path: Path
) -> None:
    async with sign_ins_of(office, tmp_path) as sign_ins:
        await sign_ins.sign_in()
        await sign_ins.settled()
    office.valid.clear()
    office.refreshable.clear()
    async with sign_ins_of(office, tmp_path, wanted="on_demand") as sign_ins:
        assert problem(await sign_ins.call()) == (502, "needs-auth")
        assert problem(await sign_ins.call()) == (502, "needs-auth")
        await sign_ins.sign_in()
        assert (await sign_ins.call()).status_code == 200


async def test_one_that_is_stopped_stays_so(office: Office) -> None:
    async with sign_ins_of(office, wanted="stopped") as sign_ins:
        assert (await sign_ins.sign_in()).status_code == 200
        assert (await sign_ins.settled()).phase == "stopped"
        assert (await sign_ins.yard.start("far", wait=20)).status == "connected"


async def test_what_only_the_refusal_tells_of_the_sign_in_is_heeded() -> None:
    issuer = Issuer()
    office = Office(described_at="/described/elsewhere", other=issuer, valid=issuer.valid)
    with asgi_server(issuer.app()) as issuer.base, asgi_server(office.app()) as office.base:
        async with sign_ins_of(office) as sign_ins:
            await sign_ins.sign_in()
            assert (await sign_ins.settled()).status == "connected"
    assert (len(issuer.clients), len(office.clients)) == (1, 0)


async def test_what_has_no_sign_in_says_so(office: Office) -> None:
    async with sign_ins_of(office, headers={"authorization": "Bearer old"}) as sign_ins:
        assert problem(await sign_ins.owner.post(LOGIN)) == (409, "no-sign-in")
        record = await sign_ins.settled()
        assert record.error
        assert record.error.hint == "Set a valid Authorization header."
        near = await sign_ins.owner.post("/api/mcp/servers/near/login")
        assert problem(near) == (409, "no-sign-in")
        nobody = await sign_ins.owner.post("/api/mcp/servers/nobody/login")
        assert problem(nobody) == (404, "server-unknown")
        assert problem(await sign_ins.browser.post(LOGIN))[0] in {401, 403}


async def test_a_definition_that_cannot_be_launched_is_told_with_its_field(office: Office) -> None:
    async with sign_ins_of(office, url="${NOWHERE}/mcp") as sign_ins:
        refused = await sign_ins.owner.post(LOGIN)
        assert problem(refused) == (422, "invalid-definition")
        assert refused.json()["problems"][0]["field"] == "url"


async def test_a_server_that_is_gone_cannot_be_signed_in_at() -> None:
    office = Office(base="http://127.0.0.1:9")
    async with sign_ins_of(office, wanted="stopped") as sign_ins:
        assert problem(await sign_ins.owner.post(LOGIN)) == (502, "needs-auth")


async def test_a_server_that_was_removed_meanwhile_is_told(office: Office) -> None:
    async with sign_ins_of(office) as sign_ins:
        location = await consent(await sign_ins.begin())
        sign_ins.yard.code.remove("far")
        page = await sign_ins.come_back(location)
        assert page.status_code == 404
        assert "there is no server" in page.text


async def test_a_yard_that_closes_gives_up_what_is_under_way(office: Office) -> None:
    async with sign_ins_of(office) as sign_ins:
        query = parse_qs(urlsplit(await consent(await sign_ins.begin())).query)
    with pytest.raises(SignInUnknown):
        await sign_ins.yard.logged_in({name: values[0] for name, values in query.items()})
