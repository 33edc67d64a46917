"""`mcpyard add`: a server, defined on the command line."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mcpyard.cli.cli_errors import usage
from mcpyard.cli.definition_options import DefinitionOptions, read_object, typed
from mcpyard.cli.printing import decode_object, print_raw
from mcpyard.cli.status_words import print_status
from mcpyard.client.discovery import need_yard
from mcpyard.domain.edges import EXIT_TIMEOUT, EXIT_UNREACHABLE
from mcpyard.domain.narrowing import object_of

_FORMS: Final = (
    "mcpyard add NAME URL, mcpyard add NAME -- COMMAND ARGS..., or mcpyard add --json-text JSON"
)


@dataclass(frozen=True, slots=True)
class AddRequest:
    """What `add` takes besides the options of a definition; the JSON text may have the name."""

    name: str | None
    json_text: str | None = None
    scope: str | None = None
    start: bool | None = None
    wait: float = 0


def add_server(
    home: Path, request: AddRequest, options: DefinitionOptions, *, as_json: bool
) -> int:
    """Add a server, and print its status afterwards."""
    body = _body(request, options)
    yard = need_yard(home)
    raw = yard.post(f"/api/mcp/servers?wait={request.wait:g}", body)
    code = print_definition(raw, "added", as_json=as_json, waited=request.wait > 0)
    return EXIT_UNREACHABLE if request.wait and _stays_down(raw, request) else code


def _stays_down(raw: bytes, request: AddRequest) -> bool:
    """Whether it should start and cannot: it is disabled, or points back to this gateway."""
    record = decode_object(raw)
    should_start = request.start or (request.start is None and bool(record["thisYard"]))
    return should_start and record["status"] == "disconnected"


def _body(request: AddRequest, options: DefinitionOptions) -> dict[str, object]:
    text = request.json_text
    definition = {} if text is None else read_object("--json-text", text)
    if "mcpServers" in definition:
        raise usage("--json-text takes one definition", "for a whole document: mcpyard import")
    own = {"name": request.name, "scope": request.scope, "start": request.start}
    fields = options.fields()
    for key in ("env", "headers", "oauth"):
        # A new server has nothing that an empty value could remove.
        if key in fields:
            named = object_of(fields[key])
            fields[key] = {name: value or "" for name, value in named.items()}
    if options.command_line:
        fields = typed(fields)
    body = definition | fields | {key: value for key, value in own.items() if value is not None}
    if "name" not in body:
        raise usage("NAME is missing", _FORMS)
    if not definition and not options.command_line:
        raise usage(f'"{request.name}" has neither a command nor a URL', _FORMS)
    return body


def print_definition(raw: bytes, verb: str, *, as_json: bool, waited: bool) -> int:
    """Print a server that was added or changed; the exit code, once it was waited for."""
    record = decode_object(raw)
    if as_json:
        print_raw(raw)
    else:
        print_status(f"{verb} {record['name']} ({record['scope']} scope)", record)
    if not waited:
        return 0
    codes = {"error": EXIT_UNREACHABLE, "connecting": EXIT_TIMEOUT}
    return codes.get(str(record["status"]), 0)
