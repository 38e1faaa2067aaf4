"""Optional components: `--components 8,8+` and `--on delft:8,leiden:8+`, a minimum and a wish.

What has no `+` is the job. Each of the others becomes a job of one component, that joins it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from metabroker.submission.errors import SubmissionError
from metabroker.submission.text import shown

Options = dict[str, Any]
MOST_OPTIONAL = 64  # the broker lets so many join a job at a time
_FORMS = ("components", "on")
_OF_THE_JOB = ("hold", "wait", "dependency", "kill_on_invalid_dep", "max_latency")
"""What the job's own start or end is about: its optional components wait for it anyway."""
_LONGEST_ID = 120


@dataclass(frozen=True)
class Elastic:
    """Components that are `needed`, and `optional` ones."""

    needed: tuple[Any, ...]
    optional: tuple[Any, ...]


def elastic(text: str, parse: Callable[[str], tuple[Any, ...]]) -> Elastic | tuple[Any, ...]:
    """What `parse` makes of a list, where some of its parts have a `+` behind them.

    Raises:
        SubmissionError: all have, or too many.
    """
    parts = [part.strip() for part in text.split(",")]
    optional = [part[:-1] for part in parts if part.endswith("+")]
    if not optional:
        return parse(text)
    needed = [part for part in parts if not part.endswith("+")]
    if not needed:
        what = f"all components of {shown(text)} are optional"
        raise SubmissionError(what, "leave the + out of those that the job cannot do without")
    if len(optional) > MOST_OPTIONAL:
        what = f"{len(optional)} optional components are too many"
        raise SubmissionError(what, f"use at most {MOST_OPTIONAL}")
    return Elastic(parse(",".join(needed)), parse(",".join(optional)))


def without_optional(options: Options) -> tuple[Options, list[Options]]:
    """The options of the job itself, and those of each job that is to join it, but for its number.

    Raises:
        SubmissionError: an array cannot have optional components.
    """
    form = next((name for name in _FORMS if isinstance(options.get(name), Elastic)), None)
    if form is None:
        return options, []
    asked: Elastic = options[form]
    if options.get("array") is not None:
        what = "an array cannot have optional components"
        raise SubmissionError(what, "leave the + out, or --array")
    left = {name: value for name, value in options.items() if name not in _OF_THE_JOB}
    left.pop(form)
    if form == "components":
        others = [{**left, "single": size} for size in asked.optional]
    else:
        others = [{**left, "cluster": name, "single": size} for name, size in asked.optional]
    return {**options, form: asked.needed}, others


def refuse_optional(options: Options) -> None:
    """Raises `SubmissionError` where there are optional components, and nobody submits them."""
    if any(isinstance(options.get(name), Elastic) for name in _FORMS):
        what = "optional components (8+) are only known to `metabroker submit`"
        raise SubmissionError(what, "leave them out, and submit each as a job that joins this one")


def id_of(request_id: str, number: int) -> str:
    """The request id of the job's optional component `number`: with the job's own it is always the
    same, so that a submission can be repeated."""
    if len(request_id) > _LONGEST_ID:
        import hashlib  # hardly ever, and the command line starts quickly

        request_id = hashlib.sha256(request_id.encode()).hexdigest()
    return f"{request_id}:{number}"
