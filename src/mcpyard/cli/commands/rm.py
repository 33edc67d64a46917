"""`mcpyard rm`: a server is stopped and its definition removed, after a confirmation."""

import json
import sys
from pathlib import Path

from mcpyard.cli.cli_errors import EXIT_FAILED
from mcpyard.cli.confirmation import confirm
from mcpyard.cli.output import clean
from mcpyard.cli.printing import JsonObject, decode_object
from mcpyard.cli.status_words import is_up, status_word
from mcpyard.client.discovery import need_yard, server_path


def remove_server(home: Path, name: str, *, yes: bool, as_json: bool) -> int:
    """Remove a server from the document that defines it, and stop it if it runs."""
    yard = need_yard(home)
    record = decode_object(yard.get(server_path(name)))
    if not yes and not confirm(removal_of(record)):
        print("nothing removed", file=sys.stderr)
        return EXIT_FAILED
    # By its id: the name could have passed to another server during the question.
    yard.delete(server_path(str(record["id"])))
    if as_json:
        print(json.dumps({"removed": {key: record[key] for key in ("id", "name", "scope")}}))
    else:
        print(f"removed {clean(str(record['name']))}")
    return 0


def removal_of(record: JsonObject) -> str:
    """What the removal of a server means."""
    name, scope = clean(str(record["name"])), record["scope"]
    pid = f", pid {record['pid']}" if record["pid"] else ""
    end = f"({status_word(record)}{pid}) will be stopped" if is_up(record) else "is not running"
    return f'"{name}" {end}; its definition in the {scope} scope will be removed'
