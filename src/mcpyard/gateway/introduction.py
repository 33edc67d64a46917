"""What the gateway says of itself when a client first asks."""

from collections.abc import Mapping

import orjson

from mcpyard import __version__
from mcpyard.domain.definition.this_yard import INSTANCE, NAME
from mcpyard.domain.narrowing import is_object
from mcpyard.gateway.exposures import Exposure
from mcpyard.gateway.protocol import META, SERVER_INFO, SUPPORTED

_EVERYTHING: Mapping[str, object] = {
    "tools": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "prompts": {"listChanged": True},
    "completions": {},
    "logging": {},
}


class Introduction:
    """How one gateway presents itself."""

    def __init__(self, instance: str) -> None:
        self._info = {"name": NAME, "title": NAME, "version": __version__, INSTANCE: instance}

    def initialized(self, revision: str, exposure: Exposure, *, one: bool) -> bytes:
        """The result of `initialize`."""
        return orjson.dumps(
            {
                "protocolVersion": revision,
                "capabilities": _capabilities(exposure, one=one),
                "serverInfo": self._info,
                **_instructions(exposure),
            }
        )

    def discovered(self, exposure: Exposure, *, one: bool) -> bytes:
        """The result of `server/discover`."""
        return orjson.dumps(
            {
                "resultType": "complete",
                "ttlMs": 0,
                "cacheScope": "private",
                "supportedVersions": SUPPORTED,
                "capabilities": _capabilities(exposure, one=one),
                **_instructions(exposure),
                META: {SERVER_INFO: self._info},
            }
        )


def _capabilities(exposure: Exposure, *, one: bool) -> Mapping[str, object]:
    """What can be asked here: of one server what it offers, of many everything.

    Servers come and go, and a client asks only once.
    """
    sessions = [observed.session for _, observed in exposure.servers if observed.session]
    if not one or not sessions:
        return _EVERYTHING
    declared = sessions[0].capabilities
    capabilities = {
        key: value for key, value in _EVERYTHING.items() if key in declared or key == "tools"
    }
    resources = declared.get("resources")
    if "resources" in capabilities and not (is_object(resources) and resources.get("subscribe")):
        capabilities["resources"] = {"listChanged": True}
    return capabilities


def _instructions(exposure: Exposure) -> dict[str, str]:
    texts = [
        (server.name, observed.session.instructions)
        for server, observed in exposure.servers
        if observed.session and observed.session.instructions
    ]
    if len(texts) == 1:
        return {"instructions": texts[0][1]}
    return {"instructions": "\n\n".join(f"{name}: {text}" for name, text in texts)} if texts else {}
