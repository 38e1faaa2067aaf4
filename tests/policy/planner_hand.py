"""Worked examples of planners by hand: jobs with names, and virtual time."""

from collections.abc import Sequence
from typing import Any

from metabroker.policy import Placement, Planner, Request, Sizes, make_planner


class PlannerHand:
    """A planner with named jobs: what happens, and who starts."""

    def __init__(self, policy: str, processors: Sequence[int], **options: Any) -> None:
        self.planner: Planner = make_planner(policy, processors, **options)
        self.now = 0.0
        self.keys: dict[str, int] = {}
        self.where: dict[str, tuple[Placement, Sizes]] = {}

    def submit(self, name: str, request: Request | int, estimate: float = 1.0) -> list[str]:
        """A job is submitted, and a pass: the names of those that start."""
        if isinstance(request, int):
            request = Request((request,))
        self.keys[name] = len(self.keys)
        self.planner.submit(self.keys[name], request, 0, estimate, self.now)
        return self.run()

    def end(self, *names: str, at: float | None = None) -> list[str]:
        """Running jobs end, and a pass."""
        if at is not None:
            self.now = at
        for name in names:
            self.planner.end(self.keys[name], self.now)
        return self.run()

    def run(self) -> list[str]:
        names = {key: name for name, key in self.keys.items()}
        started = []
        for key, clusters, sizes in self.planner.run(self.now):
            self.where[names[key]] = clusters, sizes
            started.append(names[key])
        return started
