"""Work that is worth doing only while whoever asked for it is still there."""

import asyncio
from collections.abc import Coroutine
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

_NOBODY_READS_IT: Final = 499


async def while_asked(request: Request, work: Coroutine[object, object, Response]) -> Response:
    """The answer that some work gives; the work is given up when whoever asked is gone."""
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_left(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        return Response(status_code=_NOBODY_READS_IT)
    finally:
        working.cancel()
        leaving.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        """More of the body, which was read already."""
