"""Why a server could not be started or reached, or how it ended, in words and with advice."""

import errno
import shlex
from pathlib import PurePath
from typing import Final

from msgspec.structs import replace

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.definition.launch import LocalLaunch, RemoteLaunch, Unlaunchable
from mcpyard.domain.definition.sizes import size_text
from mcpyard.domain.definition.this_yard import THIS_YARD_NOTE
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import Disconnected, NeedsAuth, ServerFault, StartFailed
from mcpyard.domain.lifecycle import Phase, State
from mcpyard.runtime.processes.child import Exit, LimitExceeded, SpawnFailed

_NOT_EXECUTABLE: Final = 126
_NOT_FOUND: Final = 127
"""What a shell exits with when the command it was given cannot be run, or is not there."""

_INSTALL: Final = {
    "npx": "Install Node.js, which includes npx.",
    "node": "Install Node.js.",
    "npm": "Install Node.js, which includes npm.",
    "uvx": "Install uv, which includes uvx.",
    "uv": "Install uv.",
    "docker": "Install Docker, and start it.",
    "python": "On many systems the command is python3.",
    "deno": "Install Deno.",
    "bunx": "Install Bun, which includes bunx.",
}
_SPELLING: Final = "Check the spelling, or use the full path."
_INHERIT: Final = (
    "Check the last log lines. Only standard environment variables are passed; "
    'add others under "inherit".'
)

_FAULTS: Final[dict[Phase, type[ServerFault]]] = {
    Phase.NEEDS_AUTH: NeedsAuth,
    Phase.FAILED: StartFailed,
}

THIS_YARD: Final = Cause(
    Code.THIS_YARD,
    f"this server {THIS_YARD_NOTE}",
    "Remove this entry; a gateway cannot connect to itself.",
)


LEASE_EXPIRED: Final = Cause(
    Code.LEASE_EXPIRED, "the lease of this node expired: another node may run the server"
)


def spawn_cause(failure: SpawnFailed, launch: LocalLaunch) -> Cause:
    """Why a process did not come into being."""
    command = launch.command[0]
    if failure.which == "lease":
        return LEASE_EXPIRED
    if failure.which == "cwd":
        message = f'cwd: the folder "{launch.cwd}" does not exist or is not accessible'
        return Cause(Code.INVALID_DEFINITION, message)
    if failure.errno in {errno.ENOENT, errno.ENOTDIR}:
        message = f'command not found: "{command}"'
        return Cause(Code.COMMAND_MISSING, message, _spaced(command) or _advice(command))
    if failure.errno in {errno.EACCES, errno.ENOEXEC, errno.EISDIR}:
        message = f'command "{command}" is not executable: {failure.message}'
        advice = "Make the file executable, or use its interpreter as the command."
        return Cause(Code.COMMAND_MISSING, message, advice)
    return Cause(Code.SPAWN_FAILED, f'command "{command}" failed to start: {failure.message}')


def exit_cause(end: Exit, launch: LocalLaunch, stderr: tuple[str, ...]) -> Cause:
    """Why a process is gone."""
    if end.expired:
        return replace(LEASE_EXPIRED, stderr=stderr)
    if end.exceeded:
        return Cause(Code.LIMIT_EXCEEDED, _exceeded(end.exceeded), stderr=stderr)
    message = f"the process {end.describe()}"
    if end.code in {_NOT_EXECUTABLE, _NOT_FOUND}:
        return Cause(Code.COMMAND_MISSING, message, _advice(launch.command[0]), stderr)
    return Cause(Code.EXITED, message, _INHERIT if end.code else "", stderr)


def _exceeded(exceeded: LimitExceeded) -> str:
    if exceeded.kind == "memory":
        return f"memory limit exceeded ({size_text(exceeded.limit)})"
    return f"process limit exceeded ({exceeded.limit})"


def unlaunchable_cause(launch: Unlaunchable) -> Cause:
    """Why a definition cannot be launched."""
    message = "; ".join(str(problem) for problem in launch.problems)
    name = launch.missing[0] if launch.missing else ""
    hint = f"Set it: mcpyard secret set {name}; or use ${{{name}:-default}}." if name else ""
    if name.startswith("keyring:"):
        hint = f"Set it: mcpyard secret set --keyring {name.removeprefix('keyring:')}"
    return Cause(Code.INVALID_DEFINITION, message, hint)


def sign_in_cause(cause: Cause, server: DesiredServer) -> Cause:
    """Why a server wants a sign-in, with the command for it unless it was given a token."""
    if isinstance(server.launch, RemoteLaunch) and server.launch.brings_token:
        return replace(cause, hint="Set a valid Authorization header.")
    return replace(cause, hint=f"Sign in: mcpyard login {shlex.quote(server.name)}")


def _spaced(command: str) -> str:
    """What to do about a command line where the program alone belongs."""
    program, _, rest = command.strip().partition(" ")
    # A path may hold spaces itself; behind a program's mere name they begin its arguments.
    if not rest or ("/" in program and not rest.lstrip().startswith("-")):
        return ""
    return (
        f'The command contains spaces: use "{program}" as the command '
        f'and put "{rest.strip()}" into the arguments.'
    )


def _advice(command: str) -> str:
    return _INSTALL.get(PurePath(command).name, _SPELLING)


def unreachable(name: str, state: State) -> ServerFault:
    """Why a call could not be made of a server; it never got the call."""
    cause = state.cause
    if cause is None:
        fault: ServerFault = Disconnected(f'the server "{name}" is {state.phase}')
    else:
        kind = _FAULTS.get(state.phase, Disconnected)
        how = "does not respond" if state.phase is Phase.DEGRADED else "is not connected"
        fault = kind(f'the server "{name}" {how}: {cause.message}').because(cause)
    fault.untaken = True
    return fault
