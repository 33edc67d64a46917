"""A node that reaches neither its database nor another node, and the mark of its results.

Another node may run the same server by then, and what two copies keep for themselves diverges.
"""

from collections.abc import Awaitable
from typing import Final

import msgspec
from msgspec import Raw

from mcpyard.cluster.node_view import NodeView
from mcpyard.domain.cluster import NodeState
from mcpyard.mesh.node_links import NodeLinks

MARK: Final = "mcpyard/isolated"
"""The member of a result's `_meta`."""

_META: Final = "_meta"


def is_isolated(view: NodeView, links: NodeLinks) -> bool:
    """Whether there should be other nodes, and neither they nor the database answer."""
    if not view.database_away or links.all():
        return False
    return any(each.state is not NodeState.LEFT for each in view.peers)


async def marked(work: Awaitable[bytes]) -> bytes:
    """A result with the mark in its `_meta`; one that cannot be read stays as it is."""
    result = await work
    try:
        members = msgspec.json.decode(result, type=dict[str, Raw])
        meta = msgspec.json.decode(members.get(_META, b"{}"), type=dict[str, Raw])
    except msgspec.DecodeError:
        return result
    members[_META] = Raw(msgspec.json.encode({**meta, MARK: True}))
    return msgspec.json.encode(members)
