"""Worked examples by hand: jobs with names, idle processors that are kept."""

from collections.abc import Sequence
from typing import Any

from metabroker.policy import Placement, Request, SchedulerView, Why, make


class Hand:
    """A policy, the idle processors, and names for the jobs."""

    def __init__(self, policy: str, idle: Sequence[int], **options: Any) -> None:
        self.scheduler = make(policy, len(idle), **options)
        self.view = SchedulerView(self.scheduler)
        self.idle = list(idle)
        self.now = 0.0
        self.keys: dict[str, int] = {}
        self.requests: dict[str, Request] = {}
        self.placements: dict[str, Placement] = {}

    def arrive(
        self, name: str, *sizes: int, local: int = 0, on: tuple[int, ...] | None = None
    ) -> None:
        """A job with components of these sizes, submitted at a local queue."""
        request = Request(sizes, on)
        self.keys[name] = len(self.keys)
        self.requests[name] = request
        queue = self.scheduler.queue_of(request, local)
        self.scheduler.arrive(self.keys[name], request, queue, self.now)

    def run(self, capacity: Sequence[int] | None = None) -> list[str]:
        """One pass: the names of the jobs started, in order."""
        names = {key: name for name, key in self.keys.items()}
        starts = self.scheduler.run(self.idle, self.now, capacity)
        for key, placement in starts:
            self.placements[names[key]] = placement
        return [names[key] for key, _ in starts]

    def submit(self, name: str, *sizes: int, local: int = 0) -> list[str]:
        """A job arrives, and one pass."""
        self.arrive(name, *sizes, local=local)
        return self.run()

    def free(self, cluster: int, processors: int) -> None:
        """Processors become idle: counts as a departure."""
        self.idle[cluster] += processors
        self.scheduler.depart([cluster])

    def freed(self, cluster: int, processors: int) -> list[str]:
        """Processors become idle, and one pass."""
        self.free(cluster, processors)
        return self.run()

    def departure(self, *idle: int) -> list[str]:
        """A job departs, after which so many are idle (as before, if none are given), and one
        pass."""
        self.idle[:] = idle or self.idle
        self.scheduler.depart()
        return self.run()

    def why(self, name: str) -> Why:
        """Why the job waits."""
        return self.view.why(self.key(name), self.idle, self.now)

    def end(self, name: str) -> None:
        """A running job departs."""
        request, placement = self.requests[name], self.placements[name]
        for cluster, size in zip(placement, request.sizes, strict=True):
            self.idle[cluster] += size
        self.scheduler.depart([placement[component] for component in request.order])

    def key(self, name: str) -> int:
        return self.keys[name]


class Coin:
    """A source of randomness that says what it is told to."""

    def __init__(self, *answers: int) -> None:
        self.answers = list(answers)
        self.asked: list[int] = []

    def randrange(self, stop: int, /) -> int:
        self.asked.append(stop)
        answer = self.answers.pop(0)
        assert 0 <= answer < stop
        return answer


def full(policy: str, *locals_: int, rng: Coin | None = None) -> Hand:
    """Two full clusters, 'g' in the global queue, 'l0' and/or 'l1' in the local queues."""
    hand = Hand(policy, [0, 0], rng=rng)
    hand.submit("g", 2, 2)
    for local in locals_:
        hand.submit(f"l{local}", 2, local=local)
    return hand
