"""What refusals mean for the jobs of the user whom they meet, and for nobody else's.

A cluster that is full is the ledger's matter. Here is the rest: a user who has as many jobs in a
cluster as they may have there waits until it takes the next one, and a job that a cluster refused
for a reason of its own is not sent there again at once. Jobs that can go nowhere else wait here,
outside of the policy's sight, in the order of joining; others go elsewhere meanwhile.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from .job import Job
from .settings import Settings

Kind = tuple[str, tuple[int, ...], tuple[int, ...], tuple[int, ...], int]
CanGo = Callable[[Job, frozenset[int]], bool]

_ENOUGH = 16  # jobs that may be sent at once, before a limit is forgotten


@dataclass(slots=True)
class NativeLimit:
    """One user's limit in one cluster. `allowance`: how many more jobs may be sent there now;
    `until`: when one may be sent to try; `tried`: one was, since the last refusal."""

    until: float
    detail: str = ""
    refusals: int = 0
    allowance: int = 0
    tried: bool = True


@dataclass(slots=True)
class Refusals:
    """The limits that users have met, the jobs that were refused, and those that wait for that.

    `jobs`: who can go nowhere now, by number; `detours`: who is in the policy's queue, with the
    clusters that it must not go to at present.
    """

    settings: Settings
    limits: dict[tuple[str, int], NativeLimit] = field(default_factory=dict)
    jobs: dict[int, Job] = field(default_factory=dict)
    detours: dict[int, frozenset[int]] = field(default_factory=dict)
    _later: dict[int, dict[int, float]] = field(default_factory=dict)
    _lines: dict[Kind, list[tuple[int, int]]] = field(default_factory=dict)
    _changed: bool = False

    # --- what clusters answer -----------------------------------------------------------------

    def at_limit(self, job: Job, cluster: int, detail: str, now: float) -> float:
        """A cluster took no more of this user's jobs; answers when to try one again. Refusals
        within a pause were mostly asked for before it."""
        limit = self.limits.get((job.user, cluster))
        if limit is None:
            limit = self.limits[job.user, cluster] = NativeLimit(now)
        if limit.tried:
            limit.refusals += 1
        limit.tried = False
        limit.allowance = 0
        limit.detail = detail
        limit.until = now + self.settings.limit_delay(limit.refusals)
        return limit.until

    def accepted(self, user: str, cluster: int) -> bool:
        """A cluster took a job of this user; whether more may be sent there now."""
        limit = self.limits.get((user, cluster))
        if limit is None:
            return False
        limit.refusals = 0
        limit.allowance += 2
        if limit.allowance >= _ENOUGH:
            del self.limits[user, cluster]
        self._changed = True
        return True

    def pause(self, job: Job, cluster: int, now: float) -> float:
        """A job is not sent there again at once; answers when it may be."""
        until = now + self.settings.refusal_delay(job.submission_failures)
        self._later.setdefault(job.id, {})[cluster] = until
        return until

    # --- who may go where ---------------------------------------------------------------------

    def spend(self, job: Job, clusters: set[int], now: float) -> float | None:
        """A job is about to be sent to these clusters: counted against its user's limits. Answers
        when another may be sent to try, should nothing come of this one; None: no limit is near."""
        met = [limit for c in clusters if (limit := self.limits.get((job.user, c))) is not None]
        for limit in met:
            limit.allowance -= 1
            limit.tried = True
            limit.until = now + self.settings.limit_delay(max(1, limit.refusals))
        return min((limit.until for limit in met), default=None)

    def elsewhere(self, job: Job, now: float) -> frozenset[int]:
        """Clusters that the job must not go to now."""
        found = set(job.excluded)
        for cluster, until in self._later.get(job.id, {}).items():
            if until > now:
                found.add(cluster)
        if self.limits:
            for (user, cluster), limit in self.limits.items():
                if user == job.user and limit.allowance <= 0:
                    found.add(cluster)
        return frozenset(found)

    def until(self, job: Job, now: float) -> float:
        """When that may change."""
        moments = [at for at in self._later.get(job.id, {}).values() if at > now]
        moments += [x.until for (user, _), x in self.limits.items() if user == job.user]
        return max(now, min(moments, default=now))

    def why(self, of: str, now: float) -> str:
        """Which limits of a user keep jobs back, in the clusters' words."""
        return "; ".join(
            f"{self.settings.clusters[cluster].name}: {limit.detail} (asked again in "
            f"{max(0.0, limit.until - now):.0f} s)"
            for (user, cluster), limit in self.limits.items()
            if user == of and limit.allowance <= 0
        )

    # --- who waits here -----------------------------------------------------------------------

    def add(self, job: Job) -> None:
        """It waits here from now on."""
        self.jobs[job.id] = job
        heapq.heappush(self._lines.setdefault(self._kind(job), []), (job.seq, job.id))

    def remove(self, number: int) -> bool:
        """It waits here no more, nor goes another way; False if it did not wait."""
        self.detours.pop(number, None)
        return self.jobs.pop(number, None) is not None

    def forget(self, number: int) -> None:
        """The job has ended."""
        self.remove(number)
        self._later.pop(number, None)

    def due(self, now: float) -> bool:
        """Whether anybody may go where they could not; moments that have come are acted on."""
        changed, self._changed = self._changed, False
        for limit in self.limits.values():
            if limit.until <= now and limit.allowance <= 0:
                limit.allowance = 1
                changed = True
        for number, pauses in list(self._later.items()):
            if any(until <= now for until in pauses.values()):
                changed = True
                left = {cluster: until for cluster, until in pauses.items() if until > now}
                self._later[number] = left
                if not left:
                    del self._later[number]
        return changed

    def let_through(self, now: float, can_go: CanGo) -> list[Job]:
        """Take out, in the order of joining, who can go somewhere again: of a user at a limit no
        more than may be sent there. `can_go`: whether a job fits without these clusters."""
        through: list[Job] = []
        sent: Counter[tuple[str, int]] = Counter()
        heads = [(*line[0], kind) for kind, line in self._lines.items() if line]
        self._lines = {kind: line for kind, line in self._lines.items() if line}
        heapq.heapify(heads)
        while heads:
            seq, number, kind = heapq.heappop(heads)
            line = self._lines[kind]
            job = self.jobs.get(number)
            if job is not None and job.seq == seq:
                full = {
                    cluster
                    for (user, cluster), limit in self.limits.items()
                    if user == job.user and sent[user, cluster] >= limit.allowance
                }
                barred = self.elsewhere(job, now) | full
                if not can_go(job, barred):
                    continue  # and so for all who are like it
                goes = job.request.clusters or range(len(self.settings.clusters))
                sent.update({(job.user, cluster) for cluster in goes if cluster not in barred})
                del self.jobs[number]
                through.append(job)
            heapq.heappop(line)
            if line:
                heapq.heappush(heads, (*line[0], kind))
        return through

    def _kind(self, job: Job) -> Kind:
        """Equal for jobs of which all can go somewhere, or none."""
        request = job.request
        own = job.id if job.id in self._later else 0
        return (job.user, request.clusters or (), request.sizes, tuple(sorted(job.excluded)), own)
