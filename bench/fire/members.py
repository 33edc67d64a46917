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

HEALTH = {"interval": 2000, "timeout": 1500, "failures": 2}
"""A server that is frozen for seconds is noticed, and some are restarted."""

BROKEN = "broken"
MISSING = "missing"
RESTING = "resting"
GUARDED = "guarded"
SCHEMA = "schema"
RESOURCES = "resources"
BOMB = "bomb"
DAEMONS = "daemons"
PLAIN = ("legacy", "modern", "slow", "crashing", "stubborn")
LOCAL = (*PLAIN, GUARDED, SCHEMA, RESOURCES, BOMB, DAEMONS)
REMOTE = ("http", "sse")
KINDS = {
    "legacy": 5,
    "modern": 4,
    "slow": 2,
    "crashing": 2,
    "stubborn": 2,
    GUARDED: 2,
    SCHEMA: 1,
    RESOURCES: 2,
    BOMB: 1,
    DAEMONS: 2,
    "http": 2,
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
        fallback: Who may answer for it.
    """

    name: str
    kind: str
    scope: str
    port: int
    tag: int = 0
    maybe: set[int] = field(default_factory=set[int])
    ever: set[int] = field(default_factory=lambda: {0})
    fallback: "Member | None" = None

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
        kind = "legacy" if self.kind in {RESTING, MISSING, GUARDED} else self.kind
        args = ["-I", "-S", str(NONCE_SERVER), self.name, str(tag), kind]
        return {"args": [*args, key_of(self.port)] if self.kind == DAEMONS else args}

    def definition(self) -> dict[str, Any]:
        base: dict[str, Any] = {"timeout": TIMEOUT, **self.launch(self.tag)}
        if self.kind in REMOTE:
            url = f"http://127.0.0.1:{self.port}/{self.kind}/{self.name}"
            return {**base, "type": self.kind, "url": url}
        command = sys.executable if self.kind != MISSING else "no-such-program"
        return {**base, "command": command, **self._guard()}

    def _guard(self) -> dict[str, Any]:
        if self.fallback is None:
            return {}
        tools = {"nonce": {"repeatable": True}}
        return {"fallback": [self.fallback.name], "health": HEALTH, "tools": tools}


def make_members(port: int, kinds: dict[str, int]) -> list[Member]:
    """The servers; every other one is the project's, the rest the user's."""
    all_kinds = [kind for kind, count in kinds.items() for _ in range(count)]
    scopes = ("project", "user")
    members = [
        Member(f"s{number:02}-{kind}", kind, scopes[number % 2], port)
        for number, kind in enumerate(all_kinds)
    ]
    plain = next((each for each in members if each.kind == "legacy"), None)
    for member in members:
        member.fallback = plain if member.kind == GUARDED else None
    return members


def key_of(port: int) -> str:
    """What the processes that servers leave behind carry on their command lines."""
    return f"fire-daemon:{port}"


def project_text(members: Iterable[Member]) -> str:
    servers = {
        each.name: {**each.definition(), "wanted": expected_status(each)}
        for each in members
        if each.scope == "project"
    }
    return json.dumps({"mcpServers": servers}, indent=2) + "\n"


def expected_status(member: Member) -> str:
    return "stopped" if member.kind == RESTING else "running"
