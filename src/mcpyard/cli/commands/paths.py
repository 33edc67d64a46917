"""`mcpyard paths`: where the files are."""

import json
from pathlib import Path
from typing import Final

from mcpyard.store.home import default_home

LOG_FILE: Final = "yard.log"
AUDIT_FILE: Final = "audit.log"


def home_folder(home: Path | None) -> Path:
    """The folder that holds all state: the one given, else the user's."""
    return home or default_home()


def show_paths(home: Path | None, *, as_json: bool) -> None:
    """Print where the files are, for a person or a program."""
    folder = home_folder(home)
    found = {
        "home": str(folder),
        "project": str(Path.cwd() / ".mcp.json"),
        "log": str(folder / LOG_FILE),
        "audit": str(folder / AUDIT_FILE),
    }
    if as_json:
        print(json.dumps(found))
    else:
        for name, path in found.items():
            print(f"{name:8} {path}")
