"""`mcpyard call`: one call of one tool."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn, cast

from mcpyard.cli.cli_errors import usage
from mcpyard.cli.listing import note_unused
from mcpyard.cli.output import clean
from mcpyard.cli.remote import find_yard, segment
from mcpyard.domain.errors import EXIT_TOOL_ERROR

_QUOTING: Final = 'for example, in single quotes against the shell: --args \'{"city": "Oslo"}\''


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What to call, with what, and for how many milliseconds at most."""

    tool: str
    arguments: dict[str, object]
    timeout: int | None = None


def call_tool(home: Path, project: Path | None, asked: ToolCall, *, as_json: bool) -> int:
    """Call a tool and print what it answered."""
    yard = find_yard(home)
    if yard:
        note_unused(project)
        body: dict[str, object] = {"arguments": asked.arguments}
        if asked.timeout is not None:
            body["timeoutMs"] = asked.timeout
        raw = yard.post(f"/api/mcp/tools/{segment(asked.tool)}/call", body)
        return _print(json.loads(raw), as_json=as_json)
    from mcpyard.cli.private import run_privately

    return _print(run_privately(_call(home, project, asked)), as_json=as_json)


def read_arguments(text: str) -> dict[str, object]:
    """The arguments out of `--args`, or a complaint that names the position."""
    try:
        arguments = json.loads(text, parse_constant=_refuse_constant)
        json.dumps(arguments, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise usage(f"--args is not JSON: {error.msg} at {where}", _QUOTING) from None
    except RecursionError:
        raise usage("--args is nested too deeply", _QUOTING) from None
    except UnicodeEncodeError:
        raise usage("--args contains invalid Unicode (a lone surrogate)", _QUOTING) from None
    if not isinstance(arguments, dict):
        raise usage("--args must be a JSON object", _QUOTING)
    return cast("dict[str, object]", arguments)


def check_timeout(milliseconds: int | None) -> int | None:
    """The time limit, or a complaint."""
    if milliseconds is not None and milliseconds <= 0:
        raise usage("--timeout must be greater than 0", "for half a minute: --timeout 30000")
    return milliseconds


def _refuse_constant(word: str) -> NoReturn:
    raise usage(f"--args is not JSON: {word} is no JSON number", _QUOTING)


async def _call(home: Path, project: Path | None, asked: ToolCall) -> dict[str, object]:
    from mcpyard.cli.known_servers import find_known
    from mcpyard.cli.private import allowed, came_up, match, owners, private_yard
    from mcpyard.domain.errors import ToolUnknown

    found = find_known(home, project)
    for server in owners(found.servers.values(), asked.tool):
        async with private_yard(allowed(found, server)) as yard:
            await came_up(yard, server)
            name = match(yard.tools(server.name), asked.tool)
            if name:
                seconds = None if asked.timeout is None else asked.timeout / 1000
                return (await yard.call(name, asked.arguments, timeout=seconds)).to_dict()
    raise ToolUnknown(f'there is no tool "{asked.tool[:80]}"')


def _print(outcome: dict[str, object], *, as_json: bool) -> int:
    failed = outcome.get("isError") is True
    if as_json:
        print(json.dumps(outcome))
    else:
        _print_content(outcome)
    return EXIT_TOOL_ERROR if failed else 0


def _print_content(outcome: dict[str, object]) -> None:
    blocks = outcome.get("content")
    for block in cast("list[object]", blocks) if isinstance(blocks, list) else []:
        part = cast("dict[str, object]", block) if isinstance(block, dict) else {}
        if isinstance(part.get("text"), str):
            print(clean(str(part["text"])))
        else:
            print(f"[{part.get('type', 'content')}] {json.dumps(part)[:200]}")
