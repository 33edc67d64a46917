"""What a browser looks at, by which it is told what changed there."""

from typing import Final

LIST: Final = "servers"
"""The view of a browser that looks at all servers as cards."""

ROWS: Final = "servers:rows"
"""The view of a browser that looks at all servers as rows of a list."""

ONE: Final = "server:"
"""Begins the view of a browser that looks at one server; its id follows."""
