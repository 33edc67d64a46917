"""`mcpyard open`: the web page, in a browser that is signed in by a one-time link."""

import json
import sys
from pathlib import Path

from mcpyard.cli.browser import open_browser
from mcpyard.cli.printing import print_raw
from mcpyard.client.discovery import need_yard


def open_page(home: Path, *, browser: bool, as_json: bool) -> int:
    """Print a new one-time link, and open it in a browser."""
    raw = need_yard(home).post("/api/login-links")
    if as_json:
        return print_raw(raw)
    url = str(json.loads(raw)["url"])
    print(url, flush=True)
    if browser and not open_browser(url):
        print("note: no browser found; open the link yourself, it works once", file=sys.stderr)
    return 0
