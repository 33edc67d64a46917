"""What a node answers to other nodes: calls to its servers, and questions about them."""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from mcpyard.domain.callers import UNLIMITED, Caller, Callers
from mcpyard.domain.ports import CallTerms, RequestHandler, Servers
from mcpyard.mesh import messages
from mcpyard.mesh.messages import FarCall, OfCall
from mcpyard.mesh.node_link import NodeLink
from mcpyard.mesh.questions import ServerQuestion
from mcpyard.mesh.routing import CallRouter
from mcpyard.wire.jsonrpc import METHOD_NOT_FOUND, RpcError

CallerOf = Callable[[str], Caller]
"""The caller of a name: calls that wait are taken in turn from each, wherever they were made."""


AnswerQuestion = Callable[[bytes], Coroutine[Any, Any, bytes]]
"""Answers a question of another node, given its parameters."""


class LinkAnswers:
    """Answers the requests of other nodes about the servers of this one.

    Attributes:
        caller_of: The callers of this node by name; unlimited unless set, since the asking node
            has checked its own quotas.
        others: Answers what is not about servers, by method.
    """

    def __init__(
        self,
        local: Servers,
        router: CallRouter,
        placements: Callable[[], messages.PlacementNews],
    ) -> None:
        self._local = local
        self._router = router
        callers = Callers()
        callers.limit(UNLIMITED)
        self.caller_of: CallerOf = callers.of
        self.others: dict[str, Callable[[NodeLink, bytes], Coroutine[Any, Any, bytes]]] = {}
        self._placements = placements
        self._questions: dict[str, AnswerQuestion] = {
            "log": self._log,
            "figures": self._figures,
            "placements": self._tell_placements,
        }

    def add(self, method: str, answer: AnswerQuestion) -> None:
        """Answer one more question."""
        self._questions[method] = answer

    def answer(self, link: NodeLink, method: str, params: bytes) -> Coroutine[Any, Any, bytes]:
        """Answer a request."""
        if method == "call":
            call = messages.read_call(params)
            question = ServerQuestion(call.tool, bytes(call.arguments))
            return self._router.answer(call.server, call.fence, question, self._terms(link, call))
        if method == "request":
            call = messages.read_request(params)
            question = ServerQuestion(call.tool, bytes(call.arguments), is_call=False)
            return self._router.answer(call.server, call.fence, question, self._terms(link, call))
        if answer := self._questions.get(method):
            return answer(params)
        if other := self.others.get(method):
            return other(link, params)
        raise RpcError(METHOD_NOT_FOUND, f"{method} is not known here")

    def _terms(self, link: NodeLink, call: FarCall) -> CallTerms:
        sent, token = call.terms, call.token.progress_token if call.token else None
        caller = self.caller_of(sent.caller) if sent.caller is not None else None
        plain = CallTerms(
            timeout=sent.timeout,
            longest=sent.longest,
            capabilities=bytes(sent.capabilities) or None,
            log_level=sent.log_level,
            client_key=sent.client_key,
            caller=caller,
        )
        return plain if token is None else _talking(link, token, call, plain)

    async def _log(self, params: bytes) -> bytes:
        lines = await self._local.fetch_log(messages.read_server(params).server)
        return msgspec.json.encode(lines)

    async def _figures(self, params: bytes) -> bytes:
        server = messages.read_server(params).server
        held = server in self._local.held()
        return msgspec.json.encode(self._local.figures(server) if held else None)

    async def _tell_placements(self, _params: bytes) -> bytes:
        return msgspec.json.encode(self._placements())


def _talking(link: NodeLink, token: int, call: FarCall, plain: CallTerms) -> CallTerms:
    """The terms of a call during which something may be sent back."""

    def progress(params: Mapping[str, object]) -> None:
        link.notify_progress(token, params)

    def notice(method: str, params: bytes) -> None:
        link.notify("notice", OfCall(token, method, Raw(params)))

    ask: RequestHandler = lambda method, params: link.ask_back(token, method, params)  # noqa: E731
    return msgspec.structs.replace(
        plain,
        progress=progress,
        on_notification=notice if call.terms.listens else None,
        on_request=ask if call.terms.answers else None,
    )
