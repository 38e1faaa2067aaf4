"""What users change: submit a job, try it, cancel, hold, release or abandon one; and what
administrators change of clusters: drain and resume them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future

from metabroker.api.service import Failure, Json, ServiceError
from metabroker.broker.events import (
    AbandonJob,
    CancelJob,
    ChangeJob,
    DrainCluster,
    Event,
    HoldJob,
    ReleaseJob,
    ResumeCluster,
    TellLinks,
)
from metabroker.broker.job import Job
from metabroker.broker.links import UnsoundLink, read
from metabroker.broker.outbox import Ready
from metabroker.broker.rejected import Rejected
from metabroker.runtime.asked import Ask, AskToSubmit, Undecided
from metabroker.runtime.cluster_accounts import wanted
from metabroker.runtime.executor import ClusterExecutor
from metabroker.runtime.loop import Loop
from metabroker.runtime.outcomes import Outcomes, corresponding, named_by
from metabroker.runtime.requests import spec_of
from metabroker.store import StoreUnavailable
from metabroker.store.rows import component_row, job_row
from metabroker.submission.model import Caller, Submission
from metabroker.submission.wire import from_wire

from .authorization import Authorization
from .cluster_view import cluster_views
from .job_paths import Candidate, Paths
from .job_view import job_view, start_view
from .near_input import away
from .predictions import Predictions
from .preview import preview
from .queries import ENDED_WORDS, Queries, unavailable

log = logging.getLogger(__name__)

_MOST_CHANGES = 10_000  # of a job that its user may still hold, release or change


class Changes:
    """Changes of jobs. Each is answered once it is durable, with the job's object."""

    def __init__(
        self,
        loop: Loop,
        queries: Queries,
        executors: list[ClusterExecutor],
        rules: Authorization,
        clock: Callable[[], float],
        predictions: Predictions,
    ) -> None:
        self._predictions = predictions
        self._loop = loop
        self._queries = queries
        self._executors = executors
        self._clock = clock
        self._paths = Paths()
        self._ended: dict[int, Job] = {}  # in the turn of which is told now
        self.rules = rules

    def close(self) -> None:
        """End its threads."""
        self._paths.close()

    def written(self, ready: Ready) -> None:
        """Something has become durable, and is answered next. In the core's thread."""
        self._ended = {job.id: job for job in ready.jobs if job.state.ended}

    def calls(self) -> Mapping[str, Callable[..., Future[Json]]]:
        """The calls of the API that are answered here."""
        return {
            "submit": lambda who, submission: self.submit(who, from_wire(submission)),
            "dry run": lambda who, submission: self.dry_run(who, from_wire(submission)),
            "cancel": self.cancel,
            "hold": self.hold,
            "release": self.release,
            "change": self.change,
            "abandon": self.abandon,
            "drain": self.drain,
            "resume": self.resume,
            "tell links": self.tell_links,
        }

    def submit(self, caller: Caller, submission: Submission) -> Future[Json]:
        """Queue a job. The same `request_id` gives the same job again."""
        future: Future[Json] = Future()
        self._loop.post(self._asked(caller, submission, self._answer(future)))
        return future

    def dry_run(self, caller: Caller, submission: Submission) -> Future[Json]:
        """Where and when the job would run now, and why; nothing is queued (see `preview`)."""
        asked = self._asked(caller, submission, lambda _job: None, tasks=False)
        future: Future[Json] = Future()
        try:
            engine, now = self._loop.engine, self._clock()
            shown, job = self._loop.ask(lambda: preview(engine, asked, now))
            if job is not None:
                shown |= start_view(self._predictions.preview(job, now))
            future.set_result(shown)
        except Rejected as rejected:
            future.set_exception(_refusal(rejected))
        except StoreUnavailable as error:
            future.set_exception(unavailable(str(error)))
        return future

    def cancel(self, caller: Caller, job: int, tasks: str | None = None) -> Future[Json]:
        """Cancel one job, whether it waits or runs; of an array, these tasks alone."""
        which = None if tasks is None else self._queries.tasks_of(job, tasks)
        return self._change(caller, job, CancelJob(job, caller.user, which))

    def hold(self, caller: Caller, job: int, tasks: str | None = None) -> Future[Json]:
        """Hold one waiting job."""
        job = job if tasks is None else self._queries.task(job, tasks)
        return self._change(caller, job, HoldJob(job, caller.user))

    def release(self, caller: Caller, job: int, tasks: str | None = None) -> Future[Json]:
        """Release one held job to its queue's tail."""
        job = job if tasks is None else self._queries.task(job, tasks)
        return self._change(caller, job, ReleaseJob(job, caller.user))

    def change(
        self,
        caller: Caller,
        job: int,
        tasks: str | None = None,
        time_limit: int | None = None,
        most: int | None = None,
    ) -> Future[Json]:
        """Other limits for one waiting job."""
        job = job if tasks is None else self._queries.task(job, tasks)
        if time_limit is not None:
            self.rules.may_limit(caller, time_limit, self._queries.row(job)["time_limit"])
        return self._change(caller, job, ChangeJob(job, caller.user, time_limit, most))

    def abandon(self, caller: Caller, job: int) -> Future[Json]:
        """Write off what clusters hold of one job and cannot be brought to an end, also of one that
        has ended. For administrators."""
        self.available()
        what = "abandon jobs: what is written off may still run"
        self.rules.only_administrators(caller, what)
        self._queries.row(job)
        future: Future[Json] = Future()
        self._loop.post(Ask(AbandonJob(job, caller.user), job, self._answer(future)))
        return future

    def drain(self, caller: Caller, cluster: str, reason: str) -> Future[Json]:
        """Send nothing new to a cluster; its object. For administrators."""
        self.rules.admits(caller, "drain")
        return self._of_cluster(cluster, lambda index: DrainCluster(index, caller.user, reason))

    def resume(self, caller: Caller, cluster: str) -> Future[Json]:
        """Use a drained cluster again; its object. For administrators."""
        self.rules.admits(caller, "resume")
        return self._of_cluster(cluster, lambda index: ResumeCluster(index, caller.user))

    def tell_links(self, caller: Caller, links: list[Json]) -> Future[Json]:
        """Keep what was measured between clusters. For administrators."""
        self.rules.admits(caller, "tell links")
        self.available()
        try:
            told = read(links)
        except UnsoundLink as error:
            raise ServiceError(Failure.INVALID, str(error), "see: metabroker doctor") from error
        future: Future[Json] = Future()
        answer = self._answer(future, lambda _number: {"kept": len(told)})
        self._loop.post(Ask(TellLinks(told), 0, answer))
        return future

    def _of_cluster(self, name: str, event: Callable[[int], Event]) -> Future[Json]:
        self.available()
        names = self._loop.engine.names.names
        if name not in names:
            told, advice = (
                f"there is no cluster {name[:64]!r}",
                f"choose one of: {', '.join(names)}",
            )
            raise ServiceError(Failure.NOT_FOUND, told, advice)
        index = names.index(name)
        future: Future[Json] = Future()
        self._loop.post(Ask(event(index), index, self._answer(future, self._fresh_cluster)))
        return future

    def _fresh_cluster(self, index: int) -> Json:
        return cluster_views(self._loop.engine.broker.view, self._clock())[index]

    def available(self) -> None:
        """Raises `ServiceError` while nothing can be written."""
        if self._loop.trouble is not None:
            raise unavailable(self._loop.trouble)

    def _asked(
        self,
        caller: Caller,
        submission: Submission,
        answer: Callable[[int | Exception], None],
        *,
        tasks: bool = True,
    ) -> AskToSubmit:
        """`tasks`: with what has become of those that its own correspond to."""
        self.available()
        limit = self.rules.check(caller, submission)
        self._check_native(submission)
        submission, closed = self.rules.options.said(submission, self._wrong_words)
        closed = away(submission, [each.name for each in self._executors], closed)
        accounts = self.rules.accounts(caller, submission, closed)
        self._check_paths(caller, submission, accounts, closed)
        known = [each.name for each in self._executors if each.name not in closed]
        return AskToSubmit(
            submission,
            caller.user,
            self.rules.home(caller),
            limit,
            spec_of(submission, accounts, self.rules.owner(caller, submission), known),
            answer,
            closed,
            _ended(
                self._queries, submission, self._loop.engine.broker.view.jobs if tasks else None
            ),
        )

    def _wrong_words(self, cluster: str, words: tuple[str, ...]) -> str | None:
        """What is wrong with words for a cluster's own submit command."""
        found = [each.cluster for each in self._executors if each.name == cluster]
        return found[0].check_native(words) if found else "is not there"

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

    def _check_paths(
        self,
        caller: Caller,
        submission: Submission,
        accounts: Mapping[str, str],
        closed: Collection[str],
    ) -> None:
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
            and executor.name not in closed
        ]
        wrong = self._paths.wrong(caller.user, submission, places)
        if wrong is not None:
            raise ServiceError(
                Failure.INVALID,
                f"the job could not write its output: {wrong}",
                "make the folder, or name others with -D and -o; jobs under your own account "
                "need `run_as` in the configuration",
            )

    def _change(self, caller: Caller, number: int, event: Event) -> Future[Json]:
        self.available()
        row = self._queries.row(number)
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
        if not isinstance(event, CancelJob) and not self.rules.administers(caller):
            _not_too_often(self._queries, number)
        future: Future[Json] = Future()
        self._loop.post(Ask(event, number, self._answer(future)))
        return future

    def _answer(
        self, future: Future[Json], view: Callable[[int], Json] | None = None
    ) -> Callable[[int | Exception], None]:
        """Called in the core's thread, once what was asked is durable (or refused). `view`: of what
        was asked about; None: it is a job."""
        shown = view or self._fresh_view

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
                complete(future, lambda: shown(outcome))

        return answer

    def _fresh_view(self, number: int) -> Json:
        job = self._loop.engine.broker.view.jobs.get(number) or self._ended.get(number)
        return self._queries.job(number) if job is None else self._view_of(job)

    def _view_of(self, job: Job) -> Json:
        names = self._loop.engine.names
        row = job_row(job, names)
        row["components"] = [component_row(c, names) for c in (*job.components, *job.line)]
        return job_view(row, self._queries.instance)


def _ended(queries: Queries, submission: Submission, live: Mapping[int, Job] | None) -> Outcomes:
    """What has become of the jobs that it depends on, of those that have ended. `live`: those that
    have not, as the core has them; None: what its tasks correspond to is left out."""
    ended = queries.outcomes(named_by(submission.after))
    if live is None:
        return ended
    named = corresponding(submission.after, submission.array_spec, live, ended, {})
    return {**ended, **queries.outcomes(named)}


def _not_too_often(queries: Queries, number: int) -> None:
    """All that happened to a job is kept with it: one that a script holds and releases for days
    would fill the store. It can be cancelled however much that is. Raises `ServiceError`."""
    if queries.count_changes(number, _MOST_CHANGES) >= _MOST_CHANGES:
        raise ServiceError(
            Failure.CONFLICT,
            f"job {number} was held, released or changed {_MOST_CHANGES} times",
            f"leave it as it is, or cancel it and submit it again: metabroker cancel {number}",
        )


def complete(future: Future[Json], view: Callable[[], Json]) -> None:
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
    advice = "it may still be done when that is over: check before you repeat it"
    return ServiceError(Failure.UNDECIDED, why, advice)
