"""Clients that change a yard until it is killed, and remember what they were promised."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import InitVar, dataclass, field, replace
from typing import Any

import httpx2

from tests.api.daemon import SERVERS, one

KINDS = ("arguments", "enabled", "wanted", "name", "remove")


@dataclass(frozen=True, slots=True)
class Server:
    """What a record must say."""

    name: str
    scope: str
    args: tuple[str, ...]
    enabled: bool = True
    wanted: str = "stopped"
    id: str | None = None

    def is_reported_by(self, record: dict[str, Any]) -> bool:
        server = Server(
            record["name"],
            record["scope"],
            tuple(record["args"]),
            record["enabled"],
            record["wanted"],
            record["id"] if self.id else None,
        )
        return server == self._effective()

    def _effective(self) -> "Server":
        return self if self.enabled else replace(self, wanted="stopped")


@dataclass(slots=True)
class Slot:
    """A place for one server: what is there for certain, and what may be there instead."""

    sure: Server | None = None
    maybe: Sequence[Server | None] = ()

    def settle(self, records: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
        """Take over what is there after a crash; it must be one of what can be."""
        possible = [self.sure, *self.maybe]
        ids = {each.id for each in possible if each and each.id}
        names = {each.name for each in possible if each}
        matches = [each for each in records if each["id"] in ids or each["name"] in names]
        assert len(matches) <= 1, matches
        record = matches[0] if matches else None
        fitting = [
            each
            for each in possible
            if (each.is_reported_by(record) if each and record else each is record)
        ]
        assert fitting, f"promised {self.sure}, or {self.maybe}; found {record}"
        match = fitting[0]
        self.sure = replace(match, id=record["id"]) if match and record else None
        self.maybe = ()
        return record


@dataclass(slots=True)
class Writer:
    """One client with places of its own, and a will of its own."""

    prefix: str
    scopes: Sequence[str]
    seed: InitVar[int]
    slots: list[Slot] = field(default_factory=lambda: [Slot() for _ in range(4)])
    changes: int = 0
    choose: random.Random = field(init=False)

    def __post_init__(self, seed: int) -> None:
        self.choose = random.Random(seed)  # noqa: S311  to be repeated

    def write(self, client: httpx2.Client, count: int) -> int:
        """Make that many changes, or as many as the yard lives for; how many were promised."""
        done = 0
        for number in range(count):
            slot = self.slots[self.choose.randrange(len(self.slots))]
            self.changes += 1
            try:
                self._change(client, slot, f"{self.prefix}{self.changes}")
            except httpx2.TransportError:
                break
            done = number + 1
        return done

    def settle(self, records: Sequence[dict[str, Any]]) -> Iterator[str]:
        """Compare with what is there after a crash; the ids that are this one's."""
        for slot in self.slots:
            if record := slot.settle(records):
                yield record["id"]

    def _change(self, client: httpx2.Client, slot: Slot, mark: str) -> None:
        there = slot.sure
        if there is None:
            slot.maybe = [Server(mark, self.choose.choice(self.scopes), (mark,))]
            answer = self._register(client, slot.maybe[0])
        else:
            slot.maybe = [self._changed(there, mark)]
            answer = self._send(client, there, slot.maybe[0])
        assert answer.status_code in {200, 201, 204}, answer.text
        (made,) = slot.maybe
        if made and there is None:
            made = replace(made, id=answer.json()["id"])
        slot.sure, slot.maybe = made, ()

    def _changed(self, server: Server, mark: str) -> Server | None:
        # A file and the store cannot be changed in one step, so a crash between them costs a
        # renamed project server its id; every other change is in one of them alone.
        unchanged = {"name"} if server.scope == "project" else set[str]()
        # What is wanted of a disabled server shows in no record, so nobody could say what was kept.
        unchanged |= set() if server.enabled else {"wanted"}
        match self.choose.choice([each for each in KINDS if each not in unchanged]):
            case "arguments":
                return replace(server, args=(mark,))
            case "enabled":
                return replace(server, enabled=not server.enabled)
            case "wanted":
                wanted_state = "stopped" if server.wanted == "on_demand" else "on_demand"
                return replace(server, wanted=wanted_state)
            case "name":
                return replace(server, name=mark)
            case _:
                return None

    def _register(self, client: httpx2.Client, server: Server | None) -> httpx2.Response:
        assert server
        body = {"name": server.name, "scope": server.scope, "start": False}
        launch = {"command": "none", "args": [*server.args], "transport": "stdio"}
        return client.post(SERVERS, json=body | launch)

    def _send(self, client: httpx2.Client, old: Server, new: Server | None) -> httpx2.Response:
        if new is None:
            return client.delete(one(old.id or old.name))
        patch: dict[str, object] = {}
        for name in ("name", "args", "enabled", "wanted"):
            if getattr(new, name) != getattr(old, name):
                patch[name] = getattr(new, name)
        return client.patch(one(old.id or old.name), json=patch)
