"""A `mcpyard` command that is killed just before it writes its n-th file: for tests."""

import os
import signal
import sys
from itertools import count

from mcpyard.cli.launcher import run
from mcpyard.domain.files import FileWrite
from mcpyard.sources.client_files import DiskClientFiles

_write, _numbers = DiskClientFiles.write, count()


async def _killed(self: DiskClientFiles, change: FileWrite) -> None:
    if next(_numbers) == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
    await _write(self, change)


DiskClientFiles.write = _killed
run(sys.argv[2:])
