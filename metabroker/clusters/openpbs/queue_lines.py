"""All that waits and runs on a server, anybody's, looked at now and then: plans go by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from metabroker.clusters.native_queue import QueueWatch
from metabroker.clusters.operation import Operation

from . import operations
from .known_times import KnownTimes
from .parsing import QueueLine


class QueueLines:
    """Remembers what was last told. `every`: how often it is asked, in seconds; None: never."""

    def __init__(self, every: float | None) -> None:
        self._watch: QueueWatch[QueueLine] = QueueWatch(every)
        self._times = KnownTimes()
        self._since: tuple[dict[str, float], float] = {}, 0.0  # by job; when it was last looked
        self._kept: frozenset[tuple[str, float]] = frozenset()

    def look(
        self, now: float, ahead: float, kept: frozenset[tuple[str, float]]
    ) -> Operation[tuple[int, list[QueueLine] | None]]:
        """Ask, if it is time; sooner where reservations of ours are others than they were, since it
        is told with these until when what is in use. Answers how many commands that took, and what
        was told (None: nothing now). `ahead`: seconds that the server's clock is ahead of that of
        `now`; `kept`: ids of our reservations, and their ends."""
        self._watch.stale |= kept != self._kept
        self._kept = kept
        asked = yield from self._watch.look(now, operations.queue_lines)
        if not (asked and self._watch.known):
            return asked, None
        lines = self.with_since(self._watch.waiting, now + ahead)
        asked += yield from self._times.look(lines, operations.jobs_of_anybody)
        return asked, [self._times.of(line) for line in lines]

    def with_since(self, lines: Sequence[QueueLine], there: float) -> list[QueueLine]:
        """Who was not there at the look before has come after that. `there`: the server's time."""
        known, before = self._since
        since = {line.id: known.get(line.id, before) for line in lines}
        self._since = since, there
        return [replace(line, since=since[line.id]) for line in lines]
