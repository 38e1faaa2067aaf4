"""The interface of policies that keep their own book of what runs.

Backfilling (ER 2.4) must know when running jobs will end, so a planner is told of every submission
with the user's estimate, and of every end. It keeps the idle processors itself:

    planner.submit(17, request, local, estimate, now)
    for key, clusters, sizes in planner.run(now):
        ...                       # sizes[i] processors on clusters[i]
    planner.end(17, now)          # later

In batch order one run() follows all ends and submissions of an instant; run() may also be called
after each of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from metabroker.policy.request import Placement, Request, Sizes

Launch = tuple[int, Placement, Sizes]
"""A decision: (key of the job, clusters, processors on each of them).

The sizes are the request's own, in the user's order, unless the policy has split the job.
"""


class Planner(ABC):
    """One policy over clusters of `processors[c]` processors, all of them its own.

    Raises ValueError for no cluster, or one without processors.
    """

    overhead = 0.0
    """A job that the policy splits runs (1 + overhead) times as long (ER 2.4)."""

    def __init__(self, processors: Sequence[int]) -> None:
        if not processors:
            raise ValueError("a system has at least one cluster, not 0")
        if min(processors) < 1:
            raise ValueError(f"a cluster has at least one processor, not {min(processors)}")
        self.processors = tuple(processors)

    @abstractmethod
    def submit(self, key: int, request: Request, local: int, estimate: float, now: float) -> None:
        """A job is submitted at the local queue `local`; `estimate` is how long it may run."""

    @abstractmethod
    def end(self, key: int, now: float) -> None:
        """A running job has ended. Raises KeyError if no such job runs."""

    @abstractmethod
    def run(self, now: float) -> list[Launch]:
        """One pass: which jobs start now, in the order of the decisions."""

    @abstractmethod
    def __len__(self) -> int:
        """The number of waiting jobs."""

    def __bool__(self) -> bool:
        """A planner is there also while nobody waits."""
        return True

    @abstractmethod
    def ever_fits(self, request: Request) -> bool:
        """Could such a job run with nothing else running?"""


class LivePlanner(Planner):
    """A planner that a daemon can drive, too: it can be told of what it has not decided."""

    @abstractmethod
    def adopt(self, key: int, parts: Sequence[tuple[int, int]], end: float, now: float) -> None:
        """A job runs that it has not started: (cluster, processors) each, expected to end then."""

    def rejoin(self, key: int, request: Request, local: int, estimate: float, now: float) -> None:
        """A job waits that was submitted some time ago; else as `submit`."""
        self.submit(key, request, local, estimate, now)

    @abstractmethod
    def would_start(self, request: Request, estimate: float, now: float) -> Placement | None:
        """Where a job that was submitted now would start at once, after a pass; None: it would
        wait."""

    @abstractmethod
    def withdraw(self, key: int) -> None:
        """A waiting job waits no more. Raises KeyError if none of that key waits."""
