"""The private certificate authority of a cluster, and the certificate of each node.

The key of the authority stays in the folder where it was made. A node needs three files: its own
certificate and key, and the certificate of the authority.
"""

import os
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from mcpyard.domain.errors import ClusterRefused, NotWritable

AUTHORITY: Final = "ca"
_AUTHORITY_DAYS: Final = 3650
_NODE_DAYS: Final = 825
_SKEW: Final = timedelta(days=2)
"""Clocks of machines differ, and jump; a certificate is valid from a time before it was made."""

_NO_FILE: Final = (
    "Check the folder of --node-certs, or make certificates with: mcpyard cluster cert NODE"
)
_NO_AUTHORITY: Final = "Use the home in which the authority was made with: mcpyard cluster init"
_NEW_ONE: Final = "Make a new one: mcpyard cluster cert {}"


class NodeFiles(NamedTuple):
    """Where the certificate and the key of a node are, and the certificate of its authority."""

    certificate: Path
    key: Path
    authority: Path

    @classmethod
    def of(cls, folder: Path, node: str) -> "NodeFiles":
        """The files of a node in a folder that `make_certificate` wrote to."""
        return cls(folder / f"{node}.crt", folder / f"{node}.key", folder / f"{AUTHORITY}.crt")


def make_authority(folder: Path) -> None:
    """Make a certificate authority: `ca.crt` and `ca.key`; one that is there stays.

    Raises:
        NotWritable: The folder cannot be written to.
    """
    if (folder / f"{AUTHORITY}.key").exists():
        return
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("mcpyard cluster")
    usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
    builder = (
        _builder(name, name, key.public_key(), timedelta(days=_AUTHORITY_DAYS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
    )
    _write(folder, AUTHORITY, builder.sign(key, hashes.SHA256()), key)


def make_certificate(
    authority: Path, node: str, out: Path, *, valid: timedelta = timedelta(days=_NODE_DAYS)
) -> NodeFiles:
    """Make the certificate of a node with the authority of a folder; where its files are.

    Raises:
        ClusterRefused: The authority cannot be read.
        NotWritable: The folder cannot be written to.
    """
    issuer = _read_certificate(authority / f"{AUTHORITY}.crt", _NO_AUTHORITY)
    issuer_key = _read_key(authority / f"{AUTHORITY}.key", _NO_AUTHORITY)
    key = ec.generate_private_key(ec.SECP256R1())
    usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(_public(issuer_key))
    builder = (
        _builder(_name(node), issuer.subject, key.public_key(), valid)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(node)]), critical=False)
        .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        .add_extension(identifier, critical=False)
    )
    _write(out, node, builder.sign(issuer_key, hashes.SHA256()), key)
    files = NodeFiles.of(out, node)
    _write_file(files.authority, issuer.public_bytes(Encoding.PEM), 0o644)
    return files


class NodeCertificates:
    """The TLS contexts of a node; only certificates of one authority are taken on either side.

    Raises:
        ClusterRefused: A file cannot be read, or the certificate cannot be used under this name.
    """

    def __init__(self, node: str, files: NodeFiles) -> None:
        self._node = node
        self._files = files
        self._versions = _versions(files)
        _check(node, files)
        self.accepting = self._context(ssl.PROTOCOL_TLS_SERVER)
        self.dialing = self._context(ssl.PROTOCOL_TLS_CLIENT)

    def replaced(self) -> bool:
        """Whether one of the files is another one than is used; blocks."""
        return _versions(self._files) != self._versions

    def renew(self) -> None:
        """Use the files as they are, for every link that is made from now on.

        Only the thread that makes links may do this: half of a new pair must not meet one of them.

        Raises:
            ClusterRefused: They cannot be used; the certificate of before still is.
        """
        versions = _versions(self._files)
        _check(self._node, self._files)
        for context in (self.accepting, self.dialing):
            self._load(context)
        self._versions = versions

    def _context(self, side: int) -> ssl.SSLContext:
        context = ssl.SSLContext(side)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.verify_mode = ssl.CERT_REQUIRED
        self._load(context)
        return context

    def _load(self, context: ssl.SSLContext) -> None:
        files = self._files
        try:
            context.load_verify_locations(files.authority)
            context.load_cert_chain(files.certificate, files.key)
        except (OSError, ssl.SSLError) as error:
            text = f"the certificate {files.certificate} cannot be used: {error}"
            raise ClusterRefused(text) from error


def end_of(path: Path) -> datetime:
    """When a certificate expires.

    Raises:
        ClusterRefused: It cannot be read.
    """
    return _read_certificate(path).not_valid_after_utc


def certified_names(ssl_object: ssl.SSLObject) -> frozenset[str]:
    """The names that the certificate of the other side is made for."""
    certificate = ssl_object.getpeercert() or {}
    names = certificate.get("subjectAltName", ())
    return frozenset(str(value) for kind, value in names if kind == "DNS")


def explain_refusal(error: Exception, node: str) -> str:
    """One sentence about a failed connection to a node, for its cause."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f'the certificate of node "{node}" is refused: {error.verify_message}'
    if isinstance(error, ssl.SSLError):
        return f'node "{node}" refuses this node\'s certificate, or does not speak TLS 1.3'
    return f'node "{node}" cannot be reached: {error or type(error).__name__}'


def _versions(files: NodeFiles) -> list[tuple[int, int] | None]:
    """What changes when one of the files is replaced."""
    versions: list[tuple[int, int] | None] = []
    for path in files:
        try:
            status = path.stat()
        except OSError:
            versions.append(None)
        else:
            versions.append((status.st_ino, status.st_mtime_ns))
    return versions


def _check(node: str, files: NodeFiles) -> None:
    """Refuse a certificate that other nodes would refuse, and say why."""
    authority = _read_certificate(files.authority)
    certificate = _read_certificate(files.certificate)
    key = _read_key(files.key)
    advice = _NEW_ONE.format(node)
    if _bytes(_public(key)) != _bytes(certificate.public_key()):
        text = f"the key {files.key} does not belong to the certificate {files.certificate}"
        raise ClusterRefused(text).advising(advice)
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature) as error:
        text = f"the certificate {files.certificate} is of another authority than {files.authority}"
        raise ClusterRefused(text).advising(advice) from error
    names = _names(certificate)
    if node not in names:
        text = f'the certificate {files.certificate} is for {", ".join(names)}, not for "{node}"'
        raise ClusterRefused(text).advising(advice)
    if certificate.not_valid_after_utc < datetime.now(UTC):
        day = certificate.not_valid_after_utc.date()
        text = f"the certificate {files.certificate} expired on {day}"
        raise ClusterRefused(text).advising(advice)


def _names(certificate: x509.Certificate) -> list[str]:
    try:
        extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return ["no name"]
    return extension.value.get_values_for_type(x509.DNSName)


def _read_certificate(path: Path, advice: str = _NO_FILE) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(path.read_bytes())
    except (OSError, ValueError) as error:
        raise _unreadable(path, error, advice) from error


def _read_key(path: Path, advice: str = _NO_FILE) -> ec.EllipticCurvePrivateKey:
    try:
        key = load_pem_private_key(path.read_bytes(), None)
    except (OSError, ValueError, TypeError) as error:
        raise _unreadable(path, error, advice) from error
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ClusterRefused(f"{path} is not an elliptic curve key").advising(
            "Make certificates with: mcpyard cluster cert NODE"
        )
    return key


def _unreadable(path: Path, error: Exception, advice: str) -> ClusterRefused:
    reason = error.strerror if isinstance(error, OSError) else "it is not a PEM file"
    return ClusterRefused(f"{path} cannot be read: {reason}").advising(advice)


def _public(key: ec.EllipticCurvePrivateKey) -> ec.EllipticCurvePublicKey:
    return key.public_key()


def _bytes(key: object) -> bytes:
    if not isinstance(key, ec.EllipticCurvePublicKey):
        return b""
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, valid: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder(issuer, subject, key, x509.random_serial_number())
        .not_valid_before(min(now, now + valid) - _SKEW)
        .not_valid_after(now + valid)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _write(
    folder: Path, name: str, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey
) -> None:
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    _write_file(folder / f"{name}.key", secret, 0o600)
    _write_file(folder / f"{name}.crt", certificate.public_bytes(Encoding.PEM), 0o644)


def _write_file(path: Path, content: bytes, mode: int) -> None:
    new = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new.unlink(missing_ok=True)
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:  # noqa: PTH123
            file.write(content)
        new.replace(path)
    except OSError as error:
        raise NotWritable(f"{path} cannot be written: {error.strerror}") from error
