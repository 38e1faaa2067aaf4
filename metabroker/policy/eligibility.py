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


class Eligibility:
    """Which waiting jobs could run, given the processors of the reachable clusters.

    `waiting`: the waiting jobs by key, `queues`: the queues by index, both the scheduler's.
    """

    def __init__(
        self, place: Place, waiting: Mapping[int, Entry], queues: Mapping[int, Queue]
    ) -> None:
        self.aside: dict[int, Entry] = {}
        """The jobs that are set aside, by key; they are in `waiting` too."""
        self._place = place
        self._waiting = waiting
        self._queues = queues
        self.limited = False
        """A capacity is known."""
        self._capacity: tuple[int, ...] = ()
        self._known: dict[tuple[object, int], bool] = {}

    def update(self, capacity: Sequence[int]) -> bool:
        """`capacity[c]` is what cluster c has with nothing running; True if jobs moved.

        Costs O(1) unless the capacity has changed.
        """
        now = tuple(capacity)
        if now == self._capacity:
            return False
        self._capacity = now
        self.limited = True
        self._known.clear()
        aside = self.aside
        back: dict[int, list[Entry]] = {}
        moved = False
        for key, entry in self._waiting.items():
            if self.can_run(entry):
                if key in aside:
                    del aside[key]
                    back.setdefault(entry[4], []).append(entry)
            elif key not in aside:
                aside[key] = entry
                self._queues[entry[4]].remove(entry)
                moved = True
        for index, entries in back.items():
            self._queues[index].merge(entries)
        return moved or bool(back)

    def can_run(self, entry: Entry) -> bool:
        """Could the job run if all clusters that could be reached at the last pass were empty?

        Only if a capacity is known.
        """
        capacity = self._capacity
        _, _, request, pin, _, _ = entry
        shape = (request.shape, pin)
        answer = self._known.get(shape)
        if answer is None:
            if pin >= 0:
                answer = capacity[pin] >= request.total
            else:
                answer = self._place(request, capacity) is not None
            self._known[shape] = answer
        return answer
