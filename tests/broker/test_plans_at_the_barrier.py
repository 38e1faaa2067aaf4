"""Planned jobs whose components wait at the barrier, over a restart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from metabroker.broker import tokens
from metabroker.broker.effects import Clean, Open, Submit
from metabroker.broker.events import Armed, Arrived, Observed, Submitted
from metabroker.broker.observation import NativeJob, NativeState, Snapshot
from metabroker.broker.states import JobState

from .bench import INSTANCE
from .planned import DELFT, LEIDEN, Site


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.bench.close()


def submitted(site: Site) -> None:
    """All that is planned, when its time has come."""
    for effect in site.pass_time(600):
        if isinstance(effect, Submit):
            site.handle(Submitted(effect.ref, "7", site.now))


def test_who_has_come_up_in_a_reservation_waits_no_longer_for_a_clock_that_was_wrong(
    site: Site,
) -> None:
    job = site.planned()
    submitted(site)
    site.handle(Arrived(job.components[0].ref, "node"))
    site.bench.now -= 5000  # in a new life
    site.bench.restart()
    job = site.job(job.id)
    assert job.state is JobState.WAITING
    assert job.deadline == site.now + site.bench.settings.plan_patience


@pytest.mark.parametrize("too_long", [False, True])
def test_who_waited_at_the_barrier_in_a_planned_reservation_is_opened_only_in_time(
    site: Site, too_long: bool
) -> None:
    """It is booked for less than one that was not planned."""
    job = site.planned()
    submitted(site)
    site.handle(*(Arrived(component.ref, "node") for component in job.components))
    waited = site.bench.settings.plan_overtime + (5.0 if too_long else -5.0)
    assert waited < site.bench.settings.barrier_slack
    site.bench.now += waited
    site.bench.restart()
    first, second = site.job(job.id).components
    site.handle(Arrived(first.ref, "node"), Arrived(second.ref, "node"))
    native = NativeJob("7", None, NativeState.RUNNING, "RUNNING", 8, start_time=site.now - waited)
    token = tokens.make(INSTANCE, first.ref)
    shown = Snapshot(site.now, 32, 32, 32, {token: 8}, {token: native}, clock_offset=0.0)
    site.handle(Observed(DELFT, shown))
    assert (site.job(job.id).state is JobState.WAITING) is not too_long


@pytest.mark.parametrize("short", [False, True])
def test_the_barrier_opens_only_if_the_reservations_last_for_the_whole_time_limit(
    site: Site, short: bool
) -> None:
    """A cluster ends what runs in a reservation with it. The broker was away for a while, or
    somebody has set the cluster's clock."""
    job = site.planned()
    submitted(site)
    (token,) = found = site.reserved[LEIDEN]
    left = job.time_limit - 60 if short else job.time_limit + 60
    found[token] = replace(found[token], end_time=site.now + left)
    site.look()
    site.handle(*(Arrived(component.ref, "node") for component in job.components))
    opened = site.handle(*(Armed(component.ref) for component in job.components))
    assert any(isinstance(effect, Open) for effect in opened) is not short
    told = [effect for effect in site.pass_time(1) if isinstance(effect, Clean)]
    assert bool(told) is short
    if short:
        events = site.bench.store.jobs.events(job.id)
        (line,) = [event for event in events if event["what"] == "rolled back"]
        assert "its plan is given up: component 1 in leiden: its reservation would" in str(line)
        assert (job.state, job.submission_failures) == (JobState.QUEUED, 0)


def test_a_reservation_is_not_ended_by_a_clock_that_nobody_has_looked_at_since_a_restart(
    site: Site,
) -> None:
    """A cluster whose clock is ahead would end it, and its running job with it, too early."""
    job = site.planned()
    submitted(site)
    site.handle(*(Arrived(component.ref, "node") for component in job.components))
    opened = site.handle(*(Armed(component.ref) for component in job.components))
    over = site.now + job.time_limit + site.bench.settings.plan_grace
    assert [e.until for e in opened if isinstance(e, Open)] == [over, over]
    again = [e for e in site.bench.restart().effects if isinstance(e, Open)]
    assert [e.until for e in again] == [None, None]


def test_nor_by_one_that_no_poll_has_told_yet(site: Site) -> None:
    """Clusters answer polls since a restart, but not what time it is."""
    job = site.planned()
    submitted(site)
    site.bench.restart()
    site.clock_awaited = True
    site.look()
    site.handle(*(Arrived(component.ref, "node") for component in site.job(job.id).components))
    armed = (Armed(component.ref) for component in site.job(job.id).components)
    opened = [e for e in site.handle(*armed) if isinstance(e, Open)]
    assert [e.until for e in opened] == [None, None]
