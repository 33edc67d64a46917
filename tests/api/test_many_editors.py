"""Many clients that edit at once: no update is lost, no name is given twice."""

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.api.daemon import SERVERS, Daemon, daemon, one
from tests.cli.commands import echo, write_project

pytestmark = pytest.mark.real

CLIENTS = 32


def many(it: Daemon) -> httpx2.AsyncClient:
    limits = httpx2.Limits(max_connections=CLIENTS)
    return httpx2.AsyncClient(
        base_url=it.up.url, headers=it.client.headers, timeout=50, limits=limits
    )


@pytest.mark.parametrize("scope", ["user", "project"])
async def test_every_edit_that_names_the_state_it_means_counts_once(
    tmp_path: Path, scope: str
) -> None:
    project = write_project(tmp_path / "p")
    with daemon(tmp_path / "home", "--project", project) as it:
        it.register("fs", echo(), scope=scope, start=False)
        async with many(it) as client:
            tries = await asyncio.gather(*(count_up(client) for _ in range(CLIENTS)))
        assert it.post(one("fs", "reveal"))["env"]["COUNT"] == str(CLIENTS)
        assert sum(tries) > CLIENTS, "nobody ever met another one"


async def count_up(client: httpx2.AsyncClient) -> int:
    """Add one to a counter, as often as it takes; how often it took."""
    tries = 0
    while True:
        tries += 1
        tag = (await client.get(one("fs"))).headers["etag"]
        now = (await client.post(one("fs", "reveal"))).json()["env"].get("COUNT", "0")
        answer = await client.patch(
            one("fs"), json={"env": {"COUNT": str(int(now) + 1)}}, headers={"If-Match": tag}
        )
        if answer.status_code == 200:
            return tries
        assert answer.status_code == 412, answer.text


async def test_edits_that_name_no_state_are_taken_one_after_the_other(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p")
    with daemon(tmp_path / "home", "--project", project) as it:
        it.register("fs", echo(), start=False)
        async with many(it) as client:
            answers = await asyncio.gather(
                *(
                    client.patch(one("fs"), json={"env": {f"V{number}": "x"}})
                    for number in range(CLIENTS)
                )
            )
        assert {each.status_code for each in answers} == {200}
        assert len(it.post(one("fs", "reveal"))["env"]) == CLIENTS


async def test_a_name_is_given_to_one_of_many_that_want_it(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p")
    with daemon(tmp_path / "home", "--project", project) as it:
        for number in range(CLIENTS // 4):
            it.register(f"old{number}", echo(), start=False)
        async with many(it) as client:
            answers = await asyncio.gather(
                *(request_edit(client, number) for number in range(CLIENTS)),
            )
        statuses = [each.status_code for each in answers]
        assert min(statuses) in {200, 201}
        assert statuses.count(409) == CLIENTS - 1
        names = [each["name"] for each in it.get(SERVERS)]
        assert len({*names}) == len(names)
        assert names.count("wanted") == 1


def request_edit(client: httpx2.AsyncClient, number: int) -> Any:  # noqa: ANN401  a coroutine
    """Register a server, or rename one, to the same name; in the file, or in the store."""
    if number % 4 == 3:
        return client.patch(one(f"old{number // 4}"), json={"name": "wanted"})
    scope = "user" if number % 2 else "project"
    body = {"name": "wanted", **echo(), "scope": scope, "start": False}
    return client.post(SERVERS, json=body)


async def test_a_change_restarts_the_server_that_was_changed_and_no_other(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p", **{f"s{number}": echo() for number in range(4)})
    with daemon(tmp_path / "home", "--project", project) as it:
        before = {
            f"s{number}": it.until(f"s{number}", lambda each: each["status"] == "connected")["pid"]
            for number in range(4)
        }
        it.patch(one("s1"), {"env": {"A": "1"}})
        it.patch(one("s2"), {"timeout": 999})
        it.patch(one("s3"), {"name": "renamed"})
        after = {each["name"]: each["pid"] for each in it.get(SERVERS)}
        assert after["s1"] not in {None, before["s1"]}
        assert (after["s0"], after["s2"]) == (before["s0"], before["s2"])
        assert after["renamed"] == before["s3"]
