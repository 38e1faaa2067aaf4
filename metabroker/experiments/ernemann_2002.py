"""Ernemann, Hamscher, Yahyapour and Streit, "On Effects of Machine Configurations on Parallel Job
Scheduling in Computational Grids" (2002): its figures 2 to 8 and tables 3 and 4. Its claims are in
`ernemann_2002_claims`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from .ctc import SYNTHETIC, Replayed, log
from .ernemann_2002_claims import CLAIMS
from .evidence import Check
from .experiment import Experiment, Point, Result
from .grids import (
    CONFIGURATIONS,
    MAIN,
    METRICS,
    ORIGINAL,
    PARTS,
    WORKLOADS,
    extract_jobs,
    job_sharing,
    multi_site,
    overheads,
    there,
)
from .result_cache import ResultCache
from .scale import Scale


def _main(scale: Scale) -> str:
    """The workload of figures 2, 3 and 5, or the stand-in where there is no log."""
    return MAIN if there(MAIN, scale) else f"{SYNTHETIC}_org"


# Figures and tables


def _over_p(metric: str, names: Sequence[str]) -> Callable[[Scale], list[Point]]:
    """One line for each configuration, over p (figures 2, 5)."""

    def points(scale: Scale) -> list[Point]:
        workload, figure = _main(scale), METRICS[metric]
        return [
            Point(workload, name, metric, float(p), multi_site(workload, name, p, scale), figure)
            for name in names
            for p in overheads(scale)
        ]

    return points


def _m128(metric: str, workloads: Sequence[str]) -> Callable[[Scale], list[Point]]:
    """Figure 6, tables 3 and 4: one line for each workload, over p."""

    def points(scale: Scale) -> list[Point]:
        return [
            Point(
                "m128", name, metric, float(p), multi_site(name, "m128", p, scale), METRICS[metric]
            )
            for name in workloads
            if there(name, scale)
            for p in overheads(scale)
        ]

    return points


def _all(
    metric: str, workloads: Sequence[str], make: Callable[[str, str, Scale], Replayed]
) -> Callable[[Scale], list[Point]]:
    """Figures 4, 7 and 8: one panel for each workload, one bar for each configuration."""

    def points(scale: Scale) -> list[Point]:
        return [
            Point(workload, name, metric, name, make(workload, name, scale), METRICS[metric])
            for workload in workloads
            if there(workload, scale)
            for name in CONFIGURATIONS
        ]

    return points


def _at_50(workload: str, name: str, scale: Scale) -> Replayed:
    return multi_site(workload, name, 50, scale)


class Related(Experiment):
    """Figure 3: everything as a part of what m512 has at the same place."""

    def result(self, results: ResultCache, scale: Scale) -> Result:
        found = super().result(results, scale)
        whole = {v.x: v.interval.mean for v in found.values if v.series == "m512" and v.interval}
        values = [
            v._replace(interval=v.interval._replace(mean=v.interval.mean / whole[v.x]))
            for v in found.values
            if v.interval is not None
        ]
        return replace(found, values=tuple(values))


def _remarks(results: ResultCache, scale: Scale) -> list[str]:
    lines = [f"the first {extract_jobs(scale)} jobs of each workload, once: nothing is drawn"]
    if log(scale).is_file():
        lines.append("extracts are a little shifted: 23 of the log's jobs are not in it")
    else:
        lines.append(
            f"{log(scale)} is not there (--trace names one): the stand-in alone, no extract"
        )
    return [*lines, f"{SYNTHETIC}: a stand-in of ours, as the paper's synthetic workload is lost"]


def _chart(
    name: str,
    title: str,
    form: str,
    points: Callable[[Scale], list[Point]],
    label: str,
    kind: type[Experiment] = Experiment,
) -> Experiment:
    number = name.removeprefix("fig").removeprefix("table")
    return kind(
        f"er-{name}",
        title,
        f"ER 3.3, {'Fig.' if name.startswith('fig') else 'Table'} {number}",
        form,
        "overhead p (%)" if form == "curves" else "configuration",
        label,
        points,
        replications=lambda scale: 1,
        remarks=_remarks,
    )


def experiments() -> list[Experiment]:
    """Figures 2 to 8, tables 3 and 4."""
    names, split = tuple(CONFIGURATIONS), "multi-site scheduling"
    awrt, awwt = "AWRT (s)", "AWWT (s)"
    over = _over_p("AWRT", names)
    return [
        _chart("fig2", f"AWRT, {split}", "curves", over, awrt),
        _chart("fig3", f"AWRT related to m512, {split}", "curves", over, "AWRT / m512", Related),
        _chart("fig4", f"AWRT, {split}, p=50", "bars", _all("AWRT", WORKLOADS, _at_50), awrt),
        _chart("fig5", f"AWWT, {split}", "curves", _over_p("AWWT", names), awwt),
        _chart("fig6", f"AWRT of m128, {split}", "curves", _m128("AWRT", WORKLOADS), awrt),
        _chart("fig7", "AWRT, job sharing", "bars", _all("AWRT", PARTS, job_sharing), awrt),
        _chart("fig8", "AWWT, job sharing", "bars", _all("AWWT", PARTS, job_sharing), awwt),
        _chart(
            "table3",
            "Number of multi-site jobs, m128",
            "curves",
            _m128("multi-site jobs", ORIGINAL),
            "jobs",
        ),
        _chart(
            "table4",
            "Squashed area of the multi-site jobs, m128",
            "curves",
            _m128("squashed area", ORIGINAL),
            "part of the whole workload (%)",
        ),
    ]


def checks() -> Mapping[str, Check]:
    """How ER-01 to ER-25 are decided."""
    return CLAIMS
