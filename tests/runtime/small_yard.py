"""A yard of a few children, in the test's own process or as a program that can be killed."""

import asyncio
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from mcpyard.domain.model import ResourceLimits
from mcpyard.runtime.processes import cgroups
from mcpyard.runtime.processes.adoption import ADOPTION
from mcpyard.runtime.processes.keeper_client import ChildProcess, KeeperClient, Pulse
from mcpyard.runtime.processes.marks import MarkKey
from tests.runtime.waiting import read_pids

PROGRAM = [sys.executable, "-I", "-S", str(Path(__file__).with_name("children.py"))]
USUAL_PULSE = Pulse()
NO_LIMITS = ResourceLimits()
KEY = MarkKey(b"of the small yards of all tests")
COMMANDS = {
    "wrapped": ["sh", "-c", '"$@"; true', "sh", *PROGRAM, "stubborn"],
    "bare": ["env", "-i", *PROGRAM, "stubborn"],
}


class SmallYard:
    """Spawns the programs of `children` and closes the pipes that its children leave open."""

    def __init__(self, pulse: Pulse) -> None:
        self.losses = 0
        self.keeper = KeeperClient(uuid.uuid4().hex, self._count, key=KEY, pulse=pulse)
        self._open: dict[ChildProcess, set[int]] = {}

    def _count(self) -> None:
        self.losses += 1

    async def run(
        self,
        *argv: str,
        cwd: str | None = None,
        resources: ResourceLimits = NO_LIMITS,
        fenced: bool = False,
    ) -> ChildProcess:
        env = {"PATH": os.environ["PATH"]}
        child = await self.keeper.spawn(argv, env, cwd, resources, fenced=fenced)
        self._open[child] = {child.stdin, child.stdout, child.stderr}
        return child

    async def child(self, mode: str, *arguments: str) -> ChildProcess:
        return await self.run(*PROGRAM, mode, *arguments)

    async def family(self, mode: str, *, fenced: bool = False) -> tuple[ChildProcess, list[int]]:
        """A child that has said of which processes it consists, and those, without doubles."""
        child = await self.run(*COMMANDS.get(mode, [*PROGRAM, mode]), fenced=fenced)
        return child, sorted({child.pid, *await read_pids(child.stdout)})

    def hang_up(self, child: ChildProcess) -> None:
        self._open[child].remove(child.stdin)
        os.close(child.stdin)

    def forget(self, child: ChildProcess) -> None:
        for fd in self._open.pop(child):
            os.close(fd)

    async def close(self) -> None:
        await self.keeper.close()
        for child in list(self._open):
            self.forget(child)


@asynccontextmanager
async def small_yard(pulse: Pulse = USUAL_PULSE) -> AsyncGenerator[SmallYard]:
    yard = SmallYard(pulse)
    try:
        yield yard
    finally:
        await yard.close()


def bystanders(keeper: int) -> list[int]:
    """What a daemon has as children and did not get from its keeper: an adopted one, its own."""
    program = [*PROGRAM, "leaves-detached"]
    with subprocess.Popen(program, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as helper:
        assert helper.stdout
        _, adopted = map(int, helper.stdout.readline().split())
    ADOPTION.spare_present(keeper)
    own = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    return [adopted, own.pid]


def boottime() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def fork() -> int:
    """A copy of this process, with all that is open in it, which does nothing."""
    pid = os.fork()
    while pid == 0:
        signal.pause()
    return pid


async def main() -> None:
    mode, *options = sys.argv[1:]
    if "adopting" in options:
        ADOPTION.begin()
    if "no-cgroup" in options:
        cgroups.own_folder = lambda: None
    async with small_yard() as yard:
        fenced = "fenced" in options
        yard.keeper.until(boottime() + 60)
        _, pids = await yard.family(mode, fenced=fenced)
        pids += [fork() for option in options if option == "forked"]
        assert yard.keeper.pid
        pids += bystanders(yard.keeper.pid) if "bystanders" in options else []
        if fenced:
            yard.keeper.until(boottime() + 2)
        print(yard.keeper.pid, *pids, flush=True)
        await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(main())
