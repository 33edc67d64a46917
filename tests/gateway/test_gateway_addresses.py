"""An address belongs to the server that named it."""

from pathlib import Path
from typing import Any

import pytest

from tests.gateway.scripts import scripted, sent
from tests.gateway.serving import everything
from tests.gateway.talking import Message, Talk, next_of, talking
from tests.runtime.waiting import eventually

pytestmark = pytest.mark.real

PAGE = "ui://app/main.html"
SHARED = "x://shared"
UPDATED = "notifications/resources/updated"


def contents(uri: str, text: str) -> dict[str, Any]:
    return {"contents": [{"uri": uri, "mimeType": "text/html", "text": text}]}


def app(name: str) -> dict[str, Any]:
    """What a server answers whose tools have a page, with links in what they say."""
    links = [
        {"type": "resource_link", "uri": PAGE, "name": "page", "x": 2**70},
        {"type": "resource", "resource": {"uri": "ui://app/part", "text": PAGE}},
        {"type": "resource_link", "uri": SHARED, "name": "shared"},
        {"type": "resource_link", "uri": "https://example.com/doc", "name": "web"},
        {"type": "hologram", "uri": PAGE},
        {"type": "text", "text": f'"uri": "{PAGE}"'},
    ]
    return {
        "tools/list": [
            {"name": "nested", "inputSchema": {}, "_meta": {"ui": {"resourceUri": PAGE}}},
            {"name": "flat", "inputSchema": {}, "_meta": {"ui/resourceUri": PAGE}},
            {"name": "touch", "inputSchema": {}},
        ],
        "resources/list": [{"uri": PAGE, "name": "page"}, {"uri": SHARED, "name": "shared"}],
        "resources/templates/list": [
            {"uriTemplate": "ui://app/{id}", "name": "parts"},
            {"uriTemplate": "x://of/{id}", "name": "of"},
        ],
        "prompts/list": [{"name": "ask"}],
        "prompts/get ask": {"messages": [{"role": "user", "content": links[0]}]},
        "tools/call nested": {"content": links, "structuredContent": {"uri": PAGE}},
        "tools/call touch": {
            "content": [],
            "told": [
                {"method": UPDATED, "params": {"uri": f"{PAGE}/part"}},
                {"method": UPDATED, "params": {"uri": SHARED}},
            ],
        },
        f"resources/read {PAGE}": contents(PAGE, name),
        f"resources/read {SHARED}": contents(SHARED, name),
        "resources/read x://of/1": contents("x://of/1", name),
        "resources/read ui://app/part": contents("ui://app/part", name),
        "completion/complete": {"completion": {"values": [name]}},
    }


def both() -> dict[str, dict[str, Any]]:
    return {"one": scripted(app("one")), "two words": scripted(app("two words"), "modern")}


async def listed(talk: Talk, method: str, member: str, path: str = "/mcp") -> list[Message]:
    return (await talk.ask_modern(method, path))["result"][member]


async def read(talk: Talk, uri: str, path: str = "/mcp") -> tuple[str, str]:
    """The address in what is read, and the text."""
    answer = await talk.ask_modern("resources/read", path, uri=uri)
    assert "result" in answer, answer
    (content,) = answer["result"]["contents"]
    return content["uri"], content["text"]


@pytest.mark.spec("F4.1")
async def test_pages_of_the_same_address_are_each_read_from_their_own_server() -> None:
    async with talking(both()) as talk:
        tools = {tool["name"]: tool for tool in await listed(talk, "tools/list", "tools")}
        pages = {
            "one": tools["mcp_one_nested"]["_meta"]["ui"]["resourceUri"],
            "two words": tools["mcp_two_words_flat"]["_meta"]["ui/resourceUri"],
        }
        assert pages == {
            "one": "ui://one/app/main.html",
            "two words": "ui://two%20words/app/main.html",
        }
        uris = [each["uri"] for each in await listed(talk, "resources/list", "resources")]
        assert set(pages.values()) <= set(uris)
        assert len(uris) == len(set(uris)) == 4
        for server, page in pages.items():
            assert await read(talk, page) == (page, server)
        met = await talk.meet()
        answer = await met.ask("resources/read", uri=pages["two words"])
        assert answer["result"]["contents"][0]["text"] == "two words"


@pytest.mark.spec("F4.1")
async def test_the_address_of_one_server_keeps_its_addresses() -> None:
    async with talking(both()) as talk:
        path = "/mcp/servers/one"
        tools = await listed(talk, "tools/list", "tools", path)
        assert tools[0]["_meta"] == {"ui": {"resourceUri": PAGE}}
        resources = await listed(talk, "resources/list", "resources", path)
        assert [each["uri"] for each in resources] == [PAGE, SHARED]
        assert await read(talk, PAGE, path) == (PAGE, "one")
        called = await talk.call(path, "nested")
        assert called["result"]["content"] == app("one")["tools/call nested"]["content"]


@pytest.mark.spec("F4.1")
async def test_of_other_addresses_the_first_keeps_its_own_and_the_next_names_its_server() -> None:
    async with talking({"two": scripted(app("two"))}) as talk:
        talk.served.yard.code.add("one", scripted(app("one")))
        await talk.served.yard.settled("one")
        uris = {each["uri"] for each in await listed(talk, "resources/list", "resources")}
        assert {SHARED, "x://one/shared"} <= uris
        assert await read(talk, SHARED) == (SHARED, "two")
        assert await read(talk, "x://one/shared") == ("x://one/shared", "one")
        templates = await listed(talk, "resources/templates/list", "resourceTemplates")
        assert {each["uriTemplate"] for each in templates} == {
            "ui://one/app/{id}",
            "ui://two/app/{id}",
            "x://of/{id}",
            "x://one/of/{id}",
        }
        assert await read(talk, "x://of/1") == ("x://of/1", "two")
        assert await read(talk, "x://one/of/1") == ("x://one/of/1", "one")
        for uri, server in (("x://of/{id}", "two"), ("x://one/of/{id}", "one")):
            ref = {"type": "ref/resource", "uri": uri}
            argument = {"name": "id", "value": ""}
            answer = await talk.ask_modern("completion/complete", ref=ref, argument=argument)
            assert answer["result"]["completion"]["values"] == [server]
            (params,) = sent(talk, server, "completion/complete")
            assert params["ref"]["uri"] == "x://of/{id}"


@pytest.mark.spec("F4.1")
async def test_who_has_an_address_does_not_change_with_a_restart(tmp_path: Path) -> None:
    async with talking({"two": scripted(app("two"))}, tmp_path) as talk:
        assert await read(talk, SHARED) == (SHARED, "two")
    servers = {name: scripted(app(name)) for name in ("one", "two")}
    async with talking(servers, tmp_path) as talk:
        assert await read(talk, SHARED) == (SHARED, "two")
        assert await read(talk, "x://one/shared") == ("x://one/shared", "one")


async def test_the_links_of_a_fallback_server_lead_to_that_server() -> None:
    away = scripted(app("one"), fallback=["two"]) | {"wanted": "on_demand"}
    async with talking({"one": scripted(app("one"), fallback=["two"]), **two()}) as talk:
        yard = talk.served.yard
        yard.code.remove("one")
        yard.code.add("one", away | {"command": "/nonexistent/program"})
        result = (await talk.call("/mcp", "mcp_one_nested"))["result"]
        assert result["content"][0]["uri"] == "ui://two/app/main.html"


def two() -> dict[str, dict[str, Any]]:
    return {"two": scripted(app("two"))}


@pytest.mark.spec("F4.1")
async def test_links_in_results_lead_back_to_the_server_that_gave_them() -> None:
    async with talking({"two": scripted(app("two"))}) as talk:
        talk.served.yard.code.add("one", scripted(app("one")))
        await talk.served.yard.settled("one")
        result = (await talk.call("/mcp", "mcp_one_nested"))["result"]
        link, embedded, shared, web, unknown, text = result["content"]
        assert link == {
            "type": "resource_link",
            "uri": "ui://one/app/main.html",
            "name": "page",
            "x": 2**70,
        }
        assert embedded["resource"] == {"uri": "ui://one/app/part", "text": PAGE}
        assert await read(talk, embedded["resource"]["uri"]) == ("ui://one/app/part", "one")
        assert shared["uri"] == "x://one/shared"
        assert web["uri"] == "https://example.com/doc"
        assert unknown["uri"] == PAGE
        assert text["text"] == f'"uri": "{PAGE}"'
        assert result["structuredContent"] == {"uri": PAGE}
        prompt = (await talk.ask_modern("prompts/get", name="mcp_two_ask"))["result"]
        assert prompt["messages"][0]["content"]["uri"] == "ui://two/app/main.html"


@pytest.mark.spec("F4.1")
async def test_an_address_that_nobody_named_is_asked_of_nobody() -> None:
    async with talking(both()) as talk:
        met = await talk.meet()
        for uri in (PAGE, "y://nobody", "ui://nobody/app/main.html", "https://one/doc"):
            refused = await met.ask("resources/read", uri=uri)
            assert refused["error"]["code"] == -32002, uri
            assert refused["error"]["data"] == {"uri": uri}
            assert "error" in await met.ask("resources/subscribe", uri=uri)
            ref = {"type": "ref/resource", "uri": uri}
            assert "error" in await met.ask(
                "completion/complete", ref=ref, argument={"name": "id", "value": ""}
            )
        # A server that hears of nothing has nothing to write, so something must follow.
        for server in ("one", "two words"):
            await talk.call(f"/mcp/servers/{server}", "touch")
            assert await eventually(lambda name=server: bool(sent(talk, name, "tools/call")), 10)
            assert not sent(talk, server, "resources/read")
            assert not sent(talk, server, "resources/subscribe")


@pytest.mark.spec("F4.1")
async def test_changes_are_told_by_the_address_that_was_watched() -> None:
    async with talking({"two": scripted(app("two"))}) as talk:
        talk.served.yard.code.add("one", scripted(app("one")))
        await talk.served.yard.settled("one")
        met = await talk.meet()
        watched = ["ui://one/app/main.html", "x://one/shared"]
        async with met.listening() as stream:
            for uri in watched:
                assert (await met.ask("resources/subscribe", uri=uri))["result"] == {}
            assert await eventually(lambda: len(sent(talk, "one", "resources/subscribe")) == 2, 10)
            own = [each["uri"] for each in sent(talk, "one", "resources/subscribe")]
            assert sorted(own) == [PAGE, SHARED]
            await met.call("mcp_two_touch")
            await met.call("mcp_one_touch")
            uris = [(await next_of(stream, UPDATED))["params"]["uri"] for _ in watched]
            assert uris == ["ui://one/app/main.html/part", "x://one/shared"]
            assert (await met.ask("resources/unsubscribe", uri=watched[0]))["result"] == {}
            gone = await eventually(lambda: bool(sent(talk, "one", "resources/unsubscribe")), 10)
            assert gone
            assert sent(talk, "one", "resources/unsubscribe") == [{"uri": PAGE}]


async def test_a_server_that_denies_an_address_is_quoted_with_the_address_that_was_asked() -> None:
    async with talking({"one": scripted(app("one"))}) as talk:
        uri = "ui://one/app/missing"
        refused = await talk.ask_modern("resources/read", uri=uri)
        assert refused["error"]["data"] == {"uri": uri}


async def test_real_resources_are_read_by_the_addresses_they_are_listed_by() -> None:
    servers = {"a": everything("legacy"), "b": everything("modern")}
    async with talking(servers) as talk:
        for each in await listed(talk, "resources/list", "resources"):
            answer = await talk.ask_modern("resources/read", uri=each["uri"])
            (content,) = answer["result"]["contents"]
            assert content["uri"] == each["uri"]
