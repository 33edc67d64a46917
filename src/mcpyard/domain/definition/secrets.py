"""What must not be shown of a launch, and texts that do not show it."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from mcpyard.domain.definition.launch import Launch, LocalLaunch, RemoteLaunch, Unlaunchable

MASKED: Final = "***"

_SECRET_NAME: Final = re.compile(
    r"token|key|secret|passw|credential|authorization|cookie", re.IGNORECASE
)
_LOOKS_SECRET: Final = re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])[^\s/\\:]{16,}")
"""A long word of letters and digits that is neither a path nor an address."""

_SHORTEST: Final = 6
"""Characters; less would mask ordinary words wherever they stand."""


def names_secret(name: str) -> bool:
    """Whether a variable, a header or a field of that name usually holds a secret."""
    return _SECRET_NAME.search(name) is not None


def secrets_of(launch: Launch | Unlaunchable) -> frozenset[str]:
    """The values of a launch's environment, headers or `oauth` that are secrets.

    A variable counts by its name or by its look, since most of them say nothing secret. Of a
    header, every word counts but the one that says of what kind the rest is.
    """
    if isinstance(launch, Unlaunchable):
        return frozenset()
    values = _of_environment(launch) if isinstance(launch, LocalLaunch) else _of_remote(launch)
    return frozenset(value for value in values if len(value) >= _SHORTEST)


def hide(text: str, secrets: Iterable[str]) -> str:
    """A text with every secret masked."""
    for each in longest_first(secrets):
        text = text.replace(each, MASKED)
    return text


def longest_first(secrets: Iterable[str]) -> tuple[str, ...]:
    """Secrets in the order to mask them: of one that is a part of another, the rest would stay."""
    return tuple(sorted(secrets, key=len, reverse=True))


def _of_environment(launch: LocalLaunch) -> Iterator[str]:
    for name, value in launch.environment.items():
        if names_secret(name) or _LOOKS_SECRET.fullmatch(value):
            yield value
            # A text of several lines comes out line by line.
            yield from value.splitlines()


def _of_remote(launch: RemoteLaunch) -> Iterator[str]:
    yield launch.oauth.client_secret
    for value in launch.headers.values():
        first, *rest = value.split() or [""]
        yield from rest or [first]
