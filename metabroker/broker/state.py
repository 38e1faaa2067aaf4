"""What all parts of the core share: the jobs, what is known of the clusters, and what is to be
written and done. Every change of a job's or a component's row is told to the outbox by whoever
makes it."""

from __future__ import annotations

from dataclasses import dataclass, field

from .array import Array
from .backlog import Backlog
from .first_polls import FirstPolls
from .job import Component, Job
from .ledger import Ledger
from .links import Links
from .outbox import Outbox, Timers
from .settings import Settings


@dataclass(slots=True)
class BrokerState:
    """`jobs`: those that have not ended, by number; `next_job`: the next job's number; `behind`:
    why the store must be older than the clusters, so that nothing is decided ("": it is not)."""

    settings: Settings
    ledger: Ledger
    timers: Timers
    next_job: int
    behind: str = ""
    jobs: dict[int, Job] = field(default_factory=dict)
    outbox: Outbox = field(default_factory=Outbox)
    backlog: Backlog = field(default_factory=Backlog)
    first_polls: FirstPolls = field(default_factory=FirstPolls)
    links: Links = field(default_factory=Links)

    def shut(self, cluster: int) -> bool:
        """Whether nothing is sent to the cluster now: steps stay pending (see `first_polls`)."""
        return self.first_polls.wait or cluster in self.first_polls.unseen

    def array_of(self, job: Job) -> Array | None:
        """The array that the job is a task of, if it is one."""
        owner = self.jobs.get(job.of) if job.of else None
        return None if owner is None else owner.array

    def owes(self, job: Job) -> bool:
        """Whether something that was asked of its whole array is still to be done to this job: it
        must not start before."""
        array = self.array_of(job)
        return array is not None and array.owes(job.id, job.task)

    def note(self, now: float, job: Job, component: Component, what: str, **detail: object) -> None:
        """Write a line about a component into its job's history."""
        name = self.settings.clusters[component.cluster].name
        self.outbox.note(now, job, what, component=component.ref.component, cluster=name, **detail)

    def blame(self, component: Component, detail: str) -> str:
        """A job's reason that a component of it is the cause of."""
        name = self.settings.clusters[component.cluster].name
        return f"component {component.ref.component} in {name}: {detail}"

    def set_deadline(self, job: Job, time: float) -> None:
        """Until then (Unix seconds) the job must have come further."""
        job.deadline = time
        self.timers.set(time, job.id)
        self.outbox.changed(job)
