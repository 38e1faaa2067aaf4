"""`metabroker serve`: run the daemon until it is told to end."""

from __future__ import annotations

import logging
import signal
import sys
import threading

from metabroker.api.sockets import SocketError
from metabroker.config.model import Config
from metabroker.store import StoreUnavailable

from .daemon import Daemon
from .desk import Hook, no_hook

log = logging.getLogger(__name__)


def serve(config: Config, offline: bool = False, *, hook: Hook = no_hook) -> int:
    """Serve until SIGTERM or SIGINT; the exit code of the process."""
    logging.basicConfig(
        level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s"
    )
    for noisy in ("apscheduler", "alembic", "aiohttp"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        daemon = Daemon(config, offline=offline, hook=hook)
    except (StoreUnavailable, OSError) as error:
        return _complain(error)
    try:
        daemon.start()
    except (StoreUnavailable, SocketError, OSError) as error:
        daemon.stop()
        return _complain(error)
    while not stop.wait(1.0) and daemon.alive:
        pass
    failed = not daemon.alive
    log.info("ending")
    daemon.stop()
    return 1 if failed else 0


def _complain(error: Exception) -> int:
    """One line: what is wrong, and what to do (many errors say that themselves)."""
    what = f"cannot serve: {error}"
    if ";" not in what:
        what += f"; {_advice(error)}"
    print(f"metabroker: {what}", file=sys.stderr)
    return 1


def _advice(error: Exception) -> str:
    if isinstance(error, StoreUnavailable):
        return "check `store` in the configuration, and that this account may write there"
    if isinstance(error, SocketError):
        return "check `socket` in the configuration"
    return "check the paths in the configuration, and that this account may use them"
