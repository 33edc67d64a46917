"""The files in which a user describes clients that mcpyard does not know."""

from pathlib import Path
from typing import Final

from mcpyard.domain.files import FileText
from mcpyard.sources.client_files import DiskClientFiles

_MOST: Final = 100
"""Files; a folder with more was not written by hand."""


def read_client_definitions(files: DiskClientFiles, folder: Path | None) -> list[FileText]:
    """The TOML files of a folder, in the order of their names; none where there is no folder."""
    if folder is None or not folder.is_dir():
        return []
    return [files.look(str(path)) for path in sorted(folder.glob("*.toml"))[:_MOST]]
