"""A TCP connection to a host, by whichever of its addresses answers first (RFC 8305).

uvloop tries the addresses of a host one after the other. With an IPv6 address that leads nowhere
that would use up the whole connect time-out.
"""

import asyncio
import socket
from asyncio.staggered import staggered_race
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain, zip_longest
from typing import Any, Final, NamedTuple

_HEAD_START_SECONDS: Final = 0.25
"""How long an address has to answer before the next one is tried beside it."""

_NO_LOOKUP: Final = socket.AI_NUMERICHOST


class Address(NamedTuple):
    """An address as the system resolved it."""

    family: int
    place: tuple[Any, ...]


async def connect_tcp(host: str, port: int) -> socket.socket:
    """A connected socket; raises `OSError` when no address of the host answers."""
    infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return await connect_any(interleave(Address(info[0], info[4]) for info in infos))


async def connect_to(addresses: Iterable[str], port: int) -> socket.socket:
    """A socket connected to one of the IP addresses; raises `OSError` when none answers."""
    loop, resolved = asyncio.get_running_loop(), list[Address]()
    for each in addresses:
        infos = await loop.getaddrinfo(each, port, type=socket.SOCK_STREAM, flags=_NO_LOOKUP)
        resolved += [Address(info[0], info[4]) for info in infos]
    if not resolved:
        raise OSError("DNS lookup failed")
    return await connect_any(interleave(resolved))


async def connect_any(addresses: Sequence[Address]) -> socket.socket:
    """A socket connected to one of the addresses, the earlier ones preferred."""
    if len(addresses) == 1:
        return await _connect(addresses[0])
    attempts = [partial(_connect, address) for address in addresses]
    winner, _, errors = await staggered_race(attempts, _HEAD_START_SECONDS)
    if winner is not None:
        return winner
    failures = [error for error in errors if isinstance(error, OSError)]
    raise OSError(str(failures[0])) from ExceptionGroup("no address answers", failures)


def interleave(addresses: Iterable[Address]) -> list[Address]:
    """The addresses with their families in turn, the family of the first address first."""
    families: dict[int, list[Address]] = {}
    for address in addresses:
        families.setdefault(address.family, []).append(address)
    return [each for each in chain(*zip_longest(*families.values())) if each is not None]


async def _connect(address: Address) -> socket.socket:
    sock = socket.socket(address.family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(sock, address.place)
    except BaseException:
        sock.close()
        raise
    return sock
