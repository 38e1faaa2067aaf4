"""What runs until when, for policies that backfill (see `policy.backfilling`)."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence

from metabroker.policy import Run

from .saga import Saga
from .state import BrokerState
from .states import IN_ATTEMPT


class RunningJobs:
    """The book of such a policy: of our jobs by their time limits, of others' by what their cluster
    has told last."""

    def __init__(self, state: BrokerState, saga: Saga) -> None:
        self._state = state
        self._live = saga.claims.live

    def limit(self, key: int) -> float:
        """The time limit of a waiting job, in seconds."""
        return self._state.jobs[key].time_limit

    def running(self, now: float) -> Mapping[int, Run]:
        """What each job holds in its present attempt. One that has not started yet may take its
        whole time limit."""
        parts = defaultdict[int, list[tuple[int, int]]](list)
        for cluster, live in enumerate(self._live):
            for ref, component in live.items():
                job = self._state.jobs.get(ref.job)
                if job is None or component.ahead or component.sibling:
                    continue
                if job.state in IN_ATTEMPT and ref.attempt == job.attempt:
                    parts[job.id].append((cluster, component.processors))
        return {
            number: Run(
                tuple(c for c, _ in held), tuple(n for _, n in held), self._end(number, now)
            )
            for number, held in parts.items()
        }

    def _end(self, number: int, now: float) -> float:
        job = self._state.jobs[number]
        return (now if job.start_time is None else job.start_time) + job.may_take

    def others(self, cluster: int, processors: int, now: float) -> Sequence[tuple[int, float]]:
        """Until when others hold so many processors, as far as the cluster has told it."""
        told = self._state.ledger.entries[cluster].outlook
        found: list[tuple[int, float]] = []
        if told is not None and now - told.taken_at <= self._state.settings.stale_after:
            for held, until in self._not_ours(cluster, now):
                if processors <= 0:
                    break
                found.append((min(held, processors), until))
                processors -= held
        return [*found, (processors, now)] if processors > 0 else found

    def _not_ours(self, cluster: int, now: float) -> Sequence[tuple[int, float]]:
        """All that is in use there, but for what is like a component of ours; who ends last comes
        first."""
        entry = self._state.ledger.entries[cluster]
        ends = defaultdict[int, list[float]](list)
        assert entry.outlook is not None
        for processors, until in entry.outlook.held or ():
            ends[processors].append(until - entry.clock_offset)
        for each in ends.values():
            each.sort()
        for component in self._live[cluster].values():
            alike = ends.get(component.processors)
            if alike and component.ref.job in self._state.jobs:
                at = bisect_left(alike, self._end(component.ref.job, now))
                del alike[min(at, len(alike) - 1)]
        rest = [(until, n) for n, untils in ends.items() for until in untils]
        return [(n, until) for until, n in sorted(rest, reverse=True) if n > 0]
