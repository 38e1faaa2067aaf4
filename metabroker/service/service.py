"""What the API asks of the daemon (`metabroker.api.service.Service`), over loop and store."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

import metabroker
from metabroker.api.service import Failure, Json, ServiceError
from metabroker.broker.events import AbandonJob, CancelJob, Event, HoldJob, ReleaseJob
from metabroker.broker.job import Job
from metabroker.broker.outbox import Ready
from metabroker.broker.rejected import Rejected
from metabroker.broker.states import JobState
from metabroker.runtime.cluster_accounts import wanted
from metabroker.runtime.engine import Ask, AskToSubmit, Undecided
from metabroker.runtime.executor import ClusterExecutor
from metabroker.runtime.loop import Loop
from metabroker.runtime.requests import spec_of
from metabroker.store import Store
from metabroker.store.rows import component_row, job_row
from metabroker.submission.model import Caller, Submission

from . import orphans_view, overview, reasons
from .authorization import Authorization
from .cluster_view import cluster_views
from .job_paths import Candidate, Paths
from .job_view import job_view
from .queries import ENDED_WORDS, Places, Queries, Row, unavailable

log = logging.getLogger(__name__)

ALONE: Mapping[str, Any] = {"role": "leader", "leader": None, "term": 0}
"""What a broker that shares its store with nobody says of its part."""


class DaemonService(Queries):
    """Answers users. Reads come from the store; what only the core knows is asked of its thread."""

    def __init__(
        self,
        loop: Loop,
        store: Store,
        executors: list[ClusterExecutor],
        rules: Authorization,
        clock: Callable[[], float],
        part: Mapping[str, Any] = ALONE,
    ) -> None:
        """`part`: what it says of its part among the brokers of its store."""
        super().__init__(store, self._waiting)
        self._loop = loop
        self._part = part
        self._executors = executors
        self.rules = rules
        self._clock = clock
        self._started = clock()
        self._paths = Paths()
        self._lock = threading.Lock()
        self._waiters: dict[int, list[Future[Json]]] = {}

    # --- changes ------------------------------------------------------------------------------

    def submit(self, caller: Caller, submission: Submission) -> Future[Json]:
        """Queue a job; see `Service`."""
        future: Future[Json] = Future()
        self._loop.post(self._asked(caller, submission, self._answer(future)))
        return future

    def dry_run(self, caller: Caller, submission: Submission) -> Future[Json]:
        """Where and when it would run now; see `Service`."""
        asked = self._asked(caller, submission, lambda _job: None)
        future: Future[Json] = Future()
        try:
            future.set_result(self._loop.ask(lambda: self._preview(asked)))
        except Rejected as rejected:
            future.set_exception(_refusal(rejected))
        return future

    def cancel(self, caller: Caller, job: int) -> Future[Json]:
        """Cancel one job."""
        return self._change(caller, job, CancelJob(job, caller.user))

    def hold(self, caller: Caller, job: int) -> Future[Json]:
        """Hold one waiting job."""
        return self._change(caller, job, HoldJob(job, caller.user))

    def release(self, caller: Caller, job: int) -> Future[Json]:
        """Release one held job."""
        return self._change(caller, job, ReleaseJob(job, caller.user))

    def abandon(self, caller: Caller, job: int) -> Future[Json]:
        """Write off what is left of one job, also of one that has ended."""
        self._available()
        if not self.rules.administers(caller):
            raise ServiceError(
                Failure.FORBIDDEN,
                f"{caller.user} may not abandon jobs: what is written off may still run",
                "ask an administrator (`admins` in the configuration)",
            )
        self.row(job)
        future: Future[Json] = Future()
        self._loop.post(Ask(AbandonJob(job, caller.user), job, self._answer(future)))
        return future

    def _asked(
        self, caller: Caller, submission: Submission, answer: Callable[[int | Exception], None]
    ) -> AskToSubmit:
        self._available()
        limit = self.rules.check(caller, submission)
        self._check_native(submission)
        accounts = self.rules.accounts(caller, submission)
        self._check_paths(submission, accounts)
        return AskToSubmit(
            submission,
            caller.user,
            self.rules.home(caller),
            limit,
            spec_of(submission, accounts, self.rules.owner(caller, submission)),
            answer,
        )

    def _check_native(self, submission: Submission) -> None:
        executors = {executor.name: executor for executor in self._executors}
        for name, options in submission.native.items():
            executor = executors.get(name)
            if executor is None:
                raise ServiceError(
                    Failure.INVALID,
                    f"--native {name}: there is no cluster of that name",
                    f"choose one of: {', '.join(executors)}",
                )
            wrong = executor.cluster.check_native(options) if options else None
            if wrong is not None:
                raise ServiceError(
                    Failure.INVALID,
                    f"--native {name}: {wrong}",
                    "correct the option, or leave --native out for this cluster",
                )

    def _check_paths(self, submission: Submission, accounts: Mapping[str, str]) -> None:
        """A folder or output that cannot be written is told now, and not by a node."""
        places = [
            Candidate(
                executor.name,
                executor.files_are_here,
                executor.meets_in_jobs_folders,
                accounts.get(executor.name),
            )
            for executor in self._executors
            if executor.name in wanted(submission, [each.name for each in self._executors])
        ]
        wrong = self._paths.wrong(submission, places)
        if wrong is not None:
            raise ServiceError(
                Failure.INVALID,
                f"the job could not write its output: {wrong}",
                "make the folder, or name others with -D and -o; jobs of your own account need "
                "`run_as` in the configuration",
            )

    def _change(self, caller: Caller, number: int, event: Event) -> Future[Json]:
        self._available()
        row = self.row(number)
        if not self.rules.may_change(caller, row["user"]):
            raise ServiceError(
                Failure.FORBIDDEN,
                f"job {number} belongs to {row['user']}",
                f"only {row['user']} and administrators may change it",
            )
        if row["state"] in ENDED_WORDS:
            raise ServiceError(
                Failure.CONFLICT,
                f"job {number} has ended ({row['state']})",
                f"see: metabroker show {number}",
            )
        future: Future[Json] = Future()
        self._loop.post(Ask(event, number, self._answer(future)))
        return future

    def _answer(self, future: Future[Json]) -> Callable[[int | Exception], None]:
        """Called in the core's thread, once what was asked is durable (or refused)."""

        def answer(outcome: int | Exception) -> None:
            if not future.set_running_or_notify_cancel():
                return
            if isinstance(outcome, Rejected):
                future.set_exception(_refusal(outcome))
            elif isinstance(outcome, Undecided):
                future.set_exception(_undecided(str(outcome)))
            elif isinstance(outcome, Exception):
                future.set_exception(unavailable(str(outcome)))
            else:
                _complete(future, lambda: self._fresh_view(outcome))

        return answer

    def _fresh_view(self, number: int) -> Json:
        job = self._loop.engine.broker.view.jobs.get(number)
        return self.job(number) if job is None else self._view_of(job)

    def _view_of(self, job: Job) -> Json:
        names = self._loop.engine.names
        row = job_row(job, names)
        row["components"] = [component_row(c, names) for c in job.components]
        return job_view(row, self._store.instance)

    def _preview(self, asked: AskToSubmit) -> Json:
        engine, now = self._loop.engine, self._clock()
        view, names = engine.broker.view, engine.names.names
        new = engine.new_job(asked)
        engine.broker.check_limits(new)
        queue = view.queue_of(new)
        start = view.at(now).start(new.request, queue)
        position = view.queue_lengths().get(queue, 0)
        where = new.request.clusters if start is None else start
        shown = reasons.preview(view, new, queue, now)
        usage = view.usage()
        if view.beyond(new, queue, usage) is not None:
            start, shown = None, reasons.held_back(view, new, queue, usage)
        return {
            "dry_run": True,
            "starts_now": start is not None,
            "queue": names[queue] if queue < len(names) else "global",
            "position": position,
            "components": [
                {
                    "index": index,
                    "cluster": None if where is None else names[where[index]],
                    "processors": processors,
                    "held": processors
                    if where is None
                    else view.settings.clusters[where[index]].held(processors),
                }
                for index, processors in enumerate(new.request.sizes)
            ],
            "earliest_start": now if start is not None else None,
            "reason": "it fits on the idle processors now" if start is not None else shown,
        }

    # --- reading ------------------------------------------------------------------------------

    def ended_future(self, job: int) -> Future[Json]:
        """Done with the job's object once it has ended."""
        future: Future[Json] = Future()
        with self._lock:
            waiters = self._waiters.setdefault(job, [])
            waiters[:] = [waiter for waiter in waiters if not waiter.cancelled()]
            waiters.append(future)
        try:
            row = self.row(job)
        except ServiceError:
            self._forget(job, future)
            raise
        # Who takes it off the list answers it: the job may be ending at this moment.
        ours = row["state"] in ENDED_WORDS and self._forget(job, future)
        if ours and future.set_running_or_notify_cancel():
            future.set_result(job_view(row, self._store.instance))
        return future

    def places(self, jobs: Sequence[int] | None) -> Json:
        """For another broker: where these jobs wait and why; None: all that wait."""
        found = self._places_of(None if jobs is None else frozenset(jobs))
        return {str(job): [place.position, place.reason] for job, place in found.items()}

    def clusters(self) -> list[Json]:
        """Each cluster as the core sees it."""
        return self._loop.ask(lambda: cluster_views(self._loop.engine.broker.view, self._clock()))

    def status(self) -> Json:
        """The daemon itself."""
        return self._loop.ask(self._status)

    def leftovers(self) -> Json:
        """What is there of a time that nobody remembers."""
        return self._loop.ask(lambda: orphans_view.view(self._loop.engine.broker))

    def remove_leftovers(self, caller: Caller, names: list[str] | None) -> Json:
        """Have it removed."""
        self._available()
        if not self.rules.administers(caller):
            raise ServiceError(
                Failure.FORBIDDEN,
                f"{caller.user} may not remove leftovers: they may be anybody's",
                "ask an administrator (`admins` in the configuration)",
            )
        return self._loop.ask(lambda: orphans_view.remove(self._loop.engine.broker, names))

    def totals(self) -> Json:
        """`overview` without its jobs: the store is not asked."""
        now = self._clock()
        return self._loop.ask(lambda: self._moment(now))

    def overview(self) -> Json:
        """All at one moment: the daemon, its clusters, and jobs as far as they can be looked at."""
        now = self._clock()
        view = self._loop.engine.broker.view
        chosen, found = self._loop.ask(lambda: (overview.choose(view, now), self._moment(now)))
        rows = self.reading(lambda: self._store.jobs.rows(ids=chosen.jobs))
        by_number = {row["id"]: row for row in rows if row["state"] not in ENDED_WORDS}
        found["jobs"] = [
            self.view(by_number[number], chosen.waiting)
            for number in chosen.jobs
            if number in by_number
        ]
        return found

    def _moment(self, now: float) -> Json:
        view = self._loop.engine.broker.view
        return {
            "time": now,
            "status": self._status(),
            "clusters": cluster_views(view, now),
            "reservations": overview.reservations(view),
            "jobs": [],
        }

    def _status(self) -> Json:
        view = self._loop.engine.broker.view
        names = self._loop.engine.names
        found = Counter((job.queue, job.state) for job in view.jobs.values())
        states: Counter[str] = Counter()
        for (_queue, state), count in found.items():
            states[state.value] += count
        return {
            **self._part,
            "version": metabroker.__version__,
            "instance": self._store.instance,
            "uptime_seconds": self._clock() - self._started,
            "policy": self.rules.policy,
            "offline": self.rules.offline,
            "store": self._loop.trouble or "ok",
            "jobs": dict(states),
            "jobs_by_queue": [
                {"queue": names.queue(queue) or "global", "state": state.value, "jobs": count}
                for (queue, state), count in found.items()
            ],
            "queues": {
                names.queue(queue) or "global": count
                for queue, count in view.queue_lengths().items()
            },
            "oldest_wait": self._oldest_wait(),
            "owed_effects": view.pending_steps,
            "restored": orphans_view.restored_view(view.history.latest),
            "leftovers": len(view.unclaimed),
        }

    def _oldest_wait(self) -> dict[str, float]:
        """For how long the oldest job of each queue waits (held ones not counted); 0: none does."""
        view, names, now = self._loop.engine.broker.view, self._loop.engine.names, self._clock()
        oldest = dict.fromkeys(view.queue_lengths(), now)
        for job in view.jobs.values():
            if job.state is JobState.QUEUED:
                oldest[job.queue] = min(oldest.get(job.queue, now), job.submit_time)
        return {names.queue(queue) or "global": now - since for queue, since in oldest.items()}

    # --- helpers ------------------------------------------------------------------------------

    def written(self, ready: Ready) -> None:
        """Something has become durable: tell those who wait for the end of a job."""
        for job in ready.jobs:
            if job.state.ended:
                with self._lock:
                    waiters = self._waiters.pop(job.id, [])
                for waiter in waiters:
                    if waiter.set_running_or_notify_cancel():
                        _complete(waiter, partial(self._ended_view, job.id))

    def _ended_view(self, number: int) -> Json:
        return job_view(self.row(number), self._store.instance)

    def _waiting(self, rows: Sequence[Row]) -> Places:
        """Why those of these jobs wait that are in a queue; the core is held up for no others."""
        wanted = {row["id"] for row in rows if row["state"] == "QUEUED"}
        return self._places_of(wanted) if wanted else {}

    def _places_of(self, wanted: Container[int] | None) -> Places:
        view = self._loop.engine.broker.view
        return self._loop.ask(lambda: reasons.waiting(view, self._clock(), only=wanted))

    def _available(self) -> None:
        if self._loop.trouble is not None:
            raise unavailable(self._loop.trouble)

    def _forget(self, job: int, future: Future[Json]) -> bool:
        """Take a waiter off the list; False: it was not on it any more."""
        with self._lock:
            waiters = self._waiters.get(job, [])
            found = future in waiters
            if found:
                waiters.remove(future)
            if not waiters:
                self._waiters.pop(job, None)
            return found


def _complete(future: Future[Json], view: Callable[[], Json]) -> None:
    """Give it the answer, or what went wrong in making it: the core must not suffer for that."""
    try:
        future.set_result(view())
    except ServiceError as error:
        future.set_exception(error)
    except Exception as error:
        log.exception("an answer cannot be made")
        future.set_exception(unavailable(f"what was done cannot be shown ({type(error).__name__})"))


def _refusal(rejected: Rejected) -> ServiceError:
    failure = Failure.NOT_FOUND if rejected.missing else Failure.CONFLICT
    return ServiceError(failure, rejected.message, rejected.advice)


def _undecided(why: str) -> ServiceError:
    advice = "it may be done yet, as soon as that is over: look before you repeat it"
    return ServiceError(Failure.UNDECIDED, why, advice)
