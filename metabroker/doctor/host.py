"""Examines this host: whether the daemon may run here as whom it is, and has its addresses."""

from __future__ import annotations

from pathlib import Path

from metabroker.access.tls import TlsError, server_context
from metabroker.api.client import Client, ClientError
from metabroker.clusters.examination import CheckResult, CheckResults
from metabroker.config.model import Config
from metabroker.daemon.shared_account import trouble_with_submitters
from metabroker.runtime.cluster_accounts import trouble_with_root
from metabroker.store import StoreUnavailable
from metabroker.store.read_only import may_lose_commits

from . import addresses


def examine_host(config: Config) -> list[CheckResult]:
    """The account, who may submit, and each TCP address that the daemon listens at."""
    found = CheckResults()
    trouble = trouble_with_root(config)
    if trouble is None:
        found.ok("account", "id", "the daemon may run as this account")
    else:
        said, _, advice = trouble.partition("; ")
        found.miss("account", "id", said, advice)
    if refused := trouble_with_submitters(config):
        said, _, advice = refused.partition("; ")
        found.warn("submitters", "read the configuration", said, advice)
    _store(found, config.store)
    served = _served(config)
    if config.listen is not None:
        _certificate(found, config.listen.certificate, config.listen.key)
    addresses.examine(found, config, served=served)
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
