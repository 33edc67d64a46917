"""What tells a restart of a node from another daemon of its name: its home, and where that is."""

from pathlib import Path
from typing import Final
from uuid import UUID, uuid4

from mcpyard.store.atomic_files import write_private

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_HOME_ID: Final = "home-id"


def identify(home: Path) -> tuple[UUID, str]:
    """The id of a home, made at the first use, and the boot of this machine.

    The boot names the file of the id as well: a copy of the home has the same id, and its lock says
    nothing about the daemon of the home that it was copied from.
    """
    file = home / _HOME_ID
    if not file.exists():
        write_private(file, str(uuid4()).encode())
    place = file.stat()
    boot = f"{_BOOT.read_text().strip()} {place.st_dev}:{place.st_ino}"
    return UUID(file.read_text().strip()), boot
