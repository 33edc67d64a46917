"""From an address to what it shows."""

from typing import Final
from urllib.parse import unquote

from mcpyard.domain.errors import ServerUnknown
from mcpyard.gateway.exposures import Exposure, ExposureScope
from mcpyard.yard.profiles import RESERVED
from mcpyard.yard.yard import YardCore

ROOT: Final = "/mcp"

_MOST: Final = 256


class Selections:
    """The exposures of all addresses that were asked for."""

    def __init__(self, yard: YardCore) -> None:
        self._yard = yard
        self._views: dict[str, Exposure] = {}

    def exposure(self, path: str) -> Exposure:
        """What an address shows now.

        Raises:
            NotFound: No such profile or server.
        """
        version = self._yard.version
        exposure = self._views.get(path)
        if exposure is None or exposure.version != version:
            exposure = Exposure(self._yard.directory, self._scope(path), version, exposure)
            if len(self._views) >= _MOST:
                self._views.clear()
            self._views[path] = exposure
        return exposure

    def one_server(self, path: str) -> str | None:
        """The server that an address shows under its own names; None for any other address."""
        parts = path.removeprefix(ROOT).strip("/").split("/")
        is_one = len(parts) == len(("servers", "ref")) and parts[0] == RESERVED
        return unquote(parts[1]) if is_one else None

    def _scope(self, path: str) -> ExposureScope:
        ref = self.one_server(path)
        if ref is not None:
            server_id = self._yard.server(ref).id
            return ExposureScope(lambda server: server.id == server_id, own_names=True)
        name = path.removeprefix(ROOT).strip("/")
        if not name:
            return ExposureScope()
        if "/" in name:
            raise ServerUnknown(f'there is no address "{path[:80]}"')
        profile = self._yard.profiles.get(unquote(name))
        return ExposureScope(profile.shows, profile=profile)
