"""Jobs as a site remembers them, and what was left out of its records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from .errors import TraceError
from .swf import Skipped


class Record(NamedTuple):
    """A job that has ended. Moments are Unix times (UTC), None where unknown; times in seconds."""

    number: int | None
    """its number in a log; None: its place in the order of submission"""
    submit: float
    start: float | None
    end: float | None
    processors: int
    """what it asked for"""
    used_processors: int | None
    run: float | None
    """how long it ran; None: it did not, or nobody knows"""
    time_limit: float | None
    status: int
    """1 completed, 0 failed, 5 cancelled, as in the Standard Workload Format"""
    user: str | None
    group: str | None = None
    queue: str | None = None
    partition: str | None = None
    cpu: float | None = None
    """processor time per processor, in seconds"""
    used_memory: float | None = None
    """kilobytes per processor"""
    job: str = ""
    """its name in the site's own records"""
    components: tuple[int, ...] = ()
    """processors of each component, of a co-allocated job"""
    clusters: tuple[str, ...] = ()
    """the cluster of each component, where the user chose them"""


class WrongLine(Exception):
    """A line that is no record of a job: what is wrong with it."""


class LeftOut(Exception):
    """A record that is right, but no job to be replayed: why."""


@dataclass(slots=True)
class Records:
    """The jobs of one or several files, and what was left out of each file, by reason."""

    jobs: list[Record] = field(default_factory=list)
    skipped: dict[tuple[str, str], Skipped] = field(default_factory=dict)
    again: int = 0
    """jobs that stand in several files, and are counted once"""
    doubts: list[str] = field(default_factory=list)
    """files of which not all is sure to be true, and why"""

    def skip(self, file: str, why: str, line: int) -> None:
        """Leave a line out."""
        self.skipped.setdefault((file, why), Skipped(why, line, 0)).count += 1

    def wrong(self, file: str, why: str, line: int, strict: bool) -> None:
        """A line that is not right is left out. Raises TraceError if `strict`."""
        if strict:
            raise TraceError(file, line, why, "correct the line, or read it without --strict")
        self.skip(file, why, line)
