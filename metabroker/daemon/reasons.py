"""Why a job waits, in words, with the age of what that is based on (promise P6)."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from itertools import islice
from typing import Any

from metabroker.broker.core import Broker
from metabroker.broker.job import Job, NewJob
from metabroker.broker.shares import Measure, Usage, whose
from metabroker.policy import Reason, Why

# Under FPFS each job has a reason of its own; working one out costs time, so only the first get it.
_MOST_EXPLAINED = 200


@dataclass(frozen=True, slots=True)
class Waiting:
    """A waiting job's place in its queue (0: the head; None: set aside), and why it waits."""

    position: int | None
    reason: str


def waiting(
    broker: Broker, now: float, most: int | None = None, only: Container[int] | None = None
) -> dict[int, Waiting]:
    """All waiting jobs, or the first `most` of each queue, or `only` these. To be asked in the
    core's thread: it costs little for each that is told of, and next to nothing for the others.
    """
    explain = _Explainer(broker, now)
    found: dict[int, Waiting] = {}
    for queue in broker.scheduler.queues:
        name = explain.queue(queue)
        head_text = ""
        head = -1
        for position, key in enumerate(islice(broker.scheduler.keys(queue), most)):
            if position == 0:
                head, head_text = key, explain.why(key)
            if only is not None and key not in only:
                continue
            if position == 0:
                text = head_text
            elif position < _MOST_EXPLAINED and explain.separately:
                text = explain.why(key)
            else:
                text = f"behind {position} in queue {name}; job {head} is first: {head_text}"
            found[key] = Waiting(position, explain.with_past(key, text))
    usage = broker.usage() if broker.shares.jobs else Usage()
    for key, job in islice(broker.shares.jobs.items(), most):
        if only is None or key in only:
            text = held_back(broker, job, job.queue, usage)
            found[key] = Waiting(None, explain.with_past(key, text))
    for key in islice(broker.scheduler.aside(), most):
        if only is None or key in only:
            text = explain.out_of_reach(broker.jobs[key])
            found[key] = Waiting(None, explain.with_past(key, text))
    return found


def held_back(broker: Broker, job: Job | NewJob, queue: int, usage: Usage) -> str:
    """Why a job waits for a share."""
    beyond = broker.shares.beyond(job, queue, usage)
    if beyond is None:
        return f"behind other jobs of {job.user}'s, or of its queue, that are beyond a limit"
    who = whose(beyond.key, broker.settings.clusters)
    limit = f"limits.per_{beyond.key[0]}.{beyond.measure.value}"
    if beyond.measure is Measure.COALLOCATED:
        return (
            f"{who} has {beyond.have} co-allocated jobs under way, and {beyond.most} are the most "
            f"({limit})"
        )
    return (
        f"asks for {sum(job.request.sizes)} processors; {who} uses {beyond.have}, and "
        f"{beyond.most} are the most ({limit})"
    )


def preview(broker: Broker, new: NewJob, queue: int, position: int, now: float) -> str:
    """Why a job that would join `queue` now would not start at once."""
    explain = _Explainer(broker, now)
    if position and not explain.separately:
        return f"{position} jobs are in front of it in queue {explain.queue(queue)}"
    return f"asks for {'+'.join(map(str, new.request.sizes))} processors; idle: {explain.idle()}"


class _Explainer:
    def __init__(self, broker: Broker, now: float) -> None:
        self._broker = broker
        self._now = now
        self._idle = broker.ledger.available(now)
        self._capacity = broker.ledger.capacity(now)
        self.separately = getattr(broker.scheduler, "discipline", "FCFS") == "FPFS"

    def queue(self, queue: int) -> str:
        names = self._broker.settings.clusters
        return names[queue].name if queue < len(names) else "global"

    def why(self, key: int) -> str:
        why = self._broker.scheduler.why(key, self._idle, self._now, self._capacity)
        return _TEXTS[why.reason](self, why, self._broker.jobs[key])

    def with_past(self, key: int, text: str) -> str:
        job = self._broker.jobs[key]
        return f"{text} (attempt {job.attempt}: {job.reason})" if job.reason else text

    def unreachable(self, _why: Why, job: Job) -> str:
        return self.out_of_reach(job)

    def out_of_reach(self, job: Job) -> str:
        """It could not start even if the clusters that answer were empty."""
        lost = [
            f"{c.name} ({self._broker.ledger.accounts[i].detail or 'its information is too old'})"
            for i, c in enumerate(self._broker.settings.clusters)
            if not self._broker.ledger.known(i, self._now)
        ]
        asked = self.asked(job)
        if lost:
            return f"asks for {asked}; needs a cluster that does not answer: {', '.join(lost)}"
        return f"asks for {asked}: more than the clusters' nodes that take jobs now have"

    def behind(self, why: Why, _job: Job) -> str:
        return f"behind {why.position} in queue {self.queue(why.queue)}"

    def rule(self, why: Why, _job: Job) -> str:
        return f"its queue may not start jobs now: {why.rule}"

    def misfit(self, _why: Why, job: Job) -> str:
        return f"asks for {self.asked(job)} processors; idle: {self.idle()}"

    def overtaking(self, why: Why, _job: Job) -> str:
        return f"job {why.blocker} has waited, or was overtaken, long enough and goes first"

    def next(self, _why: Why, _job: Job) -> str:
        return "starts at the next pass"

    def asked(self, job: Job) -> str:
        names = self._broker.settings.clusters
        where = job.request.clusters
        if where is None and job.single and job.queue < len(names):
            where = (job.queue,)
        sizes = job.request.sizes
        if where is None:
            return "+".join(str(size) for size in sizes)
        return "+".join(f"{names[c].name}:{s}" for s, c in zip(sizes, where, strict=True))

    def idle(self) -> str:
        parts = []
        for index, cluster in enumerate(self._broker.settings.clusters):
            account = self._broker.ledger.accounts[index]
            if not self._broker.ledger.known(index, self._now) or account.snapshot is None:
                parts.append(f"{cluster.name} unknown")
            else:
                age = f"{max(0.0, self._now - account.snapshot.taken_at):.0f} s ago"
                if account.cap is not None and account.cap_until > self._now:
                    # More may be idle by its own word, and it has just refused as many.
                    later = account.cap_until - self._now
                    age += f"; it has refused more, and is asked again in {later:.0f} s"
                parts.append(f"{cluster.name} {self._idle[index]} ({age})")
        return ", ".join(parts)


_TEXTS: dict[Reason, Callable[[_Explainer, Why, Job], str]] = {
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
