"""The keeper's process, before anybody speaks to it: it takes a while to start."""

import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

from mcpyard.runtime.processes import keeper
from mcpyard.runtime.processes.adoption import ADOPTION

_KEPT_VARIABLES: Final = ("LD_LIBRARY_PATH",)
"""What the interpreter may need to start; no mark of an outer yard, no secrets."""


class KeeperProgram(NamedTuple):
    """A started keeper, and our end of the socket between us."""

    process: subprocess.Popen[bytes]
    socket: socket.socket

    def end(self) -> None:
        """End one that nobody spoke to; nothing happens to one that has ended."""
        self.socket.close()
        self.process.kill()
        self.process.wait()
        ADOPTION.keepers.discard(self.process.pid)


def start_program() -> KeeperProgram:
    """Start a keeper.

    Raises:
        OSError: It cannot be started.
    """
    program = Path(keeper.__file__)
    with contextlib.ExitStack() as undo:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        undo.enter_context(ours)
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - our own program, by our own interpreter
                [sys.executable, "-I", "-S", program, str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        undo.pop_all()
    ADOPTION.keepers.add(process.pid)
    return KeeperProgram(process, ours)
