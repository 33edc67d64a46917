"""What the gateway says of itself when a client first asks."""

from collections.abc import Mapping
from importlib.metadata import version

import orjson

from mcpyard.domain.definition.this_yard import INSTANCE, NAME
from mcpyard.domain.narrowing import is_object
from mcpyard.gateway.protocol import META, SERVER_INFO, SUPPORTED
from mcpyard.gateway.views import View

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
        self._info = {"name": NAME, "title": NAME, "version": version(NAME), INSTANCE: instance}

    def initialized(self, revision: str, view: View, *, one: bool) -> bytes:
        """The result of `initialize`."""
        return orjson.dumps(
            {
                "protocolVersion": revision,
                "capabilities": _capabilities(view, one=one),
                "serverInfo": self._info,
                **_instructions(view),
            }
        )

    def discovered(self, view: View, *, one: bool) -> bytes:
        """The result of `server/discover`."""
        return orjson.dumps(
            {
                "resultType": "complete",
                "ttlMs": 0,
                "cacheScope": "private",
                "supportedVersions": SUPPORTED,
                "capabilities": _capabilities(view, one=one),
                **_instructions(view),
                META: {SERVER_INFO: self._info},
            }
        )


def _capabilities(view: View, *, one: bool) -> Mapping[str, object]:
    """What can be asked here: of one server what it offers, of many everything.

    Servers come and go, and a client asks only once.
    """
    known = [seen.session for _, seen in view.servers if seen.session]
    if not one or not known:
        return _EVERYTHING
    offered = known[0].capabilities
    shown = {key: value for key, value in _EVERYTHING.items() if key in offered or key == "tools"}
    resources = offered.get("resources")
    if "resources" in shown and not (is_object(resources) and resources.get("subscribe")):
        shown["resources"] = {"listChanged": True}
    return shown


def _instructions(view: View) -> dict[str, str]:
    said = [
        (server.name, seen.session.instructions)
        for server, seen in view.servers
        if seen.session and seen.session.instructions
    ]
    if len(said) == 1:
        return {"instructions": said[0][1]}
    return {"instructions": "\n\n".join(f"{name}: {text}" for name, text in said)} if said else {}
