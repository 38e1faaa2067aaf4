"""What components tell each other through the broker: what is carried where, and when.

Each component has an *outbox*, a small file whose version grows with what is put into it. What is
carried is the whole of its newest version, to all other components of its attempt, and of the
attempts that it is *linked* with: those of jobs that have joined its own, or that which it has
joined. So nothing is lost where versions are left out, nothing is doubled where one is carried
twice, and nothing needs to be durable: after a restart the newest is carried again.

A user's job may put as often as it likes: it is read at most as often as its *allowance* lets it,
one version at a time, and what it sends is counted in bytes. Nothing is kept here but numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    """Lay what `sender` has put into the inbox of the component `to`, as that one calls it: by
    `name`."""

    to: Ref
    cluster: int
    sender: Ref
    version: int
    name: str
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
    """How far one component, in this `cluster`, has what another has put, and calls by `name`."""

    cluster: int
    name: str
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
    inboxes: dict[Ref, _Inbox] = field(default_factory=dict)

    def behind(self, now: float) -> bool:
        """Whether somebody does not have the newest, and can be given it now."""
        return any(
            box.has < self.newest and not box.coming and box.due <= now
            for box in self.inboxes.values()
        )


@dataclass(slots=True)
class _Attempt:
    """Its outboxes by components, and the attempts that it is linked with."""

    outboxes: dict[Ref, _Outbox]
    reads: _Allowance
    size: _Allowance
    links: set[tuple[int, int]] = field(default_factory=set)

    @property
    def alone(self) -> bool:
        """Whether it has one component: that is number 0, whichever place it was given."""
        return len(self.outboxes) == 1


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

    def enter(self, ref: Ref, clusters: Mapping[int, int], now: float) -> None:
        """The components of its attempt, by number, run in these clusters."""
        refs = {ref._replace(component=n): cluster for n, cluster in clusters.items()}
        boxes = {own: _Outbox(cluster) for own, cluster in refs.items()}
        for own, box in boxes.items():
            name = str(own.component)
            box.inboxes = {to: _Inbox(refs[to], name) for to in refs if to != own}
        self._attempts[_key(ref)] = _Attempt(
            boxes,
            _Allowance(READS, READS_AT_ONCE, READS_AT_ONCE, now),
            _Allowance(BYTES, BYTES_AT_ONCE, BYTES_AT_ONCE, now),
        )

    def link(self, one: Ref, other: Ref, *, back: bool = True) -> None:
        """From now on what is put in the attempt of `one` is for that of the other too; and, if it
        is to come `back`, the other way round."""
        first, second = self._attempts.get(_key(one)), self._attempts.get(_key(other))
        if first is None or second is None or _key(other) in first.links:
            return
        first.links.add(_key(other))
        second.links.add(_key(one))
        for here, there in ((first, second), (second, first))[: 1 + back]:
            for own, box in here.outboxes.items():
                name = f"{own.job}.{0 if here.alone else own.component}"
                for to, its in there.outboxes.items():
                    box.inboxes[to] = _Inbox(its.cluster, name)

    def is_over(self, ref: Ref) -> None:
        """The component's gate is about to be removed: nothing is for it any more."""
        attempt = self._attempts.get(_key(ref))
        if attempt is not None:
            for key in (_key(ref), *attempt.links):
                for box in self._attempts[key].outboxes.values():
                    box.inboxes.pop(ref, None)

    def leave(self, ref: Ref) -> None:
        """The job's attempt is over: what is not delivered by now is dropped."""
        attempt = self._attempts.pop(_key(ref), None)
        for key in () if attempt is None else attempt.links:
            other = self._attempts[key]
            other.links.discard(_key(ref))
            for box in other.outboxes.values():
                box.inboxes = {
                    to: inbox for to, inbox in box.inboxes.items() if _key(to) != _key(ref)
                }

    def seen(self, ref: Ref, version: int, now: float) -> list[Read]:
        """A component's outbox has this version. What is to be read now, of all of its job."""
        attempt = self._attempts.get(_key(ref))
        box = None if attempt is None else attempt.outboxes.get(ref)
        if attempt is None or box is None:
            return []
        if version > box.newest:
            if not box.newest and now - self._began < SETTLED:
                box.settles = now + SETTLED
            box.newest = version
        return self._due(attempt, now)

    def last_words(self, ref: Ref, version: int) -> Read | None:
        """A component has ended, and its gate is about to be removed. What is still to be read of
        it, whatever its job has read already."""
        box = self._box(ref)
        if box is None:
            return None
        box.newest = max(box.newest, version)
        box.settles = None  # there will be nothing to read
        if not version or all(inbox.has >= version for inbox in box.inboxes.values()):
            return None
        box.reading = version
        return Read(ref, box.cluster, version)

    def is_passed_on(self, ref: Ref, to: Iterable[Ref]) -> bool:
        """Whether these components have the newest that it has put."""
        box = self._box(ref)
        if box is None:
            return True
        inboxes = (box.inboxes.get(component) for component in to)
        return all(inbox is None or inbox.has >= box.newest for inbox in inboxes)

    def was_read(self, read: Read, content: bytes | None, now: float) -> list[Deliver]:
        """What stands in it; None: it is not there any more, and a newer one will be."""
        attempt, box = self._attempts.get(_key(read.ref)), self._box(read.ref)
        if attempt is None or box is None:
            return []
        box.reading = 0
        if content is None:
            box.due = now + AGAIN / 10
            return []
        found = []
        for to, inbox in box.inboxes.items():
            if inbox.has < read.version and not inbox.coming and inbox.due <= now:
                inbox.coming = read.version
                whose = to, inbox.cluster, read.ref, read.version, inbox.name
                found.append(Deliver(*whose, content))
        attempt.size.take(len(content) * len(found))
        self._waiting += len(content) * len(found)
        return found

    def was_not_read(self, read: Read, now: float) -> None:
        """It is not known what stands there: it is asked again later."""
        box = self._box(read.ref)
        if box is not None:
            box.reading, box.due = 0, now + AGAIN

    def is_refused(self, read: Read, now: float) -> None:
        """What stands in this version cannot be carried: a later one may."""
        box = self._box(read.ref)
        if box is None:
            return
        box.reading = 0
        for inbox in box.inboxes.values():
            inbox.has = max(inbox.has, read.version)

    def delivered(self, done: Deliver, now: float, *, sure: bool) -> None:
        """It lies there; or, unless `sure`, it may come to lie there later."""
        self._waiting -= len(done.content)
        box = self._box(done.sender)
        inbox = None if box is None else box.inboxes.get(done.to)
        if box is None or inbox is None:
            return
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
        box = self._box(done.sender)
        inbox = None if box is None else box.inboxes.get(done.to)
        if inbox is not None:
            inbox.coming, inbox.has = 0, max(inbox.has, done.version)

    def _box(self, ref: Ref) -> _Outbox | None:
        attempt = self._attempts.get(_key(ref))
        return None if attempt is None else attempt.outboxes.get(ref)

    def _due(self, attempt: _Attempt, now: float) -> list[Read]:
        found = []
        for own, box in attempt.outboxes.items():
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
            found.append(Read(own, box.cluster, box.newest))
        return found


def _key(ref: Ref) -> tuple[int, int]:
    return ref.job, ref.attempt
