"""Which system each cluster of the configuration really is.

A name is the configuration's: it can be changed, given to another system, or given twice. What a
cluster *is* its controller tells: Slurm's ClusterName with the controller's host and port, the host
and port of a PBS server. With the name of each cluster the store keeps the system to which its jobs
were sent, and each poll is held against that:

- A name that means another system now. If the new one shows jobs of ours that were sent to the
  former, it is the same one, whose controller has moved. Else nothing is sent there and nothing
  concluded, as long as jobs of ours are in the former: its silence is not their end.
- A former name (one that the configuration has no more, or uses for another system), and a cluster
  that is its system now: that is its *successor*, and goes on with all that has not ended.
- Two names of one system. They may share it by partitions (queues), if each names its own. Else the
  first one of the configuration has it, and the other one is not used.

A cluster of which nothing is known (simulated, or it does not say) is what its name says.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from . import tokens
from .job import Component
from .observation import Snapshot
from .settings import Settings

System = tuple[str, str | None]
"""A system, and the part of it (a partition or queue; None: the default one) that is used."""
UNKNOWN: System = ("", None)


class NotUsable(Exception):
    """Nothing is sent to a cluster that answers: why, and what to do."""


@dataclass(slots=True)
class Identities:
    """`sent_to`: by cluster, the system to which what is there was sent; `present`: what a poll
    since the start has told; "": not known."""

    settings: Settings
    in_cluster: Callable[[int], Collection[Component]]
    sent_to: list[str] = field(init=False)
    present: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.sent_to = [cluster.identity for cluster in self.settings.clusters]
        self.present = [""] * len(self.settings.clusters)

    def trouble(self, cluster: int, seen: Snapshot) -> str:
        """Take over what a poll tells. Why the cluster must not be used; "": it may be."""
        if seen.system:
            self.present[cluster] = seen.system
        system, before = self.present[cluster], self.sent_to[cluster]
        first = next(self._same(cluster), None)
        if first is not None:
            key = "partition" if self.settings.clusters[cluster].system == "slurm" else "queue"
            return (
                f"it is the same cluster as {first} ({system}), and is not used; remove one of "
                f"the two entries, or give each its own `{key}`"
            )
        if system != before and before and self._has_ours_of_before(cluster, seen):
            return (
                f"it is {system} now, and jobs of the broker are in {before}; give {before} its "
                "name back, or an entry of its own, or cancel and `metabroker abandon` these jobs"
            )
        self.sent_to[cluster] = system
        return ""

    def _same(self, cluster: int) -> Iterator[str]:
        """The entries before it that mean the same processors."""
        clusters, system = self.settings.clusters, self.present[cluster]
        part = clusters[cluster].part
        for other, entry in enumerate(clusters[:cluster]):
            overlap = part is None or entry.part is None or part == entry.part
            known = self.present[other] or self.sent_to[other]
            if system and entry.configured and overlap and known == system:
                yield entry.name

    def _has_ours_of_before(self, cluster: int, seen: Snapshot) -> bool:
        """Whether something of ours is in the cluster, and the poll shows none of it."""
        ours = self.in_cluster(cluster)
        names = [tokens.make(self.settings.instance, component.ref) for component in ours]
        shown = [token in seen.jobs or token in seen.reservations for token in names]
        return bool(ours) and not any(shown)

    # --- successors ---------------------------------------------------------------------------

    def successors(self) -> Mapping[str, str]:
        """Former names, and the names of the clusters that go on with what is there."""
        clusters = self.settings.clusters
        found = {}
        for former, entry in enumerate(clusters):
            system = self.sent_to[former]
            gone = not entry.configured or (self.in_cluster(former) and self._is_other(former))
            successor = self._successor(former, system) if system and gone else None
            if successor is not None:
                found[former] = successor
        while taken := [f for f, s in found.items() if s not in found and self._is_other(s)]:
            for former in taken:  # where something of another system's is itself
                del found[former]
        return {clusters[f].name: clusters[s].name for f, s in found.items()}

    def _is_other(self, cluster: int) -> bool:
        """Whether it is another system than what is there was sent to; or is not used, since it is
        a former entry's."""
        system, before = self.present[cluster], self.sent_to[cluster]
        other = bool(system and before) and system != before
        return bool(self.in_cluster(cluster)) and (other or any(self._same(cluster)))

    def _successor(self, former: int, system: str) -> int | None:
        """The cluster that is that system now, if there is no doubt which: the one with the same
        part of it; or that may mean the same; or of which nothing was known under its name."""
        clusters = self.settings.clusters
        part = clusters[former].part
        able = [
            other
            for other, entry in enumerate(clusters)
            if entry.configured and self.present[other] == system and not any(self._same(other))
        ]
        chosen = [other for other in able if clusters[other].part == part]
        chosen = chosen or [other for other in able if None in (part, clusters[other].part)]
        chosen = chosen or [other for other in able if not clusters[other].identity]
        return chosen[0] if len(chosen) == 1 and chosen[0] != former else None

    def by_name(self) -> dict[str, System]:
        """What is to be remembered."""
        clusters = zip(self.settings.clusters, self.sent_to, strict=True)
        return {entry.name: (system, entry.part) for entry, system in clusters if system}
