"""The lease: one leader at a time, each in a term of its own, and nothing written in an old one."""

from __future__ import annotations

import pytest

from metabroker.broker.lease_term import LeaseWatch
from metabroker.broker.outbox import OutboxEntry, Ready
from metabroker.store import LeadershipLost, Store, Transaction
from metabroker.store.rows import ClusterNames

from .making import Time


def written(store: Store) -> None:
    """Write something."""
    ready = Ready([], [], [OutboxEntry(1.0, 1, 1, "placed", {})], [])
    store.commit(Transaction(ready), ClusterNames(["c"]))


def test_a_lease_is_held_by_one_until_it_has_run_out(store: Store, time: Time) -> None:
    lease = store.leadership
    assert lease.leader() is None and lease.term() == 0
    assert lease.take("a", 10) == 1
    assert lease.take("b", 10) is None
    time.now += 9.9
    assert lease.take("b", 10) is None
    time.now += 0.1
    assert lease.take("b", 10) == 2
    leader = lease.leader()
    assert leader is not None and (leader.term, leader.holder, leader.seconds) == (2, "b", 10)


@pytest.mark.parametrize("later", [9, 100], ids=["while it is held", "run out, and not taken"])
def test_a_lease_that_is_renewed_goes_on(store: Store, time: Time, later: int) -> None:
    lease = store.leadership
    assert lease.take("a", 10) == 1
    time.now += later
    assert lease.renew(1, 10)
    time.now += 9
    assert lease.take("b", 10) is None


@pytest.mark.parametrize("step", [3600.0, -3600.0])
def test_a_step_of_the_databases_clock_changes_no_leader(
    store: Store, time: Time, step: float
) -> None:
    lease, watch, now = store.leadership, LeaseWatch(), 50.0
    assert lease.take("a", 10) == 1
    time.now += step
    for _ in range(20):
        row = lease.row(10)
        assert not watch.run_out(row, row.seconds, now)
        assert lease.renew(1, 10)
        assert lease.take("b", 10, row) is None, "it was renewed since it was read"
        now += 2.5
    row = lease.row(10)
    assert not watch.run_out(row, row.seconds, now)
    assert watch.run_out(lease.row(10), row.seconds, now + 10)
    assert lease.take("b", 10, row) == 2


@pytest.mark.parametrize("renewed", [False, True], ids=["let go", "held"])
def test_who_has_seen_a_later_lease_waits_where_the_database_has_lost_it(
    store: Store, renewed: bool
) -> None:
    lease, watch, now = store.leadership, LeaseWatch(), 50.0
    assert lease.take("a", 10) == 1
    if not renewed:
        lease.release(1)
    older = lease.row(10)
    if renewed:
        assert lease.renew(1, 10)
    else:
        assert lease.take("b", 10, older) == 2
    assert (watch.run_out(lease.row(10), 10, now), watch.went_back) == (False, False)
    for later, over in ((1, False), (10, False), (11, True)):
        assert (watch.run_out(older, 10, now + later), watch.went_back) == (over, True)
    assert watch.last_term == (1 if renewed else 2)


def test_a_term_comes_after_all_that_its_holder_has_seen(store: Store) -> None:
    assert store.leadership.take("a", 0.0, None, 7) == 8
    assert store.leadership.take("b", 0.0, None, 7) == 9


def test_who_has_lost_the_lease_is_told(store: Store, time: Time) -> None:
    lease = store.leadership
    assert lease.take("a", 10) == 1
    time.now += 10
    assert lease.take("b", 10) == 2
    assert not lease.renew(1, 10)
    lease.release(1)
    assert lease.take("c", 10) is None


def test_a_lease_that_is_let_go_can_be_taken_at_once(store: Store) -> None:
    lease = store.leadership
    assert lease.take("a", 10) == 1
    lease.release(1)
    leader = lease.leader()
    assert leader is not None and leader.seconds == 0
    assert lease.take("b", 10) == 2


def test_nothing_is_written_in_an_old_term(store: Store, time: Time) -> None:
    lease = store.leadership
    store.term = lease.take("a", 10)
    written(store)
    time.now += 10
    assert lease.take("b", 10) == 2
    with pytest.raises(LeadershipLost):
        written(store)
    assert len(store.jobs.events(1)) == 1
    store.term = 2
    written(store)
    assert len(store.jobs.events(1)) == 2


def test_a_term_is_greater_than_what_it_was_raised_to(store: Store) -> None:
    lease = store.leadership
    lease.raise_to(1_700_000_000)
    assert lease.term() == 1_700_000_000
    assert lease.take("a", 10) == 1_700_000_001
