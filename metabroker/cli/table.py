"""Aligned tables, ages and times for people."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from itertools import chain, islice

from metabroker.cli.errors import one_line
from metabroker.cli.streams import is_terminal

_GAP = 2  # spaces between columns
_FAR_APART = 600.0  # seconds
_AT_ONCE = 2000  # rows
_NARROWEST = 12  # characters that a shortened column keeps


def print_table(
    heads: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[str] = ()
) -> None:
    """Print the rows under their heads; columns in `right` are aligned to the right.

    On a terminal the widest columns are shortened until a row fits; elsewhere nothing is cut. Of
    very many rows those that come later may have wider columns than the first.
    """
    some = iter(rows)
    pages = iter(lambda: list(islice(some, _AT_ONCE)), [])
    print_pages(heads, chain([next(pages, [])], pages), right=right)


def print_pages(
    heads: Sequence[str],
    pages: Iterable[Sequence[Sequence[object]]],
    *,
    right: Sequence[str] = (),
) -> None:
    """The same for rows that come some at a time: columns only get wider on the way."""
    above: list[list[str]] = [list(heads)]
    widest = [len(head) for head in heads]
    for rows in pages:
        cells = [*above, *([_cell(value) for value in row] for row in rows)]
        widest = [max([most, *(len(row[i]) for row in cells)]) for i, most in enumerate(widest)]
        widths = widest
        if is_terminal(sys.stdout):
            import shutil  # with all that it can unpack, which takes a while

            widths = _fitted(widest, shutil.get_terminal_size().columns)
        for row in cells:
            parts = [
                _short(text, size).rjust(size) if head in right else _short(text, size).ljust(size)
                for text, size, head in zip(row, widths, heads)
            ]
            print((" " * _GAP).join(parts).rstrip())
        above = []


def duration(seconds: float | None) -> str:
    """A span of time, short: `45s`, `12m`, `3h10m`, `2d04h`."""
    if seconds is None:
        return "-"
    whole = max(0, round(seconds))
    if whole < 100:
        return f"{whole}s"
    minutes = whole // 60
    if minutes < 60:
        return f"{minutes}m"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours}h{minutes:02}m"
    return f"{hours // 24}d{hours % 24:02}h"


def age(moment: float | None) -> str:
    """How long ago a Unix time was."""
    return "-" if moment is None else duration(time.time() - moment)


def clock(moment: float | None) -> str:
    """A Unix time in the user's own time zone."""
    if moment is None:
        return "-"
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))


def interval(first: float, last: float) -> str:
    """Two Unix times: `2026-05-04 14:05 to 14:40`, with seconds where they are not far apart."""
    shown = -3 if last - first >= _FAR_APART else None
    begin, end = clock(first)[:shown], clock(last)[:shown]
    return f"{begin} to {end[11:] if begin[:10] == end[:10] else end}"


def _cell(value: object) -> str:
    return "-" if value is None or value == "" else one_line(str(value))


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _fitted(widths: Sequence[int], room: int) -> list[int]:
    """The widths with the widest made narrower until all fit into `room`, or none can be."""
    result = list(widths)
    excess = sum(result) + _GAP * (len(result) - 1) - room
    while excess > 0 and max(result) > _NARROWEST:
        result[result.index(max(result))] -= 1
        excess -= 1
    return result
