"""`mcpyard paths`: where the files are."""

import json
from pathlib import Path

from mcpyard.cli.home_files import AUDIT_FILE, LOG_FILE


def show_paths(home: Path, *, as_json: bool) -> int:
    """Print where the files are."""
    files = {
        "home": str(home),
        "project": str(Path.cwd() / ".mcp.json"),
        "log": str(home / LOG_FILE),
        "audit": str(home / AUDIT_FILE),
    }
    if as_json:
        print(json.dumps(files))
    else:
        for name, path in files.items():
            print(f"{name:8} {path}")
    return 0
