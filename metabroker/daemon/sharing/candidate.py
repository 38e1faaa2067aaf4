"""Takes the lead of the brokers of one store as soon as it can be had."""

from __future__ import annotations

import logging
from collections.abc import Callable

from metabroker.broker.lease_term import LeaseTerm, pause
from metabroker.store import StoreUnavailable
from metabroker.store.leadership import Leadership

from .background import Background
from .lease import clock

log = logging.getLogger(__name__)


class Campaign(Background):
    """Asks for the lead again and again, from `start` until `stop`, which waits while a lead that
    was just taken is taken up."""

    def __init__(
        self,
        leadership: Leadership,
        holder: str,
        seconds: float,
        elected: Callable[[LeaseTerm], None],
    ) -> None:
        """`holder`: this broker, for people; `elected` is called once, in the thread."""
        super().__init__("candidate")
        self._leadership = leadership
        self._holder = holder
        self._seconds = seconds
        self._elected = elected
        self._trouble = ""

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
