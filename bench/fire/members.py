"""The thirty servers of a yard under fire, and what each of them must be."""

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NONCE_SERVER = Path(__file__).with_name("nonce_server.py")
TIMEOUT = 3000
"""Milliseconds that a call may take: a server that is held must not hold its callers long."""

BROKEN = "broken"
MISSING = "missing"
RESTING = "resting"
LOCAL = ("legacy", "modern", "slow", "crashing", "stubborn")
REMOTE = ("http", "sse")
KINDS = {
    "legacy": 8,
    "modern": 5,
    "slow": 3,
    "crashing": 3,
    "stubborn": 2,
    "http": 4,
    "sse": 2,
    BROKEN: 1,
    MISSING: 1,
    RESTING: 1,
}


@dataclass(slots=True)
class Member:
    """One server.

    Attributes:
        tag: The tag that the last acknowledged edit gave it.
        maybe: Tags of edits that were cut short: there or not.
        ever: Every tag it ever may have had.
    """

    name: str
    kind: str
    scope: str
    port: int
    tag: int = 0
    maybe: set[int] = field(default_factory=set[int])
    ever: set[int] = field(default_factory=lambda: {0})

    @property
    def callable(self) -> bool:
        """Whether calls are expected to be answered."""
        return self.kind in {*LOCAL, *REMOTE}

    @property
    def tags(self) -> set[int]:
        """What its tag can be now."""
        return {self.tag, *self.maybe}

    def try_tag(self, tag: int) -> None:
        self.maybe.add(tag)
        self.ever.add(tag)

    def take_tag(self, tag: int) -> None:
        self.tag, self.maybe = tag, set()

    def launch(self, tag: int) -> dict[str, Any]:
        """What an edit that gives it this tag changes."""
        if self.kind in REMOTE:
            return {"headers": {"X-Tag": str(tag)}}
        if self.kind == BROKEN:
            return {"args": ["-c", "raise SystemExit(3)"]}
        kind = "legacy" if self.kind in {RESTING, MISSING} else self.kind
        return {"args": ["-I", "-S", str(NONCE_SERVER), self.name, str(tag), kind]}

    def definition(self) -> dict[str, Any]:
        base: dict[str, Any] = {"timeout": TIMEOUT, **self.launch(self.tag)}
        if self.kind in REMOTE:
            url = f"http://127.0.0.1:{self.port}/{self.kind}/{self.name}"
            return {**base, "type": self.kind, "url": url}
        command = sys.executable if self.kind != MISSING else "no-such-program"
        return {**base, "command": command}


def make_members(port: int, kinds: dict[str, int]) -> list[Member]:
    """The servers; every other one is the project's, the rest the user's."""
    found = [kind for kind, count in kinds.items() for _ in range(count)]
    scopes = ("project", "user")
    return [
        Member(f"s{number:02}-{kind}", kind, scopes[number % 2], port)
        for number, kind in enumerate(found)
    ]


def project_text(members: Iterable[Member]) -> str:
    servers = {
        each.name: {**each.definition(), "wanted": wanted(each)}
        for each in members
        if each.scope == "project"
    }
    return json.dumps({"mcpServers": servers}, indent=2) + "\n"


def wanted(member: Member) -> str:
    return "stopped" if member.kind == RESTING else "running"
