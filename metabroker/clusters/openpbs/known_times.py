"""Until when others' jobs may hold their processors, to the second, and since when they wait.

The server's list of all jobs tells walltimes in whole minutes, and not when a job came or began:
a job of a minute counted as one of two, and one that had come just then as one that waits for long.
So of some jobs the rest is asked for, once when they wait and once when they run: it seldom changes
after that. On a large site it is not known of all.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from metabroker.clusters.command_errors import Garbled
from metabroker.clusters.operation import Operation
from metabroker.clusters.port import ClusterRefusal, UnknownOutcome
from metabroker.clusters.transports.base import CommandLost, CommandMissing

from .parsing import PbsJob, QueueLine, number

MOST = 64
"""Jobs that are asked for at once."""
_FAILURES = (ClusterRefusal, UnknownOutcome, CommandLost, CommandMissing, Garbled)
_MINUTE = 60.0
_WAITS, _RUNS = "Q", "R"


@dataclass(frozen=True, slots=True)
class _Known:
    """Of one job, by the server's clock; `ran`: it was asked for when it ran."""

    limit: float | None = None
    came: float | None = None
    began: float | None = None
    ran: bool = False


class KnownTimes:
    """What was told of jobs, for as long as they are listed."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}

    def look(
        self,
        lines: Sequence[QueueLine],
        told: Callable[[Sequence[str]], Operation[Sequence[PbsJob]]],
    ) -> Operation[int]:
        """Ask for what is not known yet of some of these; answers how many commands that took. What
        cannot be told is as it was, and is not asked for again."""
        listed = {line.id for line in lines}
        self._known = {key: known for key, known in self._known.items() if key in listed}
        asked = [line for line in lines if self._is_new(line)][:MOST]
        if not asked:
            yield from ()
            return 0
        jobs: Sequence[PbsJob] = ()
        with contextlib.suppress(*_FAILURES):
            jobs = yield from told([number(line.id) for line in asked])
        self._keep(asked, jobs)
        return 1

    def _keep(self, asked: Iterable[QueueLine], jobs: Iterable[PbsJob]) -> None:
        by_number = {number(job.id): job for job in jobs}
        for line in asked:
            job, ran = by_number.get(number(line.id)), line.state == _RUNS
            if job is None:
                self._known[line.id] = _Known(ran=ran)
            else:
                began = job.start_time if job.state == _RUNS else None
                self._known[line.id] = _Known(job.limit, job.submit_time, began, ran)

    def _is_new(self, line: QueueLine) -> bool:
        known = self._known.get(line.id)
        if line.state not in (_WAITS, _RUNS) or line.limit is None or not number(line.id):
            return False
        # One that was put back into its queue begins anew.
        return known is None or known.ran != (line.state == _RUNS) or _changed(known, line)

    def of(self, line: QueueLine) -> QueueLine:
        """The line, with what is known beside it."""
        known = self._known.get(line.id)
        if known is None:
            return line
        limit = known.limit if line.limit is not None and not _changed(known, line) else None
        since = line.since if known.came is None else known.came
        return replace(line, exact=limit, since=since, began=known.began)


def _changed(known: _Known, line: QueueLine) -> bool:
    """Whether its walltime is another one now."""
    if known.limit is None or line.limit is None:
        return False
    return not line.limit <= known.limit < line.limit + _MINUTE
