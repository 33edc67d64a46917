"""No client ever gets what was meant for another, whatever happens to the servers."""

import asyncio
import random

import pytest

from tests.conftest import FULL
from tests.gateway.talking import PREFIX, Legacy, Message, Talk, answer_in, odd_server, talking

pytestmark = [pytest.mark.real, pytest.mark.timeout(600 if FULL else 60)]

CLIENTS, CALLS, CALLS_A_KILL = (64, 1_000, 300) if FULL else (16, 15, 40)
SERVERS = ("old", "new", "other")


async def test_two_clients_never_get_each_others_answers_though_servers_die() -> None:
    """With `scripts/prove gateway` 64 clients make 1,000 calls each."""
    rng = random.Random(7)  # noqa: S311  which server dies when
    servers = {
        "old": odd_server("legacy"),
        "new": odd_server("modern"),
        "other": odd_server("legacy"),
    }
    async with talking(servers) as talk:
        done: asyncio.Queue[None] = asyncio.Queue()
        clients = [asyncio.create_task(work(talk, number, done)) for number in range(CLIENTS)]
        killer = asyncio.create_task(kill(talk, rng, done))
        outcomes = await asyncio.gather(*clients)
        killer.cancel()
        await asyncio.wait({killer})
        answered, wrong, failed = (sum(column) for column in zip(*outcomes, strict=True))
        print(f"answered {answered}, wrong {wrong}, failed {failed}")
        assert wrong == 0
        assert answered + failed == CLIENTS * CALLS
        assert answered > failed


async def work(talk: Talk, number: int, done: asyncio.Queue[None]) -> tuple[int, int, int]:
    """Make calls of one client; how many were answered, wrong, failed."""
    met = await talk.meet() if number % 2 else None
    answered = wrong = failed = 0
    for turn in range(CALLS):
        nonce = f"{number}-{turn}"
        name = f"mcp_{SERVERS[(number + turn) % len(SERVERS)]}_nonce"
        answer = await call(talk, met, name, nonce)
        done.put_nowait(None)
        if "error" in answer:
            failed += 1
        elif answer["result"]["content"][0]["text"] == nonce:
            answered += 1
        else:
            wrong += 1
    return answered, wrong, failed


async def call(talk: Talk, met: Legacy | None, name: str, nonce: str) -> Message:
    params = {"name": name, "arguments": {"text": nonce}}
    if met:
        # Every client uses the same ids, as real ones do.
        came = await met.send(id=int(nonce.split("-")[1]), method="tools/call", params=params)
    else:
        body, headers = talk.modern("tools/call", params)
        came = await talk.post({**body, "id": 1}, **headers)
    return answer_in(came)


async def kill(talk: Talk, rng: random.Random, done: asyncio.Queue[None]) -> None:
    while True:
        for _ in range(rng.randrange(2 * CALLS_A_KILL)):
            await done.get()
        server = rng.choice(SERVERS)
        await talk.call("/mcp", f"mcp_{server}_die")
        # A person looks after those that died too often.
        await talk.served.yard.start(server)


async def test_progress_reaches_the_client_whose_call_it_is_of() -> None:
    async with talking() as talk:
        tokens = await asyncio.gather(*(progress_of(talk, number) for number in range(20)))
        assert tokens == [{f"token {number}"} for number in range(20)]


async def progress_of(talk: Talk, number: int) -> set[str]:
    server = SERVERS[number % 2]
    meta = {"progressToken": f"token {number}", PREFIX + "logLevel": "debug"}
    body, headers = talk.modern("tools/call", {"name": "steps", "arguments": {}}, None, **meta)
    came = await talk.post(body, f"/mcp/servers/{server}", **headers)
    lines = [line for line in came.text.splitlines() if "notifications/progress" in line]
    assert len(lines) == 3
    return {line.split('"progressToken":"')[1].split('"')[0] for line in lines}
