"""Moments as people write them."""

from __future__ import annotations

import re
import time
from datetime import datetime

from metabroker.cli.errors import USAGE, CliError

_AGO = re.compile(r"([0-9]{1,9})([smhdw])")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def moment(text: str) -> float:
    """A Unix time: `2d` is two days ago; else a date, with or without time, in the local zone."""
    ago = _AGO.fullmatch(text)
    if ago is not None:
        return time.time() - int(ago[1]) * _UNITS[ago[2]]
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        advice = "write for example 2d, 12h, 2026-03-01 or 2026-03-01T08:30"
        raise CliError(f"{ascii(text)[:60]} is not a time", advice, USAGE) from error
