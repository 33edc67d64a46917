"""The sign-ins of a cluster: whoever renews one holds a claim on its row meanwhile.

An issuer that rotates refresh tokens takes each of them once, so two nodes must never send the same
one. The claim is written before the issuer is asked, in a transaction of its own. Each claim raises
the generation of the row; what comes of a renewal is stored only under the generation of its claim.
A claim whose node is gone runs out for a node that watched it for long enough, by its own clock: no
wall clock is compared. Without the database nothing is renewed.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Final

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.errors import OutcomeUnknown, StoreAway
from mcpyard.store.postgres.credentials import SharedCredentials
from mcpyard.store.sql.codec import to_text
from mcpyard.store.sql.engine import SqlConnection, SqlEngine
from mcpyard.store.sql.sealing import Seal
from mcpyard.wire.link import LinkFailed
from mcpyard.wire.remote.credentials import Credentials

log = logging.getLogger(__name__)

CLAIM_SECONDS: Final = 90
"""How long a claim is watched before it counts as left behind: longer than a renewal may take."""

_LONGEST_WAIT: Final = 65.0
_LOOK_EVERY: Final = 0.2
_STORE_EVERY: Final = 1.0

_NEWEST: Final = """FROM credentials WHERE resource = ? ORDER BY number DESC LIMIT 1"""
_LOOK: Final = f"SELECT number, generation, claimed_until IS NULL {_NEWEST}"
_CLAIM: Final = f"""UPDATE credentials SET generation = generation + 1,
    claimed_until = clock_timestamp() + {CLAIM_SECONDS} * interval '1 second'
    WHERE number = ? AND generation = ? AND number = (SELECT number {_NEWEST})
    RETURNING number, generation, sealed"""  # noqa: S608  constants
_STORE: Final = """UPDATE credentials SET sealed = ?, issuer = ?, claimed_until = NULL
    WHERE number = ? AND generation = ? RETURNING number"""
_RELEASE: Final = "UPDATE credentials SET claimed_until = NULL WHERE number = ? AND generation = ?"


class SharedClaim:
    """The only renewal of a sign-in (see `RenewalClaim`).

    Attributes:
        credentials: The sign-in; None where there is none.
        row: The number of its row, and its generation; None where nothing is claimed.
    """

    def __init__(
        self,
        store: "ClaimedCredentials",
        credentials: Credentials | None = None,
        row: tuple[int, int] | None = None,
    ) -> None:
        self.credentials = credentials
        self.row = row
        self._store = store

    async def keep(self, renewed: Credentials) -> Credentials | None:
        """Store what came of it; what is stored now."""
        return await self._store.keep(self, renewed)


class ClaimedCredentials(SharedCredentials):
    """The `CredentialStore` of a cluster, and its `RenewalClaims`."""

    def __init__(self, engine: SqlEngine, seal: Seal) -> None:
        super().__init__(engine, seal)
        self._unstored: set[asyncio.Task[None]] = set()
        self._watched: dict[str, tuple[tuple[int, int], float]] = {}

    @asynccontextmanager
    async def claim(self, resource: str) -> AsyncGenerator[SharedClaim]:
        """Renew a sign-in in the block, and nobody else meanwhile (see `RenewalClaims`)."""
        claim = await self._take(resource)
        try:
            yield claim
        finally:
            if claim.row is not None:
                with contextlib.suppress(StoreAway, OutcomeUnknown):
                    await self._engine.execute(_RELEASE, claim.row)

    async def keep(self, claim: SharedClaim, renewed: Credentials) -> Credentials | None:
        """Store what came of a renewal, unless something else was stored meanwhile."""
        row, claim.row = claim.row, None
        if row is None:
            await self.put(renewed)
            return renewed
        try:
            stored = await self._store(renewed, row)
        except (StoreAway, OutcomeUnknown) as error:
            log.warning("a renewed sign-in could not be stored yet: %s", error.message)
            task = asyncio.create_task(self._store_later(renewed, row))
            self._unstored.add(task)
            task.add_done_callback(self._unstored.discard)
            return renewed
        return renewed if stored else await self.get(renewed.resource)

    async def close(self) -> None:
        """Give up what could not be stored."""
        for task in self._unstored:
            task.cancel()
        if self._unstored:
            await asyncio.wait(self._unstored)

    async def _take(self, resource: str) -> SharedClaim:
        loop = asyncio.get_running_loop()
        until = loop.time() + _LONGEST_WAIT
        while True:
            seen = await self._engine.read(lambda it: it.execute(_LOOK, (resource,)).fetchone())
            if seen is None:
                return SharedClaim(self)
            number, generation, is_free = seen
            row = number, generation
            may_claim = is_free or self._is_left_behind(resource, row, loop.time())
            if may_claim and (claim := await self._claimed(resource, row)):
                return claim
            if loop.time() > until:
                message = "Another node does not finish renewing the sign-in"
                raise LinkFailed(Cause(Code.UNREACHABLE, message))
            await asyncio.sleep(_LOOK_EVERY)

    def _is_left_behind(self, resource: str, row: tuple[int, int], now: float) -> bool:
        """Whether the same claim was there for longer than any renewal takes."""
        watched, since = self._watched.get(resource, (None, now))
        if watched != row:
            self._watched[resource] = row, now
            return False
        return now - since >= CLAIM_SECONDS

    async def _claimed(self, resource: str, row: tuple[int, int]) -> SharedClaim | None:
        """Claim a sign-in as it was seen; None when somebody else was sooner."""

        def job(connection: SqlConnection) -> tuple[int, int, bytes] | None:
            return connection.execute(_CLAIM, (*row, resource)).fetchone()

        claimed = await self._engine.run(job)
        if claimed is None:
            return None
        self._watched.pop(resource, None)
        number, generation, sealed = claimed
        return SharedClaim(self, await self.opened(resource, sealed), (number, generation))

    async def _store(self, renewed: Credentials, row: tuple[int, int]) -> bool:
        """Store a renewed sign-in; False when its claim is worth nothing any more."""
        content = to_text(asdict(renewed)).encode()

        def job(connection: SqlConnection) -> bool:
            # Sealed in the transaction, with the key that the cluster has at that moment.
            values = (self.sealed(connection, content), renewed.issuer, *row)
            return connection.execute(_STORE, values).fetchone() is not None

        return await self._engine.run(job)

    async def _store_later(self, renewed: Credentials, row: tuple[int, int]) -> None:
        """Store a renewed sign-in once the database is back; its claim keeps others from it."""
        loop = asyncio.get_running_loop()
        until = loop.time() + CLAIM_SECONDS
        while loop.time() < until:
            await asyncio.sleep(_STORE_EVERY)
            with contextlib.suppress(StoreAway, OutcomeUnknown):
                await self._store(renewed, row)
                return
