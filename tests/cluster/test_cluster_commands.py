"""`mcpyard cluster`: every action, as text and as JSON."""

import json
import signal
import stat
from pathlib import Path

import pytest

from mcpyard.domain.edges import EXIT_UNREACHABLE, EXIT_USAGE
from mcpyard.mesh.certificates import make_authority
from tests.api.daemon import daemon
from tests.cli.commands import Json, answer, echo, mcpyard
from tests.cluster.nodes import TOKEN, RunningNode, cluster_of
from tests.postgres import KEY

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]


def text(*arguments: object, home: Path, code: int = 0, **env: str) -> str:
    """What `mcpyard cluster` prints."""
    done = mcpyard("cluster", *arguments, home=home, cwd=None, **env)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


def init(home: Path, dsn: str, *arguments: object, key: str = KEY) -> Json:
    return answer("cluster", "init", *arguments, home=home, MCPYARD_CLUSTER=dsn, MCPYARD_KEY=key)


def test_init_creates_the_tables_once_and_prints_the_key_once(tmp_path: Path, dsn: str) -> None:
    home = tmp_path / "home"
    output = text("init", home=home, MCPYARD_CLUSTER=dsn, MCPYARD_KEY="")
    assert output.startswith("created the tables of the cluster\n")
    assert f"the certificate authority is in {home / 'cluster-ca'}\n" in output
    key = output.rpartition("MCPYARD_KEY=")[2].strip()
    assert len(key) > 40
    again = text("init", home=home, MCPYARD_CLUSTER=dsn, MCPYARD_KEY=key)
    assert again.startswith("the tables of the cluster exist\n")
    assert "MCPYARD_KEY" not in again
    record = init(home, dsn, key=key)
    assert (record["made"], record["migrated"]) == (False, False)
    assert "key" not in record
    # Without the key of a cluster that exists, nothing is made and none is printed.
    refused = text("init", home=home, code=1, MCPYARD_CLUSTER=dsn, MCPYARD_KEY="")
    assert refused.startswith("error: MCPYARD_KEY is not the key of this cluster\n")


def test_init_prints_a_new_key_as_json(tmp_path: Path, dsn: str) -> None:
    record = init(tmp_path / "home", dsn, key="")
    assert record["made"]
    assert init(tmp_path / "home", dsn, key=record["key"])["cluster"] == record["cluster"]


def test_a_key_is_told_also_where_nothing_can_be_done_after_the_tables(
    tmp_path: Path, dsn: str
) -> None:
    operator, old = tmp_path / "operator", tmp_path / "old"
    operator.mkdir()
    (operator / "cluster-ca").write_text("a file where the authority should be")
    done = mcpyard(
        *("cluster", "init"), home=operator, cwd=None, MCPYARD_CLUSTER=dsn, MCPYARD_KEY=""
    )
    assert done.returncode == 1
    assert "cluster-ca" in done.stderr
    key = done.stdout.rpartition("MCPYARD_KEY=")[2].strip()
    (operator / "cluster-ca").unlink()
    with daemon(old) as yard:
        yard.register("one", echo())
    record = init(operator, dsn, "--from", old, key=key)
    assert (record["made"], record["copied"]["definitions"]) == (False, 1)


def test_a_key_counts_without_the_line_break_behind_it(
    tmp_path: Path, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    monkeypatch.setenv("MCPYARD_KEY", f"{KEY}\n")
    with daemon(old) as yard:
        yard.client.put("/api/secrets/TOKEN", json={"value": "v"}).raise_for_status()
    record = init(tmp_path / "operator", dsn, "--from", old, key=f"{KEY}\n")
    assert record["copied"]["secrets"] == 1
    assert init(tmp_path / "operator", dsn, key=KEY)["cluster"] == record["cluster"]
    monkeypatch.setenv("MCPYARD_CLUSTER", dsn)
    exported = answer("cluster", "export", "--to", new, home=tmp_path / "operator")
    assert exported["copied"]["secrets"] == 1


def test_the_secrets_of_a_home_are_opened_with_the_key_before(
    tmp_path: Path, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "old"
    monkeypatch.setenv("MCPYARD_KEY", "the key before")
    with daemon(old) as yard:
        yard.client.put("/api/secrets/TOKEN", json={"value": "v"}).raise_for_status()
    record = answer(
        *("cluster", "init", "--from", old),
        home=tmp_path / "operator",
        MCPYARD_CLUSTER=dsn,
        MCPYARD_KEY=KEY,
        MCPYARD_KEY_OLD="the key before",
    )
    assert record["copied"]["secrets"] == 1


def test_cert_writes_the_files_of_each_node(tmp_path: Path, dsn: str) -> None:
    home, out = tmp_path / "home", tmp_path / "certs"
    early = text("cert", "n1", "--out", out, home=home, code=1)
    assert early.startswith(f"error: {home / 'cluster-ca' / 'ca.crt'} cannot be read: No such file")
    assert "mcpyard cluster init" in early
    init(home, dsn)
    lines = text("cert", "n1", "n2", "--out", out, home=home).splitlines()
    assert lines[0] == f"{out / 'n1.crt'} {out / 'n1.key'}"
    assert lines[-1] == f"each node also needs {out / 'ca.crt'}"
    names = {each.name for each in out.iterdir()}
    assert names == {"ca.crt", "n1.crt", "n1.key", "n2.crt", "n2.key"}
    assert stat.S_IMODE((out / "n1.key").stat().st_mode) == 0o600
    [record] = answer("cluster", "cert", "n3", "--out", out, home=home)
    assert record["node"] == "n3"
    assert Path(record["certificate"]).exists()
    assert text("cert", home=home, code=EXIT_USAGE).startswith(
        "error: cluster cert needs the names"
    )


@pytest.mark.parametrize("name", ["../n1", "N1", "a b", "", "ca"])
def test_cert_writes_nothing_for_what_is_no_name_of_a_node(tmp_path: Path, name: str) -> None:
    home, out = tmp_path / "home", tmp_path / "certs"
    make_authority(home / "cluster-ca")
    refused = text("cert", "n1", name, "--out", out, home=home, code=EXIT_USAGE)
    assert refused.startswith(f'error: cluster cert: "{name}" is ')
    assert not out.exists()


def test_a_home_is_copied_to_a_cluster_and_back(
    tmp_path: Path, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    with daemon(old) as yard:
        yard.register("one", echo())
        yard.register("two", echo(), singleton=True)
        yard.post("/api/profiles", {"name": "few"}, status=201)
        yard.post("/api/tokens", {"name": "agent"}, status=201)
    servers = answer("ls", home=old)
    record = init(tmp_path / "operator", dsn, "--from", old)
    assert record["copied"]["definitions"] == 2
    assert record["copied"]["profiles"] == record["copied"]["tokens"] == 1
    again = text(
        *("init", "--from", old),
        home=tmp_path / "operator",
        code=1,
        MCPYARD_CLUSTER=dsn,
        MCPYARD_KEY=KEY,
    )
    assert again == "error: The cluster is in use already\nhint: Copy into a new one.\n"
    monkeypatch.setenv("MCPYARD_CLUSTER", dsn)
    monkeypatch.setenv("MCPYARD_KEY", KEY)
    output = text("export", "--to", new, home=tmp_path / "operator")
    assert output.endswith(f"use it: mcpyard up --home {new}\n")
    assert [line.split() for line in output.splitlines() if "definitions" in line] == [
        ["definitions", "2"]
    ]
    assert answer("ls", home=new) == servers
    other = tmp_path / "other"
    exported = answer(
        *("cluster", "export", "--to", other),
        home=tmp_path / "operator",
    )
    assert exported == {"home": str(other), "copied": record["copied"]}
    used = text("export", "--to", new, home=tmp_path / "operator", code=1)
    assert used == "error: The home is in use already\nhint: Copy into a new one.\n"
    assert text("export", home=old, code=EXIT_USAGE).startswith("error: cluster export needs --to")
    with daemon(new) as yard:
        assert yard.record("two")["singleton"]
        assert [each["name"] for each in yard.get("/api/tokens")] == ["agent"]


def test_a_home_that_is_in_use_is_not_copied(tmp_path: Path, dsn: str) -> None:
    with daemon(tmp_path / "old"):
        refused = text(
            *("init", "--from", tmp_path / "old"),
            home=tmp_path / "operator",
            code=EXIT_UNREACHABLE,
            MCPYARD_CLUSTER=dsn,
            MCPYARD_KEY=KEY,
        )
    assert refused.startswith("error: another mcpyard process (pid ")


def test_a_folder_that_is_no_home_is_not_copied(tmp_path: Path, dsn: str) -> None:
    missing, empty = tmp_path / "missing", tmp_path / "empty"
    empty.mkdir()
    for folder in (missing, empty):
        refused = text(
            *("init", "--from", folder),
            home=tmp_path / "operator",
            code=EXIT_USAGE,
            MCPYARD_CLUSTER=dsn,
            MCPYARD_KEY="",
        )
        assert refused.startswith(f"error: --from: {folder} is not a home of mcpyard")
    assert not missing.exists()
    assert [*empty.iterdir()] == []
    # Nothing was made before.
    assert init(tmp_path / "operator", dsn)["made"]


def test_a_cluster_is_not_copied_into_a_home_that_is_in_use(tmp_path: Path, dsn: str) -> None:
    init(tmp_path / "operator", dsn)
    with daemon(tmp_path / "new"):
        refused = text(
            *("export", "--to", tmp_path / "new"),
            home=tmp_path / "operator",
            code=EXIT_UNREACHABLE,
            MCPYARD_CLUSTER=dsn,
            MCPYARD_KEY=KEY,
        )
    assert refused.startswith("error: another mcpyard process (pid ")


def states(output: str) -> dict[str, tuple[str, str]]:
    """State and servers of each node, by its name."""
    rows = [line.replace(" (this one)", "").split() for line in output.splitlines()[1:]]
    return {row[1]: (row[0], row[2]) for row in rows}


def until_on(node: RunningNode, server: str, name: str) -> None:
    node.until(lambda: node.record(server)["node"] == name)
    node.until_connected(server)


@pytest.mark.spec("F8.4")
def test_nodes_are_shown_drained_and_forgotten_and_servers_moved(
    tmp_path: Path, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCPYARD_TOKEN", TOKEN)
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2") as cluster:
        first, second = cluster.nodes.values()
        home, there = cluster.folder / "n1", cluster.folder / "n2"
        assert states(text(home=home)) == {"n1": ("up", "0/200"), "n2": ("up", "0/200")}
        for number in range(2):
            first.register(f"echo{number}", echo())
        for number in range(2):
            first.until_connected(f"echo{number}")
        refuses_to_move_what_is_stopped(first, home)
        assert text("rebalance", home=home) == "nothing to move\n"
        assert answer("cluster", "rebalance", home=home) == []
        for number in range(2):
            moved = text("move", f"echo{number}", "n2", home=there)
            assert moved.startswith(f"echo{number}: ")
            until_on(first, f"echo{number}", "n2")
        placement = answer("cluster", "move", "echo0", "n2", home=there)
        assert (placement["node"], placement["nextNode"]) == ("n2", None)
        assert text("rebalance", home=there) == "1 server moves\n"
        first.until(lambda: states(text(home=home))["n1"] == ("up", "1/200"))
        details = mcpyard("show", "echo0", home=home).stdout
        assert f"  node             {first.record('echo0')['node']}\n" in details
        plans(home)
        drained = text("drain", "n2", home=home)
        assert states(drained)["n2"][0] == "draining"
        for number in range(2):
            until_on(second, f"echo{number}", "n1")
        first.until(lambda: "n2 was drained, by admin" in text("status", "--servers", home=home))
        lines = text("status", "--events", home=home)
        assert "TIME (UTC)" in lines
        assert "  n2 is drained, by admin\n" in lines
        assert ": on n1, n2 was drained, by admin\n" in lines
        assert "  n1 joined\n" in lines
        assert answer("cluster", "status", "--events", home=home)["events"][-1]["kind"] == "joined"
        report = answer("cluster", "status", home=home)
        assert [(each["name"], each["state"], each["servers"]) for each in report["nodes"]] == [
            ("n1", "up", 2),
            ("n2", "draining", 0),
        ]
        early = text("forget", "n2", "--yes", home=home, code=1)
        assert early.startswith('error: the node "n2" still beats\n')
        second.up.process.send_signal(signal.SIGTERM)
        second.up.process.wait(20)
        first.until(lambda: _is_silent(first, "n2"))
        assert json.loads(text("forget", "n2", "--yes", "--json", home=home)) == {"forgotten": "n2"}
        first.until(lambda: [each["name"] for each in first.get("/api/cluster")["nodes"]] == ["n1"])
        for words in (("drain", "n2"), ("forget", "n2", "--yes"), ("move", "echo0", "n2")):
            assert text(*words, home=home, code=EXIT_USAGE).startswith(
                'error: there is no node "n2"'
            )


def refuses_to_move_what_is_stopped(node: RunningNode, home: Path) -> None:
    node.post("/api/mcp/servers", {"name": "rests", **echo()}, 201)
    for more in ((), ("--dry-run",)):
        assert text("move", "rests", "n2", *more, home=home, code=EXIT_USAGE) == (
            'error: "rests" is stopped: no node has it\nhint: Start it first.\n'
        )


def plans(home: Path) -> None:
    """What a dry run prints, and that it changes nothing."""
    before = answer("cluster", "status", "--servers", home=home)["placements"]
    lines = text("drain", "n2", "--dry-run", home=home).splitlines()
    assert lines[0].split() == ["SERVER", "FROM", "TO", "HOW"]
    [server] = [each["name"] for each in before if each["node"] == "n2"]
    assert lines[1].split()[:3] == [server, "n2", "n1"]
    assert lines[1].endswith("starts there, then ends here")
    plan = answer("cluster", "move", server, "n1", "--dry-run", home=home)
    assert [(each["name"], each["target"]) for each in plan["moves"]] == [(server, "n1")]
    *_, line = text("move", server, "n2", "--dry-run", home=home).splitlines()
    assert line.split(maxsplit=3) == [server, "n2", "n2", "it is there"]
    after = answer("cluster", "status", "--servers", home=home)["placements"]
    assert [each["node"] for each in after] == [each["node"] for each in before]
    refused = text("forget", "n2", "--dry-run", home=home, code=EXIT_USAGE)
    assert refused.startswith("error: cluster forget has no --dry-run\n")


def _is_silent(node: RunningNode, name: str) -> bool:
    [other] = [each for each in node.get("/api/cluster")["nodes"] if each["name"] == name]
    return other["state"] == "left" or other["beatAgeMs"] > 3_500


def test_the_list_of_calls_names_the_node_of_each_and_nodes_that_are_missing(
    tmp_path: Path, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCPYARD_TOKEN", TOKEN)
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2", ttl=30.0) as cluster:
        first, second = cluster.nodes.values()
        first.register("echo", echo())
        for node in (first, second):
            node.until_connected("echo")
            assert node.text_of("echo", "here") == "here"
        home = cluster.folder / "n1"
        first.until(lambda: len(first.get("/api/mcp/calls")["calls"]) == 2)
        listed = mcpyard("calls", home=home)
        assert listed.returncode == 0, listed.stderr
        head, *rows = [each.split() for each in listed.stdout.splitlines()]
        assert head[-1] == "NODE"
        assert [(row[0], row[-1]) for row in rows] == [("n2.1", "n2"), ("1", "n1")]
        assert listed.stderr == ""
        other = mcpyard("calls", "show", "n2.1", home=home)
        assert other.returncode == EXIT_USAGE
        assert "is in the journal of the node n2" in other.stderr
        assert mcpyard("calls", "show", "1", home=home).returncode == 0
        second.kill()
        left = mcpyard("calls", home=home)
        assert [each.split()[-1] for each in left.stdout.splitlines()] == ["NODE", "n1"]
        assert "calls made at n2 are missing" in left.stderr


@pytest.mark.parametrize("words", [("move", "one"), ("drain",), ("forget",), ("status", "n1")])
def test_too_few_and_too_many_words_are_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    refused = text(*words, home=tmp_path / "home", code=EXIT_USAGE)
    assert refused.splitlines()[1] == "hint: see: mcpyard cluster --help"


def test_without_a_cluster_the_actions_say_so(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert text(home=home, code=EXIT_UNREACHABLE).startswith("error: mcpyard is not running")
    with daemon(home):
        for words in (("status",), ("drain", "n1"), ("rebalance",)):
            refused = mcpyard("cluster", *words, home=home)
            assert refused.returncode != 0
            assert refused.stderr.startswith("error: ")
            assert "hint: " in refused.stderr
