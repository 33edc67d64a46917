"""`mcpyard prompts` and `mcpyard resources`: what servers have beside tools."""

import base64
import binascii
import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from mcpyard.cli.cli_errors import complain, usage
from mcpyard.cli.output import clean, one_line, table
from mcpyard.cli.printing import JsonObject, decode_object, decode_objects, note_unused
from mcpyard.client.discovery import RunningYard, find_yard, server_path
from mcpyard.domain.narrowing import list_of, object_of

if TYPE_CHECKING:
    from mcpyard.yard.content_access import ContentAccess
    from mcpyard.yard.views.base import View

Lists = Sequence[str]
"""The lists of a server that are asked for, as the last part of their addresses."""

PROMPTS: Final = ("prompts",)
RESOURCES: Final = ("resources", "resources/templates")

_WHO: Final = "cli"
_Ask = Callable[["ContentAccess", str], Awaitable[JsonObject]]


def list_prompts(home: Path, project: Path | None, server: str | None, *, as_json: bool) -> int:
    """Print the prompts of one server or of all."""
    prompts, code = _listed(home, project, server, PROMPTS)
    if as_json:
        print(json.dumps(prompts))
        return code
    rows = [
        (
            clean(str(each["name"])),
            clean(str(each["server"])),
            " ".join(_argument(object_of(one)) for one in list_of(each["arguments"])),
            one_line(str(each["description"] or each["title"] or "")),
        )
        for each in prompts
    ]
    _print_table(("PROMPT", "SERVER", "ARGUMENTS", "DESCRIPTION"), rows, "no prompts")
    return code


def list_resources(home: Path, project: Path | None, server: str | None, *, as_json: bool) -> int:
    """Print the resources and resource templates of one server or of all."""
    resources, code = _listed(home, project, server, RESOURCES)
    if as_json:
        print(json.dumps(resources))
        return code
    rows = [
        (
            clean(str(each.get("uri") or each.get("uriTemplate"))),
            clean(str(each["server"])),
            clean(str(each["mimeType"] or "")) + (" (template)" if "uriTemplate" in each else ""),
            one_line(str(each["title"] or each["name"])),
        )
        for each in resources
    ]
    _print_table(("URI", "SERVER", "TYPE", "NAME"), rows, "no resources")
    return code


def get_prompt(  # noqa: PLR0913, PLR0917  one parameter a word or an option
    home: Path,
    project: Path | None,
    server: str,
    name: str,
    arguments: Mapping[str, str],
    as_json: bool,
) -> int:
    """Fill in a prompt and print its messages."""

    async def ask(access: "ContentAccess", ref: str) -> JsonObject:
        return as_object(await access.prompt(ref, name, arguments))

    path = server_path(server, "prompts", name, "get")
    yard = find_yard(home)
    if yard:
        note_unused(project)
        prompt = decode_object(yard.post(path, {"arguments": dict(arguments)}))
    else:
        prompt = _ask_privately(home, project, server, ask)
    if as_json:
        print(json.dumps(prompt))
        return 0
    for each in map(object_of, list_of(prompt["messages"])):
        print(f"{one_line(str(each.get('role')))}: {_shown(object_of(each.get('content')))}")
    return 0


def read_resource(  # noqa: PLR0913, PLR0917  one parameter a word or an option
    home: Path,
    project: Path | None,
    server: str,
    uri: str,
    output: Path | None,
    as_json: bool,
) -> int:
    """Read a resource and print it, or write it to a file."""

    async def ask(access: "ContentAccess", ref: str) -> JsonObject:
        return as_object(await access.read(ref, uri))

    yard = find_yard(home)
    if yard:
        note_unused(project)
        path = server_path(server, "resources", "read")
        contents = decode_object(yard.get(f"{path}?uri={quote(uri, safe='')}"))
    else:
        contents = _ask_privately(home, project, server, ask)
    parts = [object_of(each) for each in list_of(contents["contents"])]
    if output is not None:
        output.write_bytes(b"".join(map(_bytes, parts)))
    elif as_json:
        print(json.dumps(contents))
    else:
        for each in parts:
            print(_shown(each))
    return 0


def _listed(
    home: Path, project: Path | None, server: str | None, lists: Lists
) -> tuple[list[JsonObject], int]:
    yard = find_yard(home)
    if yard:
        note_unused(project)
        names = [server] if server is not None else _connected(yard)
        paths = [server_path(name, *each.split("/")) for name in names for each in lists]
        return [item for path in paths for item in decode_objects(yard.get(path))], 0
    from mcpyard.cli.private import run_privately

    return run_privately(_list_privately(home, project, server, lists))


def _connected(yard: RunningYard) -> list[str]:
    servers = decode_objects(yard.get("/api/mcp/servers?tools=0"))
    return [str(each["id"]) for each in servers if each["status"] == "connected"]


async def _list_privately(
    home: Path, project: Path | None, name: str | None, lists: Lists
) -> tuple[list[JsonObject], int]:
    from mcpyard.cli.known_servers import find_known
    from mcpyard.cli.private import allowed, came_up, private_yard, startable
    from mcpyard.domain.errors import YardError
    from mcpyard.yard.content_access import ContentAccess

    definitions = find_known(home, project)
    alone = name is not None
    servers = (
        [allowed(definitions, definitions.server(name))]
        if name is not None
        else startable(definitions)
    )
    items: list[JsonObject] = []
    code = 0
    async with private_yard(*servers) as yard:
        access = ContentAccess(yard, _WHO)
        for server in servers:
            try:
                await came_up(yard, server)
                items += [
                    as_object(each)
                    for part in lists
                    for each in await _list(access, server.name, part)
                ]
            except YardError as error:
                if alone:
                    raise
                code = max(code, complain(error, as_json=False))
    return items, code


async def _list(access: "ContentAccess", ref: str, part: str) -> Sequence["View"]:
    ways = {
        "prompts": access.prompts,
        "resources": access.resources,
        "resources/templates": access.templates,
    }
    return await ways[part](ref)


def _ask_privately(home: Path, project: Path | None, name: str, ask: _Ask) -> JsonObject:
    from mcpyard.cli.private import run_privately

    return run_privately(_ask_one(home, project, name, ask))


async def _ask_one(home: Path, project: Path | None, name: str, ask: _Ask) -> JsonObject:
    from mcpyard.cli.known_servers import find_known
    from mcpyard.cli.private import allowed, came_up, private_yard
    from mcpyard.yard.content_access import ContentAccess

    definitions = find_known(home, project)
    server = allowed(definitions, definitions.server(name))
    async with private_yard(server) as yard:
        await came_up(yard, server)
        return await ask(ContentAccess(yard, _WHO), server.name)


def _print_table(head: Sequence[str], rows: Sequence[Sequence[str]], none: str) -> None:
    if rows:
        table(head, rows)
    else:
        print(none, file=sys.stderr)


def _argument(argument: JsonObject) -> str:
    name = one_line(str(argument.get("name", "")))
    return name if argument.get("required") else f"[{name}]"


def _shown(part: JsonObject) -> str:
    """A part of a prompt or a resource, for a terminal."""
    if isinstance(part.get("text"), str):
        return clean(str(part["text"]))
    inner = object_of(part.get("resource"))
    if isinstance(inner.get("text"), str):
        return clean(str(inner["text"]))
    kind = part.get("mimeType") or inner.get("mimeType") or part.get("type") or "data"
    size = len(_bytes(inner or part))
    return f"[{one_line(str(kind))[:80]}, {size} B; --json or --output shows all of it]"


def _bytes(part: JsonObject) -> bytes:
    if isinstance(part.get("text"), str):
        return str(part["text"]).encode()
    try:
        return base64.b64decode(str(part.get("blob") or part.get("data") or ""))
    except binascii.Error:
        return b""


def as_object(view: "View") -> JsonObject:
    """A view as REST answers with it."""
    from mcpyard.api.responses import encode

    return decode_object(encode(view))


def split_words(
    words: Sequence[str], verb: str, example: str
) -> tuple[str | None, tuple[str, str] | None]:
    """The server whose list is asked for, or the server and the thing that a verb names."""
    match words:
        case []:
            return None, None
        case [server]:
            return server, None
        case [first, server, thing] if first == verb:
            return None, (server, thing)
        case _:
            raise usage("unexpected words: " + " ".join(words)[:80], example)
