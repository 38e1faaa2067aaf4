"""The lease of the broker that leads: asked for by those that stand by, renewed in time by the one
that has it, and asked before each step in a cluster.

The decisions are in `metabroker.broker.lease_term`. The clock is one that goes on while the process
is stopped and while the host is suspended, so a broker that wakes up knows at once that it may have
been replaced, and does nothing more before the database has said that it has not.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from metabroker.broker.lease_term import LeaseTerm, LeaseWatch, pause
from metabroker.clusters.transports.base import CommandLost
from metabroker.store import StoreUnavailable
from metabroker.store.leadership import Leadership

from .background import Background

log = logging.getLogger(__name__)


def clock() -> float:
    """Seconds since the host's start, those included in which nothing ran."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Lease(Background):
    """Held from its making on, in the term that `take` has brought; renewed from `start` on.

    `lost` is called once, by the lease's own thread, when another broker leads.
    """

    def __init__(
        self,
        leadership: Leadership,
        lease_term: LeaseTerm,
        lost: Callable[[], None],
        clock: Callable[[], float] = clock,
    ) -> None:
        super().__init__("lease")
        self.lease_term = lease_term
        self._leadership = leadership
        self._lost = lost
        self._clock = clock
        self._news = threading.Condition()
        self._over = False

    def permit(self) -> None:
        """Return when nobody else can be leader.

        Raises:
            CommandLost: somebody else leads, or this broker ends.
        """
        if self._may_act():
            return
        with self._news:
            while not self._over and not self._may_act():
                self._news.wait(0.1)
            if self._over:
                raise CommandLost("not done: this broker no longer leads")

    def close(self, *, release: bool) -> None:
        """Act no more; with `release`, let another broker lead at once."""
        self._end()
        self.stop(self.lease_term.seconds)
        if release:
            try:
                self._leadership.release(self.lease_term.term)
            except StoreUnavailable as error:
                log.warning("the lease could not be released, and expires by itself: %s", error)

    def _may_act(self) -> bool:
        return not self._over and self.lease_term.may_act(self._clock())

    def _end(self) -> None:
        with self._news:
            self._over = True
            self._news.notify_all()

    def _run(self) -> None:
        while not self._stopping.wait(pause(self.lease_term.seconds)):
            if not self.renew():
                self._end()
                self._lost()
                return

    def renew(self) -> bool:
        """Ask for more time, once; False: another broker leads. The term counts from before it was
        asked, and is as it was where the store does not answer."""
        asked_at = self._clock()
        try:
            leads = self._leadership.renew(self.lease_term.term, self.lease_term.seconds)
        except StoreUnavailable as error:
            log.warning("the lease cannot be renewed: %s", error)
            return True
        if leads:
            with self._news:
                self.lease_term.renewed(asked_at)
                self._news.notify_all()
        return leads


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
        self._watch = LeaseWatch()

    def ask(self) -> LeaseTerm | None:
        """Ask once. Raises StoreUnavailable."""
        row = self._leadership.row(self._seconds)
        asked_at = clock()
        over = self._watch.run_out(row, row.seconds or self._seconds, asked_at)
        if (row.expires or self._watch.went_back) and not over:
            return None
        after = self._watch.last_term
        term = self._leadership.take(self._holder, self._seconds, row, after)
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
