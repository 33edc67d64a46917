"""The environment a child gets: what every program needs, what it asked for, nothing else.

A yard's own environment is full of secrets that are none of a server's business.
"""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from mcpyard.domain.definition.launch import LocalLaunch
from mcpyard.domain.model import EVERYTHING

_USUAL: Final = re.compile(
    r"""PATH|HOME|USER|LOGNAME|SHELL|TERM|TMPDIR|LANG|LC_.*|TZ|XDG_.*
    |(?i:https?_proxy|all_proxy|no_proxy|ftp_proxy)
    |SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|NODE_EXTRA_CA_CERTS
    |(?i:npm_config_.*)|UV_.*|PIP_.*|SSH_AUTH_SOCK|DOCKER_HOST""",
    re.VERBOSE,
)

_OURS: Final = (
    "MCPYARD_TOKEN",
    "MCPYARD_KEY",
    "MCPYARD_KEY_OLD",
    "MCPYARD_HOME",
    "MCPYARD_CLUSTER",
)
"""What leads to the state of mcpyard; no server gets it, whatever it inherits."""


def child_environment(own: Mapping[str, str], launch: LocalLaunch) -> dict[str, str]:
    """What of our own environment a child gets, and what its definition says on top."""
    everything = EVERYTHING in launch.inherit
    inherited = {
        name: value
        for name, value in own.items()
        if everything or name in launch.inherit or _USUAL.fullmatch(name)
    }
    for name in _OURS:
        inherited.pop(name, None)
    if (home := own.get("MCPYARD_HOME")) and _is_legal(launch.command):
        inherited["MCPYARD_LEGAL_HOME"] = home
    inherited["PATH"] = _with_our_programs(inherited.get("PATH", os.defpath))
    return inherited | launch.environment


def _is_legal(command: Sequence[str]) -> bool:
    """Whether a command runs the legal server that comes with mcpyard."""
    program = command[0]
    if program in {"mcpyard-legal", str(Path(sys.executable).with_name("mcpyard-legal"))}:
        return True
    return program == sys.executable and tuple(command[1:3]) == ("-m", "mcpyard.legal")


def _with_our_programs(path: str) -> str:
    """A PATH that leads, in the end, to what was installed beside the yard.

    A yard that is started from a virtual environment that is not active does not have it.
    """
    ours = str(Path(sys.executable).parent)
    return path if ours in path.split(os.pathsep) else f"{path}{os.pathsep}{ours}"
