"""What the keeper costs: `python -m bench.keeper [CHILDREN]`.

Prints the time until a keeper is ready, until all children are spawned and have answered a line,
the memory of the keeper, the time of stopping all in order, and the time from SIGKILL of the yard
until nothing is left.
"""

import asyncio
import os
import select
import signal
import sys
import time
from pathlib import Path

from mcpyard.runtime.processes.keeper_client import ChildProcess, KeeperClient, StopPolicy
from mcpyard.runtime.processes.marks import Mark, MarkKey
from mcpyard.runtime.processes.orphans import Remains


def milliseconds(since: float) -> str:
    return f"{(time.perf_counter() - since) * 1000:8.1f} ms"


def status(pid: int, name: str) -> str:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line.partition(":")[2].strip() for line in lines if line.startswith(name))


def cpu_ms(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 // os.sysconf("SC_CLK_TCK")


async def answered(child: ChildProcess) -> None:
    loop = asyncio.get_running_loop()
    answer = loop.create_future()
    loop.add_reader(child.stdout, lambda: answer.done() or answer.set_result(None))
    os.write(child.stdin, b"hello\n")
    await answer
    loop.remove_reader(child.stdout)


async def spawn_all(keeper: KeeperClient, count: int) -> list[ChildProcess]:
    env = {"PATH": os.environ["PATH"]}

    async def one() -> ChildProcess:
        child = await keeper.spawn(["cat"], env, None)
        await answered(child)
        return child

    return await asyncio.gather(*(one() for _ in range(count)))


async def measure(count: int) -> None:
    keeper = KeeperClient("bench")
    began = time.perf_counter()
    await keeper.start()
    print("keeper ready                ", milliseconds(began))
    assert keeper.pid
    print("  memory, alone              ", status(keeper.pid, "VmRSS"))
    began = time.perf_counter()
    children = await spawn_all(keeper, count)
    print(f"{count} spawned and answering   ", milliseconds(began))
    print("  memory, with all           ", status(keeper.pid, "VmRSS"))
    print("  CPU of the keeper so far   ", cpu_ms(keeper.pid), "ms")
    began = time.perf_counter()
    await asyncio.gather(
        *(child.stop(lambda fd=child.stdin: os.close(fd), StopPolicy()) for child in children)
    )
    print(f"{count} stopped in order        ", milliseconds(began))
    children = await spawn_all(keeper, count)
    began = time.perf_counter()
    nothing = Remains(Mark.of_this_process("nobody"), MarkKey())
    await asyncio.to_thread(nothing.end)
    print("a sweep that finds nothing  ", milliseconds(began))
    await keeper.close()


async def be_killed(count: int, writer: int) -> None:
    keeper = KeeperClient("bench-killed")
    children = await spawn_all(keeper, count)
    text = " ".join(str(pid) for pid in [keeper.pid, *(child.pid for child in children)])
    os.write(writer, text.encode())
    await asyncio.get_running_loop().create_future()


def kill(count: int) -> None:
    reader, writer = os.pipe()
    yard = os.fork()
    if yard == 0:
        asyncio.run(be_killed(count, writer))
    poll = select.poll()
    handles = [os.pidfd_open(int(pid)) for pid in os.read(reader, 1 << 16).split()]
    for handle in handles:
        poll.register(handle, select.POLLIN)
    began = time.perf_counter()
    os.kill(yard, signal.SIGKILL)
    while handles:
        for handle, _ in poll.poll():
            poll.unregister(handle)
            handles.remove(handle)
            os.close(handle)
    print(f"{count} gone after SIGKILL      ", milliseconds(began))
    os.waitpid(yard, 0)


if __name__ == "__main__":
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    kill(size)
    asyncio.run(measure(size))
