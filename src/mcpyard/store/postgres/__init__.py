"""What a cluster shares, in PostgreSQL, and what stays with each machine, in its SQLite.

`store.ClusterStore` opens both. Needs the extra `mcpyard[cluster]`: psycopg is imported here and
nowhere else.
"""

from mcpyard.domain.errors import ClusterRefused

try:
    import psycopg as psycopg
except ImportError:
    raise ClusterRefused("a cluster needs psycopg, which is not installed").advising(
        "Install it: pip install 'mcpyard[cluster]'"
    ) from None
