"""What components tell each other through the broker: what is carried where, and when.

Each component has an *outbox*, a small file whose version grows with what is put into it. What is
carried is the whole of its newest version, to all other components of its attempt. So nothing is
lost where versions are left out, nothing is doubled where one is carried twice, and nothing needs
to be durable: after a restart the newest is carried again.

A user's job may put as often as it likes: it is read at most as often as its *allowance* lets it,
one version at a time, and what it sends is counted in bytes. Nothing is kept here but numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .tokens import Ref

READS = 10.0
"""Outboxes of a job that are read in a second, over a longer time."""
READS_AT_ONCE = 100.0
BYTES = 512 * 1024.0
"""Bytes of a job that are delivered in a second, over a longer time."""
BYTES_AT_ONCE = 16 * 1024 * 1024.0
MOST_WAITING = 64 * 1024 * 1024
"""Bytes that are on their way at the same time, of all jobs."""
AGAIN = 2.0
"""Seconds after which what could not be read or delivered is tried again; for what is delivered
in vain they double, up to a minute or so."""
_MOST_TRIES = 5
SETTLED = 60.0
"""Seconds after which nothing comes that an earlier try, or an earlier broker, has sent."""


@dataclass(frozen=True, slots=True)
class Read:
    """Read the outbox of this component in this version."""

    ref: Ref
    cluster: int
    version: int


@dataclass(frozen=True, slots=True)
class Deliver:
    """Lay what `sender` has put into the inbox of the component `to`."""

    to: Ref
    cluster: int
    sender: int
    version: int
    content: bytes = field(repr=False)


@dataclass(slots=True)
class _Allowance:
    """So much in a second, and so much at once; it may be overdrawn, and is then waited for."""

    rate: float
    most: float
    left: float
    at: float

    def has_some(self, now: float) -> bool:
        self.left = min(self.most, self.left + max(0.0, now - self.at) * self.rate)
        self.at = now
        return self.left > 0.0

    def take(self, amount: float) -> None:
        self.left -= amount


@dataclass(slots=True)
class _Inbox:
    """How far one component has what another has put."""

    has: int = 0
    coming: int = 0  # the version that is on its way; 0: none
    doubtful: bool = False  # an earlier one may come yet
    due: float = 0.0
    tries: int = 0


@dataclass(slots=True)
class _Outbox:
    cluster: int
    newest: int = 0
    reading: int = 0
    due: float = 0.0
    settles: float | None = None  # when it is carried once more
    inboxes: dict[int, _Inbox] = field(default_factory=dict)

    def behind(self, now: float) -> bool:
        """Whether somebody does not have the newest, and can be given it now."""
        return any(
            box.has < self.newest and not box.coming and box.due <= now
            for box in self.inboxes.values()
        )


@dataclass(slots=True)
class _Attempt:
    outboxes: list[_Outbox]
    reads: _Allowance
    size: _Allowance


class Exchange:
    """All that is on its way between components. Times are seconds of a clock that never steps.

    `began`: when this broker's lead began.
    """

    def __init__(self, began: float) -> None:
        self._began = began
        self._attempts: dict[tuple[int, int], _Attempt] = {}
        self._waiting = 0

    @property
    def waiting(self) -> int:
        """Bytes that are on their way now."""
        return self._waiting

    @property
    def active(self) -> bool:
        """Whether any job takes part."""
        return bool(self._attempts)

    def knows(self, ref: Ref) -> bool:
        """Whether its job takes part."""
        return _key(ref) in self._attempts

    def enter(self, ref: Ref, clusters: Sequence[int], now: float) -> None:
        """The components of its attempt run in these clusters, in their order."""
        boxes = [_Outbox(cluster) for cluster in clusters]
        for sender, box in enumerate(boxes):
            box.inboxes = {n: _Inbox() for n in range(len(boxes)) if n != sender}
        self._attempts[_key(ref)] = _Attempt(
            boxes,
            _Allowance(READS, READS_AT_ONCE, READS_AT_ONCE, now),
            _Allowance(BYTES, BYTES_AT_ONCE, BYTES_AT_ONCE, now),
        )

    def leave(self, ref: Ref) -> None:
        """The job's attempt is over: what is not delivered by now is dropped."""
        self._attempts.pop(_key(ref), None)

    def seen(self, ref: Ref, version: int, now: float) -> list[Read]:
        """A component's outbox has this version. What is to be read now, of all of its job."""
        attempt = self._attempts.get(_key(ref))
        if attempt is None or ref.component >= len(attempt.outboxes):
            return []
        box = attempt.outboxes[ref.component]
        if version > box.newest:
            if not box.newest and now - self._began < SETTLED:
                box.settles = now + SETTLED
            box.newest = version
        return self._due(ref, attempt, now)

    def last_words(self, ref: Ref, version: int) -> Read | None:
        """A component has ended, and its gate is about to be removed. What is still to be read of
        it, whatever its job has read already."""
        attempt = self._attempts.get(_key(ref))
        if attempt is None or ref.component >= len(attempt.outboxes):
            return None
        box = attempt.outboxes[ref.component]
        box.newest = max(box.newest, version)
        box.settles = None  # there will be nothing to read
        if not version or all(inbox.has >= version for inbox in box.inboxes.values()):
            return None
        box.reading = version
        return Read(ref, box.cluster, version)

    def is_passed_on(self, ref: Ref, to: Iterable[int]) -> bool:
        """Whether these of its components have the newest that it has put."""
        attempt = self._attempts.get(_key(ref))
        if attempt is None or ref.component >= len(attempt.outboxes):
            return True
        box = attempt.outboxes[ref.component]
        inboxes = (box.inboxes.get(component) for component in to)
        return all(inbox is None or inbox.has >= box.newest for inbox in inboxes)

    def was_read(self, read: Read, content: bytes | None, now: float) -> list[Deliver]:
        """What stands in it; None: it is not there any more, and a newer one will be."""
        attempt = self._attempts.get(_key(read.ref))
        if attempt is None:
            return []
        box = attempt.outboxes[read.ref.component]
        box.reading = 0
        if content is None:
            box.due = now + AGAIN / 10
            return []
        found = []
        for n, inbox in box.inboxes.items():
            if inbox.has < read.version and not inbox.coming and inbox.due <= now:
                inbox.coming = read.version
                to = read.ref._replace(component=n)
                cluster = attempt.outboxes[n].cluster
                found.append(Deliver(to, cluster, read.ref.component, read.version, content))
        attempt.size.take(len(content) * len(found))
        self._waiting += len(content) * len(found)
        return found

    def was_not_read(self, read: Read, now: float) -> None:
        """It is not known what stands there: it is asked again later."""
        attempt = self._attempts.get(_key(read.ref))
        if attempt is not None:
            box = attempt.outboxes[read.ref.component]
            box.reading, box.due = 0, now + AGAIN

    def is_refused(self, read: Read, now: float) -> None:
        """What stands in this version cannot be carried: a later one may."""
        attempt = self._attempts.get(_key(read.ref))
        if attempt is None:
            return
        box = attempt.outboxes[read.ref.component]
        box.reading = 0
        for inbox in box.inboxes.values():
            inbox.has = max(inbox.has, read.version)

    def delivered(self, done: Deliver, now: float, *, sure: bool) -> None:
        """It lies there; or, unless `sure`, it may come to lie there later."""
        self._waiting -= len(done.content)
        attempt = self._attempts.get(_key(done.to))
        if attempt is None:
            return
        box = attempt.outboxes[done.sender]
        inbox = box.inboxes[done.to.component]
        inbox.coming = 0
        if not sure:
            inbox.doubtful, inbox.due = True, now + AGAIN * 2.0**inbox.tries
            inbox.tries = min(inbox.tries + 1, _MOST_TRIES)
            return
        inbox.tries = 0
        inbox.has = max(inbox.has, done.version)
        if inbox.doubtful:
            inbox.doubtful = False
            box.settles = now + SETTLED

    def is_gone(self, done: Deliver) -> None:
        """Its component cannot take it: it has ended, or has spoilt its own gate."""
        self._waiting -= len(done.content)
        attempt = self._attempts.get(_key(done.to))
        if attempt is not None:
            inbox = attempt.outboxes[done.sender].inboxes[done.to.component]
            inbox.coming, inbox.has = 0, max(inbox.has, done.version)

    def _due(self, ref: Ref, attempt: _Attempt, now: float) -> list[Read]:
        found = []
        for n, box in enumerate(attempt.outboxes):
            if box.settles is not None and box.settles <= now:
                # What came late may have taken the place of what was newer.
                box.settles = None
                for inbox in box.inboxes.values():
                    inbox.has = 0
            if not box.newest or box.reading or box.due > now or not box.behind(now):
                continue
            if self._waiting >= MOST_WAITING or not attempt.size.has_some(now):
                break
            if not attempt.reads.has_some(now):
                break
            attempt.reads.take(1.0)
            box.reading = box.newest
            found.append(Read(ref._replace(component=n), box.cluster, box.newest))
        return found


def _key(ref: Ref) -> tuple[int, int]:
    return ref.job, ref.attempt
