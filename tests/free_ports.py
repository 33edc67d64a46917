"""Ports that nothing uses, for servers that are started on a port that is known before."""

import contextlib
import random
import socket

_FIRST, _BEHIND = 10_000, 32_000
"""Below those that Linux gives to connections: one of these is not taken before it is used, nor
while its server is restarted."""


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nothing listens on."""
    dice = random.SystemRandom()
    while True:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((host, dice.randrange(_FIRST, _BEHIND)))
            return probe.getsockname()[1]
