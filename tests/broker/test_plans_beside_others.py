"""Plans in clusters of which others have reserved something for later."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from metabroker.broker.effects import Clean, Reserve
from metabroker.broker.observation import Coming
from metabroker.broker.states import JobState
from metabroker.policy.availability import Booked

from .planned import DELFT, FREE_AT, Site


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.bench.close()


def test_maintenance_that_comes_over_a_reservation_has_it_planned_anew(site: Site) -> None:
    job = site.planned()
    begins = (job.planned or 0) - 60
    site.coming[DELFT] = [Coming("R1", begins, begins + 7200, 32, 0, maintenance=True)]
    assert any(isinstance(effect, Clean) for effect in site.pass_time(10))
    assert job.state is JobState.QUEUED
    site.clean()
    site.effects = site.effects + site.pass_time(20)
    site.reserve_all()
    assert job.planned is not None and job.planned >= begins + 7200


def test_a_cluster_that_is_reserved_twice_over_is_planned_for_what_is_left_each_time(
    site: Site,
) -> None:
    """(The second is told by what the first does not take already: of 32 processors none.)"""
    begins = FREE_AT + 300
    site.coming[DELFT] = [
        Coming("R1", begins - 290, begins - 10, 32, 0),
        Coming("R2", begins, begins + 7200, 0, 0),
    ]
    site.others[DELFT] = [Booked(32, begins - 290, begins - 10), Booked(32, begins, begins + 7200)]
    site.look()
    assert (site.planned().planned or 0) >= begins + 7200


@pytest.mark.parametrize("processors", [32, 8])
def test_it_is_not_tried_to_start_earlier_what_maintenance_keeps_from_that(
    site: Site, processors: int
) -> None:
    """Its reservations would have to last over the maintenance. (Not if that leaves enough.)"""
    begins = FREE_AT + 300
    site.coming[DELFT] = [Coming("R1", begins, begins + 600, processors, 0, maintenance=True)]
    site.others[DELFT] = [Booked(32, begins, begins + 600)]
    site.look()
    job = site.planned()
    assert (job.planned or 0) >= begins + 600
    site.busy = [24, 24]
    site.others[DELFT] = [Booked(processors, begins, begins + 600)]
    moves = [effect for effect in site.pass_time(30) if isinstance(effect, Reserve)]
    assert bool(moves) is (processors == 8)
