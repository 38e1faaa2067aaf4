"""LQ: the longest queues decide whether the global or the local schedulers work (BE03 2.5)."""

from metabroker.policy.context import Context
from metabroker.policy.entry import Entry, Start
from metabroker.policy.queue import Queue
from metabroker.policy.request import Request
from metabroker.policy.two_level import TwoLevelScheduler


class LongestQueue(TwoLevelScheduler):
    """The global queue is enabled while it is longer than every local queue, else the local ones.

    Lengths are numbers of waiting jobs. The option `lq` says when the rule is evaluated: `"start"`,
    at every departure and after each start; `"departure"`, once per departure; `"arrival"`, as
    "start" and at every arrival too. When the rule turns from one side to the other during a pass,
    a new round begins; a queue from which nothing fitted stays disabled.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._evaluated = context.options.lq

    def arrive(
        self, key: int, request: Request, queue: int, now: float, *, seq: int | None = None
    ) -> None:
        super().arrive(key, request, queue, now, seq=seq)
        if self._evaluated == "arrival":
            self._departed = True

    def _global_longest(self) -> bool:
        length = len(self._global)
        if not length:
            return False
        return all(len(queue) < length for queue in self._locals)

    def _enabled(self) -> list[Queue]:
        return [self._global] if self._global_longest() else self._waiting_locals()

    def _forbids(self, queue: Queue) -> str | None:
        if queue.local != self._global_longest():
            return None
        return f"the global queue is {'not ' if queue.local else ''}longer than every local queue"

    def _departure(self, idle: list[int], starts: list[Start]) -> None:
        if self._evaluated == "departure":
            self._rounds(self._enabled(), idle, starts)
        else:
            self._alternate(set(), idle, starts)

    def _arrivals(self, news: list[Entry], idle: list[int], starts: list[Start]) -> None:
        for entry in news:
            queue = self._queues[entry.queue]
            if self._forbids(queue) is not None or not queue.newcomer(entry, idle, starts):
                continue
            if self._evaluated != "departure" and self._global_longest() == queue.local:
                self._alternate(set(), idle, starts)

    def _alternate(self, disabled: set[int], idle: list[int], starts: list[Start]) -> None:
        """Visit in rounds the queues of the side whose turn it is."""
        turned = self._global_longest()
        while True:
            side = turned
            enabled = [self._global] if side else self._waiting_locals()
            if disabled:
                enabled = [queue for queue in enabled if queue.index not in disabled]
            if not enabled:
                return
            for queue in enabled:
                if not queue.visit(idle, starts):
                    disabled.add(queue.index)
                    continue
                turned = self._global_longest()
                if turned != side:
                    break
