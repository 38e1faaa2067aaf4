"""Names of output files: `%j` is the job, `%c` the component, `%%` a percent sign; and sbatch's
signs: `%A` and `%a` (an array and its task), `%J` (the job), `%x` (its name), `%u` (its user),
`%s`, `%n` and `%t`. A number before a sign is the least number of digits: `%5j`."""

from __future__ import annotations

import re

from metabroker.submission.errors import SubmissionError
from metabroker.submission.text import check_line, shown

_SIGN = re.compile(r"%([0-9]?)(.?)", re.DOTALL)
_SIGNS = frozenset("jcAJxuasnt%")
_LONGEST = 4096  # characters; the kernel's limit of a path
_NO_TASK = "4294967294"  # what sbatch writes for `%a` where there is no array


def check_pattern(what: str, pattern: str) -> None:
    """`pattern` must be a path with no other signs."""
    check_line(what, pattern, _LONGEST)
    for digits, sign in _SIGN.findall(pattern):
        if sign not in _SIGNS or (digits and sign in "%xus"):
            raise SubmissionError(
                f"{what} {shown(pattern)} has the unknown sign {shown('%' + digits + sign)}",
                "use %j for the job, %c for the component, %x for its name, %u for its user, "
                "%% for a percent sign",
            )


def expand(
    pattern: str,
    job: int,
    component: int,
    name: str = "",
    user: str = "",
    of: tuple[int, int] | None = None,
) -> str:
    """The path that a checked `pattern` stands for. `of`: the array that the job is a task of, and
    which."""
    words = {
        **dict.fromkeys("jJ", str(job)),
        "A": str(job if of is None else of[0]),
        "c": str(component),
        "x": name,
        "u": user,
        "a": _NO_TASK if of is None else str(of[1]),
        "s": "batch",
        "n": "0",
        "t": "0",
        "%": "%",
    }

    def word(match: re.Match[str]) -> str:
        return words[match[2]].zfill(int(match[1] or 0)) if match[2] in words else match[0]

    return _SIGN.sub(word, pattern)


def names_job(pattern: str) -> bool:
    """Whether each job gets a path of its own."""
    return any(sign in ("j", "A", "J") for _digits, sign in _SIGN.findall(pattern))


def names_component(pattern: str) -> bool:
    """Whether each component gets a path of its own."""
    return any(sign == "c" for _digits, sign in _SIGN.findall(pattern))
