"""From a call as it was to what is recorded of it: masked, then cut."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

import orjson

from mcpyard.catalog.token_estimate import estimate_tokens
from mcpyard.domain.call_contents import (
    WINDOW,
    CallContents,
    CallTrace,
    RecordedText,
    TracedCall,
)
from mcpyard.domain.definition.json_secrets import Redacted, redact_json, redact_text
from mcpyard.domain.definition.secret_text import longest_first
from mcpyard.domain.definition.secrets import secrets_of
from mcpyard.domain.definition.written_forms import written_forms
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.narrowing import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpyard.domain.definition.launch import Launch, Unlaunchable
    from mcpyard.yard.calls.recorder import CalledServer

_MOST_SECRETS: Final = 1000
"""Secrets of a server that are remembered after its definition changed."""


_SHORTEST: Final = 6
"""Characters of an answer or of a token; less would mask ordinary words wherever they stand."""


class ContentsReader:
    """Reads calls. Used by one thread.

    Args:
        own: The secrets of the yard itself; another set when one more is known.
    """

    def __init__(self, own: Callable[[], frozenset[str]] = frozenset) -> None:
        self._secrets = KnownSecrets(own)

    def read(self, traced: TracedCall, servers: "Mapping[UUID, CalledServer]") -> CallContents:
        """What is recorded of a call."""
        _, call, trace = traced
        server = servers[call.server]
        secrets = self._secrets.of(call.server, server.desired)
        if trace.answers:
            secrets = longest_first({*secrets, *_said(trace.answers)})
        arguments = redact_json(trace.arguments, call.bytes_in, secrets)
        result = redact_json(trace.result, call.bytes_out, secrets) if trace.result else None
        return CallContents(
            arguments=_recorded(arguments, call.bytes_in),
            result=_recorded(result, call.bytes_out) if result else None,
            error=_error(trace, secrets) if trace.error else None,
            queue_ms=trace.queue_ms,
            server_version=server.version,
            protocol=server.protocol,
            passed_over=tuple(
                (name, redact_text(why, secrets).text) for name, why in trace.passed_over
            ),
        )


class KnownSecrets:
    """The secrets of each server, with those that its definition had before. Used by one thread.

    Those of the yard itself are among them: a person or an agent may pass one to any server.
    """

    def __init__(self, own: Callable[[], frozenset[str]] = frozenset) -> None:
        self._own = own
        self._made_from: dict[UUID, tuple[Launch | Unlaunchable, frozenset[str]]] = {}
        self._secrets: dict[UUID, tuple[str, ...]] = {}

    def of(self, server: UUID, desired: DesiredServer | None) -> tuple[str, ...]:
        """The secrets of a server."""
        if desired is not None and self._is_old(server, desired.launch):
            own = self._own()
            self._made_from[server] = desired.launch, own
            secrets = secrets_of(desired.launch).union(
                each for each in own if len(each) >= _SHORTEST
            )
            fresh = {form for each in secrets for form in written_forms(each)}
            # A program may answer what it was started with before its definition changed.
            both = [*fresh, *(each for each in self._secrets.get(server, ()) if each not in fresh)]
            values = both[: max(len(fresh), _MOST_SECRETS)]
            self._secrets[server] = tuple(sorted(values, key=len, reverse=True))
        return self._secrets.get(server, ())

    def _is_old(self, server: UUID, launch: "Launch | Unlaunchable") -> bool:
        made_from = self._made_from.get(server)
        return made_from is None or made_from[0] is not launch or made_from[1] is not self._own()


def _said(answers: Sequence[bytes]) -> Iterator[str]:
    """What a person entered, in the forms in which a server may repeat it."""
    for answer in answers:
        for text in _texts(answer):
            if len(text) >= _SHORTEST:
                yield from written_forms(text)


def _texts(answer: bytes) -> Iterator[str]:
    with contextlib.suppress(ValueError, RecursionError):
        waiting: list[object] = [orjson.loads(answer)]
        while waiting:
            value = waiting.pop()
            if is_object(value):
                waiting += [each for name, each in value.items() if name != "action"]
            elif is_array(value):
                waiting += value
            elif isinstance(value, str | int | float) and not isinstance(value, bool):
                yield str(value)


def _error(trace: CallTrace, secrets: tuple[str, ...]) -> RecordedText:
    text, _, masked = redact_text(trace.error, secrets)
    if trace.details is not None:
        details = b""
        with contextlib.suppress(TypeError):
            details = orjson.dumps(trace.details)
        more = redact_json(details[:WINDOW], len(details), secrets)
        text, masked = f"{text}\n{more.text}", masked or more.masked
    return RecordedText(text, len(text), masked=masked)


def _recorded(redacted: Redacted, size: int) -> RecordedText:
    text, cut, masked = redacted
    tokens = estimate_tokens(text)
    if cut and text:
        tokens = tokens * size // len(text.encode())
    return RecordedText(text, size, tokens, cut, masked)
