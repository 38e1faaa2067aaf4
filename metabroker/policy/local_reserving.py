"""The queue of a cluster's own scheduler that keeps reservations for later: EASY or FCFS.

As in Slurm and OpenPBS, a job starts only where it ends before each reservation, by its estimate,
or leaves the reservation's processors alone. Without reservations, and where no job outlives its
estimate, every job starts as it does under `LocalEasy` and `LocalFcfs`, which are faster.
"""

from collections.abc import Mapping
from typing import NamedTuple

from metabroker.policy.availability import Booked, Held, Outlook, Wanted, give_back
from metabroker.policy.placement import one_pool
from metabroker.policy.planner import Launch
from metabroker.policy.profile import Profile
from metabroker.policy.request import Request

_HERE = (0,)


class Waiting(NamedTuple):
    """A job in the queue, since when."""

    key: int
    request: Request
    estimate: float
    since: float


class LocalReserving:
    """One pool of processors. What it says of itself holds after run(), until the next event."""

    backfills = True

    def __init__(self, processors: tuple[int]) -> None:
        (self._processors,) = (self._free,) = processors
        self._profile = Profile(processors, one_pool)
        self._ahead = self._profile
        """The profile with what the head of the queue was promised at the last pass."""
        self._queue: list[Waiting] = []
        self._running: dict[int, Held] = {}
        self._booked: dict[int, Booked] = {}

    # --- the queue ----------------------------------------------------------------------------

    def submit(self, key: int, request: Request, local: int, estimate: float, now: float) -> None:
        """A job of one component is submitted; `estimate` is how long it may run."""
        self._queue.append(Waiting(key, request, estimate, now))

    def withdraw(self, key: int) -> None:
        """A waiting job waits no more. Raises KeyError if none of that key waits."""
        position = next((n for n, job in enumerate(self._queue) if job.key == key), None)
        if position is None:
            raise KeyError(key)
        del self._queue[position]

    def end(self, key: int, now: float) -> None:
        """A running job has ended. Raises KeyError if no such job runs."""
        size, until = self._running.pop(key)
        self._free += size
        if until > now:
            self._profile.give(now, until, _HERE, (size,))

    def run(self, now: float) -> list[Launch]:
        """One pass: which jobs start now, in the order of the decisions."""
        self._profile.forget(now)
        self._ahead = self._profile
        launches: list[Launch] = []
        waiting: list[Waiting] = []
        for job in self._queue:
            if (not waiting or self.backfills) and self._fits(job.request.total, job.estimate, now):
                self._start(job.key, job.request.total, job.estimate, now)
                launches.append((job.key, _HERE, job.request.sizes))
            else:
                if not waiting and self.backfills:
                    self._promise(job, now)
                waiting.append(job)
        self._queue = waiting
        return launches

    @property
    def idle(self) -> int:
        """The processors that the shortest of jobs could have at once."""
        if self._queue and not self.backfills:
            return 0
        return min(self._free, self._profile.free[0][0])

    def starts_now(self, size: int, estimate: float, now: float) -> bool:
        """Would a job of `size` processors that is submitted now start at once?"""
        return (self.backfills or not self._queue) and self._fits(size, estimate, now)

    def _fits(self, size: int, estimate: float, now: float) -> bool:
        return size <= self._free and size <= self._ahead.always_free(now, estimate)[0]

    def _start(self, key: int, size: int, estimate: float, now: float) -> None:
        self._free -= size
        self._running[key] = Held(size, now + estimate)
        self._profile.take(now, now + estimate, _HERE, (size,))
        if self._ahead is not self._profile:
            self._ahead.take(now, now + estimate, _HERE, (size,))

    def _promise(self, head: Waiting, now: float) -> None:
        """Nobody who overtakes the head makes it wait longer."""
        start, clusters = self._profile.earliest(head.request, head.estimate, now)
        self._ahead = self._profile.copy()
        if clusters:
            self._ahead.take(start, start + head.estimate, clusters, head.request.sizes)

    # --- reservations -------------------------------------------------------------------------

    def book(self, key: int, booked: Booked, now: float) -> None:
        """Keep these processors for a job, from a later moment on."""
        self._booked[key] = booked
        self._profile.take(max(booked.start, now), booked.end, _HERE, (booked.processors,))

    def release(self, key: int, now: float) -> Booked:
        """They are kept no more. Raises KeyError if nothing is kept for that job."""
        booked = self._booked.pop(key)
        if booked.end > now:
            self._profile.give(max(booked.start, now), booked.end, _HERE, (booked.processors,))
        return booked

    def begin(self, key: int, estimate: float, now: float) -> None:
        """The job for which they are kept starts in them. They must be idle (`has_idle`)."""
        self._start(key, self.release(key, now).processors, estimate, now)

    def has_idle(self, processors: int) -> bool:
        """Whether so many run nothing, for whomever they are kept."""
        return processors <= self._free

    def may_begin(self, key: int, estimate: float, now: float) -> bool:
        """Whether the job for which they are kept could start now, instead of later: they are idle
        and no other reservation needs them. (Whom the queue has promised a start may wait.)"""
        booked = self._booked[key]
        free = give_back(self._profile, [booked], now).always_free(now, estimate)[0]
        return self.has_idle(booked.processors) and free >= booked.processors

    def booked(self, key: int) -> list[Booked]:
        """What is kept for that job."""
        return [self._booked[key]] if key in self._booked else []

    def idle_for_reservations(self) -> int:
        """Idle processors that the head of the queue could have, were none kept for later."""
        head = self._queue[0].request.total if self._queue else 0
        if not head or head > self._free:
            return 0
        return min(self._free, sum(booked.processors for booked in self._booked.values()))

    def outlook(self) -> Outlook:
        """All that is known of the time to come."""
        wanted = [Wanted(job.request.total, job.estimate, job.since) for job in self._queue]
        return Outlook(
            self._processors, list(self._running.values()), list(self._booked.values()), wanted
        )


class ReservingFcfs(LocalReserving):
    """First Come First Served: while somebody waits, nothing is idle for those who come later."""

    backfills = False


RESERVING: Mapping[str, type[LocalReserving]] = {"FCFS": ReservingFcfs, "EASY": LocalReserving}
"""The local schedulers that keep reservations, by name."""
