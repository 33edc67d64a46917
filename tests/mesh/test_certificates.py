"""Certificates of nodes: a wrong one is refused with a sentence, on both sides of a link."""

import asyncio
import logging
import logging.handlers
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import pytest
from cryptography import x509

from mcpyard.domain.cluster import Node
from mcpyard.domain.errors import ClusterRefused, NotWritable
from mcpyard.mesh.certificates import NodeCertificates, NodeFiles, make_authority, make_certificate
from mcpyard.mesh.renewal import keep_renewed
from tests.mesh.nodes import ClusterNode, ScriptedServers, TestCluster, cluster_in


def test_a_certificate_of_the_cluster_is_taken_and_its_key_is_private(tmp_path: Path) -> None:
    make_authority(tmp_path / "ca")
    files = make_certificate(tmp_path / "ca", "n1", tmp_path / "out")
    NodeCertificates("n1", files)
    assert files == NodeFiles.of(tmp_path / "out", "n1")
    assert files.key.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "ca" / "ca.key").stat().st_mode & 0o777 == 0o600
    assert {each.name for each in (tmp_path / "out").iterdir()} == {"n1.crt", "n1.key", "ca.crt"}


def test_a_new_certificate_is_valid_where_the_clock_is_a_day_behind(tmp_path: Path) -> None:
    make_authority(tmp_path)
    files = make_certificate(tmp_path, "n1", tmp_path)
    for file in (files.certificate, files.authority):
        certificate = x509.load_pem_x509_certificate(file.read_bytes())
        assert certificate.not_valid_before_utc < datetime.now(UTC) - timedelta(days=1)


def test_an_authority_that_is_there_stays(tmp_path: Path) -> None:
    make_authority(tmp_path)
    before = (tmp_path / "ca.key").read_bytes()
    make_authority(tmp_path)
    assert (tmp_path / "ca.key").read_bytes() == before


def test_certificates_that_cannot_be_used_are_refused_with_what_to_do(tmp_path: Path) -> None:
    make_authority(tmp_path / "a")
    make_authority(tmp_path / "b")
    mine = make_certificate(tmp_path / "a", "n1", tmp_path / "a")
    foreign = make_certificate(tmp_path / "b", "n1", tmp_path / "b")
    old = make_certificate(tmp_path / "a", "n2", tmp_path / "a", valid=timedelta(days=-1))
    cases = {
        "another authority": ("n1", foreign._replace(authority=mine.authority)),
        'not for "n3"': ("n3", mine),
        "expired on": ("n2", old),
        "does not belong": ("n1", mine._replace(key=old.key)),
        "cannot be read: No such file": ("n1", NodeFiles.of(tmp_path, "n1")),
        "not a PEM file": ("n1", mine._replace(certificate=Path(__file__))),
    }
    for sentence, (name, files) in cases.items():
        with pytest.raises(ClusterRefused, match=sentence) as caught:
            NodeCertificates(name, files)
        assert "mcpyard cluster cert" in caught.value.advice


async def shown_certificate(server: NodeCertificates, client: NodeCertificates) -> bytes:
    """The certificate that a node shows to another one."""
    listening = await asyncio.start_server(
        lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=server.accepting
    )
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        _, writer = await asyncio.open_connection(
            "127.0.0.1", port, ssl=client.dialing, server_hostname="n1"
        )
        try:
            return writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        finally:
            writer.close()


async def test_renewed_certificates_are_shown_without_a_restart(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    make_authority(tmp_path / "ca")
    files = make_certificate(tmp_path / "ca", "n1", tmp_path / "n1")
    one = NodeCertificates("n1", files)
    two = NodeCertificates("n2", make_certificate(tmp_path / "ca", "n2", tmp_path / "n2"))
    before = await shown_certificate(one, two)
    assert not one.replaced()
    caplog.set_level("INFO")
    logged = asyncio.Queue[str]()
    handler = logging.handlers.QueueHandler(cast("Any", logged))
    handler.prepare = lambda record: record.getMessage()
    logging.getLogger(keep_renewed.__module__).addHandler(handler)
    renewing = asyncio.create_task(keep_renewed(one, 0.01))
    try:
        files.certificate.write_text("half a certi")
        assert "was not renewed" in await logged.get()
        assert await shown_certificate(one, two) == before
        make_certificate(tmp_path / "ca", "n1", tmp_path / "n1")
        # Half of the new files may be seen on the way.
        while "was renewed" not in await logged.get():
            pass
        assert await shown_certificate(one, two) != before
    finally:
        renewing.cancel()
        await asyncio.wait({renewing})
        logging.getLogger(keep_renewed.__module__).removeHandler(handler)
    files.certificate.unlink()
    with pytest.raises(ClusterRefused, match="cannot be read"):
        one.renew()


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NotWritable, match="cannot be written"):
        make_authority(tmp_path / "file")


class Unchecked(NodeCertificates):
    """Contexts of a certificate that this node itself does not look at."""

    def __init__(self, files: NodeFiles) -> None:
        import ssl  # noqa: PLC0415

        self._files = files
        self.accepting = self._context(ssl.PROTOCOL_TLS_SERVER)
        self.dialing = self._context(ssl.PROTOCOL_TLS_CLIENT)


def files_of(case: str, cluster: TestCluster, name: str) -> NodeFiles:
    """Files that every other node must refuse."""
    folder = cluster.folder / "wrong"
    authority = cluster.folder
    if case == "another authority":
        authority = cluster.folder / "foreign"
        make_authority(authority)
    valid = timedelta(days=-1) if case == "expired" else timedelta(days=1)
    certified = "n9" if case == "another name" else name
    files = make_certificate(authority, certified, folder, valid=valid)
    return files._replace(authority=cluster.folder / "ca.crt")


@pytest.mark.parametrize("case", ["another authority", "expired", "another name"])
@pytest.mark.parametrize("wrong", ["n1", "n2"])
async def test_nobody_links_to_a_node_with_a_wrong_certificate(
    tmp_path: Path, case: str, wrong: str
) -> None:
    """The smaller name dials: with `n1` wrong the server refuses, with `n2` the client."""
    async with cluster_in(tmp_path) as cluster:
        nodes: dict[str, ClusterNode] = {}
        for name in ("n1", "n2"):
            certificates = Unchecked(files_of(case, cluster, name)) if name == wrong else None
            nodes[name] = ClusterNode(name, cluster, ScriptedServers(), certificates)
            cluster.nodes.append(nodes[name])
            await nodes[name].start()
        cluster.hint()
        dialer = nodes["n1"].mesh.links
        await nodes["n1"].until(lambda: "n2" in dialer.problems)
        assert not dialer.get("n2")
        assert not nodes["n2"].mesh.links.get("n1")
        assert '"n2"' in dialer.problems["n2"] or "n9" in dialer.problems["n2"]


@pytest.mark.parametrize("address", ["a..b:1", f"{'x' * 70}.example:1"])
async def test_a_node_with_an_address_that_is_no_name_is_told_of(
    tmp_path: Path, address: str
) -> None:
    async with cluster_in(tmp_path) as cluster:
        cluster.tables.join(Node("n2", uuid4(), "boot", address, 6.0), None, replace_it=False)
        node = ClusterNode("n1", cluster, ScriptedServers())
        cluster.nodes.append(node)
        await node.start()
        cluster.hint()
        links = node.mesh.links
        await node.until(lambda: "n2" in links.problems)
        assert links.problems["n2"].startswith('node "n2" cannot be reached: ')
