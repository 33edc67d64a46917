"""A yard over fakes, for as long as a block lasts."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcpyard.yard.yard import YardCore


@asynccontextmanager
async def begun(yard: YardCore) -> AsyncGenerator[YardCore]:
    await yard.begin()
    try:
        yield yard
    finally:
        await yard.close()
