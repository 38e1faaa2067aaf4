"""After a start: the clusters are held against the store before anything is decided.

The store may be behind its clusters (see `store_behind`), and one listing may be the only proof of
it: a job that waits by the store may be running in any of them. So until each cluster's first poll
has come to an end no attempt begins, no step is handed out, nothing is cleaned or called lost, and
no job number is given. (A number that was given before would make its new job the owner of the old
one's native jobs.)

A cluster that does not answer holds nobody up: its poll fails, and at the latest `until` the others
go on. What is to be done in that cluster itself waits for its own first listing, however long that
takes. So it remains possible that a job which the store has lost runs in a cluster that cannot be
reached, and begins a second time in another one: nobody could know.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class FirstPolls:
    """`awaited`: clusters whose first poll since the start has not come to an end; `unseen`: those
    that have shown no listing since; `until`: how long is waited, in Unix seconds. Without a start
    (`begin`) there is nothing to wait for."""

    awaited: set[int] = field(default_factory=set)
    unseen: set[int] = field(default_factory=set)
    until: float = 0.0

    def begin(self, clusters: int, until: float) -> None:
        """The broker has started, and remembers what its store holds."""
        self.awaited = set(range(clusters))
        self.unseen = set(range(clusters))
        self.until = until

    def failed(self, cluster: int) -> None:
        """A poll of the cluster has failed."""
        self.awaited.discard(cluster)

    def compared(self, cluster: int) -> None:
        """A listing of the cluster was held against the store."""
        self.awaited.discard(cluster)
        self.unseen.discard(cluster)

    def give_up(self, now: float) -> None:
        """Wait no longer, if it is time."""
        if now >= self.until:
            self.awaited.clear()

    @property
    def wait(self) -> bool:
        """Whether nothing is to be decided yet."""
        return bool(self.awaited)
