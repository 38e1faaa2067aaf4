"""Charts of any figure of any task: the other papers' curves and bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from metabroker.simulation.statistics.intervals import t_interval
from metabroker.simulation.system import Run

from .experiment import Experiment, Result, Value
from .result_cache import CachedRun, ResultCache, Trial, trials
from .scale import Scale


class Point(NamedTuple):
    """A value to be shown: a figure of the outcomes of a task. See `Value`."""

    panel: str
    series: str
    kind: str
    x: float | str
    task: CachedRun
    figure: Callable[[Any], float | None]


@dataclass(frozen=True)
class Chart(Experiment):
    """`points` makes what is shown at a scale, `replications` says how often each task is played.
    `remarks`: notes that depend on the scale, or on what was found."""

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

    def trials(self, scale: Scale) -> list[Trial]:
        tasks = [point.task for point in self.points(scale)]
        return trials(tasks, self.replications(scale))

    def result(self, results: ResultCache, scale: Scale) -> Result:
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
            steep=False,
        )


def _value(point: Point, results: ResultCache, replications: int) -> Value:
    """The mean over the replications; None if one of them has no such figure."""
    task = point.task
    found = [point.figure(outcome) for outcome in results.outcomes(task, replications)]
    known = [value for value in found if value is not None]
    interval = t_interval(known) if len(known) == len(found) else None
    lost = isinstance(task, Run) and results.summary(task, replications).saturated
    return Value(point.panel, point.series, point.kind, point.x, interval, lost)
