"""What the routes answer with: JSON, and problems."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import orjson

from mcpyard.yard.views.base import encodable
from mcpyard.yard.views.problems import ProblemView

if TYPE_CHECKING:
    from starlette.responses import Response

JSON: Final = "application/json"
PROBLEM: Final = "application/problem+json"


def answer(
    content: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> "Response":
    """A plain JSON answer."""
    return _response(encode(content), status, headers, JSON)


def refuse(problem: ProblemView, headers: Mapping[str, str] | None = None) -> "Response":
    """A problem as an answer, with the status it names."""
    return _response(encode(problem), problem.status, headers, PROBLEM)


def _response(body: bytes, status: int, headers: Mapping[str, str] | None, kind: str) -> "Response":
    # The gateway, which is most of what is asked, has no use for Starlette.
    from starlette.responses import Response  # noqa: PLC0415

    return Response(body, status, headers, media_type=kind)


def encode(content: object) -> bytes:
    """JSON in bytes."""
    try:
        return orjson.dumps(content, default=encodable)
    except TypeError:
        # A server's schema may hold whole numbers of more than 64 bits, which orjson refuses.
        return json.dumps(content, default=encodable).encode()
