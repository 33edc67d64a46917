"""The tables of a cluster, migration by migration.

A migration only adds, so that nodes of the version before run on; a released one is never edited.
Tables that the single machine has too are as there: ids and JSON are text, times microseconds.

A trigger notes each change of a row that nodes hold in memory: in `changes`, under the revision of
its transaction, with one NOTIFY as a hint. The revision is raised by the first change at the
latest, and is the same row for all writers: its order is the order of the commits.
"""

from typing import Final

ADDRESSES: Final = "0b1c0a3e-52e5-5ad1-9f0b-6d63706d6370"
"""Stands for a server among the exposed names (see `yard.resource_uris`)."""

CHANNEL: Final = "mcpyard"
"""What the hints are sent on."""

_NOTE: Final = """CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    old_key text;
    new_key text;
    at bigint;
BEGIN
    IF TG_OP <> 'INSERT' THEN EXECUTE 'SELECT ' || TG_ARGV[0] INTO old_key USING OLD; END IF;
    IF TG_OP <> 'DELETE' THEN EXECUTE 'SELECT ' || TG_ARGV[0] INTO new_key USING NEW; END IF;
    SELECT rev INTO at FROM mcpyard.revision WHERE raised = pg_current_xact_id();
    IF at IS NULL THEN
        UPDATE mcpyard.revision SET rev = rev + 1, raised = pg_current_xact_id()
        RETURNING rev INTO at;
    END IF;
    INSERT INTO mcpyard.changes (rev, topic, key)
    SELECT DISTINCT at, TG_TABLE_NAME, key FROM unnest(ARRAY[old_key, new_key]) AS key
    WHERE key IS NOT NULL;
    PERFORM pg_notify('mcpyard', at::text);
    RETURN NULL;
END $$"""

_KEYS: Final = {
    "definitions": "$1.id",
    "identities": "$1.name",
    "exposed_names": "$1.server || '' '' || $1.tool",
    "tools": "$1.server",
    "offers": "$1.server",
    "policies": "$1.server",
    "profiles": "$1.name",
    "tokens": "$1.id",
    "login_sessions": "$1.cookie_hash",
    "credentials": "$1.resource",
    "turns": "$1.server::text",
    "placements": "$1.server::text",
    "meta": "''meta''::text",
}

_ORDER: Final = "rowid bigint GENERATED ALWAYS AS IDENTITY"

_FIRST: Final = (
    """CREATE TABLE meta (
        one boolean PRIMARY KEY DEFAULT true CHECK (one), schema_version integer NOT NULL,
        min_version integer NOT NULL, cluster uuid NOT NULL, admin_hash text,
        probe bytea NOT NULL)""",
    """CREATE TABLE revision (
        one boolean PRIMARY KEY DEFAULT true CHECK (one), rev bigint NOT NULL, raised xid8)""",
    "INSERT INTO revision (rev) VALUES (0)",
    "CREATE TABLE changes (rev bigint NOT NULL, topic text NOT NULL, key text NOT NULL)",
    "CREATE INDEX change_revisions ON changes (rev)",
    f"""CREATE TABLE definitions (
        id text PRIMARY KEY, name text NOT NULL UNIQUE, definition text NOT NULL,
        digest text NOT NULL, {_ORDER})""",
    """CREATE TABLE identities (
        scope text NOT NULL, place text NOT NULL, name text NOT NULL, id text NOT NULL UNIQUE,
        PRIMARY KEY (scope, place, name))""",
    """CREATE TABLE exposed_names (
        server text NOT NULL, tool text NOT NULL, name text NOT NULL,
        PRIMARY KEY (server, tool))""",
    f"CREATE UNIQUE INDEX names_of_tools ON exposed_names (name) WHERE server <> '{ADDRESSES}'",
    "CREATE TABLE tools (server text PRIMARY KEY, tools bytea NOT NULL, digest text NOT NULL)",
    "CREATE TABLE offers (server text PRIMARY KEY, offer bytea NOT NULL)",
    "CREATE TABLE policies (server text PRIMARY KEY, policy text NOT NULL)",
    f"CREATE TABLE profiles (name text PRIMARY KEY, profile text NOT NULL, {_ORDER})",
    f"""CREATE TABLE tokens (
        id text PRIMARY KEY, name text NOT NULL, hash text NOT NULL UNIQUE, profile text,
        created bigint NOT NULL, last_used bigint, revoked bigint, expires bigint, {_ORDER})""",
    "CREATE UNIQUE INDEX token_names ON tokens (name) WHERE revoked IS NULL",
    """CREATE TABLE login_sessions (
        cookie_hash text PRIMARY KEY, key_hash text NOT NULL, created bigint NOT NULL,
        expires bigint NOT NULL)""",
    "CREATE TABLE login_links (hash text PRIMARY KEY, expires bigint NOT NULL, used bigint)",
    """CREATE TABLE credentials (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, issuer text NOT NULL,
        resource text NOT NULL, sealed bytea NOT NULL, generation bigint NOT NULL DEFAULT 0,
        claimed_until timestamptz, UNIQUE (resource, issuer))""",
    """CREATE TABLE nodes (
        name text PRIMARY KEY, home uuid NOT NULL, boot text NOT NULL, epoch bigint NOT NULL,
        beat bigint NOT NULL, ttl_ms integer NOT NULL, address text NOT NULL,
        labels text NOT NULL DEFAULT '{}', capacity integer NOT NULL,
        version text NOT NULL DEFAULT '', state text NOT NULL DEFAULT 'up',
        cannot text NOT NULL DEFAULT '[]', blocked boolean NOT NULL DEFAULT false)""",
    """CREATE TABLE placements (
        server uuid PRIMARY KEY, node text NOT NULL, fence bigint NOT NULL,
        next_node text NOT NULL DEFAULT '', since timestamptz NOT NULL DEFAULT now())""",
    """CREATE TABLE events (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        at timestamptz NOT NULL DEFAULT now(), kind text NOT NULL, node text NOT NULL,
        server uuid, source text NOT NULL DEFAULT '', why text NOT NULL DEFAULT '',
        by text NOT NULL DEFAULT '')""",
    "CREATE TABLE fences (server uuid PRIMARY KEY, fence bigint NOT NULL)",
    "CREATE TABLE turns (server uuid PRIMARY KEY, turn bigint NOT NULL)",
    _NOTE,
    *(
        f"CREATE TRIGGER noted AFTER INSERT OR UPDATE OR DELETE ON {table} "
        f"FOR EACH ROW EXECUTE FUNCTION note('{key}')"
        for table, key in _KEYS.items()
    ),
)

_SECRETS: Final = (
    "CREATE TABLE secrets (name text PRIMARY KEY, sealed bytea NOT NULL)",
    """CREATE TRIGGER noted AFTER INSERT OR UPDATE OR DELETE ON secrets
        FOR EACH ROW EXECUTE FUNCTION note('$1.name')""",
)

CLUSTER: Final = (_FIRST, _SECRETS)
"""The migrations; the version of a schema is how many of them it has."""

OLDEST_NODE: Final = 1
"""The schema that a node must know at least to join; raised a release after a migration."""
