"""Times as users of batch systems write them."""

from __future__ import annotations

import re

from metabroker.submission.errors import SubmissionError
from metabroker.submission.text import shown

LONGEST = 10 * 365 * 86400  # seconds
_ADVICE = "write minutes, MM:SS, H:MM:SS, D-HH, D-HH:MM or D-HH:MM:SS"
_TIME = re.compile(
    r"(?:(?P<days>[0-9]{1,9})-(?P<hours>[0-9]{1,2})(?::(?P<minutes>[0-9]{1,2})"
    r"(?::(?P<seconds>[0-9]{1,2}))?)?)"
    r"|(?P<plain>[0-9]{1,9}(?::[0-9]{1,2}){0,2})"
)


def parse_time(text: str) -> int:
    """A time limit in seconds, from the forms that Slurm takes.

    `90` is minutes, `90:30` minutes and seconds, `1:30:00` hours, `2-12` days and hours,
    `2-12:30` and `2-12:30:00` down to minutes and seconds. Raises `SubmissionError`.
    """
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise SubmissionError(f"{shown(text)} is not a time", _ADVICE)
    if match["plain"]:
        seconds = _plain(text, [int(part) for part in match["plain"].split(":")])
    else:
        hours, minutes, rest = (int(match[p] or 0) for p in ("hours", "minutes", "seconds"))
        _below(text, hours, 24)
        _below(text, max(minutes, rest), 60)
        seconds = ((int(match["days"]) * 24 + hours) * 60 + minutes) * 60 + rest
    return check_seconds(seconds)


def check_seconds(seconds: int) -> int:
    """A time limit must be more than nothing and at most ten years."""
    if not 0 < seconds <= LONGEST:
        raise SubmissionError(
            "a time limit must be more than 0 and at most 10 years",
            f"{_ADVICE}; without -t the daemon's default applies",
        )
    return seconds


def format_time(seconds: int) -> str:
    """The time as `H:MM:SS` or `D-HH:MM:SS`; `parse_time` reads it back."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days}-{hours:02}:{minutes:02}:{rest:02}"
    return f"{hours}:{minutes:02}:{rest:02}"


def _plain(text: str, parts: list[int]) -> int:
    if len(parts) == 1:
        return parts[0] * 60
    for part in parts[1:]:
        _below(text, part, 60)
    seconds = 0
    for part in parts:
        seconds = seconds * 60 + part
    return seconds


def _below(text: str, value: int, bound: int) -> None:
    if value >= bound:
        raise SubmissionError(f"{shown(text)} is not a time: {value} is not below {bound}", _ADVICE)
