"""Why a job waits, in words, with the age of what that is based on (promise P6)."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from itertools import islice
from time import localtime, strftime
from typing import Any

from metabroker.broker.array import Array
from metabroker.broker.job import Job, NewJob, started
from metabroker.broker.links import too_far
from metabroker.broker.resource_limits import Usage
from metabroker.broker.states import JobState
from metabroker.broker.view import BrokerView, Plan
from metabroker.policy import Reason, Request, Why
from metabroker.submission.shape import ANY_PROCESSORS, Shape

from . import ahead, at_limit
from .drained import words

# Under FPFS each job has a reason of its own; working one out costs time, so only the first get it.
_MOST_EXPLAINED = 200
_LONGEST_DEPENDENCY = 200  # characters that are told
_STARTING = "the broker has just started, and looks at its clusters before it starts jobs"


@dataclass(frozen=True, slots=True)
class Waiting:
    """A waiting job's place in its queue (0: the head; None: set aside), why it waits, and when it
    starts (see `predictions`; None: not known)."""

    position: int | None
    reason: str
    start: dict[str, Any] | None = None


def first(view: BrokerView, now: float, most: int) -> dict[int, Waiting]:
    """The first `most` of each queue, and of those that are in none. In the core's thread."""
    explain = _Explainer(view, now)
    found: dict[int, Waiting] = {}
    for queue in view.in_queues.queues:
        for position, key in enumerate(islice(view.in_queues.keys(queue), most)):
            found[key] = explain.in_queue(key, queue, position)
    dependent = [n for n, job in view.dependent.items() if job.state is JobState.QUEUED]
    for keys in (dependent, view.held_back, view.refused, view.ineligible()):
        found.update((key, explain.in_none(key)) for key in islice(keys, most))
    return found


def of(view: BrokerView, now: float, jobs: Iterable[int]) -> dict[int, Waiting]:
    """Those of these jobs that wait. In the core's thread, for some hundred at a time: each costs
    some microseconds."""
    explain = _Explainer(view, now)
    found: dict[int, Waiting] = {}
    for key in jobs:
        job, place = view.jobs.get(key), view.place(key)
        if place is not None:
            found[key] = explain.in_queue(key, *place)
        elif job is not None and job.state is JobState.QUEUED:
            found[key] = explain.in_none(key)
    return found


class Moment:
    """Where all jobs in queues stand at one moment, to be read in any thread. It is made in the
    core's thread, in some milliseconds for 100,000 jobs; working out the reasons of all of them
    there would hold up everybody else."""

    def __init__(self, view: BrokerView, now: float) -> None:
        self._explain = explain = _Explainer(view, now)
        self._seqs = {
            queue: array("q", view.in_queues.seqs(queue)) for queue in view.in_queues.queues
        }
        for queue, seqs in self._seqs.items():
            if seqs:
                explain.head(queue)

    def waiting(self, job: Job) -> Waiting | None:
        """None: it was in no queue then, has joined again since, or must be asked about by itself
        (`of`). The job is the core's own, which may be changing it at this moment; what it was
        then is found by its seq, which is another one at each joining."""
        seqs = self._seqs.get(job.queue, ())
        position = bisect_left(seqs, job.seq)
        if position == len(seqs) or seqs[position] != job.seq:
            return None
        explain = self._explain
        if explain.separately and position < _MOST_EXPLAINED:
            return None
        return explain.told(position, job, explain.behind_head(job, position))


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def dependency(on: str, never: str = "", joins: int = 0) -> str:
    """Why a job waits that waits for others; `joins`: for one that it joins (0: none)."""
    if never:
        return f"it can never start: its dependency {never} can never be met; cancel it"
    if joins and on == str(started(joins)):
        return f"waits for the start of job {joins}, which it joins"
    return f"waits for other jobs: {on[:_LONGEST_DEPENDENCY]}"


def of_array(tasks: Array) -> str:
    """How far an array has come."""
    text = f"an array: {tasks.count} of {len(tasks.tasks)} tasks are to come"
    most = f", at most {tasks.most} at once" if tasks.most else ""
    return f"{text}{most}; {len(tasks.live)} are under way or wait"


def preview(view: BrokerView, new: NewJob, plan: Plan, now: float) -> str:
    """Why a job of which this is the plan would not start at once."""
    explain = _Explainer(view, now, new)
    others = (
        explain.at.suspended_for(new),
        ahead.words(view, explain.at, new),
        explain.at_limit(new, plan.queue),
    )
    if plan.request is None:
        return "; and ".join(filter(None, others[1:]))
    why = explain.of(explain.at.why_not(plan.request, plan.queue), plan.request)
    contested = explain.at.contested(new.request)
    if contested:
        names = " and ".join(view.settings.clusters[c].name for c in contested)
        why = f"others wait in {names}, too: it would stand in line there; {why}"
    return "; and ".join([why, *filter(None, others)])


def no_nodes(job: Job | NewJob) -> str:
    """Why a job waits that the policy would start."""
    return f"enough processors are idle, but not on nodes that have room for {job.shape}"


class _Explainer:
    def __init__(self, view: BrokerView, now: float, new: NewJob | None = None) -> None:
        """`new`: a job that is in no queue, and asks why it would wait."""
        self.view = view
        self.new = new
        self.at = view.at(now)
        self.separately = view.discipline == "FPFS"
        self._heads: dict[int, tuple[int, Why, str]] = {}
        self._usage: Usage | None = None

    def head(self, queue: int) -> tuple[int, Why, str]:
        """A queue's first job, and why it waits."""
        found = self._heads.get(queue)
        if found is None:
            key = next(self.view.in_queues.keys(queue))
            why = self.at.why(key)
            found = self._heads[queue] = key, why, self.of_job(why, self.view.jobs[key])
        return found

    def of_job(self, why: Why, job: Job) -> str:
        """Why a job in a queue waits, and what keeps it away from clusters."""
        told = self.of(why, job.request), self.ahead(job), self.at_limit(job, job.queue)
        return "; and ".join(filter(None, told))

    def ahead(self, job: Job) -> str:
        return ahead.words(self.view, self.at, job)

    def at_limit(self, job: Job | NewJob, queue: int) -> str:
        if self.at.as_asked(job):
            return ""
        return at_limit.words(self.view, self.at, job, queue, self.usage())

    def usage(self) -> Usage:
        """What is in use, as far as limits need it."""
        if self._usage is None:
            self._usage = self.view.usage()
        return self._usage

    def in_queue(self, key: int, queue: int, position: int) -> Waiting:
        """One in a queue, behind so many."""
        job = self.view.jobs[key]
        if self.separately and 0 < position < _MOST_EXPLAINED:
            return self.told(position, job, self.of_job(self.at.why(key), job))
        return self.told(position, job, self.behind_head(job, position))

    def behind_head(self, job: Job, position: int) -> str:
        """What holds for whoever is in its queue: by what is said of the first one there."""
        head, why, text = self.head(job.queue)
        if position == 0:
            return text
        if not self.separately:
            name = self.queue(job.queue)
            return f"behind {position} in queue {name}; job {head} is first: {text}"
        return text if why.reason is Reason.RULE else self.misfit(why, job.request)

    def in_none(self, key: int) -> Waiting:
        """One in no queue: it is to start, or it has no share, was refused wherever it can go, or
        needs a cluster that does not answer."""
        job = self.view.jobs[key]
        if key in self.view.decided:
            return self.told(None, job, "starts at the next pass")
        if job.array is not None and job.after is None:
            return self.told(None, job, of_array(job.array))
        if job.kept:
            return self.told(None, job, "enough other tasks of its array are under way")
        if job.after is not None:
            return self.told(None, job, dependency(str(job.after), job.never, job.joins))
        if key in self.view.held_back:
            return self.told(None, job, at_limit.held_back(self.view, job, job.queue, self.usage()))
        if key in self.view.refused:
            return self.told(None, job, self.kept_back(job))
        lost = self.far(job) or self.out_of_reach(job.request, job.queue, job, job.shape)
        return self.told(None, job, lost)

    def told(self, position: int | None, job: Job, text: str) -> Waiting:
        """With what became of it before."""
        everyone = self.view.behind or (_STARTING if self.view.starting else "")
        if everyone:
            return Waiting(position, everyone)
        if (unread := self.at.may_have_started(job)) is not None:
            text = (
                f"component {unread.ref.component} in "
                f"{self.view.settings.clusters[unread.cluster].name} may have run before the "
                "daemon's start: its records there could not be read yet"
            )
        elif job.line:
            text = f"{self.in_line(job)}; {text}"
        when = "before" if job.siblings else f"attempt {job.attempt}"  # in line: of a former one
        past = f" ({when}: {job.reason})" if job.reason else ""
        return Waiting(position, text + past)

    def in_line(self, job: Job) -> str:
        """Where it stands in clusters' own queues, by their last polls."""
        told = []
        for sibling in job.line:
            name, since = self.view.settings.clusters[sibling.cluster].name, sibling.submit_time
            native = self.at.native(sibling)
            if native is None or since is None:
                told.append(f"{name} (being submitted)")
                continue
            place = f"{ordinal(native.position)}, " if native.position is not None else ""
            at = strftime("%H:%M", localtime(since))
            told.append(f"{name} ({place}since {at}: {native.reason or native.word})")
        return f"in line at {' and '.join(told)}"

    def queue(self, queue: int) -> str:
        names = self.view.settings.clusters
        return names[queue].name if queue < len(names) else "global"

    def of(self, why: Why, request: Request) -> str:
        return _TEXTS[why.reason](self, why, request)

    def kept_back(self, job: Job) -> str:
        """Clusters are suspended, have too little for as long as it takes, or have refused it,
        wherever it could go."""
        told = self.at.suspended_for(job), self.ahead(job), self.at_limit(job, job.queue)
        known = "; ".join(filter(None, told))
        if known:
            return known
        later = self.at.retried_in(job)
        return f"it is sent to none of its clusters for a while, and tried again in {later:.0f} s"

    def unreachable(self, why: Why, request: Request) -> str:
        job = self.view.jobs.get(why.key)
        if job is not None and (far := self.far(job)):
            return far
        return self.out_of_reach(request, why.queue, job or self.new)

    def far(self, job: Job) -> str:
        """Which clusters are not as near to each other as the job wants; "": none, or that does
        not matter."""
        most, clusters = job.max_latency, self.view.settings.clusters
        if most is None or job.single:
            return ""
        where = range(len(clusters)) if job.request.clusters is None else job.request.clusters
        why, _ = too_far([clusters[c].name for c in where], self.view.links, most)
        return why and f"no clusters that are at most {most:g} ms apart can run it now: {why}"

    def out_of_reach(
        self,
        request: Request,
        queue: int,
        job: Job | NewJob | None,
        shape: Shape = ANY_PROCESSORS,
    ) -> str:
        """It could not start even if the clusters that answer, and are not drained, were empty."""
        lost, drained = [], []
        decided = self.where(request, queue)
        barred = self.at.barred(job) if job is not None else frozenset()
        for index in decided or range(len(self.view.settings.clusters)):
            name, entry = self.view.settings.clusters[index].name, self.view.entries[index]
            if not decided and (index in barred or 0 < entry.processors < min(request.sizes)):
                continue  # it would be of no use if it answered
            if entry.drained is not None:
                drained.append(f"{name} is {words(entry.drained)}")
            elif not self.at.known(index):
                lost.append(f"{name} ({entry.detail or 'its information is too old'})")
        told = [f"needs a cluster that does not answer: {', '.join(lost)}"] if lost else []
        asked = self.asked(request, queue)
        if lost or drained:
            return "; ".join([f"asks for {asked}", *told, *drained])
        more = f"asks for {asked}: more than the nodes that accept jobs now have"
        return f"{more} room for, where {shape} fits on one" if shape else more

    def behind(self, why: Why, _request: Request) -> str:
        return f"behind {why.position} in queue {self.queue(why.queue)}; job {why.blocker} is first"

    def rule(self, why: Why, _request: Request) -> str:
        return f"its queue may start jobs only while {why.rule}"

    def misfit(self, why: Why, request: Request) -> str:
        job = self.view.jobs.get(why.key) or self.new
        barred = self.at.barred(job) if job is not None else frozenset()
        told = self.idle(self.at.contested(request), barred)
        return f"asks for {self.asked(request, why.queue)} processors; idle: {told}"

    def overtaking(self, why: Why, _request: Request) -> str:
        return (
            f"job {why.blocker} has waited long enough, or was overtaken often enough, and "
            "goes first"
        )

    def next(self, why: Why, _request: Request) -> str:
        job = self.view.jobs.get(why.key)
        shaped = job is not None and job.shape and not job.single
        return no_nodes(job) if job is not None and shaped else "starts at the next pass"

    def asked(self, request: Request, queue: int) -> str:
        names, where = self.view.settings.clusters, self.where(request, queue)
        if where is None:
            return "+".join(str(size) for size in request.sizes)
        return "+".join(f"{names[c].name}:{s}" for s, c in zip(request.sizes, where, strict=True))

    def where(self, request: Request, queue: int) -> tuple[int, ...] | None:
        """The clusters that its components go to, as far as that is decided."""
        local = request.single and queue < len(self.view.settings.clusters)
        return (queue,) if local and request.clusters is None else request.clusters

    def idle(self, contested: Container[int], barred: Container[int]) -> str:
        """What is idle in each cluster; in the `contested` ones that is not for this job alone, and
        in the `barred` ones not for it at all."""
        parts = []
        for index, cluster in enumerate(self.view.settings.clusters):
            idle, snapshot = self.at.idle(index), self.view.entries[index].snapshot
            if idle is None or snapshot is None:
                parts.append(f"{cluster.name} unknown")
                continue
            age = f"{max(0.0, self.at.now - snapshot.taken_at):.0f} s ago"
            avoided, drained = self.at.avoided(index), self.view.entries[index].drained
            if index in barred:
                age += "; this job cannot run there"
            elif drained is not None:
                age += f"; {words(drained)}"
            elif avoided is not None and avoided.until is not None and not avoided.suspended:
                later = avoided.until - self.at.now
                age += (
                    f"; it refused {avoided.most + 1} processors, and is asked again in "
                    f"{later:.0f} s"
                )
            elif avoided is not None:
                age += f"; {avoided.why}"
            elif index in contested:
                age += "; others wait there, too: its own scheduler says who is next"
            parts.append(f"{cluster.name} {idle} ({age})")
        return ", ".join(parts)


_TEXTS: dict[Reason, Callable[[_Explainer, Why, Request], str]] = {
    Reason.UNREACHABLE: _Explainer.unreachable,
    Reason.BEHIND: _Explainer.behind,
    Reason.RULE: _Explainer.rule,
    Reason.MISFIT: _Explainer.misfit,
    Reason.OVERTAKING: _Explainer.overtaking,
    Reason.NEXT: _Explainer.next,
}
