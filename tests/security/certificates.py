"""An authority, and certificates that it signs, for tests of TLS."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_PLAIN = serialization.NoEncryption()


class Authority:
    """Signs certificates; its own is `file`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named("test authority")
        basic = x509.BasicConstraints(ca=True, path_length=0)
        unsigned = _begun(self._name, self._name, self._key.public_key())
        own = unsigned.add_extension(basic, critical=True).sign(self._key, hashes.SHA256())
        self.file = folder / "authority.pem"
        self.file.write_bytes(own.public_bytes(serialization.Encoding.PEM))

    def sign(self, name: str, stem: str = "server") -> tuple[Path, Path]:
        """Files of a certificate for the host `name` and 127.0.0.1, and of its private key."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = [x509.DNSName(name)]
        if name == "localhost":
            local = x509.IPAddress(ip_address("127.0.0.1"))
            alternative = x509.SubjectAlternativeName([*names, local])
        else:
            alternative = x509.SubjectAlternativeName(names)
        unsigned = _begun(_named(name), self._name, key.public_key())
        made = unsigned.add_extension(alternative, critical=False).sign(self._key, hashes.SHA256())
        certificate, secret = self.folder / f"{stem}.pem", self.folder / f"{stem}.key"
        certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        secret.touch(mode=0o600)
        secret.write_bytes(_pem(key))
        return certificate, secret


def locked(folder: Path, passphrase: bytes) -> Path:
    """A private key that needs a passphrase."""
    file = folder / "locked.key"
    file.touch(mode=0o600)
    lock = serialization.BestAvailableEncryption(passphrase)
    file.write_bytes(_pem(ec.generate_private_key(ec.SECP256R1()), lock))
    return file


def _pem(
    key: ec.EllipticCurvePrivateKey, lock: serialization.KeySerializationEncryption = _PLAIN
) -> bytes:
    pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return key.private_bytes(pem, form, lock)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=2))
    )
