"""Between the core's objects and the tables' rows, in both directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Table

from metabroker.broker.job import Component, Goal, Job
from metabroker.broker.states import Cause, JobState, Phase, Step
from metabroker.broker.tokens import Ref
from metabroker.policy import Request

from .tables import components, jobs

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


def _plain(table: Table, *made: str) -> tuple[str, ...]:
    """The columns that are fields of the same name, as they are: all but those that are `made`."""
    return tuple(column.name for column in table.columns if column.name not in made)


_OF_JOB = _plain(jobs, "state", "sizes", "clusters", "queue", "local", "home", "goal")
_OF_COMPONENT = _plain(
    components, "job", "attempt", "component", "term", "cluster", "phase", "step", "cause"
)


def job_row(job: Job, names: ClusterNames) -> dict[str, Any]:
    """A job's row."""
    where = job.request.clusters
    return {name: getattr(job, name) for name in _OF_JOB} | {
        "state": job.state.value,
        "sizes": list(job.request.sizes),
        "clusters": None if where is None else [names.names[c] for c in where],
        "queue": names.queue(job.queue),
        "local": names.name(job.local),
        "home": names.name(job.home),
        "goal": job.goal.value if job.goal is not None else None,
    }


def job_of(row: Row, names: ClusterNames) -> Job:
    """The job of a row."""
    return Job(
        request=names.request(row["sizes"], row["clusters"]),
        queue=names.queue_index(row["queue"]),
        local=names.index(row["local"]),
        home=names.index(row["home"]),
        state=JobState(row["state"]),
        goal=Goal(row["goal"]) if row["goal"] is not None else None,
        **{name: row[name] for name in _OF_JOB},
    )


def component_row(component: Component, names: ClusterNames) -> dict[str, Any]:
    """A component's row."""
    return {name: getattr(component, name) for name in _OF_COMPONENT} | {
        "job": component.ref.job,
        "attempt": component.ref.attempt,
        "component": component.ref.component,
        "term": component.ref.term,
        "cluster": names.names[component.cluster],
        "phase": component.phase.value,
        "step": component.step.value,
        "cause": component.cause.value if component.cause is not None else None,
    }


def component_of(row: Row, names: ClusterNames) -> Component:
    """The component of a row."""
    cluster = names.index(row["cluster"])
    assert cluster is not None
    return Component(
        ref=Ref(row["job"], row["attempt"], row["component"], row["term"]),
        cluster=cluster,
        phase=Phase(row["phase"]),
        step=Step(row["step"]),
        cause=Cause(row["cause"]) if row["cause"] is not None else None,
        **{name: row[name] for name in _OF_COMPONENT},
    )
