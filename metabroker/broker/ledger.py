"""Which processors the broker could really get, cluster by cluster.

What others hold is known from the last poll; what the broker itself holds is known from its own
claims, which count from placement until the cluster was seen clean. So a claim is never counted
twice and never missed, whichever of the poll and the claim came first. A cluster that does not
answer, or did not lately, has no idle processors: unknown is not idle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from metabroker.submission.shape import Shape

from . import nodes
from .arrivals import Arrivals
from .drained import Drained
from .observation import Coming, NodeKind, Snapshot
from .settings import Settings
from .upcoming import Upcoming

# Of a token that was cleaned: how long a poll that began before may still show it, in seconds.
_REMEMBER_CLEANED = 600.0

_LONGEST_MOVE = 10.0  # seconds, that count
_FORGETS = 0.7  # of what it took before, with each


@dataclass(slots=True)
class LedgerEntry:
    """One cluster's entry."""

    processors: int = 0  # in all, as last known
    usable: int = 0
    others: int = 0  # held by anybody but live claims of ours, or about to be
    claimed: int = 0
    unseen: int = 0  # claimed, also for a while, and not shown by the last poll
    snapshot: Snapshot | None = None
    clock_offset: float = 0.0  # as far as it is known
    reachable: bool = False
    detail: str = "not polled yet"
    backoff_limit: int | None = None  # fewer than were refused, until `backoff_until`
    backoff_until: float = 0.0
    backoff_detail: str = ""  # what it said
    refusals: int = 0
    unverified_since: float | None = None  # a step failed for want of an answer: poll again first
    nodes: tuple[NodeKind, ...] = ()  # all, as last seen; empty: not known
    cleaned: dict[str, float] = field(default_factory=dict)
    contested_until: float = 0.0  # others want the cluster, too: till then at least
    arrivals: Arrivals = field(default_factory=Arrivals)
    drained: Drained | None = None
    upcoming: Upcoming = field(default_factory=Upcoming)  # by the broker's clock
    outlook: Snapshot | None = None  # the last poll that told until when what is in use
    disproved: float = 0.0  # then it refused what was to be free by its outlook
    eased: float = 0.0  # since then a job of ours holds less there, or for less long
    moves_take: float = 0.0  # seconds, of the latest times that a reservation was moved there

    def has_moved(self, seconds: float) -> None:
        """It has answered so long after it was asked to move a reservation."""
        self.moves_take = max(min(seconds, _LONGEST_MOVE), _FORGETS * self.moves_take)

    def kept(self, token: str) -> int:
        """Processors that the last poll shows as ours by that token: its job's, or what its
        reservation keeps that has begun or begins soon."""
        return 0 if self.snapshot is None else self.snapshot.ours.get(token, 0)

    def maintenance(self, start: float, end: float, needed: int) -> Coming | None:
        """What keeps so many processors from being had there from `start` to `end`, by the broker's
        clock: the first maintenance in that time; None: none takes too many."""
        coming = [c for c in self.upcoming.items if c.maintenance]
        taken = [c for c in coming if c.start < end and c.end > start]
        takes = sum(c.processors for c in taken)
        return taken[0] if taken and takes > self.usable - needed else None


@dataclass(frozen=True, slots=True)
class Avoided:
    """So many processors at most are asked of a cluster at a time, until then (None: until the next
    poll), and why. `suspended`: it is sent nothing but one job to try, then."""

    most: int
    until: float | None
    why: str
    suspended: bool = False


class Ledger:
    """Claims and polls of all clusters."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.entries = [LedgerEntry(processors=c.processors) for c in settings.clusters]

    # --- claims -------------------------------------------------------------------------------

    def claim(self, cluster: int, processors: int) -> None:
        """Count processors as held by the broker."""
        self.entries[cluster].claimed += processors
        self.entries[cluster].unseen += processors

    def free(self, cluster: int, processors: int, token: str, now: float) -> None:
        """The cluster was seen clean of `token`: its processors are not held any more."""
        entry = self.entries[cluster]
        entry.claimed -= processors
        entry.cleaned[token] = entry.eased = now

    def cleaned_lately(self, cluster: int, token: str, taken_at: float) -> bool:
        """Whether a poll begun at `taken_at` may still show `token` though it is over."""
        since = taken_at - self._settings.completing_grace
        return self.entries[cluster].cleaned.get(token, float("-inf")) >= since

    # --- polls --------------------------------------------------------------------------------

    def observe(self, cluster: int, snapshot: Snapshot, claim: Callable[[str], int]) -> bool:
        """Take over a poll; `claim` tells the processors of a token's live claim, or 0. True if
        more may be idle than before.

        What a job of ours holds beyond its claim (whole nodes, say) is as little to be had as
        what others hold.
        """
        entry = self.entries[cluster]
        before = self._idle_by_last_poll(entry, snapshot.taken_at)
        counted = sum(
            n if self.cleaned_lately(cluster, token, snapshot.taken_at) else min(n, claim(token))
            for token, n in snapshot.ours.items()
        )
        entry.unseen = entry.claimed - sum(min(n, claim(t)) for t, n in snapshot.ours.items())
        entry.snapshot = snapshot
        entry.processors = snapshot.processors
        entry.nodes = snapshot.nodes
        entry.usable = snapshot.usable
        idle = max(0, snapshot.usable - snapshot.busy)
        coming, wanted = entry.arrivals.seen(snapshot.arriving, idle, snapshot.taken_at)
        entry.others = max(0, snapshot.busy - counted) + coming
        if snapshot.clock_offset is not None:
            entry.clock_offset = snapshot.clock_offset
        entry.upcoming = Upcoming(snapshot.coming, entry.clock_offset)
        if snapshot.held is not None:
            entry.outlook = snapshot
        entry.reachable = True
        entry.detail = ""
        if snapshot.waiting or wanted:
            entry.contested_until = snapshot.taken_at + self._settings.line_calm
        if entry.unverified_since is not None and snapshot.taken_at >= entry.unverified_since:
            entry.unverified_since = None
        horizon = snapshot.taken_at - _REMEMBER_CLEANED
        if entry.cleaned and min(entry.cleaned.values()) < horizon:
            entry.cleaned = {t: at for t, at in entry.cleaned.items() if at >= horizon}
        return entry.usable - entry.others > before

    def _idle_by_last_poll(self, entry: LedgerEntry, now: float) -> int:
        last = entry.snapshot
        if last is None or not entry.reachable or entry.unverified_since is not None:
            return 0
        stale = now - last.taken_at > self._settings.stale_after
        return 0 if stale else entry.usable - entry.others

    def lose(self, cluster: int, detail: str) -> None:
        """The cluster does not answer: nothing is known of it."""
        entry = self.entries[cluster]
        entry.reachable = False
        entry.detail = detail

    # --- others' demand -----------------------------------------------------------------------

    def contested(self, now: float, *, line: bool = True) -> tuple[int, ...]:
        """The clusters that others want too; for the `line`: none where no job is to stand in
        it."""
        if line and not self._settings.line_depth:
            return ()
        return tuple(c for c, entry in enumerate(self.entries) if entry.contested_until > now)

    # --- refusals -----------------------------------------------------------------------------

    def refused(self, cluster: int, processors: int, detail: str, now: float) -> float:
        """The cluster had fewer than it seemed to; answers when to ask for as many again.

        The pause doubles with each refusal that comes after the last pause. What comes within one
        was mostly asked before it: all components of a moment may be refused for one reason.
        """
        entry = self.entries[cluster]
        limit = processors - 1
        if entry.backoff_limit is None or entry.backoff_until <= now:
            entry.refusals += 1
            entry.backoff_limit = limit
        else:
            entry.backoff_limit = min(limit, entry.backoff_limit)
        entry.backoff_detail = detail
        entry.backoff_until = now + self._settings.refusal_delay(entry.refusals)
        return entry.backoff_until

    def accepted(self, cluster: int) -> None:
        """The cluster gave what was asked of it."""
        entry = self.entries[cluster]
        entry.refusals = 0

    def mark_unverified(self, cluster: int, now: float) -> None:
        """A step got no answer: what is idle there is not known until the next poll."""
        self.entries[cluster].unverified_since = now

    # --- answers ------------------------------------------------------------------------------

    def known(self, cluster: int, now: float) -> bool:
        """Whether the cluster answers and what is known of it is fresh."""
        entry = self.entries[cluster]
        return (
            entry.reachable
            and entry.snapshot is not None
            and now - entry.snapshot.taken_at <= self._settings.stale_after
        )

    def available(self, now: float) -> list[int]:
        """Processors that the broker could get now, for each cluster."""
        return [self._available(cluster, now) for cluster in range(len(self.entries))]

    def _available(self, cluster: int, now: float) -> int:
        entry = self.entries[cluster]
        if not self.known(cluster, now) or entry.unverified_since is not None or entry.drained:
            return 0
        idle = self.unclaimed(cluster)
        if entry.backoff_limit is not None:
            if entry.backoff_until > now:
                idle = min(idle, entry.backoff_limit)
            else:
                entry.backoff_limit = None
        return self._whole(cluster, max(0, idle))

    def unclaimed(self, cluster: int) -> int:
        """Processors that nobody held at the last poll, and no claim of ours; fewer than 0 where
        claims are for more than there is."""
        entry = self.entries[cluster]
        return entry.usable - entry.others - entry.claimed

    def idle(self, cluster: int, now: float) -> int | None:
        """Processors that nobody holds there, as last seen; None: not known. There may be reasons
        to send fewer (`avoided`)."""
        if not self.known(cluster, now):
            return None
        return self._whole(cluster, max(0, self.unclaimed(cluster)))

    def avoided(self, cluster: int, now: float) -> Avoided | None:
        """Why the broker sends less there than is idle."""
        entry = self.entries[cluster]
        if entry.unverified_since is not None:
            return Avoided(0, None, "a command got no answer, so it is polled again first")
        if entry.backoff_limit is None or entry.backoff_until <= now:
            return None
        return Avoided(
            entry.backoff_limit, entry.backoff_until, f"it is full: {entry.backoff_detail}"
        )

    def drained(self, cluster: int) -> Drained | None:
        """Who has drained the cluster, since when and why; None: it is not drained."""
        return self.entries[cluster].drained

    def takes_jobs(self, cluster: int, now: float) -> bool:
        """Whether the cluster answers, what is known of it is fresh, and it is not drained."""
        return self.known(cluster, now) and self.entries[cluster].drained is None

    def capacity(self, now: float) -> list[int]:
        """Processors in nodes that take jobs, for each cluster that answers and is not drained;
        else 0."""
        return [
            self._whole(cluster, entry.usable) if self.takes_jobs(cluster, now) else 0
            for cluster, entry in enumerate(self.entries)
        ]

    def sizes(self) -> list[int]:
        """Processors in all, for each cluster, as last known (0: never known)."""
        return [
            self._whole(cluster, entry.processors) for cluster, entry in enumerate(self.entries)
        ]

    def bounds(self, shape: Shape) -> tuple[tuple[int, int], ...]:
        """What a component of such tasks can have at most in a cluster of which the nodes are
        known: (cluster, processors), where that is less than all."""
        if not shape:
            return ()
        found = []
        for cluster, entry in enumerate(self.entries):
            unit = self._settings.clusters[cluster].unit
            most = nodes.most(entry.nodes, shape, entry.processors, unit)
            if most < entry.processors:
                found.append((cluster, most))
        return tuple(found)

    def _whole(self, cluster: int, processors: int) -> int:
        """As many of them as there are in whole units."""
        unit = self._settings.clusters[cluster].unit
        return processors - processors % unit

    def fits(
        self, placement: Sequence[int], sizes: Sequence[int], now: float, shape: Shape
    ) -> bool:
        """Whether components of these sizes could all be had there now, in whole units, and of
        a co-allocated job on nodes where its tasks fit, as last seen."""
        held, asked = Counter[int](), Counter[int]()
        for cluster, size in zip(placement, sizes, strict=True):
            asked[cluster] += size
            held[cluster] += self._settings.clusters[cluster].held(size, shape.cpus_per_task)
        return all(total <= self._available(cluster, now) for cluster, total in held.items()) and (
            len(placement) == 1
            or all(self._has_nodes(cluster, size, shape) for cluster, size in asked.items())
        )

    def _has_nodes(self, cluster: int, processors: int, shape: Shape) -> bool:
        """Whether a reservation for such tasks would find nodes, as far as they are known: also if
        what was claimed since the last poll is where it is most in its way."""
        entry = self.entries[cluster]
        snapshot = entry.snapshot
        settings = self._settings.clusters[cluster]
        if not shape or not settings.reserves or snapshot is None:
            return True
        idle = snapshot.free if shape.beyond_processors else snapshot.idle
        left = nodes.room_left(idle, shape, entry.unseen, settings.unit)
        return not snapshot.nodes or left >= processors
