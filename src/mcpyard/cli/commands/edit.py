"""`mcpyard edit`: a server's definition, changed from the command line."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mcpyard.cli.cli_errors import usage
from mcpyard.cli.commands.add import print_definition
from mcpyard.cli.definition_options import DefinitionOptions, exclusive, read_object
from mcpyard.client.discovery import need_yard, server_path


@dataclass(frozen=True, slots=True)
class EditRequest:
    """What `edit` changes besides the options of a definition, if `digest` still fits."""

    json_text: str | None = None
    command: str | None = None
    args: Sequence[str] = ()
    url: str | None = None
    new_name: str | None = None
    enabled: bool | None = None
    digest: str | None = None
    when_running: Literal["restart", "refuse"] = "restart"
    wait: float = 0


def edit_server(
    home: Path, name: str, request: EditRequest, options: DefinitionOptions, *, as_json: bool
) -> int:
    """Change a server, and print its status afterwards."""
    patch = exclusive(patch_of(request, options, "mcpyard edit"))
    path = f"{server_path(name)}?when_running={request.when_running}"
    headers = {} if request.digest is None else {"If-Match": _tag(request.digest)}
    yard = need_yard(home)
    raw = yard.patch(f"{path}&wait={request.wait:g}", patch, headers)
    return print_definition(raw, "changed", as_json=as_json, waited=request.wait > 0)


def _tag(digest: str) -> str:
    # An empty one, as of a variable that is not set, must not match every state.
    if not (digest.isascii() and digest.isalnum()):
        raise usage("--if-match takes the digest of a record", "see: mcpyard show NAME --json")
    return f'"{digest}"'


def patch_of(request: EditRequest, options: DefinitionOptions, command: str) -> dict[str, object]:
    """The change that the options of a command ask for, as a merge patch."""
    if options.command_line and (request.command or request.args or request.url):
        raise usage("-- COMMAND replaces the whole command; leave out --command, --arg and --url")
    named = {"command": request.command, "url": request.url, "name": request.new_name}
    text = request.json_text
    patch = {} if text is None else read_object("--json-text", text)
    patch |= options.fields() | {key: value for key, value in named.items() if value is not None}
    if request.args:
        patch["args"] = [*request.args]
    if request.enabled is not None:
        patch["enabled"] = request.enabled
    if options.cwd == "":
        patch["cwd"] = None
    if not patch:
        raise usage("nothing to change", f"see the options: {command} --help")
    return patch
