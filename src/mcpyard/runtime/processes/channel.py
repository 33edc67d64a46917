"""The yard's end of the socket to its keeper: packets of JSON, some with file descriptors.

Nothing here waits. What the socket does not take at once is queued and goes out when it is writable
again; descriptors that were handed over are closed as soon as they are on their way, or dropped.
"""

import asyncio
import errno
import json
import os
import socket
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mcpyard.runtime.processes.keeper import PACKET

_READ_AT_ONCE = 256
_LATER = frozenset({errno.EAGAIN, errno.ENOBUFS, errno.ENOMEM})


class Channel:
    """One end of a packet socket; `end` is called once, when the other end is gone."""

    def __init__(
        self,
        end_of_pair: socket.socket,
        message: Callable[[dict[str, Any]], None],
        end: Callable[[], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._socket = end_of_pair
        self._socket.setblocking(False)
        self._message = message
        self._end = end
        self._unsent: deque[tuple[bytes, tuple[int, ...]]] = deque()
        self._loop.add_reader(self._socket, self._read)

    def send(self, message: Mapping[str, object], fds: tuple[int, ...] = ()) -> None:
        """Send a message, or queue it. The descriptors are handed over and closed here."""
        body = json.dumps(message).encode()
        room = PACKET - 1
        while len(body) > room:
            self._unsent.append((b"+" + body[:room], ()))
            body = body[room:]
        self._unsent.append((b"." + body, fds))
        self._write()

    def finish(self) -> None:
        """Tell the other end that nothing more comes; what it says is still read."""
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            self.abandon()

    def abandon(self) -> None:
        """Take the other end for gone, whatever it does."""
        if self._socket.fileno() >= 0:
            self.close()
            self._end()

    def close(self) -> None:
        """Let go of the socket and of what is queued; may be called twice."""
        if self._socket.fileno() < 0:
            return
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        self._socket.close()
        for _, fds in self._unsent:
            _close_all(fds)
        self._unsent.clear()

    def _write(self) -> None:
        while self._unsent:
            packet, fds = self._unsent.popleft()
            try:
                socket.send_fds(self._socket, [packet], fds)
            except OSError as error:
                self._unsent.appendleft((packet, fds))
                if not self._recover(error.errno):
                    return
            else:
                _close_all(fds)
        if self._socket.fileno() >= 0:
            self._loop.remove_writer(self._socket)

    def _recover(self, code: int | None) -> bool:
        """Whether to go on at once, after a packet was not taken."""
        if code in _LATER:
            self._loop.add_writer(self._socket, self._write)
        elif code == errno.ETOOMANYREFS:
            # Without its descriptors, so that the keeper answers as if it had no room for them.
            packet, fds = self._unsent.popleft()
            _close_all(fds)
            self._unsent.appendleft((packet, ()))
            return True
        # Of any other error the reader hears in its own turn of the loop.
        return False

    def _read(self) -> None:
        for _ in range(_READ_AT_ONCE):
            try:
                packet = self._socket.recv(PACKET)
            except BlockingIOError:
                return
            except OSError:
                packet = b""
            if not packet:
                self.abandon()
                return
            self._message(json.loads(packet))


def _close_all(fds: Iterable[int]) -> None:
    for fd in fds:
        os.close(fd)
