"""The certificate and the private key that the API is served with: TLS 1.2 and newer, no less."""

from __future__ import annotations

import os
import ssl
import stat
from pathlib import Path


class TlsError(Exception):
    """A certificate or key that cannot be used: which key of `listen`, why, and what to do."""

    def __init__(self, key: str, message: str, advice: str) -> None:
        super().__init__(f"listen.{key}: {message}; {advice}")
        self.key = key
        self.message = message
        self.advice = advice


def server_context(certificate: Path, key: Path, *, any_owner: bool = False) -> ssl.SSLContext:
    """What connections are taken with. `any_owner`: the key may be anybody's, for who looks at it
    in the place of the daemon's account. Raises `TlsError`."""
    _readable("certificate", certificate)
    _kept(key, any_owner)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key, password=_no_passphrase)
    except TlsError:
        raise
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise TlsError(
                "key",
                f"{key} is not the key of {certificate}",
                "name a certificate and its own key",
            ) from error
        what = f"{certificate} and {key} are not a certificate and a private key"
        raise TlsError("certificate", what, "write both as PEM, the certificate's chain too") from (
            error
        )
    except OSError as error:
        raise TlsError("key", f"{key}: {error.strerror}", "name a readable file") from error
    return context


def _readable(key: str, path: Path) -> os.stat_result:
    """The file's attributes, if it is one that we may read."""
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
    except OSError as error:
        advice = "name a file that the daemon's account may read"
        raise TlsError(key, f"{path} cannot be read: {error.strerror}", advice) from error
    if not stat.S_ISREG(found.st_mode):
        raise TlsError(key, f"{path} is not a file", "name the PEM file itself")
    return found


def _kept(path: Path, any_owner: bool) -> None:
    """The private key must be its owner's and, at most, its group's secret."""
    found = _readable("key", path)
    if found.st_uid not in (0, os.geteuid()) and not any_owner:
        message = f"{path} belongs to another user, who may read and change it"
        raise TlsError("key", message, "make the daemon's account or root its owner")
    if found.st_mode & 0o027:
        message = f"{path} may be read or changed by others (mode {found.st_mode & 0o777:04o})"
        raise TlsError("key", message, f"chmod 600 {path}, or 640 for a group of trusted accounts")


def _no_passphrase() -> str:
    raise TlsError(
        "key",
        "it is encrypted with a passphrase, and the daemon cannot ask for it",
        "write it without a passphrase",
    )
