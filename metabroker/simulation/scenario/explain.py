"""What a failed validation of a scenario means, in the words of its author."""

from __future__ import annotations

from pydantic_core import ErrorDetails

from metabroker.config.keys import Key, model_at
from metabroker.config.problems import Problem, of_error, unknown_key

from .model import FORMS, Scenario

SEE = "see `metabroker simulate --help` and configs/simulate/"

_MISSING: dict[Key, str] = {
    ("clusters",): "write `clusters: {c1: 32, c2: 32}`: processors by name",
    ("workload",): "write `workload:` and below it one of synthetic, job_mix, swf, batch, runtimes",
    ("workload", "swf", "file"): "name the log: `swf: {file: TRACE.swf.gz}`",
    ("workload", "runtimes", "table"): "write ensflow, poisson, mix or the name of a CSV file",
    ("clusters", "", "processors"): "write for example `processors: 128`",
    ("clusters", "", "local", "workload"): "write `workload: {synthetic: {utilization: 0.6}}`",
    (
        "clusters",
        "",
        "local",
        "workload",
        "swf",
        "file",
    ): "name the log: `swf: {file: TRACE.swf.gz}`",
    ("precision", "relative"): "write for example `relative: 0.01`",
}


def problem(error: ErrorDetails) -> Problem:
    """The problem that one of pydantic's errors stands for."""
    key: Key = tuple(part for part in error["loc"] if part not in ("[key]", *FORMS))
    if error["type"] == "too_short" and key != ("clusters",):
        return Problem(key, "is empty", "write at least one item")
    of_any = ("clusters", "", *key[2:]) if key[:1] == ("clusters",) and key[2:] else key
    missing = Problem(key, "is missing", _MISSING.get(of_any, "add it"))
    return of_error(error, key, lambda: unknown(key), missing, SEE)


def unknown(key: Key) -> Problem:
    """A key that there is not, with the nearest one that there is."""
    model = model_at(Scenario, key[:-1])
    return Problem(key, "unknown key", SEE) if model is None else unknown_key(key, model)
