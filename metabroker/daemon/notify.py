"""What systemd is told of the daemon: ready, alive, reloading, ending (sd_notify(3)).

The protocol is a datagram of KEY=VALUE lines to the socket that NOTIFY_SOCKET names; without it,
nobody is told anything.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Mapping

log = logging.getLogger(__name__)


class Notifier:
    """Tells the service manager, if there is one."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        for_us = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        given = environment.get("WATCHDOG_USEC", "")
        self._interval = int(given) / 1e6 / 3 if for_us and given.isdigit() else None
        self._told = 0.0

    def ready(self, status: str) -> None:
        """It serves; also after a reload."""
        self._tell(READY="1", STATUS=status)

    def reloading(self) -> None:
        """It reads its configuration again."""
        self._tell(RELOADING="1", MONOTONIC_USEC=str(time.monotonic_ns() // 1000))

    def stopping(self) -> None:
        """It ends, which may take a while."""
        self._tell(STOPPING="1", STATUS="ending")

    def due(self) -> bool:
        """Whether the watchdog is to hear that all is well, or will end and start us again."""
        return self._interval is not None and time.monotonic() - self._told >= self._interval

    def alive(self) -> None:
        """All is well."""
        self._told = time.monotonic()
        self._tell(WATCHDOG="1")

    def _tell(self, **words: str) -> None:
        if not self._address:
            return
        text = "\n".join(f"{key}={value}" for key, value in words.items())
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.sendto(text.encode(), self._address)
        except OSError as error:
            log.warning(
                "the service manager cannot be notified of %s: %s", next(iter(words)), error
            )
