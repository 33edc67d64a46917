"""The audit log: who changed what, and no secret."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from mcpyard.api.app import build
from mcpyard.api.audit import Audit
from mcpyard.api.rolling_file import KEPT
from tests.api.asgi import BEARER, YardApi, asked_yard, client_of, keys_of
from tests.api.doors import let_in
from tests.runtime.waiting import eventually

pytestmark = pytest.mark.real

SUMMARY = 0.5
"""Seconds, instead of minutes."""


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(each) for each in path.read_text().splitlines()] if path.exists() else []


def audited(api: YardApi, path: Path, limit: int = 1 << 20) -> YardApi:
    audit = Audit(path, limit=limit, summary_after=SUMMARY)
    app = build(api.yard, keys=keys_of(api.yard), hosts=[], closing=api.closing, audit=audit)
    return YardApi(api.yard, app, client_of(app), api.closing)


async def test_each_change_is_one_line_and_reading_is_none(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    async with asked_yard() as private:
        api = audited(private, log)
        await api.get("/api/mcp/servers?tools=0")
        assert lines(log) == []
        await api.post("/api/tokens?wait=secret-query", {"name": "secret-body"})
        await api.post("/api/mcp/servers/no/start")
        made, missed = lines(log)
    assert (made["who"], made["method"], made["path"], made["status"]) == (
        "admin",
        "POST",
        "/api/tokens",
        201,
    )
    assert made["ms"] >= 0
    assert made["at"].endswith("+00:00")
    assert missed["status"] == 404
    assert "secret" not in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


async def test_a_browser_and_a_link_are_named_and_an_unauthenticated_caller_is_not_noted(
    tmp_path: Path,
) -> None:
    log = tmp_path / "audit.log"
    async with asked_yard() as private:
        api = audited(private, log)
        async with let_in(api) as browser, client_of(api.app, {}) as unauthenticated:
            await browser.client.post("/api/tokens", json={"name": "t"}, headers=browser.headers())
            await browser.client.post("/api/tokens", json={"name": "u"})
            await unauthenticated.post("/api/tokens", json={"name": "t"})
            await unauthenticated.get("/login?link=wrong")
    admin, link, browser_did, browser_tried, wrong = lines(log)
    assert (wrong["refused"], wrong["status"]) == ("wrong-link", 403)
    assert (admin["who"], admin["path"]) == ("admin", "/api/login-links")
    assert (link["who"], link["path"], link["status"]) == ("link", "/login", 200)
    assert browser_did["who"].startswith("browser:")
    assert (browser_did["status"], browser_tried["status"]) == (201, 403)


async def test_a_full_file_is_put_aside_and_the_oldest_are_forgotten(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    async with asked_yard() as private:
        api = audited(private, log, limit=400)
        for number in range(30):
            await api.post(f"/api/mcp/servers/s{number}/start")
    names = sorted(each.name for each in tmp_path.iterdir())
    assert names == ["audit.log", *(f"audit.log.{number}" for number in range(1, KEPT + 1))]
    assert all(each.stat().st_size <= 400 for each in tmp_path.iterdir())
    newest_first = [*reversed(lines(log)), *reversed(lines(tmp_path / "audit.log.1"))]
    numbers = [int(each["path"].split("/")[4][1:]) for each in newest_first]
    assert numbers == [*range(29, 29 - len(numbers), -1)]


async def test_a_log_that_cannot_be_written_hurts_no_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with asked_yard() as private:
        api = audited(private, tmp_path / "nowhere" / "audit.log")
        made = await api.post("/api/tokens", {"name": "t"})
        assert made.status_code == 201
    assert "the audit log cannot be written" in caplog.text


async def test_calls_through_the_gateway_are_the_journals_business(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    async with asked_yard() as private:
        api = audited(private, log)
        answer = await api.client.post("/mcp", headers=BEARER)
        assert answer.status_code == 404
    assert lines(log) == []


REFUSED = {
    "wrong-admin-token": ({"Authorization": "Bearer secret-admin"}, 401),
    "wrong-call-token": ({"Authorization": "Bearer mcpyard_secret-call"}, 401),
    "wrong-host": ({"Host": "evil.example", "Authorization": "Bearer secret-admin"}, 421),
    "foreign-origin": ({"Origin": "https://evil.example"}, 403),
}


@pytest.mark.parametrize("reason", REFUSED)
async def test_a_refused_sign_in_is_one_line_without_the_secret(
    tmp_path: Path, reason: str
) -> None:
    log = tmp_path / "audit.log"
    headers, status = REFUSED[reason]
    async with asked_yard() as private:
        api = audited(private, log)
        async with client_of(api.app, {}) as client:
            answer = await client.get("/api/mcp/servers?link=secret-link", headers=headers)
            assert answer.status_code == status
        (line,) = lines(log)
    assert (line["refused"], line["status"], line["path"]) == (reason, status, "/api/mcp/servers")
    assert line["from"] == "127.0.0.1"
    assert "secret" not in log.read_text()
    if "evil.example" in str(headers):
        assert "evil.example" in line["name"]


async def test_an_expired_and_a_revoked_token_are_named(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    async with asked_yard() as private:
        api = audited(private, log)
        made = (await api.post("/api/tokens", {"name": "ci"})).json()
        await api.client.delete("/api/tokens/ci", headers=BEARER)
        async with client_of(api.app, {"Authorization": f"Bearer {made['token']}"}) as client:
            assert (await client.post("/mcp")).status_code == 401
    line = lines(log)[-1]
    assert (line["refused"], line["who"]) == ("revoked-token", "token:ci")
    assert made["token"] not in log.read_text()


async def test_a_browser_that_is_not_signed_in_is_no_refused_sign_in(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    async with asked_yard() as private:
        api = audited(private, log)
        async with client_of(api.app, {}) as client:
            await client.get("/", headers={"Accept": "text/html"})
            await client.get("/api/mcp/servers")
    assert lines(log) == []


async def test_a_flood_of_refusals_is_counted_and_neither_fills_nor_washes_out_the_log(
    tmp_path: Path,
) -> None:
    log = tmp_path / "audit.log"
    async with asked_yard() as private:
        api = audited(private, log)
        await api.post("/api/tokens", {"name": "evidence"})
        async with client_of(api.app, {"Authorization": "Bearer wrong"}) as client:
            for _ in range(300):
                await client.get("/api/mcp/servers")
        async with client_of(api.app, {}) as client:
            await client.get("/login?link=wrong")
        assert await eventually(lambda: tried(log) == 300, 5)
    first, *refused = lines(log)
    assert first["path"] == "/api/tokens"
    assert [each["refused"] for each in refused].count("wrong-link") == 1, "a limit for each reason"
    assert len(refused) < 40, "and one line more with each summary"


def tried(log: Path) -> int:
    """How many wrong tokens the log tells of."""
    wrong = [each for each in lines(log) if each.get("refused") == "wrong-admin-token"]
    return sum(each.get("count", 1) for each in wrong)
