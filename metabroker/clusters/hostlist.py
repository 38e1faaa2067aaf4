"""Slurm's short form of host lists: `n[1-3,7],login0` and back to names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

MOST_HOSTS = 100_000
# Up to a comma that is not in brackets; after a bracket that was never opened, all the rest.
_PART = re.compile(r"(?:[^,\[\]]|\[[^\]]*(?:\]|\Z)|\].*)+", re.DOTALL)
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")


def expand(text: str, most: int = MOST_HOSTS) -> list[str]:
    """The names, in order. What is not a host list comes back as it is.

    At most `most` names: a list that says more is cut there.
    """
    return list(
        islice((name for part in _PART.findall(text.strip()) for name in _names(part)), most)
    )


def _names(part: str) -> Iterator[str]:
    """The names of one part, one after another: there may be more than anybody wants."""
    start, end = part.find("["), part.find("]")
    ranges = [] if start < 0 or end < start else _ranges(part[start + 1 : end])
    if not ranges:
        yield part
        return
    head, rest = part[:start], part[end + 1 :]
    for first, last, width in ranges:
        for number in range(first, last + 1):
            for tail in _names(rest) if rest else ("",):
                yield f"{head}{number:0{width}d}{tail}"


def _ranges(text: str) -> list[tuple[int, int, int]]:
    """First, last and number of digits of each range in brackets; none if one is no range."""
    ranges = []
    for piece in text.split(","):
        found = _RANGE.fullmatch(piece)
        if found is None or int(found[2] or found[1]) < int(found[1]):
            return []
        ranges.append((int(found[1]), int(found[2] or found[1]), len(found[1])))
    return ranges
