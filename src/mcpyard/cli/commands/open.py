"""`mcpyard login-link`: an address that lets one browser in, once."""

import json
from pathlib import Path

from mcpyard.cli.commands.ls import print_raw
from mcpyard.cli.remote import need_yard


def make_login_link(home: Path, *, as_json: bool) -> int:
    """Print a new one-time address."""
    raw = need_yard(home).post("/api/login-links")
    if as_json:
        return print_raw(raw)
    print(json.loads(raw)["url"])
    return 0
