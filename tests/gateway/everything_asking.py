"""What the fixture server asks of a client during a call, in the manner of either era.

In the handshake era it sends a request and waits; in the modern one it answers that input is
required, and goes on when the call comes again with it.
"""

import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

Context = ServerRequestContext[Any, Any]
Answers = Mapping[str, Any]
ServerRequest = types.CreateMessageRequest | types.ElicitRequest | types.ListRootsRequest

MODERN = "2026-07-28"
_KEY = b"only for tests"


class InputRequired(Exception):
    """The call has to come again, with answers."""

    def __init__(self, questions: Mapping[str, ServerRequest], state: str | None = None) -> None:
        super().__init__("input required")
        self.result = types.InputRequiredResult(
            input_requests=dict(questions), request_state=None if state is None else sealed(state)
        )


def form(message: str, schema: dict[str, Any]) -> types.ElicitRequest:
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=message, requested_schema=schema)
    )


def sampling(prompt: str, tokens: int = 100) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(text=prompt))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=tokens)
    )


def roots() -> types.ListRootsRequest:
    return types.ListRootsRequest()


async def ask(
    ctx: Context,
    params: Any,  # noqa: ANN401  of a call or of a prompt
    state: str | None = None,
    **questions: ServerRequest,
) -> Answers:
    """The answers to what is asked, under the same names."""
    if ctx.protocol_version != MODERN:
        return {key: await _request(ctx, each) for key, each in questions.items()}
    answers: Answers = params.input_responses or {}
    missing = {key: each for key, each in questions.items() if not _fits(each, answers.get(key))}
    if missing:
        raise InputRequired(questions, state)
    return answers


def _fits(question: ServerRequest, answer: object) -> bool:
    kinds = {
        "elicitation/create": types.ElicitResult,
        "sampling/createMessage": types.CreateMessageResult | types.CreateMessageResultWithTools,
        "roots/list": types.ListRootsResult,
    }
    return isinstance(answer, kinds[question.method])


async def _request(ctx: Context, question: ServerRequest) -> object:
    related = ctx.request_id
    if isinstance(question, types.ElicitRequest):
        params = question.params
        assert isinstance(params, types.ElicitRequestFormParams)
        return await ctx.session.elicit_form(params.message, params.requested_schema, related)
    if isinstance(question, types.CreateMessageRequest):
        return await ctx.session.create_message(  # pyright: ignore[reportDeprecated]
            question.params.messages,
            max_tokens=question.params.max_tokens,
            related_request_id=related,
        )
    return await ctx.session.list_roots()  # pyright: ignore[reportDeprecated]


def sealed(state: str) -> str:
    return f"{state}.{hmac.new(_KEY, state.encode(), hashlib.sha256).hexdigest()}"


def opened(params: Any) -> str:  # noqa: ANN401  of a call or of a prompt
    """The state that a call brought back; empty when it is the first."""
    token: str | None = params.request_state
    if token is None:
        return ""
    state = token.rpartition(".")[0]
    if token != sealed(state):
        raise MCPError(types.INVALID_PARAMS, "the state was tampered with")
    return state


def can(ctx: Context, capability: str) -> bool:
    """Whether the caller declared a capability."""
    declared = ctx.session.client_capabilities
    return declared is not None and getattr(declared, capability) is not None
