"""Takes the lead of the brokers of one store as soon as it can be had."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from metabroker.broker.lease_term import LeaseTerm, pause
from metabroker.store import StoreUnavailable
from metabroker.store.leadership import Leadership

from .lease import clock

log = logging.getLogger(__name__)


class Campaign:
    """Asks for the lead again and again, in a thread of its own, until `stop`."""

    def __init__(
        self,
        leadership: Leadership,
        holder: str,
        seconds: float,
        elected: Callable[[LeaseTerm], None],
    ) -> None:
        """`holder`: this broker, for people; `elected` is called once, in the thread."""
        self._leadership = leadership
        self._holder = holder
        self._seconds = seconds
        self._elected = elected
        self._trouble = ""
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="candidate", daemon=True)

    def start(self) -> None:
        """Ask from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Ask no more; waits while a lead that was just taken is taken up."""
        self._stopping.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()

    def ask(self) -> LeaseTerm | None:
        """Ask once. Raises StoreUnavailable."""
        asked_at = clock()
        term = self._leadership.take(self._holder, self._seconds)
        return None if term is None else LeaseTerm.granted(term, self._seconds, asked_at)

    def _run(self) -> None:
        while not self._stopping.wait(pause(self._seconds)):
            try:
                lease_term = self.ask()
            except StoreUnavailable as error:
                if str(error) != self._trouble:
                    log.warning("the store cannot be asked who leads: %s", error)
                self._trouble = str(error)
                continue
            self._trouble = ""
            if lease_term is not None:
                self._elected(lease_term)
                return
