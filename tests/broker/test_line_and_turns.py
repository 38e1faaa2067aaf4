"""Who comes up in line while others, whom a pass has placed, are still to begin."""

from __future__ import annotations

import pytest

from metabroker.broker.effects import Open
from metabroker.broker.events import Arrived, Submitted
from metabroker.broker.states import JobState
from metabroker.policy import Aging

from .test_line import Site, of, sibling


def test_none_starts_past_one_that_is_placed_and_may_not_be_overtaken_again() -> None:
    """Should that one find no room in its turn, it waits again."""
    site = Site(aging=Aging(overtaken=1))
    old, young, late = site.submit(), site.submit(), site.submit()
    for job in (old, young, late):
        site.bench.handle(
            *(Submitted(s.ref, f"{job.id}{s.cluster}", site.bench.now) for s in job.line)
        )
    assert of(site.bench.handle(Arrived(sibling(young, 0), "node")).effects, Open)
    queues = site.bench.broker._queues
    watch = queues.scheduler._watch
    assert watch is not None and queues.scheduler_view.position(old.id) is not None
    # As where a pass has placed it, and has begun as many before it as one turn does.
    queues.withdraw(old)
    watch.left_protected = {old.id}
    queues.decided = {old.id: (1,)}
    effects = site.bench.handle(Arrived(sibling(late, 0), "node")).effects
    assert (of(effects, Open), late.state) == ([], JobState.QUEUED)
    site.bench.close()


@pytest.mark.parametrize("back", [True, False], ids=["is to come back", "is still to begin"])
def test_no_more_start_past_one_that_is_placed_than_may_overtake_it(back: bool) -> None:
    """It was not protected when the pass placed it, and finds no room, or may find none."""
    site = Site(aging=Aging(overtaken=1))
    old, young, late = site.submit(), site.submit(), site.submit()
    for job in (old, young, late):
        site.bench.handle(
            *(Submitted(s.ref, f"{job.id}{s.cluster}", site.bench.now) for s in job.line)
        )
    queues = site.bench.broker._queues
    queues.scheduler.remove(old.id, (1,), old.seq)  # as a pass does
    if back:
        queues.stepped_back = {old.id: old}
    else:
        queues.decided = {old.id: (1,)}
    assert of(site.bench.handle(Arrived(sibling(young, 0), "node")).effects, Open)
    effects = site.bench.handle(Arrived(sibling(late, 0), "node")).effects
    assert (of(effects, Open), late.state) == ([], JobState.QUEUED)
    site.bench.close()
