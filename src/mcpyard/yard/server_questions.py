"""What servers ask the application during a call: input of a person, or an answer of a model."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Literal, TypeAlias, cast

from msgspec import Struct

from mcpyard.domain.errors import CallRefused
from mcpyard.domain.narrowing import is_mapping, list_of, object_of, texts_of
from mcpyard.yard.views.content import PromptMessage, messages_of

ELICIT: Final = "elicitation/create"
SAMPLE: Final = "sampling/createMessage"

_METHOD_NOT_FOUND: Final = -32601
_DECLINED: Final = -1
"""What the protocol has for a person who does not let a model answer."""


class ElicitRequest(Struct, frozen=True):
    """A server asks a person for something.

    Attributes:
        server: The name of the server.
        message: What it asks.
        schema: The JSON schema of the answer; empty where `url` is set.
        url: The address that the person is to open instead; None for an ordinary question.
    """

    server: str
    message: str
    schema: Mapping[str, object]
    url: str | None = None


class ElicitAnswer(Struct, frozen=True):
    """The answer of a person.

    Attributes:
        action: `accept`, `decline` or `cancel`.
        content: What was entered, for `accept`.
    """

    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, object] | None = None


class SampleRequest(Struct, frozen=True):
    """A server asks for the answer of a model.

    Attributes:
        server: The name of the server.
        messages: The conversation.
        system_prompt: The system prompt that the server would like.
        max_tokens: The most tokens of the answer.
        temperature: The temperature that it would like.
        stop_sequences: The texts that end the answer.
        model_hints: The names of models that it would like, best first.
        params: All parameters of the request, as they came.
    """

    server: str
    messages: tuple[PromptMessage, ...]
    system_prompt: str | None
    max_tokens: int | None
    temperature: float | None
    stop_sequences: tuple[str, ...]
    model_hints: tuple[str, ...]
    params: Mapping[str, object]


class SampleAnswer(Struct, frozen=True):
    """The answer of a model.

    Attributes:
        text: The answer.
        model: The name of the model.
        stop_reason: Why it ended.
    """

    text: str
    model: str = "unknown"
    stop_reason: str = "endTurn"


ElicitReply: TypeAlias = ElicitAnswer | Mapping[str, object] | None
"""What was entered, None to decline, or an `ElicitAnswer`."""

SampleReply: TypeAlias = SampleAnswer | Mapping[str, object] | str | None
"""The text, a `SampleAnswer`, a whole result object of the protocol, or None to decline."""

OnElicit: TypeAlias = Callable[[ElicitRequest], ElicitReply | Awaitable[ElicitReply]]
OnSample: TypeAlias = Callable[[SampleRequest], SampleReply | Awaitable[SampleReply]]


class QuestionAnswerer:
    """Answers questions of servers by the functions of the application.

    A function that is not `async` runs in a thread: it may wait for a person.
    """

    def __init__(self, on_elicit: OnElicit | None, on_sample: OnSample | None) -> None:
        self._on_elicit = on_elicit
        self._on_sample = on_sample

    def __bool__(self) -> bool:
        return bool(self._on_elicit or self._on_sample)

    @property
    def capabilities(self) -> dict[str, object]:
        """What servers are told that the application can do."""
        able: dict[str, object] = {}
        if self._on_elicit:
            able["elicitation"] = {"form": {}, "url": {}}
        if self._on_sample:
            able["sampling"] = {}
        return able

    async def answer(self, server: str, method: str, params: object) -> Mapping[str, object]:
        """The result of a request of a server.

        Raises:
            CallRefused: There is no function for it, or it declined or failed.
        """
        members = object_of(params)
        try:
            if method == ELICIT and self._on_elicit:
                return _elicited(await _ask(self._on_elicit, _elicit_request(server, members)))
            if method == SAMPLE and self._on_sample:
                return _sampled(await _ask(self._on_sample, _sample_request(server, members)))
        except CallRefused:
            raise
        except Exception as error:
            text = f"the application could not answer: {type(error).__name__}: {error}"
            raise CallRefused(text) from error
        raise CallRefused(f"the application does not support {method[:80]}", _METHOD_NOT_FOUND)


NO_ANSWERS: Final = QuestionAnswerer(None, None)
"""Refuses every question."""


async def _ask(function: Callable[..., object], request: ElicitRequest | SampleRequest) -> object:
    if inspect.iscoroutinefunction(function):
        return await function(request)
    reply = await asyncio.to_thread(function, request)
    return await cast("Awaitable[object]", reply) if inspect.isawaitable(reply) else reply


def _elicit_request(server: str, params: Mapping[str, object]) -> ElicitRequest:
    url = params.get("url") if params.get("mode") == "url" else None
    return ElicitRequest(
        server,
        str(params.get("message", "")),
        object_of(params.get("requestedSchema")),
        None if url is None else str(url),
    )


def _sample_request(server: str, params: Mapping[str, object]) -> SampleRequest:
    system, most = params.get("systemPrompt"), params.get("maxTokens")
    temperature = params.get("temperature")
    hints = list_of(object_of(params.get("modelPreferences")).get("hints"))
    names = [object_of(each).get("name") for each in hints]
    return SampleRequest(
        server=server,
        messages=messages_of(params.get("messages")),
        system_prompt=system if isinstance(system, str) else None,
        max_tokens=most if isinstance(most, int) else None,
        temperature=float(temperature) if isinstance(temperature, int | float) else None,
        stop_sequences=tuple(texts_of(params.get("stopSequences"))),
        model_hints=tuple(each for each in names if isinstance(each, str)),
        params=params,
    )


def _elicited(reply: object) -> Mapping[str, object]:
    if reply is None:
        return {"action": "decline"}
    if isinstance(reply, ElicitAnswer):
        content = {} if reply.content is None else {"content": dict(reply.content)}
        return {"action": reply.action, **content}
    if is_mapping(reply):
        return {"action": "accept", "content": dict(reply)}
    raise TypeError(f"on_elicit returned {type(reply).__name__} instead of a mapping or None")


def _sampled(reply: object) -> Mapping[str, object]:
    if reply is None:
        raise CallRefused("the request for a model's answer was declined", _DECLINED)
    if is_mapping(reply):
        return reply
    if isinstance(reply, str):
        reply = SampleAnswer(reply)
    if not isinstance(reply, SampleAnswer):
        raise TypeError(f"on_sample returned {type(reply).__name__} instead of a text")
    return {
        "role": "assistant",
        "content": {"type": "text", "text": reply.text},
        "model": reply.model,
        "stopReason": reply.stop_reason,
    }
