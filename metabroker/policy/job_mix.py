"""What the policies of the job mix have in common: sequential jobs and gangs on one pool (KH 2.2).

All processors share one queue. A sequential job (policy.Sequential) takes one processor, a gang as
many as it has tasks. When a job ends, the queue is scanned and all that fit are started; when one
arrives, it is started if it fits. The policies differ in the order of the queue, and in whether
sequential jobs may pass a gang that has to wait (blocking, BS):

- When a job ends and the first in the queue is a gang that cannot start, only gangs are examined.
- A sequential job that arrives while the first in the queue is a gang is blocked.
"""

from abc import abstractmethod
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from metabroker.policy.planner import Launch, Planner
from metabroker.policy.request import Request
from metabroker.policy.sequential import Sequential


class Waiting(NamedTuple):
    """A waiting job. `order`: that of its arrival."""

    order: int
    key: int
    request: Request


class JobMixQueue:
    """The waiting jobs of one size and kind, in order of arrival: they are all alike.

    `tasks` is the size of the jobs, `gang` their kind, `needs` the processors of each.
    """

    __slots__ = ("gang", "jobs", "needs", "tasks")

    def __init__(self, tasks: int, gang: bool) -> None:
        self.tasks = tasks
        self.gang = gang
        self.needs = tasks if gang else 1
        self.jobs: deque[Waiting] = deque()


class JobMix(Planner):
    """One pool for sequential jobs and gangs. Raises ValueError for more than one cluster.

    `blocking`: sequential jobs do not pass a gang that has to wait. Estimates are not used.
    """

    def __init__(self, processors: Sequence[int], *, blocking: bool = False) -> None:
        super().__init__(processors)
        if len(processors) != 1:
            raise ValueError(f"a job mix runs on one cluster, not on {len(processors)}")
        self._blocking = blocking
        self._free = processors[0]
        self._lines: dict[tuple[int, bool], JobMixQueue] = {}
        self._newcomers: list[Waiting] = []
        self._running: dict[int, int] = {}
        self._arrived = 0
        self._waiting = 0
        self._ended = False

    @abstractmethod
    def _rank(self, line: JobMixQueue) -> int:
        """The place in the queue of the first job of a line: the least is the head."""

    def submit(self, key: int, request: Request, local: int, estimate: float, now: float) -> None:
        self._newcomers.append(Waiting(self._arrived, key, request))
        self._arrived += 1
        self._waiting += 1

    def end(self, key: int, now: float) -> None:
        self._free += self._running.pop(key)
        self._ended = True

    def run(self, now: float) -> list[Launch]:
        launches: list[Launch] = []
        if self._ended:
            self._ended = False
            for job in self._newcomers:
                self._line(job.request).jobs.append(job)
            self._scan(launches)
        else:
            for job in self._newcomers:
                line = self._line(job.request)
                if line.needs <= self._free and not self._blocked(line):
                    self._start(job, line.needs, launches)
                else:
                    line.jobs.append(job)
        self._newcomers.clear()
        return launches

    def __len__(self) -> int:
        return self._waiting

    def ever_fits(self, request: Request) -> bool:
        return request.total <= self.processors[0]

    def _line(self, request: Request) -> JobMixQueue:
        if isinstance(request, Sequential):
            kind = (request.tasks, False)
        else:
            kind = (request.total, True)
        line = self._lines.get(kind)
        if line is None:
            line = self._lines[kind] = JobMixQueue(*kind)
        return line

    def _first(self) -> JobMixQueue | None:
        """The line of the first job in the queue."""
        return min(
            (line for line in self._lines.values() if line.jobs), key=self._rank, default=None
        )

    def _blocked(self, newcomer: JobMixQueue) -> bool:
        """Is a job of this line, which arrives, blocked by a gang in front?"""
        if newcomer.gang or not self._blocking:
            return False
        first = self._first()
        return first is not None and first.gang

    def _scan(self, launches: list[Launch]) -> None:
        """Start all that fit, in the order of the queue. What did not fit will not, later on."""
        lines = [line for line in self._lines.values() if line.jobs]
        first = self._first()
        if self._blocking and first is not None and first.gang and first.needs > self._free:
            lines = [line for line in lines if line.gang]
        while True:
            lines = [line for line in lines if line.jobs and line.needs <= self._free]
            if not lines:
                return
            line = min(lines, key=self._rank)
            self._start(line.jobs.popleft(), line.needs, launches)

    def _start(self, job: Waiting, needs: int, launches: list[Launch]) -> None:
        self._free -= needs
        self._waiting -= 1
        self._running[job.key] = needs
        launches.append((job.key, (0,) * len(job.request.sizes), job.request.sizes))
