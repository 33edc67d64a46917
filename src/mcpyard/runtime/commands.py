"""The commands that are on the PATH."""

import asyncio
import os
from collections.abc import Collection
from typing import Final

_MOST: Final = 20_000


async def commands_on(path: str) -> Collection[str]:
    """The names of the programs in the folders of a PATH."""
    return await asyncio.to_thread(_commands, path)


def _commands(path: str) -> Collection[str]:
    names: set[str] = set()
    for folder in dict.fromkeys(path.split(os.pathsep)):
        try:
            with os.scandir(folder or ".") as entries:
                for entry in entries:
                    if len(names) >= _MOST:
                        return names
                    if os.access(entry.path, os.X_OK) and not entry.is_dir():
                        names.add(entry.name)
        except OSError:
            # A folder of the PATH need not exist.
            continue
    return names
