"""What a broker that stands by tells where its question to the leader is cut off."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from metabroker.api.service import Failure
from metabroker.daemon.sharing.rpc_client import RpcClient
from metabroker.store import Store, StoreUnavailable
from metabroker.store.database import Guard
from metabroker.store.requests import ANSWERED
from tests.daemon_units.making import ANNA, refused


class Cut(Store):
    """Its connection is cut in its next uses: "before" what is done, or "after" it."""

    def __init__(self, folder: Path) -> None:
        self.cuts: list[str] = []
        super().__init__(f"sqlite:///{folder}/m.db", clock=lambda _connection: time.time())

    def _guarded(self, uses: Guard) -> Guard:
        @contextmanager
        def seen() -> Iterator[None]:
            cut = self.cuts.pop(0) if self.cuts else ""
            if cut == "before":
                raise StoreUnavailable("the server closed the connection")
            with uses():
                yield
            if cut == "after":
                raise StoreUnavailable("the server closed the connection")

        return seen


@pytest.mark.parametrize(
    ("cuts", "failure", "taken"),
    [
        (["before"], Failure.UNAVAILABLE, 0),
        (["", "after", "before"], Failure.UNDECIDED, 1),  # the commit, and taking it back
        (["", "after", ""], Failure.UNAVAILABLE, 0),  # it was taken back
        (["", "before", ""], Failure.UNDECIDED, 0),  # nothing to be taken back: it may be to come
    ],
)
def test_what_is_told_is_what_is_certain(
    tmp_path: Path, cuts: list[str], failure: Failure, taken: int
) -> None:
    store = Cut(tmp_path)
    client = RpcClient(store.requests, store.listener(ANSWERED), "b")
    store.cuts = cuts
    error = refused(lambda: client.ask("cancel", ANNA, {"job": 17}, 20.0))
    assert error.failure is failure
    certain = failure is Failure.UNAVAILABLE
    assert ("nothing was changed" if certain else "check before you repeat it") in error.advice
    assert len(store.requests.take(1)) == taken
    store.close()
