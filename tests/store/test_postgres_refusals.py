"""A cluster that cannot be joined says why in one sentence, and never repeats its DSN."""

import logging
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

import psycopg
import pytest

from mcpyard.domain.errors import ClusterRefused
from mcpyard.store.postgres.connecting import conninfo_of
from mcpyard.store.postgres.schema import CLUSTER
from mcpyard.store.postgres.setup import init
from mcpyard.store.postgres.store import SharedStore
from tests.free_ports import free_port
from tests.postgres import KEY, Postgres

pytestmark = pytest.mark.real

SECRET = "hunter2-p4ss"  # noqa: S105  no real one


@contextmanager
def refused(*words: str) -> Generator[None]:
    with pytest.raises(ClusterRefused) as raised:
        yield
    error = raised.value
    assert all(word in error.message for word in words), error.message
    assert error.advice.endswith((".", "init")), error.advice
    everything = f"{error} {error.advice} {error!r} {error.__cause__!r}"
    assert SECRET not in everything
    assert "postgresql://" not in error.message


def meta(dsn: str, statement: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(statement.encode())


@pytest.mark.parametrize(
    ("dsn", "words"),
    [
        (f"postgres//u:{SECRET}@host/db", "cannot be read"),
        (f"postgresql://u:{SECRET}@host:port/db", "cannot be"),
        (f"user=u password={SECRET} hosst=h", "cannot be read"),
        (f"postgresql://u:{SECRET}@no-such-host.invalid/db?sslmode=disable", "cannot be reached"),
    ],
)
async def test_a_dsn_that_cannot_be_used(
    dsn: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with refused(words):
        init(dsn, KEY)
    with refused(words):
        await SharedStore.open(dsn, KEY)
    assert SECRET not in caplog.text


async def test_a_port_where_nothing_listens() -> None:
    with refused("cannot be reached"):
        await SharedStore.open(f"postgresql://u:{SECRET}@127.0.0.1:{free_port()}/db", KEY)


async def test_a_user_password_or_database_that_the_server_refuses(
    postgres: Postgres, cluster_dsn: str
) -> None:
    there = f"127.0.0.1:{postgres.port}"
    with refused("does not know the user"):
        await SharedStore.open(f"postgresql://nobody:{SECRET}@{there}/postgres", KEY)
    with refused("does not exist"):
        await SharedStore.open(f"postgresql://mcpyard:{SECRET}@{there}/nowhere", KEY)
    postgres.administer("CREATE ROLE limited LOGIN PASSWORD 'other'")
    configured = postgres.folder / "data" / "pg_hba.conf"
    before = configured.read_text()
    configured.write_text("host all limited 127.0.0.1/32 scram-sha-256\n" + before)
    try:
        postgres.administer("SELECT pg_reload_conf()")
        with refused("refuses the password"):
            await SharedStore.open(f"postgresql://limited:{SECRET}@{there}/postgres", KEY)
        database = cluster_dsn.rpartition("/")[2]
        with refused("may not"):
            await SharedStore.open(f"postgresql://limited:other@{there}/{database}", KEY)
        with refused("may not"):
            init(f"postgresql://limited:other@{there}/postgres", KEY)
    finally:
        configured.write_text(before)
        postgres.administer("SELECT pg_reload_conf()")


async def test_a_database_without_a_cluster(dsn: str) -> None:
    with refused("no cluster"):
        await SharedStore.open(dsn, KEY)
    made = init(dsn, KEY)
    again = init(dsn, KEY)
    assert (made.made, again.made, again.migrated) == (True, False, False)
    assert made.cluster == again.cluster
    await (await SharedStore.open(dsn, KEY)).close()


@pytest.mark.parametrize("key", ["", "another key"])
async def test_a_key_that_is_missing_or_another(cluster_dsn: str, key: str) -> None:
    with refused("MCPYARD_KEY"):
        await SharedStore.open(cluster_dsn, key)
    with refused("MCPYARD_KEY"):
        init(cluster_dsn, key)


async def test_a_schema_of_an_older_version_is_refused_until_it_is_brought_up_to_date(
    cluster_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = (*CLUSTER, ("CREATE TABLE added (one integer)",))
    monkeypatch.setattr("mcpyard.store.postgres.setup.CLUSTER", added)
    with refused(f"version {len(CLUSTER)}", f"needs {len(added)}"):
        await SharedStore.open(cluster_dsn, KEY)
    assert init(cluster_dsn, KEY).migrated
    await (await SharedStore.open(cluster_dsn, KEY)).close()
    monkeypatch.undo()
    await (await SharedStore.open(cluster_dsn, KEY)).close()


async def test_a_schema_that_needs_newer_nodes(cluster_dsn: str) -> None:
    meta(cluster_dsn, "UPDATE mcpyard.meta SET schema_version = 9, min_version = 8")
    with refused("needs version 8", f"knows {len(CLUSTER)}"):
        await SharedStore.open(cluster_dsn, KEY)
    with refused("needs version 8"):
        init(cluster_dsn, KEY)


@pytest.mark.parametrize(
    ("dsn", "mode"),
    [
        ("postgresql://u@db.example/x", "sslmode=require"),
        ("postgresql://u@db.example/x?sslmode=verify-full", "sslmode=verify-full"),
        ("postgresql://u@127.0.0.1,10.0.0.1/x", "sslmode=require"),
        ("postgresql://u@127.0.0.1/x", ""),
        ("postgresql://u@[::1]/x", ""),
        ("postgresql://u@localhost/x", ""),
        ("postgresql:///x?host=/run/postgresql", ""),
    ],
)
def test_another_machine_is_reached_by_tls_only(dsn: str, mode: str) -> None:
    assert mode in conninfo_of(dsn)
    assert mode or "sslmode" not in conninfo_of(dsn)


@pytest.mark.parametrize(
    ("dsn", "variables", "mode"),
    [
        ("postgresql:///x", {"PGHOST": "db.example"}, "sslmode=require"),
        ("dbname=x", {"PGHOSTADDR": "10.0.0.1"}, "sslmode=require"),
        ("postgresql://u@127.0.0.1/x", {"PGHOST": "db.example"}, ""),
        ("postgresql:///x", {"PGHOST": "/run/postgresql"}, ""),
        # What libpq reads by itself; a weaker mode must not take its place.
        ("postgresql://u@db.example/x", {"PGSSLMODE": "verify-full"}, ""),
        ("service=far sslmode=verify-full", {}, "sslmode=verify-full"),
        ("service=far", {"PGSSLMODE": "verify-ca"}, ""),
    ],
)
def test_what_libpq_reads_from_the_environment_counts_too(
    dsn: str, variables: dict[str, str], mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert mode in conninfo_of(dsn)
    assert mode or "sslmode" not in conninfo_of(dsn)


def test_a_service_whose_machine_is_unknown_needs_a_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    with refused("names a service", "no sslmode"):
        conninfo_of("service=far")
    monkeypatch.setenv("PGSERVICE", "far")
    with refused("names a service", "no sslmode"):
        conninfo_of("postgresql:///x")


async def test_a_database_that_has_no_connection_left(postgres: Postgres, cluster_dsn: str) -> None:
    database = cluster_dsn.rpartition("/")[2]
    postgres.administer("CREATE ROLE crowded LOGIN")
    postgres.administer(f"ALTER DATABASE {database} OWNER TO crowded")
    postgres.administer("ALTER ROLE crowded CONNECTION LIMIT 0")
    with refused("no connection left"):
        await SharedStore.open(cluster_dsn.replace("mcpyard@", "crowded@"), KEY)
    postgres.administer(f"ALTER DATABASE {database} OWNER TO mcpyard")
    postgres.administer("DROP ROLE crowded")


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("channel_binding=bogus", "a setting with a value"),
        ("gssencmode=bogus", "a setting with a value"),
        ("service=far&sslmode=require", "service"),
    ],
)
async def test_a_setting_of_the_dsn_with_an_unknown_value(
    cluster_dsn: str, setting: str, words: str
) -> None:
    with refused(words):
        await SharedStore.open(f"{cluster_dsn}?{setting}", KEY)


def ran(program: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout


def test_nothing_of_it_is_loaded_without_a_cluster() -> None:
    program = "import sys, mcpyard, mcpyard.app, mcpyard.cli; print('psycopg' in sys.modules)"
    assert ran(program) == "False\n"


def test_an_installation_without_the_extra_says_what_to_install() -> None:
    program = """import sys
from mcpyard.domain.errors import ClusterRefused
sys.modules["psycopg"] = None
try:
    import mcpyard.store.postgres.store
except ClusterRefused as error:
    print(error, error.advice)"""
    assert "pip install 'mcpyard[cluster]'" in ran(program)
