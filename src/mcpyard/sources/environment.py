"""Servers that environment variables configure; read once, since a process's environment stays."""

import logging
from collections.abc import Callable, Mapping

from mcpyard.domain.desired import Document, Owner
from mcpyard.formats import environment

log = logging.getLogger(__name__)


class EnvironmentSource:
    """The servers of one environment."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._document = environment.read(variables)

    @property
    def owner(self) -> Owner:
        """The environment."""
        return environment.OWNER

    async def open(self, wake: Callable[[], None]) -> None:
        """Tell what is wrong with the variables; there is nothing to watch."""
        del wake
        for problem in self._document.problems:
            log.error("%s", problem)

    def document(self) -> Document:
        """What the environment says."""
        return self._document

    async def close(self) -> None:
        """Nothing to end."""
