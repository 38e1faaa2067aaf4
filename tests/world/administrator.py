"""Who drains clusters, and what is then promised."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from metabroker.broker.events import DrainCluster, ResumeCluster
from metabroker.runtime.asked import Ask

from .oracle import Violation

if TYPE_CHECKING:
    from .world import World

_AGAIN = 7.0  # seconds after which who was not answered asks again


class Administrator:
    """`drained`: the clusters whose drain was acknowledged, until their resumption is asked for."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.drained: set[int] = set()
        self._lately: set[int] = set()  # of them: since the last turn that was looked at
        self._until: dict[int, float] = {}
        self._resumptions: dict[int, int] = {}  # how often that was asked for

    def drain(self, cluster: int, until: float) -> None:
        """Drain it until then; who drains a drained one makes that longer."""
        new = cluster not in self._until
        self._until[cluster] = max(until, self._until.get(cluster, until))
        if new:
            self._ask(cluster)

    def check(self, placed: Iterable[int], chosen: Iterable[int]) -> None:
        """Clusters in which a turn has placed a job, or chosen one that has come up in the line:
        none of them is drained, as was acknowledged. (One that was drained in this very turn may
        have been so after the choice.)"""
        lately, self._lately = self._lately, set()
        for cluster in [*placed, *(c for c in chosen if c not in lately)]:
            if cluster in self.drained:
                raise Violation(f"a job was placed in cluster {cluster}, which is drained")

    def _ask(self, cluster: int) -> None:
        """Again and again until it is acknowledged."""
        world, life = self._world, self._world.life
        over = world.now >= self._until[cluster]
        if over:
            self.drained.discard(cluster)
        before = self._resumptions.get(cluster, 0)
        if life is not None and over:
            self._resumptions[cluster] = before + 1
            life.post(Ask(ResumeCluster(cluster, "root"), cluster, partial(self._resumed, cluster)))
        elif life is not None and cluster not in self.drained:
            world.tally.add("drain")
            answered = partial(self._drained, cluster, before)
            life.post(Ask(DrainCluster(cluster, "root"), cluster, answered))
        if cluster in self._until:
            pause = max(0.1, self._until[cluster] - world.now)
            world.at(world.now + min(_AGAIN, pause), partial(self._next, cluster))

    def _next(self, cluster: int) -> None:
        if cluster in self._until:
            self._ask(cluster)

    def _drained(self, cluster: int, before: int, outcome: int | Exception) -> None:
        """That may be answered late, when a resumption that was asked for since is done too."""
        since = self._resumptions.get(cluster, 0) > before
        holds = not since and self._world.now < self._until.get(cluster, 0.0)
        if isinstance(outcome, int) and holds:
            self._world.tell(f"cluster {cluster} is drained")
            self.drained.add(cluster)
            self._lately.add(cluster)

    def _resumed(self, cluster: int, outcome: int | Exception) -> None:
        """That may be answered late, when it is to be drained again, and for longer."""
        if isinstance(outcome, int) and self._world.now >= self._until.get(cluster, 0.0):
            self._until.pop(cluster, None)
