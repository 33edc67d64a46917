"""The servers of each machine's own files: they run there only, and every node shows them."""

import asyncio
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import msgspec
from msgspec import Struct
from msgspec.json import Decoder

from mcpyard.domain.cluster_insight import PinnedServer
from mcpyard.domain.errors import YardError
from mcpyard.mesh.mesh import Mesh
from mcpyard.mesh.node_link import NodeLink

ASK: Final = "pinned"

_SECONDS: Final = 1.0
"""How long a node may take; after that it is shown as it answered before."""


class SentServer(Struct, frozen=True):
    """A `PinnedServer` on its way; later versions may have more fields."""

    server: UUID
    name: str


_read_servers: Final = Decoder(list[SentServer]).decode


class PinnedServers:
    """Tells other nodes of the pinned servers of this one, and asks them for theirs."""

    def __init__(self, mesh: Mesh) -> None:
        self._mesh = mesh
        self._last: dict[str, list[PinnedServer]] = {}
        mesh.answers.add(ASK, self.answer)

    async def answer(self, _params: bytes) -> bytes:
        """Answer another node."""
        picture = self._mesh.picture
        own = (each for id_, each in picture.desired.items() if id_ not in picture.singletons)
        return msgspec.json.encode([SentServer(each.id, each.name) for each in own])

    async def elsewhere(self) -> Sequence[PinnedServer]:
        """The pinned servers of all nodes that this one is linked to."""
        answers = await asyncio.gather(*(self._of(link) for link in self._mesh.links.all()))
        return [each for servers in answers for each in servers]

    async def _of(self, link: NodeLink) -> list[PinnedServer]:
        node = link.node
        try:
            async with asyncio.timeout(_SECONDS):
                servers = _read_servers(await link.question(ASK))
        except (YardError, TimeoutError, msgspec.MsgspecError):
            return self._last.get(node, [])
        self._last[node] = [PinnedServer(node, each.server, each.name) for each in servers]
        return self._last[node]
