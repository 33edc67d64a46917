"""A server made with the official SDK, run as a child over pipes: `python oracle.py`."""

import asyncio
import os

from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

server = MCPServer("oracle", instructions="ask me")
state = {"cancelled": 0}


class Sure(BaseModel):
    sure: bool


@server.tool()
def echo(text: str) -> str:
    return text


@server.tool()
async def wait() -> str:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        state["cancelled"] += 1
        raise
    return "never"


@server.tool()
def cancelled() -> int:
    return state["cancelled"]


@server.tool()
async def steps(ctx: Context) -> str:
    for step in range(3):
        await ctx.report_progress(step, 3, f"step {step}")
    return "done"


@server.tool()
async def change(ctx: Context) -> str:
    await ctx.notify_tools_changed()
    return "changed"


@server.tool()
async def confirm(ctx: Context) -> str:
    answer = await ctx.elicit("sure?", Sure)
    return f"{answer.action}: {answer.data.sure if answer.action == 'accept' else None}"


@server.tool()
def die() -> None:
    os._exit(7)


if __name__ == "__main__":
    server.run("stdio")
