"""Notifications to systemd, for a service of `Type=notify`.

One datagram for each state, to the socket that systemd names; elsewhere nothing is sent. What
cannot be delivered is lost.
"""

import contextlib
import os
import socket
from typing import Final

_VARIABLE: Final = "NOTIFY_SOCKET"


class ServiceManager:
    """Notifies the service manager, if there is one."""

    def __init__(self) -> None:
        self._address = os.environ.get("NOTIFY_SOCKET", "")
        # It names this process's socket, not that of a yard which a child may start.
        os.environ.pop(_VARIABLE, None)
        if self._address.startswith("@"):
            self._address = f"\0{self._address[1:]}"

    def ready(self) -> None:
        """The service can be used."""
        self._notify(b"READY=1")

    def alive(self) -> None:
        """The event loop runs."""
        self._notify(b"WATCHDOG=1")

    def stopping(self, within: float = 0) -> None:
        """The service is about to end; it may take so many seconds from now, longer than usual."""
        more = b"\nEXTEND_TIMEOUT_USEC=%d" % (within * 1_000_000) if within else b""
        self._notify(b"STOPPING=1" + more)

    def _notify(self, state: bytes) -> None:
        if not self._address:
            return
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender,
        ):
            sender.setblocking(False)
            sender.sendto(state, self._address)
