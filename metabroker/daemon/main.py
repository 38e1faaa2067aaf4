"""`metabroker serve`: run the daemon until it is told to end.

SIGTERM and SIGINT end it, SIGHUP has it read its configuration again. Under systemd it tells when
it serves, and its watchdog that API and core answer.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable

from metabroker import openfiles
from metabroker.access.audit import AuditError
from metabroker.access.tls import TlsError
from metabroker.api.sockets import SocketError
from metabroker.config import ConfigErrors
from metabroker.config.errors import ConfigRefusal
from metabroker.config.model import Config
from metabroker.daemon.sharing.reexec import reap_former, reexec
from metabroker.paths import without_front_ends
from metabroker.runtime.cluster_accounts import trouble_with_root
from metabroker.runtime.executor import Hook, no_hook
from metabroker.store import LeadershipLost, StoreUnavailable

from . import logs, memory, privileges
from .daemon import Daemon
from .notify import Notifier
from .signals import Signals

log = logging.getLogger(__name__)


Read = Callable[[], Config]
"""Reads the configuration again. Raises ConfigErrors."""


def serve(
    config: Config,
    offline: bool = False,
    *,
    hook: Hook = no_hook,
    again: Read | None = None,
    log_format: logs.LogFormat = "auto",
) -> int:
    """Serve until SIGTERM or SIGINT; the exit code of the process. `again` is for SIGHUP."""
    logs.start(log_format)
    memory.begin()
    openfiles.raise_limit()
    # Clusters' own commands are wanted there, never those that would ask this daemon.
    os.environ["PATH"] = without_front_ends(os.environ.get("PATH", os.defpath))
    reap_former()
    signals = Signals(reloads=again is not None)
    trouble = trouble_with_root(config)
    if trouble is not None:
        return _complain(Exception(trouble))
    if any(cluster.run_as == "root-uid" for cluster in config.clusters.values()) and not offline:
        privileges.drop()
    notifier = Notifier()

    def anew() -> None:
        # Who shall end ends: the wish would be lost with the rest, and nothing can be begun now.
        if signals.hand_on():
            reexec()

    try:
        daemon = Daemon(config, offline=offline, hook=hook, anew=anew)
    except (StoreUnavailable, AuditError, ConfigRefusal, OSError) as error:
        return _complain(error)
    try:
        daemon.start()
    except (StoreUnavailable, SocketError, TlsError, OSError) as error:
        daemon.stop()
        return _complain(error)
    except LeadershipLost:
        anew()
        daemon.stop()
        return 0
    except BaseException:  # no thread can be started, say
        return _fail(daemon, notifier, "the daemon cannot start")
    memory.started()
    try:
        _keep_serving(daemon, notifier, signals, again)
    except BaseException:
        return _fail(daemon, notifier, "the daemon's first thread has failed; the daemon ends")
    if not signals.told_to_end() and daemon.replaced:
        log.warning(
            "this broker no longer leads, its core hangs, or clusters have other names: it restarts"
        )
        anew()
    # One that was about to restart, and is told to end instead, has not failed.
    failed = not daemon.alive and not daemon.replaced
    log.info("ending")
    notifier.stopping()
    daemon.stop()
    return 1 if failed else 0


def _fail(daemon: Daemon, notifier: Notifier, what: str) -> int:
    """End for what nobody has foreseen: the other threads would keep the process, half dead, and
    nobody in it would hear a signal any more."""
    log.critical("%s", what, exc_info=True)
    try:
        notifier.stopping()
        daemon.stop()
    except BaseException:
        log.critical("it cannot end in order", exc_info=True)
        logging.shutdown()
        os._exit(1)
    return 1


def _keep_serving(daemon: Daemon, notifier: Notifier, signals: Signals, again: Read | None) -> None:
    """Until it shall end, or cannot go on."""
    told = daemon.summary
    notifier.ready(told)
    while not signals.stop and daemon.alive and not daemon.replaced:
        signals.wait(1.0)
        if signals.reload and again is not None:
            signals.reload = False
            notifier.reloading()
            _reload(daemon, again)
            told = ""
        if told != daemon.summary:  # it leads now
            told = daemon.summary
            notifier.ready(told)
        if notifier.due() and daemon.answers():
            notifier.alive()


def _reload(daemon: Daemon, again: Read) -> None:
    """Take over what can be changed while jobs run; a wrong file changes nothing."""
    daemon.reopen()
    try:
        config = again()
    except ConfigErrors as found:
        for error in found.errors:
            log.error("the new configuration is not applied: %s", error)
        return
    try:
        daemon.reconfigure(config)
    except ConfigRefusal as error:  # a file of users has changed since it was checked
        log.error("the new configuration is not applied: %s", error)


def _complain(error: Exception) -> int:
    """One line: what is wrong, and what to do (many errors say that themselves)."""
    what = f"cannot serve: {error}"
    if ";" not in what:
        what += f"; {_advice(error)}"
    logs.complain(what)
    return 1


def _advice(error: Exception) -> str:
    if isinstance(error, StoreUnavailable):
        return "check `store` in the configuration, and that this account may write there"
    if isinstance(error, SocketError):
        return "check `socket` in the configuration"
    return "check the paths in the configuration, and that this account may use them"
