"""Back-ups that cannot help: ones that are not there, and ones that lead back."""

from collections.abc import Iterator, Mapping

from mcpyard.domain.errors import Problem
from mcpyard.domain.model import Policy


def names_backups(config: Policy) -> bool:
    """Whether a server or one of its tools has back-ups."""
    return bool(config.backup) or any(tool.backup for tool in config.tools.values())


def backup_problems(name: str, configs: Mapping[str, Policy]) -> tuple[Problem, ...]:
    """What is wrong with the back-ups of one server, by the field that says so."""
    return tuple(
        Problem(field, fault)
        for field, backup in _fields(configs[name])
        if (fault := _fault(name, backup, configs))
    )


def _fault(name: str, backup: str, configs: Mapping[str, Policy]) -> str | None:
    if backup == name:
        return "is the server itself; ignored"
    if backup not in configs:
        return f'there is no server "{backup[:80]}"'
    way = _way_back(name, backup, configs)
    if way:
        return f"leads back to the server itself ({' -> '.join(way)}); each server is tried once"
    return None


def _way_back(name: str, backup: str, configs: Mapping[str, Policy]) -> list[str]:
    """The shortest way from a back-up to the server it stands in for; empty when there is none."""
    ways: dict[str, list[str]] = {backup: [name, backup]}
    waiting = [backup]
    for here in waiting:
        for _, following in _fields(configs[here]):
            if following == name:
                return [*ways[here], name]
            if following in configs and following not in ways:
                ways[following] = [*ways[here], following]
                waiting.append(following)
    return []


def _fields(config: Policy) -> Iterator[tuple[str, str]]:
    """The place and the name of each back-up."""
    for index, backup in enumerate(config.backup):
        yield f"backup[{index}]", backup
    for tool, policy in config.tools.items():
        for index, backup in enumerate(policy.backup or ()):
            yield f"tools.{tool}.backup[{index}]", backup.server
