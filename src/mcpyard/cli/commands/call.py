"""`mcpyard call`: one call of one tool."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from mcpyard.cli.call_arguments import read_pairs, typed_arguments
from mcpyard.cli.cli_errors import usage
from mcpyard.cli.definition_options import parse_object
from mcpyard.cli.output import clean, one_line
from mcpyard.cli.printing import JsonObject, decode_object, decode_objects, note_unused
from mcpyard.client.discovery import RunningYard, find_yard, segment, server_path
from mcpyard.domain.edges import EXIT_TOOL_ERROR
from mcpyard.domain.errors import ToolUnknown
from mcpyard.domain.narrowing import list_of, object_of

if TYPE_CHECKING:
    from mcpyard.cli.known_servers import KnownServers
    from mcpyard.domain.desired import DesiredServer

_QUOTING: Final = 'in single quotes, for example: --args \'{"city": "Oslo"}\''


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call, as the command line describes it; without a server, `tool` is an exposed name.

    The `pairs` of `KEY=VALUE` words go over the arguments of `--args`; the timeout is in
    milliseconds.
    """

    tool: str
    server: str | None = None
    arguments: Mapping[str, object] = field(default_factory=dict[str, object])
    pairs: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout: int | None = None

    def arguments_for(self, schema: object) -> dict[str, object]:
        """All arguments, as the schema of the tool wants them."""
        return {**self.arguments, **typed_arguments(self.pairs, schema)}


def read_call(words: Sequence[str], args: str, timeout: int | None) -> ToolCall:
    """The call that the words and options of a command line describe."""
    first, *rest = words
    names_server = bool(rest) and "=" not in rest[0]
    server, tool = (first, rest.pop(0)) if names_server else (None, first)
    if timeout is not None and timeout <= 0:
        raise usage("--timeout must be greater than 0", "for 30 seconds: --timeout 30000")
    arguments = parse_object("--args", args, _QUOTING, _loads)
    return ToolCall(tool, server, arguments, read_pairs(rest), timeout)


def call_tool(home: Path, project: Path | None, call: ToolCall, *, as_json: bool) -> int:
    """Call a tool and print its result."""
    yard = find_yard(home)
    if yard:
        note_unused(project)
        return _print(_call_running(yard, call), as_json=as_json)
    from mcpyard.cli.private import run_privately

    return _print(run_privately(_call_private(home, project, call)), as_json=as_json)


def _call_running(yard: RunningYard, call: ToolCall) -> JsonObject:
    name, schema = call.tool, None
    if call.server is not None or call.pairs:
        path = server_path(call.server, "tools") if call.server is not None else "/api/mcp/tools"
        tool = _find(decode_objects(yard.get(path)), call)
        name, schema = str(tool["exposedName"]), tool["inputSchema"]
    body: dict[str, object] = {"arguments": call.arguments_for(schema)}
    if call.timeout is not None:
        body["timeoutMs"] = call.timeout
    return decode_object(yard.post(f"/api/mcp/tools/{segment(name)}/call", body))


def _find(tools: Sequence[JsonObject], call: ToolCall) -> JsonObject:
    """The tool that is called, among those of its server or of all."""
    exposed = (each for each in tools if each["exposedName"] == call.tool)
    own = (each for each in tools if call.server is not None and each["name"] == call.tool)
    tool = next(own, None) or next(exposed, None)
    if tool is None:
        raise _unknown(call)
    return tool


def _unknown(call: ToolCall) -> ToolUnknown:
    where = f'the server "{call.server[:80]}" has' if call.server is not None else "there is"
    return ToolUnknown(f'{where} no tool "{call.tool[:80]}"')


def _loads(text: str) -> object:
    """What `--args` holds; only what can be sent."""
    arguments = json.loads(text, parse_constant=_refuse_constant)
    json.dumps(arguments, ensure_ascii=False).encode()
    return arguments


def _refuse_constant(word: str) -> NoReturn:
    raise usage(f"--args is not JSON: {word} is not a JSON number", _QUOTING)


async def _call_private(home: Path, project: Path | None, call: ToolCall) -> JsonObject:
    from mcpyard.cli.known_servers import find_known
    from mcpyard.cli.private import allowed, came_up, match, private_yard

    servers = find_known(home, project)
    for server in _candidates(servers, call):
        async with private_yard(allowed(servers, server)) as yard:
            await came_up(yard, server)
            tools = yard.tools(server.name)
            name = match(tools, call.tool) if call.server is None else None
            tool = next((each for each in tools if each.exposed_name == name), None)
            if tool is None and call.server is not None:
                chosen = _find([each.to_dict() for each in tools], call)
                tool = next(each for each in tools if each.exposed_name == chosen["exposedName"])
            if tool:
                seconds = None if call.timeout is None else call.timeout / 1000
                arguments = call.arguments_for(tool.input_schema)
                outcome = await yard.call(tool.exposed_name, arguments, timeout=seconds)
                return outcome.to_dict()
    raise _unknown(call)


def _candidates(servers: "KnownServers", call: ToolCall) -> "list[DesiredServer]":
    """The servers that may have the tool."""
    from mcpyard.cli.private import owners

    if call.server is not None:
        return [servers.server(call.server)]
    return owners(servers.servers.values(), call.tool)


def _print(outcome: JsonObject, *, as_json: bool) -> int:
    if as_json:
        print(json.dumps(outcome))
    else:
        print_content(outcome)
    return EXIT_TOOL_ERROR if outcome.get("isError") is True else 0


def print_content(outcome: JsonObject) -> None:
    """Print what a tool returned, for a terminal."""
    for block in list_of(outcome.get("content")):
        part = object_of(block)
        if isinstance(part.get("text"), str):
            print(clean(str(part["text"])))
        else:
            kind = one_line(str(part.get("type", "content")))
            print(f"[{kind[:80]}] {json.dumps(part)[:200]}")
