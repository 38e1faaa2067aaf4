"""A broker acts while it surely leads; in doubt it waits, and once another leads it never acts."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.broker.lease_term import LeaseTerm, pause
from metabroker.clusters.transports.base import Command, CommandLost, Files
from metabroker.clusters.transports.fenced import permitted
from metabroker.clusters.transports.local import LocalTransport
from metabroker.daemon.sharing.lease import Lease
from metabroker.runtime.clock import Clock
from metabroker.store import Store, StoreUnavailable

SECONDS = 0.4


class Host:
    """A host's clock, and whether it reaches the database."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.now = 1000.0
        self.cut = False
        self.lost = threading.Event()

    def lease(self) -> Lease:
        """A lease that it has just taken."""
        term = self.store.leadership.take("a", SECONDS)
        assert term is not None
        host = self

        class Reached:
            """The table, as it is reached from there."""

            def renew(self, term: int, seconds: float) -> bool:
                if host.cut:
                    raise StoreUnavailable("cut")
                return host.store.leadership.renew(term, seconds)

            def release(self, term: int) -> None:
                host.store.leadership.release(term)

        table: Any = Reached()
        lease_term = LeaseTerm.granted(term, SECONDS, self.now)
        return Lease(table, lease_term, self.lost.set, clock=lambda: self.now)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(Store(f"sqlite:///{tmp_path}/a.db", clock=lambda _connection: time.time()))


def waits(call: Callable[[], None]) -> threading.Thread:
    """A call that does not return, for the time being."""
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(0.3)
    assert thread.is_alive()
    return thread


def test_while_it_surely_leads_it_may_act(host: Host) -> None:
    lease = host.lease()
    lease.permit()
    host.now += SECONDS / 2
    lease.permit()


def test_in_doubt_it_waits_until_the_lease_is_renewed(host: Host) -> None:
    lease = host.lease()
    host.cut = True
    lease.start()
    host.now += SECONDS
    waiting = waits(lease.permit)
    host.cut = False
    waiting.join(10)
    assert not waiting.is_alive()
    lease.close(release=True)


def test_once_another_leads_it_never_acts_again(host: Host) -> None:
    lease = host.lease()
    host.store.leadership.release(lease.lease_term.term)
    assert host.store.leadership.take("b", 60) == lease.lease_term.term + 1
    lease.start()
    assert host.lost.wait(10)
    with pytest.raises(CommandLost):
        lease.permit()
    lease.close(release=True)
    assert host.store.leadership.take("c", 60) is None, "it has nothing to let go any more"


def test_who_waits_is_let_go_when_the_broker_ends(host: Host) -> None:
    lease = host.lease()
    host.now += SECONDS
    ended: list[Exception] = []

    def act() -> None:
        try:
            lease.permit()
        except CommandLost as lost:
            ended.append(lost)

    waiting = waits(act)
    lease.close(release=True)
    waiting.join(10)
    assert ended
    assert host.store.leadership.take("b", 60) is not None, "let go"


def test_each_step_of_a_transport_asks_first(tmp_path: Path) -> None:
    asked: list[int] = []

    def permit() -> None:
        asked.append(1)
        raise CommandLost("no")

    transport = permitted(LocalTransport({}), permit)
    with pytest.raises(CommandLost):
        transport.run(Command(("true",)))
    assert asked == [1]
    given: dict[str, Any] = {
        "path": str(tmp_path), "old": "a", "new": "b", "content": b"", "offset": 0, "length": 1,
        "folders": (), "names": (),
    }  # fmt: skip
    steps = [n for n in dir(Files) if not n.startswith("_")]
    assert len(steps) >= 10
    for step in steps:
        wanted = inspect.signature(getattr(Files, step)).parameters
        values = [given[name] for name in wanted if name in given]
        with pytest.raises(CommandLost):
            getattr(transport.files, step)(*values)
    assert len(asked) == 1 + len(steps)


@given(
    st.floats(1, 100),
    st.lists(st.tuples(st.floats(0, 50), st.floats(0, 20)), max_size=20),
    st.floats(0.8, 1.25),
)
def test_who_holds_a_lease_stops_before_another_can_begin(
    seconds: float, questions: list[tuple[float, float]], rate: float
) -> None:
    """Whatever the delays, and though its clock goes a fifth too slow, or a quarter too fast."""
    lease_term = LeaseTerm.granted(1, seconds, 0.0)
    expires, now = seconds, 0.0  # by the database's clock, which is the true time here
    for pause_, delay in questions:
        now += pause_
        asked_at = now * rate
        now += delay
        if now >= expires:
            break  # another may have taken it
        expires = now + seconds
        lease_term.renewed(asked_at)
    assert not lease_term.may_act(expires * rate)


def test_a_lease_is_renewed_several_times_before_it_is_in_doubt() -> None:
    assert pause(8.0) * 2 < 8.0 * 0.75


def test_a_broker_that_takes_over_goes_by_the_clock_of_the_database(host: Host) -> None:
    clock = Clock(host.store.leadership.now() + 3600)
    assert 3590 < clock() - time.time() < 3610
    assert abs(Clock()() - time.time()) < 10
