"""What happens in one world: clusters, users' actions, faults. Kept as JSON."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from metabroker.policy import SPLITTING

POLICIES = (
    "GS", "LS-OR", "LS-RD", "LS-RO", "LS-DO", "GP", "LP-LF", "LP-GF", "LP-RD", "EQ-LF", "EQ-GF",
    "EQ-RD", "LQ", "FCFS", "FPFS",
)  # fmt: skip

SYSTEMS = ("slurm", "openpbs", "openpbs", "openpbs-forgets")
# Faults that last for a while: (name, shortest, longest seconds).
WINDOWS = {
    "down": (5, 200),  # the controller refuses connections
    "frozen": (5, 200),  # it takes requests and answers when it goes on
    "lossy": (20, 200),  # requests and replies are lost, late, repeated, garbled, refused
    "files": (5, 90),  # the shared folder cannot be used
    "full": (20, 120),  # local users take processors
    "drained": (20, 120),  # nodes take no jobs
    "missized": (20, 200),  # reservations are made of another size than asked for
    "lax": (60, 400),  # nobody ends jobs that are over their time limit
}
# Where one of these lasts, the end of a job cannot be written, or not be seen.
SILENT = ("down", "frozen")  # nobody can see the cluster
HIDES_ENDS = ("down", "frozen", "lossy", "files")
# Faults of one moment.
MOMENTS = ("amnesia", "node", "requeue", "vanish", "crash", "jump", "kill")
HOST = "host"  # `how` of "down": the host of its commands cannot be reached
# Local users keep a cluster full: jobs of theirs always wait there, for a while.
LOCALS = "locals"
# One of them submits a job of the whole cluster, and cancels it in time, again and again.
COMES_AND_GOES = "comes and goes"
# They all go at once, so that whoever stands in line comes up.
LEAVE = "leave"
# A controller and a node that are killed at once may call a job COMPLETED whose script has not
# started, and never will. It lasts until there is such a job.
LIE = "lie"
# A black hole: a cluster that looks idle refuses every submission, in one of these ways, for a
# while. The users of such a world are several.
DENIES = "denies"
DENIALS = ("policy", "association", "unreachable")
# For a while the broker may not act for a user, or not reach that one's files (`how`: see
# `accounts.TROUBLES`); `then`: which user, "" for all.
ACCOUNT = "account"
# Until one has come: a command that makes something is carried out minutes later.
LATE = "late"
# Also of one moment: a native job gets another name.
RENAME = "rename"
# An administrator suspends a job of ours that runs, for a while.
SUSPEND = "suspend"
# Jobs of the broker's own account, which somebody submits by hand, take the ids that come next.
HEIR = "heir"
# Listings leave out the job of ours that came last, for a moment, or with `how` all: as long as a
# controller that has just been started knows nothing of its nodes; or just so.
BLIND = "blind"
UNSETTLED, EMPTY = "unsettled", "empty"
# `how` of a late command: what it has made is not removed with the first try. Or all that make
# something are carried out at once, and nobody hears that; or at once, and again within a second.
CLINGS, UNHEARD, TWICE = "clings", "lost reply", "twice"
# An administrator drains a cluster, for a while.
DRAIN = "drain"
# All of a cluster, or half of it, is reserved for maintenance; it begins after `how` seconds.
MAINTENANCE = "maintenance"
# Faults of the broker's own store, for a while.
TROUBLE = "store"  # with `how`: from the moment on at which a step of that kind has been done
FULL = "full"  # `then` of such a fault: nothing is written; else only the answer may be lost
STORE = {TROUBLE: (2, 60)}
# Where jobs have files: the disk at home is full.
HOME = "home"
# Where results are fetched: the host of the brokers and of the homes loses its power.
POWER = "power"
# What happens to brokers, where there are several: (shortest, longest seconds).
BROKERS = {
    "stop": (0.1, 120),  # SIGSTOP, for less than a lease or for much more
    "cut": (1, 60),  # the database cannot be reached, or its answers get lost
    "handover": (0, 30),  # SIGTERM, and a new start
}
# Stopped in two ways more: as it is about to change something in a cluster's files, until another
# broker does so there too; and when its lease was renewed, before it hears that.
MEETS, RENEWED = "meets", "renewed"
# A crash in the midst of several changes to a cluster's files.
MIDST = "midst"
# The store is "copied", and later the copy comes "back" in its place, or is "promoted": the same
# under a broker that runs. With `then` it is copied each time a step of that kind has been done,
# until it comes back.
ROLLBACK, PROMOTED = "rollback", "promoted"
# What else may go wrong then: what a cluster does not show is no proof of anything.
BESIDE_ROLLBACK = ("full", "drained", "jump", "lax", "missized", "files")
# The database's clock is set, by so many seconds: forward (NTP after a suspension) or back.
DATABASE_CLOCK = "database clock"
# When a crash happens: at once, when something was written and nothing of it done, or when the
# first step of a kind has been done and nobody has written that yet.
CRASHES = (
    "now", "written", "done", "Reserve", "Submit", "Arm", "Open", "Clean", "Clean", "Discard",
)  # fmt: skip
LED = "led"  # of whims: a broker has begun to lead
WHOLE = 100  # jobs of one turn: more than a world has
SPAN = 240.0  # seconds in which jobs come and faults happen


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """One cluster. `offset`: its clock against the broker's at first, in seconds; `drift`: by how
    much it goes too fast, in seconds per second."""

    name: str
    processors: int
    reserves: bool
    offset: float = 0.0
    drift: float = 0.0
    unit: int = 1  # processors are given only by so many at a time
    limited: bool = False  # jobs of its own users have time limits
    queue_every: float | None = None  # how often the brokers look at who waits there, in seconds
    acts: str = ""  # for users: under the "same" name, or under one of this cluster's ("named")
    system: str = "slurm"  # or "openpbs", or "openpbs-forgets" (no history of ended jobs)


@dataclass(frozen=True, slots=True)
class JobPlan:
    """One job: when it is submitted and what it asks for; how long each run takes and ends."""

    at: float
    form: str  # single | chosen | components | on | total
    sizes: tuple[int, ...]
    clusters: tuple[str, ...] = ()
    run_time: float = 20.0
    exits: tuple[int, ...] = (0,)  # of attempt 1, 2, ...; the last for all further ones
    limit: int = 600
    hold: bool = False
    sends: bool = False  # has files that are sent
    fetches: bool = False  # has results that are brought back
    traps: bool = False  # writes down its end when it is sent a signal
    actions: tuple[tuple[float, str], ...] = ()  # (seconds after `at`, cancel | hold | release)
    user: str = "u"
    lone: int = -1  # the only component that fails, if any does
    cpus: int = 1  # of each task; `sizes` count tasks
    after: tuple[tuple[str, int], ...] = ()  # what it waits for: how, and for which of the jobs
    either: bool = False  # one of these is enough
    same: bool = False  # it has a name that others have, too
    array: str = ""  # its tasks
    # What its user does so many seconds after an event of it: (event, action, seconds).
    whims: tuple[tuple[str, str, float], ...] = ()
    apart: float = 0.0  # seconds by which each component runs longer than the one before
    reads: tuple[str, ...] = ()  # files, as `--input-at` says where they lie
    joins: int = -1  # which of the jobs it joins

    @property
    def longest(self) -> float:
        """The seconds that the last of its components may run."""
        return self.run_time + 3 * self.apart

    def exit_of(self, attempt: int, components: Collection[int]) -> int:
        """How the job's scripts end at this attempt, from 1, of which these components ran."""
        fails = self.lone == -1 or self.lone in components
        return self.exits[min(attempt, len(self.exits)) - 1] if fails else 0


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: what, where (a cluster, or "" for the broker), from when, for how long.

    Of a crash `how` tells when exactly (see CRASHES), and `then` what is wrong with the cluster
    `where` from that very moment on: trouble seldom comes alone. See also `TROUBLE`.
    """

    at: float
    what: str
    where: str = ""
    lasts: float = 0.0
    how: str = ""
    then: str = ""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A world, whole. `mutation` names a deliberate mistake to be planted in the broker."""

    seed: int
    policy: str
    clusters: tuple[ClusterPlan, ...]
    jobs: tuple[JobPlan, ...]
    faults: tuple[Fault, ...] = ()
    overtaken: int | None = 20
    completion_retries: int = 0
    poll: float = 10.0  # seconds between two looks at a cluster
    look: float = 2.0  # seconds between two looks at the components' records
    mutation: str = ""
    brokers: int = 1  # that share one store
    slice: int = WHOLE  # so many jobs, and so many items, in one turn
    ahead: float = 0.0  # how far ahead co-allocated jobs are planned, in seconds
    kept: float | None = None  # seconds that an ended job is kept; None: for ever
    overhead: float = 0.0  # of jobs that the policy splits
    later: str = ""  # the policy from the first restart on, if it is another one then

    @property
    def close(self) -> bool:
        """Whether the placement goes by where files lie: not where the policy has its own."""
        return self.policy not in SPLITTING and any(job.reads for job in self.jobs)

    def to_json(self) -> str:
        """As a file's content."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Scenario:
        """From a file's content."""
        data: dict[str, Any] = json.loads(text)
        data["clusters"] = tuple(ClusterPlan(**c) for c in data["clusters"])
        data["jobs"] = tuple(
            JobPlan(**{k: _tuples(v) for k, v in job.items()}) for job in data["jobs"]
        )
        data["faults"] = tuple(Fault(**f) for f in data["faults"])
        return cls(**data)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value


def smaller(scenario: Scenario) -> list[Scenario]:
    """Scenarios with a little less in them, the boldest cuts first."""
    found: list[Scenario] = []
    if scenario.brokers > 2:
        found.append(replace(scenario, brokers=scenario.brokers - 1))
    for name in ("faults", "jobs"):
        things: tuple[Any, ...] = getattr(scenario, name)
        half = len(things) // 2
        cuts = [things[:half], things[half:]] if half else []
        cuts += [things[:i] + things[i + 1 :] for i in range(len(things))]
        for cut in cuts:
            if name == "faults":
                found.append(replace(scenario, faults=cut))
            elif cut:
                found.append(replace(scenario, jobs=cut))
    for index, job in enumerate(scenario.jobs):
        for changed in (
            replace(job, actions=()),
            replace(job, whims=()),
            replace(job, exits=(0,)),
            replace(job, hold=False),
            replace(job, traps=False),
            replace(job, sends=False),
            replace(job, fetches=False),
            replace(job, apart=0.0),
        ):
            if changed != job:
                jobs = (*scenario.jobs[:index], changed, *scenario.jobs[index + 1 :])
                found.append(replace(scenario, jobs=jobs))
    return found


@dataclass(slots=True)
class Tally:
    """What seeds reached."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, key: str, count: int = 1) -> None:
        """Count something."""
        self.counts[key] = self.counts.get(key, 0) + count

    def merge(self, other: Tally) -> None:
        """Count what another has counted."""
        for key, count in other.counts.items():
            self.add(key, count)
