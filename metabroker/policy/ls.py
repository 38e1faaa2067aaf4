"""LS: a local scheduler per cluster, for single- and multi-component jobs (BE03 2.5, BE07 2.3).

Single-component jobs run on the local cluster only, multi-component ones over the whole system.
The variations differ in the order in which a departure enables the queues.
"""

from collections.abc import Collection, Iterable, Sequence

from metabroker.policy.context import Context
from metabroker.policy.entry import Entry, Start
from metabroker.policy.queue import Queue
from metabroker.policy.request import Request
from metabroker.policy.scheduler import PolicyState, Scheduler


class LocalSchedulers(Scheduler):
    """LS-OR: a fixed order, starting with the same queue."""

    def _indices(self) -> Iterable[int]:
        return range(self.clusters)

    def queue_of(self, request: Request, local: int) -> int:
        """Its own cluster's queue for one ordered component, else the queue submitted to."""
        return request.needs[0][0] if request.single and request.needs else local

    def _enabled(self) -> list[Queue]:
        return [queue for queue in self._queues.values() if queue.items]


class RandomLocalSchedulers(LocalSchedulers):
    """LS-RD: a fixed cyclic order, starting with a queue chosen at random, all equally likely."""

    randomised = True

    def _enabled(self) -> list[Queue]:
        enabled = super()._enabled()
        if len(enabled) < 2:
            return enabled
        assert self._rng is not None
        first = self._rng.randrange(self.clusters)
        return [queue for queue in enabled if queue.index >= first] + [
            queue for queue in enabled if queue.index < first
        ]


class ReleaseOrderLocalSchedulers(LocalSchedulers):
    """LS-RO: the order in which the departing job releases its clusters, then the others.

    That is the order of decreasing component size; the others follow by index. If several jobs
    depart at one instant, the clusters of the first come first.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._released: list[int] = []

    def depart(self, clusters: Sequence[int] = ()) -> None:
        super().depart(clusters)
        self._released.extend(clusters)

    def _enabled(self) -> list[Queue]:
        order = dict.fromkeys(self._released)
        self._released.clear()
        order.update(dict.fromkeys(range(self.clusters)))
        return [self._queues[index] for index in order if self._queues[index].items]


class DisableOrderLocalSchedulers(LocalSchedulers):
    """LS-DO: the order in which the queues were last disabled.

    Disabled by a misfit or by becoming empty. With the option `ls_do` "all" also the visits at an
    arrival to an empty queue count, else only those at departures.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._at_arrivals = context.options.ls_do == "all"
        self._order = list(self._queues.values())

    def state(self, not_sent: Collection[int] = ()) -> PolicyState:
        state = super().state(not_sent)
        return state._replace(order=tuple(queue.index for queue in self._order))

    def restore(self, state: PolicyState) -> None:
        super().restore(state)
        if state.order:
            self._order = [self._queues[index] for index in state.order]

    def _enabled(self) -> list[Queue]:
        return [queue for queue in self._order if queue.items]

    def _departure(self, idle: list[int], starts: list[Start]) -> None:
        enabled = self._enabled()
        if not enabled:
            return
        disabled = self._rounds(enabled, idle, starts)
        if len(disabled) < self.clusters:
            disabled[:0] = [queue for queue in self._order if queue not in disabled]
        self._order = disabled

    def _arrivals(self, news: list[Entry], idle: list[int], starts: list[Start]) -> None:
        for entry in news:
            queue = self._queues[entry.queue]
            if queue.newcomer(entry, idle, starts):
                disabled = not queue.items
            else:
                disabled = bool(queue.items) and queue.head.seq == entry.seq
            if disabled and self._at_arrivals:
                self._disabled_last(queue)

    def _emptied_early(self, queue: Queue) -> None:
        self._disabled_last(queue)

    def _disabled_last(self, queue: Queue) -> None:
        order = self._order
        if order[-1] is not queue:
            order.remove(queue)
            order.append(queue)
