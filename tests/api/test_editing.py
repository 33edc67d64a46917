"""What the routes answer that change what should be."""

import json
from pathlib import Path

import httpx2
import pytest

from mcpyard.domain.cause import Cause, Code
from tests.api.asgi import slug
from tests.api.fake_yard import SERVERS, faked

pytestmark = pytest.mark.real


async def test_a_registered_server_is_answered_whole_with_its_address(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        body = {"name": "ä/b", "command": ["run", "x"], "env": {"KEY": "0123456789abcdef"}}
        made = await it.client.post(SERVERS, json=body)
        assert made.status_code == 201
        record = made.json()
        assert (record["name"], record["command"], record["args"]) == ("ä/b", "run", ["x"])
        assert (record["scope"], record["state"]) == ("user", "stopped")
        assert record["env"] == {"KEY": {"masked": True, "hint": "...cdef"}}
        assert made.headers["etag"] == f'"{record["digest"]}"'
        assert (await it.client.get(made.headers["location"])).json()["id"] == record["id"]


async def test_a_project_gets_the_new_server_and_it_runs(tmp_path: Path) -> None:
    async with faked(tmp_path / "home", tmp_path) as it:
        record = await it.register("fs")
        assert (record["scope"], record["state"]) == ("project", "running")
        written = json.loads((tmp_path / ".mcp.json").read_text())
        assert written["mcpServers"]["fs"]["command"] == "run"
        mine = await it.register("mine", scope="user", start=True)
        assert (mine["scope"], mine["state"]) == ("user", "running")
        assert "mine" not in (tmp_path / ".mcp.json").read_text()


async def test_a_failed_start_shows_in_the_record_of_the_registration(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        it.servers.broken["bad"] = Cause(Code.COMMAND_MISSING, "no such program", stderr=("oh",))
        record = await it.register("bad", start=True)
        assert (record["status"], record["state"]) == ("error", "error")
        assert record["error"]["message"] == "no such program"
        assert record["error"]["stderr"] == ["oh"]


@pytest.mark.parametrize(
    ("body", "expected", "field"),
    [
        ({"command": "x"}, (422, "invalid-definition"), "name"),
        ({"name": "a\0b", "command": "x"}, (422, "invalid-name"), "name"),
        ({"name": "n"}, (422, "invalid-definition"), "command"),
        ({"name": "n", "command": "x", "timeout": 10**40}, (422, "invalid-definition"), "timeout"),
        ({"name": "n", "command": "x", "scope": []}, (422, "invalid-definition"), "scope"),
        ({"name": "n", "command": "x", "scope": {}}, (422, "invalid-definition"), "scope"),
        ({"name": "n", "command": "x", "start": 1}, (422, "invalid-definition"), "start"),
        (
            {"name": "n", "command": "x", "singleton": True, "isolation": "per-client"},
            (422, "invalid-definition"),
            "singleton",
        ),
        (
            {"name": "n", "command": "x", "tags": ["a", "b,c"]},
            (422, "invalid-definition"),
            "tags[1]",
        ),
        ({"name": "n", "command": "x", "tags": "a"}, (422, "invalid-definition"), "tags"),
        ({"name": "n", "command": "x", "scope": "code"}, (409, "read-only-owner"), None),
        ({"name": "there", "command": "x"}, (409, "name-taken"), None),
    ],
)
async def test_a_wrong_registration_names_its_field_and_changes_nothing(
    tmp_path: Path, body: dict[str, object], expected: tuple[int, str], field: str | None
) -> None:
    async with faked(tmp_path / "home") as it:
        await it.register("there")
        refused = await it.client.post(SERVERS, content=json.dumps(body))
        assert slug(refused) == expected
        if field:
            assert [each["field"] for each in refused.json()["problems"]] == [field]
        assert [each["name"] for each in (await it.client.get(SERVERS)).json()] == ["there"]


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 10_000 + b"]" * 10_000,
        b'{"name":"n","command":"x","env":' + b'{"a":' * 900 + b"1" + b"}" * 900 + b"}",
        b'{"name": NaN}',
        b'{"name": "\\ud800"}',
        b"\xff",
        b"{",
    ],
    ids=["deep", "less deep", "nan", "surrogate", "bytes", "broken"],
)
async def test_a_body_that_cannot_be_read_is_a_bad_request(tmp_path: Path, body: bytes) -> None:
    async with faked(tmp_path / "home") as it:
        await it.register("there")
        for method, path in (
            ("POST", SERVERS),
            ("PATCH", f"{SERVERS}/there"),
            ("PATCH", f"{SERVERS}/there/tools/echo"),
            ("POST", "/api/mcp/parse"),
            ("POST", "/api/mcp/test"),
            ("POST", "/api/mcp/import"),
            ("POST", f"{SERVERS}/there/tools/echo/call"),
        ):
            refused = await it.client.request(method, path, content=body)
            if not (body.startswith(b'{"name":"n"') and path.endswith("/call")):
                assert slug(refused) == (400, "bad-json"), path


async def test_a_body_that_says_it_is_something_else_is_not_read(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            refused = await it.client.post(SERVERS, content=b"{}", headers={"Content-Type": kind})
            assert slug(refused) == (415, "wrong-media-type")


@pytest.mark.parametrize("scope", ["user", "project"])
async def test_a_singleton_has_one_process_for_all_clients(tmp_path: Path, scope: str) -> None:
    async with faked(tmp_path / "home", tmp_path) as it:
        await it.register("fs", scope=scope)
        path = f"{SERVERS}/fs"
        patch = {"singleton": True, "labels": {"gpu": "yes"}}
        changed = (await it.client.patch(path, json=patch)).json()
        assert {name: changed[name] for name in patch} == patch
        refused = await it.client.patch(path, json={"isolation": "per-client"})
        assert slug(refused) == (422, "invalid-definition")
        assert [each["field"] for each in refused.json()["problems"]] == ["singleton"]
        both = {"isolation": "per-client", "singleton": False}
        assert (await it.client.patch(path, json=both)).json()["isolation"] == "per-client"


@pytest.mark.parametrize("scope", ["user", "project"])
async def test_tags_are_policy_that_no_file_gets_and_no_restart_needs(
    tmp_path: Path, scope: str
) -> None:
    async with faked(tmp_path / "home", tmp_path) as it:
        made = await it.register("fs", scope=scope, tags=["work"], start=True)
        assert made["tags"] == ["work"]
        path = f"{SERVERS}/fs"
        changed = (await it.client.patch(path, json={"tags": ["home", "law"]})).json()
        assert (changed["tags"], changed["since"]) == (["home", "law"], made["since"])
        assert changed["digest"] != made["digest"]
        refused = await it.client.patch(path, json={"tags": ["x" * 51]})
        assert slug(refused) == (422, "invalid-definition")
        assert [each["field"] for each in refused.json()["problems"]] == ["tags[0]"]
        assert (await it.client.get(path)).json()["tags"] == ["home", "law"]
        assert (await it.client.patch(path, json={"tags": None})).json()["tags"] == []
        await it.client.patch(path, json={"tags": ["home"]})
        await it.client.patch(path, json={"args": ["b"]})
        assert (await it.client.get(path)).json()["tags"] == ["home"]
        if scope == "project":
            written = json.loads((tmp_path / ".mcp.json").read_text())
            assert "tags" not in written["mcpServers"]["fs"]


async def test_tags_of_a_project_file_are_the_default(tmp_path: Path) -> None:
    entry = {"command": "run", "args": [], "type": "stdio", "tags": ["team"]}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"fs": entry}}))
    async with faked(tmp_path / "home", tmp_path) as it:
        path = f"{SERVERS}/fs"
        assert (await it.client.get(path)).json()["tags"] == ["team"]
        assert (await it.client.patch(path, json={"tags": []})).json()["tags"] == []
        assert (await it.client.patch(path, json={"tags": None})).json()["tags"] == ["team"]


async def test_a_change_is_a_merge_patch(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        first = await it.register("fs", env={"A": "1", "B": "2"}, start=True)
        patch = {"env": {"A": None, "B": {"masked": True}, "C": "3"}, "startTimeout": 5}
        kind = {"Content-Type": "application/merge-patch+json"}
        changed = await it.client.patch(f"{SERVERS}/fs", content=json.dumps(patch), headers=kind)
        assert changed.status_code == 200
        assert changed.json()["id"] == first["id"]
        revealed = await it.client.post(f"{SERVERS}/{first['id']}/reveal")
        assert revealed.json()["env"] == {"B": "2", "C": "3"}
        assert revealed.json().keys() == {"command", "args", "env"}
        again = await it.client.patch(f"{SERVERS}/fs", json={"startTimeout": 6, "name": "files"})
        assert again.json()["name"] == "files"
        assert slug(await it.client.get(f"{SERVERS}/fs")) == (404, "server-unknown")


async def test_a_change_can_name_the_state_it_means(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        await it.register("fs")
        tag = (await it.client.get(f"{SERVERS}/fs")).headers["etag"]

        async def change(number: int, named: str) -> httpx2.Response:
            patch = {"timeout": number}
            return await it.client.patch(f"{SERVERS}/fs", json=patch, headers={"If-Match": named})

        assert slug(await change(1, '"another"')) == (412, "document-moved")
        changed = await change(2, tag)
        assert changed.json()["timeout"] == 2
        assert slug(await change(3, tag)) == (412, "document-moved")
        assert (await change(4, f"W/{changed.headers['etag']}")).json()["timeout"] == 4
        assert (await change(5, "*")).json()["timeout"] == 5


async def test_a_running_server_is_restarted_or_spared_as_asked(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        await it.register("fs", start=True)
        path = f"{SERVERS}/fs?when_running="
        spared = await it.client.patch(f"{path}refuse", json={"args": ["b"]})
        assert slug(spared) == (409, "still-running")
        restarted = await it.client.patch(f"{path}restart", json={"args": ["b"]})
        assert (restarted.json()["args"], restarted.json()["state"]) == (["b"], "running")
        wrong = await it.client.patch(f"{path}maybe", json={})
        assert slug(wrong) == (422, "invalid-arguments")


async def test_a_removed_server_is_gone(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        await it.register("fs", start=True)
        removed = await it.client.delete(f"{SERVERS}/fs")
        assert (removed.status_code, removed.content) == (204, b"")
        assert slug(await it.client.delete(f"{SERVERS}/fs")) == (404, "server-unknown")
        assert (await it.client.get(SERVERS)).json() == []


async def test_a_tool_can_be_switched_off_described_and_timed(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        await it.register("fs", start=True)
        path = f"{SERVERS}/fs/tools/echo"
        tool = (await it.client.patch(path, json={"description": "Ours."})).json()
        assert (tool["name"], tool["description"], tool["enabled"]) == ("echo", "Ours.", True)
        off = (await it.client.patch(path, json={"enabled": False})).json()
        assert (off["description"], off["enabled"]) == ("Ours.", False)
        assert (await it.client.get("/api/mcp/tools")).json() == []
        gone = await it.client.post("/api/mcp/tools/mcp_fs_echo/call")
        assert slug(gone) == (404, "tool-unknown")
        changes = {"enabled": None, "description": None, "timeout": 7, "progressExtends": True}
        await it.client.patch(path, json=changes)
        await it.client.patch(path, json={"progressExtends": False})
        same = (await it.client.patch(path, json={})).json()
        assert (same["description"], same["enabled"]) == ("Say it again.", True)
        await it.client.post(f"{path}/call")
        *_, (_, _, _, terms) = it.servers.calls
        assert (terms.timeout, terms.longest) == (0.007, None)


async def test_a_tool_that_was_renamed_is_called_by_its_new_name(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        for name in ("fs", "db"):
            await it.register(name, start=True)
        path = f"{SERVERS}/fs/tools/echo"
        tool = (await it.client.patch(path, json={"name": "say"})).json()
        assert (tool["name"], tool["exposedName"]) == ("echo", "say")
        assert (await it.client.post("/api/mcp/tools/say/call")).json()["yard"]["server"] == "fs"
        old = await it.client.post("/api/mcp/tools/mcp_fs_echo/call")
        assert slug(old) == (404, "tool-unknown")
        for taken in ("say", "mcp_fs_echo"):
            other = await it.client.patch(f"{SERVERS}/db/tools/echo", json={"name": taken})
            assert slug(other) == (409, "name-taken")
        back = (await it.client.patch(path, json={"name": None})).json()
        assert back["exposedName"] == "mcp_fs_echo"


async def test_a_name_that_a_person_gave_is_kept_from_servers_that_come_later(
    tmp_path: Path,
) -> None:
    async with faked(tmp_path / "home") as it:
        await it.register("fs", start=True)
        await it.client.patch(f"{SERVERS}/fs/tools/echo", json={"name": "mcp_db_echo"})
        await it.register("db", start=True)
        (tool,) = (await it.client.get(f"{SERVERS}/db/tools")).json()
        assert tool["exposedName"].startswith("mcp_db_echo_")
        called = await it.client.post("/api/mcp/tools/mcp_db_echo/call")
        assert called.json()["yard"]["server"] == "fs"


@pytest.mark.parametrize(
    ("tool", "patch", "expected"),
    [
        ("echo", {"name": "with space"}, (422, "invalid-name")),
        ("echo", {"name": ""}, (422, "invalid-name")),
        ("echo", {"name": 5}, (422, "invalid-definition")),
        ("none", {}, (404, "tool-unknown")),
        ("echo", {"enabled": "no"}, (422, "invalid-definition")),
        ("echo", {"timeout": 0}, (422, "invalid-definition")),
        ("echo", {"colour": "red"}, (422, "invalid-definition")),
    ],
)
async def test_a_wrong_change_of_a_tool_is_refused(
    tmp_path: Path, tool: str, patch: dict[str, object], expected: tuple[int, str]
) -> None:
    async with faked(tmp_path / "home") as it:
        await it.register("fs", start=True)
        assert slug(await it.client.patch(f"{SERVERS}/fs/tools/{tool}", json=patch)) == expected


async def test_the_list_is_not_sent_again_to_whoever_has_it(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        await it.register("fs")
        first = await it.client.get(SERVERS)
        tag = first.headers["etag"]
        headers = {"If-None-Match": f'"other", W/{tag}'}
        same = await it.client.get(SERVERS, headers=headers)
        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
        bare = await it.client.get(f"{SERVERS}?tools=0", headers=headers)
        assert bare.status_code == 200
        assert "tools" not in bare.json()[0]
        await it.client.post(f"{SERVERS}/fs/start")
        changed = await it.client.get(SERVERS, headers=headers)
        assert changed.json()[0]["state"] == "running"
        it.servers.lose(it.yard.server("fs").id, Cause(Code.EXITED, "gone"))
        lost = await it.client.get(SERVERS, headers={"If-None-Match": changed.headers["etag"]})
        assert lost.json()[0]["error"]["message"] == "gone"


async def test_the_list_is_always_what_the_single_records_say(tmp_path: Path) -> None:
    async with faked(tmp_path / "home", tmp_path) as it:
        for number in range(5):
            scope = "user" if number % 2 else "project"
            await it.register(f"s{number}", scope=scope, start=True)
        for path, patch in (
            ("s0", {"timeout": 5}),
            ("s1", {"args": ["z"]}),
            ("s2", {"name": "t2"}),
            ("s3/tools/echo", {"description": "x"}),
            ("s4", {"enabled": False}),
        ):
            assert (await it.client.patch(f"{SERVERS}/{path}", json=patch)).status_code == 200
            listed = (await it.client.get(SERVERS)).json()
            singly = [(await it.client.get(f"{SERVERS}/{each['id']}")).json() for each in listed]
            for each in singly:
                # Only a single record is worth the look at its processes.
                each.pop("figures")
            assert listed == singly
            assert [each["name"] for each in listed] == sorted(each["name"] for each in listed)


async def test_a_path_tells_every_method_it_has(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        wrong = await it.client.put(f"{SERVERS}/fs", json={})
        assert slug(wrong) == (405, "wrong-method")
        assert wrong.headers["allow"] == "DELETE, GET, HEAD, PATCH"
