"""What happens in one world: clusters, users' actions, faults. Made from a seed, kept as JSON."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

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
# Faults of one moment.
MOMENTS = ("amnesia", "node", "requeue", "vanish", "crash", "jump", "kill")
# Also of one moment: a controller and a node that are killed at once may call a job COMPLETED whose
# script has not started, and never will.
LIE = "lie"
# A black hole: a cluster that looks idle refuses every submission, in one of these ways, for a
# while. The users of such a world are several.
DENIES = "denies"
_DENIALS = ("policy", "association", "unreachable")
# Also of one moment: a native job gets another name.
RENAME = "rename"
# Faults of the broker's own store, for a while.
STORE = {"store": (2, 60)}
# Where jobs have files: the disk at home is full.
HOME = "home"
# What happens to brokers, where there are several: (shortest, longest seconds).
BROKERS = {
    "stop": (0.1, 120),  # SIGSTOP, for less than a lease or for much more
    "cut": (1, 60),  # the database cannot be reached, or its answers get lost
    "handover": (0, 30),  # SIGTERM, and a new start
}
# When a crash happens: at once, when something was written and nothing of it done, or when the
# first step of a kind has been done and nobody has written that yet.
CRASHES = (
    "now", "written", "done", "Reserve", "Submit", "Arm", "Open", "Clean", "Clean", "Discard",
)  # fmt: skip
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

    def exit_of(self, attempt: int) -> int:
        """How the script ends at this attempt, from 1."""
        return self.exits[min(attempt, len(self.exits)) - 1]


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: what, where (a cluster, or "" for the broker), from when, for how long.

    Of a crash `how` tells when exactly (see CRASHES), and `then` what is wrong with the cluster
    `where` from that very moment on: trouble seldom comes alone.
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


def generate(seed: int, mutation: str = "", brokers: int = 1) -> Scenario:
    """The world of a seed, with so many brokers."""
    rng = random.Random(seed)
    clusters = tuple(
        ClusterPlan(
            name,
            rng.choice((8, 16, 24, 32)),
            reserves=rng.random() < 0.7,
            offset=rng.choice((0.0, 0.0, 0.0, rng.uniform(-30, 30))),
            drift=rng.choice((0.0, 0.0, 0.0, rng.uniform(-0.02, 0.02))),
        )
        for name in ("c0", "c1", "c2", "c3")[: rng.choice((1, 2, 3, 3, 3, 4))]
    )
    nodes = random.Random(f"{seed} nodes")
    if nodes.random() < 0.2:
        clusters = tuple(replace(c, unit=nodes.choice((1, 2, 4, 8))) for c in clusters)
    systems = random.Random(f"{seed} systems")
    if systems.random() < 0.4:
        clusters = tuple(replace(c, system=systems.choice(SYSTEMS)) for c in clusters)
    jobs = tuple(_job(rng, clusters) for _ in range(rng.randint(2, 9)))
    files = random.Random(f"{seed} files")  # a stream of its own: the rest stays what it was
    jobs = tuple(_with_files(files, job) for job in jobs)
    calm = rng.random() < 0.05
    renames = _renames(random.Random(f"{seed} renames"), clusters, jobs)
    holes = _black_holes(random.Random(f"{seed} denies"), clusters)
    if holes and not calm:
        users = random.Random(f"{seed} users")
        jobs = tuple(replace(job, user=users.choice("uvw")) for job in jobs)
    shared = random.Random(f"{seed} brokers") if brokers > 1 else None
    more = [*holes, *renames]
    poll, look = rng.choice(((10.0, 2.0), (10.0, 2.0), (3.0, 10.0), (5.0, 5.0)))
    return Scenario(
        seed,
        rng.choice(POLICIES),
        clusters,
        jobs,
        ()
        if calm
        else _with_broker_faults(
            shared,
            _with_lies(
                random.Random(f"{seed} lies"),
                _with_files_faults(files, [*_faults(rng, clusters, jobs), *more], jobs),
                clusters,
                jobs,
            ),
        ),
        poll=poll,
        look=look,
        overtaken=rng.choice((None, 1, 2, 20)),
        completion_retries=rng.choice((0, 0, 1, 2)),
        mutation=mutation,
        brokers=brokers,
    )


def _job(rng: random.Random, clusters: Sequence[ClusterPlan]) -> JobPlan:
    largest = max(c.processors for c in clusters)
    form = rng.choice(("single", "chosen", "components", "components", "on", "on", "total"))
    names: tuple[str, ...] = ()
    if form == "single":
        sizes: tuple[int, ...] = (rng.randint(1, largest),)
    elif form == "chosen":
        where = rng.choice(clusters)
        sizes, names = (rng.randint(1, where.processors),), (where.name,)
    elif form == "total":
        sizes = (rng.randint(1, sum(c.processors for c in clusters)),)
    else:
        chosen = rng.sample(list(clusters), rng.randint(1, len(clusters)))
        smallest = min(c.processors for c in chosen)
        if form == "on":
            sizes = tuple(rng.randint(1, c.processors) for c in chosen)
            names = tuple(c.name for c in chosen)
        else:
            sizes = tuple(rng.randint(1, smallest) for _ in chosen)
    return JobPlan(
        at=round(rng.uniform(0, SPAN), 3),
        form=form,
        sizes=sizes,
        clusters=names,
        run_time=round(rng.choice((1.0, rng.uniform(0, 20), rng.uniform(0, 120))), 3),
        exits=tuple(rng.choice((0, 0, 0, 1, 7)) for _ in range(rng.randint(1, 3))),
        limit=rng.choice((60, 600, 600)),
        hold=rng.random() < 0.08,
        traps=rng.random() < 0.3,
        actions=tuple(_actions(rng)),
    )


def _with_files(rng: random.Random, job: JobPlan) -> JobPlan:
    return replace(job, sends=rng.random() < 0.2, fetches=rng.random() < 0.2)


def _with_files_faults(
    rng: random.Random, faults: Sequence[Fault], jobs: Sequence[JobPlan]
) -> tuple[Fault, ...]:
    """What else goes wrong where there are files: no space at home, a crash around a transfer."""
    having = [job for job in jobs if job.sends or job.fetches]
    if not having:
        return tuple(faults)
    found = list(faults)
    if rng.random() < 0.3:
        at = round(rng.choice(having).at + rng.uniform(0, 30), 3)
        lasts = round(rng.uniform(0, 90), 3)
        found.append(Fault(at, "crash", "", lasts, rng.choice(("Stage", "Fetch", "Clean"))))
    if rng.random() < 0.2:
        lasts = round(rng.choice((rng.uniform(1, 60), rng.uniform(1, 400))), 3)
        found.append(Fault(round(rng.uniform(0, SPAN), 3), "home", "", lasts))
    return tuple(sorted(found, key=lambda fault: fault.at))


def _with_lies(
    rng: random.Random,
    faults: Sequence[Fault],
    clusters: Sequence[ClusterPlan],
    jobs: Sequence[JobPlan],
) -> tuple[Fault, ...]:
    """What clusters say that is not so: soon after a job has come, when it has not started yet."""
    found = list(faults)
    while rng.random() < 0.3:
        at = round(rng.choice(jobs).at + rng.uniform(0, 6), 3)
        found.append(Fault(at, LIE, rng.choice(clusters).name))
    return tuple(sorted(found, key=lambda fault: fault.at))


def _black_holes(rng: random.Random, clusters: Sequence[ClusterPlan]) -> list[Fault]:
    """Clusters that refuse every submission for a while."""
    found: list[Fault] = []
    while rng.random() < 0.25:
        at, lasts = round(rng.uniform(0, SPAN), 3), round(rng.uniform(20, 400), 3)
        found.append(Fault(at, DENIES, rng.choice(clusters).name, lasts, rng.choice(_DENIALS)))
    return found


def _renames(
    rng: random.Random, clusters: Sequence[ClusterPlan], jobs: Sequence[JobPlan]
) -> list[Fault]:
    """Jobs that get another name, most often soon after they have come."""
    found: list[Fault] = []
    while rng.random() < 0.25:
        at = round(rng.choice(jobs).at + rng.choice((rng.uniform(0, 3), rng.uniform(0, 60))), 3)
        found.append(Fault(at, RENAME, rng.choice(clusters).name))
    return found


def _with_broker_faults(rng: random.Random | None, faults: Sequence[Fault]) -> tuple[Fault, ...]:
    """What else goes wrong where several brokers share a store."""
    if rng is None:
        return tuple(faults)
    found = list(faults)
    for _ in range(rng.randint(1, 6)):
        at = round(rng.uniform(0, SPAN), 3)
        what = rng.choice(("stop", "stop", "cut", "handover", "crash"))
        if what == "crash":
            lasts = round(rng.uniform(0, 60), 3)
            found.append(Fault(at, "crash", "", lasts, rng.choice(CRASHES)))
            continue
        shortest, longest = BROKERS[what]
        lasts = round(rng.choice((rng.uniform(shortest, 15), rng.uniform(shortest, longest))), 3)
        how = ""
        if what == "stop":
            how = rng.choice(("slip", "slip", "slip", *CRASHES))
        elif what == "cut":
            how = rng.choice(("before", "after"))
        found.append(Fault(at, what, "", lasts, how))
    return tuple(sorted(found, key=lambda fault: fault.at))


def _actions(rng: random.Random) -> list[tuple[float, str]]:
    actions = []
    while rng.random() < 0.25:
        delay = rng.choice((rng.uniform(0, 2), rng.uniform(0, 15), rng.uniform(0, 150)))
        actions.append((round(delay, 3), rng.choice(("cancel", "hold", "release", "release"))))
    return sorted(actions)


def _faults(
    rng: random.Random, clusters: Sequence[ClusterPlan], jobs: Sequence[JobPlan]
) -> list[Fault]:
    found = []
    close = rng.random() < 0.5  # to jobs that have just come
    for _ in range(rng.randint(1, 7)):
        at = rng.uniform(0, SPAN)
        if close:
            at = rng.choice(jobs).at + rng.choice((rng.uniform(0, 1), rng.uniform(0, 60)))
        at = round(at, 3)
        kind = rng.random()
        if kind < 0.5:
            what = rng.choice(tuple(WINDOWS))
            shortest, longest = WINDOWS[what]
            lasts = round(rng.uniform(shortest, longest), 3)
            found.append(Fault(at, what, rng.choice(clusters).name, lasts))
        elif kind < 0.57:
            found.append(Fault(at, "store", "", round(rng.uniform(*STORE["store"]), 3)))
        else:
            what = "crash" if rng.random() < 0.4 else rng.choice(MOMENTS)
            if what == "crash":
                # At times for longer than a component waits at the barrier.
                lasts = round(rng.choice((rng.uniform(0, 90), rng.uniform(0, 90), 300.0)), 3)
                then = rng.choice(("", "down", "frozen", "full", "drained", "files"))
                where = rng.choice(clusters).name if then else ""
                found.append(Fault(at, what, where, lasts, rng.choice(CRASHES), then))
            else:
                found.append(Fault(at, what, rng.choice(clusters).name))
    return sorted(found, key=lambda fault: fault.at)


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
            replace(job, exits=(0,)),
            replace(job, hold=False),
            replace(job, traps=False),
            replace(job, sends=False),
            replace(job, fetches=False),
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
