"""Cells, times and lists as Slurm's commands print them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable


def cell(text: str, width: int, *, right: bool, cut: bool = True) -> str:
    """As squeue prints a field. Width 0: as it is. What is too long is cut; where it
    is `right`, only if it may be."""
    if not width:
        return text
    if right:
        text = text.rjust(width)
        return text[:width] if cut else text
    return text[:width].ljust(width)


def moment(seconds: float | None, none: str = "N/A") -> str:
    """A time (Unix seconds) in the form of SLURM_TIME_FORMAT: local, to the second."""
    if not seconds:
        return none
    form = os.environ.get("SLURM_TIME_FORMAT", "standard")
    if form in ("standard", "relative") or "%" not in form:
        form = "%Y-%m-%dT%H:%M:%S"
    return time.strftime(form, time.localtime(seconds))


def short_duration(seconds: float) -> str:
    """`1-02:03:04`, `2:03:04`, `3:04`: no more than is needed."""
    whole = max(0, int(seconds))
    days, hours, minutes = whole // 86400, whole // 3600 % 24, whole // 60 % 60
    if days:
        return f"{days}-{hours:02}:{minutes:02}:{whole % 60:02}"
    if hours:
        return f"{hours}:{minutes:02}:{whole % 60:02}"
    return f"{minutes}:{whole % 60:02}"


def duration(seconds: float) -> str:
    """`1-02:03:04`, `02:03:04`: as sacct and scontrol print it."""
    whole = max(0, int(seconds))
    text = f"{whole // 3600 % 24:02}:{whole // 60 % 60:02}:{whole % 60:02}"
    return f"{whole // 86400}-{text}" if whole >= 86400 else text


def hostlist(hosts: Iterable[str]) -> str:
    """Names of nodes, as `node[1-3,5]` where they differ in their last number alone."""
    groups: dict[tuple[str, int], list[int]] = {}
    found: list[str | tuple[str, int]] = []
    for host in dict.fromkeys(hosts):
        stem = host.rstrip("0123456789")
        digits = host[len(stem) :]
        if not digits:
            found.append(host)
            continue
        padded = digits.startswith("0") or (stem, len(digits)) in groups
        width = len(digits) if padded else 0
        if (stem, width) not in groups:
            groups[stem, width] = []
            found.append((stem, width))
        groups[stem, width].append(int(digits))
    return ",".join(each if isinstance(each, str) else _group(each, groups[each]) for each in found)


def _group(of: tuple[str, int], numbers: list[int]) -> str:
    stem, width = of
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    texts = [
        str(a).zfill(width) if a == b else f"{str(a).zfill(width)}-{str(b).zfill(width)}"
        for a, b in ranges
    ]
    return f"{stem}{texts[0]}" if len(numbers) == 1 else f"{stem}[{','.join(texts)}]"
