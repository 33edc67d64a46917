"""How the health check and the restarts of a server are set, in every spelling."""

import pytest

from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.errors import DefinitionError
from mcpyard.domain.model import HealthCheck, RestartLimits

LAUNCHES = (
    {"command": "x", "args": [], "transport": "stdio"},
    {"type": "local", "command": ["x"]},
    {"type": "http", "url": "https://example.com/mcp"},
)


@pytest.mark.parametrize("launch", LAUNCHES)
def test_both_are_read_in_every_spelling_and_have_defaults(launch: dict[str, object]) -> None:
    plain = read_definition(launch).config
    assert (plain.health, plain.restart) == (HealthCheck(), RestartLimits())
    assert HealthCheck().model_dump() == {"interval": 30_000, "timeout": 5_000, "failures": 3}
    assert RestartLimits().model_dump() == {"attempts": 3, "limit": 10, "window": 3_600_000}
    limits = {"health": {"interval": 1000.0, "failures": 1}, "restart": {"attempts": 0}}
    reading = read_definition({**launch, **limits})
    assert not reading.warnings
    assert reading.config.health == HealthCheck(interval=1000, failures=1)
    assert reading.config.restart == RestartLimits(attempts=0)


@pytest.mark.parametrize(
    ("limits", "problem"),
    [
        ({"health": {"interval": 0}}, "health.interval: must be greater than 0"),
        ({"health": {"failures": 0}}, "health.failures: must be greater than 0"),
        ({"health": {"timeout": "5 s"}}, "health.timeout: expected a whole number"),
        ({"health": {"failures": 1001}}, "health.failures: must be at most 1000"),
        ({"health": {"retries": 3}}, "health.retries: is unknown"),
        ({"health": True}, "health: expected an object, found true"),
        ({"restart": {"attempts": -1}}, "restart.attempts: must be at least 0"),
        ({"restart": {"window": 1.5}}, "restart.window: expected a whole number"),
        ({"restart": "always"}, "restart: expected an object, found a string"),
    ],
)
def test_what_is_wrong_is_named_by_its_field(limits: dict[str, object], problem: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        read_definition({**LAUNCHES[0], **limits})
    assert problem in str(caught.value)
