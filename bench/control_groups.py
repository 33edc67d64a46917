"""Limits of memory and processes by control groups: `python -m bench.control_groups`.

They need cgroup v2 with the controllers of memory and processes, which not every machine has. So a
kernel runs as a program (`linux.uml`, of the Debian package user-mode-linux), with the files of
this machine and groups of its own, and nothing of this machine is changed. In it the tests of the
limits run, and a daemon of an ordinary user that is alone in a group which was handed to it, as a
service of systemd with `Delegate=memory pids` is.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.measuring import ROOT, Figures
from tests.runtime.waiting import eventually

KERNEL = "linux.uml"
LONGEST = 600
USER = 1000
GROUP = Path("/sys/fs/cgroup/service")
PLACE = Path("/run/proof")
TESTS = "tests/runtime/test_resource_limits.py"
HUNGRY = [sys.executable, "-I", "-S", str(ROOT / "bench" / "hungry_server.py")]
MEGABYTES = 64
PROCESSES = 20
TASKS = PROCESSES * 64
AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
ENTER = 'echo $$ > "$1/cgroup.procs"; shift; exec "$@"'

INIT = """#!/bin/sh
export PATH={path} LANG=C.UTF-8 HOME=/run/proof TMPDIR=/run/proof PYTHONDONTWRITEBYTECODE=1
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /dev/shm
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir /run/proof
ip link set lo up
cd {root}
{python} -m bench.control_groups inside {results} > {output} 2>&1
echo o > /proc/sysrq-trigger
exec sleep 60
"""


class Mcpyard:
    """The commands, as the user of the daemon runs them."""

    def __init__(self) -> None:
        PLACE.mkdir(exist_ok=True)
        os.chown(PLACE, USER, USER)
        self._command = [*AS_USER, sys.executable, "-m", "mcpyard"]
        self._environment = {**os.environ, "MCPYARD_HOME": str(PLACE / "home")}

    async def up(self) -> asyncio.subprocess.Process:
        """A daemon that is alone in the group."""
        entering = ["sh", "-c", ENTER, "sh", str(GROUP)]
        daemon = await asyncio.create_subprocess_exec(
            *(*entering, *self._command, "up", "--port", "0", "--json"),
            env=self._environment,
            stdout=asyncio.subprocess.PIPE,
        )
        assert daemon.stdout
        assert json.loads(await daemon.stdout.readline())["event"] == "ready"
        return daemon

    async def run(self, *words: str) -> str:
        """What a command prints, errors included."""
        process = await asyncio.create_subprocess_exec(
            *(*self._command, *words),
            env=self._environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        return (await process.communicate())[0].decode()


def processes() -> list[str]:
    """All that are in the group or below it."""
    return [pid for each in GROUP.rglob("cgroup.procs") for pid in each.read_text().split()]


def written(name: str) -> str:
    """What the limits of the only server with limits are."""
    return "".join(each.read_text() for each in GROUP.glob(f"mcpyard.*/server.*/{name}")).strip()


def hand_over() -> None:
    """Give an ordinary user a group with the controllers, as systemd does with `Delegate=`."""
    GROUP.mkdir()
    (GROUP.parent / "cgroup.subtree_control").write_text("+memory +pids")
    for each in (GROUP, *(GROUP / f"cgroup.{name}" for name in ("procs", "subtree_control"))):
        os.chown(each, USER, USER)


async def service() -> dict[str, bool]:
    """What becomes of the servers of a daemon in a group that was handed to it."""
    hand_over()
    mcpyard = Mcpyard()
    daemon = await mcpyard.up()
    limits = {"memory": f"{MEGABYTES}MB", "processes": PROCESSES}
    limited = json.dumps({"transport": "stdio", "command": HUNGRY, "limits": limits})
    ready = ("--start", "--wait", "60")
    await mcpyard.run("add", "limited", "--json-text", limited, *ready)
    await mcpyard.run("add", "other", *ready, "--", *HUNGRY)
    place = await mcpyard.run("call", "limited", "place")
    others_place = await mcpyard.run("call", "other", "place")
    limits_written = [written(name) for name in ("memory.max", "memory.swap.max", "pids.max")]
    eaten = await mcpyard.run("call", "limited", "eat")
    place_after = await mcpyard.run("call", "limited", "place")
    forked = await mcpyard.run("call", "limited", "fork")
    others_place_after = await mcpyard.run("call", "other", "place")
    daemon.kill()
    await daemon.wait()
    return {
        "a server with limits has a group of its own": "/server.1" in place,
        "another server is beside the keeper": others_place.strip().endswith("/keeper"),
        "its limits are written there": limits_written == [str(MEGABYTES << 20), "0", str(TASKS)],
        "what eats memory is killed, with that cause": f"exceeded ({MEGABYTES} MB)" in eaten,
        "it is restarted and serves calls": "/server.3" in place_after,
        "a fork bomb is killed, with that cause": f"exceeded ({PROCESSES})" in forked,
        "the other server serves calls": others_place_after == others_place,
        "nothing is left of a killed daemon": await eventually(lambda: not processes(), 10),
    }


def inside(results: Path) -> None:
    """All that is done under that kernel."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", TESTS]
    tests = subprocess.run(command, check=False, capture_output=True, text=True)
    findings = {
        "kernel": os.uname().release,
        "tests": tests.stdout.strip(),
        "passed": tests.returncode == 0,
        "seen": asyncio.run(service()),
    }
    results.write_text(json.dumps(findings))


def boot(kernel: str, folder: Path) -> dict[str, Any]:
    """What was found under that kernel."""
    names = ("init", "results.json", "output", "console")
    init, results, output, console_file = (folder / name for name in names)
    values = {"path": os.environ["PATH"], "root": ROOT, "python": sys.executable}
    init.write_text(INIT.format(**values, results=results, output=output))
    init.chmod(0o700)
    arguments = ["rootfstype=hostfs", "rw", "mem=3G", "con=null", "con0=null,fd:1", f"init={init}"]
    with console_file.open("w") as console:
        subprocess.run(
            [kernel, *arguments],
            check=False,
            timeout=LONGEST,
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=console,
        )
    if not results.exists():
        ends = [each.read_text()[-2000:] for each in (console_file, output) if each.exists()]
        sys.exit("\n".join(ends))
    return json.loads(results.read_text())


def main() -> None:
    kernel = shutil.which(KERNEL)
    if kernel is None or os.getuid() != 0:
        sys.exit(f"{KERNEL} is needed (Debian: apt-get install user-mode-linux), and to be root")
    with tempfile.TemporaryDirectory(dir=ROOT) as folder:
        findings = boot(kernel, Path(folder))
    figures, last_line = Figures(), findings["tests"].splitlines()[-1]
    passed = findings["passed"] and "skipped" not in last_line
    if not passed:
        print(findings["tests"])
    figures.show("kernel", findings["kernel"])
    figures.show(TESTS, last_line)
    figures.at_most("failed or skipped", int(not passed), 0)
    for name, held in findings["seen"].items():
        figures.at_least(name, int(held), 1)
    figures.leave()


if __name__ == "__main__":
    if sys.argv[1:2] == ["inside"]:
        inside(Path(sys.argv[2]))
    else:
        main()
