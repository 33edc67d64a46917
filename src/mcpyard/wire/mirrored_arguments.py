"""Which arguments the tools of a server want repeated in the headers of a call."""

from collections.abc import Mapping
from typing import Any

import msgspec

from mcpyard.wire.eras import members
from mcpyard.wire.pending import RequestExtras
from mcpyard.wire.remote.request_headers import Path, headers_for, mirrored


class MirroredArguments:
    """What the tools of one list want.

    Attributes:
        paths: The arguments, and the headers that repeat them, by tool; empty for most servers,
            which is all that a call looks at then.
    """

    def __init__(self) -> None:
        self.paths: dict[str, dict[Path, str]] = {}

    def note(self, tool: Mapping[str, Any]) -> bool:
        """Keep what a tool wants; False when it wants the forbidden."""
        try:
            paths = mirrored(tool.get("inputSchema"))
        except ValueError:
            return False
        if paths:
            self.paths[str(tool.get("name"))] = paths
        return True

    def added(self, extras: RequestExtras, name: str, arguments: bytes) -> RequestExtras:
        """The extras of a call with the headers that repeat some of its arguments."""
        paths = self.paths.get(name)
        if not paths:
            return extras
        headers = headers_for(paths, members(msgspec.json.decode(arguments)))
        return RequestExtras(extras.meta, {**extras.headers, **headers})
