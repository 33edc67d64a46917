"""The options of the last `mcpyard up`, for a substitute that `mcpyard stdio` starts.

They stand in the home as the arguments of the command, with the folder that it was run in. No
option
of `up` is a secret; variables, which may be, are not recorded.
"""

import contextlib
import json
from pathlib import Path
from typing import Final

from msgspec import Struct

from mcpyard.domain.narrowing import list_of, object_of
from mcpyard.store.atomic_files import write_private

_FILE: Final = "options.json"


class LastOptions(Struct, frozen=True):
    """The arguments of a command behind `mcpyard up`, and the folder that it is run in."""

    arguments: tuple[str, ...] = ()
    folder: str | None = None


def record_options(home: Path, arguments: list[str]) -> None:
    """Keep the options of this process; without them a substitute has the usual ones."""
    record = {"folder": str(Path.cwd()), "arguments": arguments}
    with contextlib.suppress(OSError):
        write_private(home / _FILE, json.dumps(record).encode())


def last_options(home: Path) -> LastOptions | None:
    """The options of the last `up` of a home."""
    try:
        record = object_of(json.loads((home / _FILE).read_bytes()))
    except (OSError, ValueError, RecursionError):
        return None
    arguments, folder = list_of(record.get("arguments")), record.get("folder")
    at = folder if isinstance(folder, str) and Path(folder).is_dir() else None
    return LastOptions(tuple(map(str, arguments)), at)
