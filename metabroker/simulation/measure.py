"""What a run is measured by: sums over its finished jobs, kept in constant memory.

The means are over the jobs that remain after the warm-up, in the order in which they finished.
Weighted means are those of ER 2.2: AWRT and AWWT weigh every job with the processors that it asked
for. (ER's sentence that the sum is "divided by the number of all jobs" contradicts its formulas.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metabroker.policy import Sequential, transfer_time

from .engine import Finished
from .local_users import KINDS
from .statistics.saturation import growth
from .statistics.series import Floats, Series
from .statistics.warmup import cut

Flags = NDArray[np.bool_]

SHORT = 10.0
"""Run times below this many seconds count as this long in the bounded slowdown."""

_COLUMNS = (
    "response", "wait", "others", "response_others", "area", "net",
    "weight", "weighted_response", "weighted_wait", "slowdown", "split", "split_area", "transfer",
)  # fmt: skip
_MAXIMA = ("response_first", "response_others", "end")


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """One replication, after its warm-up. Times in the workload's unit, areas in processors x time.

    The *first* kind of jobs are those of one component (local; in a job mix: sequential), the
    *others* those of several (global; gangs). A mean over no jobs is None.
    """

    jobs: int
    counted: int
    warmup: int
    response: float
    response_first: float | None
    response_others: float | None
    max_first: float
    max_others: float
    wait: float
    gross: float
    net: float
    awrt: float
    awwt: float
    slowdown: float
    split_jobs: int
    split_share: float
    makespan: float
    growth: float
    kernel: bool = field(default=False, compare=False)
    """Has the kernel played it, and not the readable engine? The figures are the same."""
    kinds: Mapping[str, JobOutcome] = field(default_factory=dict)
    """Where clusters have local users: each of `local_users.KINDS` of which jobs have ended."""
    transfer: float = 0.0
    """How long files took to come to a job, while it held its processors; part of its wait."""
    idle_for_plans: float | None = None
    """Processor-seconds that stood idle for plans, for each of the planned jobs' own."""


class Measurements:
    """A sink of the engine. `processors` is the size of the system.

    `extension` is the factor by which jobs of several components were extended, `overhead` what was
    added to jobs that the policy split: their net area is without. `gangs`: the jobs are a job mix
    (KH), whose other kind are the gangs. Only the first `most` jobs that
    finish are measured (None: all). In the bounded slowdown run times below `short` count so long.
    """

    def __init__(
        self,
        processors: int,
        *,
        extension: float = 1.0,
        overhead: float = 0.0,
        gangs: bool = False,
        most: int | None = None,
        short: float = SHORT,
    ) -> None:
        self._processors = processors
        self._extension = extension
        self._overhead = overhead
        self._gangs = gangs
        self._most = most
        self._short = short
        self.series = Series(_COLUMNS, _MAXIMA)

    def __call__(self, done: list[Finished]) -> None:
        """Count jobs that have finished."""
        if not done:
            return
        end = np.array([d.end for d in done])
        start = np.array([d.start for d in done])
        jobs = [d.job for d in done]
        submit = np.array([j.submit for j in jobs])
        size = np.array([float(j.request.total) for j in jobs])
        if self._gangs:
            others = np.array([not isinstance(j.request, Sequential) for j in jobs])
        else:
            others = np.array([not j.request.single for j in jobs])
        split = np.array([d.sizes is not d.job.request.sizes for d in done], dtype=bool)
        transfer = np.array([transfer_time(d.job.request, d.clusters) for d in done])
        self.add(submit, start, end, size, others, split, transfer)

    def add_records(self, done: Any) -> None:
        """Count jobs that the kernel has played, DONE records of `kernel.layout`."""
        whole = np.zeros(len(done), dtype=bool)
        size = done.total.astype(np.float64)
        self.add(done.submit, done.start, done.end, size, done.first == 0, whole)

    def add(
        self,
        submit: Floats,
        start: Floats,
        end: Floats,
        size: Floats,
        others: Flags,
        split: Flags,
        transfer: Floats | None = None,
    ) -> None:
        """Count jobs that have finished, told by arrays. `transfer`: for so long each held its
        processors before its start; None: none did."""
        if transfer is None:
            transfer = np.zeros(len(end))
        if self._most is not None and self.series.jobs + len(end) > self._most:
            room = self._most - self.series.jobs
            submit, start, end = submit[:room], start[:room], end[:room]
            size, others, split = size[:room], others[:room], split[:room]
            transfer = transfer[:room]
        if not len(end):
            return
        response, wait, run = end - submit, start - submit, end - start
        net = size * run
        area = net + size * transfer
        if self._extension != 1:
            net[others] /= self._extension
        if self._overhead:
            net[split] /= 1 + self._overhead
        bounded = np.maximum(1.0, response / np.maximum(run, self._short))
        sums = np.column_stack(
            [
                response, wait, others, response * others, area, net,
                size, size * response, size * wait, bounded, split, area * split, transfer,
            ]
        )  # fmt: skip
        tops = np.column_stack([response * ~others, response * others, end])
        self.series.add(sums, tops)

    def outcome(self, warmup: str | float = "auto") -> JobOutcome:
        """What the run has shown. `warmup`: see `statistics.warmup.cut`.

        Raises ValueError if no job has finished.
        """
        series = self.series
        if not series.jobs:
            raise ValueError("no job has finished: there is nothing to measure")
        skipped = cut(series, warmup)
        count = series.jobs - skipped * series.group

        def total(column: str) -> float:
            return series.total(column, skipped)

        def mean(part: float, number: float) -> float | None:
            return part / number if number else None

        others, area = total("others"), total("area")
        first = count - others
        began = series.top_before("end", skipped)
        span = series.top("end") - began
        room = self._processors * span
        weight = total("weight")
        return JobOutcome(
            jobs=series.jobs,
            counted=count,
            warmup=skipped * series.group,
            response=total("response") / count,
            response_first=mean(total("response") - total("response_others"), first),
            response_others=mean(total("response_others"), others),
            max_first=series.top("response_first", skipped),
            max_others=series.top("response_others", skipped),
            wait=total("wait") / count,
            gross=area / room if room else 0.0,
            net=total("net") / room if room else 0.0,
            awrt=total("weighted_response") / weight,
            awwt=total("weighted_wait") / weight,
            slowdown=total("slowdown") / count,
            split_jobs=round(total("split")),
            split_share=total("split_area") / area if area else 0.0,
            makespan=series.top("end"),
            growth=growth(series.means("response")),
            transfer=total("transfer") / count,
        )


class ByKind:
    """The jobs of local users, of one component and of several, each measured by itself: also
    the warm-up of each kind is cut where its own response times settle."""

    def __init__(self, make: Callable[[], Measurements]) -> None:
        self._measured = {kind: make() for kind in KINDS}
        self.local = self._measured["local_users"]
        """The sink for the jobs of local users."""

    def broker(self, done: list[Finished]) -> None:
        """The sink for the broker's jobs."""
        self._measured["single"]([job for job in done if job.job.request.single])
        self._measured["co_allocated"]([job for job in done if not job.job.request.single])

    def outcomes(self, warmup: str | float) -> dict[str, JobOutcome]:
        """What the run has shown of each kind that occurred."""
        return {
            kind: measured.outcome(warmup)
            for kind, measured in self._measured.items()
            if measured.series.jobs
        }
