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

pytestmark = pytest.mark.real


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(each) for each in path.read_text().splitlines()] if path.exists() else []


def audited(api: YardApi, path: Path, limit: int = 1 << 20) -> YardApi:
    audit = Audit(path, limit=limit)
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
    admin, link, browser_did, browser_tried = lines(log)
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
