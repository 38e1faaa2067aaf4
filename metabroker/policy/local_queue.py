"""The queue of a cluster's own scheduler, in which the jobs of its own users wait: FCFS or EASY.

One pool of processors, as in `easy_pool`. A job of the broker gets its processors there in one of
two ways: it `starts_now`, because the scheduler promises these processors to nobody, or it waits
among the others until it starts or is withdrawn.
"""

from metabroker.policy.easy_pool import EasyPool
from metabroker.policy.planner import Launch


class LocalEasy(EasyPool):
    """EASY backfilling. What it says of itself holds after run(), until the next event."""

    @property
    def idle(self) -> int:
        """The processors that the shortest of jobs could have at once."""
        return self._free

    @property
    def queued(self) -> int:
        """The processors that the waiting jobs ask for."""
        return sum(size for _, size, _, _ in self._queue)

    def starts_now(self, size: int, estimate: float, now: float) -> bool:
        """Would a job of `size` processors that is submitted now start at once?"""
        if size > self._free:
            return False
        return not self._queue or now + estimate <= self._shadow or size <= self._extra

    def withdraw(self, key: int) -> None:
        """A waiting job leaves the queue. Raises ValueError if no such job waits."""
        position = [job[0] for job in self._queue].index(key)
        del self._queue[position]
        if not position:
            self._settled = 0
        elif position < self._settled:
            self._settled -= 1


class LocalFcfs(LocalEasy):
    """First Come First Served: while somebody waits, nothing is idle for those who come later."""

    @property
    def idle(self) -> int:
        return 0 if self._queue else self._free

    def starts_now(self, size: int, estimate: float, now: float) -> bool:
        return size <= self.idle

    def _promise(self, now: float) -> None:
        """Nobody needs to know when the head starts."""

    def _backfill(self, first: int, now: float, launches: list[Launch]) -> None:
        """Nothing overtakes."""
