"""A call or another request on its way to a server, near or far."""

from collections.abc import Coroutine
from typing import Any
from uuid import UUID

from msgspec import Raw, Struct

from mcpyard.domain.ports import CallTerms, Servers
from mcpyard.mesh.messages import FarCall, FarRequest, SentTerms
from mcpyard.wire.jsonrpc import ABSENT


class ServerQuestion(Struct, frozen=True):
    """What a server is asked: a tool with its arguments, or a method with its parameters."""

    name: str
    body: bytes
    is_call: bool = True

    def ask(self, servers: Servers, server: UUID, terms: CallTerms) -> Coroutine[Any, Any, bytes]:
        """Ask a server of this machine."""
        ask = servers.call if self.is_call else servers.request
        return ask(server, self.name, self.body, terms)

    def message(self, server: UUID, fence: int, terms: CallTerms) -> FarCall:
        """What asks a server of another node."""
        kind = FarCall if self.is_call else FarRequest
        return kind(server, fence, self.name, sent_terms(terms), Raw(self.body))


def sent_terms(terms: CallTerms) -> SentTerms:
    """The terms of a call as they are sent."""
    return SentTerms(
        timeout=terms.timeout,
        longest=terms.longest,
        capabilities=ABSENT if terms.capabilities is None else Raw(terms.capabilities),
        log_level=terms.log_level,
        client_key=terms.client_key,
        caller=terms.caller.name if terms.caller else None,
        answers=terms.on_request is not None,
        listens=terms.on_notification is not None,
    )
