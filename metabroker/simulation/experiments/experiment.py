"""What an experiment is, and the two kinds that most figures are: bar charts and curves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from metabroker.simulation.measure import JobOutcome
from metabroker.simulation.statistics.intervals import Interval
from metabroker.simulation.system import Run

from .result_cache import ResultCache, Trial, trials
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


class Experiment(ABC):
    """A figure or table of a paper. `source` is paper and section; `notes` say what readings and
    stand-ins are in it, and stand in everything that it writes."""

    name: str
    title: str
    source: str
    notes: tuple[str, ...]

    @abstractmethod
    def trials(self, scale: Scale) -> list[Trial]:
        """All trials that it needs."""

    @abstractmethod
    def result(self, results: ResultCache, scale: Scale) -> Result:
        """What their outcomes show; trials that were not played yet are played now."""


METRICS: dict[str, Callable[[JobOutcome], float | None]] = {
    "total": lambda outcome: outcome.response,
    "local": lambda outcome: outcome.response_first,
    "global": lambda outcome: outcome.response_others,
}
"""Mean response times: of all jobs, of those with one component, of those with several."""


class BarPlan(NamedTuple):
    """A bar chart to be made: a group of bars for each system, one bar for each kind of jobs."""

    title: str
    bars: Sequence[tuple[str, Run, Sequence[str]]]
    """The label of the group, its run, and the kinds of `METRICS`."""


@dataclass(frozen=True)
class BarChart(Experiment):
    """Mean response times at one utilization per panel (BE03 and most of BE07 3)."""

    name: str
    title: str
    source: str
    plan: Callable[[Scale], list[BarPlan]]
    notes: tuple[str, ...] = ()
    columns: int = 2

    def trials(self, scale: Scale) -> list[Trial]:
        runs = [run for panel in self.plan(scale) for _, run, _ in panel.bars]
        return trials(runs, scale.replications)

    def result(self, results: ResultCache, scale: Scale) -> Result:
        results.play(self.trials(scale))
        values = []
        for panel in self.plan(scale):
            for label, run, kinds in panel.bars:
                summary = results.summary(run, scale.replications)
                for kind in kinds:
                    interval = summary.interval(METRICS[kind])
                    values.append(
                        Value(panel.title, label, kind, label, interval, summary.saturated)
                    )
        return Result(
            self.name,
            self.title,
            self.source,
            "bars",
            tuple(values),
            "policy",
            "mean response time (mean service times)",
            (*self.notes, _size(scale.replications, scale.jobs, scale)),
            self.columns,
        )


class CurvePlan(NamedTuple):
    """A chart of curves to be made: for each line its label and its runs by utilization."""

    title: str
    lines: Sequence[tuple[str, Sequence[tuple[float, Run]]]]


@dataclass(frozen=True)
class CurveChart(Experiment):
    """Mean response time of all jobs against gross utilization (BE07 4 and 5)."""

    name: str
    title: str
    source: str
    plan: Callable[[Scale], list[CurvePlan]]
    notes: tuple[str, ...] = ()
    columns: int = 3

    def trials(self, scale: Scale) -> list[Trial]:
        lines = [points for panel in self.plan(scale) for _, points in panel.lines]
        runs = [run for points in lines for _, run in points]
        return trials(runs, scale.curve_replications)

    def result(self, results: ResultCache, scale: Scale) -> Result:
        results.play(self.trials(scale))
        values = []
        for panel in self.plan(scale):
            for label, points in panel.lines:
                for x, run in points:
                    summary = results.summary(run, scale.curve_replications)
                    values.append(
                        Value(panel.title, label, "total", x, summary.response, summary.saturated)
                    )
        return Result(
            self.name,
            self.title,
            self.source,
            "curves",
            tuple(values),
            "gross utilization",
            "mean response time (s)",
            (*self.notes, _size(scale.curve_replications, scale.curve_jobs, scale)),
            self.columns,
        )


def _size(replications: int, jobs: int, scale: Scale) -> str:
    return (
        f"{replications} replications of {jobs} jobs, seed {scale.seed}; intervals are 95 %; "
        "warm-up cut by MSER-5"
    )
