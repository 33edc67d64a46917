"""A PostgreSQL of the tests' own: made in a temporary folder, ended with the test run.

Its programs come from Debian's packages (see scripts/setup). It refuses to run as root, so root
runs it as `postgres`, or as `nobody` where there is no such user.
"""

import contextlib
import getpass
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from tests.free_ports import free_port
from tests.process_families import those_left

PROGRAMS = [*Path("/usr/lib/postgresql").glob("*/bin"), Path("/usr/bin")]
MISSING = "PostgreSQL is not installed; on Debian: apt install postgresql"
START_SECONDS = 20.0
ROOM = 2 * 1024**3
KEY = "the key of the tests"

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "80",
    "shared_buffers": "16MB",
    "log_min_messages": "fatal",
    "autovacuum": "off",
}
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def program(name: str) -> Path | None:
    """Where a program of PostgreSQL is; the newest version's."""
    return next((each / name for each in reversed(PROGRAMS) if (each / name).exists()), None)


def as_user() -> list[str]:
    """What runs a program as somebody else than root."""
    if os.getuid() != 0:
        return []
    return ["setpriv", f"--reuid={_user().pw_uid}", f"--regid={_user().pw_gid}", "--clear-groups"]


def _user() -> pwd.struct_passwd:
    if os.getuid() != 0:
        return pwd.getpwnam(getpass.getuser())
    with contextlib.suppress(KeyError):
        return pwd.getpwnam("postgres")
    return pwd.getpwnam("nobody")


@dataclass
class Postgres:
    """One instance, on a free port and a socket in its folder."""

    folder: Path
    port: int
    durable: bool
    process: subprocess.Popen[bytes] | None = None
    databases: int = 0
    template: str = ""
    environment: dict[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def make(cls, *, durable: bool = False) -> "Postgres":
        initdb = program("initdb")
        if initdb is None:
            pytest.skip(MISSING)
        # Not below pytest's folder: the other user cannot get into that.
        folder = Path(tempfile.mkdtemp(prefix="mcpyard-pg-", dir=_fast_folder()))
        shutil.chown(folder, _user().pw_uid, _user().pw_gid)
        options = ["--auth=trust", "--username=mcpyard", "--no-sync", "--encoding=UTF8"]
        command = [*as_user(), str(initdb), "-D", str(folder / "data"), *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)
        return cls(folder, free_port(), durable)

    def start(self) -> None:
        settings = SETTINGS if self.durable else SETTINGS | FAST
        chosen = settings | {"port": str(self.port), "unix_socket_directories": str(self.folder)}
        options = [part for name, value in chosen.items() for part in ("-c", f"{name}={value}")]
        command = [*as_user(), str(program("postgres")), "-D", str(self.folder / "data")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *options],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=os.environ | self.environment,
            )
        self._wait()

    def _wait(self) -> None:
        ready = program("pg_isready")
        command = [
            str(ready),
            "-q",
            "-h",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-t",
            "5",
            "-U",
            "mcpyard",
        ]
        for _ in range(int(START_SECONDS / 0.02)):
            assert self.process
            if self.process.poll() is not None:
                raise AssertionError((self.folder / "log").read_text()[-2000:])
            if subprocess.run(command, check=False).returncode == 0:
                return
        raise AssertionError("PostgreSQL does not start")

    def kill(self) -> None:
        """End all of it at once, as a machine that is gone."""
        assert self.process
        # Stopped first, it starts no child that would be overlooked.
        self.process.send_signal(signal.SIGSTOP)
        postmaster = psutil.Process(self.process.pid)
        processes = [postmaster, *postmaster.children(recursive=True)]
        for each in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
        self.process.wait()
        those_left(processes[1:], START_SECONDS)
        self.process = None

    def stop(self) -> None:
        if self.process:
            # Nothing of it is needed any more.
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(30)
            self.process = None

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def dsn(self, database: str = "postgres", port: int | None = None) -> str:
        return f"postgresql://mcpyard@127.0.0.1:{port or self.port}/{database}"

    def new_database(self, template: str = "template1") -> str:
        """A database that nobody has used; its name."""
        self.databases += 1
        name = f"test{self.databases}"
        self.administer(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def drop(self, database: str) -> None:
        self.administer(f"DROP DATABASE {database} WITH (FORCE)")

    def administer(self, statement: str, database: str = "postgres") -> None:
        import psycopg  # noqa: PLC0415  only the tests of clusters need it

        with psycopg.connect(self.dsn(database), autocommit=True) as connection:
            connection.execute(statement.encode())

    def new_cluster(self) -> str:
        """The DSN of a new database with the schema of a cluster in it."""
        from mcpyard.store.postgres.setup import init  # noqa: PLC0415  needs psycopg

        if not self.template:
            self.template = self.new_database()
            init(self.dsn(self.template), KEY)
        return self.dsn(self.new_database(self.template))


def _fast_folder() -> str | None:
    """Memory, where there is enough: it outlives processes that are killed just as a disk does."""
    with contextlib.suppress(OSError):
        if shutil.disk_usage("/dev/shm").free > ROOM and os.access("/dev/shm", os.W_OK):  # noqa: S108
            return "/dev/shm"  # noqa: S108
    return None


@contextlib.contextmanager
def running(*, durable: bool = False) -> Generator[Postgres]:
    """An instance for the block."""
    postgres = Postgres.make(durable=durable)
    try:
        postgres.start()
        yield postgres
    finally:
        postgres.remove()


@pytest.fixture(scope="session")
def postgres() -> Generator[Postgres]:
    """The instance of this test run; each test has a database of its own."""
    with running() as instance:
        yield instance


@pytest.fixture
def dsn(postgres: Postgres) -> Generator[str]:
    """The DSN of a new database."""
    name = postgres.new_database()
    yield postgres.dsn(name)
    postgres.drop(name)


@pytest.fixture
def cluster_dsn(postgres: Postgres) -> Generator[str]:
    """The DSN of a new database with the schema of a cluster in it."""
    made = postgres.new_cluster()
    yield made
    postgres.drop(made.rpartition("/")[2])
