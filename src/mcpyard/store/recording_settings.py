"""What an administrator said about recording calls: one word in a file of the home."""

import asyncio
from pathlib import Path

from mcpyard.domain.call_contents import RecordingMode
from mcpyard.domain.write_errors import unwritten
from mcpyard.store.atomic_files import write_private


class FileRecordingSettings:
    """Reads the file once: one process at a time uses a home."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mode = _read(path)

    def mode(self) -> RecordingMode:
        """Whether to record."""
        return self._mode

    async def set_mode(self, mode: RecordingMode) -> None:
        """Record from now on, or not."""
        try:
            await asyncio.to_thread(write_private, self._path, f"{mode}\n".encode())
        except OSError as error:
            raise unwritten(f"{self._path} cannot be written: {error.strerror}", error) from error
        self._mode = mode


def _read(path: Path) -> RecordingMode:
    try:
        return RecordingMode(path.read_text(encoding="utf-8").strip())
    except FileNotFoundError:
        return RecordingMode.AUTO
    except (OSError, ValueError):
        # Whoever wrote something there did not want what is the default.
        return RecordingMode.OFF
