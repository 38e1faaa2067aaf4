"""Who waits for the end of a job costs the core one look at it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from metabroker.api.service import Failure, ServiceError
from metabroker.broker.outbox import Ready
from metabroker.broker.states import JobState
from metabroker.service.completions import Completions
from metabroker.service.queries import unavailable


class _Store:
    """Reads one job, until it is away."""

    def __init__(self) -> None:
        self.reads, self.away = 0, False

    def row(self, number: int) -> dict[str, Any]:
        self.reads += 1
        if self.away:
            raise unavailable("the store cannot be reached")
        return {"id": number, "state": "RUNNING"}

    def of_row(self, row: dict[str, Any]) -> dict[str, Any]:
        return row


@pytest.mark.parametrize("away", [False, True])
def test_however_many_wait_it_is_read_once_also_if_it_cannot_be(away: bool) -> None:
    """Each look at a store that does not answer takes the core seconds."""
    store: Any = _Store()
    completions = Completions(store)
    waiting = [completions.wait(1) for _ in range(50)]
    store.reads, store.away = 0, away
    ended: Any = SimpleNamespace(id=1, state=JobState.COMPLETED)
    completions.written(Ready([ended], [], [], []))
    assert store.reads == 1 and all(future.done() for future in waiting)
    if not away:
        assert {future.result()["id"] for future in waiting} == {1}
        return
    for future in waiting:
        error = future.exception()
        assert isinstance(error, ServiceError) and error.failure is Failure.UNAVAILABLE
