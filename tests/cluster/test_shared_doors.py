"""Browsers and sign-ins that come to another node than the one they began at."""

import asyncio
import re
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from mcpyard.client.discovery import Deadline
from tests.api.office import Office, consent, local_part
from tests.cluster.nodes import RunningNode, cluster_of
from tests.wire.servers import asgi_server

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]


@pytest.fixture
def office() -> Generator[Office]:
    issuer = Office()
    with asgi_server(issuer.app()) as issuer.base:
        yield issuer


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A browser, as a load balancer brings it to any node under one address."""

    cookie: str
    key: str

    def client(self, node: RunningNode) -> httpx2.Client:
        port = urlsplit(node.up.url).port
        headers = {
            "Cookie": f"mcpyard_{port}={self.cookie}",
            "X-Mcpyard-Key": self.key,
            "Sec-Fetch-Site": "same-origin",
        }
        return httpx2.Client(base_url=node.up.url, headers=headers, timeout=10)


def sign_in(linked: RunningNode, entered: RunningNode) -> SignedIn:
    """A browser that uses a link of one node at another."""
    link = linked.post("/api/login-links", None, 201)["url"]
    page = httpx2.get(f"{entered.up.url}{local_part(link)}")
    assert page.status_code == 200, page.text
    (cookie,) = page.headers.get_list("set-cookie")
    key = re.search(r'<meta name="mcpyard-key" content="([^"]+)">', page.text)
    assert key
    return SignedIn(cookie.split(";")[0].partition("=")[2], key[1])


@pytest.mark.spec("F8.3")
def test_a_browser_that_signed_in_at_one_node_is_known_at_every_node(
    tmp_path: Path, dsn: str
) -> None:
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2") as cluster:
        first, second = cluster.nodes.values()
        browser = sign_in(first, second)
        with browser.client(first) as near, browser.client(second) as far:
            first.until(lambda: near.get("/api/mcp/servers").status_code == 200)
            ticket = far.post("/api/tickets").json()["ticket"]
            assert ticket.startswith("n2~")
            events = f"/api/events?ticket={ticket}"
            del near.headers["X-Mcpyard-Key"]
            with near.stream("GET", events) as stream:
                assert stream.status_code == 200
                assert near.get(events).status_code == 403, "a ticket is good once"
                assert near.get("/api/events?ticket=n9~x").status_code == 403
                assert far.post("/logout").status_code == 204
                deadline = Deadline(5)
                for _ in stream.iter_raw():
                    assert deadline.lasts(), "the stream goes on after the sign-out"
            assert near.get("/api/mcp/servers").status_code == 401


@pytest.mark.spec("F8.3")
def test_a_sign_in_at_a_remote_server_ends_at_any_node(
    tmp_path: Path, dsn: str, office: Office
) -> None:
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2") as cluster:
        first, second = cluster.nodes.values()
        first.register("far", {"url": f"{office.base}/mcp"})
        for node in (first, second):
            node.until(lambda node=node: node.record("far")["phase"] == "needs_auth")
        back = _come_back(first)
        state = parse_qs(urlsplit(back).query)["state"][0]
        assert state.startswith("n1~")
        page = httpx2.get(f"{second.up.url}{local_part(back)}")
        assert page.status_code == 200, page.text
        for node in (first, second):
            node.until_connected("far")
            assert node.call("far", "greet").json()["content"][0]["text"] == "good day"
        assert httpx2.get(f"{second.up.url}{local_part(back)}").status_code == 400
        lost = _come_back(first)
        first.kill()
        gone = httpx2.get(f"{second.up.url}{local_part(lost)}")
        assert (gone.status_code, "start again" in gone.text) == (400, True)


def _come_back(node: RunningNode) -> str:
    """Consent at the authorization server; where it sends the browser back to."""
    url = node.post("/api/mcp/servers/far/login")["authorizationUrl"]
    return asyncio.run(consent(url))
