"""The calls that were made, of all nodes that can be reached."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from mcpyard.cluster.call_pages import CallPages, merge_calls
from mcpyard.domain.call_repositories import Journal
from mcpyard.domain.cluster import Cluster
from mcpyard.domain.stored import CallQuery, CallRecord

_NOTHING: Final[Mapping[str, int]] = {}


class CallLog:
    """Reads the journal of this machine, or those of all nodes of a cluster.

    Attributes:
        journal: The journal of this machine.
    """

    def __init__(self, journal: Journal | None, cluster: Cluster | None) -> None:
        self.journal = journal
        self._cluster = cluster

    async def page(self, query: CallQuery, before: Mapping[str, int] = _NOTHING) -> CallPages:
        """A page of calls, newest first, before a position; the query's own `before` is unused."""
        query = replace(query, limit=query.limit + 1)
        if self._cluster is None:
            calls = await self._own(replace(query, before=before.get("")))
            return merge_calls({"": calls}, before, query.limit - 1)
        nodes = [each.member.node.name for each in self._cluster.status().nodes]
        queries = {
            node: replace(query, before=before.get(node)) for node in nodes or [self._cluster.node]
        }
        return merge_calls(await self._cluster.insight.calls(queries), before, query.limit - 1)

    async def sorted(self, query: CallQuery) -> Sequence[CallRecord]:
        """The calls of this machine alone, in any order; `offset` pages through them."""
        return await self._own(query)

    async def _own(self, query: CallQuery) -> Sequence[CallRecord]:
        return await self.journal.query(query) if self.journal else ()
