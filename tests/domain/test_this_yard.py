"""Which entries lead back to this yard."""

import pytest

from mcpyard.domain.definition.launch import LocalLaunch, RemoteLaunch, Unlaunchable
from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.errors import Problem

HERE = SelfIdentity(
    homes=frozenset({"/home/me/.yard"}),
    addresses=frozenset({"http://127.0.0.1:8712", "https://yard.example"}),
    instance="abc",
)


@pytest.mark.parametrize(
    "command",
    [
        "mcpyard stdio",
        "/usr/local/bin/mcpyard stdio --profile work",
        r"C:\tools\mcpyard.exe stdio",
        "python3 -m mcpyard stdio",
        "uvx mcpyard stdio",
        "mcpyard stdio --home /home/me/.yard/",
        "mcpyard stdio --home=/home/me/.yard",
        "mcpyard --quiet stdio",
    ],
)
def test_the_bridge_of_this_home_leads_here(command: str) -> None:
    assert HERE.is_run_by(command.split(), {})


@pytest.mark.parametrize(
    "command",
    [
        "mcpyard-legal",
        "mcpyard up",
        "mcpyard",
        "python3 -m other stdio",
        "mcp-server stdio",
        "mcpyard call stdio",
        "mcpyard stdio --home /home/you/.yard",
    ],
)
def test_other_commands_lead_elsewhere(command: str) -> None:
    assert not HERE.is_run_by(command.split(), {})


def test_the_variable_names_a_home_where_no_option_does() -> None:
    bridge = ("mcpyard", "stdio")
    assert HERE.is_run_by(bridge, {"MCPYARD_HOME": "/home/me/.yard"})
    assert not HERE.is_run_by(bridge, {"MCPYARD_HOME": "/home/you/.yard"})
    named = (*bridge, "--home", "/home/me/.yard")
    assert HERE.is_run_by(named, {"MCPYARD_HOME": "/home/you/.yard"})
    assert HERE.is_run_by((*bridge, "--home"), {}), "an option without its value names none"


def test_a_private_yard_does_not_wake_the_users_own() -> None:
    assert SelfIdentity().is_run_by(("mcpyard", "stdio"), {})


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8712/mcp",
        "http://localhost:8712/mcp/work",
        "http://[::1]:8712/mcp/servers/x",
        "http://127.9.9.9:8712/mcp?x=1",
        "http://me.localhost.:8712/mcp",
        "https://yard.example/mcp",
        "https://YARD.example:443/mcp",
    ],
)
def test_every_name_of_the_gateways_address_leads_here(url: str) -> None:
    assert HERE.is_at(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8713/mcp",
        "http://127.0.0.1/mcp",
        "http://127.0.0.1:8712/other",
        "http://127.0.0.1:8712/mcpx",
        "http://yard.example/mcp",
        "http://other.example:8712/mcp",
        "http://127.0.0.1:99999/mcp",
        "ws://127.0.0.1/mcp",
        "/mcp",
    ],
)
def test_other_addresses_lead_elsewhere(url: str) -> None:
    assert not HERE.is_at(url)


def test_a_launch_of_either_kind_is_judged_and_a_broken_one_leads_nowhere() -> None:
    assert HERE.is_reached_by(LocalLaunch(("mcpyard", "stdio"), {}, None, ()))
    assert HERE.is_reached_by(RemoteLaunch("http://localhost:8712/mcp", {}, None))
    assert not HERE.is_reached_by(Unlaunchable((Problem("url", "is odd"),)))


def test_a_server_that_tells_our_instance_is_this_yard() -> None:
    assert HERE.matches_info({"name": "mcpyard", "instance": "abc"})
    assert not HERE.matches_info({"name": "mcpyard", "instance": "def"})
    assert not HERE.matches_info({"name": "other", "instance": "abc"})
    assert not SelfIdentity().matches_info({"name": "mcpyard", "instance": ""})
