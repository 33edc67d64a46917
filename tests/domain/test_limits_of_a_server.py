"""How the health check, the restarts and the resources of a server are set, in every spelling."""

import pytest

from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.definition.quantities import MOST_MEMORY
from mcpyard.domain.definition.sizes import read_size, size_text
from mcpyard.domain.errors import DefinitionError
from mcpyard.domain.model import HealthCheck, ResourceLimits, RestartLimits

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
        ({"limits": {"memory": 512}}, "limits.memory: must be at least 1048576"),
        ({"limits": {"memory": "512"}}, "limits.memory: must be at least 1048576"),
        ({"limits": {"memory": "much"}}, 'limits.memory: expected bytes or a size such as "512MB"'),
        ({"limits": {"memory": "-1GB"}}, "limits.memory: expected bytes"),
        ({"limits": {"memory": True}}, "limits.memory: expected a whole number"),
        ({"limits": {"memory": MOST_MEMORY + 1}}, f"limits.memory: must be at most {MOST_MEMORY}"),
        ({"limits": {"processes": 0}}, "limits.processes: must be at least 1"),
        ({"limits": {"processes": "4"}}, "limits.processes: expected a whole number"),
        ({"limits": {"cpu": 1}}, "limits.cpu: is unknown"),
        ({"limits": 5}, "limits: expected an object, found the number 5"),
    ],
)
def test_what_is_wrong_is_named_by_its_field(limits: dict[str, object], problem: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        read_definition({**LAUNCHES[0], **limits})
    assert problem in str(caught.value)


@pytest.mark.parametrize("launch", LAUNCHES)
def test_resources_have_no_limits_unless_told_and_sizes_are_read(launch: dict[str, object]) -> None:
    assert read_definition(launch).config.limits == ResourceLimits()
    resources = {"limits": {"memory": "512MB", "processes": 20.0}}
    reading = read_definition({**launch, **resources})
    assert not reading.warnings
    assert reading.config.limits == ResourceLimits(memory=512 << 20, processes=20)
    assert reading.config.limits.model_dump() == {"memory": 536_870_912, "processes": 20}


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1048576", 1 << 20),
        ("512MB", 512 << 20),
        ("512 MiB", 512 << 20),
        ("512m", 512 << 20),
        (" 1.5GB ", 3 << 29),
        ("64kb", 64 << 10),
        ("2T", 2 << 40),
        ("100b", 100),
        ("", None),
        ("MB", None),
        ("1e9", None),
        ("1,5GB", None),
        ("5 PB", None),
        ("٣MB", None),
        ("9" * 16, None),
    ],
)
def test_a_size_is_read_as_people_write_it(text: str, size: int | None) -> None:
    assert read_size(text) == size


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 kB"),
        (512 << 20, "512 MB"),
        (3 << 29, "1.5 GB"),
        (1 << 60, "1.04858e+06 TB"),
    ],
)
def test_a_size_is_shown_in_its_largest_unit(size: int, text: str) -> None:
    assert size_text(size) == text
