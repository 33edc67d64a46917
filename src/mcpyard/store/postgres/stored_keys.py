"""The keys of a cluster, for whoever takes one away at every node."""

from mcpyard.domain.node_channel import RevokedKey
from mcpyard.store.postgres.store import ClusterStore


class StoredKeys:
    """What lets somebody in at every node, as this one has it."""

    def __init__(self, store: ClusterStore) -> None:
        self._store = store

    @property
    def written(self) -> int:
        """The revision of this node's last change."""
        return self._store.written

    async def reached(self, rev: int) -> None:
        """Return when this node knows every change up to a revision."""
        self._store.look()
        await self._store.reached(rev)

    async def set_admin(self, token_hash: str) -> None:
        """Let a token open every node, in the place of the one before."""
        await self._store.admin.set(token_hash)

    def revoke_elsewhere(self, key: RevokedKey) -> None:
        """Take over that another node took a key away, before the database says so."""
        if key.token is not None:
            self._store.tokens.revoked_elsewhere(key.token, key.at)
        if key.cookie_hash:
            self._store.sessions.removed_elsewhere(key.cookie_hash)
