"""A browser on the desktop of whoever runs a command."""

import os
import sys
import webbrowser


def has_desktop() -> bool:
    """Whether a browser would open in a window, not in this very terminal."""
    if os.environ.get("BROWSER"):
        return True
    display = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    return display or sys.platform in {"darwin", "win32"}


def open_browser(url: str) -> bool:
    """Show an address in a browser; whether there was one to show it."""
    return has_desktop() and webbrowser.open(url)
