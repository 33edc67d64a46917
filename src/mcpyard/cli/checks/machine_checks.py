"""Checks of the machine: programs, the keeper, the running mcpyard."""

import asyncio
import os
import platform
import re
import shutil
import signal
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Final
from uuid import uuid4

from mcpyard.cli.checks.findings import Check, bad, doubtful, good
from mcpyard.cli.checks.home_checks import examine_home
from mcpyard.cli.output import one_line
from mcpyard.client.discovery import find_yard
from mcpyard.domain.errors import YardError
from mcpyard.runtime.processes.keeper_client import KeeperClient, SpawnFailed
from mcpyard.store.home import Home

_TIMEOUT: Final = 5.0
_LEAST_NODE: Final = 18
"""What the TypeScript SDK of MCP needs."""

PROGRAMS: Final = {
    "node": "install Node.js",
    "npx": "install Node.js, which includes npx",
    "uvx": "install uv, which includes uvx",
    "docker": "install Docker if one of your servers needs it",
}


async def examine_machine(home: Path, programs: Collection[str] = ()) -> list[Check]:
    """Everything but the definitions; `programs` are those that servers are started with."""
    versions = await asyncio.gather(*(_program(name, fix) for name, fix in PROGRAMS.items()))
    checks = {each.check: each for each in versions}
    checks["node"] = _node(checks["node"], needed=not {"node", "npx"}.isdisjoint(programs))
    python = good("python", f"{platform.python_version()} at {sys.executable}")
    yard = await asyncio.to_thread(_yard, home)
    return [python, *checks.values(), await _keeper(), *examine_home(home), yard]


async def _program(name: str, fix: str) -> Check:
    path = shutil.which(name)
    if path is None:
        return doubtful(name, "not found on PATH", fix)
    try:
        process = await asyncio.create_subprocess_exec(
            path,
            "--version",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        return bad(name, f"{path} cannot be run: {error.strerror}", fix)
    try:
        output, _ = await asyncio.wait_for(process.communicate(), _TIMEOUT)
    except TimeoutError:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        return doubtful(name, f"{path} --version did not finish in {_TIMEOUT:g} s", fix)
    if process.returncode:
        return doubtful(name, f"{path} --version exited with code {process.returncode}", fix)
    return good(name, f"{one_line(output.decode(errors='replace'))} at {path}")


def _node(check: Check, *, needed: bool) -> Check:
    """The check of Node.js, which must not be too old for current servers."""
    version = re.match(r"v(\d+)\.", check.message)
    if version is None or int(version[1]) >= _LEAST_NODE:
        return check
    message = f"{check.message} is too old: servers need {_LEAST_NODE} or newer"
    return (bad if needed else doubtful)("node", message, f"install Node.js {_LEAST_NODE} or newer")


async def _keeper() -> Check:
    """Run a process that does nothing, in the way servers are run."""
    keeper = KeeperClient(uuid4().hex)
    try:
        child = await keeper.spawn([sys.executable, "-I", "-S", "-c", ""], {}, None)
        for fd in (child.stdin, child.stdout, child.stderr):
            os.close(fd)
        await asyncio.wait_for(asyncio.shield(child.exited), _TIMEOUT)
    except (SpawnFailed, TimeoutError) as error:
        return bad("keeper", f"cannot start processes: {error}", "check the log, and report a bug")
    finally:
        await keeper.close()
    if not sys.platform.startswith("linux"):
        return doubtful("keeper", "works; clean-up is best effort on this system", "use Linux")
    return good("keeper", "starts and ends processes")


def _yard(home: Path) -> Check:
    before = Home(home).running()
    try:
        yard = find_yard(home)
        if yard:
            yard.get("/healthz")
    except YardError as error:
        return bad("yard", str(error), f"check the process {before.pid}" if before else "")
    running = Home(home).running()
    if running is None:
        return good("yard", "not running")
    return good("yard", f"running at {running.url} (pid {running.pid})")
