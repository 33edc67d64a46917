"""Which client it is that calls itself by some name at a server (`clientInfo.name`)."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from mcpyard.formats.facts import Client

_NAMES: Final[Mapping[str, str]] = {
    "amp-mcp-client": "amp",
    "claude-ai": "claude-desktop",
    "codex-mcp-client": "codex",
    "continue-client": "continue",
    "cursor-vscode": "cursor",
    "gemini-cli-mcp-client": "gemini",
    "github-copilot-developer": "copilot",
    "lmstudio-mcp-bridge": "lmstudio",
    "qwen-cli-mcp-client": "qwen",
    "qwen-code-mcp-client": "qwen",
    "visual studio code": "vscode",
}
"""Names that say less, or something else, than the name of the program."""

_NOISE: Final = re.compile(r"[^a-z0-9]+")
_ENDS: Final = re.compile(r"(mcp|client|cli|bridge)+$")


def announced_client(name: str, clients: Iterable[Client]) -> Client | None:
    """The client of that name; None where it is none of these."""
    every = [*clients]
    by_id = {each.id: each for each in every}
    lowered = name.lower()
    for announced, client in _NAMES.items():
        # Some programs add the name of the server, or of a program in between.
        if lowered == announced or lowered.startswith((f"{announced}-", f"{announced} ")):
            return by_id.get(client)
    word = _plain(name)
    return next((each for each in every if word and word in _words(each)), None)


def _words(client: Client) -> set[str]:
    return {_plain(each) for each in (client.id, client.title, *client.aliases)}


def _plain(name: str) -> str:
    letters = _NOISE.sub("", name.lower())
    return _ENDS.sub("", letters) or letters
