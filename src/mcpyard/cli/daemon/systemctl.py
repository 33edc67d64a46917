"""systemctl, for the units of this user: the only way in which mcpyard speaks to systemd's manager.

It runs in the event loop, so that whoever waits for a start can stop waiting.
"""

import asyncio
import shutil
from dataclasses import dataclass
from typing import Final

from mcpyard.cli.cli_errors import CliError
from mcpyard.cli.daemon.service_unit import NAME
from mcpyard.domain.edges import EXIT_UNREACHABLE

TIMEOUT: Final = 60.0

_AWAY: Final = ("connect to bus", "not been booted with systemd")
_ENABLED: Final = frozenset({"enabled", "enabled-runtime"})
_WITHOUT: Final = (
    "run `mcpyard up` by other means; `mcpyard service install --print` prints the unit"
)


@dataclass(frozen=True, slots=True)
class SystemctlResult:
    """What systemctl printed, and how it ended."""

    code: int
    output: str
    error: str


async def systemctl(*words: str, timeout: float = TIMEOUT) -> SystemctlResult:  # noqa: ASYNC109  of the program
    """Run systemctl.

    Raises:
        CliError: There is no systemd for this user, or it does not answer.
    """
    program = shutil.which("systemctl")
    if program is None:
        raise _no_systemd("systemctl not found on PATH")
    process = await asyncio.create_subprocess_exec(
        *(program, "--user", *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(timeout):
            output, error = await process.communicate()
    except TimeoutError:
        raise _no_systemd(f"systemctl did not answer in {timeout:g} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return _checked(SystemctlResult(process.returncode or 0, _text(output), _text(error)))


async def start_service(timeout: float) -> bool:  # noqa: ASYNC109  of the program
    """Have systemd start the service, or wait until it has restarted it.

    False where it does not: the service failed, or is neither enabled nor running.
    """
    try:
        result = await systemctl("show", NAME, "--property=ActiveState,UnitFileState")
        state = dict(line.split("=", 1) for line in result.output.splitlines() if "=" in line)
        if not _is_wanted(state.get("ActiveState", ""), state.get("UnitFileState", "")):
            return False
        # A start of a service that is about to be restarted is done when that is done.
        return not (await systemctl("start", NAME, timeout=timeout)).code
    except CliError:
        return False


def _is_wanted(active: str, enabled: str) -> bool:
    if active == "inactive":
        return enabled in _ENABLED
    return active in {"active", "activating", "reloading", "refreshing", "deactivating"}


def _checked(result: SystemctlResult) -> SystemctlResult:
    if result.code and any(each in result.error for each in _AWAY):
        raise _no_systemd(result.error)
    return result


def _no_systemd(why: str) -> CliError:
    return CliError(
        f"systemd is not available for this user: {why}",
        hint=_WITHOUT,
        slug="no-systemd",
        exit_code=EXIT_UNREACHABLE,
    )


def _text(output: bytes) -> str:
    return output.decode(errors="replace").strip()
