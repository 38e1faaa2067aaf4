"""Storms in which users have a share: no promise is broken for it, and no share exceeded."""

from __future__ import annotations

import pytest

from metabroker.broker.after_restore import History
from metabroker.broker.core import Broker
from metabroker.broker.resource_limits import ResourceLimit, ResourceLimits
from metabroker.broker.settings import Settings
from metabroker.policy import Scheduler
from tests.share import share

from . import life
from .play import play_seed

SEEDS = range(500_000, 500_000 + share(6))


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
