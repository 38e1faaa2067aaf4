"""Storms in which users have a share: no promise is broken for it, and no share exceeded."""

from __future__ import annotations

from itertools import islice

import pytest

from metabroker.broker.after_restore import History
from metabroker.broker.core import Broker
from metabroker.broker.resource_limits import ResourceLimit, ResourceLimits
from metabroker.broker.settings import Settings
from metabroker.policy import Scheduler
from tests.share import share

from . import life
from .generation import generate
from .play import play, play_seed

SEEDS = range(500_000, 500_000 + share(6))
MOST = 24  # processors


class Sharing(Broker):
    """One co-allocated job of a user at a time."""

    held_back = 0

    def __init__(self, settings: Settings, scheduler: Scheduler, history: History) -> None:
        super().__init__(settings, scheduler, history)
        self.limit(ResourceLimits(ResourceLimit(coallocated=1)))

    def schedule(self, now: float) -> None:
        super().schedule(now)
        used = self.view.usage().coallocated
        assert all(jobs <= 1 for (kind, _), jobs in used.items() if kind == "user"), used
        Sharing.held_back += len(self.view.held_back)


def test_no_promise_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(life, "Broker", Sharing)
    for seed in SEEDS:
        outcome = play_seed(seed)
        assert not outcome.wrong, f"seed {seed}: {outcome.wrong}\n" + "\n".join(outcome.story[-60:])
    assert Sharing.held_back > 30


class Holding(Broker):
    """So many processors of a user at a time, as they are held."""

    held_back = 0

    def __init__(self, settings: Settings, scheduler: Scheduler, history: History) -> None:
        super().__init__(settings, scheduler, history)
        self.limit(ResourceLimits(ResourceLimit(processors=MOST)))

    def schedule(self, now: float) -> None:
        before = self.view.usage().processors  # what an older store does not tell may be found
        super().schedule(now)
        used = self.view.usage().processors
        for (kind, user), held in used.items():
            assert kind == "queue" or held <= max(MOST, before[kind, user]), used
        Holding.held_back += len(self.view.held_back)


def test_where_nodes_are_given_whole_nobody_holds_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(life, "Broker", Holding)
    worlds = (generate(seed) for seed in range(510_000, 520_000))
    whole = (world for world in worlds if any(cluster.unit > 1 for cluster in world.clusters))
    for world in islice(whole, share(3)):
        outcome = play(world)
        story = "\n".join(outcome.story[-60:])
        assert not outcome.wrong, f"seed {world.seed}: {outcome.wrong}\n{story}"
    assert Holding.held_back > 30
