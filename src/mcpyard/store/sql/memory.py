"""Identities, exposed names, tools and whatever else servers listed, and ways to reach them.

Readers and writers work in memory; every change follows to the disk on its own, in the order of
the changes. One that the disk refuses is tried again with the next, and at the end.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

import orjson

from mcpyard.domain.desired import Owner
from mcpyard.domain.model import Scope, Transport
from mcpyard.domain.observed import Capabilities, Era, Items
from mcpyard.domain.ports import KnownConnection
from mcpyard.store.memory import VolatileMemory
from mcpyard.store.sql.cache import Keys, among
from mcpyard.store.sql.codec import digest
from mcpyard.store.sql.engine import SqlConnection, SqlEngine, SqlJob
from mcpyard.store.sql.rows import readable

# The first identity of a name stays: a rename gave it, and this one came a moment too late.
INSERT_IDENTITY: Final = (
    "INSERT INTO identities (scope, place, name, id) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
INSERT_NAME: Final = """INSERT INTO exposed_names (server, tool, name) VALUES (?, ?, ?)
    ON CONFLICT (server, tool) DO UPDATE SET name = excluded.name"""
INSERT_TOOLS: Final = """INSERT INTO tools (server, tools, digest) VALUES (?, ?, ?)
    ON CONFLICT (server) DO UPDATE SET tools = excluded.tools, digest = excluded.digest"""
INSERT_OFFER: Final = """INSERT INTO offers (server, offer) VALUES (?, ?)
    ON CONFLICT (server) DO UPDATE SET offer = excluded.offer"""
INSERT_REACHED: Final = """INSERT INTO reached (launch, era, transport) VALUES (?, ?, ?)
    ON CONFLICT (launch) DO UPDATE SET era = excluded.era, transport = excluded.transport"""

INSERT_RENAME: Final = """INSERT INTO renames (scope, place, name, new) VALUES (?, ?, ?, ?)
    ON CONFLICT (scope, place, name) DO UPDATE SET new = excluded.new"""


NameKey: TypeAlias = tuple[UUID, str]
"""A server and one of its tools."""


class _MemoryRows(NamedTuple):
    identities: dict[tuple[Owner, str], UUID]
    names: dict[NameKey, str]
    tools: dict[UUID, bytes]
    offers: dict[UUID, bytes]
    reached: dict[str, KnownConnection]
    renames: list[tuple[Owner, str, str]]


class SqlMemory(VolatileMemory):
    """A memory that outlives its program (see the `Memory` port)."""

    def __init__(self, engine: SqlEngine) -> None:
        super().__init__()
        self._engine = engine
        self._unread: dict[UUID, bytes] = {}
        self._unread_offers: dict[UUID, bytes] = {}
        self._renames: list[tuple[Owner, str, str]] = []
        self._refused: dict[object, Callable[[], SqlJob[object]]] = {}

    async def load(self) -> None:
        """Read everything."""
        rows = await self._engine.read(_read)
        self._identities, self._names = rows.identities, rows.names
        self._unread, self._unread_offers = rows.tools, rows.offers
        self._reached, self._renames = rows.reached, rows.renames

    def identity(self, owner: Owner, name: str) -> UUID:
        """The id of a definition, made at its first sight."""
        exists = (owner, name) in self._identities
        identity = super().identity(owner, name)
        if not exists:
            self._save((owner, name), lambda: self._identity_writer(owner, name))
        return identity

    def keep_names(self, names: Mapping[NameKey, str]) -> None:
        """Keep these names for ever."""
        fresh = {key: name for key, name in names.items() if self._names.get(key) != name}
        if fresh:
            super().keep_names(fresh)
            self._save(frozenset(fresh), lambda: self._names_writer(frozenset(fresh)))

    def tools(self, server: UUID) -> Sequence[Mapping[str, object]]:
        """The tools a server listed last."""
        # Reading the tools of a thousand servers would take longer than all the rest of a start.
        if unread := self._unread.pop(server, None):
            for tools in readable([(unread,)], orjson.loads, "a list of tools"):
                self._tools[server] = tools
        return super().tools(server)

    def keep_tools(self, server: UUID, tools: Sequence[Mapping[str, object]]) -> None:
        """Keep what a server listed."""
        if self.tools(server) != tools:
            super().keep_tools(server, tools)
            self._save(server, lambda: self._tools_writer(server))

    def offer(self, server: UUID) -> Capabilities:
        """What else a server offered last."""
        if unread := self._unread_offers.pop(server, None):
            for offer in readable([(unread,)], _offer, "an offer"):
                self._offers[server] = offer
        return super().offer(server)

    def keep_offer(self, server: UUID, offer: Capabilities) -> None:
        """Keep what else a server offers."""
        if self.offer(server) != offer.remembered():
            super().keep_offer(server, offer)
            self._save(("offer", server), lambda: self._offer_writer(server))

    def keep_reached(self, launch_digest: str, reached: KnownConnection | None) -> None:
        """Keep how a launch was reached; None to find out anew."""
        if self._reached.get(launch_digest) != reached:
            super().keep_reached(launch_digest, reached)
            self._save(launch_digest, lambda: self._reached_writer(launch_digest))

    async def rename(self, owner: Owner, name: str, new: str) -> UUID:
        """Give the id of one definition to another name of the same owner, durably.

        A definition that was renamed already, with its id, is left as it is.
        """
        if (owner, name) not in self._identities:
            return self.identity(owner, new)
        identity = self._identities[owner, name]

        def job(connection: SqlConnection) -> None:
            move_identity(connection, (owner, name), new, identity)
            forget_rename(connection, owner, name)

        await self._engine.run(job, lambda _: self.renamed((owner, name), new, identity))
        return identity

    async def intend_rename(self, owner: Owner, name: str, new: str) -> None:
        """Note durably that a definition is about to get another name; `rename` settles that."""
        await self._engine.execute(INSERT_RENAME, (owner.scope, owner.place, name, new))

    async def give_up_rename(self, owner: Owner, name: str) -> None:
        """Forget that a definition was about to get another name."""
        await self._engine.run(lambda connection: forget_rename(connection, owner, name))

    def intended_renames(self) -> Sequence[tuple[Owner, str, str]]:
        """What was about to get another name, and which, when a yard was killed."""
        return self._renames

    def renamed(self, old: tuple[Owner, str], new: str, identity: UUID) -> None:
        """Know of a rename that is on the disk."""
        self._identities.pop(old, None)
        self._identities[old[0], new] = identity

    def names(self) -> dict[NameKey, str]:
        """The exposed names, as they are held here."""
        return self._names

    def drop_names(self, keys: Collection[NameKey]) -> None:
        """Give names up that belong to other tools."""
        for server, tool in keys:
            self._names.pop((server, tool), None)
            row = (str(server), tool)
            self._save(
                (server, tool),
                lambda row=row: (
                    lambda connection: connection.execute(
                        "DELETE FROM exposed_names WHERE server = ? AND tool = ?", row
                    )
                ),
            )

    def forget_tools(self, server: UUID) -> None:
        """Know that a server's tools, and what else it offered, are gone from the disk."""
        for cache in (self._unread, self._tools, self._unread_offers, self._offers):
            cache.pop(server, None)

    async def flush(self) -> None:
        """Return when all that was kept so far is there to stay."""
        self._save_refused()
        await self._engine.flush()
        # Once more, with somebody there to be told why the disk refuses.
        for key, writer in [*self._refused.items()]:
            await self._engine.run(writer(), partial(self._took, key))

    async def close(self) -> None:
        """Write what is not written yet; the disk's last refusals are in the log."""
        self._save_refused()
        await self._engine.flush()

    def _save(self, key: object, writer: Callable[[], SqlJob[object]]) -> None:
        self._refused.pop(key, None)
        self._save_refused()
        self._post(key, writer)

    def _save_refused(self) -> None:
        refused, self._refused = self._refused, {}
        for key, writer in refused.items():
            self._post(key, writer)

    def _took(self, key: object, _: object) -> None:
        self._refused.pop(key, None)
        self._written(key)

    def _written(self, key: object) -> None:
        """What was kept under a key is there to stay."""

    def _post(self, key: object, writer: Callable[[], SqlJob[object]]) -> None:
        def after(done: bool) -> None:
            if done:
                self._written(key)
            else:
                self._refused.setdefault(key, writer)

        self._engine.post(writer(), after)

    def _identity_writer(self, owner: Owner, name: str) -> SqlJob[object]:
        identity = self._identities.get((owner, name))
        if identity is None:
            return _nothing
        row = (owner.scope, owner.place, name, str(identity))
        return lambda connection: connection.execute(INSERT_IDENTITY, row)

    def _names_writer(self, keys: frozenset[NameKey]) -> SqlJob[object]:
        rows = [(str(server), tool, self._names[server, tool]) for server, tool in keys]
        return lambda connection: connection.executemany(INSERT_NAME, rows)

    def _tools_writer(self, server: UUID) -> SqlJob[object]:
        tools = self._tools.get(server)
        if tools is None:
            return _nothing
        return lambda connection: write_tools(connection, server, tools)

    def _offer_writer(self, server: UUID) -> SqlJob[object]:
        capabilities = self._offers.get(server)
        if capabilities is None:
            return _nothing
        lists = [
            each.items
            for each in (capabilities.resources, capabilities.templates, capabilities.prompts)
        ]
        row = (str(server), orjson.dumps(lists))
        return lambda connection: connection.execute(INSERT_OFFER, row)

    def _reached_writer(self, launch_digest: str) -> SqlJob[object]:
        reached = self._reached.get(launch_digest)
        if reached is None:
            sql, row = "DELETE FROM reached WHERE launch = ?", (launch_digest,)
        else:
            sql, row = INSERT_REACHED, (launch_digest, reached.era, reached.transport)
        return lambda connection: connection.execute(sql, row)


def write_tools(
    connection: SqlConnection, server: UUID, tools: Sequence[Mapping[str, object]]
) -> None:
    """Write what a server listed."""
    content = orjson.dumps(tools)
    connection.execute(INSERT_TOOLS, (str(server), content, digest(content)))


def move_identity(
    connection: SqlConnection, old: tuple[Owner, str], new: str, identity: UUID
) -> None:
    """Give an id to another name; what that name once stood for is gone, and its id with it."""
    owner, name = old
    connection.execute(
        "DELETE FROM identities WHERE scope = ? AND place = ? AND name IN (?, ?)",
        (owner.scope, owner.place, name, new),
    )
    connection.execute(INSERT_IDENTITY, (owner.scope, owner.place, new, str(identity)))


def forget_rename(connection: SqlConnection, owner: Owner, name: str) -> None:
    """Forget that a definition was about to get another name."""
    connection.execute(
        "DELETE FROM renames WHERE scope = ? AND place = ? AND name = ?",
        (owner.scope, owner.place, name),
    )


def _nothing(_: SqlConnection) -> None:
    """Write nothing: what was refused once is gone by now."""


def read_identities(connection: SqlConnection, keys: Keys = None) -> dict[tuple[Owner, str], UUID]:
    """The ids of servers of every scope, by owner and name."""
    where, values = among("name", keys)
    rows = connection.execute(f"SELECT scope, place, name, id FROM identities{where}", values)  # noqa: S608  constants
    return dict(readable(rows, _identity, "an identity"))


def read_names(
    connection: SqlConnection, where: str = "", values: Sequence[str] = ()
) -> dict[NameKey, str]:
    """The exposed names of tools."""
    rows = connection.execute(f"SELECT server, tool, name FROM exposed_names{where}", values)  # noqa: S608  constants
    return dict(readable(rows, _name, "an exposed name"))


def read_tools(connection: SqlConnection, keys: Keys = None) -> dict[UUID, bytes]:
    """What servers listed, as it was written."""
    where, values = among("server", keys)
    rows = connection.execute(f"SELECT server, tools FROM tools{where}", values)  # noqa: S608  constants
    return dict(readable(rows, _listed, "a list of tools"))


def read_offers(connection: SqlConnection, keys: Keys = None) -> dict[UUID, bytes]:
    """What else servers offered, as it was written."""
    where, values = among("server", keys)
    rows = connection.execute(f"SELECT server, offer FROM offers{where}", values)  # noqa: S608  constants
    return dict(readable(rows, _listed, "an offer"))


def _read(connection: SqlConnection) -> _MemoryRows:
    reached = connection.execute("SELECT launch, era, transport FROM reached")
    renames = connection.execute("SELECT scope, place, name, new FROM renames")
    return _MemoryRows(
        read_identities(connection),
        read_names(connection),
        read_tools(connection),
        read_offers(connection),
        dict(readable(reached, _reached, "a way to reach a server")),
        [*readable(renames, _rename, "a rename")],
    )


def _identity(scope: str, place: str, name: str, identity: str) -> tuple[tuple[Owner, str], UUID]:
    return (Owner(Scope(scope), place), name), UUID(identity)


def _name(server: str, tool: str, name: str) -> tuple[NameKey, str]:
    return (UUID(server), tool), name


def _listed(server: str, content: bytes) -> tuple[UUID, bytes]:
    return UUID(server), content


def _offer(content: bytes) -> Capabilities:
    lists: list[list[dict[str, object]]] = orjson.loads(content)
    return Capabilities(*(Items(tuple(each)) for each in lists))


def _reached(launch: str, era: str, transport: str | None) -> tuple[str, KnownConnection]:
    return launch, KnownConnection(Era(era), Transport(transport) if transport else None)


def _rename(scope: str, place: str, name: str, new: str) -> tuple[Owner, str, str]:
    return Owner(Scope(scope), place), name, new
