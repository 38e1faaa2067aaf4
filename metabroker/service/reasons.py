"""Why a job waits, in words, with the age of what that is based on (promise P6)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from metabroker.broker.job import Job, NewJob
from metabroker.broker.resource_limits import Resource, Usage, whose
from metabroker.broker.view import BrokerView
from metabroker.policy import Reason, Request, Why

# Under FPFS each job has a reason of its own; working one out costs time, so only the first get it.
_MOST_EXPLAINED = 200
_STARTING = "the broker has just started, and looks at its clusters before it starts jobs"


@dataclass(frozen=True, slots=True)
class Waiting:
    """A waiting job's place in its queue (0: the head; None: set aside), and why it waits."""

    position: int | None
    reason: str


def waiting(
    view: BrokerView, now: float, most: int | None = None, only: Container[int] | None = None
) -> dict[int, Waiting]:
    """All waiting jobs, or the first `most` of each queue, or `only` these. To be asked in the
    core's thread: it costs little for each that is told of, and next to nothing for the others.
    """
    explain = _Explainer(view, now)
    found: dict[int, Waiting] = {}
    for queue in view.queues:
        _of_queue(explain, queue, most, only, found)
    for key, text in _aside(explain, most):
        if only is None or key in only:
            found[key] = Waiting(None, explain.with_past(key, text()))
    everyone = view.behind or (_STARTING if view.starting else "")
    if everyone:
        return {key: Waiting(each.position, everyone) for key, each in found.items()}
    return found


def _of_queue(
    explain: _Explainer,
    queue: int,
    most: int | None,
    only: Container[int] | None,
    found: dict[int, Waiting],
) -> None:
    """Those in one of the policy's queues, from its head on."""
    name = explain.queue(queue)
    head, head_text = -1, ""
    for position, key in enumerate(islice(explain.view.queued(queue), most)):
        if position == 0:
            head, head_text = key, explain.why(key)
        if only is not None and key not in only:
            continue
        if position == 0:
            text = head_text
        elif not explain.separately:
            text = f"behind {position} in queue {name}; job {head} is first: {head_text}"
        elif position < _MOST_EXPLAINED:
            text = explain.why(key)
        else:
            text = explain.in_short(queue, key)
        found[key] = Waiting(position, explain.with_past(key, text))


def _aside(explain: _Explainer, most: int | None) -> Iterator[tuple[int, Callable[[], str]]]:
    """Those in no queue: who has no share, who was refused wherever they can go, and who needs a
    cluster that does not answer."""
    view = explain.view
    usage = view.usage() if view.held_back else Usage()
    for key, job in islice(view.held_back.items(), most):
        yield key, partial(held_back, view, job, job.queue, usage)
    for key, job in islice(view.refused.items(), most):
        yield key, partial(explain.kept_back, job)
    for key in islice(view.ineligible(), most):
        job = view.jobs[key]
        yield key, partial(explain.out_of_reach, job.request, job.queue)


def held_back(view: BrokerView, job: Job | NewJob, queue: int, usage: Usage) -> str:
    """Why a job waits for a share."""
    beyond = view.beyond(job, queue, usage)
    if beyond is None:
        return f"behind other jobs of {job.user}, or of its queue, that exceed a limit"
    who = whose(beyond.key, view.settings.clusters)
    limit = f"limits.per_{beyond.key[0]}.{beyond.measure.value}"
    if beyond.measure is Resource.COALLOCATED:
        return (
            f"{who} has {beyond.have} co-allocated jobs under way, and at most {beyond.most} are "
            "allowed "
            f"({limit})"
        )
    return (
        f"asks for {sum(job.request.sizes)} processors; {who} uses {beyond.have}, and at most "
        f"{beyond.most} are allowed ({limit})"
    )


def preview(view: BrokerView, new: NewJob, queue: int, now: float) -> str:
    """Why a job that would join `queue` now would not start at once."""
    explain = _Explainer(view, now)
    suspended = explain.at.suspended_for(new)
    return explain.of(explain.at.why_not(new.request, queue), new.request) + (
        f"; and {suspended}" if suspended else ""
    )


class _Explainer:
    def __init__(self, view: BrokerView, now: float) -> None:
        self.view = view
        self.at = view.at(now)
        self.separately = view.discipline == "FPFS"

    def queue(self, queue: int) -> str:
        names = self.view.settings.clusters
        return names[queue].name if queue < len(names) else "global"

    def why(self, key: int) -> str:
        return self.of(self.at.why(key), self.view.jobs[key].request)

    def of(self, why: Why, request: Request) -> str:
        return _TEXTS[why.reason](self, why, request)

    def in_short(self, queue: int, key: int) -> str:
        """Where working out the reason of each would take too long: what holds for its queue."""
        head = next(self.view.queued(queue))
        why = self.at.why(head)
        if why.reason is Reason.RULE:
            return self.of(why, self.view.jobs[head].request)
        return self.misfit(why, self.view.jobs[key].request)

    def kept_back(self, job: Job) -> str:
        """Clusters are suspended, or it was refused, wherever it could go."""
        suspended = self.at.suspended_for(job)
        if suspended:
            return suspended
        later = self.at.retried_in(job)
        return f"every cluster that could run it has refused it; it is tried again in {later:.0f} s"

    def with_past(self, key: int, text: str) -> str:
        job = self.view.jobs[key]
        return f"{text} (attempt {job.attempt}: {job.reason})" if job.reason else text

    def unreachable(self, why: Why, request: Request) -> str:
        return self.out_of_reach(request, why.queue)

    def out_of_reach(self, request: Request, queue: int) -> str:
        """It could not start even if the clusters that answer were empty."""
        lost = [
            f"{c.name} ({self.view.entries[i].detail or 'its information is too old'})"
            for i, c in enumerate(self.view.settings.clusters)
            if not self.at.known(i)
        ]
        asked = self.asked(request, queue)
        if lost:
            return f"asks for {asked}; needs a cluster that does not answer: {', '.join(lost)}"
        return f"asks for {asked}: more than the nodes that accept jobs now have"

    def behind(self, why: Why, _request: Request) -> str:
        return f"behind {why.position} in queue {self.queue(why.queue)}; job {why.blocker} is first"

    def rule(self, why: Why, _request: Request) -> str:
        return f"its queue may not start jobs now: {why.rule}"

    def misfit(self, why: Why, request: Request) -> str:
        return f"asks for {self.asked(request, why.queue)} processors; idle: {self.idle()}"

    def overtaking(self, why: Why, _request: Request) -> str:
        return (
            f"job {why.blocker} has waited long enough, or was overtaken often enough, and "
            "goes first"
        )

    def next(self, _why: Why, _request: Request) -> str:
        return "starts at the next pass"

    def asked(self, request: Request, queue: int) -> str:
        names = self.view.settings.clusters
        where = request.clusters
        if where is None and request.single and queue < len(names):
            where = (queue,)
        if where is None:
            return "+".join(str(size) for size in request.sizes)
        return "+".join(f"{names[c].name}:{s}" for s, c in zip(request.sizes, where, strict=True))

    def idle(self) -> str:
        parts = []
        for index, cluster in enumerate(self.view.settings.clusters):
            idle, snapshot = self.at.idle(index), self.view.entries[index].snapshot
            if idle is None or snapshot is None:
                parts.append(f"{cluster.name} unknown")
                continue
            age = f"{max(0.0, self.at.now - snapshot.taken_at):.0f} s ago"
            avoided = self.at.avoided(index)
            if avoided is not None and avoided.until is not None and not avoided.suspended:
                later = avoided.until - self.at.now
                age += (
                    f"; it refused {avoided.most + 1} processors, and is asked again in "
                    f"{later:.0f} s"
                )
            elif avoided is not None:
                age += f"; {avoided.why}"
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


def in_attempt(row: dict[str, Any]) -> str:
    """Why a job that has been placed does not run yet: what its components wait for."""
    if row["reason"]:
        return str(row["reason"])
    parts = [p for p in row["components"] if p["attempt"] == row["attempt"]]
    waits = [
        f"{p['cluster']}: {p['detail'] or p['step'] or p['phase']}"
        for p in parts
        if p["phase"] not in ("arrived", "armed", "started", "ended", "gone")
    ]
    return "waits for " + ", ".join(waits) if waits else ""
