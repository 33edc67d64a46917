"""The supervision policy in numbers: seconds unless it says otherwise, each with its reason."""

import re
from collections.abc import Sequence
from typing import Final

START: Final = 30.0
"""A server that needs longer to answer its first question is broken."""

START_WITH_DOWNLOAD: Final = 120.0
"""Runners that may fetch a package or an image first get the time that takes."""

START_SLOT: Final = 2.0
"""A start holds its place among the parallel ones no longer: a hung server delays no other."""

LIST: Final = 10.0
"""A page of a list, of a server that runs; the first list may take as long as a start."""

LIST_DEBOUNCE: Final = 0.25
"""A server that changes ten tools says so ten times."""

LISTED_BURST: Final = 20_000
LISTED_PER_SECOND: Final = 200
LEAST_LISTED: Final = 50
"""Items of lists that a server may have listed again: at once, then every second, and what a list
counts at least. Nearly all servers stay far below; ten thousand tools are listed once a minute."""

LISTING_GRACE: Final = 1.0
"""How much longer a start may take for resources and prompts to be listed too."""

ON_DEMAND_IDLE: Final = 300.0
"""A server that runs on demand rests again when nobody called it for so long."""

LEAST_TOOLS_TTL: Final = 5.0
"""A list that asks never to be cached is still not fetched more often than this."""

WAIT_IN_BACKOFF: Final = 5.0
"""How long a call waits for a server that is just being restarted."""

DRAIN: Final = 5.0
"""Calls in flight may finish before a stop."""

EOF_GRACE: Final = 2.0
TERM_GRACE: Final = 3.0
"""After its input is closed, then after TERM: what most servers need to put their things away."""

SHUTDOWN: Final = 10.0
"""All servers together, in parallel."""

HAND_OVER: Final = 45.0
LAST_REQUESTS: Final = 30.0
"""A node of a cluster that is stopped: for other nodes to start its servers and for the calls of
these to end, then for the requests that came to itself. Service managers allow 90 seconds."""

TICK: Final = 0.5
"""How often the event loop of `mcpyard up` shows that it runs."""

STUCK_STACKS: Final = 2.0
"""Without a tick for so long, the log gets the place: calls wait noticeably."""

STUCK_END: Final = 30.0
"""Without a tick for so long, `mcpyard up` is ended, for a service manager to start it anew."""

STUCK_RESTART: Final = 60.0
"""When systemd steps in: after our own end, which says why, should have come."""

STDERR_LINES: Final = 2_000
STDERR_BYTES: Final = 256 * 1024
STDERR_LINE_BYTES: Final = 8 * 1024
STDERR_TAIL: Final = 20
"""Lines of standard error that a cause carries: what fits on a card."""

LOG_MESSAGES: Final = 500
LOG_MESSAGE_BYTES: Final = 2 * 1024
"""Of the log messages that a server sends, how many are kept, and how much of each."""

USAGE_EVERY: Final = 1.0
USAGE_STRIKES: Final = 3
"""How often processes are compared with their limits, and how often in a row they may exceed them:
a short peak is no leak."""

TASKS_PER_PROCESS: Final = 64
"""The kernel counts threads as processes; it only has to stop what the looks are too slow for."""

_DOWNLOADERS: Final = frozenset(
    {"npx", "npm", "pnpm", "yarn", "bunx", "bun", "uvx", "uv", "pipx", "docker", "podman", "go"}
)


def start_limit(command: Sequence[str], start_timeout: int | None) -> float:
    """How long a start may take: what the user said, else by what the command may do first."""
    if start_timeout is not None:
        return start_timeout / 1000
    program = re.split(r"[/\\]", command[0].lower())[-1] if command else ""
    return START_WITH_DOWNLOAD if program.split(".")[0] in _DOWNLOADERS else START
