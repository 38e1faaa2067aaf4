"""Jobs that cannot run with the clusters that can be reached step aside.

While a cluster is down, a job that needs it would stand at the head of its queue and block jobs
that do not (and with GP or LQ whole queues). So a waiting job that could not run even if all
reachable clusters were empty is set aside: it keeps its seq, it is in no queue, no rule counts it,
and it takes its old place when it could run again. In the papers no cluster is ever down.
"""

from collections.abc import Mapping, Sequence

from metabroker.policy.entry import Entry

from .placement import Place
from .queue import Queue

_MOST_SHAPES = 4096  # that are remembered: of jobs that wait, or have waited


class Eligibility:
    """Which waiting jobs could run, given the processors of the reachable clusters.

    `waiting`: the waiting jobs by key, `queues`: the queues by index, both the scheduler's.
    """

    def __init__(
        self, place: Place, waiting: Mapping[int, Entry], queues: Mapping[int, Queue]
    ) -> None:
        self.aside: dict[int, Entry] = {}
        """The jobs that are set aside, by key; they are in `waiting` too."""
        self.place = place
        self._waiting = waiting
        self._queues = queues
        self.limited = False
        """A capacity is known."""
        self._capacity: tuple[int, ...] = ()
        self._known: dict[tuple[object, int], tuple[bool, Entry]] = {}
        """For each shape of a job: whether one could run; and one of them."""

    def update(self, capacity: Sequence[int]) -> bool:
        """`capacity[c]` is what cluster c has with nothing running; True if jobs moved.

        Costs O(1) unless the capacity has changed, and O(shapes of jobs) unless some shape that
        could run there could not before, or the other way round.
        """
        now = tuple(capacity)
        if now == self._capacity:
            return False
        known, self._known = self._known, {}
        self._capacity = now
        if self.limited and len(known) < _MOST_SHAPES:
            for answer, entry in known.values():
                if self.can_run(entry) is not answer:
                    break
            else:
                return False
        self.limited = True
        aside = self.aside
        back: dict[int, list[Entry]] = {}
        moved = False
        for key, entry in self._waiting.items():
            if self.can_run(entry):
                if key in aside:
                    del aside[key]
                    back.setdefault(entry.queue, []).append(entry)
            elif key not in aside:
                aside[key] = entry
                self._queues[entry.queue].remove(entry)
                moved = True
        for index, entries in back.items():
            self._queues[index].merge(entries)
        return moved or bool(back)

    def can_run(self, entry: Entry) -> bool:
        """Could the job run if all clusters that could be reached at the last pass were empty?

        Only if a capacity is known.
        """
        capacity = self._capacity
        request, pin = entry.request, entry.pin
        shape = (request.shape, pin)
        known = self._known.get(shape)
        if known is None:
            if pin >= 0:
                answer = capacity[pin] >= request.total
            else:
                answer = self.place(request, capacity) is not None
            known = self._known[shape] = answer, entry
        return known[0]
