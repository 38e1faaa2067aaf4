"""One pass of the policy: who may start now is placed, and begins.

A policy knows of clusters, sizes and its queues. What it does not know of is asked here of each
placement: configured limits of users and queues, what clusters have refused, others' reservations
that begin before the job would end, and whole nodes. A job that must not start for one of these
waits outside (or steps back, or goes elsewhere), and the policy is asked again, so that others may
start instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from .job import Job
from .line_up import LineUp
from .planning import Planning
from .queues import Queues
from .resource_limits import Beyond, Usage
from .saga import Saga
from .state import BrokerState


class Scheduling:
    """Asks the policy, and begins what it places: so many jobs each turn (`Settings.slice`).

    What the policy has decided stays decided over several turns, as long as there is room for it,
    and until then the policy is not asked again. `unfinished`: since when (Unix seconds) there is
    more to do, in the next turn; None: there is not."""

    def __init__(
        self,
        state: BrokerState,
        queues: Queues,
        saga: Saga,
        catch_up: Callable[[Job, float], None],
    ) -> None:
        """`catch_up` does to a job at once what was asked of its whole array."""
        self._catch_up = catch_up
        self._state = state
        self._queues = queues
        self._saga = saga
        self._line_up = LineUp(state, queues, saga)
        self._planning = Planning(state, queues, saga)
        self.unfinished: float | None = None
        self._next_try: float | None = None
        self._by_nodes = any(cluster.unit > 1 for cluster in state.settings.clusters)
        self._rechecks = state.backlog.line(self._recheck)
        self._capacity: list[int] = []  # by which the policy has decided last
        self._left = 0  # jobs that this turn may still handle
        self._begun, self._kept_back = 0, False  # of what was decided
        self._outdated = False  # there is less room than for that

    def run(self, now: float) -> None:
        """Passes, until none could start more, or it is enough for one turn."""
        queues, self._left = self._queues, self._state.settings.slice
        again = True
        if queues.decided or queues.stepped_back:
            self._carry_out(now, room=self._state.ledger.available(now))
        if self._left > 0:
            queues.changed = queues.wait_for_nodes = False
            queues.depart()
            contested = self._line_up.before_pass(now)
            more = self._let_through(now)
            again = self._passes(now, contested) or more
        if not again:
            usage = self.usage()
            self._line_up.after_pass(usage, now)
            self._planning.after_pass(usage, now)
        self.unfinished = now if again else None
        queues.changed = queues.changed or again
        at = queues.refusals.next_try(now)
        if at is not None and at != self._next_try:
            self._next_try = at
            queues.retry_at(at)

    def outdated(self, now: float) -> bool:
        """Whether the policy has decided last by other clusters than there are now: of another
        size, or when what was known of them was too old."""
        other = self._state.ledger.capacity(now) != self._capacity
        return other or self._line_up.outdated(now)

    def usage(self) -> Usage:
        """What is in use, as far as limits need it."""
        return self._queues.held_back.usage(self._state.jobs, self._saga.claims.live)

    def _passes(self, now: float, contested: tuple[int, ...]) -> bool:
        """Passes of the policy; whether another may start more, in the next turn."""
        queues, again = self._queues, True
        capacity = self._capacity = self._state.ledger.capacity(now)
        while again and self._left > 0:
            available = self._state.ledger.available(now)
            starts = queues.scheduler.run(available, now, capacity, contested)
            queues.decided = dict(reversed(starts))
            queues.divided = queues.scheduler.divided
            self._begun, self._kept_back, self._outdated = 0, False, False
            again = self._carry_out(now)
        return again

    def _carry_out(self, now: float, room: list[int] | None = None) -> bool:
        """Begin what was decided; `room`: the processors that are left for it, where that was in an
        earlier turn. The first that has no room any more, and all after it, are decided anew: none
        of them may overtake it beyond what its policy allows. Whether another pass may start more:
        others may start instead of those who were kept back; nor does a placement of two components
        in one cluster know of whole nodes, so it may want more than there is."""
        queues, usage = self._queues, self.usage()
        while queues.decided and self._left > 0:
            self._left -= 1
            number, placement = queues.decided.popitem()
            try:
                self._begin(self._state.jobs[number], placement, usage, room, now)
            except Exception as error:
                self._saga.containment.contain(number, error, now)
        if queues.decided:
            return True
        stepped_back, queues.stepped_back = queues.stepped_back, {}
        self._join(stepped_back.values(), now)  # to their old places
        return self._kept_back or bool(self._begun and stepped_back)

    def _begin(
        self,
        job: Job,
        placement: Sequence[int],
        usage: Usage,
        room: list[int] | None,
        now: float,
    ) -> None:
        queues, sizes = self._queues, self._queues.divided.get(job.id)
        if sizes is not None:
            job.divide(sizes, self._state.settings.extra(job.time_limit))
        waits = self._waits(job, placement, usage, room, now)
        if waits is not None:
            job.unite()
            waits(job)
            return
        self._begun += 1
        queues.placed(job)
        self._saga.line.leave(job, "it starts elsewhere", now)
        self._saga.attempts.begin(job, placement, now)
        queues.held_back.forget(job)
        holdings = queues.held_back.holdings
        usage.add(job, sum(holdings.of(component, job) for component in job.components), 1)

    def _waits(
        self,
        job: Job,
        placement: Sequence[int],
        usage: Usage,
        room: list[int] | None,
        now: float,
    ) -> Callable[[Job], None] | None:
        """How it waits on, if it must not start there now."""
        queues = self._queues
        if self._state.owes(job):
            self._keep_back()
            return lambda job: self._do_first(job, now)
        if self._outdated:
            self._keep_back()
            return lambda job: queues.join(job, now)
        beyond = queues.held_back.beyond(job, job.queue, usage, placement)
        if beyond is not None:
            self._keep_back()
            if self._would_do(job, placement, beyond, usage, now):
                return lambda job: queues.join_anew(job, now)
            return queues.held_back.add
        if not self._may_be_sent(job, placement, now):
            self._keep_back()
            return lambda job: queues.join_anew(job, now)
        if room is not None and not self._takes(job, placement, room):
            self._outdated = True
            self._keep_back()
            return lambda job: queues.join(job, now)
        if queues.stepped_back and self._would_overtake(job, placement):
            return self._step_back
        checked = self._by_nodes or job.shape or queues.stepped_back
        if checked and not self._has_room(job, placement, now):
            queues.wait_for_nodes = queues.wait_for_nodes or bool(job.shape)
            return self._step_back
        return None

    def _would_do(
        self, job: Job, placement: Sequence[int], beyond: Beyond, usage: Usage, now: float
    ) -> bool:
        """Whether other clusters would do for one that would hold too much in these. Where the
        policy puts it only into such in which that is so even alone, it tries again in a while:
        nobody is to wait for it."""
        queues, held_back = self._queues, self._queues.held_back
        if held_back.keep_away(job, placement, beyond, usage, queues.can_go):
            return True
        if not beyond.never or held_back.beyond(job, job.queue, Usage()) is not None:
            return False
        until = now + self._state.settings.limit_most
        for cluster in set(placement):
            queues.refusals.pause(job, cluster, until)
        queues.retry_at(until)
        return True

    def _do_first(self, job: Job, now: float) -> None:
        """It waits on at its old place, unless what was asked of its whole array takes it away:
        nothing may be left of that, as where tasks are released that nobody has held."""
        self._queues.join(job, now)
        self._catch_up(job, now)

    def _step_back(self, job: Job) -> None:
        self._queues.stepped_back[job.id] = job

    def _would_overtake(self, job: Job, placement: Sequence[int]) -> bool:
        """Whether one that has stepped back may not be overtaken again, by this one neither."""
        return any(
            other.seq < job.seq
            and self._queues.scheduler_view.was_protected(other.id)
            and (other.request.clusters is None or set(placement) & set(other.request.clusters))
            for other in self._queues.stepped_back.values()
        )

    def _keep_back(self) -> None:
        self._queues.scheduler.depart()
        self._kept_back = True

    def _takes(self, job: Job, placement: Sequence[int], room: list[int]) -> bool:
        """Take what it needs of this room, if there is still so much."""
        clusters, wanted = self._state.settings.clusters, Counter[int]()
        for cluster, size in zip(placement, job.request.sizes, strict=True):
            wanted[cluster] += clusters[cluster].held(size, job.shape.cpus_per_task)
        if any(room[cluster] < processors for cluster, processors in wanted.items()):
            return False
        for cluster, processors in wanted.items():
            room[cluster] -= processors
        return True

    def _let_through(self, now: float) -> bool:
        """Those who are within their limits now, or are not kept back by a refusal any more, join
        the policy's queues, at their old places. Whether there are more, for the next turn."""
        queues, refusals = self._queues, self._queues.refusals
        most, more = self._state.settings.slice, False
        if queues.horizon.due(now):
            for queue in queues.scheduler_view.queues:
                self._rechecks.add(queues.scheduler_view.keys(queue))
            self._rechecks.add(queues.scheduler_view.aside())
            refusals.look_again()
        usage = self.usage()
        if queues.held_back.eased(usage):
            refusals.look_again()
        if queues.held_back.jobs:
            self._join(queues.held_back.let_through(usage, most), now)
            more = queues.held_back.more
        if refusals.due(now):
            self._rechecks.add(refusals.detours)
            self._rechecks.work(most, now, self._saga.containment.contain)
            refusals.begin_round()
        if refusals.letting_through:
            queues.all_join_anew(refusals.let_through(now, queues.can_go, most), now)
            queues.scheduler.depart()
        return more or refusals.letting_through

    def _join(self, jobs: Iterable[Job], now: float) -> None:
        """Into the policy's queues; one that cannot fails, and no other."""
        for job in jobs:
            try:
                self._queues.join(job, now)
            except Exception as error:
                self._saga.containment.contain(job.id, error, now)

    def _recheck(self, number: int, now: float) -> None:
        """One that may have to go another way than now, or need not any more."""
        queues, job = self._queues, self._state.jobs.get(number)
        if job is None:
            return
        barred, ordered = queues.refusals.elsewhere(job, now), job.request.clusters
        if ordered is not None and barred.isdisjoint(ordered):
            return
        if barred == queues.refusals.detours.get(number, frozenset()):
            return
        if queues.scheduler.remove(number):
            queues.join_anew(job, now)
            queues.scheduler.depart()
            queues.changed = True

    def _may_be_sent(self, job: Job, placement: Sequence[int], now: float) -> bool:
        """Whether no refusal speaks against it, nor a reservation that begins before its end; if
        so, suspended clusters count it."""
        refusals, horizon = self._queues.refusals, self._queues.horizon
        if self._saga.unread.of(job) is not None:
            self._saga.line.hold_off(job, now)
            return False
        if not horizon.clear and horizon.keep_away(job, placement, now):
            return False
        if not refusals.suspensions:
            return True
        if not refusals.elsewhere(job, now).isdisjoint(placement):
            return False
        refusals.spend(job, set(placement), now)
        return True

    def _has_room(self, job: Job, placement: Sequence[int], now: float) -> bool:
        """Whether there are nodes for it: not where several of its components go to one cluster,
        and fit there only if nodes could be parted; nor where its tasks do not fit on those that
        are idle, and it is to have a reservation. What the policy has decided after that is
        decided again, by what is then idle; unless it was the first of all."""
        back = self._queues.stepped_back
        if back and self._begun:
            return False
        behind = any(other.queue == job.queue for other in back.values())
        return not behind and self._state.ledger.fits(placement, job.request.sizes, now, job.shape)
