"""What clusters show of a time that was lost: the store came back from an older backup.

Its native jobs are somebody's, and may be running, so they are named and left alone until they end
or an administrator says otherwise. A reservation without a job holds processors for nobody: it
goes, where every job that could be in it would be seen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from . import tokens
from .observation import NativeJob, NativeState, Snapshot
from .restored import History
from .settings import Settings
from .tokens import Ref


@dataclass(slots=True)
class Orphan:
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


class Orphans:
    """Those of all clusters, as the last looks showed them."""

    def __init__(self, settings: Settings, history: History) -> None:
        self._settings = settings
        self.history = history
        self._found: list[dict[str, Orphan]] = [{} for _ in settings.clusters]

    def __iter__(self) -> Iterator[Orphan]:
        for found in self._found:
            yield from found.values()

    def __len__(self) -> int:
        return sum(map(len, self._found))

    def look(self, cluster: int, snapshot: Snapshot, shown: Collection[str]) -> list[Orphan]:
        """Take over a look, which showed these tokens of a lost time; those that are new."""
        before = self._found[cluster]
        now: dict[str, Orphan] = {}
        new: list[Orphan] = []
        for token in shown:
            left = before.get(token)
            if left is None:
                ref = tokens.parse(self._settings.instance, token)
                assert ref is not None, "the caller has parsed it"
                left = Orphan(token, ref, cluster, snapshot.taken_at)
                new.append(left)
            self._update(left, snapshot)
            now[token] = left
        self._found[cluster] = now
        return new

    def forget(self, left: Orphan) -> None:
        """It is none any more: its job was found."""
        self._found[left.cluster].pop(left.token, None)

    def to_remove(self, cluster: int, taken_at: float) -> list[Orphan]:
        """What need not, or must not, stay in a cluster."""
        return [left for left in self._found[cluster].values() if self._goes(left, taken_at)]

    def _update(self, left: Orphan, snapshot: Snapshot) -> None:
        native = snapshot.jobs.get(left.token)
        held = snapshot.reservations.get(left.token)
        left.native = None if native is None or native.state is NativeState.ENDED else native
        sizes = [native.processors] if left.native is not None and native is not None else []
        left.processors = max([*sizes, held.processors if held is not None else 0])
        if left.native is not None or not snapshot.settled:
            left.alone_since = None
        elif left.alone_since is None:
            left.alone_since = snapshot.taken_at

    def _goes(self, left: Orphan, taken_at: float) -> bool:
        if left.unwanted:
            return True
        if left.alone_since is None or self._settings.clusters[left.cluster].acting:
            return False
        return taken_at - left.alone_since >= self._settings.missing_grace
