"""Examines this host: whether the daemon may run here as whom it is, and has its addresses."""

from __future__ import annotations

import socket
from pathlib import Path

from metabroker.access.tls import TlsError, server_context
from metabroker.api.client import Client, ClientError
from metabroker.clusters.examination import CheckResult, CheckResults
from metabroker.config.model import Config
from metabroker.config.values import Address
from metabroker.runtime.cluster_accounts import trouble_with_root
from metabroker.store import StoreUnavailable
from metabroker.store.read_only import may_lose_commits


def examine_host(config: Config) -> list[CheckResult]:
    """The account, and each TCP address that the daemon listens at."""
    found = CheckResults()
    trouble = trouble_with_root(config)
    if trouble is None:
        found.ok("account", "id", "the daemon may run as this account")
    else:
        said, _, advice = trouble.partition("; ")
        found.miss("account", "id", said, advice)
    _store(found, config.store)
    served = _served(config)
    if config.listen is not None:
        _certificate(found, config.listen.certificate, config.listen.key)
    for key, address in (
        ("metrics", config.metrics),
        ("listen", None if config.listen is None else config.listen.address),
    ):
        if address is not None and address.port != 0:
            _listening(found, key, address, served=served)
    return found.all


def _certificate(found: CheckResults, certificate: Path, key: Path) -> None:
    """This runs as the daemon's account, which must be able to read them."""
    try:
        server_context(certificate, key)
    except TlsError as error:
        found.miss("listen", f"read {certificate} and {key}", error.message, error.advice)
    else:
        found.ok("listen", f"read {certificate} and {key}", "they belong together")


def _store(found: CheckResults, url: str) -> None:
    if not url.startswith("postgresql"):
        return
    try:
        for trouble in may_lose_commits(url):
            said, _, advice = trouble.partition("; ")
            found.warn("store", "SHOW", said, advice)
    except StoreUnavailable as error:
        found.miss("store", "connect", str(error), "start the database, or correct `store`")


def _served(config: Config) -> bool:
    """Whether this configuration's daemon serves now: then its addresses are taken by itself."""
    try:
        Client(config.socket).get("status")
    except (ClientError, OSError):
        return False
    return True


def _listening(found: CheckResults, key: str, address: Address, *, served: bool) -> None:
    tried = f"listen at {address}"
    if served:
        found.ok(key, tried, "the daemon serves")
        return
    try:
        family, _, _, _, where = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.create_server(where[:2], family=family):
            found.ok(key, tried, "no other process listens there")
    except OSError as error:
        advice = (
            "stop the process that listens there (`ss -ltnp`), or write another address "
            f"into `{key}`"
        )
        found.miss(key, tried, error.strerror or str(error), advice)
