"""Agent frameworks at the gateway: `python -m bench.frameworks [NAME...]`.

Every framework of docs/frameworks.md that is not marked "Not run" gets an environment of its own
in a temporary folder, which is deleted before the next one. The program that runs there is the one
on the page: it connects to the gateway of a real `mcpyard up` with the framework's own MCP client,
lists the tools, and calls one of a real server.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from bench.measuring import ROOT
from tests.free_ports import free_port

PAGE: Final = ROOT / "docs" / "frameworks.md"
SERVER: Final = ROOT / "tests/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
ANSWER: Final = "Echo: hello"
READY: Final = "mcp_everything_echo"
NOT_RUN: Final = "Not run"
FAILED: Final = "FAILED"

_SECTION: Final = re.compile(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BLOCK: Final = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LIMIT: Final = 600.0


class Framework(NamedTuple):
    """A section of the page.

    Attributes:
        name: Its title.
        install: The command that installs the framework, as its words.
        language: Of the program.
        program: What is run.
        runs: Whether it is run here.
    """

    name: str
    install: list[str]
    language: str
    program: str
    runs: bool


def frameworks(text: str) -> Iterator[Framework]:
    """The sections of the page that have a program."""
    for name, body in _SECTION.findall(text):
        blocks: dict[str, str] = dict(_BLOCK.findall(body))
        language = next((each for each in ("python", "js") if each in blocks), None)
        if language and "sh" in blocks:
            install = shlex.split(blocks["sh"])
            yield Framework(name, install, language, blocks[language], NOT_RUN not in body)


def lower_priority() -> None:
    os.nice(10)


def run(command: list[str], folder: Path, env: Mapping[str, str] | None = None) -> str:
    """What a command prints; the end of it all where it fails."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | dict(env or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_LIMIT,
        check=False,
        preexec_fn=lower_priority,
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def installed(framework: Framework, folder: Path) -> list[str]:
    """Make the environment; the command that runs a program in it."""
    tool, *words = framework.install
    if tool == "npm":
        run(["npm", *words, "--silent"], folder)
        return ["node"]
    run([sys.executable, "-m", "venv", "--without-pip", "venv"], folder)
    python = str(folder / "venv" / "bin" / "python")
    pip = [sys.executable, "-m", tool, "--python", python]
    run([*pip, *words, "--quiet", "--no-compile"], folder)
    return [python]


def tried(framework: Framework, gateway: Mapping[str, str]) -> str:
    """What the program of a framework prints."""
    with tempfile.TemporaryDirectory(prefix="mcpyard-framework-") as name:
        folder = Path(name)
        command = installed(framework, folder)
        program = folder / ("program.mjs" if framework.language == "js" else "program.py")
        program.write_text(framework.program)
        return run([*command, str(program)], folder, gateway)


def outcome(framework: Framework, gateway: Mapping[str, str]) -> str:
    """Whether the program of a framework got the answer of the server, in words."""
    try:
        output = tried(framework, gateway)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return f"{FAILED}: {error}"
    return "works" if ANSWER in output else f"{FAILED}: printed {output[-500:]!r}"


@contextmanager
def gateway(folder: Path) -> Generator[dict[str, str]]:
    """`mcpyard up` with a real server; the variables of the page."""
    port, home = free_port(), ["--home", str(folder / "home")]
    server = {"transport": "stdio", "command": "node", "args": [str(SERVER), "stdio"]}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"everything": server}}))
    mcpyard = [sys.executable, "-m", "mcpyard"]
    up = subprocess.Popen(
        [*mcpyard, "up", "--json", "--port", str(port), "--project", str(folder), *home],
        stdout=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + 60
        while READY not in listed(mcpyard, home, folder):
            if time.monotonic() > until:
                raise RuntimeError("mcpyard lists no tools")
            time.sleep(0.2)  # noqa: TID251  another program's start
        token = run([*mcpyard, "token", "create", "frameworks", *home], folder).strip()
        yield {"MCPYARD_URL": f"http://127.0.0.1:{port}/mcp", "MCPYARD_CALL_TOKEN": token}
    finally:
        up.terminate()
        up.wait()


def listed(mcpyard: list[str], home: list[str], folder: Path) -> str:
    try:
        return run([*mcpyard, "tools", *home], folder)
    except RuntimeError:
        return ""


def main() -> None:
    names = {each.lower() for each in sys.argv[1:]}
    failed = False
    chosen = [
        each for each in frameworks(PAGE.read_text()) if not names or each.name.lower() in names
    ]
    with (
        tempfile.TemporaryDirectory(prefix="mcpyard-frameworks-") as folder,
        gateway(Path(folder)) as variables,
    ):
        for each in chosen:
            began = time.monotonic()
            result = outcome(each, variables) if each.runs else "not run"
            failed |= result.startswith(FAILED)
            seconds = time.monotonic() - began
            print(f"{each.name:28} {result} ({seconds:.0f} s with its install)", flush=True)
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
