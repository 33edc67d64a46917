"""The route of the document."""

from functools import cache

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.api.openapi.document import document
from mcpyard.api.responses import JSON, encode


async def openapi(_request: Request) -> Response:
    """The OpenAPI document."""
    return Response(_encoded(), media_type=JSON)


@cache
def _encoded() -> bytes:
    return encode(document())
