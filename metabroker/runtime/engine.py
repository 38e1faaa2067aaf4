"""Core and store as one: events in, one durable transaction, effects out.

    items --> core (handle each event, then one pass of the policy) --> Ready: changed jobs and
    components, entries of the journal, effects
          --> store: all of it in one transaction
          --> only then: answers to users, and effects to the executors

Nothing leaves the engine before it is written. So an id that a user was told is durable, and so is
the step that an effect carries out: after a crash `recover` hands it out again.

A transaction that fails is kept whole (`_Pending`), and `flush` writes the same again. It may have
been written already, where only the answer was lost: the store knows it by its id, and writes
nothing twice. Nobody was told anything meanwhile. Until it is written the engine takes nothing new.

One bad item ends nothing: what it breaks is told to `mishap`, and fails the one job that it is of.

The engine has no thread and no cluster of its own, and time is an argument. It reads a clock only
to measure how long a pass and a commit take. So the daemon and the storm's worlds drive the very
same code.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from metabroker.broker.admission import Admission
from metabroker.broker.core import Broker
from metabroker.broker.drained import Drained
from metabroker.broker.effects import Effect
from metabroker.broker.events import Observed, SubmitJob
from metabroker.broker.identities import System
from metabroker.broker.job import NewJob
from metabroker.broker.links import Link
from metabroker.broker.outbox import Mishap, Ready
from metabroker.broker.rejected import Rejected
from metabroker.broker.transfer import checked
from metabroker.policy import Limits, Place
from metabroker.policy.scheduler import PolicyState
from metabroker.store import Accepted, MustRestart, Store, StoreUnavailable, Transaction
from metabroker.store.rows import ClusterNames

from .asked import Answer, Ask, AskToSubmit, Item, Undecided
from .known_sizes import KnownSizes
from .outcomes import Outcomes, corresponding, ended_since, named_by

_LOG = "ask the administrator to read the daemon's log"


class ClustersRenamed(MustRestart):
    """The store goes by other names of clusters now: the broker must be made anew from it."""


@dataclass(slots=True)
class _Pending:
    """A transaction that is not durable yet, and what waits for it."""

    batch: Transaction
    answers: list[tuple[Answer, int]]


@dataclass(slots=True)
class _Intake:
    """What one batch of items has brought."""

    accepted: list[Accepted] = field(default_factory=list)
    answers: list[tuple[Answer, int]] = field(default_factory=list)
    by_request: dict[tuple[str, str], int] = field(default_factory=dict)
    clusters: dict[int, Observed] = field(default_factory=dict)


def _told(answered: tuple[Answer, int]) -> Callable[[], None]:
    answer, job = answered
    return lambda: answer(job)


def _raised(mishap: Mishap) -> None:
    raise mishap.error


class Engine:
    """One broker over one store."""

    def __init__(
        self,
        broker: Broker,
        store: Store,
        names: ClusterNames,
        limits: Limits,
        place: Place,
        written: Callable[[Ready], None] = lambda _ready: None,
        took: Callable[[str, float], None] = lambda _what, _seconds: None,
        mishap: Callable[[Mishap], None] = _raised,
    ) -> None:
        """`written` is called with what has become durable, before its effects are handed out;
        `took` with the seconds of each "pass" of the policy and each "commit" of the store (and
        by the loop with those of each whole "turn");
        `mishap` with what could not be handled, and has failed one job, once that is durable (a
        test raises it)."""
        self.broker = broker
        self.store = store
        self.names = names
        self._limits = limits
        self._place = place
        self._written = written
        self.took = took
        self._mishap = mishap
        self._pending: _Pending | None = None
        self._wrote = False  # since the store was asked last whether it went back
        self._memory: PolicyState | None = None
        self._sizes = KnownSizes(names)
        self._systems: dict[str, System] = {}
        self._drained: dict[str, Drained] = {}
        self._links: tuple[Link, ...] = ()
        self._early: deque[AskToSubmit] = deque()

    def recover(self, now: float) -> Sequence[Effect]:
        """Go on from what the store holds; all that was pending comes out again as effects."""
        found = self.store.recover(self.names)
        self._drained = self.store.systems.drained()
        self.broker.recall_links(self.store.systems.links())
        self._links = self.broker.view.links.all
        each = enumerate(self.names.names)
        self.broker.recall_drained(
            {index: self._drained[name] for index, name in each if name in self._drained}
        )
        self.broker.restore(found.jobs, found.components, now, found.ended, found.tasks)
        self._recall(found.memory)
        self.broker.number_from(found.next_job)
        for number, error in found.unreadable.items():
            if number in self.broker.view.jobs:
                self.broker.contain(number, error, now)
            else:
                self._mishap(Mishap(error, job=number))
                self.store.give_up(number, "the broker cannot read its own record of it", now)
        self.broker.schedule(now)
        return self._commit(_Intake())

    def process(self, items: Iterable[Item], now: float) -> Sequence[Effect]:
        """Take over what has happened; durable when this returns, with the effects to carry out.

        Raises:
            StoreUnavailable: nothing of it is durable yet, and nothing must be done: call `flush`
                until it succeeds before any other item is handed over.
            ClustersRenamed: this engine must not be used any more; what is pending is in the store.
        """
        assert self._pending is None, "a batch waits to be written: flush it first"
        intake = _Intake()
        for item in items:
            if isinstance(item, AskToSubmit):
                self._early.append(item)
            elif isinstance(item, Ask):
                self._ask(item, intake, now)
            else:
                self.broker.handle(item, now)
                if isinstance(item, Observed):
                    intake.clusters[item.cluster] = item
            self._take_submissions(intake, now)
        with self._timed("pass"):
            self.broker.schedule(now)
        effects = self._commit(intake)
        if intake.clusters:
            self._follow_names(now)
        return effects

    def _follow_names(self, now: float) -> None:
        """Where a cluster has another name now, go on under that: from a new start on, since all
        that the core holds is by the old ones."""
        names = self.broker.view.successors()
        if names:
            try:
                self.store.systems.rename(names, self.store.term, now)
            except StoreUnavailable:
                return  # until the next poll
            told = ", ".join(f"{new} is the cluster that was {old}" for old, new in names.items())
            raise ClustersRenamed(f"{told}: the broker begins anew, and goes on with its jobs")

    def flush(self) -> Sequence[Effect]:
        """Write the batch that could not be written; answers and effects as `process`.

        Raises:
            StoreUnavailable: still not.
            MustRestart: as `confirm`.
        """
        pending = self._pending
        if pending is None:  # it could not be asked, which is done now
            self.store.confirm()
            return ()
        if pending.batch:
            with self._timed("commit"):
                self.store.commit(pending.batch, self.names)
            self._wrote = True
        self._pending = None
        for mishap in pending.batch.ready.mishaps:  # of a broker that leads: it could write
            self._mishap(mishap)
        for tell in (self._tell_written(pending.batch.ready), *map(_told, pending.answers)):
            try:  # it is durable: whoever cannot be told must not keep the effects from the others
                tell()
            except Exception as error:
                self._mishap(Mishap(error))
        return pending.batch.ready.effects

    def confirm(self) -> None:
        """Each transaction shows whether the store went back by itself. Where none was written
        since this was called last, it is asked: else nobody would notice while nothing happens.

        Raises:
            StoreUnavailable: it cannot be asked now: `flush` asks again.
            MustRestart: it did, or is another broker's now.
        """
        wrote, self._wrote = self._wrote, False
        if not wrote and self._pending is None:
            self.store.confirm()

    def _tell_written(self, ready: Ready) -> Callable[[], None]:
        return lambda: self._written(ready)

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.took(what, time.perf_counter() - began)

    def leave_open(self, why: str) -> None:
        """Tell those who asked for what waits to be written that they need not wait for it."""
        if self._pending is not None:
            answers, self._pending.answers = self._pending.answers, []
            for answer, _job in answers:
                answer(Undecided(why))

    def limit(self, limits: Limits) -> None:
        """Hold requests against these limits from now on."""
        self._limits = limits

    def admission(self) -> Admission:
        """What requests are held against now."""
        view = self.broker.view
        units = [cluster.unit for cluster in view.settings.clusters]
        of = self.names.names, view.sizes(), self._limits, self._place
        nodes = [entry.nodes for entry in view.entries]
        return Admission(*of, nodes, units, splits=view.settings.splits)

    def new_job(self, asked: AskToSubmit) -> NewJob:
        """The submission as the core takes it.

        Raises:
            Rejected: it can never run.
        """
        submission, closed = asked.submission, frozenset(self.names.known(asked.closed))
        links, most = self.broker.view.links, submission.max_latency
        admission = replace(self.admission(), closed=closed, links=links, max_latency=most)
        request, local = admission.request(submission.processors, submission.shape)
        return NewJob(
            user=asked.user,
            name=submission.name or submission.script_name,
            request=self.names.shared(request),
            time_limit=asked.time_limit,
            local=local,
            home=next(iter(self.names.known([asked.home or ""])), None),
            hold=submission.hold,
            shape=submission.shape,
            stages_in=bool(submission.stage_in),
            stages_out=bool(submission.stage_out),
            closed=closed,
            after=submission.after,
            max_latency=submission.max_latency,
            split=admission.split(submission.processors, submission.shape),
            inputs=checked(submission.inputs, self.broker.view.settings),
            array=submission.array_spec,
            joins=submission.joins or 0,
            nodes=submission.nodes,
        )

    def named(self, new: NewJob, over: Outcomes) -> Outcomes:
        """What has become of the jobs that a new one names, of those that have ended; `over`: what
        is known of that. Raises `Rejected` where it is beyond a limit of its user, or names one
        that there is not: what is refused costs no look at each task of an array."""
        self.broker.check_limits(new)
        found = ended_since(self.store.jobs, self.broker.view.jobs, named_by(new.after), over)
        self.broker.check_limits(new, found)
        return found

    def _ended(self, new: NewJob, over: Outcomes) -> Outcomes:
        """The same, and of the tasks that those of a new array correspond to."""
        named, live = self.named(new, over), self.broker.view.jobs
        tasks = corresponding(new.after, new.array, live, named, over)
        return {**over, **named, **ended_since(self.store.jobs, live, tasks, {})}

    def _take_submissions(self, intake: _Intake, now: float) -> None:
        """In their order; those that come in while the broker starts wait until it gives numbers
        (some seconds at most: their users need not be told to come again)."""
        while self._early and not self.broker.view.starting:
            self._submit(self._early.popleft(), intake, now)

    def _submit(self, asked: AskToSubmit, intake: _Intake, now: float) -> None:
        request_id = asked.submission.request_id
        try:
            again = self._again(asked.user, request_id, intake)
        except StoreUnavailable as error:
            asked.answer(error)
            return
        if again is not None:
            intake.answers.append((asked.answer, again))
            return
        try:
            new = self.new_job(asked)
            self.broker.handle(SubmitJob(new, self._ended(new, asked.over)), now)
        except StoreUnavailable as why:
            asked.answer(why)
            return
        except Rejected as why:
            self._refuse(asked.answer, why)
            return
        except Exception as error:  # nothing of it is kept
            self._mishap(Mishap(error))
            asked.answer(Rejected(f"the broker met an error in it ({type(error).__name__})", _LOG))
            return
        job = self.broker.next_job - 1
        if request_id is not None:
            intake.by_request[asked.user, request_id] = job
        intake.accepted.append(
            Accepted(job, asked.user, request_id, asked.submission.script, asked.spec)
        )
        intake.answers.append((asked.answer, job))

    def _again(self, user: str, request_id: str | None, intake: _Intake) -> int | None:
        """The job that this user's request has become already."""
        if request_id is None:
            return None
        here = intake.by_request.get((user, request_id))
        return here if here is not None else self.store.jobs.find_request(user, request_id)

    def _ask(self, asked: Ask, intake: _Intake, now: float) -> None:
        try:
            self.broker.handle(asked.event, now)
        except Rejected as rejected:
            self._refuse(asked.answer, rejected)
        else:
            intake.answers.append((asked.answer, asked.job))

    def _refuse(self, answer: Answer, why: Rejected) -> None:
        """A refusal is not written, as what is done is: so it is asked first whether this broker
        still leads. One that was stopped for a while remembers what may be otherwise by now."""
        try:
            if self.store.term is not None:
                self.store.leadership.must_be(self.store.term)
        except (StoreUnavailable, MustRestart) as error:
            answer(StoreUnavailable(str(error)))
        else:
            answer(why)

    def _commit(self, intake: _Intake) -> Sequence[Effect]:
        ready: Ready = self.broker.take()
        rows = self._sizes.rows(intake.clusters)
        systems = dict(self.broker.view.systems())
        new = None if systems == self._systems else systems
        self._systems = systems
        drained = self._new_drained()
        before, self._links = self._links, self.broker.view.links.all
        changed = None if self._links is before else self._links
        batch = Transaction(ready, intake.accepted, rows, self._new_memory(), new, drained, changed)
        self._pending = _Pending(batch, intake.answers)
        return self.flush()

    def _new_drained(self) -> dict[str, Drained] | None:
        """Which clusters are drained, if that has changed; those that are not configured now stay
        as they are."""
        names = self.names.names
        others = {name: each for name, each in self._drained.items() if name not in names}
        ours = zip(names, self.broker.view.entries, strict=True)
        drained = others | {name: entry.drained for name, entry in ours if entry.drained}
        if drained == self._drained:
            return None
        self._drained = drained
        return drained

    def _new_memory(self) -> Any:
        """What the policy must remember, if that has changed (clusters by name)."""
        memory = self.broker.view.policy_state()
        if memory == self._memory:
            return None
        self._memory = memory
        return {"clusters": self.names.names, "memory": memory}

    def _recall(self, found: Any) -> None:
        """Remember, unless the clusters are others now: then counting starts again."""
        if found is not None and found["clusters"] == list(self.names.names):
            self.broker.recall(PolicyState(*found["memory"]))
