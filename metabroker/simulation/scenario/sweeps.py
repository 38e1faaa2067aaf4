"""The runs of a sweep side by side: as a table, and as lines of a plot."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from typing import Any, NamedTuple, TextIO

from metabroker.simulation.local_users import KINDS

from .results import Json

OFFERED = ("workload.synthetic.utilization", "workload.runtimes.utilization")
"""The swept keys that are a plot's axis of utilization."""

_FIGURES: dict[str, tuple[str, ...]] = {
    "response_total": ("response_time", "total", "mean"),
    "response_total_ci95": ("response_time", "total", "ci95"),
    "response_local": ("response_time", "local", "mean"),
    "response_local_ci95": ("response_time", "local", "ci95"),
    "response_global": ("response_time", "global", "mean"),
    "response_global_ci95": ("response_time", "global", "ci95"),
    "waiting": ("waiting_time", "mean"),
    "waiting_ci95": ("waiting_time", "ci95"),
    "gross": ("utilization", "gross"),
    "net": ("utilization", "net"),
    "jobs": ("jobs",),
    "replications": ("replications",),
    "warmup": ("warmup",),
    "saturated": ("saturated",),
    "jobs_per_second": ("jobs_per_second",),
}
_OF_LOGS: dict[str, tuple[str, ...]] = {
    "bounded_slowdown": ("bounded_slowdown",),
    "awrt": ("awrt",),
    "awwt": ("awwt",),
    "multi_site_jobs": ("multi_site", "jobs"),
    "multi_site_area_share": ("multi_site", "area_share"),
}
_OF_MIXES: dict[str, tuple[str, ...]] = {
    "sequential_mean_response": ("classes", "sequential", "mean_response"),
    "sequential_max_response": ("classes", "sequential", "max_response"),
    "gang_mean_response": ("classes", "gang", "mean_response"),
    "gang_max_response": ("classes", "gang", "max_response"),
}
_BY_KIND: dict[str, tuple[str, ...]] = {
    f"{kind}_{figure}{ending}": ("by_kind", kind, figure, part)
    for kind in KINDS
    for figure in ("waiting_time", "response_time", "bounded_slowdown")
    for part, ending in (("mean", ""), ("ci95", "_ci95"))
}


_OF_FILES: dict[str, tuple[str, ...]] = {
    "transfer": ("transfer_time", "mean"),
    "transfer_ci95": ("transfer_time", "ci95"),
}


class SweepLine(NamedTuple):
    """One line of a plot: utilizations, mean response times and half-widths, by utilization.

    `saturated` are the utilizations at which there is no mean to draw.
    """

    label: str
    points: list[tuple[float, float, float]]
    saturated: list[float]


def write_csv(runs: Sequence[Json], file: TextIO) -> None:
    """A line per run: the swept values, then the figures (empty where there is none)."""
    figures = dict(_FIGURES)
    if any("awrt" in run for run in runs):
        figures |= _OF_LOGS
    if any("classes" in run for run in runs):
        figures |= _OF_MIXES
    if any("by_kind" in run for run in runs):
        figures |= _BY_KIND
    if any("transfer_time" in run for run in runs):
        figures |= _OF_FILES
    swept = list(runs[0].get("set", {}))
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*swept, *figures])
    for run in runs:
        values = [shown(run["set"][key]) for key in swept]
        writer.writerow([*values, *(_cell(_at(run, path)) for path in figures.values())])


def lines(runs: Sequence[Json]) -> list[SweepLine]:
    """Response time against utilization: one line per combination of the other swept values.

    The utilization is the offered one where it is swept, else the measured gross one.
    """
    found: dict[str, SweepLine] = {}
    for run in runs:
        swept: dict[str, Any] = run.get("set", {})
        axis = next((swept[key] for key in OFFERED if key in swept), run["utilization"]["gross"])
        label = label_of(swept) or str(run["scenario"]["policy"])
        line = found.setdefault(label, SweepLine(label, [], []))
        mean, half = (run["response_time"]["total"][name] for name in ("mean", "ci95"))
        if run["saturated"] or mean is None:
            line.saturated.append(axis)
        else:
            line.points.append((axis, mean, half or 0.0))
    for line in found.values():
        line.points.sort()
    return list(found.values())


def label_of(swept: dict[str, Any]) -> str:
    """The swept values but the utilization; a policy needs no name for it."""
    parts = [
        shown(value) if key == "policy" else f"{key.rpartition('.')[2]} {shown(value)}"
        for key, value in swept.items()
        if key not in OFFERED
    ]
    return ", ".join(parts)


def shown(value: object) -> str:
    """A swept value on one line."""
    return value if isinstance(value, str) else json.dumps(value)


def _at(run: Json, path: Sequence[str]) -> Any:
    value: Any = run
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _cell(value: object) -> object:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value
