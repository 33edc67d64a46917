"""Where `up` listens: on loopback, unless the caller knows what it does."""

import errno
import ipaddress
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

from mcpyard.api.http_server.server import Tls
from mcpyard.cli.cli_errors import Complaint, usage
from mcpyard.cli.daemon.port_probe import in_the_way
from mcpyard.store.home import Home


@dataclass(frozen=True, slots=True)
class BindOptions:
    """Where to listen, and how.

    Attributes:
        host: The address.
        port: The port; 0 for any free one.
        tls: The certificate to show.
        insecure: Whether to listen beyond this machine without one.
        names: Further names that requests may call this yard by.
    """

    host: str
    port: int
    tls: Tls | None = None
    insecure: bool = False
    names: tuple[str, ...] = ()

    @property
    def hosts(self) -> set[str]:
        """The names of this yard, besides those of loopback and of its own addresses."""
        return {*self.names, self.host} - {"0.0.0.0", "::"}  # noqa: S104  left out, not bound


def make_tls(certificate: Path | None, key: Path | None) -> Tls | None:
    """The certificate to show, if there is one; both of its files must fit."""
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise usage("--tls-cert and --tls-key are needed together")
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key)
    except OSError as error:
        raise usage(f"--tls-cert, --tls-key: cannot be used: {error.strerror or error}") from None
    return Tls(certificate.absolute(), key.absolute())


def listen(entrance: BindOptions, home: Path) -> socket.socket:
    """A socket that listens."""
    try:
        found = socket.getaddrinfo(entrance.host, entrance.port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError):
        raise usage(f'--host: "{entrance.host}" is no address of this machine') from None
    family, kind, protocol, _, address = found[0]
    _check_reach(entrance, str(address[0]))
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # Bound alone it would not yet keep others away, since they may reuse the address too.
        listener.listen()
    except OSError as error:
        listener.close()
        raise _cannot_listen(entrance, home, error) from None
    return listener


def url_of(listener: socket.socket, entrance: BindOptions) -> str:
    """The address that programs of this machine use."""
    bound, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(bound, str(bound))  # noqa: S104  named, not bound
    scheme = "https" if entrance.tls else "http"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def _check_reach(entrance: BindOptions, address: str) -> None:
    local = ipaddress.ip_address(address.partition("%")[0]).is_loopback
    if not local and entrance.tls is None and not entrance.insecure:
        raise usage(
            f"--host {entrance.host}: others could read the tokens on their way to this address",
            "give a certificate with --tls-cert and --tls-key, or say --insecure",
        )


def _cannot_listen(entrance: BindOptions, folder: Path, error: OSError) -> Complaint:
    if error.errno != errno.EADDRINUSE:
        return Complaint(f"cannot listen on {entrance.host}:{entrance.port}: {error.strerror}")
    # That a yard of this home runs already is the better news, and what this raises then.
    home = Home(folder)
    home.take()
    home.release()
    return in_the_way(entrance.host, entrance.port)
