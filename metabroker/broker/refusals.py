"""What refusals mean for the jobs of the user whom they meet, and when for all users'.

A cluster that is full is the ledger's matter. Here is the rest. A cluster is *suspended* for a
user who has as many jobs there as may be, or whom it denies; and for all users if it cannot be
reached, or if it denies several of them and has accepted nobody meanwhile. Then one job at a time
is sent to try, with growing pauses, and the first that is accepted ends it. A refusal of this kind
is no failed submission of its job. A job that a cluster refused for a reason of its own is not sent
there again at once.

Whose a reason is that is not known (words that say nothing, no answer where polls are answered)
is told by who meets it: several jobs of one user in a row, and the cluster is suspended for that
user; jobs of several users, and it is for all. Until then such a refusal is its job's own.

Jobs that can go nowhere else, also since clusters have too little for as long as they take (see
`horizon`), wait here, out of the policy's sight, in the order of joining; others go elsewhere.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from metabroker.submission.chunks import NodeRange
from metabroker.submission.shape import Shape

from .heaps import crowded, heaps
from .job import Component, Job, NewJob
from .settings import Settings
from .states import Cause, Step

CanGo = Callable[[Job, frozenset[int]], bool]
Ahead = Callable[[Job, float], Iterable[int]]
"""The clusters that have too little for as long as a job takes (see `horizon`), or in which it
would hold more than its limits let it (see `resource_limits`)."""

_ENOUGH = 16  # jobs that may be sent at once, before a limit is forgotten
_SEVERAL = 2  # users whom a cluster denies, and accepts nobody meanwhile: it is not their matter
_SEVERAL_JOBS = 3  # that it refuses without a known reason, and accepts none meanwhile
_MOST_IN_A_ROW = 64  # jobs that are remembered of them
_UNKNOWN = frozenset({Cause.REFUSED, Cause.DEADLINE})


class Kind(NamedTuple):
    """What jobs have in common that can all go to the same clusters."""

    user: str
    sizes: tuple[int, ...]
    parts: int
    clusters: tuple[int, ...]
    excluded: tuple[int, ...]
    shape: Shape
    nodes: NodeRange
    time_limit: int
    own: int
    """The job, where it was refused by itself; else 0."""


class Scope(NamedTuple):
    """Whose jobs a cluster is suspended for (None: everybody's); all of them, or, if the step is
    RESERVE, those which reserve there."""

    user: str | None
    cluster: int
    step: Step = Step.SUBMIT


@dataclass(slots=True)
class Suspension:
    """Why a cluster is suspended, and since when. `allowance`: how many more jobs may be sent there
    now; `until`: when one may be sent to try; `tried`: one was, since the `latest` refusal."""

    cause: Cause
    since: float
    until: float
    latest: float
    detail: str = ""
    refusals: int = 0
    allowance: int = 0
    tried: bool = True


@dataclass(slots=True)
class _Round:
    """Who of those that wait is let through now, as far as that has come. `heads`: a heap of the
    first of each kind; `sent`: how many go to each suspended cluster; `again`: more may go since
    it began."""

    heads: list[tuple[int, int, Kind]]
    sent: Counter[Scope] = field(default_factory=Counter)
    again: bool = False


@dataclass(slots=True)
class Refusals:
    """The suspended clusters, the jobs that were refused, and those that wait for that.

    `jobs`: who can go nowhere now, by number; `detours`: who is in the policy's queue, with the
    clusters that it must not go to at present.
    """

    settings: Settings
    ahead: Ahead
    suspensions: dict[Scope, Suspension] = field(default_factory=dict)
    jobs: dict[int, Job] = field(default_factory=dict)
    detours: dict[int, frozenset[int]] = field(default_factory=dict)
    _later: dict[int, dict[int, float]] = field(default_factory=dict)
    _accepted: dict[tuple[int, Step], float] = field(default_factory=dict)
    _in_a_row: dict[tuple[int, Step], dict[int, str]] = field(default_factory=dict)
    _lines: dict[Kind, list[tuple[int, int]]] = field(default_factory=dict)
    _entries: int = 0  # in all of them, at most
    _changed: bool = False
    _round: _Round | None = None
    _soonest: float = float("inf")

    # --- what clusters answer -----------------------------------------------------------------

    def suspend(self, job: Job, by: Component, now: float) -> None:
        """The cluster of this component took no job of its user's, or could not be reached."""
        assert by.cause is not None
        step = Step.SUBMIT if by.cause is Cause.LIMIT else _step(by)
        scope = Scope(job.user, by.cluster, step)
        if by.cause is Cause.UNREACHABLE:
            scope = Scope(None, by.cluster)
        suspension = self._refused(scope, by.cause, by.detail, now)
        everyone = scope._replace(user=None)
        new = suspension.refusals == 1 or everyone not in self.suspensions
        if by.cause is Cause.DENIED and new and self._alike(scope):
            self._refused(everyone, by.cause, by.detail, now)

    def not_known_why(self, job: Job, by: Component, now: float) -> None:
        """The cluster of this component has refused it, or did not answer, for no known reason."""
        assert by.cause in _UNKNOWN
        scope = Scope(job.user, by.cluster, _step(by))
        row = self._in_a_row.setdefault(scope[1:], {})
        if len(row) < _MOST_IN_A_ROW:
            row[job.id] = job.user
        if sum(1 for user in row.values() if user == job.user) >= _SEVERAL_JOBS:
            self._refused(scope, by.cause, by.detail, now)
        if len(row) >= _SEVERAL_JOBS and len(set(row.values())) >= _SEVERAL:
            self._refused(scope._replace(user=None), by.cause, by.detail, now)

    def is_black_hole(self, by: Component) -> bool:
        """Whether its cluster refuses everybody, as it refused this component: it costs no try."""
        return by.cause in _UNKNOWN and Scope(None, by.cluster, _step(by)) in self.suspensions

    def _refused(self, scope: Scope, cause: Cause, detail: str, now: float) -> Suspension:
        """Refusals within a pause were mostly asked for before it, and do not make it longer."""
        found = self.suspensions.get(scope)
        if found is None:
            found = self.suspensions[scope] = Suspension(cause, now, now, now)
        found.refusals += found.tried
        found.tried = False
        found.allowance = 0
        found.cause, found.detail, found.latest = cause, detail, now
        found.until = now + self.settings.limit_delay(found.refusals)
        return found

    def _alike(self, scope: Scope) -> bool:
        """Whether a cluster denies several users, and has accepted nobody meanwhile."""
        accepted = self._accepted.get(scope[1:], float("-inf"))
        users = {
            other.user
            for other, suspension in self.suspensions.items()
            if other[1:] == scope[1:] and suspension.cause is Cause.DENIED
            if other.user is not None and suspension.latest > accepted
        }
        return len(users) >= _SEVERAL

    def accepted(self, user: str, cluster: int, step: Step, now: float) -> bool:
        """A cluster has carried out this step for a user; whether more may be sent there now."""
        self._accepted[cluster, step] = now
        self._in_a_row.pop((cluster, step), None)
        lifted = False
        for scope, suspension in list(self._of(user, single=False)):
            reached = suspension.cause is Cause.UNREACHABLE
            if scope.cluster != cluster or (scope.step is not step and not reached):
                continue
            lifted = self._changed = True
            suspension.refusals = 0
            suspension.allowance += 2
            if suspension.cause is not Cause.LIMIT or suspension.allowance >= _ENOUGH:
                del self.suspensions[scope]
            if scope.user is None:  # what it meant for each of them is asked anew
                for other, own in self.suspensions.items():
                    own.until = min(own.until, now) if other[1:] == scope[1:] else own.until
        return lifted

    def pause(self, job: Job, cluster: int, until: float) -> None:
        """A job is not sent there again before that time (Unix seconds)."""
        self._later.setdefault(job.id, {})[cluster] = until
        self._soonest = min(self._soonest, until)

    # --- who may go where ---------------------------------------------------------------------

    def _of(self, user: str, *, single: bool) -> Iterator[tuple[Scope, Suspension]]:
        """The suspensions that jobs of this user meet; `single`: which reserve nothing."""
        if not self.suspensions:
            return
        for cluster in range(len(self.settings.clusters)):
            for step in (Step.SUBMIT,) if single else (Step.SUBMIT, Step.RESERVE):
                for who in (user, None):
                    found = self.suspensions.get(scope := Scope(who, cluster, step))
                    if found is not None:
                        yield scope, found

    def spend(self, job: Job, clusters: set[int], now: float) -> None:
        """A job is about to be sent to these clusters: counted where they are suspended. Should
        nothing come of it another is sent to try after the pause."""
        for scope, suspension in self._of(job.user, single=job.alone):
            if scope.cluster in clusters:
                suspension.allowance -= 1
                suspension.tried = True
                suspension.until = now + self.settings.limit_delay(max(1, suspension.refusals))

    def next_try(self, now: float) -> float | None:
        """When the next pause of a suspended cluster is over."""
        return min((s.until for s in self.suspensions.values() if s.until > now), default=None)

    def elsewhere(self, job: Job, now: float, *, later: bool = False) -> frozenset[int]:
        """Clusters that the job must not go to now; `later`: it would not go there before others'
        reservations there have ended."""
        found = set(job.excluded)
        for cluster, until in self._later.get(job.id, {}).items():
            if until > now:
                found.add(cluster)
        for scope, suspension in self._of(job.user, single=job.alone):
            if suspension.allowance <= 0:
                found.add(scope.cluster)
        if not later:
            found.update(self.ahead(job, now))
        return frozenset(found)

    def denied(self, job: Job) -> frozenset[int]:
        """Clusters that deny the job's user by a final word: as often in a row as a job may fail to
        be submitted, and not because they deny everybody."""
        return frozenset(
            scope.cluster
            for scope, suspension in self._of(job.user, single=job.alone)
            if scope.user is not None
            and suspension.cause is Cause.DENIED
            and suspension.refusals >= self.settings.submission_retries
            and scope._replace(user=None) not in self.suspensions
        )

    def until(self, job: Job, now: float) -> float:
        """When that may change."""
        moments = [at for at in self._later.get(job.id, {}).values() if at > now]
        moments += [s.until for _, s in self._of(job.user, single=job.alone) if s.allowance <= 0]
        return max(now, min(moments, default=now))

    def why(self, job: Job | NewJob, now: float) -> str:
        """Which suspensions keep a job like this one back, in the clusters' words."""
        told, where = [], job.request.clusters
        for scope, suspension in self._of(job.user, single=job.alone):
            named = where is None or scope.cluster in where
            if named and suspension.allowance <= 0:
                name = self.settings.clusters[scope.cluster].name
                told.append(_told(f"{name}: {suspension.detail}", scope, suspension, now))
        return "; ".join(told)

    def suspended(self, cluster: int, now: float) -> tuple[float, str] | None:
        """Until when a cluster is sent no job of anybody's, and why."""
        found = self.suspensions.get(scope := Scope(None, cluster))
        if found is None:
            return None
        until = found.until if found.allowance <= 0 else now
        return (until, _told(found.detail, scope, found, now))

    # --- who waits here -----------------------------------------------------------------------

    def add(self, job: Job) -> None:
        """It waits here from now on."""
        self.jobs[job.id] = job
        heapq.heappush(self._lines.setdefault(self._kind(job), []), (job.seq, job.id))
        self._entries += 1
        if self._round is None and crowded(self._entries, self.jobs):
            self._lines, self._entries = heaps(self.jobs.values(), self._kind), len(self.jobs)

    def remove(self, number: int) -> bool:
        """It waits here no more, nor goes another way; False if it did not wait."""
        self.detours.pop(number, None)
        return self.jobs.pop(number, None) is not None

    def forget(self, number: int) -> None:
        """The job has ended."""
        self.remove(number)
        self._later.pop(number, None)

    def look_again(self) -> None:
        """Somebody may go where they could not, for another reason than a refusal."""
        self._changed = True

    def due(self, now: float) -> bool:
        """Whether anybody may go where they could not; moments that have come are acted on."""
        changed, self._changed = self._changed, False
        for suspension in self.suspensions.values():
            if suspension.until > now:
                continue
            if suspension.allowance > 0 and not self.jobs:
                continue
            # Who was let through to try may have gone elsewhere, or have ended: after the same
            # pause another may.
            suspension.allowance = max(1, suspension.allowance)
            suspension.until = now + self.settings.limit_delay(max(1, suspension.refusals))
            changed = True
        if self._soonest <= now:
            changed = self._end_pauses(now) or changed
        return changed

    def _end_pauses(self, now: float) -> bool:
        """Of single jobs; whether there was one that is over."""
        ended = False
        for number, pauses in list(self._later.items()):
            if any(until <= now for until in pauses.values()):
                ended = True
                left = {cluster: until for cluster, until in pauses.items() if until > now}
                self._later[number] = left
                if not left:
                    del self._later[number]
        moments = (until for pauses in self._later.values() for until in pauses.values())
        self._soonest = min(moments, default=float("inf"))
        return ended

    @property
    def letting_through(self) -> bool:
        """Whether there are more who may be let through now."""
        return self._round is not None

    def begin_round(self) -> None:
        """Somebody may go where they could not: look again from the first on, when the round that
        is under way has come to its end."""
        if self._round is not None:
            self._round.again = True
            return
        self._lines = {kind: line for kind, line in self._lines.items() if line}
        self._round = _Round([(*line[0], kind) for kind, line in self._lines.items()])
        heapq.heapify(self._round.heads)

    def let_through(self, now: float, can_go: CanGo, most: int) -> list[Job]:
        """Take out, in the order of joining, who can go somewhere again: where a cluster is
        suspended no more than may be sent there. So `most` are looked at now, the others when this
        is asked again. `can_go`: whether a job fits without these clusters."""
        through: list[Job] = []
        if self._round is None:
            return through
        heads, sent = self._round.heads, self._round.sent
        while heads and most > 0:
            most -= 1
            seq, number, kind = heapq.heappop(heads)
            line = self._lines.get(kind)
            if not line or line[0] != (seq, number):  # others have joined meanwhile: next time
                self._round.again = True
                continue
            job = self.jobs.get(number)
            if job is not None and job.seq == seq:
                met = list(self._of(job.user, single=job.alone))
                full = {scope.cluster for scope, s in met if sent[scope] >= s.allowance}
                barred = self.elsewhere(job, now) | full
                if not can_go(job, barred):
                    continue  # and so for all who are like it
                goes = job.request.clusters or range(len(self.settings.clusters))
                sent.update(s for s, _ in met if s.cluster in goes and s.cluster not in barred)
                del self.jobs[number]
                through.append(job)
            heapq.heappop(line)
            if line:
                heapq.heappush(heads, (*line[0], kind))
        if not heads:
            self._changed = self._changed or self._round.again
            self._round = None
        return through

    def _kind(self, job: Job) -> Kind:
        """Equal for jobs of which all can go somewhere, or none."""
        request = job.request
        own = job.id if job.id in self._later else 0
        where = request.clusters or (), tuple(sorted(job.excluded))
        parts = 1 if job.split is None else job.split.parts
        who = job.user, request.sizes, parts
        return Kind(*who, *where, job.shape, job.nodes, job.time_limit, own)


def _step(by: Component) -> Step:
    """What the component was refused."""
    return Step.RESERVE if by.reserves and not by.reservation else Step.SUBMIT


def _told(detail: str, scope: Scope, suspension: Suspension, now: float) -> str:
    """A suspension in words: why, whose, since when, and when a job is sent to try."""
    at = suspension.until if suspension.allowance <= 0 else now
    later = f"asked again in {max(0.0, at - now):.0f} s"
    if suspension.cause is Cause.LIMIT:
        return f"{scope.user} has as many jobs as may be in {detail} ({later})"
    what = "reservations" if scope.step is Step.RESERVE else "submissions"
    whom = "" if scope.user is None else f" of {scope.user}"
    since = max(0.0, now - suspension.since)
    return f"{detail} ({what}{whom} suspended for {since:.0f} s; {later})"
