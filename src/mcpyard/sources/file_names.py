"""The names of the files that sources read."""

from typing import Final

PROJECT_FILE: Final = ".mcp.json"
"""Holds the servers of a project, in its folder."""
