"""The unit of the systemd service."""

import contextlib
import os
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from mcpyard.cli.cli_errors import CliError, usage
from mcpyard.cli.cluster_settings import (
    ADDRESS_VARIABLE,
    KEY_VARIABLE,
    OLDER_KEY_VARIABLE,
)
from mcpyard.cluster.node_options import NodeOptions
from mcpyard.domain import limits
from mcpyard.store.home import NO_HOME_DIRECTORY, user_directory

NAME: Final = "mcpyard.service"
MARK: Final = "# Written by `mcpyard service install`, which writes it anew."

_COMMAND: Final = "ExecStart="
_SECRETS: Final = "EnvironmentFile="
_ENVIRONMENT_FILE: Final = "service.env"
_TOKEN_VARIABLE: Final = "MCPYARD_TOKEN"  # noqa: S105  a name
_PLAIN: Final = re.compile(r"[A-Za-z0-9@+=:,./_-]+")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")

_UNIT: Final = """\
{mark}
[Unit]
Description=mcpyard, a control plane for MCP servers
StartLimitIntervalSec=300
StartLimitBurst=5

[Service]
Type=notify
ExecStart={command}
{environment}
# A stuck process ends itself after {own:g} s and says why; this is for when even that fails.
WatchdogSec={watchdog:g}
WatchdogSignal=SIGKILL
# Wrong usage does not get better by a restart.
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2
# mcpyard stops its servers itself, within ten seconds.
KillMode=mixed
# The limits of servers are enforced by the kernel where these are delegated.
Delegate=memory pids
TimeoutStopSec=20
# Servers inherit what is set here, so nothing restricts them: see docs/security.md.
NotifyAccess=main
OOMPolicy=continue
LimitCORE=0:infinity

[Install]
WantedBy=default.target
"""


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """The options of the service."""

    home: Path
    port: int
    project: Path | None = None
    node: NodeOptions | None = None

    @property
    def environment_file(self) -> Path:
        """The secrets of a node, which neither the unit nor a command line contains."""
        return self.home / _ENVIRONMENT_FILE


def unit_path() -> Path:
    """Where systemd looks for the units of a user."""
    if config := os.environ.get("XDG_CONFIG_HOME"):
        folder = Path(config)
    elif home := user_directory():
        folder = home / ".config"
    else:
        raise usage(NO_HOME_DIRECTORY, "set HOME: systemd reads the units of a user from there")
    return folder / "systemd" / "user" / NAME


def make_unit(options: ServiceOptions) -> str:
    """The text of the unit."""
    # -P: a file in the folder that it starts in must not pass for one of our modules.
    command = [sys.executable, "-P", "-m", "mcpyard", "up"]
    command += ["--home", str(options.home), "--port", str(options.port)]
    if options.project:
        command += ["--project", str(options.project.absolute())]
    command += options.node.arguments() if options.node else []
    # Programs such as npx and uvx are found where the user has them, not where systemd looks.
    path = f"PATH={os.environ.get('PATH', os.defpath)}"
    # No quotes: systemd takes the line as it is, and only expands specifiers.
    file = str(options.environment_file).replace("%", "%%")
    environment = [f"Environment={_quoted(path)}"]
    environment += [f"{_SECRETS}{_checked(file)}"] if options.node else []
    return _UNIT.format(
        mark=MARK,
        command=_joined(command),
        environment="\n".join(environment),
        own=limits.STUCK_END,
        watchdog=limits.STUCK_RESTART,
    )


def make_environment(options: ServiceOptions) -> bytes:
    """The secrets of a node as systemd reads them from a file."""
    names = [KEY_VARIABLE, OLDER_KEY_VARIABLE, _TOKEN_VARIABLE]
    if options.node and not options.node.dsn_file:
        names.append(ADDRESS_VARIABLE)
    values = {name: os.environ.get(name, "").strip() for name in names}
    lines = [f"{name}={_in_quotes(value)}\n" for name, value in values.items() if value]
    return "".join([f"{MARK}\n", *lines]).encode()


def environment_file_of(unit: str) -> Path | None:
    """The file of secrets that a unit of ours names."""
    line = next((each for each in unit.splitlines() if each.startswith(_SECRETS)), "")
    return Path(line.removeprefix(_SECRETS).replace("%%", "%")) if line else None


def serves(home: Path) -> bool:
    """Whether the installed service is one of ours, and that of a home."""
    with contextlib.suppress(OSError, ValueError, CliError):
        text = unit_path().read_text()
        served = _home_of(text) if text.startswith(MARK) else None
        return served is not None and served.resolve() == home.resolve()
    return False


def _home_of(unit: str) -> Path | None:
    command = next((each for each in unit.splitlines() if each.startswith(_COMMAND)), "")
    words = shlex.split(command.removeprefix(_COMMAND))
    named = [word for option, word in pairwise(words) if option == "--home"]
    return Path(named[0].replace("$$", "$").replace("%%", "%")) if named else None


def _joined(words: Sequence[str]) -> str:
    return " ".join(_quoted(each).replace("$", "$$") for each in words)


def _checked(word: str) -> str:
    if _CONTROL.search(word):
        raise usage(f"{word!r} cannot be written into a systemd unit")
    word.encode()
    return word


def _in_quotes(value: str) -> str:
    """A value of an environment file; nothing in it is expanded."""
    if _CONTROL.search(value):
        raise usage("a variable with control characters cannot be written into a file for systemd")
    return '"' + re.sub(r'(["\\$`])', r"\\\1", value) + '"'


def _quoted(word: str) -> str:
    """A word as systemd reads it back."""
    _checked(word)
    if _PLAIN.fullmatch(word):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'
