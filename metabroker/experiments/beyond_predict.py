"""Beyond the papers: when will a waiting job start, told as it is submitted (`prediction`). The
experiment beyond-predict, and claims of ours, in data/beyond.csv.

Logs are replayed under several policies, and in clusters that have local users. Of each job that
has to wait an interval is told that holds nine times in ten. It is compared with what came, and
with what the time limits say: by all jobs before it, by the running ones alone, or by these and by
the work that waits, which is what `sbatch --test-only` answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise
from math import inf
from statistics import fmean, median

from metabroker.policy import make
from metabroker.prediction import Estimate
from metabroker.simulation.engine import simulate
from metabroker.simulation.job import SimJob
from metabroker.simulation.local_users import Line, SharedCluster
from metabroker.simulation.predicting import Told, replay
from metabroker.simulation.shared_engine import simulate_shared
from metabroker.simulation.stream import Finished
from metabroker.simulation.system import System
from metabroker.simulation.workloads.replay import Replay
from metabroker.traces.swf import Trace, read

from . import ctc
from .evidence import LEVEL, NO, NOTHING, YES, Check, Compared, Statement, Verdict
from .experiment import Experiment, Point
from .result_cache import ResultCache
from .scale import Scale

KTH, CTC, STAND_IN = "kth", "ctc", "syn"
_KTH_FILE = "KTH-SP2-1996-2.1-cln.jobs.swf.gz"
PROCESSORS = {KTH: 100, CTC: 338, STAND_IN: ctc.PROCESSORS}
SHARED = "local users"
ALONE = ("EASY", "FPFS")
LOAD_CHANGES = "load changes"
_STRETCHES = 8
SYSTEMS = (*ALONE, SHARED, LOAD_CHANGES)
_EVERY = 5
"""Of every fifth job it is worked out what the limits say: that takes longer than all else."""
_SLOWER = 2
"""So many times as slowly the broker's jobs come to clusters that have local users."""
MORE_LOAD = 1.25
LOW, HIGH = 0.85, 0.95
"""Between these the coverage of intervals of 90 % is as told."""
AFTER, JUDGED = 50, 200
"""When so many jobs that came after a change of load and waited have started, the coverage of the
next ones, of so many, is as told again."""
NOTES = (
    "KTH on 100 processors, CTC on 338, one cluster, alone or with local users: then two such "
    "clusters that other parts of the log fill, and the broker's stand in line. Load changes: "
    "EASY, and in every second stretch of jobs they come 1.25 times as fast",
    "limits of all: all jobs before it take as long as they may; limits of running: those that run "
    "alone do; sbatch --test-only: as Slurm says it, by those and the work that waits before it",
)


@dataclass(frozen=True)
class Faster:
    """A log in which jobs come `factor` times as fast in every second stretch of so many jobs."""

    log: Replay
    stretch: int
    factor: float

    def jobs(self, seed: int, replication: int, count: int) -> Iterator[SimJob]:
        """The jobs. Nothing is drawn."""
        before = now = 0.0
        for number, job in enumerate(self.log.jobs(seed, replication, count)):
            fast = number // self.stretch % 2
            now += (job.submit - before) / (self.factor if fast else 1.0)
            before = job.submit
            yield job._replace(submit=now)


@dataclass(frozen=True)
class Kept:
    """What was told of a run's jobs, and what came. Seconds; None: nothing was told."""

    waited: int
    told: int
    coverage: float | None = None
    width: float | None = None
    error: float | None = None
    by_limits: float | None = None
    by_running: float | None = None
    by_test_only: float | None = None
    after: float | None = None
    """The coverage after a change of load."""


@dataclass(frozen=True)
class Predicted:
    """The first `count` jobs of a log in a system. Nothing is drawn, except for the stand-in."""

    log: str
    path: str
    system: str
    count: int
    seed: int
    content: str = ""  # a digest of the log: another one at its path is another task

    def play(self, replication: int) -> Kept:
        """Replay it, and compare what is told with what comes."""
        trace = _stand_in(self.count, self.seed) if self.log == STAND_IN else _read(self.path)
        first = Replay(trace, last=self.count)
        users = [str(entry.user) for entry in first.entries()]
        size = PROCESSORS[self.log]
        if self.system == SHARED:
            jobs, local = _shared(trace, size, self.count // 2)
            return _kept(list(replay(jobs, local, (size, size), users, _EVERY)))
        stretch = self.count // _STRETCHES if self.system == LOAD_CHANGES else self.count
        workload = Faster(first, max(1, stretch), MORE_LOAD)
        jobs = _alone(workload, size, "FPFS" if self.system == "FPFS" else "EASY", self.count)
        changes = [job.job.submit for job in jobs if job.key and job.key % max(1, stretch) == 0]
        return _kept(list(replay(jobs, (), (size,), users, _EVERY)), sorted(changes))


def _alone(workload: Faster, size: int, policy: str, count: int) -> list[Finished]:
    jobs: list[Finished] = []
    scheduler = System((size,), policy).scheduler(0, 0)
    simulate(scheduler, workload.jobs(0, 0, count), (size,), jobs.extend)
    return jobs


def _shared(trace: Trace, size: int, count: int) -> tuple[list[Finished], list[Finished]]:
    """The broker's jobs in two clusters that other parts of the same log fill."""
    others = min(len(trace.jobs) - count, _SLOWER * count)
    parts = ((count + 1, count + others), (len(trace.jobs) - others + 1, len(trace.jobs)))
    clusters = [
        SharedCluster(size, "EASY", Replay(trace, first=first, last=last).jobs())
        for first, last in parts
    ]
    jobs: list[Finished] = []
    local: list[Finished] = []
    policy = make("FPFS", len(clusters))
    broker = (job._replace(submit=_SLOWER * job.submit) for job in Replay(trace, last=count).jobs())
    simulate_shared(policy, broker, clusters, jobs.extend, local.extend, Line(16, 2))
    return jobs, local


@cache
def _read(path: str) -> Trace:
    return read(path)


@cache
def _stand_in(count: int, seed: int) -> Trace:
    return ctc.stand_in(count, seed)


def _kept(told: Sequence[Told], changes: Sequence[float] = ()) -> Kept:
    known = [(job, job.estimate) for job in told if job.estimate is not None]
    if not known:
        return Kept(len(told), 0)
    kept = [each.earliest <= job.wait <= each.latest for job, each in known]
    after = [
        within
        for change, following in pairwise((*changes, inf))
        for within in _after(told, known, kept, change, following)
    ]
    return Kept(
        len(told),
        len(known),
        fmean(kept),
        median(each.latest - each.earliest for _, each in known),
        median(abs(each.likely - job.wait) for job, each in known),
        _error((job.by_limits, job.wait) for job, _ in known),
        _error((job.by_running, job.wait) for job, _ in known),
        _error((job.by_test_only, job.wait) for job, _ in known),
        fmean(after) if after else None,
    )


def _after(
    told: Sequence[Told],
    known: Sequence[tuple[Told, Estimate]],
    kept: Sequence[bool],
    change: float,
    following: float,
) -> list[bool]:
    """Which intervals were kept after a change of load, and before the next one."""
    starts = sorted(job.submit + job.wait for job in told if change < job.submit)
    learned = starts[AFTER - 1] if len(starts) >= AFTER else inf
    places = (n for n, (job, _) in enumerate(known) if learned < job.submit < following)
    return [kept[place] for place in islice(places, JUDGED)]


def _error(pairs: Iterable[tuple[float | None, float]]) -> float | None:
    found = [abs(told - wait) for told, wait in pairs if told is not None]
    return median(found) if found else None


# The figures


def _tasks(scale: Scale, systems: Sequence[str]) -> list[Predicted]:
    """One for each log that is here and each of these systems."""
    folder = ctc.log(scale).parent
    files = {CTC: ctc.log(scale), KTH: folder / _KTH_FILE}
    there = {name: str(path) for name, path in files.items() if path.is_file()}
    return [
        Predicted(name, path, system, scale.jobs // 4, scale.seed, ctc.digest(path))
        for name, path in (there or {STAND_IN: ""}).items()
        for system in systems
    ]


def _named(task: Predicted) -> str:
    return f"{task.log} {task.system}"


_FIGURES: tuple[tuple[str, str, Callable[[Kept], float | None]], ...] = (
    ("coverage of 90 % intervals", "", lambda kept: kept.coverage),
    ("median error (s)", "prediction", lambda kept: kept.error),
    ("median error (s)", "limits of all", lambda kept: kept.by_limits),
    ("median error (s)", "limits of running", lambda kept: kept.by_running),
    ("median error (s)", "sbatch --test-only", lambda kept: kept.by_test_only),
    ("median width (s)", "", lambda kept: kept.width),
    ("part of jobs that are told", "", lambda kept: kept.told / max(1, kept.waited)),
)


def _points(scale: Scale) -> list[Point]:
    return [
        Point(f"{task.log}: {panel}", task.system, kind or "prediction", task.system, task, figure)
        for task in _tasks(scale, SYSTEMS)
        for panel, kind, figure in _FIGURES
    ]


def _remarks(results: ResultCache, scale: Scale) -> list[str]:
    tasks = _tasks(scale, SYSTEMS)
    lines = [f"the first {tasks[0].count} jobs of each log, once: nothing is drawn"]
    if tasks[0].log == STAND_IN:
        lines.append(f"{ctc.log(scale)} is not there (--trace names one): a stand-in of ours")
    return lines


def experiments() -> list[Experiment]:
    """What is told of start times, and what comes."""
    return [
        Experiment(
            "beyond-predict",
            "Start times told at submission",
            "ours",
            "bars",
            "system",
            "",
            _points,
            replications=lambda scale: 1,
            notes=NOTES,
            remarks=_remarks,
            columns=len({panel for panel, _, _ in _FIGURES}),
        )
    ]


# Claims


@dataclass(frozen=True)
class Judged:
    """A figure of what was kept is as claimed; without chance. None: there is nothing to judge."""

    task: Predicted
    holds: Callable[[Kept], tuple[bool, str] | None]

    @property
    def tasks(self) -> tuple[Predicted, ...]:
        """What is to be played."""
        return (self.task,)

    def judge(self, results: ResultCache, replications: int, level: float = LEVEL) -> Verdict:
        """Yes, no, or nothing."""
        found = self.holds(results.outcomes(self.task, 1)[0])
        if found is None:
            return Verdict(NOTHING, "too few jobs had to wait")
        return Verdict(YES if found[0] else NO, found[1])


def _covered(figure: Callable[[Kept], float | None]) -> Callable[[Kept], tuple[bool, str] | None]:
    def holds(kept: Kept) -> tuple[bool, str] | None:
        part = figure(kept)
        return None if part is None else (LOW <= part <= HIGH, f"coverage {part:.3f}")

    return holds


def _better(
    other: Callable[[Kept], float | None], factor: float
) -> Callable[[Kept], tuple[bool, str] | None]:
    def holds(kept: Kept) -> tuple[bool, str] | None:
        than = other(kept)
        if kept.error is None or than is None:
            return None
        return kept.error <= factor * than, f"{kept.error:.0f} s, {factor:.2g} x {than:.0f} s"

    return holds


def _claim(
    holds: Callable[[Kept], tuple[bool, str] | None],
    systems: Sequence[str],
    reading: str,
    doubt: str,
) -> Compared:
    def statements(scale: Scale) -> list[Statement]:
        return [
            Statement(_named(task), (("", Judged(task, holds)),)) for task in _tasks(scale, systems)
        ]

    return Compared(statements, reading, doubt, replications=1)


_FEW = "too few jobs had to wait, or not all logs are here"


def checks() -> Mapping[str, Check]:
    """How each claim about start times is decided."""
    within = f"from {LOW:.0%} to {HIGH:.0%}"
    return {
        "BP-01": _claim(_covered(lambda kept: kept.coverage), SYSTEMS, within, _FEW),
        "BP-02": _claim(
            _covered(lambda kept: kept.after),
            (LOAD_CHANGES,),
            f"{within}, of {JUDGED} jobs after each of {_STRETCHES - 1} changes by {MORE_LOAD:g}",
            "jobs that come together share their fate, and none has started when they are told",
        ),
        "BP-03": _claim(
            _better(lambda kept: kept.by_limits, 1 / 3),
            (*ALONE, LOAD_CHANGES),
            "a third",
            "limits of these jobs are not so far from what they run",
        ),
        "BP-04": _claim(
            _better(lambda kept: kept.by_running, 1.0), SYSTEMS, "",
            "where the broker does not see the jobs of local users it knows little of their ends",
        ),
        "BP-05": _claim(
            _better(lambda kept: kept.by_test_only, 1 / 3),
            (*ALONE, LOAD_CHANGES),
            "a third",
            "limits of these jobs are not so far from what they run",
        ),
    }  # fmt: skip
