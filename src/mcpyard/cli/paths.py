"""`mcpyard paths`: where the files are."""

import json
from pathlib import Path

from mcpyard.store.home import default_home


def home_folder(home: Path | None) -> Path:
    """The folder that holds all state: the one given, else the user's."""
    return home or default_home()


def show_paths(home: Path | None, *, as_json: bool) -> None:
    """Print where the files are, for a person or a program."""
    found = {"home": str(home_folder(home)), "project": str(Path.cwd() / ".mcp.json")}
    if as_json:
        print(json.dumps(found))
    else:
        for name, path in found.items():
            print(f"{name:8} {path}")
