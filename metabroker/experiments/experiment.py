"""What an experiment is: a chart of figures of runs, or of other tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from metabroker.simulation.measure import JobOutcome
from metabroker.simulation.statistics.intervals import Interval, t_interval
from metabroker.simulation.system import Run

from .result_cache import CachedRun, ResultCache, Trial, trials
from .scale import Scale


class Value(NamedTuple):
    """One measured mean; `x` is where on the axis: a utilization, a policy's name, ..."""

    panel: str
    series: str
    kind: str
    """What it is the mean of: total, local, global, ..."""
    x: float | str
    interval: Interval | None
    """None: there was nothing to measure."""
    saturated: bool = False
    """The system could not keep up: the mean tells only how long the run was."""


@dataclass(frozen=True)
class Result:
    """What an experiment has found: the values of all panels, in the order of the paper.

    `form`: "bars" (one group per `x`) or "curves" (one line per series and kind over `x`).
    """

    name: str
    title: str
    source: str
    form: str
    values: tuple[Value, ...]
    x_label: str
    y_label: str
    notes: tuple[str, ...] = ()
    columns: int = 2
    """Panels beside each other."""
    steep: bool = True
    """Curves may rise without end: what is far above the others is cut off the plot."""

    @property
    def panels(self) -> dict[str, list[Value]]:
        """The values of each panel."""
        found: dict[str, list[Value]] = {}
        for value in self.values:
            found.setdefault(value.panel, []).append(value)
        return found


Figure = Callable[[JobOutcome], float | None]
"""A figure of one replication; None: there is none."""

METRICS: dict[str, Figure] = {
    "total": lambda outcome: outcome.response,
    "local": lambda outcome: outcome.response_first,
    "global": lambda outcome: outcome.response_others,
}
"""Mean response times: of all jobs, of those with one component, of those with several."""


def ratio(over: Figure, under: Figure) -> Callable[..., float | None]:
    """One figure divided by another one, of one outcome, or of the first and the last of two."""

    def divided(*outcomes: JobOutcome) -> float | None:
        a, b = over(outcomes[0]), under(outcomes[-1])
        return None if a is None or not b else a / b

    return divided


class Point(NamedTuple):
    """A value to be shown: a figure of the outcomes of a task. See `Value`."""

    panel: str
    series: str
    kind: str
    x: float | str
    task: CachedRun
    figure: Callable[[Any], float | None]


@dataclass(frozen=True)
class Experiment:
    """A figure or table of a paper. `source` is paper and section; `notes` say what readings and
    stand-ins are in it, and stand in everything that it writes.

    `points` makes what is shown at a scale, `replications` says how often each task is played.
    `remarks`: notes that depend on the scale, or on what was found. The others: see `Result`.
    """

    name: str
    title: str
    source: str
    form: str
    x_label: str
    y_label: str
    points: Callable[[Scale], Sequence[Point]]
    replications: Callable[[Scale], int] = lambda scale: scale.replications
    notes: tuple[str, ...] = ()
    remarks: Callable[[ResultCache, Scale], Sequence[str]] = lambda results, scale: ()
    columns: int = 2
    steep: bool = False

    def trials(self, scale: Scale) -> list[Trial]:
        """All trials that it needs."""
        tasks = [point.task for point in self.points(scale)]
        return trials(tasks, self.replications(scale))

    def result(self, results: ResultCache, scale: Scale) -> Result:
        """What their outcomes show; trials that were not played yet are played now."""
        results.play(self.trials(scale))
        count = self.replications(scale)
        return Result(
            self.name,
            self.title,
            self.source,
            self.form,
            tuple(_value(point, results, count) for point in self.points(scale)),
            self.x_label,
            self.y_label,
            (*self.notes, *self.remarks(results, scale)),
            self.columns,
            self.steep,
        )


def _value(point: Point, results: ResultCache, replications: int) -> Value:
    """The mean over the replications; None if one of them has no such figure."""
    task = point.task
    found = [point.figure(outcome) for outcome in results.outcomes(task, replications)]
    known = [value for value in found if value is not None]
    interval = t_interval(known) if len(known) == len(found) else None
    lost = isinstance(task, Run) and results.summary(task, replications).saturated
    return Value(point.panel, point.series, point.kind, point.x, interval, lost)


def size_note(replications: int, jobs: int, scale: Scale) -> str:
    """How much was played for a chart of long runs."""
    return (
        f"{replications} replications of {jobs} jobs, seed {scale.seed}; intervals are 95 %; "
        "warm-up cut by MSER-5"
    )
