"""Orphans: what a cluster shows of ours that no live component explains.

There are two kinds. Of most the store knows that their attempt is over: a late arrival, or what a
cleanup could not see. They are removed as soon as a poll shows them (`CleanStray`), and shown by
the next poll if that fails, so nothing of them is remembered.

Here are the others, the *unclaimed* ones: they were begun in a time that was lost, when the store
came back from an older backup. Their native jobs are somebody's, and may be running, so they are
named and orphan alone until they end or an administrator says otherwise (`metabroker leftovers`). A
reservation without a job holds processors for nobody: it goes, where every job that could be in it
would be seen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from . import tokens
from .after_restore import History
from .observation import NativeJob, NativeState, Snapshot
from .settings import Settings
from .tokens import Ref


@dataclass(slots=True)
class UnclaimedOrphan:
    """A native job, a reservation, or both, of one token. `since`: first seen, in Unix seconds;
    `alone_since`: since when only the reservation is shown."""

    token: str
    ref: Ref
    cluster: int
    since: float
    native: NativeJob | None = None
    processors: int = 0
    alone_since: float | None = None
    unwanted: bool = False  # an administrator has said so


class UnclaimedOrphans:
    """Those of all clusters, as the last polls showed them. `history`: what times were lost."""

    def __init__(self, settings: Settings, history: History) -> None:
        self._settings = settings
        self.history = history
        self._found: list[dict[str, UnclaimedOrphan]] = [{} for _ in settings.clusters]

    def __iter__(self) -> Iterator[UnclaimedOrphan]:
        for found in self._found:
            yield from found.values()

    def __len__(self) -> int:
        return sum(map(len, self._found))

    def observe(
        self, cluster: int, snapshot: Snapshot, shown: Collection[str]
    ) -> list[UnclaimedOrphan]:
        """Take over a poll, which showed these tokens of a lost time; those that are new."""
        before = self._found[cluster]
        now: dict[str, UnclaimedOrphan] = {}
        new: list[UnclaimedOrphan] = []
        for token in shown:
            orphan = before.get(token)
            if orphan is None:
                ref = tokens.parse(self._settings.instance, token)
                assert ref is not None, "the caller has parsed it"
                orphan = UnclaimedOrphan(token, ref, cluster, snapshot.taken_at)
                new.append(orphan)
            self._update(orphan, snapshot)
            now[token] = orphan
        self._found[cluster] = now
        return new

    def forget(self, orphan: UnclaimedOrphan) -> None:
        """It is none any more: its job was found."""
        self._found[orphan.cluster].pop(orphan.token, None)

    def to_remove(self, cluster: int, taken_at: float) -> list[UnclaimedOrphan]:
        """What need not, or must not, stay in a cluster."""
        return [orphan for orphan in self._found[cluster].values() if self._goes(orphan, taken_at)]

    def _update(self, orphan: UnclaimedOrphan, snapshot: Snapshot) -> None:
        native = snapshot.jobs.get(orphan.token)
        held = snapshot.reservations.get(orphan.token)
        orphan.native = None if native is None or native.state is NativeState.ENDED else native
        sizes = [native.processors] if orphan.native is not None and native is not None else []
        orphan.processors = max([*sizes, held.processors if held is not None else 0])
        if orphan.native is not None or not snapshot.settled:
            orphan.alone_since = None
        elif orphan.alone_since is None:
            orphan.alone_since = snapshot.taken_at

    def _goes(self, orphan: UnclaimedOrphan, taken_at: float) -> bool:
        if orphan.unwanted:
            return True
        if orphan.alone_since is None or self._settings.clusters[orphan.cluster].acting:
            return False
        return taken_at - orphan.alone_since >= self._settings.missing_grace
