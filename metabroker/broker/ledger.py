"""Which processors the broker could really get, cluster by cluster.

What others hold is known from the last look; what the broker itself holds is known from its own
claims, which count from placement until the cluster was seen clean. So a claim is never counted
twice and never missed, whichever of the look and the claim came first. A cluster that does not
answer, or did not lately, has no idle processors: unknown is not idle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .observation import Snapshot
from .settings import Settings

# Of a token that was cleaned: how long a look that began before may still show it, in seconds.
_REMEMBER_CLEANED = 600.0


@dataclass(slots=True)
class LedgerEntry:
    """One cluster's entry."""

    processors: int = 0  # in all, as last known
    usable: int = 0
    others: int = 0  # held by anybody but live claims of ours
    claimed: int = 0
    snapshot: Snapshot | None = None
    reachable: bool = False
    detail: str = "not looked at yet"
    cap: int | None = None  # fewer than were refused, until `cap_until`
    cap_until: float = 0.0
    cap_detail: str = ""  # what it said
    refusals: int = 0
    suspect_since: float | None = None  # a step failed for want of an answer: look again first
    cleaned: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Avoided:
    """So many processors at most are asked of a cluster at a time, until then (None: until the next
    look), and why."""

    most: int
    until: float | None
    why: str


class Ledger:
    """Claims and looks of all clusters."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.accounts = [LedgerEntry(processors=c.processors) for c in settings.clusters]

    # --- claims -------------------------------------------------------------------------------

    def claim(self, cluster: int, processors: int) -> None:
        """Count processors as held by the broker."""
        self.accounts[cluster].claimed += processors

    def free(self, cluster: int, processors: int, token: str, now: float) -> None:
        """The cluster was seen clean of `token`: its processors are not held any more."""
        account = self.accounts[cluster]
        account.claimed -= processors
        account.cleaned[token] = now

    def cleaned_lately(self, cluster: int, token: str, taken_at: float) -> bool:
        """Whether a look begun at `taken_at` may still show `token` though it is over."""
        since = taken_at - self._settings.completing_grace
        return self.accounts[cluster].cleaned.get(token, float("-inf")) >= since

    # --- looks --------------------------------------------------------------------------------

    def observe(self, cluster: int, snapshot: Snapshot, claim: Callable[[str], int]) -> bool:
        """Take over a look; `claim` tells the processors of a token's live claim, or 0. True if
        more may be idle than before.

        What a job of ours holds beyond its claim (whole nodes, say) is as little to be had as
        what others hold.
        """
        account = self.accounts[cluster]
        before = self._idle_by_last_look(account, snapshot.taken_at)
        counted = sum(
            n if self.cleaned_lately(cluster, token, snapshot.taken_at) else min(n, claim(token))
            for token, n in snapshot.ours.items()
        )
        account.snapshot = snapshot
        account.processors = snapshot.processors
        account.usable = snapshot.usable
        account.others = max(0, snapshot.busy - counted)
        account.reachable = True
        account.detail = ""
        if account.suspect_since is not None and snapshot.taken_at >= account.suspect_since:
            account.suspect_since = None
        horizon = snapshot.taken_at - _REMEMBER_CLEANED
        if account.cleaned and min(account.cleaned.values()) < horizon:
            account.cleaned = {t: at for t, at in account.cleaned.items() if at >= horizon}
        return account.usable - account.others > before

    def _idle_by_last_look(self, account: LedgerEntry, now: float) -> int:
        last = account.snapshot
        if last is None or not account.reachable or account.suspect_since is not None:
            return 0
        stale = now - last.taken_at > self._settings.stale_after
        return 0 if stale else account.usable - account.others

    def lose(self, cluster: int, detail: str) -> None:
        """The cluster does not answer: nothing is known of it."""
        account = self.accounts[cluster]
        account.reachable = False
        account.detail = detail

    # --- refusals -----------------------------------------------------------------------------

    def refused(self, cluster: int, processors: int, detail: str, now: float) -> float:
        """The cluster had fewer than it seemed to; answers when to ask for as many again.

        The pause doubles with each refusal that comes after the last pause. What comes within one
        was mostly asked before it: all components of a moment may be refused for one reason.
        """
        account = self.accounts[cluster]
        cap = processors - 1
        if account.cap is None or account.cap_until <= now:
            account.refusals += 1
            account.cap = cap
        else:
            account.cap = min(cap, account.cap)
        account.cap_detail = detail
        account.cap_until = now + self._settings.refusal_delay(account.refusals)
        return account.cap_until

    def accepted(self, cluster: int) -> None:
        """The cluster gave what was asked of it."""
        account = self.accounts[cluster]
        account.refusals = 0

    def suspect(self, cluster: int, now: float) -> None:
        """A step got no answer: what is idle there is not known until the next look."""
        self.accounts[cluster].suspect_since = now

    # --- answers ------------------------------------------------------------------------------

    def known(self, cluster: int, now: float) -> bool:
        """Whether the cluster answers and what is known of it is fresh."""
        account = self.accounts[cluster]
        return (
            account.reachable
            and account.snapshot is not None
            and now - account.snapshot.taken_at <= self._settings.stale_after
        )

    def available(self, now: float) -> list[int]:
        """Processors that the broker could get now, for each cluster."""
        return [self._available(cluster, now) for cluster in range(len(self.accounts))]

    def _available(self, cluster: int, now: float) -> int:
        account = self.accounts[cluster]
        if not self.known(cluster, now) or account.suspect_since is not None:
            return 0
        idle = account.usable - account.others - account.claimed
        if account.cap is not None:
            if account.cap_until > now:
                idle = min(idle, account.cap)
            else:
                account.cap = None
        return self._whole(cluster, max(0, idle))

    def idle(self, cluster: int, now: float) -> int | None:
        """Processors that nobody holds there, as last seen; None: not known. There may be reasons
        to send fewer (`avoided`)."""
        if not self.known(cluster, now):
            return None
        account = self.accounts[cluster]
        return self._whole(cluster, max(0, account.usable - account.others - account.claimed))

    def avoided(self, cluster: int, now: float) -> Avoided | None:
        """Why the broker sends less there than is idle."""
        account = self.accounts[cluster]
        if account.suspect_since is not None:
            return Avoided(0, None, "a command got no answer, so it is looked at again first")
        if account.cap is None or account.cap_until <= now:
            return None
        return Avoided(account.cap, account.cap_until, f"it is full: {account.cap_detail}")

    def capacity(self, now: float) -> list[int]:
        """Processors in nodes that take jobs, for each cluster that answers; else 0."""
        return [
            self._whole(cluster, account.usable) if self.known(cluster, now) else 0
            for cluster, account in enumerate(self.accounts)
        ]

    def sizes(self) -> list[int]:
        """Processors in all, for each cluster, as last known (0: never known)."""
        return [
            self._whole(cluster, account.processors)
            for cluster, account in enumerate(self.accounts)
        ]

    def _whole(self, cluster: int, processors: int) -> int:
        """As many of them as there are in whole units."""
        unit = self._settings.clusters[cluster].unit
        return processors - processors % unit

    def fits(self, placement: Sequence[int], sizes: Sequence[int], now: float) -> bool:
        """Whether components of these sizes could all be had there now, in whole units."""
        held: dict[int, int] = {}
        for cluster, size in zip(placement, sizes, strict=True):
            units = self._settings.clusters[cluster].held(size)
            held[cluster] = held.get(cluster, 0) + units
        return all(total <= self._available(cluster, now) for cluster, total in held.items())
