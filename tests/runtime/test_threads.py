"""Pools that start no thread while there is work."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from metabroker.threads import started_pool


def test_no_task_starts_a_thread() -> None:
    before = set(threading.enumerate())
    with started_pool(4, "some") as pool:
        its_own = set(threading.enumerate()) - before
        assert len(its_own) == 4
        assert all(thread.name.startswith("some") for thread in its_own)
        together = threading.Barrier(4)
        tasks = [pool.submit(together.wait, 20) for _ in range(4)]
        assert sorted(task.result(20) for task in tasks) == [0, 1, 2, 3]
        assert set(threading.enumerate()) - before == its_own


def test_a_thread_that_cannot_be_started_leaves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(threading.enumerate())
    submitted, submit = [], ThreadPoolExecutor.submit

    def third_fails(pool: ThreadPoolExecutor, *given: object) -> object:
        submitted.append(given)
        if len(submitted) == 3:
            raise RuntimeError("can't start new thread")
        return submit(pool, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(ThreadPoolExecutor, "submit", third_fails)
    with pytest.raises(RuntimeError, match="new thread"):
        started_pool(4, "some")
    for thread in set(threading.enumerate()) - before:
        thread.join(20)
    assert set(threading.enumerate()) == before
