"""Retention: what a store need not keep any more is archived, and then removed.

One thread does this beside the core, a few jobs at a time, each time in a transaction of its own
that is fenced as the core's are. A failure ends the run and nothing else: nothing is removed that
is not archived, and the next run goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any

from metabroker.clusters.transports.base import CommandLost
from metabroker.store import LeadershipLost, Store, StoreUnavailable
from metabroker.store.archive import Archive, ArchiveError
from metabroker.store.ended import FIRST, Changed, What

log = logging.getLogger(__name__)

EVERY = 600.0
"""Seconds between two runs; the first begins `SOON` after the broker has become the leader."""
SOON = 30.0
_MOST = 50  # jobs of one transaction
_BYTES = 4 << 20  # of their scripts, environments and file lists together
_REST = 0.1  # seconds between two transactions, in which others write

_ORDER = (What.JOB, What.EVENTS, What.SCRIPT)  # what goes with its job goes once

Rest = Callable[[float], bool]
"""Waits for so many seconds; whether to stop."""


@dataclass(frozen=True, slots=True)
class Periods:
    """For how many seconds after its end a job's parts are kept; None: as long as the job, and of
    the job: for ever."""

    job: float | None
    events: float | None
    script: float | None

    def of(self, what: What) -> float | None:
        """Of one of them."""
        return {What.JOB: self.job, What.EVENTS: self.events, What.SCRIPT: self.script}[what]


class Behind(Exception):
    """The store is older than the clusters: nothing may be removed."""


@dataclass(frozen=True, slots=True)
class RetentionState:
    """What it has done since the broker leads, and how the last run went: `removed` jobs, or
    jobs whose events or scripts were; `last_run`: when the last whole one ended, in Unix seconds;
    `trouble`: why it cannot go on ("": it can)."""

    removed: dict[str, int] = field(default_factory=lambda: {what.value: 0 for what in What})
    failures: int = 0
    last_run: float | None = None
    trouble: str = ""

    def told(self) -> dict[str, Any]:
        """As users are told."""
        return {
            "removed": self.removed,
            "failures": self.failures,
            "last_run": self.last_run,
            "trouble": self.trouble or None,
        }


class Retention:
    """Over one store. One thread calls `run`; `state` may be read from any."""

    def __init__(
        self,
        store: Store,
        archive: Archive,
        periods: Periods,
        clock: Callable[[], float],
        spared: Callable[[], Collection[int]],
        permit: Callable[[], None] = lambda: None,
    ) -> None:
        """`spared`: jobs that the core names as theirs what clusters show, and nobody remembers
        (raises `Behind`); `permit`: asked before each write to the archive, where another broker
        might lead."""
        self.state = RetentionState()
        self._store = store
        self._archive = archive
        self._periods = periods
        self._clock = clock
        self._spared = spared
        self._permit = permit

    def run(self, rest: Rest) -> None:
        """Archive and remove all that is due now; errors are kept in `state`."""
        try:
            self._permit()
            self._archive.settle(self._store.ended.archives(), self._store.term)
            for what in _ORDER:
                self._all(what, rest)
        except (LeadershipLost, CommandLost):
            return
        except (ArchiveError, StoreUnavailable, Behind, TimeoutError) as error:
            self._failed(str(error) or type(error).__name__)
        except Exception as error:
            log.exception("retention: an error that nobody expected")
            self._failed(type(error).__name__)
        else:
            if self.state.trouble:
                log.warning("retention: goes on")
            self.state = replace(self.state, last_run=self._clock(), trouble="")

    def _failed(self, why: str) -> None:
        if why != self.state.trouble:
            log.error("retention: %s; nothing more is removed until that is mended", why)
        self.state = replace(self.state, failures=self.state.failures + 1, trouble=why)

    def _all(self, what: What, rest: Rest) -> None:
        kept = self._periods.of(what)
        if kept is None:
            return
        before, after = self._clock() - kept, FIRST
        spared = self._spared()
        while True:
            batch = self._store.ended.batch(what, before, after, _MOST, _BYTES)
            if batch is None:
                return
            jobs = [job for job in batch.jobs if job.number not in spared]
            if jobs:
                self._permit()
                archived = self._archive.append(what, jobs, self._clock())
                try:
                    self._store.ended.remove(what, jobs, archived, self._store.term)
                except Changed as changed:
                    log.warning("retention: %s; it is kept for now", changed)
                else:
                    self._count(what, len(jobs))
            after = batch.last
            if rest(_REST):
                return

    def _count(self, what: What, jobs: int) -> None:
        removed = {**self.state.removed, what.value: self.state.removed[what.value] + jobs}
        self.state = replace(self.state, removed=removed)
