"""`mcpyard copy`: servers of one client, translated for others."""

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mcpyard.cli.cli_errors import usage
from mcpyard.cli.client_servers import folder_of, reach
from mcpyard.cli.output import clean
from mcpyard.cli.printing import JsonObject
from mcpyard.domain.edges import EXIT_USAGE

_LOSES_NOTHING: Final = "info"


@dataclass(frozen=True, slots=True)
class CopyRequest:
    """What to copy, and how, as it was typed."""

    source: str
    targets: Sequence[str]
    names: Sequence[str]
    everything: bool
    new_name: str | None
    matrix: str
    replace: bool
    move: bool
    dry_run: bool
    unverified: bool


def copy_servers(
    home: Path, project: Path | None, request: CopyRequest, *, show_secrets: bool, as_json: bool
) -> int:
    """Copy one server or several as the API is asked to, and print what changed."""
    if bool(request.names) is request.everything:
        raise usage("copy takes names of servers, or --all", "mcpyard copy --from A --to B NAME")
    body: dict[str, object] = {
        "from": request.source,
        "matrix": request.matrix,
        "replace": request.replace,
        "move": request.move,
        "dryRun": request.dry_run,
        "unverified": request.unverified,
        "project": folder_of(project),
    }
    every_warning = request.matrix == "spec"
    if len(request.names) == len(request.targets) == 1:
        [name], [target] = request.names, request.targets
        body |= {"name": name, "to": target, "newName": request.new_name}
        edit = reach(
            home,
            project,
            lambda servers: servers.copy(body, show_secrets=show_secrets),
            writes=True,
        )
        return print_edit(edit, as_json=as_json, every_warning=every_warning)
    if request.new_name is not None:
        raise usage("--name takes one server and one client", "copy the others without --name")
    names = None if request.everything else [*request.names]
    body |= {"names": names, "to": [*request.targets]}
    copies = reach(
        home,
        project,
        lambda servers: servers.copy_many(body, show_secrets=show_secrets),
        writes=True,
    )
    return _print_copies(copies, as_json=as_json, every_warning=every_warning)


def _print_copies(done: JsonObject, *, as_json: bool, every_warning: bool) -> int:
    """Print several copies; what was not copied fails the command."""
    refused = [each for each in done["copies"] if each["refused"] is not None]
    if as_json:
        print(json.dumps(done))
        return EXIT_USAGE if refused else 0
    for file in done["files"]:
        print(clean(file["diff"]), end="")
    if not done["files"]:
        print("nothing to change", file=sys.stderr)
    for each in done["copies"]:
        where = f"{each['name']} to {each['to']}: "
        print_warnings(each["warnings"], where, every_warning=every_warning)
    print_warnings(done["warnings"])
    for each in refused:
        line = f"not copied: {each['name']} to {each['to']}: {each['refused']}"
        print(clean(line), file=sys.stderr)
    return EXIT_USAGE if refused else 0


def print_edit(edit: JsonObject, *, as_json: bool, every_warning: bool = False) -> int:
    """Print an edit, done or previewed; on request with the warnings about no loss."""
    if as_json:
        print(json.dumps(edit))
        return 0
    for file in edit["files"]:
        print(clean(file["diff"]), end="")
    if not edit["files"]:
        print("nothing to change", file=sys.stderr)
    print_warnings(edit["warnings"], every_warning=every_warning)
    return 0


def print_warnings(
    warnings: Iterable[JsonObject], where: str = "", *, every_warning: bool = False
) -> None:
    """Print warnings, on request also those about fields that lose nothing."""
    for warning in warnings:
        if every_warning or warning["kind"] != _LOSES_NOTHING or not warning["field"]:
            field = f"{warning['field']}: " if warning["field"] else ""
            line = f"{warning['kind']}: {where}{field}{warning['message']}"
            print(clean(line), file=sys.stderr)
