"""`mcpyard add` and `mcpyard edit`: what a server should be, said on the command line."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, cast

from mcpyard.cli.cli_errors import usage
from mcpyard.cli.commands.ls import print_raw, print_warnings
from mcpyard.cli.definition_options import DefinitionOptions, exclusive, read_object, typed
from mcpyard.cli.output import clean
from mcpyard.cli.remote import need_yard, server_path
from mcpyard.cli.status_words import lamp, print_trouble, reason
from mcpyard.domain.errors import EXIT_TIMEOUT, EXIT_UNREACHABLE

_SHAPES: Final = "add NAME URL, add NAME -- COMMAND ARGS..., or add --json-text JSON"

Record = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Addition:
    """What `add` was asked for besides the definition.

    Attributes:
        name: The server's name; None where the JSON text brings it.
        json_text: A definition as JSON, or `-` for standard input.
        scope: Where it should live; None for the yard's default.
        start: Whether it should be started; None for the default of its scope.
        wait: Seconds to wait until it is connected or has failed.
    """

    name: str | None
    json_text: str | None = None
    scope: str | None = None
    start: bool | None = None
    wait: float = 0


@dataclass(frozen=True, slots=True)
class Alteration:
    """What `edit` was asked for besides the definition.

    Attributes:
        json_text: Further fields as JSON, or `-` for standard input.
        command: The program alone.
        args: The arguments alone.
        url: The address.
        new_name: Its new name.
        enabled: Whether it may run.
        digest: The digest of the record that is meant.
        when_running: What becomes of a server that runs.
        wait: Seconds to wait until it is connected or has failed.
    """

    json_text: str | None = None
    command: str | None = None
    args: Sequence[str] = ()
    url: str | None = None
    new_name: str | None = None
    enabled: bool | None = None
    digest: str | None = None
    when_running: Literal["restart", "refuse"] = "restart"
    wait: float = 0


def add_server(home: Path, addition: Addition, said: DefinitionOptions, *, as_json: bool) -> int:
    """Register a server, and print how it is then."""
    body = _body(addition, said)
    yard = need_yard(home)
    raw = yard.post(f"/api/mcp/servers?wait={addition.wait:g}", body)
    code = _tell(raw, "added", as_json=as_json, waited=addition.wait > 0)
    return EXIT_UNREACHABLE if addition.wait and _stays_down(raw, addition) else code


def edit_server(
    home: Path, name: str, change: Alteration, said: DefinitionOptions, *, as_json: bool
) -> int:
    """Change a server, and print how it is then."""
    patch = _patch(change, said)
    path = f"{server_path(name)}?when_running={change.when_running}"
    headers = {} if change.digest is None else {"If-Match": _tag(change.digest)}
    yard = need_yard(home)
    raw = yard.patch(f"{path}&wait={change.wait:g}", patch, headers)
    return _tell(raw, "changed", as_json=as_json, waited=change.wait > 0)


def _stays_down(raw: bytes, addition: Addition) -> bool:
    """Whether it was to be started and cannot be: it is disabled, or leads back to the yard."""
    record = cast("Record", json.loads(raw))
    wished = addition.start or (addition.start is None and bool(record["thisYard"]))
    return wished and record["status"] == "disconnected"


def _tag(digest: str) -> str:
    # An empty one, as of a variable that is not set, must not mean "whatever is there".
    if not (digest.isascii() and digest.isalnum()):
        raise usage("--if-match takes the digest of a record", "mcpyard show NAME --json tells it")
    return f'"{digest}"'


def _body(addition: Addition, said: DefinitionOptions) -> dict[str, object]:
    text = addition.json_text
    given = {} if text is None else read_object("--json-text", text)
    if "mcpServers" in given:
        raise usage("--json-text takes one definition", "for a whole document: mcpyard import")
    own = {"name": addition.name, "scope": addition.scope, "start": addition.start}
    fields = said.fields()
    for key in ("env", "headers", "oauth"):
        # Nothing is there yet that an empty value could remove.
        if key in fields:
            named = cast("dict[str, str | None]", fields[key])
            fields[key] = {name: value or "" for name, value in named.items()}
    if said.words:
        fields = typed(fields)
    body = given | fields | {key: value for key, value in own.items() if value is not None}
    if "name" not in body:
        raise usage("the server has no name", _SHAPES)
    if not given and not said.words:
        raise usage(f'"{addition.name}" has neither a command nor a url', _SHAPES)
    return body


def _patch(change: Alteration, said: DefinitionOptions) -> dict[str, object]:
    if said.words and (change.command or change.args or change.url):
        raise usage("what stands behind -- is the whole command already")
    named = {"command": change.command, "url": change.url, "name": change.new_name}
    text = change.json_text
    patch = {} if text is None else read_object("--json-text", text)
    patch |= said.fields() | {key: value for key, value in named.items() if value is not None}
    if change.args:
        patch["args"] = [*change.args]
    if change.enabled is not None:
        patch["enabled"] = change.enabled
    if said.cwd == "":
        patch["cwd"] = None
    if not patch:
        raise usage("nothing is said that should change", "mcpyard edit --help")
    return exclusive(patch)


def _tell(raw: bytes, done: str, *, as_json: bool, waited: bool) -> int:
    record = cast("Record", json.loads(raw))
    if as_json:
        print_raw(raw)
    else:
        _print(record, done)
    if not waited:
        return 0
    codes = {"error": EXIT_UNREACHABLE, "connecting": EXIT_TIMEOUT}
    return codes.get(str(record["status"]), 0)


def _print(record: Record, done: str) -> None:
    why, _ = reason(record)
    where = f"{done} {record['name']} ({record['scope']} scope)"
    print(clean(f"{where}: {lamp(record)}{f': {why}' if why else ''}"))
    print_trouble(record)
    print_warnings(record)
