"""Jobs are set apart from what the collector of cycles looks at."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from metabroker.runtime.collector import Collector


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """Each time, whether the collector was at work."""
    times: list[bool] = []
    monkeypatch.setattr(gc, "freeze", lambda: times.append(gc.isenabled()))
    yield times
    gc.enable()


def test_what_is_loaded_is_set_apart_before_it_is_looked_at(frozen: list[bool]) -> None:
    with Collector().loading():
        assert not gc.isenabled()
    assert (frozen, gc.isenabled()) == ([False], True)


def test_a_load_that_fails_leaves_the_collector_at_work(frozen: list[bool]) -> None:
    with pytest.raises(KeyError), Collector().loading():
        raise KeyError
    assert gc.isenabled()


def test_garbage_is_not_set_apart_with_what_was_learned(frozen: list[bool]) -> None:
    class Kept(list[object]):
        """Can be referred to weakly."""

    found = Kept()
    found.append(found)
    left = weakref.ref(found)
    del found
    Collector.learned()
    assert len(frozen) == 1 and left() is None


def test_it_is_done_again_whenever_there_are_twice_as_many(frozen: list[bool]) -> None:
    collector = Collector()
    for jobs in (10, 9_999, 12_000, 20_000, 12_000, 24_001, 30_000, 48_003):
        collector.there_are(jobs)
    assert len(frozen) == 3
