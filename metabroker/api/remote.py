"""The way to a daemon on another host: TLS, whose certificate is always verified, and a token."""

from __future__ import annotations

import os
import re
import ssl
import stat
from collections.abc import Iterator, Mapping
from http.client import HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from urllib.parse import urlsplit

from metabroker.access.secret import parsed
from metabroker.api.client import ClientError, Exchange, Unreachable

from .socket_http import BadReply

PORT = 9797
_LARGEST = 4096  # bytes of a token's file
_PIECE = 1 << 18  # bytes
_HOST = re.compile(r"[A-Za-z0-9.:_-]+")


class Remote:
    """The daemon at one URL. Raises `ClientError` when made, if it cannot be used."""

    def __init__(self, url: str, token_file: Path, ca_file: Path | None) -> None:
        """`ca_file`: the certificates that the daemon's must be signed by; None: the system's."""
        self._host, self._port = _address(url)
        self._url = url
        self._token = read_token(token_file)
        self._context = _context(ca_file)

    def connection(self, timeout: float) -> Exchange:
        """A connection to the daemon whose certificate is right."""
        made = HTTPSConnection(self._host, self._port, timeout=timeout, context=self._context)
        try:
            made.connect()
        except ssl.SSLCertVerificationError as error:
            made.close()
            raise Unreachable(
                f"the certificate at {self._url} cannot be trusted: {error.verify_message}",
                "name the file of its authority with --ca-file, or METABROKER_CA_FILE; ask the "
                "administrator for it",
            ) from error
        except OSError as error:
            made.close()
            reason = getattr(error, "reason", None)  # not ours
            reason = reason or error.strerror or type(error).__name__
            raise Unreachable(
                f"cannot reach the daemon at {self._url}: {reason}",
                "check --server, or METABROKER_URL; the daemon must have `listen` configured",
            ) from error
        return _Exchange(made)

    def headers(self) -> dict[str, str]:
        """The token: it goes to no other host, since no answer is followed elsewhere."""
        return {"Authorization": f"Bearer {self._token}"}


class _Exchange:
    """One request over a connection of the standard library's, and its reply."""

    def __init__(self, connection: HTTPSConnection) -> None:
        self._connection = connection

    def request(
        self, method: str, path: str, content: bytes | None, headers: Mapping[str, str]
    ) -> None:
        try:
            self._connection.request(method, path, content, dict(headers))
        except HTTPException as error:
            raise BadReply(str(error) or type(error).__name__) from error

    def reply(self) -> _Reply:
        try:
            return _Reply(self._connection.getresponse())
        except HTTPException as error:
            raise BadReply(str(error) or type(error).__name__) from error

    def close(self) -> None:
        self._connection.close()


class _Reply:
    def __init__(self, response: HTTPResponse) -> None:
        self._response = response
        self.status = response.status
        self.length = response.length
        self.chunked = bool(response.chunked)

    def header(self, name: str) -> str:
        return self._response.headers.get(name, "")

    def read(self) -> bytes:
        return b"".join(self.pieces())

    def pieces(self) -> Iterator[bytes]:
        missing = self.length  # which read() itself does not miss, if it is asked for a piece
        try:
            while piece := self._response.read(_PIECE):
                missing = None if missing is None else missing - len(piece)
                yield piece
        except HTTPException as error:
            raise BadReply(str(error) or type(error).__name__) from error
        if missing:
            raise BadReply("it ended early")


def read_token(path: Path) -> str:
    """The token in a file that only its owner may read. Raises `ClientError`."""
    make = "make one on the daemon's host: metabroker token create"
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            found = os.fstat(file.fileno())
            text = file.read(_LARGEST).decode("ascii", "replace").strip()
    except OSError as error:
        raise ClientError(f"the token file {path} cannot be read: {error.strerror}", make) from (
            error
        )
    if not stat.S_ISREG(found.st_mode) or found.st_uid not in (0, os.geteuid()):
        raise ClientError(f"the token file {path} belongs to another user, or is not a file", make)
    if found.st_mode & 0o077:
        raise ClientError(
            f"the token file {path} may be read by others (mode {found.st_mode & 0o777:04o})",
            "others may know the token: revoke it, and put a new one into a file with mode 600",
        )
    if parsed(text) is None:
        raise ClientError(f"there is no token in {path}", make)
    return text


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def _address(url: str) -> tuple[str, int]:
    advice = f"write https://HOST:PORT, for example https://broker.example.org:{PORT}"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ClientError(f"{ascii(url)[:80]} is not the URL of a daemon", advice) from error
    if parts.scheme == "http":
        raise ClientError("a daemon on another host is reached over TLS only", advice)
    rest = parts.path.strip("/") or parts.query or parts.fragment or parts.username
    if parts.scheme != "https" or not host or rest or _HOST.fullmatch(host) is None:
        raise ClientError(f"{ascii(url)[:80]} is not the URL of a daemon", advice)
    return host, port or PORT


def _context(ca_file: Path | None) -> ssl.SSLContext:
    """Verifies certificate and name, by TLS 1.2 or newer; there is no way to switch that off."""
    try:
        context = ssl.create_default_context(cafile=None if ca_file is None else str(ca_file))
    except (OSError, ssl.SSLError) as error:
        raise ClientError(
            f"{ca_file} is not a file of certificates: {error.strerror or error}",
            "name a PEM file with --ca-file, or METABROKER_CA_FILE",
        ) from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
