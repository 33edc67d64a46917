"""Bad requests and full tables are answered; the keeper goes on."""

import asyncio
import errno
import json
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from mcpyard.runtime.processes import keeper as keeper_program
from mcpyard.runtime.processes.keeper_client import Exit, SpawnFailed
from tests.runtime.small_yard import small_yard
from tests.runtime.waiting import read_line

pytestmark = pytest.mark.real


@pytest.fixture
def wire() -> Iterator[socket.socket]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(10)
    program = [keeper_program.__file__, str(theirs.fileno()), str(os.getpid())]
    with subprocess.Popen(
        [sys.executable, "-I", "-S", *program], pass_fds=[theirs.fileno()], start_new_session=True
    ) as process:
        theirs.close()
        with ours:
            assert hear(ours)["say"] == "ready"
            yield ours
        assert process.wait(10) == 0


def hear(wire: socket.socket) -> dict[str, Any]:
    return json.loads(wire.recv(1 << 16))


@pytest.mark.parametrize(
    "packet",
    [
        b"noise",
        b".",
        b".{",
        b".[]",
        b".{}",
        b".\xff",
        b'.{"do": "end", "n": []}',
        b'.{"do": "spawn", "n": 1}',
        b'.{"do": "spawn", "n": 1, "argv": ["true"], "env": null, "cwd": null}',
    ],
)
def test_a_bad_request_is_refused_and_the_next_one_served(
    wire: socket.socket, packet: bytes
) -> None:
    wire.send(packet)
    assert hear(wire)["say"] == "refused"
    wire.send(b'.{"do": "look", "n": 7}')
    assert hear(wire) == {"say": "looked", "n": 7}


def test_descriptors_sent_with_a_bad_request_are_closed(wire: socket.socket) -> None:
    reader, writer = os.pipe()
    socket.send_fds(wire, [b"noise"], [writer])
    os.close(writer)
    assert hear(wire)["say"] == "refused"
    assert os.read(reader, 1) == b""
    os.close(reader)


def test_a_spawn_without_its_descriptors_says_that_there_was_no_room(wire: socket.socket) -> None:
    request = {"do": "spawn", "n": 1, "argv": ["true"], "env": {}, "cwd": None}
    wire.send(b"." + json.dumps(request).encode())
    answer = hear(wire)
    assert (answer["say"], answer["errno"]) == ("spawn_failed", errno.EMFILE)


def test_an_unknown_request_and_signals_to_nobody_are_ignored(wire: socket.socket) -> None:
    wire.send(b'.{"do": "dance", "n": 1}')
    wire.send(b'.{"do": "signal", "n": 1, "signal": 15}')
    wire.send(b'.{"do": "end", "n": 1}')
    wire.send(b'.{"do": "look", "n": 7}')
    assert [hear(wire), hear(wire)] == [{"say": "looked", "n": n} for n in (1, 7)]


async def test_a_yard_out_of_descriptors_fails_the_spawn_and_recovers() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with small_yard() as yard:
        first = await yard.run("cat")
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (first.stderr + 4, hard))
            with pytest.raises(SpawnFailed) as caught:
                await yard.run("cat")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert caught.value.errno == errno.EMFILE
        child, _ = await yard.family("echo")
        assert child.pid


async def test_descriptors_that_the_kernel_will_not_pass_fail_the_spawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    send_fds = socket.send_fds

    def refuse(end: socket.socket, packets: list[bytes], fds: tuple[int, ...]) -> int:
        if fds:
            raise OSError(errno.ETOOMANYREFS, "Too many references")
        return send_fds(end, packets, fds)

    async with small_yard() as yard:
        await yard.keeper.start()
        with monkeypatch.context() as patch:
            patch.setattr(socket, "send_fds", refuse)
            with pytest.raises(SpawnFailed) as caught:
                await yard.run("cat")
        assert caught.value.errno == errno.EMFILE
        child = await yard.run("echo", "passed")
        assert await read_line(child.stdout) == "passed"


async def test_a_keeper_out_of_descriptors_fails_the_spawn_and_recovers() -> None:
    async with small_yard() as yard:
        await yard.keeper.start()
        assert yard.keeper.pid
        _, hard = limits = resource.prlimit(yard.keeper.pid, resource.RLIMIT_NOFILE)
        for room in (6, 8, 9, 10):
            resource.prlimit(yard.keeper.pid, resource.RLIMIT_NOFILE, (room, hard))
            with pytest.raises(SpawnFailed) as caught:
                await yard.run("cat")
            assert caught.value.errno == errno.EMFILE
        resource.prlimit(yard.keeper.pid, resource.RLIMIT_NOFILE, limits)
        child = await yard.run("echo", "there is room again")
        assert await read_line(child.stdout) == "there is room again"
        assert yard.losses == 0


async def test_a_keeper_out_of_descriptors_still_kills_but_vouches_for_nothing() -> None:
    async with small_yard() as yard:
        child, _ = await yard.family("stubborn")
        assert yard.keeper.pid
        _, hard = limits = resource.prlimit(yard.keeper.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(yard.keeper.pid, resource.RLIMIT_NOFILE, (3, hard))
        killing = asyncio.create_task(child.kill())
        assert await child.exited == Exit(signal=signal.SIGKILL)
        assert not child.gone.done()
        resource.prlimit(yard.keeper.pid, resource.RLIMIT_NOFILE, limits)
        assert await killing
        assert yard.losses == 0


async def test_a_keeper_that_does_not_read_never_blocks_the_yard() -> None:
    async with small_yard() as yard:
        await yard.keeper.start()
        assert yard.keeper.pid
        os.kill(yard.keeper.pid, signal.SIGSTOP)
        big = {"PATH": os.environ["PATH"], **{f"V{n}": "x" * 100_000 for n in range(10)}}
        spawning = [asyncio.create_task(yard.keeper.spawn(["cat"], big, None)) for _ in range(20)]
        for _ in range(10):
            await asyncio.sleep(0)
        assert not any(task.done() for task in spawning)
        os.kill(yard.keeper.pid, signal.SIGCONT)
        for child in await asyncio.gather(*spawning):
            os.write(child.stdin, b"late\n")
            assert await read_line(child.stdout) == "late"
            for fd in (child.stdin, child.stdout, child.stderr):
                os.close(fd)
