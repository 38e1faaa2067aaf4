"""Threads that users share: turns, and never all of them for one user."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from metabroker.fair_pool import FairPool

SOON = 20.0  # seconds: only a failure waits so long


@pytest.fixture
def pool() -> Iterator[FairPool]:
    made = FairPool(3, "lab")
    yield made
    made.shutdown()


def test_who_hangs_leaves_a_thread_for_the_others(pool: FairPool) -> None:
    go, done = threading.Event(), threading.Event()
    hung = threading.Semaphore(0)

    def hang() -> None:
        hung.release()
        go.wait(SOON)

    try:
        for _ in range(10):
            pool.submit("bob", hang)
        assert hung.acquire(timeout=SOON) and hung.acquire(timeout=SOON)
        pool.submit("alice", done.set)
        assert done.wait(SOON)
        assert not hung.acquire(blocking=False), "all but one thread are the most for one user"
    finally:
        go.set()


def test_users_take_turns_and_each_ones_work_keeps_its_order() -> None:
    pool = FairPool(1, "lab")
    busy, go, ended = threading.Event(), threading.Event(), threading.Event()
    begun: list[str] = []

    def block() -> None:
        busy.set()
        go.wait(SOON)

    pool.submit("bob", block)
    assert busy.wait(SOON)
    for number in range(4):
        pool.submit("bob", lambda n=number: begun.append(f"bob {n}"))  # type: ignore[misc]
    for number in range(2):
        pool.submit("alice", lambda n=number: begun.append(f"alice {n}"))  # type: ignore[misc]
    pool.submit("carol", lambda: begun.append("carol"))
    pool.submit("bob", ended.set)
    go.set()
    assert ended.wait(SOON)
    pool.shutdown()
    assert begun[:5] == ["bob 0", "alice 0", "carol", "bob 1", "alice 1"]
    assert begun[5:] == ["bob 2", "bob 3"]


def test_work_that_fails_costs_no_thread(pool: FairPool) -> None:
    def fail() -> None:
        raise ValueError("unexpected")

    done = threading.Event()
    for _ in range(9):
        pool.submit("bob", fail)
    pool.submit("bob", done.set)
    assert done.wait(SOON)


def test_what_has_begun_is_finished_at_the_end_and_nothing_else() -> None:
    pool = FairPool(1, "lab")
    began, go = threading.Event(), threading.Event()
    done: list[str] = []

    def first() -> None:
        began.set()
        go.wait(SOON)
        done.append("first")

    pool.submit("bob", first)
    pool.submit("bob", lambda: done.append("second"))
    assert began.wait(SOON)
    closer = threading.Thread(target=pool.shutdown)
    closer.start()
    while not pool._closed:
        pass
    go.set()
    closer.join(SOON)
    assert done == ["first"]
    with pytest.raises(RuntimeError):
        pool.submit("alice", lambda: None)


def test_all_threads_are_there_from_the_beginning() -> None:
    before = set(threading.enumerate())
    pool = FairPool(3, "lab")
    its_own = set(threading.enumerate()) - before
    assert len(its_own) == 3
    done = threading.Semaphore(0)
    for number in range(20):
        pool.submit(f"user {number}", lambda: done.release())
    assert all(done.acquire(timeout=SOON) for _ in range(20))
    assert set(threading.enumerate()) - before == its_own
    pool.shutdown()
