"""Fallbacks that cannot help: ones that are not there, and ones that lead back."""

from collections.abc import Iterator, Mapping

from mcpyard.domain.errors import Problem
from mcpyard.domain.model import Policy


def names_fallbacks(config: Policy) -> bool:
    """Whether a server or one of its tools has fallbacks."""
    return bool(config.fallback) or any(tool.fallback for tool in config.tools.values())


def fallback_problems(name: str, configs: Mapping[str, Policy]) -> tuple[Problem, ...]:
    """What is wrong with the fallbacks of one server, by the field that says so."""
    return tuple(
        Problem(field, fault)
        for field, fallback in _fields(configs[name])
        if (fault := _fault(name, fallback, configs))
    )


def _fault(name: str, fallback: str, configs: Mapping[str, Policy]) -> str | None:
    if fallback == name:
        return "is the server itself; ignored"
    if fallback not in configs:
        return f'there is no server "{fallback[:80]}"'
    way = _way_back(name, fallback, configs)
    if way:
        return f"points back to the server itself ({' -> '.join(way)}); each server is tried once"
    return None


def _way_back(name: str, fallback: str, configs: Mapping[str, Policy]) -> list[str]:
    """The shortest way from a fallback to the server it stands in for; empty when there is none."""
    ways: dict[str, list[str]] = {fallback: [name, fallback]}
    waiting = [fallback]
    for server in waiting:
        for _, following in _fields(configs[server]):
            if following == name:
                return [*ways[server], name]
            if following in configs and following not in ways:
                ways[following] = [*ways[server], following]
                waiting.append(following)
    return []


def _fields(config: Policy) -> Iterator[tuple[str, str]]:
    """The place and the name of each fallback."""
    for index, fallback in enumerate(config.fallback):
        yield f"fallback[{index}]", fallback
    for tool, policy in config.tools.items():
        for index, fallback in enumerate(policy.fallback or ()):
            yield f"tools.{tool}.fallback[{index}]", fallback.server
