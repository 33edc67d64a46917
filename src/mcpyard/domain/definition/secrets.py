"""What must not be shown of a launch, and texts that do not show it."""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from mcpyard.domain.cause import Cause
from mcpyard.domain.definition.launch import Launch, LocalLaunch, RemoteLaunch, Unlaunchable
from mcpyard.domain.definition.secret_names import looks_secret, names_secret
from mcpyard.domain.definition.secret_text import hide, secrets_in_args, secrets_in_url

_SHORTEST: Final = 6
"""Characters; less would mask ordinary words wherever they stand."""


def secrets_of(launch: Launch | Unlaunchable) -> frozenset[str]:
    """The secrets in a launch: its environment, arguments, URL, headers and `oauth`.

    A variable counts by its name or by its look, since most of them say nothing secret. Of a
    header, every word counts but the one that says of what kind the rest is.
    """
    if isinstance(launch, Unlaunchable):
        return frozenset()
    values = _of_local(launch) if isinstance(launch, LocalLaunch) else _of_remote(launch)
    return frozenset(value for value in (*values, *launch.secrets) if len(value) >= _SHORTEST)


def without_secrets(cause: Cause, launch: Launch | Unlaunchable) -> Cause:
    """A cause whose sentences show none of the secrets of the launch that failed."""
    secrets = secrets_of(launch)
    message, hint = hide(cause.message, secrets), hide(cause.hint, secrets)
    if (message, hint) == (cause.message, cause.hint):
        return cause
    return replace(cause, message=message, hint=hint)


def _of_local(launch: LocalLaunch) -> Iterator[str]:
    for name, value in launch.environment.items():
        if names_secret(name) or looks_secret(value):
            yield value
            # A text of several lines comes out line by line.
            yield from value.splitlines()
    yield from secrets_in_args(launch.command)


def _of_remote(launch: RemoteLaunch) -> Iterator[str]:
    yield launch.oauth.client_secret
    yield from secrets_in_url(launch.url)
    for value in launch.headers.values():
        first, *rest = value.split() or [""]
        yield from rest or [first]
