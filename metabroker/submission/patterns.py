"""Names of output files: `%j` is the job, `%c` the component, `%%` a percent sign."""

from __future__ import annotations

import re

from metabroker.submission.errors import SubmissionError
from metabroker.submission.text import check_line, shown

_SIGN = re.compile(r"%(.?)", re.DOTALL)
_LONGEST = 4096  # characters; the kernel's limit of a path


def check_pattern(what: str, pattern: str) -> None:
    """`pattern` must be a path with no other signs than `%j`, `%c` and `%%`."""
    check_line(what, pattern, _LONGEST)
    for sign in _SIGN.findall(pattern):
        if sign not in ("j", "c", "%"):
            raise SubmissionError(
                f"{what} {shown(pattern)} has the unknown sign {shown('%' + sign)}",
                "use %j for the job, %c for the component, %% for a percent sign",
            )


def expand(pattern: str, job: int, component: int) -> str:
    """The path that a checked `pattern` stands for."""
    words = {"j": str(job), "c": str(component), "%": "%"}
    return _SIGN.sub(lambda match: words.get(match[1], match[0]), pattern)


def names_component(pattern: str) -> bool:
    """Whether each component gets a path of its own."""
    return "c" in _SIGN.findall(pattern)
