"""Why a server could not be started or reached, or how it ended, in words and with advice."""

import errno
import shlex
from dataclasses import replace
from pathlib import PurePath
from typing import Final

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.definition.launch import LocalLaunch, RemoteLaunch, Unlaunchable
from mcpyard.domain.definition.this_yard import THIS_YARD_NOTE
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import Disconnected, NeedsAuth, ServerFault, StartFailed
from mcpyard.domain.lifecycle import Phase, State
from mcpyard.runtime.processes.keeper_client import Exit, SpawnFailed

_NOT_EXECUTABLE: Final = 126
_NOT_FOUND: Final = 127
"""What a shell exits with when the command it was given cannot be run, or is not there."""

_INSTALL: Final = {
    "npx": "Install Node.js, which brings npx.",
    "node": "Install Node.js.",
    "npm": "Install Node.js, which brings npm.",
    "uvx": "Install uv, which brings uvx.",
    "uv": "Install uv.",
    "docker": "Install Docker, and start it.",
    "python": "On many systems the command is called python3.",
    "deno": "Install Deno.",
    "bunx": "Install Bun, which brings bunx.",
}
_SPELLING: Final = "Check its spelling, or give its full path."
_INHERIT: Final = (
    "Its last lines may say why. A process gets only the usual variables of your environment; "
    "name others it needs in `inherit`."
)

_FAULTS: Final[dict[Phase, type[ServerFault]]] = {
    Phase.NEEDS_AUTH: NeedsAuth,
    Phase.FAILED: StartFailed,
}

THIS_YARD: Final = Cause(
    Code.THIS_YARD, f"this server {THIS_YARD_NOTE}", "Remove it, or leave it to other programs."
)


def spawn_cause(failure: SpawnFailed, launch: LocalLaunch) -> Cause:
    """Why a process did not come into being."""
    command = launch.command[0]
    if failure.which == "cwd":
        return Cause(Code.INVALID_DEFINITION, f'cwd: the folder "{launch.cwd}" cannot be used')
    if failure.errno in {errno.ENOENT, errno.ENOTDIR}:
        message = f'the command "{command}" was not found'
        return Cause(Code.COMMAND_MISSING, message, _spaced(command) or _advice(command))
    if failure.errno in {errno.EACCES, errno.ENOEXEC, errno.EISDIR}:
        message = f'the command "{command}" cannot be executed: {failure.message}'
        return Cause(Code.COMMAND_MISSING, message, "Make it executable, or name its interpreter.")
    return Cause(Code.SPAWN_FAILED, f'the command "{command}" did not start: {failure.message}')


def exit_cause(end: Exit, launch: LocalLaunch, stderr: tuple[str, ...]) -> Cause:
    """Why a process is gone."""
    message = f"the process {end.describe()}"
    if end.code in {_NOT_EXECUTABLE, _NOT_FOUND}:
        return Cause(Code.COMMAND_MISSING, message, _advice(launch.command[0]), stderr)
    return Cause(Code.EXITED, message, _INHERIT if end.code else "", stderr)


def unlaunchable_cause(launch: Unlaunchable) -> Cause:
    """Why a definition cannot be launched."""
    message = "; ".join(str(problem) for problem in launch.problems)
    unset = any("is not set" in problem.message for problem in launch.problems)
    hint = "Set it where mcpyard is started, or write ${NAME:-default}." if unset else ""
    return Cause(Code.INVALID_DEFINITION, message, hint)


def sign_in_cause(cause: Cause, server: DesiredServer) -> Cause:
    """Why a server wants a sign-in, with the command for it unless it was given a token."""
    if isinstance(server.launch, RemoteLaunch) and server.launch.brings_token:
        return replace(cause, hint="Give it an Authorization header that it accepts.")
    return replace(cause, hint=f"Sign in with: mcpyard login {shlex.quote(server.name)}")


def _spaced(command: str) -> str:
    """What to do about a command line where the program alone belongs."""
    program, _, rest = command.strip().partition(" ")
    # A path may hold spaces itself; behind a program's mere name they begin its arguments.
    if not rest or ("/" in program and not rest.lstrip().startswith("-")):
        return ""
    return (
        f'It holds spaces: name the program alone, "{program}", '
        f'and put the rest, "{rest.strip()}", into the arguments.'
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
