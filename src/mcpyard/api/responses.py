"""What the routes answer with: JSON, and problems."""

import json
from collections.abc import Mapping
from typing import Final

import orjson
from starlette.responses import Response

from mcpyard.yard.views.base import encodable
from mcpyard.yard.views.problems import ProblemView

JSON: Final = "application/json"
PROBLEM: Final = "application/problem+json"


def answer(
    content: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A plain JSON answer."""
    return Response(encode(content), status, headers, media_type=JSON)


def refuse(problem: ProblemView, headers: Mapping[str, str] | None = None) -> Response:
    """A problem as an answer, with the status it names."""
    return Response(encode(problem), problem.status, headers, media_type=PROBLEM)


def encode(content: object) -> bytes:
    """JSON in bytes."""
    try:
        return orjson.dumps(content, default=encodable)
    except TypeError:
        # A server's schema may hold whole numbers of more than 64 bits, which orjson refuses.
        return json.dumps(content, default=encodable).encode()
