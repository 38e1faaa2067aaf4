"""Whether the daemon has, or can have, the TCP addresses that it is to listen at."""

from __future__ import annotations

import errno
import http.client
import socket
import ssl
from pathlib import Path

from metabroker.clusters.examination import CheckResults
from metabroker.config.model import Config
from metabroker.config.values import Address

_PATIENCE = 5.0  # seconds
_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}
_MOST = 1 << 20  # bytes of an answer
_TAKEN = (errno.EADDRINUSE, errno.EACCES)  # the daemon may take ports that this account may not
_OURS = b"\nmetabroker_"  # of /metrics


def examine(found: CheckResults, config: Config, *, served: bool) -> None:
    """Each is tried. `served`: this configuration's daemon serves at its socket, and should be who
    listens there."""
    if config.metrics is not None and config.metrics.port != 0:
        _examine(found, "metrics", config.metrics, served=served)
    if config.listen is not None and config.listen.address.port != 0:
        address, certificate = config.listen.address, config.listen.certificate
        _examine(found, "listen", address, certificate, served=served)


def _examine(
    found: CheckResults,
    key: str,
    address: Address,
    certificate: Path | None = None,
    *,
    served: bool,
) -> None:
    tried = f"listen at {address}"
    try:
        _listen(address)
    except OSError as error:
        if not served or error.errno not in _TAKEN:
            advice = (
                "stop the process that listens there (`ss -ltnp`), or write another address "
                f"into `{key}`"
            )
            found.miss(key, tried, error.strerror or str(error), advice)
            return
    else:
        if served:
            found.warn(
                key, tried, "the daemon serves, and not there: it has another configuration",
                f"restart it, so that it takes `{key}` over",
            )  # fmt: skip
        else:
            found.ok(key, tried, "no other process listens there")
        return
    _ask(found, key, address, certificate)


def _listen(address: Address) -> None:
    family, _, _, _, where = socket.getaddrinfo(
        address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    with socket.create_server(where[:2], family=family):
        pass


def _ask(found: CheckResults, key: str, address: Address, certificate: Path | None) -> None:
    """Who listens there: the daemon, which serves, or somebody else."""
    where = _ANY.get(address.host, address.host), address.port
    tried = f"connect to {address}"
    advice = (
        f"stop the process that listens there (`ss -ltnp`) and restart the daemon, or write "
        f"another address into `{key}`"
    )
    try:
        pem = None if certificate is None else certificate.read_text("ascii", "replace")
    except OSError:
        return  # it was told
    try:
        if pem is None:
            ours, said = _tells_of_us(where), "the daemon serves"
        else:
            ours, said = _presents(where, _first(pem)), "the daemon serves, by TLS"
    except (OSError, ValueError, http.client.HTTPException) as error:
        found.miss(key, tried, f"what listens there is not the daemon: {error}"[:300], advice)
        return
    if ours:
        found.ok(key, tried, said)
    elif pem is None:
        found.miss(key, tried, "what listens there is not the daemon", advice)
    else:
        found.warn(
            key, tried, f"what listens there has another certificate than {certificate}",
            "reload the daemon if that was renewed; else see which process it is (`ss -ltnp`)",
        )  # fmt: skip


def _tells_of_us(where: tuple[str, int]) -> bool:
    connection = http.client.HTTPConnection(*where, timeout=_PATIENCE)
    try:
        connection.request("GET", "/metrics")
        return _OURS in b"\n" + connection.getresponse().read(_MOST)
    finally:
        connection.close()


def _presents(where: tuple[str, int], certificate: bytes) -> bool:
    """Whether it is shown there: that is all that is asked, and nothing is told or believed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection(where, timeout=_PATIENCE) as connection,
        context.wrap_socket(connection) as secured,
    ):
        return secured.getpeercert(binary_form=True) == certificate


def _first(pem: str) -> bytes:
    """The first certificate of a file that may hold a chain, and text."""
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    _, found, rest = pem.partition(begin)
    return ssl.PEM_cert_to_DER_cert(f"{found}{rest.partition(end)[0]}{end}")
