"""The environment a child gets: what every program needs, what it asked for, nothing else.

A yard's own environment is full of secrets that are none of a server's business.
"""

import re
from collections.abc import Mapping
from typing import Final

from mcpyard.domain.launch import LocalLaunch
from mcpyard.domain.model import EVERYTHING

_USUAL: Final = re.compile(
    r"""PATH|HOME|USER|LOGNAME|SHELL|TERM|TMPDIR|LANG|LC_.*|TZ|XDG_.*
    |(?i:https?_proxy|all_proxy|no_proxy|ftp_proxy)
    |SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|NODE_EXTRA_CA_CERTS
    |(?i:npm_config_.*)|UV_.*|PIP_.*|SSH_AUTH_SOCK|DOCKER_HOST|MCPYARD_HOME""",
    re.VERBOSE,
)


def child_environment(own: Mapping[str, str], launch: LocalLaunch) -> dict[str, str]:
    """What of our own environment a child gets, and what its definition says on top."""
    everything = EVERYTHING in launch.inherit
    inherited = {
        name: value
        for name, value in own.items()
        if everything or name in launch.inherit or _USUAL.fullmatch(name)
    }
    inherited.pop("MCPYARD_TOKEN", None)
    return inherited | launch.environment
