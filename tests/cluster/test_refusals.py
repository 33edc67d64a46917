"""A cluster that cannot be joined as it is set up: one sentence, what to do, and no secret."""

import json
import re
import socket
import subprocess
import sys
from collections.abc import Generator
from datetime import timedelta
from pathlib import Path

import pytest

from mcpyard.domain.edges import EXIT_USAGE
from mcpyard.mesh.certificates import make_authority, make_certificate
from mcpyard.store.postgres.schema import CLUSTER
from tests.cli.commands import Up, echo, mcpyard, write_project
from tests.cluster.nodes import cluster_of
from tests.free_ports import free_port
from tests.postgres import KEY, Postgres, running

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

PASSWORD = "hunter2-" + "of-the-database"
LISTEN = ("--node-listen", "127.0.0.5:0")


class Operator:
    """Somebody who starts a node."""

    def __init__(self, folder: Path, dsn: str) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.dsn = dsn
        self.certificates = folder / "certs"
        make_authority(folder / "ca")
        make_certificate(folder / "ca", "n1", self.certificates)

    def node(self, *more: object) -> tuple[object, ...]:
        return ("--node", "n1", *LISTEN, "--node-certs", self.certificates, *more)

    def refused(
        self, sentence: str, advice: str, *arguments: object, code: int = 1, **env: str
    ) -> None:
        """Start a node that ends with these lines and no others."""
        words = arguments or self.node()
        done = self.runs("up", "--port", 0, *words, **env)
        assert done.returncode == code, done.stdout + done.stderr
        assert done.stdout == ""
        lines = done.stderr.splitlines()
        assert len(lines) == 2, lines
        assert re.fullmatch(f"error: {sentence}", lines[0]), lines
        assert re.fullmatch(f"hint: {advice}", lines[1]), lines
        self.is_discreet(done.stdout + done.stderr)

    def runs(self, *words: object, **env: str) -> subprocess.CompletedProcess[str]:
        """Run a command with the variables of the cluster, unless told others."""
        dsn, key = env.get("MCPYARD_CLUSTER", self.dsn), env.get("MCPYARD_KEY", KEY)
        return mcpyard(*words, home=self.home, MCPYARD_CLUSTER=dsn, MCPYARD_KEY=key)

    def is_discreet(self, *outputs: str) -> None:
        """No output and no file has the password."""
        for each in self.folder.rglob("*"):
            if each.is_file():
                assert PASSWORD.encode() not in each.read_bytes(), each
        assert not any(PASSWORD in each for each in outputs)


@pytest.fixture
def operator(tmp_path: Path, cluster_dsn: str) -> Operator:
    return Operator(tmp_path, cluster_dsn)


@pytest.fixture
def closed() -> Generator[Postgres]:
    """A database that wants passwords."""
    with running() as postgres:
        postgres.administer(f"CREATE ROLE app LOGIN SUPERUSER PASSWORD '{PASSWORD}'")
        hba = postgres.folder / "data" / "pg_hba.conf"
        hba.write_text("host all mcpyard 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 md5\n")
        postgres.administer("SELECT pg_reload_conf()")
        yield postgres


def of_app(dsn: str, password: str = PASSWORD) -> str:
    return dsn.replace("mcpyard@", f"app:{password}@")


@pytest.mark.spec("F8.6")
def test_a_wrong_password_is_refused_and_never_repeated(tmp_path: Path, closed: Postgres) -> None:
    dsn = closed.new_cluster()
    operator = Operator(tmp_path, dsn)
    check = r"Check the DSN in MCPYARD_CLUSTER\."
    wrong = of_app(dsn, PASSWORD[::-1])
    operator.refused("the database refuses the password", check, MCPYARD_CLUSTER=wrong)
    none = dsn.replace("mcpyard@", "app@")
    sentence = "the database wants a password and the DSN has none"
    operator.refused(sentence, check, MCPYARD_CLUSTER=none)
    gone = of_app(dsn).rpartition("/")[0] + "/nowhere"
    sentence, advice = "the database of the DSN does not exist", "Create it first, or check .*"
    operator.refused(sentence, advice, MCPYARD_CLUSTER=gone)
    file = tmp_path.parent / f"{tmp_path.name}.dsn"
    file.write_text(gone)
    operator.refused(sentence, advice, *operator.node("--cluster", file), MCPYARD_CLUSTER="")


def test_the_password_of_a_node_that_runs_is_in_no_file(tmp_path: Path, closed: Postgres) -> None:
    operator = Operator(tmp_path, of_app(closed.new_cluster()))
    variables = {"MCPYARD_CLUSTER": operator.dsn, "MCPYARD_KEY": KEY}
    up = Up(
        operator.home, "--json", "--log-level", "debug", *operator.node(), environment=variables
    )
    try:
        up.wait_ready()
        status = mcpyard("cluster", "status", "--json", home=operator.home)
        closed.kill()
        doctor = operator.runs("doctor")
        assert "the database of the cluster cannot be reached" in doctor.stdout
        assert up.end() == 0, up.errors()
        operator.is_discreet(status.stdout, doctor.stdout + doctor.stderr, up.errors())
    finally:
        up.close()


@pytest.mark.parametrize(
    "dsn",
    [f"no address {PASSWORD}", f"http://app:{PASSWORD}@127.0.0.1/x", f"host={PASSWORD} port"],
)
def test_what_is_no_dsn_is_refused_without_repeating_it(operator: Operator, dsn: str) -> None:
    advice = r"Write it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE\."
    sentence = "the DSN of the cluster's database cannot be read"
    operator.refused(sentence, advice, MCPYARD_CLUSTER=dsn)


@pytest.mark.parametrize("words", [("cluster", "init"), ("up", "--port", "0"), ("backup", "file")])
def test_an_address_in_place_of_its_file_is_refused_without_repeating_it(
    operator: Operator, words: tuple[str, ...]
) -> None:
    for dsn in (f"postgresql://app:{PASSWORD}@127.0.0.1/x", f"host=127.0.0.1 password={PASSWORD}"):
        done = operator.runs(*words, "--cluster", dsn)
        error, hint = done.stderr.splitlines()
        assert error == "error: --cluster takes a file, not the address of a database"
        assert hint.startswith("hint: set MCPYARD_CLUSTER to the address, ")
        assert done.returncode == EXIT_USAGE
        operator.is_discreet(done.stdout + done.stderr)
    missing = operator.runs(*words, "--cluster", operator.folder / "no.dsn")
    assert missing.stderr.startswith(f"error: --cluster: {operator.folder / 'no.dsn'} does not")


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("127.0.0.1:99999/x", "the DSN has a port that does not exist"),
        ("127.0.0.1/x?sslmode=some", "the DSN has an unknown sslmode"),
    ],
)
def test_a_dsn_with_a_setting_that_does_not_exist_is_refused(
    operator: Operator, setting: str, sentence: str
) -> None:
    dsn = f"postgresql://app:{PASSWORD}@{setting}"
    operator.refused(sentence, r"Check the DSN in MCPYARD_CLUSTER\.", MCPYARD_CLUSTER=dsn)


@pytest.mark.parametrize("table", ["meta (one integer)", "tokens (one integer)"])
def test_a_schema_of_this_name_that_is_no_cluster_is_refused(
    operator: Operator, postgres: Postgres, dsn: str, table: str
) -> None:
    database = dsn.rpartition("/")[2]
    postgres.administer("CREATE SCHEMA mcpyard", database)
    postgres.administer(f"CREATE TABLE mcpyard.{table}", database)
    done = operator.runs("cluster", "init", MCPYARD_CLUSTER=dsn)
    assert done.returncode == 1
    error, hint = done.stderr.splitlines()
    assert error == "error: the schema mcpyard of the database is not one of a cluster"
    assert hint.startswith("hint: Name another database in the DSN")
    if table.startswith("meta"):
        operator.refused(error.removeprefix("error: "), "Name another .*", MCPYARD_CLUSTER=dsn)


def test_an_unknown_user_is_refused(operator: Operator) -> None:
    dsn = operator.dsn.replace("mcpyard@", f"stranger:{PASSWORD}@")
    sentence = "the database does not know the user of the DSN"
    operator.refused(sentence, r"Check the DSN in MCPYARD_CLUSTER\.", MCPYARD_CLUSTER=dsn)


def test_a_database_that_cannot_be_reached_leaves_pinned_servers_only(
    tmp_path: Path, operator: Operator
) -> None:
    project = write_project(tmp_path / "p", pinned=echo())
    dsn = f"postgresql://app:{PASSWORD}@127.0.0.1:{free_port()}/x"
    up = Up(
        operator.home,
        *("--json", "--project", project, *operator.node()),
        environment={"MCPYARD_CLUSTER": dsn, "MCPYARD_KEY": KEY},
    )
    try:
        up.wait_ready()
        done = mcpyard("ls", "--json", home=operator.home)
        assert [each["name"] for each in json.loads(done.stdout)] == ["pinned"]
        status = mcpyard("cluster", "status", home=operator.home)
        assert "the database cannot be reached" in status.stdout
        assert up.end() == 0, up.errors()
        errors = up.errors()
        assert "shared servers are not known until it is back" in errors
        operator.is_discreet(errors, status.stdout)
    finally:
        up.close()


def test_a_database_without_tables_is_refused(operator: Operator, dsn: str) -> None:
    sentence, advice = "the database has no cluster in it", "Run: mcpyard cluster init"
    operator.refused(sentence, advice, MCPYARD_CLUSTER=dsn)


def test_tables_of_an_older_or_a_newer_version_are_refused(
    operator: Operator, postgres: Postgres
) -> None:
    database = operator.dsn.rpartition("/")[2]
    postgres.administer("UPDATE mcpyard.meta SET schema_version = 0", database)
    sentence = f"the cluster's schema has version 0, this mcpyard needs {len(CLUSTER)}"
    operator.refused(sentence, "Bring it up to date with this version: mcpyard cluster init")
    change = "UPDATE mcpyard.meta SET schema_version = 9, min_version = 9"
    postgres.administer(change, database)
    sentence = f"the cluster's schema needs version 9, this mcpyard knows {len(CLUSTER)}"
    operator.refused(sentence, r"Update mcpyard on this node\.")
    done = mcpyard("cluster", "init", home=operator.home, MCPYARD_CLUSTER=operator.dsn)
    assert (done.returncode, done.stdout) == (1, "")


def test_a_missing_or_different_key_is_refused(operator: Operator) -> None:
    advice = r"[Ss]et .* the key that `mcpyard cluster init` printed\.?"
    sentence = "MCPYARD_KEY is not set"
    operator.refused(sentence, advice, code=EXIT_USAGE, MCPYARD_KEY="")
    sentence = "MCPYARD_KEY is not the key of this cluster"
    operator.refused(sentence, advice, MCPYARD_KEY="another key")


@pytest.mark.parametrize("case", ["authority", "expired", "name", "unreadable", "missing", "key"])
def test_a_certificate_that_other_nodes_would_refuse_is_refused(
    tmp_path: Path, operator: Operator, case: str
) -> None:
    own, folder = operator.certificates, tmp_path / "others"
    make_authority(tmp_path / "stranger")
    other = make_certificate(tmp_path / "stranger", "n1", folder)
    advice = "Make a new one: mcpyard cluster cert n1"
    match case:
        case "authority":
            other.certificate.replace(own / "n1.crt")
            other.key.replace(own / "n1.key")
            sentence = ".* is of another authority than .*ca.crt"
        case "expired":
            make_certificate(tmp_path / "ca", "n1", own, valid=timedelta(days=-2))
            sentence = r".*n1.crt expired on \d{4}-\d\d-\d\d"
        case "name":
            files = make_certificate(tmp_path / "ca", "n2", own)
            files.certificate.replace(own / "n1.crt")
            files.key.replace(own / "n1.key")
            sentence = 'the certificate .*n1.crt is for n2, not for "n1"'
        case "key":
            other.key.replace(own / "n1.key")
            sentence = "the key .*n1.key does not belong to the certificate .*n1.crt"
        case "unreadable":
            (own / "n1.crt").write_text("no certificate")
            sentence, advice = ".*n1.crt cannot be read: it is not a PEM file", "Check the folder.*"
        case _:
            (own / "ca.crt").unlink()
            sentence, advice = ".*ca.crt cannot be read: No such file .*", "Check the folder.*"
    operator.refused(sentence, advice)


def test_an_address_that_cannot_be_listened_on_is_refused(operator: Operator) -> None:
    certificates = ("--node", "n1", "--node-certs", operator.certificates)
    with socket.create_server(("127.0.0.5", 0)) as busy:
        port = busy.getsockname()[1]
        sentence = f"the address 127.0.0.5:{port} cannot be used for other nodes: Address .* in use"
        advice = "Choose another one with --node-listen"
        operator.refused(sentence, advice, *certificates, "--node-listen", f"127.0.0.5:{port}")
    host = "no-such-host.invalid:1"
    sentence = f"the address {host} cannot be used for other nodes: (?!Unknown).*"
    operator.refused(sentence, advice, *certificates, "--node-listen", host)


CERTS = ("--node-certs", "certs")
USAGE: tuple[tuple[tuple[str, ...], str], ...] = (
    (("--node-listen", "127.0.0.5:0"), "--node-listen needs --node"),
    (("--label", "a=b"), "--label needs --node"),
    (("--replace",), "--replace needs --node"),
    (("--node", "n1", *CERTS), "--node needs --node-listen HOST:PORT"),
    (("--node", "n1", *LISTEN), "--node needs --node-certs DIR"),
    (("--node", "N 1", *LISTEN, *CERTS), '--node: "N 1" is not a valid name'),
    (("--node", "n1", "--node-listen", "x", *CERTS), '--node-listen: "x" is not HOST:PORT'),
    (("--node", "n1", "--node-listen", "x:70000", *CERTS), ".*70000.* is not HOST:PORT"),
    (("--node", "n1", *LISTEN, *CERTS, "--node-ttl", "1"), ".* must be at least 2 seconds"),
    (("--node", "n1", *LISTEN, *CERTS, "--node-ttl", "nan"), ".* must be at least 2 seconds"),
    (("--node", "n1", *LISTEN, *CERTS, "--node-ttl", "inf"), ".* must be at most 3600 seconds"),
    (("--node", "n1", *LISTEN, *CERTS, "--node-ttl", "1e9"), ".* must be at most 3600 seconds"),
    (("--node", "n1", *LISTEN, *CERTS, "--capacity", "3000000000"), ".*--capacity.* 1000000"),
    (
        ("--node", "n1", "--node-listen", "0.0.0.0:8722", *CERTS),
        r"--node-listen 0\.0\.0\.0 needs --node-address HOST:PORT",
    ),
    (
        ("--node", "n1", "--node-listen", "[::]:8722", *CERTS),
        "--node-listen :: needs --node-address HOST:PORT",
    ),
    (
        ("--node", "n1", *LISTEN, *CERTS, "--node-address", "n1:0"),
        '--node-address: "n1:0" has no port',
    ),
    (("--node", "n1", *LISTEN, *CERTS, "--label", "a"), '--label: "a" is not NAME=VALUE'),
)


@pytest.mark.parametrize(("arguments", "sentence"), USAGE)
def test_options_that_do_not_fit_are_refused(
    operator: Operator, arguments: tuple[str, ...], sentence: str
) -> None:
    operator.refused(sentence, ".+", *arguments, code=EXIT_USAGE)


def test_a_node_without_the_address_of_a_database_is_refused(operator: Operator) -> None:
    sentence = "MCPYARD_CLUSTER has no address of a database"
    operator.refused(sentence, "set MCPYARD_CLUSTER to .*", code=EXIT_USAGE, MCPYARD_CLUSTER="")


def test_a_node_name_that_is_taken_is_refused(tmp_path: Path, dsn: str) -> None:
    with cluster_of(tmp_path / "cluster", dsn, "n1"):
        operator = Operator(tmp_path, dsn)
        advice = "Choose another node name, or stop the daemon that uses it; .* with --replace."
        operator.refused('another daemon has the node name "n1"', advice)


WITHOUT_PSYCOPG = """
import sys
sys.modules["psycopg"] = None
from mcpyard.__main__ import run
sys.argv = ["mcpyard", *sys.argv[1:]]
sys.exit(run())
"""


def test_without_psycopg_the_extra_is_named(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    advice = r"Install it: pip install 'mcpyard\[cluster\]'"
    monkeypatch.setattr("tests.cli.commands.MCPYARD", [sys.executable, "-c", WITHOUT_PSYCOPG])
    operator.refused("a cluster needs psycopg, which is not installed", advice)
    for words in (("cluster", "init"), ("cluster", "export", "--to", "x")):
        done = operator.runs(*words)
        assert done.returncode == 1
        assert re.search(advice, done.stderr), done.stderr
    doctor = operator.runs("doctor")
    assert re.search(advice, doctor.stdout), doctor.stdout
