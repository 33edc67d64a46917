"""`mcpyard copy`: a server of one client, translated for another."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mcpyard.cli.client_servers import folder_of, reach
from mcpyard.cli.output import clean
from mcpyard.cli.printing import JsonObject

_LOSES_NOTHING: Final = "info"


def copy_server(
    home: Path,
    project: Path | None,
    request: Mapping[str, object],
    *,
    show_secrets: bool,
    as_json: bool,
) -> int:
    """Copy a server as the API is asked to, and print what changed."""
    body = {**request, "project": folder_of(project)}
    edit = reach(
        home, project, lambda servers: servers.copy(body, show_secrets=show_secrets), writes=True
    )
    return print_edit(edit, as_json=as_json, every_warning=request["matrix"] == "spec")


def print_edit(edit: JsonObject, *, as_json: bool, every_warning: bool = False) -> int:
    """Print an edit, done or previewed; on request with the warnings about no loss."""
    if as_json:
        print(json.dumps(edit))
        return 0
    for file in edit["files"]:
        print(clean(file["diff"]), end="")
    if not edit["files"]:
        print("nothing to change", file=sys.stderr)
    for warning in edit["warnings"]:
        if every_warning or warning["kind"] != _LOSES_NOTHING:
            field = f"{warning['field']}: " if warning["field"] else ""
            print(clean(f"{warning['kind']}: {field}{warning['message']}"), file=sys.stderr)
    return 0
