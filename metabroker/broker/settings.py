"""The numbers that the saga goes by; all times in seconds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """What the core must know of one cluster. `unit`: it gives processors only by so many at a
    time, those of a whole node. `acting`: jobs run there under the accounts of their users. `part`:
    of its system's partitions or queues (None: the default one); `identity`: the system that it was
    when it was last used (see `identities`; "": not known); `configured`: it can be reached;
    `whole`: each job is given nodes of its own there, whatever their size; `twin_of`: the system
    whose place it takes, and as which it reserves ("": none)."""

    name: str
    reserves: bool = True  # components of co-allocated jobs are held by reservations
    processors: int = 0  # as last known; 0: not known yet
    system: str = ""
    unit: int = 1
    acting: bool = False
    part: str | None = None
    identity: str = ""
    configured: bool = True
    whole: bool = False
    twin_of: str = ""

    def held(self, processors: int, cpus_per_task: int = 1) -> int:
        """How many processors a component holds that asks for so many, in tasks of so many."""
        per_node = max(1, self.unit // cpus_per_task) * cpus_per_task
        return processors if self.unit == 1 else -(-processors // per_node) * self.unit


@dataclass(frozen=True, slots=True)
class Settings:
    """Deadlines, retries and back-offs. `term`: the fencing number of what is begun now; `key`: the
    store's own, by which tokens are proven (see `tokens`; "": they are not). `close_to_files`: the
    placement goes by where files lie; `bandwidth`, `staging`: megabytes (10^6 bytes) a second
    between clusters, where that was not measured, and from the daemon's host into a cluster."""

    instance: str
    clusters: tuple[ClusterSettings, ...]
    term: int = 0
    key: str = ""
    submission_retries: int = 3  # failed submissions after which a job is given up (DCS 3.2)
    completion_retries: int = 0  # failed runs after which it is still tried again (DCS 3.5)
    stage_timeout: float = 3600.0  # for a job's files to be sent, and for its results to be back
    reserve_timeout: float = 30.0
    submit_timeout: float = 60.0
    barrier_timeout: float = 120.0
    overtime_grace: float = 30.0  # over its time limit, before the broker ends a job itself
    missing_grace: float = 5.0  # not shown by its cluster, before a job counts as lost
    visible_after: float = 2.0  # a poll begun sooner after a submission proves nothing
    completing_grace: float = 5.0  # a job whose script has ended may be shown for so long
    stale_after: float = 30.0  # older knowledge of a cluster is none
    poll_interval: float = 10.0  # between two polls of a cluster
    move_after: float = 60.0  # a cluster gone for so long loses what waits for it by chance
    retry_first: float = 0.2
    retry_most: float = 30.0
    refusal_first: float = 2.0
    refusal_most: float = 300.0
    limit_most: float = 60.0
    line_depth: int = 32  # jobs of a queue that stand in line in clusters' own queues (0: none do)
    line_siblings: int = 2  # clusters in which one job stands in line at once
    line_patience: int = 60  # a sibling waits so long at its gate, should the broker not come back
    line_calm: float = 60.0  # nobody else has waited in a cluster for so long: it is ours again
    line_pending: float = 30.0  # a job of ours that is pending for so long: others want the cluster
    plan_ahead: float = 0.0  # how far ahead a co-allocated job may be planned (0: none is)
    plan_share: float = 0.5  # of a cluster's processors that plans may have at a time
    plan_jobs: int = 20  # jobs of a queue that are planned at once
    plan_patience: int = 60  # after its time the components of a plan wait so long for each other
    plan_grace: int = 15  # so long after its limit the reservations of a planned job end
    plan_lead: float = 20.0  # so long before its time the components of a plan are submitted
    plan_again: float = 15.0  # between two tries to plan a job
    plan_early: float = 4.0  # between two tries to start it earlier
    plan_soon: float = 0.5  # then it is moved to so long from now at least (see `Planning`)
    plan_moves: int = 6  # refusals after which a job is not planned for a while
    plan_pause: float = 300.0  # that while
    stuck_after: float = 10.0  # pending for a reason that will not pass soon
    array_ahead: int = 100  # tasks of an array that are jobs, and wait
    splits: bool = False  # the policy splits jobs, those whose users let it
    overhead: float = 0.0  # a job that the policy splits may take (1 + overhead) times its limit
    close_to_files: bool = False
    bandwidth: float = 100.0
    staging: Mapping[str, float] = field(default_factory=dict)
    slice: int = 100  # jobs to which one turn does the same: more of it waits for the next turn

    def retry_delay(self, tries: int) -> float:
        """Before a step is tried again: doubling, bounded."""
        return _doubling(self.retry_first, self.retry_most, tries)

    def refusal_delay(self, refusals: int) -> float:
        """How long a refused number of processors is not asked of the same cluster again."""
        return _doubling(self.refusal_first, self.refusal_most, refusals)

    def limit_delay(self, refusals: int) -> float:
        """How long a cluster is not asked again for a job of a user who is at a limit there."""
        return _doubling(self.refusal_first, self.limit_most, refusals)

    def extra(self, time_limit: int) -> int:
        """The seconds beyond its time limit that a job may take which the policy has split."""
        return math.ceil(time_limit * self.overhead)

    @property
    def barrier_slack(self) -> int:
        """Seconds a co-allocated component may take beyond its job's time limit: the way to the
        barrier and the wait there. The broker itself ends a job that is over its limit."""
        return int(self.submit_timeout + self.barrier_timeout + self.overtime_grace)

    @property
    def barrier_patience(self) -> int:
        """Seconds a component waits at the barrier before it gives up by itself: longer than the
        broker waits, so that this happens only where the broker does not come back."""
        return int(self.submit_timeout + self.barrier_timeout) + 10

    @property
    def plan_overtime(self) -> int:
        """The same of one that was planned: it is submitted ahead of its time, and waits less."""
        return int(self.plan_patience + self.overtime_grace)

    @property
    def plan_slack(self) -> int:
        """Seconds for which a plan is booked beyond its job's time limit. Once its script starts
        it keeps `plan_grace` of them."""
        return self.plan_overtime + 10

    @property
    def reservation_slack(self) -> int:
        """Seconds a reservation outlives its job's time limit. The cluster ends what still runs
        in a reservation when that ends, so it is longer than all the component may take."""
        return self.barrier_slack + 60


def _doubling(first: float, most: float, times: int) -> float:
    return float(min(most, first * 2 ** min(max(times - 1, 0), 30)))
