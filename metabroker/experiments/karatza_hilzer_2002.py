"""Karatza and Hilzer, "Scheduling a Job Mix in a Partitionable Parallel System" (2002): its figures
2 to 8, and its claims KH-01 to KH-30.

The offered load is 0.889 for every Nmax, but the paper tells utilizations of 0.53 to 0.88: they can
only be of short runs that begin empty. How the paper ended them is not told, so every figure is
made three times: of a number of jobs until all have left (this decides the claims: it agrees with
more of them, as under policies without blocking the large gangs that starve are counted too), of
as many departures while jobs still arrive, and of a long run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from metabroker.simulation.measure import JobOutcome
from metabroker.simulation.statistics.intervals import t_interval
from metabroker.simulation.system import Run, System
from metabroker.simulation.workloads.job_mix import JobMixStream

from .evidence import (
    LEVEL,
    NO,
    OPEN,
    TESTED,
    YES,
    Below,
    Check,
    Close,
    Compared,
    Comparison,
    Decision,
    Quantity,
    Refuted,
    Statement,
    Verdict,
    separately,
)
from .experiment import Experiment, Figure, Point, ratio
from .result_cache import CachedRun, ResultCache, Trial, trials
from .scale import Scale

PROCESSORS = 128
NMAX = (8, 4, 2)
POLICIES = ("AFCFS", "AFCFS-BS", "LG-SS", "LG-SS-BS")
AFCFS, LG_SS = POLICIES[:2], POLICIES[2:]
DEPARTURES = 2500
"""Of a short run: between 2000 and 3000 agree best with the paper's utilizations."""
ARRIVALS = 2
"""For a run cut at its last departure so many times as many jobs are submitted: gangs that starve
are not among those that leave."""


METRICS: dict[str, Figure] = {
    "utilization": lambda outcome: outcome.gross,
    "W": lambda outcome: outcome.wait,
    "RT_s": lambda outcome: outcome.response_first,
    "RT_g": lambda outcome: outcome.response_others,
    "MRT_s": lambda outcome: outcome.max_first,
    "MRT_g": lambda outcome: outcome.max_others,
}
"""KH 2.3, Table 1: the s are sequential jobs, the g are gangs."""
METRICS["RT_g/RT_s"] = ratio(METRICS["RT_g"], METRICS["RT_s"])
METRICS["MRT_g/MRT_s"] = ratio(METRICS["MRT_g"], METRICS["MRT_s"])


@dataclass(frozen=True)
class ShortRun:
    """A run of a system that begins empty. It is not asked whether the system keeps
    up: such a run is no estimate of a mean, and does not try to be one."""

    run: Run

    def play(self, replication: int) -> JobOutcome:
        """One replication."""
        return self.run.play(replication)


def long_run(policy: str, nmax: int, scale: Scale) -> Run:
    """A run whose beginning is cut."""
    system = System((PROCESSORS,), policy)
    return Run(system, JobMixStream(nmax), scale.jobs, scale.seed, gangs=True)


def short_run(policy: str, nmax: int, scale: Scale) -> ShortRun:
    """As many jobs until the last has left, without any warm-up. So the gangs that starve while
    jobs arrive are counted too."""
    jobs = min(DEPARTURES, scale.jobs)
    return ShortRun(replace(long_run(policy, nmax, scale), jobs=jobs, warmup="none"))


def cut_run(policy: str, nmax: int, scale: Scale) -> ShortRun:
    """Another reading of a short run: the first departures, while jobs still arrive."""
    most = min(DEPARTURES, scale.jobs)
    run = replace(long_run(policy, nmax, scale), jobs=ARRIVALS * most, warmup="none", most=most)
    return ShortRun(run)


READINGS: dict[str, Callable[[str, int, Scale], ShortRun | Run]] = {
    "short run": short_run,
    "short run cut at its last departure": cut_run,
    "long run": long_run,
}
BESIDE = ("short run cut at its last departure", "long run")
"""What does not decide a claim, but stands beside it."""


# Figures


def _points(metrics: Sequence[str], policies: Sequence[str]) -> Callable[[Scale], list[Point]]:
    def points(scale: Scale) -> list[Point]:
        return [
            Point(
                f"{metric}, {panel}" if metric == "utilization" else panel,
                policy,
                metric,
                float(nmax),
                make(policy, nmax, scale),
                METRICS[metric],
            )
            for panel, make in READINGS.items()
            for policy in policies
            for metric in metrics
            for nmax in NMAX
        ]

    return points


def _remarks(results: ResultCache, scale: Scale) -> list[str]:
    return [
        f"{scale.replications} replications, seed {scale.seed}: short runs of "
        f"{min(DEPARTURES, scale.jobs)} jobs from the empty system until all have left, or cut at "
        "as many departures while jobs still arrive, long runs of "
        f"{scale.jobs} jobs with the warm-up cut by MSER-5",
        "Nmax = 8, 4, 2: 50, 37.5 and 25 % of the jobs are sequential (the paper's text swaps 25 "
        "and 50)",
        "SAT: in the long run the queue grows without end",
    ]


def _figure(
    number: int, title: str, metrics: Sequence[str], policies: Sequence[str] = POLICIES
) -> Experiment:
    return Experiment(
        f"kh-fig{number}",
        title,
        f"KH 4, Fig. {number}",
        "curves",
        "Nmax",
        ", ".join(metrics),
        _points(metrics, policies),
        remarks=_remarks,
        columns=3,
    )


def experiments() -> list[Experiment]:
    """Figures 2 to 8."""
    times, maxima = ("RT_s", "RT_g"), ("MRT_s", "MRT_g")
    return [
        _figure(2, "Mean waiting time, and utilization", ("W", "utilization")),
        _figure(3, "Mean response times", times, AFCFS),
        _figure(4, "Maximum response times", maxima, AFCFS),
        _figure(5, "Mean response times", times, LG_SS),
        _figure(6, "Maximum response times", maxima, LG_SS),
        _figure(7, "Gangs against sequential jobs: mean response times", ("RT_g/RT_s",)),
        _figure(8, "Gangs against sequential jobs: maximum response times", ("MRT_g/MRT_s",)),
    ]


# Claims


@dataclass(frozen=True)
class Runs:
    """The figures of the policies in short runs, or in long ones."""

    make: Callable[[str, int, Scale], ShortRun | Run]
    scale: Scale

    def __call__(self, metric: str, policy: str, nmax: int = 8) -> Quantity:
        """A figure of one policy."""
        task = self.make(policy, nmax, self.scale)
        return Quantity(f"{metric}({policy}) at Nmax={nmax}", (task,), METRICS[metric])

    def apart(self, policy: str, nmax: int = 8) -> Quantity:
        """By how much the maximum response times of the two classes differ."""

        def value(outcome: JobOutcome) -> float:
            return abs(outcome.max_others - outcome.max_first)

        task = self.make(policy, nmax, self.scale)
        return Quantity(f"|MRT_g-MRT_s|({policy}) at Nmax={nmax}", (task,), value)

    def utilization(self, which: Callable[[list[float]], float], label: str) -> Quantity:
        """The lowest or highest utilization of all policies at Nmax=8."""

        def value(*outcomes: JobOutcome) -> float:
            return which([outcome.gross for outcome in outcomes])

        tasks = tuple(self.make(policy, 8, self.scale) for policy in POLICIES)
        return Quantity(f"{label} utilization", tasks, value)


@dataclass(frozen=True)
class Near:
    """A quantity is `value` give or take `tolerance`."""

    quantity: Quantity
    value: float
    tolerance: float

    @property
    def tasks(self) -> tuple[CachedRun, ...]:
        return self.quantity.tasks

    def judge(self, results: ResultCache, replications: int, level: float = LEVEL) -> Verdict:
        """Yes if its interval lies within, no if it lies outside."""
        each = [results.outcomes(task, replications) for task in self.tasks]
        values = [self.quantity.value(*outcomes) for outcomes in zip(*each, strict=True)]
        found = t_interval([value for value in values if value is not None])
        low, high = self.value - self.tolerance, self.value + self.tolerance
        within = low <= found.low and found.high <= high
        outside = found.high < low or found.low > high
        text = f"{self.quantity.label} is {self.value:g} +- {self.tolerance:g}: {found.mean:.4g} "
        text += f"[{found.low:.4g}, {found.high:.4g}], n={found.values}"
        return Verdict(YES if within else NO if outside else OPEN, text)


Make = Callable[[Runs], Sequence[Comparison]]


@dataclass(frozen=True)
class InShortRuns:
    """A claim that short runs decide, as the paper's; what the other readings say of it stands
    beside it."""

    make: Make
    reading: str = ""
    doubt: str = ""

    def trials(self, scale: Scale) -> list[Trial]:
        comparisons = [c for name in BESIDE for c in self.make(Runs(READINGS[name], scale))]
        tasks = [task for comparison in comparisons for task in comparison.tasks]
        return [*self._short().trials(scale), *trials(tasks, scale.replications)]

    def decide(self, results: ResultCache, scale: Scale) -> Decision:
        results.play(self.trials(scale))
        result, evidence = self._short().decide(results, scale)
        beside = []
        for name in BESIDE:
            for comparison in self.make(Runs(READINGS[name], scale)):
                found = comparison.judge(results, scale.replications)
                beside.append(f"beside it, {name}: {found.sign}: {found.text}")
        return Decision(result, [*beside, *evidence])

    def _short(self) -> Compared:
        def statements(scale: Scale) -> list[Statement]:
            return separately("short runs", self.make(Runs(short_run, scale)))

        return Compared(statements, self.reading, self.doubt or _SHORT)


_SHORT = (
    "the paper's runs are short and begin empty, with backlogs that still grow: how long they were "
    "is not told, and the maxima and the means of starving gangs depend on it"
)
_LENGTH = (
    f"{TESTED}: the length of the short runs, which is not told, decides. It is so of 1,000 jobs, "
    "the other way round of 10,000 and of 20,000, and open of 2,500 and of 5,000"
)
_STARVING = (
    "under policies without blocking large gangs starve until the last arrival; here all jobs "
    "are counted, also those. Of a run cut while jobs still arrive (beside it) they are not, and "
    "the means of the gangs are low; what the paper counted is not told"
)


def _shares_of_sequential_jobs() -> Refuted:
    """KH-30: arithmetic alone decides it."""
    said = []
    for nmax, told in zip(NMAX, (25.0, 37.5, 50.0), strict=True):
        sizes = JobMixStream(nmax, PROCESSORS).sizes
        share = 100 * sum(size <= nmax for size in sizes) / len(sizes)
        said.append((share == told, f"Nmax={nmax}: {share:g} % sequential, the text says {told:g}"))
    return Refuted(said, "the text swaps 25 % and 50 %; its section 4 has it right")


def _below(first: tuple[str, str], second: tuple[str, str], nmax: int = 8) -> InShortRuns:
    """One metric of a policy is below another, of the same policy or another."""
    starving = not (first[1].endswith("-BS") and second[1].endswith("-BS"))
    return InShortRuns(
        lambda q: [Below(q(*first, nmax), q(*second, nmax))],
        doubt=_STARVING if starving else _SHORT,
    )


def _policies(metric: str, first: str, second: str, nmax: int = 8) -> InShortRuns:
    return _below((metric, first), (metric, second), nmax)


def _classes(policy: str, first: str, second: str, nmax: int = 8) -> InShortRuns:
    return _below((first, policy), (second, policy), nmax)


def checks() -> Mapping[str, Check]:
    """How KH-01 to KH-30 are decided."""
    afcfs, afcfs_bs, lg_ss, lg_ss_bs = POLICIES
    mean, maximum = "RT_g/RT_s", "MRT_g/MRT_s"
    return {
        "KH-01": InShortRuns(
            lambda q: [
                Near(q.utilization(min, "lowest"), 0.53, 0.02),
                Near(q.utilization(max, "highest"), 0.81, 0.02),
            ]
        ),
        "KH-02": _policies("utilization", afcfs, afcfs_bs),
        "KH-03": _policies("utilization", afcfs_bs, afcfs, 2),
        "KH-04": _policies("W", afcfs_bs, afcfs),
        "KH-05": _policies("W", lg_ss_bs, lg_ss),
        "KH-06": _policies("W", afcfs_bs, lg_ss_bs),
        "KH-07": _policies("RT_s", afcfs, afcfs_bs),
        "KH-08": _classes(afcfs, "RT_s", "RT_g"),
        "KH-09": InShortRuns(
            lambda q: [Below(q("RT_s", lg_ss), q("RT_g", lg_ss), 1.1)],
            "a tie is allowed: at most 1.1 times",
            _STARVING,
        ),
        "KH-10": _classes(afcfs_bs, "RT_g", "RT_s"),
        "KH-11": _policies(mean, lg_ss, afcfs),
        "KH-12": _policies(mean, lg_ss_bs, afcfs_bs),
        "KH-13": _classes(afcfs, "MRT_s", "MRT_g"),
        "KH-14": _classes(afcfs_bs, "MRT_s", "MRT_g"),
        "KH-15": _policies(maximum, afcfs_bs, afcfs),
        "KH-16": replace(_classes(lg_ss, "MRT_s", "MRT_g", 4), doubt=_LENGTH),
        "KH-17": _classes(lg_ss_bs, "MRT_g", "MRT_s"),
        "KH-18": _policies("MRT_s", afcfs_bs, lg_ss_bs),
        "KH-19": _policies("MRT_g", afcfs_bs, lg_ss_bs, 4),
        "KH-20": _policies("MRT_g", lg_ss_bs, afcfs_bs),
        "KH-21": InShortRuns(lambda q: [Below(q.apart(afcfs_bs), q.apart(lg_ss_bs))]),
        "KH-22": _policies("RT_g", lg_ss_bs, afcfs_bs),
        "KH-23": InShortRuns(
            lambda q: [Close(q("RT_g", lg_ss_bs, 4), q("RT_g", afcfs_bs, 4), 0.10)]
        ),
        "KH-24": InShortRuns(
            lambda q: [Below(q("RT_s", afcfs_bs), q("RT_s", lg_ss_bs), 1 / 1.3)],
            "much larger: at least 1.3 times",
        ),
        "KH-25": _policies("RT_s", afcfs_bs, lg_ss_bs, 2),
        "KH-30": _shares_of_sequential_jobs(),
    }
