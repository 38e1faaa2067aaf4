"""Components that cannot be watched at once: the store is away, or no thread can be started."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from metabroker.broker.tokens import Ref
from metabroker.clusters.port import Cluster, ComponentRecord, UnknownOutcome
from metabroker.runtime.requests import RequestBuilder
from metabroker.runtime.watcher import Watchers
from metabroker.store import StoreUnavailable
from tests.daemon_units.making import House

REFS = [Ref(number, 1, 0) for number in range(1, 51)]
BARRED = "anna"


class Near:
    """A cluster that remembers at which gates was looked; for one account it cannot act."""

    def __init__(self) -> None:
        self.looked: set[str] = set()

    def look(self, gates: Iterable[str]) -> dict[str, ComponentRecord]:
        self.looked.update(gates)
        return {}

    def acting_for(self, _account: str) -> Cluster:
        raise UnknownOutcome("`run_as` no longer acts for users")


class Builder:
    """What the store tells of components; `accounts`: of jobs that are not the broker's own."""

    def __init__(self) -> None:
        self.away = False
        self.asked = 0
        self.accounts: dict[int, str] = {}

    def account(self, ref: Ref) -> str | None:
        self.asked += 1
        if self.away:
            raise StoreUnavailable("the database does not answer")
        return self.accounts.get(ref.job)

    def gate(self, ref: Ref) -> str:
        return f"/gates/{ref.job}"


@pytest.fixture
def near() -> Near:
    return Near()


@pytest.fixture
def builder() -> Builder:
    return Builder()


@pytest.fixture
def watchers(near: Near, builder: Builder) -> Iterator[Watchers]:
    made = Watchers(
        cast(Cluster, near), cast(RequestBuilder, builder), lambda _event: None, "delft"
    )
    yield made
    made.close()


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No thread can be started until this is undone."""

    def fail(_self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", fail)
    return monkeypatch


def looked_at(near: Near, refs: Iterable[Ref]) -> bool:
    """Waits until it is so."""
    wanted = {f"/gates/{ref.job}" for ref in refs}
    deadline = time.monotonic() + 60
    while not wanted <= near.looked:
        assert time.monotonic() < deadline
        threading.Event().wait(0.001)
    return near.looked == wanted


def test_where_no_thread_could_be_started_the_next_component_has_one_started(
    watchers: Watchers, near: Near, no_threads: pytest.MonkeyPatch
) -> None:
    watchers.watch(REFS[0])
    no_threads.undo()
    watchers.watch(REFS[1])
    assert looked_at(near, REFS[1:2])
    watchers.try_again()
    assert looked_at(near, REFS[:2])


def test_without_any_thread_it_can_be_closed_too(
    watchers: Watchers, near: Near, no_threads: pytest.MonkeyPatch
) -> None:
    watchers.watch(REFS[0])
    watchers.close()
    no_threads.undo()
    watchers.try_again()
    assert not near.looked


def test_while_the_store_is_away_nothing_is_started_and_nothing_is_lost(
    watchers: Watchers, near: Near, builder: Builder, caplog: pytest.LogCaptureFixture
) -> None:
    builder.away, threads = True, threading.active_count()
    for ref in REFS:
        watchers.watch(ref)
    assert threading.active_count() == threads
    builder.asked = 0
    with caplog.at_level(logging.WARNING):
        caplog.clear()
        watchers.try_again()
    assert builder.asked == len(caplog.records) == 1, "a poll waits for the store once"
    watchers.unwatch(REFS[0])
    builder.away = False
    watchers.try_again()
    assert looked_at(near, REFS[1:])
    builder.asked = 0
    watchers.try_again()
    assert builder.asked == 0


def test_an_account_for_which_the_broker_cannot_act_keeps_no_other_from_being_watched(
    watchers: Watchers, near: Near, builder: Builder
) -> None:
    barred = REFS[::2]
    builder.away = True
    for ref in REFS:
        watchers.watch(ref)
    builder.away, builder.accounts = False, {ref.job: BARRED for ref in barred}
    watchers.try_again()
    assert looked_at(near, REFS[1::2])
    builder.accounts.clear()  # the configuration is as it was
    watchers.try_again()
    assert looked_at(near, REFS)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.close()


def test_each_poll_tries_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    executor, tried = house.executors[0], []
    monkeypatch.setattr(executor.watcher, "try_again", lambda: tried.append(1))

    def away(*_asked: Any) -> Any:
        raise StoreUnavailable("the database does not answer")

    executor.observe()
    monkeypatch.setattr(executor.cluster, "observe", away)
    executor.observe()
    assert len(tried) == 2
