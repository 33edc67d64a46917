"""What the doctor finds out about the machine: programs, the keeper, the yard."""

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
from mcpyard.cli.cli_errors import Complaint
from mcpyard.cli.output import one_line
from mcpyard.cli.remote import find_yard
from mcpyard.runtime.processes.keeper_client import KeeperClient, SpawnFailed
from mcpyard.store.home import Home

_PATIENCE: Final = 5.0
_LEAST_NODE: Final = 18
"""What the SDK that servers are written with asks for."""

PROGRAMS: Final = {
    "node": "install Node.js",
    "npx": "install Node.js, which brings npx",
    "uvx": "install uv, which brings uvx",
    "docker": "install Docker, if a server of yours needs it",
}


async def examine_machine(home: Path, programs: Collection[str] = ()) -> list[Check]:
    """Everything but the definitions.

    Args:
        home: The home of the yard.
        programs: What servers are started by.
    """
    versions = await asyncio.gather(*(_program(name, fix) for name, fix in PROGRAMS.items()))
    found = {each.check: each for each in versions}
    found["node"] = _node(found["node"], needed=not {"node", "npx"}.isdisjoint(programs))
    python = good("python", f"{platform.python_version()} at {sys.executable}")
    return [python, *found.values(), await _keeper(), *examine_home(home), _yard(home)]


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
        said, _ = await asyncio.wait_for(process.communicate(), _PATIENCE)
    except TimeoutError:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        return doubtful(name, f"{path} did not tell its version in {_PATIENCE:g} s", fix)
    if process.returncode:
        return doubtful(name, f"{path} --version exited with status {process.returncode}", fix)
    return good(name, f"{one_line(said.decode(errors='replace'))} at {path}")


def _node(found: Check, *, needed: bool) -> Check:
    """What was found of Node.js, unless it is too old for the servers of today."""
    version = re.match(r"v(\d+)\.", found.message)
    if version is None or int(version[1]) >= _LEAST_NODE:
        return found
    message = f"{found.message} is too old: servers need {_LEAST_NODE} or newer"
    return (bad if needed else doubtful)("node", message, f"install Node.js {_LEAST_NODE} or newer")


async def _keeper() -> Check:
    """Run a child that does nothing, as servers are run."""
    keeper = KeeperClient(uuid4().hex)
    try:
        child = await keeper.spawn([sys.executable, "-I", "-S", "-c", ""], {}, None)
        for fd in (child.stdin, child.stdout, child.stderr):
            os.close(fd)
        await asyncio.wait_for(asyncio.shield(child.exited), _PATIENCE)
    except (SpawnFailed, TimeoutError) as error:
        return bad("keeper", f"cannot run children: {error}", "see the log; report it")
    finally:
        await keeper.close()
    if not sys.platform.startswith("linux"):
        return doubtful("keeper", "works; clean-up is best effort here", "run the yard on Linux")
    return good("keeper", "runs and ends children")


def _yard(home: Path) -> Check:
    seen = Home(home).running()
    try:
        yard = find_yard(home)
        if yard:
            yard.get("/healthz")
    except Complaint as complaint:
        return bad("yard", str(complaint), f"look at the process {seen.pid}" if seen else "")
    running = Home(home).running()
    if running is None:
        return good("yard", "not running")
    return good("yard", f"running at {running.url} (pid {running.pid})")
