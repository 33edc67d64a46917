"""Calls of every face are recorded without their secrets, shown to administrators, and deleted."""

import json
import re
import shlex
import sqlite3
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mcpyard.store.sql.sealing import Seal
from tests.api.daemon import Daemon, daemon
from tests.cli.commands import answer, echo, mcpyard

pytestmark = pytest.mark.real

CALLS, RECORDING = "/api/mcp/calls", "/api/mcp/recording"
SEEDED = "seed-4711-of-the-environment"
HEADERS = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Generator[Daemon]:
    home = tmp_path_factory.mktemp("recorded") / "home"
    with daemon(home) as yard:
        env = {"SERVICE_PASSWORD": SEEDED, "PATH_OF_LOGS": "/var/log/echo"}
        yard.register("one", echo(env=env), start=True)
        yard.until("one", lambda record: record["status"] == "connected")
        yield yard


def home_of(yard: Daemon) -> Path:
    return yard.up.home


def call(yard: Daemon, tool: str, **arguments: object) -> dict[str, Any]:
    """Call a tool over REST, and open the call."""
    yard.client.post(f"/api/mcp/servers/one/tools/{tool}/call", json={"arguments": arguments})
    return newest(yard)


def newest(yard: Daemon) -> dict[str, Any]:
    (line,) = yard.get(f"{CALLS}?limit=1")["calls"]
    return yard.get(f"{CALLS}/{line['id']}")


@pytest.mark.spec("F6.1")
def test_a_call_opens_to_everything_that_is_known_of_it(yard: Daemon) -> None:
    opened = call(yard, "echo", text="hello", n=1)
    assert opened["recorded"]
    assert json.loads(opened["arguments"]["text"]) == {"text": "hello", "n": 1}
    assert json.loads(opened["result"]["text"])["content"] == [{"type": "text", "text": "hello"}]
    assert opened["error"] is None
    assert opened["arguments"]["size"] == opened["bytesIn"]
    assert opened["arguments"]["tokens"] > 0
    assert (opened["who"], opened["outcome"]) == ("admin", "ok")
    assert (opened["serverVersion"], opened["protocol"]) == ("echo 1", "2025-11-25")
    assert (opened["queueMs"], opened["passedOver"]) == (0.0, [])
    assert opened["serverMs"] == pytest.approx(opened["ms"], abs=0.01)


def test_the_commands_of_a_call_do_the_same_again(yard: Daemon) -> None:
    commands = call(yard, "echo", text="it's 5 o'clock")["commands"]
    assert "$MCPYARD_TOKEN" in commands["curl"]
    words = ["calls", "show", newest(yard)["id"], "--as"]
    assert mcpyard(*words, "cli", home=home_of(yard)).stdout.strip() == commands["cli"]
    before = newest(yard)["id"]
    done = answer(*shlex.split(commands["cli"])[1:], home=home_of(yard))
    assert done["content"][0]["text"] == "it's 5 o'clock"
    again = newest(yard)
    assert again["id"] > before
    assert json.loads(again["arguments"]["text"]) == {"text": "it's 5 o'clock"}


def test_a_call_that_failed_says_why(yard: Daemon) -> None:
    refused = call(yard, "refuse")
    assert refused["outcome"] == "call-refused"
    assert "not today" in refused["error"]["text"]
    assert json.loads(refused["error"]["text"].split("\n", 1)[1]) == {"why": "rain"}
    assert refused["result"] is None
    failed = call(yard, "fail")
    assert failed["outcome"] == "tool_error"
    assert "it went wrong" in failed["result"]["text"]
    matches = yard.get(f"{CALLS}?text=NOT%20today")["calls"]
    assert [each["id"] for each in matches] == [refused["id"]]
    matches = yard.get(f"{CALLS}?outcome=failed&sort=outcome&order=asc")["calls"]
    assert [each["outcome"] for each in matches][:1] == ["call-refused"]


def gateway_session(client: httpx2.Client) -> dict[str, str]:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
    begun = client.post("/mcp", json=message("initialize", params), headers=HEADERS)
    return {**HEADERS, "Mcp-Session-Id": begun.headers["mcp-session-id"]}


def message(method: str, params: dict[str, Any], number: int = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def test_calls_of_the_gateway_are_recorded_also_those_without_a_task(yard: Daemon) -> None:
    headers = gateway_session(yard.client)
    for number in range(3):
        params = {"name": "mcp_one_echo", "arguments": {"text": f"turn {number}"}}
        sent = yard.client.post(
            "/mcp", json=message("tools/call", params, number + 2), headers=headers
        )
        assert f"turn {number}" in sent.text
    lines = yard.get(f"{CALLS}?limit=3")["calls"]
    opened = [yard.get(f"{CALLS}/{each['id']}") for each in lines]
    texts = [json.loads(each["arguments"]["text"])["text"] for each in opened]
    assert texts == ["turn 2", "turn 1", "turn 0"]
    assert all(f"turn {2 - n}" in each["result"]["text"] for n, each in enumerate(opened))


SECRETS = {
    "by name": ({"text": "x", "password": "correct horse"}, "correct horse"),
    "by pattern": ({"text": "key ghp_a1B2a1B2a1B2a1B2a1B2 of"}, "ghp_a1B2a1B2a1B2a1B2a1B2"),
    "by environment": ({"text": f"it is {SEEDED}!"}, SEEDED),
    "in json in a text": ({"text": json.dumps({"apiKey": "swordfish 7"})}, "swordfish 7"),
    "at the cut": ({"text": "a" * 65_480 + f" {SEEDED} ghp_c3D4c3D4c3D4c3D4"}, "ghp_c3D4"),
    "behind the cut": ({"text": "é" * 40_000 + SEEDED * 5000}, SEEDED[:12]),
}


@pytest.mark.spec("F6.1")
@pytest.mark.parametrize("arguments", SECRETS)
def test_no_secret_is_in_what_is_stored_after_unsealing(yard: Daemon, arguments: str) -> None:
    sent, secret = SECRETS[arguments]
    opened = call(yard, "echo", **sent)
    assert opened["recorded"]
    # The tool says only its text again, in which each of these letters takes six.
    without = {"by name", "behind the cut"}
    masked = opened["arguments"]["masked"], opened["result"]["masked"]
    assert masked == (True, arguments not in without)
    for text in unsealed(home_of(yard)):
        assert secret not in text


def test_the_admin_token_is_not_recorded_wherever_it_stands(tmp_path: Path) -> None:
    with daemon(tmp_path / "home") as own:
        own.register("one", echo(), start=True)
        own.until("one", lambda record: record["status"] == "connected")
        first = own.client.headers["Authorization"].removeprefix("Bearer ")
        for arguments in ({"text": f"it is {first}!"}, {"text": [first]}, {first: "a name"}):
            opened = call(own, "echo", **arguments)
            assert opened["arguments"]["masked"]
        own.client.post("/api/tokens/rotate", json={})
        second = (own.up.home / "token").read_text().strip()
        assert second != first
        own.client.headers["Authorization"] = f"Bearer {second}"
        opened = call(own, "echo", text=f"{first} is now {second}")
        assert json.loads(opened["arguments"]["text"]) == {"text": "*** is now ***"}
        for text in unsealed(own.up.home):
            assert first not in text
            assert second not in text


def unsealed(home: Path) -> list[str]:
    """Everything that is stored of calls, as its key opens it."""
    seal = Seal(home / "key", environment=False)
    with sqlite3.connect(f"file:{home / 'journal.db'}?mode=ro", uri=True) as journal:
        rows = journal.execute("SELECT error, sealed FROM call_contents").fetchall()
    journal.close()
    blobs = [each for row in rows for each in row if each is not None]
    opened = [seal.open(each) for each in blobs]
    assert blobs
    assert None not in opened
    return [each.decode() for each in opened if each]


def test_metrics_and_lists_hold_nothing_of_what_is_recorded(yard: Daemon) -> None:
    call(yard, "echo", text="unmistakable words")
    texts = yard.client.get("/metrics").text + yard.client.get(CALLS).text
    assert "unmistakable" not in texts


def test_the_contents_of_a_call_are_for_administrators_alone(yard: Daemon) -> None:
    number = call(yard, "echo", text="x")["id"]
    link = yard.post("/api/login-links", status=201)["url"]
    with httpx2.Client(base_url=yard.up.url) as browser:
        page = browser.get(link)
        key = re.search(r'<meta name="mcpyard-key" content="([^"]+)">', page.text)
        assert key
        same = {"Sec-Fetch-Site": "same-origin"}
        assert browser.get(CALLS, headers=same).status_code == 200
        assert browser.get(f"{CALLS}/{number}", headers=same).status_code == 403
        keyed = {**same, "X-Mcpyard-Key": key[1]}
        assert browser.get(f"{CALLS}/{number}", headers=keyed).status_code == 200
    with httpx2.Client(base_url=yard.up.url) as nobody:
        assert nobody.get(f"{CALLS}/{number}").status_code == 401


def test_a_call_that_is_not_there_is_not_found(yard: Daemon) -> None:
    for number in ("999999", "x", "-1"):
        refused = yard.client.get(f"{CALLS}/{number}")
        assert refused.status_code == 404
        assert refused.json()["type"] == "urn:mcpyard:error:call-unknown"


def test_lists_are_paged_in_every_order(yard: Daemon) -> None:
    for number in range(5):
        call(yard, "echo", text="x" * number)
    for order in ("sort=time", "sort=size&order=asc", "sort=duration"):
        whole = [each["id"] for each in yard.get(f"{CALLS}?{order}&limit=1000")["calls"]]
        pages, more = list[int](), ""
        while True:
            page = yard.get(f"{CALLS}?{order}&limit=2{more}")
            pages += [each["id"] for each in page["calls"]]
            if page["next"] is None:
                break
            name = "before" if order == "sort=time" else "offset"
            more = f"&{name}={page['next']}"
        assert pages == whole
    assert yard.client.get(f"{CALLS}?since=soon").status_code == 422


def test_a_token_for_somebody_else_ends_the_recording_unless_it_is_switched_on(
    yard: Daemon,
) -> None:
    assert yard.get(RECORDING)["recording"]
    token = yard.post("/api/tokens", {"name": "laptop"}, 201)
    assert not call(yard, "echo", text="x")["recorded"]
    assert yard.get(RECORDING)["reason"] == "tokens"
    switched = yard.client.put(RECORDING, json={"mode": "on"}).json()
    assert (switched["mode"], switched["recording"], switched["reason"]) == ("on", True, None)
    assert call(yard, "echo", text="x")["recorded"]
    assert answer("calls", "record", "off", home=home_of(yard))["reason"] == "off"
    assert not call(yard, "echo", text="x")["recorded"]
    assert answer("calls", "record", "auto", home=home_of(yard))["reason"] == "tokens"
    assert yard.client.delete(f"/api/tokens/{token['id']}").status_code == 204
    assert call(yard, "echo", text="x")["recorded"]
    assert yard.client.put(RECORDING, json={"mode": "maybe"}).status_code == 422


def test_recording_is_switched_off_for_a_server_and_on_for_one_of_its_tools(yard: Daemon) -> None:
    yard.patch(
        "/api/mcp/servers/one", {"recordCalls": False, "tools": {"log": {"recordCalls": True}}}
    )
    try:
        assert not call(yard, "echo", text="x")["recorded"]
        assert call(yard, "log")["recorded"]
        assert yard.get(RECORDING)["dropped"] == 0
    finally:
        yard.patch("/api/mcp/servers/one", {"recordCalls": None, "tools": {"log": None}})
    assert call(yard, "echo", text="x")["recorded"]


def test_the_command_lists_shows_and_deletes(yard: Daemon) -> None:
    home = home_of(yard)
    opened = call(yard, "echo", text="shown on the terminal")
    number = opened["id"]
    assert answer("calls", "ls", "--limit", "1", home=home)["calls"][0]["id"] == number
    assert answer("calls", "show", number, home=home) == opened
    listed = mcpyard("calls", "--tool", "echo", "--since", "1h", "--sort", "duration", home=home)
    assert listed.stdout.split()[:2] == ["ID", "TIME"]
    output = mcpyard("calls", "show", number, home=home).stdout
    assert '"text": "shown on the terminal"' in output
    assert "server:    one (echo 1)" in output
    assert "recording is on (auto)" in mcpyard("calls", "record", home=home).stdout
    assert mcpyard("calls", "purge", home=home).returncode == 2
    assert answer("calls", "purge", "--yes", home=home)["calls"] > 0
    assert yard.get(RECORDING)["calls"] == 0
    assert "not recorded" in mcpyard("calls", "show", number, home=home).stdout
    assert answer("calls", "show", number, home=home)["arguments"] is None
    assert mcpyard("calls", "show", number, "--as", "curl", home=home).returncode == 2


@pytest.mark.parametrize(
    "words",
    [
        ["show"],
        ["show", "x"],
        ["ls", "5"],
        ["record", "maybe"],
        ["purge", "--tool", "x"],
        ["ls", "--as", "curl"],
    ],
)
def test_words_that_make_no_sense_are_refused(yard: Daemon, words: list[str]) -> None:
    assert mcpyard("calls", *words, home=home_of(yard)).returncode == 2


def test_beyond_this_machine_nothing_is_recorded_by_default(tmp_path: Path) -> None:
    with daemon(tmp_path / "home", "--allow-host", "tools.example") as yard:
        assert yard.get(RECORDING)["reason"] == "network"
