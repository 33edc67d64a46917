"""The home folder and the files in it that commands name."""

from pathlib import Path
from typing import Final

LOG_FILE: Final = "yard.log"
AUDIT_FILE: Final = "audit.log"


def home_folder(home: Path | None) -> Path:
    """The folder that holds all state: the one from the options, else the user's."""
    if home:
        return home
    from mcpyard.store.home import default_home

    return default_home()
