"""What a failed validation of a scenario means, in the words of its author."""

from __future__ import annotations

from pydantic_core import ErrorDetails

from metabroker.config.errors import ConfigRefusal
from metabroker.config.problems import Problem, choice, nearest, plain

from .keys import Key, model_at

SEE = "see `metabroker simulate --help` and configs/simulate/"

_MISSING: dict[Key, str] = {
    ("clusters",): "write `clusters: {c1: 32, c2: 32}`: processors by name",
    ("workload",): "write `workload:` and below it one of synthetic, job_mix, swf, batch, runtimes",
    ("workload", "swf", "file"): "name the log: `swf: {file: TRACE.swf.gz}`",
    ("workload", "runtimes", "table"): "write ensflow, poisson, mix or the name of a CSV file",
    ("precision", "relative"): "write for example `relative: 0.01`",
}


def problem(error: ErrorDetails) -> Problem:
    """The problem that one of pydantic's errors stands for."""
    key: Key = tuple(part for part in error["loc"] if part != "[key]")
    kind, value = error["type"], error["input"]
    context = error.get("ctx", {})
    cause = context.get("error")
    if isinstance(cause, ConfigRefusal):
        return Problem(key, cause.message, cause.advice)
    if kind == "extra_forbidden":
        return unknown(key)
    if kind == "missing":
        return Problem(key, "is missing", _MISSING.get(key, "add it"))
    if kind == "literal_error":
        return Problem(key, *choice(value, context["expected"]))
    if kind == "too_short" and key != ("clusters",):
        return Problem(key, "is empty", "write at least one item")
    return Problem(key, *plain(kind, value, context, SEE))


def unknown(key: Key) -> Problem:
    """A key that there is not, with the nearest one that there is."""
    model = model_at(key[:-1])
    if model is None:
        return Problem(key, "unknown key", SEE)
    known = list(model.model_fields)
    advice = nearest(str(key[-1]), known) or f"known here: {', '.join(known)}"
    return Problem(key, "unknown key", advice)
