"""Sinaga, Mohamed and Epema, "A Dynamic Co-Allocation Service in Multicluster Systems" (2004):
the experiments of its section 4.4 (figures 2 to 4) and its claims DCS-01 to DCS-04.

The paper ran a parallel application on the DAS. Here the scheduler and the placement are the
paper's; the times that jobs hold their processors are drawn with the mean and the deviation that
the paper measured in each experiment. Other users' jobs are left out, so all loads are our own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

from scipy import special

from metabroker.policy import Request
from metabroker.simulation.engine import Finished, simulate
from metabroker.simulation.system import System
from metabroker.simulation.workloads.batch import Batch
from metabroker.simulation.workloads.streams import Purpose, stream

from .evidence import Below, Check, Close, Compared, Comparison, Quantity, Statement, separately
from .experiment import Experiment, Point
from .result_cache import ResultCache
from .scale import Scale

JOBS = 40
"""All submitted at the same moment (DCS 4.3)."""
STEP = 30.0
"""Seconds between the points of a graph of the load: each is the mean of so long a time."""
TWO, FOUR = (144, 64), (144, 64, 64, 64)
SMALL, LARGE = Request((4,) * 4), Request((8,) * 4)
ORDERED = Request((8,) * 4, clusters=(0, 0, 1, 1))
"""Two components go to either cluster (DCS 4.4)."""


@dataclass(frozen=True)
class PlayedSetup:
    """What one batch has shown: times in seconds, loads as parts of all processors."""

    makespan: float
    response: float
    deviation: float
    load: float
    """The mean until the last job starts: as long as there is something to start."""
    loads: tuple[float, ...]
    """The means of `STEP` seconds each, until the last job has ended."""


@dataclass(frozen=True)
class Setup:
    """One experiment of DCS 4.4: jobs of some kinds in turn, under FCFS or FPFS.

    `time` and `deviation`: those of the run time and the overhead together, as the paper's tables
    have them; the processors are held for both.
    """

    label: str
    clusters: tuple[int, ...]
    policy: str
    kinds: tuple[Request, ...]
    time: float
    deviation: float
    seed: int = 1

    def play(self, replication: int) -> PlayedSetup:
        """One batch. The i-th job of all setups has the same luck with its time."""
        luck = stream(self.seed, replication, Purpose.SERVICE).random(JOBS)
        shape = (self.time / self.deviation) ** 2
        times = (special.gammaincinv(shape, luck) * (self.time / shape)).tolist()
        kinds = [self.kinds[index % len(self.kinds)] for index in range(JOBS)]
        batch = Batch(tuple(zip(kinds, times, strict=True)))
        done: list[Finished] = []
        scheduler = System(self.clusters, self.policy).scheduler(self.seed, replication)
        simulate(scheduler, batch.jobs(), self.clusters, done.extend)
        return _played(done, sum(self.clusters))


def _played(done: Sequence[Finished], processors: int) -> PlayedSetup:
    spans = [(job.start, job.end, job.job.request.total) for job in done]
    makespan = max(end for _, end, _ in spans)
    last_start = max(start for start, _, _ in spans)

    def load(begin: float, end: float) -> float:
        area = sum(size * max(0.0, min(b, end) - max(a, begin)) for a, b, size in spans)
        return area / (processors * (end - begin))

    steps = range(int(makespan // STEP) + 1)
    responses = [end for _, end, _ in spans]
    return PlayedSetup(
        makespan,
        fmean(responses),
        stdev(responses),
        load(0.0, last_start),
        tuple(load(step * STEP, (step + 1) * STEP) for step in steps),
    )


# The five experiments; times and deviations from the tables under the paper's figures

UNORDERED_FOUR = Setup("unordered, FCFS", FOUR, "FCFS", (LARGE,), 79.4 + 32.9, 34.7)
UNORDERED_TWO = Setup("unordered, FCFS", TWO, "FCFS", (LARGE,), 102.1 + 25.4, 13.0)
UNORDERED_SMALL = Setup("unordered, FCFS", TWO, "FCFS", (SMALL,), 76.8 + 26.9, 17.3)
ORDERED_TWO = Setup("ordered, FCFS", TWO, "FCFS", (ORDERED,), 87.8 + 21.9, 10.6)
MIXED_TWO = Setup("ordered and unordered, FPFS", TWO, "FPFS", (ORDERED, LARGE), 92.4 + 25.3, 16.9)

_PANELS: Mapping[str, tuple[str, Setup, float]] = {
    "four": ("144+3x64, unordered 4x8, FCFS", UNORDERED_FOUR, 377.2),
    "two": ("144+64, unordered 4x8, FCFS", UNORDERED_TWO, 581.3),
    "small": ("144+64, unordered 4x4, FCFS", UNORDERED_SMALL, 267.2),
    "ordered": ("144+64, ordered 4x8, FCFS", ORDERED_TWO, 1135.2),
    "mixed": ("144+64, ordered and unordered 4x8, FPFS", MIXED_TWO, 634.7),
}
"""The graphs: title, experiment, and the paper's mean response time."""
_LENGTH = 50
"""Points of a graph: 1500 s are more than any of the experiments takes here."""
_NOTES = (
    "loads are of our own jobs alone: the paper's other users are left out, so everything ends "
    "earlier than there",
    "times are drawn from a gamma law with the mean and the deviation that the paper measured",
)


def _load_at(step: int) -> Callable[[PlayedSetup], float]:
    return lambda played: played.loads[step] if step < len(played.loads) else 0.0


def _points(names: Sequence[str]) -> Callable[[Scale], list[Point]]:
    def points(scale: Scale) -> list[Point]:
        found = []
        for title, setup, _ in (_PANELS[name] for name in names):
            task = replace(setup, seed=scale.seed)
            for step in range(_LENGTH):
                x = (step + 0.5) * STEP
                found.append(Point(title, "our jobs", "load", x, task, _load_at(step)))
        return found

    return points


def _table(names: Sequence[str]) -> Callable[[ResultCache, Scale], list[str]]:
    """The tables under the graphs: the response time, and how long it all took."""

    def remarks(results: ResultCache, scale: Scale) -> list[str]:
        lines = []
        for title, setup, paper in (_PANELS[name] for name in names):
            task = replace(setup, seed=scale.seed)
            found: Sequence[PlayedSetup] = results.outcomes(task, scale.replications)
            lines.append(
                f"{title}: response time {fmean(p.response for p in found):.0f} s, deviation "
                f"{fmean(p.deviation for p in found):.0f} s (paper: {paper:g} s); "
                f"makespan {fmean(p.makespan for p in found):.0f} s; "
                f"load while jobs wait {fmean(p.load for p in found):.2f}"
            )
        lines.append(f"{scale.replications} batches of {JOBS} jobs, seed {scale.seed}")
        return lines

    return remarks


def _figure(number: int, title: str, names: Sequence[str]) -> Experiment:
    return Experiment(
        f"dcs-fig{number}",
        title,
        f"DCS 4.4, Fig. {number}",
        "curves",
        "time (s)",
        "system load",
        _points(names),
        notes=_NOTES,
        remarks=_table(names),
    )


def experiments() -> list[Experiment]:
    """Figures 2 to 4."""
    return [
        _figure(2, "System load, four clusters, unordered jobs", ["four"]),
        _figure(3, "System load, two clusters, unordered jobs of two sizes", ["two", "small"]),
        _figure(4, "System load, two clusters, ordered and mixed jobs", ["ordered", "mixed"]),
    ]


# Claims

CLEARLY, MUCH = 1.1, 1.25


def _quantity(setup: Setup, what: str) -> Quantity:
    clusters = "+".join(map(str, setup.clusters))
    return Quantity(
        f"{what} of {setup.label} {setup.kinds[-1].decreasing[0]} on {clusters}",
        (setup,),
        lambda played: getattr(played, what),
    )


def _claim(
    make: Callable[[Callable[[Setup, str], Quantity]], Sequence[Comparison]],
    reading: str = "",
) -> Compared:
    def statements(scale: Scale) -> list[Statement]:
        def quantity(setup: Setup, what: str) -> Quantity:
            return _quantity(replace(setup, seed=scale.seed), what)

        return separately(f"{JOBS} jobs", make(quantity))

    return Compared(statements, reading, "the paper's loads contain other users' jobs, ours do not")


def _same(q: Callable[[Setup, str], Quantity]) -> list[Comparison]:
    pairs = [
        (replace(setup, label="unordered, FPFS", policy="FPFS"), setup)
        for setup in (UNORDERED_FOUR, UNORDERED_TWO, UNORDERED_SMALL)
    ]
    return [
        Close(q(scanned, what), q(first, what), 0.001)
        for scanned, first in pairs
        for what in ("response", "makespan")
    ]


def checks() -> Mapping[str, Check]:
    """How DCS-01 to DCS-04 are decided."""
    unordered, ordered, mixed = UNORDERED_TWO, ORDERED_TWO, MIXED_TWO
    return {
        "DCS-01": _claim(_same, "the same mean response time and makespan on the same jobs"),
        "DCS-02": _claim(
            lambda q: [
                Below(q(ordered, "load"), q(unordered, "load"), 1 / CLEARLY),
                Below(q(unordered, "makespan"), q(ordered, "makespan"), 1 / CLEARLY),
            ],
            "clearly: by at least a tenth, though the paper's ordered jobs took less time each",
        ),
        "DCS-03": _claim(
            lambda q: [
                Close(q(mixed, "load"), q(unordered, "load"), 0.10),
                Below(q(mixed, "makespan"), q(ordered, "makespan"), 1 / MUCH),
            ],
            "high again: within 10 % of unordered jobs only; much: by at least a quarter",
        ),
        "DCS-04": _claim(
            lambda q: [Below(q(UNORDERED_FOUR, "makespan"), q(unordered, "makespan"), 1 / MUCH)],
            "well under: the longer time is at least 1.25 times the other",
        ),
    }
