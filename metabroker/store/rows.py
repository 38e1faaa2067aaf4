"""Between the core's objects and the tables' rows, in both directions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from metabroker.broker.array import Array, Wish
from metabroker.broker.job import Component, Goal, Job, Split
from metabroker.broker.outbox import OutboxEntry
from metabroker.broker.states import Cause, JobState, Phase, Step
from metabroker.broker.tokens import Ref
from metabroker.policy import Request
from metabroker.submission.chunks import NodeRange
from metabroker.submission.dependency import Dependency, parse_dependency
from metabroker.submission.inputs import Inputs
from metabroker.submission.shape import Shape
from metabroker.submission.tasks import TaskSet

Row = Mapping[str, Any]
_MOST_SHAPES = 4096  # of requests that are remembered


class ClusterNames:
    """Cluster names by index and back; the global queue is the empty name."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._index = {name: index for index, name in enumerate(names)}
        self._requests: dict[tuple[Any, ...], Request] = {}

    def name(self, cluster: int | None) -> str | None:
        """The name of a cluster."""
        return None if cluster is None else self.names[cluster]

    def index(self, name: str | None) -> int | None:
        """The cluster of that name."""
        return None if name is None else self._index[name]

    def known(self, names: Iterable[str]) -> list[int]:
        """Those of these clusters that there are."""
        return [self._index[name] for name in names if name in self._index]

    def queue(self, queue: int) -> str:
        """The name of a queue."""
        return self.names[queue] if queue < len(self.names) else ""

    def queue_index(self, name: str) -> int:
        """The queue of that name."""
        return self._index[name] if name else len(self.names)

    def request(self, sizes: Sequence[int], clusters: Sequence[str] | None) -> Request:
        """A request of that shape, one object for all jobs of the same shape."""
        where = None if clusters is None else tuple(self._index[name] for name in clusters)
        shape = (tuple(sizes), where)
        return self._requests.get(shape) or self.shared(Request(*shape))

    def shared(self, request: Request) -> Request:
        """The one object for requests of that shape; when there have been very many shapes, for
        those that come from now on."""
        shape = (request.sizes, request.clusters)
        found = self._requests.get(shape)
        if found is None:
            if len(self._requests) >= _MOST_SHAPES:
                self._requests.clear()
            found = self._requests[shape] = request
        return found


def job_row(job: Job, names: ClusterNames) -> dict[str, Any]:
    """A job's row."""
    where = job.request.clusters
    return {
        "id": job.id,
        "user": job.user,
        "name": job.name,
        "state": job.state.value,
        "reason": job.reason,
        "sizes": list(job.request.sizes),
        "clusters": None if where is None else [names.names[c] for c in where],
        "queue": names.queue(job.queue),
        "local": names.name(job.local),
        "home": names.name(job.home),
        "time_limit": job.time_limit,
        "submit_time": job.submit_time,
        "seq": job.seq,
        "queued_at": job.queued_at,
        "attempt": job.attempt,
        "siblings": job.siblings,
        "submission_failures": job.submission_failures,
        "completion_failures": job.completion_failures,
        "start_time": job.start_time,
        "end_time": job.end_time,
        "exit_code": job.exit_code,
        "deadline": job.deadline,
        "goal": job.goal.value if job.goal is not None else None,
        "by": job.by,
        "stages_in": job.stages_in,
        "stages_out": job.stages_out,
        "uncertain": job.uncertain,
        "shape": job.shape.given() or None,
        "closed": [*(names.names[cluster] for cluster in sorted(job.closed)), *job.closed_to_come]
        or None,
        "dependency": dependency_row(job),
        "max_latency": job.max_latency,
        "split": split_row(job),
        "inputs": job.inputs.told(),
        "joins": job.joins or None,
        "nodes": list(job.nodes) if job.nodes.most else None,
        **array_columns(job),
    }


def split_row(job: Job) -> dict[str, Any] | None:
    """How the policy may split a job: into how many `parts` at most, of how many processors each;
    and for how many seconds more than its limit it may run, since it is split. None: not at all."""
    return None if job.split is None else asdict(job.split)


def array_columns(job: Job) -> dict[str, Any]:
    """Of an array, or of one of its tasks."""
    task = job.task if job.of else None
    return {"array": array_row(job), "of": job.of or None, "task": task}


def array_row(job: Job) -> dict[str, Any] | None:
    """How far an array has come; None: it is none."""
    array = job.array
    if array is None:
        return None
    return {
        "tasks": str(array.tasks),
        "most": array.most,
        "next": array.next,
        "made": array.made,
        "cancelled": str(array.cancelled),
        "worst": array.worst.value,
        "exit_code": array.exit_code,
        **({"ending": str(array.ending)} if array.ending else {}),
        **({"each": _waits_row(array.each)} if array.each is not None else {}),
        **({"pausing": _wish_row(array.pausing)} if array.pausing is not None else {}),
        **({"limiting": _wish_row(array.limiting)} if array.limiting is not None else {}),
    }


def _wish_row(wish: Wish) -> dict[str, Any]:
    but = str(TaskSet.of(wish.but))
    return {"by": wish.by, "below": wish.below, "value": wish.value, "but": but}


def _wish_of(row: dict[str, Any] | None) -> Wish | None:
    if row is None:
        return None
    return Wish(row["by"], row["below"], row["value"], set(TaskSet.read(row["but"])))


def _array_of(row: Row) -> Array:
    cancelled = TaskSet.read(row["cancelled"])
    made = TaskSet.read(row["tasks"]), row["most"], row["next"], row["made"], cancelled
    ending, each = TaskSet.read(row.get("ending", "")), row.get("each")
    each = None if each is None else parse_dependency(each["on"], kill=each["kill"])
    array = Array(*made, JobState(row["worst"]), row["exit_code"], ending, each)
    array.pausing, array.limiting = _wish_of(row.get("pausing")), _wish_of(row.get("limiting"))
    return array


def dependency_row(job: Job) -> dict[str, Any] | None:
    """What a job waits for; None: for no other job."""
    if job.after is None:
        return None
    return _waits_row(job.after, job.never)


def _waits_row(wanted: Dependency, never: str = "") -> dict[str, Any]:
    return {"on": str(wanted), "kill": wanted.kill, "never": never}


def told_dependency(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a job waits for, and of an array that has tasks to come what each of these does. `row`
    has the columns `dependency` and `array`."""
    whole, array = row["dependency"], row["array"]
    each = None if array is None or row.get("end_time") is not None else array.get("each")
    if whole is None or each is None:
        return whole or each
    return {**whole, "on": f"{whole['on']},{each['on']}"}


def job_of(row: Row, names: ClusterNames) -> Job:
    """The job of a row. A cluster that was closed to it may be configured no more."""
    closed = frozenset(names.known(row["closed"] or ()))
    waits = row["dependency"]
    return Job(
        id=row["id"],
        user=row["user"],
        name=row["name"],
        request=names.request(row["sizes"], row["clusters"]),
        time_limit=row["time_limit"],
        submit_time=row["submit_time"],
        queue=names.queue_index(row["queue"]),
        local=names.index(row["local"]),
        home=names.index(row["home"]),
        state=JobState(row["state"]),
        reason=row["reason"],
        seq=row["seq"],
        queued_at=row["queued_at"],
        attempt=row["attempt"],
        siblings=row["siblings"],
        submission_failures=row["submission_failures"],
        completion_failures=row["completion_failures"],
        start_time=row["start_time"],
        end_time=row["end_time"],
        exit_code=row["exit_code"],
        deadline=row["deadline"],
        goal=Goal(row["goal"]) if row["goal"] is not None else None,
        by=row["by"],
        stages_in=row["stages_in"],
        stages_out=row["stages_out"],
        uncertain=row["uncertain"],
        shape=Shape(**(row["shape"] or {})),
        closed=closed,
        closed_to_come=tuple(name for name in row["closed"] or () if name not in names.names),
        excluded=closed,
        after=parse_dependency(waits["on"], kill=waits["kill"]) if waits else None,
        never=waits["never"] if waits else "",
        max_latency=row["max_latency"],
        split=Split(**row["split"]) if row["split"] else None,
        inputs=Inputs.read(row["inputs"]),
        joins=row["joins"] or 0,
        nodes=NodeRange(*(row["nodes"] or ())),
        array=_array_of(row["array"]) if row["array"] else None,
        of=row["of"] or 0,
        task=-1 if row["task"] is None else row["task"],
    )


def event_row(entry: OutboxEntry) -> dict[str, Any]:
    """The row of one line of a job's history."""
    return {
        "time": entry.time,
        "job": entry.job,
        "attempt": entry.attempt,
        "what": entry.what,
        "detail": entry.detail,
    }


def component_row(component: Component, names: ClusterNames) -> dict[str, Any]:
    """A component's row."""
    return {
        "job": component.ref.job,
        "attempt": component.ref.attempt,
        "component": component.ref.component,
        "term": component.ref.term,
        "cluster": names.names[component.cluster],
        "processors": component.processors,
        "reserves": component.reserves,
        "seq": component.seq,
        "phase": component.phase.value,
        "step": component.step.value,
        "reservation": component.reservation,
        "started": component.started,
        "native_id": component.native_id,
        "submit_time": component.submit_time,
        "hosts": component.hosts,
        "start_time": component.start_time,
        "end_time": component.end_time,
        "exit_code": component.exit_code,
        "cause": component.cause.value if component.cause is not None else None,
        "detail": component.detail,
        "planned": component.planned,
    }


def component_of(row: Row, names: ClusterNames) -> Component:
    """The component of a row."""
    cluster = names.index(row["cluster"])
    assert cluster is not None
    return Component(
        ref=Ref(row["job"], row["attempt"], row["component"], row["term"]),
        cluster=cluster,
        processors=row["processors"],
        reserves=row["reserves"],
        seq=row["seq"],
        phase=Phase(row["phase"]),
        step=Step(row["step"]),
        reservation=row["reservation"],
        started=row["started"],
        native_id=row["native_id"],
        submit_time=row["submit_time"],
        hosts=row["hosts"],
        start_time=row["start_time"],
        end_time=row["end_time"],
        exit_code=row["exit_code"],
        cause=Cause(row["cause"]) if row["cause"] is not None else None,
        detail=row["detail"],
        planned=row["planned"],
    )
