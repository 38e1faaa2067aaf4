"""Who of those that wait in a cluster's own queue is the broker's."""

from __future__ import annotations

from collections.abc import Sequence

from metabroker.clusters.native_queue import QueueWatch
from metabroker.clusters.operation import Operation


def listing(*told: str) -> Operation[Sequence[str]]:
    yield from ()
    return told


def look(watch: QueueWatch[str], now: float, *told: str) -> None:
    list(watch.look(now, lambda: listing(*told)))


def others(watch: QueueWatch[str]) -> set[str]:
    return set(watch.waiting) - watch.ours


def test_a_job_that_is_forgotten_between_the_two_listings_is_not_somebody_elses() -> None:
    watch: QueueWatch[str] = QueueWatch(every=0.0)
    watch.submitted("2")
    look(watch, 0.0, "1", "2")
    watch.seen([])
    assert others(watch) == {"1"}


def test_so_is_one_that_the_listing_before_has_shown() -> None:
    watch: QueueWatch[str] = QueueWatch(every=0.0)
    look(watch, 0.0, "1", "2")
    watch.seen(["2"])
    look(watch, 5.0, "1", "2")
    watch.seen([])
    assert others(watch) == {"1"}


def test_an_id_that_is_given_again_to_somebody_else_is_theirs_soon() -> None:
    watch: QueueWatch[str] = QueueWatch(every=0.0)
    watch.submitted("2")
    for now in (0.0, 5.0, 10.0):
        look(watch, now, "1", "2")
        watch.seen([])
    assert others(watch) == {"1", "2"}


def test_what_is_known_to_be_otherwise_is_asked_for_again_soon() -> None:
    watch: QueueWatch[str] = QueueWatch(every=15.0)
    look(watch, 0.0, "1")
    look(watch, 6.0, "1", "2")
    assert others(watch) == {"1"}
    watch.stale = True
    look(watch, 7.0, "1", "2", "3")
    assert others(watch) == {"1", "2", "3"}
    look(watch, 13.0)
    assert others(watch) == {"1", "2", "3"}
