"""Planned jobs whose components wait at the barrier, over a restart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from metabroker.broker import tokens
from metabroker.broker.effects import Submit
from metabroker.broker.events import Arrived, Observed, Submitted
from metabroker.broker.observation import NativeJob, NativeState, Snapshot
from metabroker.broker.states import JobState

from .bench import INSTANCE
from .planned import DELFT, Site


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
    first = site.job(job.id).components[0]
    native = NativeJob("7", None, NativeState.RUNNING, "RUNNING", 8, start_time=site.now - waited)
    token = tokens.make(INSTANCE, first.ref)
    shown = Snapshot(site.now, 32, 32, 32, {token: 8}, {token: native}, clock_offset=0.0)
    site.handle(Observed(DELFT, shown))
    assert (site.job(job.id).state is JobState.WAITING) is not too_long
