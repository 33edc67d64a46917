"""Servers for the duration of one command, while mcpyard is not running."""

import asyncio
import logging
import os
import re
import shlex
import sys
from collections.abc import AsyncGenerator, Collection, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Final, TypeVar

import uvloop

from mcpyard.app import WiredYard, open_yard
from mcpyard.catalog.names import MAX_NAME, slug
from mcpyard.cli.known_servers import KnownServers
from mcpyard.cli.output import clean
from mcpyard.cli.status_words import reason, status_word
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import (
    DefinitionError,
    Disabled,
    Disconnected,
    NeedsApproval,
    StartFailed,
    YardError,
)
from mcpyard.domain.model import Wanted
from mcpyard.domain.narrowing import object_of
from mcpyard.yard.views.servers import ServerView, ToolView

_T = TypeVar("_T")

_HASH: Final = re.compile(r"_[0-9a-f]{8}")
_HASH_LENGTH: Final = 9
_SERVER_VARIABLE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*_MCP_SERVER_URL")


def run_privately(work: Coroutine[object, object, _T]) -> _T:
    """Run the work of a command without a log: it prints progress and errors itself."""
    logging.getLogger("mcpyard").addHandler(logging.NullHandler())
    return uvloop.run(work)


@asynccontextmanager
async def private_yard(*servers: DesiredServer) -> AsyncGenerator[WiredYard]:
    """A yard that runs these servers only, and prints their progress on standard error."""
    # The servers of the environment would all be started.
    variables = {
        name: value for name, value in os.environ.items() if not _SERVER_VARIABLE.fullmatch(name)
    }
    configs = {
        each.name: each.config.model_copy(update={"wanted": Wanted.RUNNING}) for each in servers
    }
    async with open_yard(servers=configs, environment=variables) as yard:
        progress = asyncio.create_task(_print_progress(yard))
        try:
            yield yard
        finally:
            progress.cancel()


async def came_up(yard: WiredYard, server: DesiredServer) -> ServerView:
    """Wait for a server of a private yard; its record, once it is connected.

    Raises:
        Disabled: It is disabled.
        DefinitionError: Its definition cannot be launched.
        StartFailed: It failed to start.
    """
    if not server.config.enabled:
        raise Disabled(f'the server "{server.name}" is disabled').about(server.name)
    record = await settled_record(yard, server.name)
    if record.phase != "connected":
        raise failure(record)
    return record


async def settled_record(yard: WiredYard, name: str) -> ServerView:
    """The record of a server that is connected, has failed, or timed out once.

    A command does not wait for the retries of a server that does not answer.
    """
    tasks = {asyncio.create_task(each) for each in (yard.settled(name), _silent(yard, name))}
    done, others = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for each in others:
        each.cancel()
    return done.pop().result()


async def _silent(yard: WiredYard, name: str) -> ServerView:
    async for event in yard.events(after=0):
        error = object_of(event.data.get("error"))
        if event.data.get("name") == name and error.get("code") == Code.START_TIMEOUT:
            break
    return yard.record(name)


def failure(server: ServerView) -> YardError:
    """Why a server is not connected, as an error."""
    error, name = server.error, server.name
    message = f'the server "{name}" is not connected: {error.message if error else "stopped"}'
    if error is None:
        return StartFailed(message).about(name)
    if error.code is Code.INVALID_DEFINITION:
        return DefinitionError(message).advising(error.hint)
    cause = Cause(error.code, error.message, error.hint, tuple(error.stderr))
    return StartFailed(message).because(cause).about(name)


def allowed(definitions: KnownServers, server: DesiredServer) -> DesiredServer:
    """A server that may be started.

    Raises:
        NeedsApproval: Its entry in a project file is not approved.
        Disconnected: The user stopped it.
    """
    if server.held:
        raise NeedsApproval(
            f'"{server.name}" in {definitions.path} needs your approval; '
            f"approve it: mcpyard approve {shlex.quote(str(definitions.path.parent))}"
        )
    if _stays_stopped(server):
        raise Disconnected(
            f'the server "{server.name}" is stopped; start mcpyard (mcpyard up), '
            f"then the server: mcpyard start {shlex.quote(server.name)}"
        ).about(server.name)
    return server


def startable(definitions: KnownServers) -> list[DesiredServer]:
    """The servers that are enabled and approved; prints a note about the others."""
    enabled = [
        each
        for each in definitions.servers.values()
        if each.config.enabled and not _stays_stopped(each)
    ]
    servers = [each for each in enabled if not each.held]
    unapproved = [each for each in enabled if each.held]
    if unapproved and not servers:
        allowed(definitions, unapproved[0])
    for each in unapproved:
        print(f"not started: {clean(each.name)} needs your approval", file=sys.stderr)
    return servers


def _stays_stopped(server: DesiredServer) -> bool:
    """Whether the user stopped it, or imported it and never started it."""
    return server.wanted is Wanted.STOPPED and server.config.enabled and not server.this_yard


def owners(servers: Collection[DesiredServer], exposed: str) -> list[DesiredServer]:
    """The servers a tool of that exposed name may belong to, the likeliest first."""
    prefixes = {each.name: f"mcp_{slug(each.name)}_"[: MAX_NAME - _HASH_LENGTH] for each in servers}
    fitting = [each for each in servers if exposed.startswith(prefixes[each.name])]
    return sorted(fitting, key=lambda each: -len(prefixes[each.name]))


def match(tools: Iterable[ToolView], exposed: str) -> str | None:
    """The exposed name, in a private yard, of the tool with an exposed name from another.

    A long name is cut and ends with a hash of the server's id, which differs between yards.
    """
    names = [each.exposed_name for each in tools]
    if exposed in names:
        return exposed
    stem = exposed[:-_HASH_LENGTH]
    if len(exposed) != MAX_NAME or not _HASH.fullmatch(exposed[-_HASH_LENGTH:]):
        return None
    alike = [each for each in names if len(each) == MAX_NAME and each[:-_HASH_LENGTH] == stem]
    return alike[0] if len(alike) == 1 else None


async def _print_progress(yard: WiredYard) -> None:
    last: dict[object, str] = {}
    async for event in yard.events(after=0):
        if event.kind == "status":
            text = _progress(event.data)
            if last.get(event.data["id"]) != text:
                last[event.data["id"]] = text
                print(text, file=sys.stderr, flush=True)


def _progress(data: Mapping[str, object]) -> str:
    why = reason(data)[0]
    return clean(f"{data['name']}: {status_word(data)}{f' ({why})' if why else ''}")
