"""What lists of tools cost a model."""

import pytest

from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.formats.effective import Effective
from mcpyard.formats.provenance import Evidence
from mcpyard.yard.token_costs import client_costs, leads_here, profile_of
from mcpyard.yard.views.charts import TokenCostView
from mcpyard.yard.views.clients import EntryBrief, ScopeView

HERE = SelfIdentity(addresses=frozenset({"http://127.0.0.1:8712"}))


def an_entry(name: str = "yard", *, enabled: bool = True, **more: object) -> EntryBrief:
    fields = {"command": None, "args": None, "url": None} | more
    return EntryBrief(name=name, enabled=enabled, effective=Effective.ENABLED, reason="", **fields)  # pyright: ignore[reportArgumentType]


def a_scope(client: str, *entries: EntryBrief) -> ScopeView:
    return ScopeView(
        client=client,
        title=client.title(),
        scope="user",
        path="",
        evidence=Evidence.DOCUMENTATION,
        version="",
        verified=False,
        exists=True,
        servers=[*entries],
        problems=[],
    )


def a_cost(name: str, tokens: int) -> TokenCostView:
    return TokenCostView(name=name, tools=1, tokens=tokens)


@pytest.mark.parametrize(
    ("entry", "profile"),
    [
        (an_entry(url="http://127.0.0.1:8712/mcp"), ""),
        (an_entry(url="http://127.0.0.1:8712/mcp/my%20own/"), "my own"),
        (an_entry(command="mcpyard", args=["stdio", "--profile", "few"]), "few"),
        (an_entry(command="mcpyard", args=["stdio", "--profile=few"]), "few"),
        (an_entry(command="mcpyard", args=["stdio", "--profile"]), ""),
        (an_entry(command="mcpyard"), ""),
    ],
)
def test_an_entry_of_the_gateway_names_its_profile(entry: EntryBrief, profile: str) -> None:
    assert profile_of(entry) == profile


def test_an_entry_leads_here_by_its_address_or_its_command() -> None:
    assert leads_here(an_entry(url="http://127.0.0.1:8712/mcp"), HERE)
    assert not leads_here(an_entry(url="http://127.0.0.1:1/mcp"), HERE)
    assert leads_here(an_entry(command="mcpyard", args=["stdio"]), HERE)
    assert not leads_here(an_entry(command="npx", args=["files"]), HERE)


def test_a_client_pays_for_the_gateway_and_for_servers_that_are_known_by_name() -> None:
    gateway = an_entry(url="http://127.0.0.1:8712/mcp/few")
    groups = [
        a_scope("yard", an_entry("files")),
        a_scope("codex", gateway, an_entry("files", command="npx"), an_entry("odd", command="x")),
        a_scope("codex", an_entry("off", enabled=False)),
        a_scope("gemini"),
    ]
    costs = client_costs(groups, HERE, {"files": a_cost("files", 5)}, {"few": a_cost("few", 70)})
    assert [(each.name, each.tools, each.tokens, each.unknown) for each in costs] == [
        ("Codex", 2, 75, 1)
    ]
