"""The queue of a cluster's own scheduler, in which the jobs of its own users wait: FCFS or EASY.

One pool of processors. A job of the broker gets its processors there in one of
two ways: it `starts_now`, because the scheduler promises these processors to nobody, or it waits
among the others until it starts or is withdrawn.
"""

from metabroker.policy.easy import Easy
from metabroker.policy.placement import one_pool
from metabroker.policy.planner import Launch


class LocalEasy(Easy):
    """EASY backfilling. What it says of itself holds after run(), until the next event."""

    def __init__(self, processors: tuple[int]) -> None:
        super().__init__(processors, one_pool)

    @property
    def idle(self) -> int:
        """The processors that the shortest of jobs could have at once."""
        return self._free[0]

    @property
    def queued(self) -> int:
        """The processors that the waiting jobs ask for."""
        return sum(job.request.total for job in self._queue)

    def starts_now(self, size: int, estimate: float, now: float) -> bool:
        """Would a job of `size` processors that is submitted now start at once?"""
        if size > self._free[0]:
            return False
        return not self._queue or now + estimate <= self._shadow or size <= self._spare[0]


class LocalFcfs(LocalEasy):
    """First Come First Served: while somebody waits, nothing is idle for those who come later."""

    @property
    def idle(self) -> int:
        return 0 if self._queue else self._free[0]

    def starts_now(self, size: int, estimate: float, now: float) -> bool:
        return size <= self.idle

    def _promise(self, now: float) -> None:
        """Nobody needs to know when the head starts."""

    def _backfill(self, first: int, now: float, launches: list[Launch]) -> None:
        """Nothing overtakes."""
