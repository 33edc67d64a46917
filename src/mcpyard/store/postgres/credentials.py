"""The sign-ins and secrets of a cluster, sealed with the key that it has at that moment.

While the key is changed nodes have two. What they write is sealed with the one that the cluster
has, which the same transaction reads: the change of the key comes before or after it.
"""

from dataclasses import asdict

from mcpyard.store.sql.codec import to_text
from mcpyard.store.sql.credentials import SqlCredentials, put_sealed
from mcpyard.store.sql.engine import SqlConnection
from mcpyard.store.sql.sealing import Seal
from mcpyard.store.sql.secrets import SqlSecrets
from mcpyard.wire.remote.credentials import Credentials


class SharedCredentials(SqlCredentials):
    """The `CredentialStore` of a node."""

    async def put(self, credentials: Credentials) -> None:
        """Keep a set in place of the one with the same issuer and resource."""
        content = to_text(asdict(credentials)).encode()

        def job(connection: SqlConnection) -> None:
            sealed = self.sealed(connection, content)
            put_sealed(connection, (credentials.issuer, credentials.resource, sealed))

        await self._engine.run(job)

    def sealed(self, connection: SqlConnection, content: bytes) -> bytes:
        """A content sealed with the key of the cluster; called in a transaction."""
        return _sealed(self._seal, connection, content)


class SharedSecrets(SqlSecrets):
    """The `Secrets` of a node."""

    def sealed_now(self, connection: SqlConnection, content: bytes) -> bytes:
        """A content sealed with the key of the cluster; called in a transaction."""
        return _sealed(self._seal, connection, content)


def _sealed(seal: Seal, connection: SqlConnection, content: bytes) -> bytes:
    (probe,) = connection.execute("SELECT probe FROM meta").fetchone()
    return seal.close_like(bytes(probe), content)
