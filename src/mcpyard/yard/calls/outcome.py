"""The outcome of a call: the server's result object as it came, and where it came from."""

import json
import math
from collections.abc import Iterable
from enum import StrEnum
from functools import cached_property
from typing import Final, NamedTuple, Self
from uuid import UUID

import msgspec
import orjson

from mcpyard.domain.narrowing import object_of
from mcpyard.yard.calls.attribution import Attribution, attribute
from mcpyard.yard.calls.parts import Part, Text, read_parts

_SAFE_DIGITS: Final = 18


class ErrorKind(StrEnum):
    """The kind of a failure, by which an agent can decide to retry or use another tool."""

    VALIDATION = "validation"
    TIMEOUT = "timeout"
    DISCONNECTED = "disconnected"
    TOOL = "tool"
    PROTOCOL = "protocol"
    REFUSED = "refused"


class PassedOver(NamedTuple):
    """A server that was skipped, and why."""

    server: str
    why: str


class Outcome(msgspec.Struct, frozen=True, dict=True):
    """The outcome of a tool call.

    Attributes:
        raw: The result object as received, in bytes.
        server: The name of the server that answered; `own` for a function of the application.
        tool: The tool, by the server's own name for it.
        ms: The duration of the call, in milliseconds.
        passed_over: The servers that were skipped before, in order, with the reasons.
        fault: The kind of the error, if the call itself failed.
        server_id: The id of the server, if it runs in this process.
    """

    raw: bytes
    server: str
    tool: str
    ms: float
    passed_over: tuple[PassedOver, ...] = ()
    fault: ErrorKind | None = None
    server_id: UUID | None = None

    @classmethod
    def failed(  # noqa: PLR0913  one a part of an outcome
        cls,
        kind: ErrorKind,
        message: str,
        *,
        server: str,
        tool: str,
        ms: float = 0.0,
        passed_over: Iterable[PassedOver] = (),
    ) -> Self:
        """The outcome of a call that no server answered: an error result."""
        # Half a character in a server's words must not cost the outcome.
        text = message.encode("utf-8", "replace").decode()
        result = {"content": [{"type": "text", "text": text}], "isError": True}
        return cls(orjson.dumps(result), server, tool, ms, tuple(passed_over), kind)

    @cached_property
    def result(self) -> dict[str, object]:
        """The result object with all its members; a number that is too large is a string."""
        try:
            decoded = orjson.loads(self.raw)
        except orjson.JSONDecodeError:
            decoded = json.loads(self.raw, parse_int=_whole, parse_float=_real)
        return object_of(decoded)

    @property
    def is_error(self) -> bool:
        """Whether the call failed or the tool returned an error."""
        return self.fault is not None or self.result.get("isError") is True

    @property
    def error(self) -> ErrorKind | None:
        """The kind of the error; None if there is none."""
        return self.fault or (ErrorKind.TOOL if self.is_error else None)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the result, in order."""
        return read_parts(self.result.get("content"))

    @property
    def text(self) -> str:
        """The text parts of the result, joined by line breaks."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def structured(self) -> object | None:
        """The structured content; None if there is none."""
        return self.result.get("structuredContent")

    @cached_property
    def attribution(self) -> Attribution:
        """The source and the age of the result."""
        return attribute(self.result, self.server)

    def to_dict(self) -> dict[str, object]:
        """Return the outcome as a dictionary, in the format of the REST API."""
        yard: dict[str, object] = {
            "server": self.server,
            "tool": self.tool,
            "ms": round(self.ms, 3),
            "attribution": self.attribution.to_dict(),
            "tried": [*dict.fromkeys([*(each.server for each in self.passed_over), self.server])],
        }
        if self.passed_over:
            yard["passedOver"] = [each._asdict() for each in self.passed_over]
        if self.error:
            yard["error"] = str(self.error)
        return {**self.result, "yard": yard}


def _whole(digits: str) -> int | str:
    return int(digits) if len(digits) <= _SAFE_DIGITS else digits


def _real(digits: str) -> float | str:
    value = float(digits)
    return value if math.isfinite(value) else digits
