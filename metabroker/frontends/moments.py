"""Times as `sacct -S` and `-E` take them."""

from __future__ import annotations

import re
import time

from metabroker.frontends.main import FrontEndError

_UNITS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400, "weeks": 604800}
_NAMED = {"today": 0, "midnight": 0, "elevenses": 11, "noon": 12, "fika": 15, "teatime": 16}
_RELATIVE = re.compile(r"now(?:([+-])([0-9]{1,9})([a-z]*))?", re.IGNORECASE)
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?\s*(?P<half>[ap]m)?"
_DAYS = (
    r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})",
    r"(?P<month>\d\d)(?P<day>\d\d)(?P<year>\d\d)?",
    r"(?P<month>\d{1,2})(?P<sign>[./])(?P<day>\d{1,2})(?:(?P=sign)(?P<year>\d{4}|\d\d))?",
)
_FORMS = [
    re.compile(text, re.IGNORECASE | re.ASCII)
    for text in (_CLOCK, *(rf"{day}(?:[T-]{_CLOCK})?" for day in _DAYS))
]


def parse_moment(text: str) -> float:
    """A time in Unix seconds: `now-2days`, `2026-05-04[T14:05[:00]]`, `14:05`, `2:05pm`,
    `0504[26]`, `05/04[/26]`, `05.04[.26]`, `noon`, `today`. A date without a year
    is in the last twelve months, as far as whole months tell; a time without a date is today's.

    Raises:
        FrontEndError: it is none.
    """
    now, word = time.time(), text.strip()
    relative = _RELATIVE.fullmatch(word)
    if relative is not None:
        unit = (relative[3] or "seconds").lower()
        size = next((size for name, size in _UNITS.items() if name.startswith(unit)), None)
        if size is None:
            raise _wrong(text)
        amount = int(relative[2] or 0) * size
        return now - amount if relative[1] == "-" else now + amount
    if word.lower() in _NAMED:
        word = f"{_NAMED[word.lower()]}:00"
    found = next((found for form in _FORMS if (found := form.fullmatch(word))), None)
    if found is None:
        raise _wrong(text)
    try:
        return _seconds(found.groupdict(), time.localtime(now))
    except (ValueError, OverflowError) as error:
        raise _wrong(text) from error


def _seconds(parts: dict[str, str | None], today: time.struct_time) -> float:
    """Raises `ValueError` and `OverflowError` where there is no such time."""
    hour, minute, second = (int(parts[name] or 0) for name in ("hour", "minute", "second"))
    half = (parts["half"] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            raise ValueError(hour)
        hour = hour % 12 + (12 if half == "pm" else 0)
    year, month, day = today.tm_year, today.tm_mon, today.tm_mday
    if parts.get("day"):
        month, day = int(parts["month"] or 0), int(parts["day"] or 0)
        if parts["year"]:
            year = int(parts["year"]) + (2000 if len(parts["year"]) == 2 else 0)
        elif month > today.tm_mon:
            year -= 1
    # What strptime takes is a time that there is.
    told = f"{year:04}-{month}-{day} {hour}:{minute}:{second}"
    time.strptime(told, "%Y-%m-%d %H:%M:%S")
    return time.mktime((year, month, day, hour, minute, second, 0, 0, -1))


def _wrong(text: str) -> FrontEndError:
    return FrontEndError(f"Invalid time specification: {ascii(text)[1:-1]:.40}")
