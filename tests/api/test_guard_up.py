"""The doors of a real `up`: addresses, names, certificates, links and tokens."""

import contextlib
import datetime as dt
import http.client
import json
import os
import pty
import re
import socket
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from mcpyard.client.discovery import need_yard
from tests.cli.commands import Up, answer, echo, mcpyard, write_project, yard_up

pytestmark = pytest.mark.real


def ask(
    url: str, method: str = "GET", headers: Mapping[str, str] | None = None
) -> tuple[int, bytes, http.client.HTTPMessage]:
    address = urlsplit(url)
    path = f"{address.path or '/'}{'?' if address.query else ''}{address.query}"
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=10)
    with contextlib.closing(connection):
        connection.request(method, path, headers=dict(headers or {}))
        response = connection.getresponse()
        return response.status, response.read(), response.headers


def own_address() -> str | None:
    """An address of this machine that is not loopback; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        host: str = probe.getsockname()[0]
        return None if host.startswith("127.") else host


def certificate(folder: Path, *names: str) -> tuple[Path, Path]:
    """A certificate that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "yard")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([*map(x509.DNSName, names)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    files = folder / "cert.pem", folder / "key.pem"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return files


@pytest.mark.parametrize("host", ["0.0.0.0", "::", own_address() or "0.0.0.0"])  # noqa: S104
def test_listening_beyond_this_machine_is_refused_without_a_word(tmp_path: Path, host: str) -> None:
    refused = mcpyard("up", "--port", "0", "--host", host, home=tmp_path / "home")
    assert refused.returncode == 2
    assert "--tls-cert" in refused.stderr
    assert "--insecure" in refused.stderr
    assert not (tmp_path / "home").exists()


def test_with_the_word_a_yard_listens_everywhere_and_knows_its_names(tmp_path: Path) -> None:
    everywhere = "0.0.0.0"  # noqa: S104
    more = ("--host", everywhere, "--insecure", "--allow-host", "yard.internal")
    with yard_up(tmp_path / "home", *more) as up:
        port = urlsplit(up.url).port
        assert up.url == f"http://127.0.0.1:{port}"
        for host, status in {
            "localhost": 200,
            "yard.internal": 200,
            "Yard.Internal:1": 200,
            everywhere: 421,
            "other.internal": 421,
        }.items():
            assert ask(f"{up.url}/healthz", headers={"Host": host})[0] == status, host
        if address := own_address():
            assert ask(f"http://{address}:{port}/healthz")[0] == 200
            wrong = {"Host": "127.0.0.2"}
            assert ask(f"http://{address}:{port}/healthz", headers=wrong)[0] == 421


def test_a_certificate_is_shown_and_the_commands_know_the_yard_by_it(tmp_path: Path) -> None:
    home, (cert, key) = tmp_path / "home", certificate(tmp_path, "some.name")
    project = write_project(tmp_path / "p", one=echo())
    tls = ("--tls-cert", cert, "--tls-key", key, "--project", project)
    with yard_up(home, *tls) as up:
        assert up.url.startswith("https://127.0.0.1:")
        up.event("status", name="one", status="connected")
        (one,) = answer("ls", home=home)
        assert one["status"] == "connected"
        assert answer("login-link", home=home)["url"].startswith(f"{up.url}/login?link=")
        context = ssl.create_default_context(cafile=str(cert))
        address = urlsplit(up.url)
        with (
            socket.create_connection((address.hostname or "", address.port or 0), 10) as line,
            context.wrap_socket(line, server_hostname="some.name") as safe,
        ):
            safe.sendall(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")
            assert safe.recv(64).startswith(b"HTTP/1.1 200")
        running = home / "yard.json"
        (tmp_path / "other").mkdir()
        other, _ = certificate(tmp_path / "other", "some.name")
        entry = json.loads(running.read_text()) | {"certificate": str(other)}
        running.write_text(json.dumps(entry))
        assert answer("ls", home=home, code=4)["error"]["type"].endswith("yard-silent")


@pytest.mark.parametrize("which", [["--tls-cert"], ["--tls-key"], ["--tls-key", "--tls-cert"]])
def test_files_that_are_no_certificate_are_refused(tmp_path: Path, which: list[str]) -> None:
    (tmp_path / "junk").write_text("junk")
    options = [part for each in which for part in (each, tmp_path / "junk")]
    refused = mcpyard("up", "--port", "0", *options, home=tmp_path / "home")
    assert refused.returncode == 2
    assert "--tls-cert" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_login_link_prints_an_address_that_signs_a_browser_in_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with yard_up(home) as up:
        link = mcpyard("login-link", home=home).stdout.strip()
        status, page, headers = ask(link)
        assert (status, ask(link)[0]) == (200, 403)
        assert b'name="mcpyard-key"' in page
        cookie = str(headers["Set-Cookie"]).split(";", maxsplit=1)[0]
        assert cookie.startswith(f"mcpyard_{urlsplit(up.url).port}=")
        seen = ask(f"{up.url}/api/mcp/servers", headers={"Cookie": cookie})
        assert seen[0] == 200
        assert up.end() == 0
    with yard_up(home, "--port", urlsplit(up.url).port) as again:
        seen = ask(f"{again.url}/api/mcp/servers", headers={"Cookie": cookie})
        assert seen[0] == 200, "a session outlives a restart"


def test_up_shows_a_link_on_a_terminal_and_to_nobody_else(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    up = Up(tmp_path / "home", stdout=theirs)
    os.close(theirs)
    try:
        output = b""
        while b"/login?link=" not in output or not output.endswith(b"\n"):
            output += os.read(ours, 1 << 16)
        link = next(word for word in output.decode().split() if "/login?link=" in word)
        assert ask(link)[0] == 200
        assert up.end() == 0
    finally:
        up.close()
        os.close(ours)
    plain = Up(tmp_path / "home")
    try:
        assert plain.line().startswith("mcpyard ")
        assert plain.end() == 0
        assert plain.process.stdout
        assert b"link=" not in plain.process.stdout.read()
    finally:
        plain.close()


def tokens(home: Path, *arguments: str, code: int = 0) -> Any:  # noqa: ANN401  whatever it prints
    return answer("token", *arguments, home=home, code=code)


def test_tokens_are_made_listed_and_revoked(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with yard_up(home) as up:
        refused = tokens(home, "create", "laptop", "--profile", "work", code=2)["error"]
        assert refused["type"] == "urn:mcpyard:error:profile-unknown"
        need_yard(home).post("/api/profiles", {"name": "work"})
        made = tokens(home, "create", "laptop", "--profile", "work")
        bearer = {"Authorization": f"Bearer {made['token']}"}
        assert ask(f"{up.url}/mcp/work", "POST", bearer)[0] != 401
        assert ask(f"{up.url}/mcp/other", "POST", bearer)[0] == 403
        plain = mcpyard("token", "create", "other", home=home).stdout
        assert plain.startswith("mcpyard_")
        listed = mcpyard("token", "ls", home=home).stdout
        assert "/mcp/work" in listed
        assert made["token"] not in listed
        short = tokens(home, "create", "short", "--expires", "2d")
        left = dt.datetime.fromisoformat(short["expires"]) - dt.datetime.now(dt.UTC)
        assert dt.timedelta(days=1, hours=23) < left <= dt.timedelta(days=2)
        assert re.search(r"short .*expires soon", mcpyard("token", "ls", home=home).stdout)
        assert tokens(home, "revoke", "laptop") == {"revoked": "laptop"}
        assert ask(f"{up.url}/mcp/work", "POST", bearer)[0] == 401
        again = tokens(home, "revoke", "laptop", code=1)["error"]
        assert again["type"] == "urn:mcpyard:error:token-unknown"


@pytest.mark.parametrize(
    "arguments",
    [
        ["fly"],
        ["create"],
        ["revoke"],
        ["ls", "x"],
        ["ls", "--profile", "p"],
        ["revoke", "x", "--expires", "1d"],
        ["create", "x", "--expires", "tomorrow"],
    ],
)
def test_what_makes_no_sense_of_tokens_is_a_usage_error(
    tmp_path: Path, arguments: list[str]
) -> None:
    assert mcpyard("token", *arguments, home=tmp_path / "home").returncode == 2


def test_the_admin_token_is_renewed_with_and_without_a_yard(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert tokens(home, "rotate") == {"rotated": True}
    file = home / "token"
    first = file.read_text()
    with yard_up(home) as up:
        tokens(home, "rotate")
        second = file.read_text()
        assert second != first
        for token, status in ((first, 401), (second, 200)):
            bearer = {"Authorization": f"Bearer {token}"}
            assert ask(f"{up.url}/api/tokens", headers=bearer)[0] == status
        fixed = mcpyard("token", "rotate", home=home, MCPYARD_TOKEN="fixed")  # noqa: S106  a test's own
        assert fixed.returncode == 1
        assert "MCPYARD_TOKEN" in fixed.stderr


def test_a_token_file_that_is_empty_opens_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "token").touch(mode=0o600)
    with yard_up(home) as up:
        assert ask(f"{up.url}/api/tokens", headers={"Authorization": "Bearer "})[0] == 401
        assert (home / "token").read_text()
        assert answer("token", "ls", home=home) == []
