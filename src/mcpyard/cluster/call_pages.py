"""The journals of several nodes as one: a page, newest first, and where the next one begins.

Each node numbers its own calls, so a position in all journals has a number for each node. Without a
cluster there is one journal, of the node without a name, and a position is one number.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.stored import CallRecord

_LAST_ID = 2**63 - 1


class CallPosition(Struct, frozen=True):
    """A call id for each node; as text `n1.17~n2.5`, or `17` without a cluster."""

    ids: Mapping[str, int]

    def __str__(self) -> str:
        parts = (f"{node}.{number}" if node else str(number) for node, number in self.ids.items())
        return "~".join(parts)

    @classmethod
    def parse(cls, text: str) -> "CallPosition | None":
        """The position that a text names; None where it is none."""
        ids: dict[str, int] = {}
        for part in text.split("~"):
            node, _, digits = part.rpartition(".")
            number = whole_number(digits, _LAST_ID)
            if number is None:
                return None
            ids[node] = number
        return cls(ids)


class CallPages(Struct, frozen=True):
    """A page of calls.

    Attributes:
        calls: The calls, newest first.
        following: Before which the next page is; None on the last one.
        missing: The nodes whose calls are not among them.
    """

    calls: list[CallRecord]
    following: CallPosition | None
    missing: list[str]

    def newest(self, before: Mapping[str, int]) -> CallPosition:
        """The newest call of each node, here or as it was known before."""
        ids = dict(before)
        for each in self.calls:
            ids[each.node] = max(each.id, ids.get(each.node, 0))
        return CallPosition(ids)


def merge_calls(
    journals: Mapping[str, Sequence[CallRecord] | None], before: Mapping[str, int], limit: int
) -> CallPages:
    """One page of what nodes answered; each gave at most one call more than the page has."""
    answers = {node: calls for node, calls in journals.items() if calls is not None}
    # The order of a node's own calls is that of their ids, whatever its clock did.
    every = sorted(
        (each for calls in answers.values() for each in calls),
        key=lambda call: (call.at, call.id),
        reverse=True,
    )
    page = every[:limit]
    missing = sorted(journals.keys() - answers.keys())
    if len(every) <= limit:
        return CallPages(page, None, missing)
    ids = dict(before)
    for node, calls in answers.items():
        taken = [each.id for each in page if each.node == node]
        if taken:
            ids[node] = min(taken)
        elif calls:
            ids[node] = calls[0].id + 1
    return CallPages(page, CallPosition(ids), missing)
