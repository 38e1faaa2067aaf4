"""Jobs by user and name, for those that wait for all earlier ones of the same (`singleton`)."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

from .job import Job
from .state import BrokerState

Group = tuple[str, str]
"""A user, and the name of jobs of theirs."""


@dataclass(slots=True)
class _Waiting:
    """Those of a group that wait, by number; `order`: a heap of them, and of some that wait no
    more, but never as the first."""

    numbers: set[int] = field(default_factory=set)
    order: list[int] = field(default_factory=list)


class Groups:
    """Live jobs by user and name. Nothing is counted before one of them waits for all earlier
    ones."""

    def __init__(self, state: BrokerState) -> None:
        self._state = state
        self._members: dict[Group, dict[int, None]] = {}
        self._waiting: dict[Group, _Waiting] = {}

    def __bool__(self) -> bool:
        return bool(self._members)

    def wait(self, job: Job) -> None:
        """It waits for the earlier ones of its group."""
        if not self._members:
            for each in self._state.jobs.values():
                self._members.setdefault((each.user, each.name), {})[each.id] = None
        waiting = self._waiting.setdefault((job.user, job.name), _Waiting())
        waiting.numbers.add(job.id)
        heapq.heappush(waiting.order, job.id)

    def changed(self, job: Job) -> Group | None:
        """A job is new, or is not what it was; its group, if somebody there may wait no more."""
        if not self._members:
            return None
        group = job.user, job.name
        members = self._members.setdefault(group, {})
        if not job.state.ended:
            members[job.id] = None
        else:
            members.pop(job.id, None)
            if not members:
                del self._members[group]
        freed = job.state.ended or not job.components
        return group if freed and group in self._waiting else None

    def next(self, group: Group) -> int | None:
        """The first one that waits, if no earlier job is there, and no later one has started."""
        waiting, members = self._waiting.get(group), self._members.get(group, {})
        if waiting is None:
            return None
        jobs, first = self._state.jobs, waiting.order[0]
        others = (n for n in members if n != first and n in jobs)
        waits = any(n < first or jobs[n].components for n in others)
        return None if waits else first

    def forget(self, job: Job) -> None:
        """It does not wait here any more; nobody else may, either."""
        group = job.user, job.name
        waiting = self._waiting.get(group)
        if waiting is None or job.id not in waiting.numbers:
            return
        waiting.numbers.remove(job.id)
        while waiting.order and waiting.order[0] not in waiting.numbers:
            heapq.heappop(waiting.order)
        if not waiting.numbers:
            del self._waiting[group]
