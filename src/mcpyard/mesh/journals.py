"""The journals of all nodes: each keeps the calls that were made through it."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec
from msgspec import Struct
from msgspec.json import Decoder
from msgspec.structs import replace

from mcpyard.domain.call_repositories import CallReader
from mcpyard.domain.errors import YardError
from mcpyard.domain.stored import CallQuery, CallRecord
from mcpyard.mesh.node_links import NodeLinks

ASK: Final = "calls"

MOST_CALLS: Final = 1001
"""Calls that a node answers with at most, whatever it is asked for: one page, and one more."""

_SECONDS: Final = 2.0
"""How long a node may take: whoever asks is told that it is missing instead."""


class SentCall(Struct, frozen=True):
    """A `CallRecord` on its way; later versions may have more fields."""

    at: datetime
    who: str
    server: UUID
    server_name: str
    tool: str
    ms: float
    outcome: str
    bytes_in: int
    bytes_out: int
    id: int


class SentQuery(Struct, frozen=True):
    """A question for calls; what a later version asks for besides is passed over."""

    query: CallQuery


_read_query: Final = Decoder(SentQuery).decode
_read_calls: Final = Decoder(list[SentCall]).decode


class NodeJournals:
    """Asks the journals of nodes, that of this one and those over links."""

    def __init__(self, name: str, journal: CallReader, links: NodeLinks) -> None:
        self._name = name
        self._journal = journal
        self._links = links

    async def answer(self, params: bytes) -> bytes:
        """Answer another node."""
        query = _read_query(params).query
        calls = await self._journal.query(replace(query, limit=min(query.limit, MOST_CALLS)))
        return msgspec.json.encode([_sent(each) for each in calls])

    async def ask(
        self, queries: Mapping[str, CallQuery]
    ) -> Mapping[str, Sequence[CallRecord] | None]:
        """Calls of nodes; None for a node that cannot be reached or does not answer in time."""
        answers = await asyncio.gather(*(self._of(*each) for each in queries.items()))
        return dict(zip(queries, answers, strict=True))

    async def _of(self, node: str, query: CallQuery) -> Sequence[CallRecord] | None:
        if node == self._name:
            return [each._replace(node=node) for each in await self._journal.query(query)]
        link = self._links.get(node)
        if link is None:
            return None
        try:
            async with asyncio.timeout(_SECONDS):
                calls = _read_calls(await link.question(ASK, SentQuery(query)))
        except (YardError, TimeoutError, msgspec.MsgspecError):
            return None
        return [_record(each, node) for each in calls[: query.limit]]


def _sent(call: CallRecord) -> SentCall:
    return msgspec.convert(call._asdict(), SentCall)


def _record(call: SentCall, node: str) -> CallRecord:
    return CallRecord(**msgspec.structs.asdict(call), node=node)
