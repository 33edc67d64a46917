"""`mcpyard rm`: a server is taken out, after a word about what that stops."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from mcpyard.cli.cli_errors import EXIT_FAILED, usage
from mcpyard.cli.output import clean
from mcpyard.cli.remote import need_yard, server_path
from mcpyard.cli.status_words import is_up, lamp

Record = Mapping[str, object]


def remove_server(home: Path, name: str, *, sure: bool, as_json: bool) -> int:
    """Take a server out of the document that holds it, and stop it if it runs."""
    yard = need_yard(home)
    record = cast("Record", json.loads(yard.get(server_path(name))))
    if not sure and not agreed(outlook_of(record)):
        print("nothing was removed", file=sys.stderr)
        return EXIT_FAILED
    # By its id: the name could have passed to another one while a person thought about it.
    yard.delete(server_path(str(record["id"])))
    if as_json:
        print(json.dumps({"removed": {key: record[key] for key in ("id", "name", "scope")}}))
    else:
        print(f"removed {clean(str(record['name']))}")
    return 0


def agreed(outlook: str) -> bool:
    """Whether the user, told what will be, says yes; a complaint where nobody can be asked."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise usage(f"{outlook}; without a terminal that needs --yes")
    print(f"{outlook}. Go on? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def outlook_of(record: Record) -> str:
    """What becomes of a server that is taken out."""
    name, scope = clean(str(record["name"])), record["scope"]
    pid = f", process {record['pid']}" if record["pid"] else ""
    ends = f"is {lamp(record)}{pid} and will be stopped" if is_up(record) else "is not running"
    return f'"{name}" {ends}; its definition in {scope} scope will be removed'
