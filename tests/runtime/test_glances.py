"""What components far away have written down is seen within a moment, at the cost of few looks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import pytest

from metabroker.broker.events import Arrived, Ended, Event, Started
from metabroker.broker.states import Cause
from metabroker.broker.tokens import Ref
from metabroker.clusters.gate import records
from metabroker.clusters.port import Cluster, ClusterRefusal, ComponentRecord
from metabroker.clusters.transports.base import NotAllowed
from metabroker.runtime.requests import RequestBuilder
from metabroker.runtime.watcher import NEAR, Watcher, WatchInterval

RARE = WatchInterval(0.005, 0.5, growth=1000.0)
REF = Ref(1, 1, 0)


class Far:
    """A cluster that counts what is asked of it. A look tells what a glance has shown before."""

    def __init__(self) -> None:
        self.record = self.shown = ComponentRecord()
        self.looks = self.glances = 0
        self.misleads = False
        self.error: Exception | None = None

    def look(self, gates: Iterable[str]) -> dict[str, ComponentRecord]:
        self.looks += 1
        return dict.fromkeys(gates, self.shown)

    def has_more(self, seen: Mapping[str, ComponentRecord]) -> bool:
        self.glances += 1
        if self.error is not None:
            raise self.error
        news = any(set(records.next_of(record)) & self.names() for record in seen.values())
        if news:
            self.shown = self.record
        return news or self.misleads

    def names(self) -> set[str]:
        """What is in the gate."""
        it = self.record
        told = {"arrived": it.arrived, "run": it.begun, "started": it.started is not None}
        told |= {"ended": it.exit_code is not None, f"out.{it.outbox}": it.outbox > 0}
        return {name for name, there in told.items() if there}


class Builder:
    def gate(self, ref: Ref) -> str:
        return f"/gates/{ref.job}"


@contextmanager
def watching(cluster: Far, pace: WatchInterval = RARE) -> Iterator[list[Event]]:
    """A watcher that has looked once, and has found nothing; what it tells."""
    events: list[Event] = []
    watcher = Watcher(
        cast(Cluster, cluster), cast(RequestBuilder, Builder()), events.append, "delft", pace
    )
    watcher.watch(REF)
    wait(lambda: cluster.glances > 1 or cluster.looks > 2)
    try:
        yield events
    finally:
        watcher.close()


def wait(found: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 60
    while not found():
        assert time.monotonic() < deadline
        threading.Event().wait(0.001)


def test_each_thing_that_a_component_writes_down_is_told_in_a_pause() -> None:
    cluster = Far()
    with watching(cluster) as events:
        cluster.record = ComponentRecord(arrived=True, hosts=("n1",))
        wait(lambda: Arrived(REF, "n1") in events)
        cluster.record = ComponentRecord(True, ("n1",), True, 5.0)
        wait(lambda: Started(REF, 5.0, "n1", None) in events)
        cluster.record = ComponentRecord(True, ("n1",), True, 5.0, 6.0, 0)
        wait(lambda: Ended(REF, 6.0, 0) in events)
    assert len(events) == 3


def test_in_a_pause_there_are_some_glances_and_no_look() -> None:
    cluster = Far()
    with watching(cluster):
        glances, looks = cluster.glances, cluster.looks
        wait(lambda: cluster.looks > looks + 3)
    assert cluster.glances - glances >= cluster.looks - looks


def test_long_pauses_have_one_glance() -> None:
    pace = WatchInterval(0.03, 2.0, growth=1.05)
    assert [pace.glance(pause) for pause in (0.1, 0.4, 2.0)] == [0.03, 0.05, 1.0]
    assert NEAR.glance(0.1) == 0.0


def test_who_misleads_with_what_no_look_tells_has_a_look_now_and_then() -> None:
    cluster = Far()
    cluster.misleads = True
    with watching(cluster, WatchInterval(0.005, 0.08, growth=1000.0)):
        looks, glances = cluster.looks, cluster.glances
        wait(lambda: cluster.looks > looks + 2)
        assert cluster.glances == glances


@pytest.mark.parametrize(
    "error", [ClusterRefusal(Cause.REFUSED, "no"), NotAllowed("no account"), ValueError("garbled")]
)
def test_a_glance_that_fails_is_none(error: Exception) -> None:
    cluster = Far()
    cluster.error = error
    with watching(cluster):
        looks, glances = cluster.looks, cluster.glances
        wait(lambda: cluster.glances > glances + 8)
    assert cluster.looks - looks < cluster.glances - glances
