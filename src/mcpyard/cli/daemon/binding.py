"""Where `up` listens: on loopback by default."""

import errno
import ipaddress
import socket
import ssl
from pathlib import Path

from msgspec import Struct

from mcpyard.api.http_server.tls_files import Tls
from mcpyard.cli.cli_errors import CliError, usage
from mcpyard.store.home import Home


class BindOptions(Struct, frozen=True):
    """Where to listen, and how.

    Attributes:
        host: The address.
        port: The port; 0 for any free one.
        tls: The certificate to show.
        insecure: Whether to listen beyond this machine without one.
        names: Further host names that requests may use.
    """

    host: str
    port: int
    tls: Tls | None = None
    insecure: bool = False
    names: tuple[str, ...] = ()

    @property
    def hosts(self) -> set[str]:
        """The host names besides those of loopback and of our own addresses."""
        return {*self.names, self.host} - {"0.0.0.0", "::"}  # noqa: S104  left out, not bound

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it, and under no name of others."""
        try:
            return not self.names and ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return not self.names and self.host == "localhost"

    def arguments(self, port: int) -> list[str]:
        """The options of a command that listens in the same way, with the port that was free."""
        arguments = ["--host", self.host, "--port", str(port)]
        for name in self.names:
            arguments += ["--allow-host", name]
        if self.tls:
            files = "--tls-cert", str(self.tls.certificate), "--tls-key", str(self.tls.key)
            arguments += files
        return [*arguments, "--insecure"] if self.insecure else arguments


def make_tls(certificate: Path | None, key: Path | None) -> Tls | None:
    """The certificate with its key, if there is one; the two must match."""
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise usage("--tls-cert and --tls-key must be used together")
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key)
    except OSError as error:
        raise usage(f"--tls-cert, --tls-key: not usable: {error.strerror or error}") from None
    return Tls(certificate.absolute(), key.absolute())


def listen(bind: BindOptions, home: Path) -> socket.socket:
    """A socket that listens."""
    try:
        addresses = socket.getaddrinfo(bind.host, bind.port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError):
        raise usage(f'--host: "{bind.host}" is not an address of this machine') from None
    family, kind, protocol, _, address = addresses[0]
    _check_reach(bind, str(address[0]))
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # Bound alone it would not yet keep others away, since they may reuse the address too.
        listener.listen()
    except OSError as error:
        listener.close()
        raise _cannot_listen(bind, home, error) from None
    return listener


def url_of(listener: socket.socket, bind: BindOptions) -> str:
    """The address that programs of this machine use."""
    bound, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(bound, str(bound))  # noqa: S104  named, not bound
    scheme = "https" if bind.tls else "http"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def _check_reach(bind: BindOptions, address: str) -> None:
    local = ipaddress.ip_address(address.partition("%")[0]).is_loopback
    if not local and bind.tls is None and not bind.insecure:
        raise usage(
            f"--host {bind.host}: without TLS others can read the tokens on the network",
            "use a certificate (--tls-cert and --tls-key), or --insecure",
        )


def _cannot_listen(bind: BindOptions, folder: Path, error: OSError) -> CliError:
    if error.errno != errno.EADDRINUSE:
        return CliError(f"cannot listen on {bind.host}:{bind.port}: {error.strerror}")
    # Raises if mcpyard is already running with this home, which is the better message.
    home = Home(folder)
    home.take()
    home.release()
    from mcpyard.cli.daemon.port_probe import port_in_use

    return port_in_use(bind.host, bind.port)
