"""What is different between two desired states."""

from typing import NamedTuple
from uuid import UUID

from mcpyard.domain.continuation import is_continued
from mcpyard.domain.desired import Desired, DesiredServer


class DesiredChanges(NamedTuple):
    """The servers that came or are others than before, and those that are gone."""

    changed: list[DesiredServer]
    gone: list[UUID]


def changes(before: Desired, after: Desired) -> DesiredChanges:
    """What is different; a server that is the very same object is not looked at."""
    old, new = [*before.servers.values()], [*after.servers.values()]
    if is_continued(old, new):
        return DesiredChanges(new[len(old) :], [])
    changed: list[DesiredServer] = []
    stayed = 0
    for identity, server in after.servers.items():
        earlier = before.servers.get(identity)
        stayed += earlier is not None
        if earlier is not server:
            changed.append(server)
    if stayed == len(before.servers):
        return DesiredChanges(changed, [])
    return DesiredChanges(changed, [each for each in before.servers if each not in after.servers])
