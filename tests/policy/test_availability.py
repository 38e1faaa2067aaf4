"""When clusters that others use too will have processors free (`policy.availability`)."""

from __future__ import annotations

from math import inf

from metabroker.policy import Request
from metabroker.policy.availability import (
    Booked,
    Held,
    Outlook,
    Wanted,
    before,
    earliest_common_start,
    give_back,
    profile_of_cluster,
)

NOW = 1000.0
BOTH = Request((8, 8))


def start(*outlooks: Outlook, request: Request = BOTH, not_before: float = NOW) -> object:
    pools = [profile_of_cluster(outlook, NOW) for outlook in outlooks]
    return earliest_common_start(pools, request, 600, not_before)


def test_the_common_start_is_the_latest_of_the_earliest() -> None:
    full = Outlook(16, [Held(16, NOW + 300)])
    later = Outlook(16, [Held(4, NOW + 200), Held(12, NOW + 900)])
    assert start(full, Outlook(16)) == (NOW + 300, (0, 1))
    assert start(full, later) == (NOW + 900, (0, 1))


def test_of_three_clusters_the_two_that_are_free_first_are_taken_by_worst_fit() -> None:
    full, idle = Outlook(16, [Held(16, NOW + 300)]), Outlook(16)
    assert start(full, idle, Outlook(64)) == (NOW, (2, 1))
    assert start(full, idle, Outlook(16, [Held(16, NOW + 200)])) == (NOW + 200, (1, 2))


def test_what_waits_in_a_clusters_own_queue_comes_first() -> None:
    queued = Outlook(16, [Held(16, NOW + 300)], wanted=[Wanted(12, 500), Wanted(8, 100)])
    # 12 from 300 to 800, 8 from 800 to 900: there are 8 beside those from 800 on.
    assert start(queued, Outlook(16)) == (NOW + 800, (1, 0))


def test_who_came_later_comes_first_only_where_the_queue_has_put_them_before_others() -> None:
    waits = [Wanted(4, 60, NOW + 5), Wanted(4, 60, NOW - 5), Wanted(4, 60, NOW + 6)]
    assert (before(waits, NOW), before(waits, NOW - 6), before(waits, NOW + 9)) == (2, 0, 3)


def test_a_short_gap_before_a_reservation_is_not_enough() -> None:
    booked = Outlook(16, booked=[Booked(16, NOW + 500, NOW + 900)])
    assert start(booked, Outlook(16)) == (NOW + 900, (0, 1))
    beside = Outlook(16, booked=[Booked(8, NOW + 500, NOW + 900)])
    assert start(beside, Outlook(16)) == (NOW, (1, 0))


def test_nothing_is_planned_on_processors_of_which_nobody_knows_when_they_are_free() -> None:
    assert start(Outlook(16, [Held(9, inf)]), Outlook(16)) == (inf, ())


def test_what_should_have_ended_goes_on_for_a_while() -> None:
    assert start(Outlook(16, [Held(16, NOW - 5)]), Outlook(16)) == (NOW + 60, (0, 1))


def test_what_is_to_end_in_a_moment_is_believed_to() -> None:
    assert start(Outlook(16, [Held(16, NOW + 5)]), Outlook(16)) == (NOW + 5, (0, 1))


def test_not_before_is_kept_and_clusters_that_are_no_candidates_are_left_out() -> None:
    assert start(Outlook(16), Outlook(16), not_before=NOW + 50) == (NOW + 50, (0, 1))
    assert start(Outlook(16), Outlook(0)) == (inf, ())


def test_an_ordered_request_waits_for_its_own_clusters() -> None:
    ordered = Request((8, 8), (0, 1))
    full = Outlook(16, [Held(16, NOW + 300)])
    assert start(full, Outlook(16), Outlook(16), request=ordered) == (NOW + 300, (0, 1))


def test_a_very_long_queue_costs_little_and_counts_as_work_for_the_whole_cluster() -> None:
    queue = [Wanted(16, 10)] * 256 + [Wanted(1, 160)] * 1000
    assert profile_of_cluster(Outlook(16, wanted=queue), NOW).times[-1] == NOW + 2560 + 10_000


def test_a_waiting_job_that_never_fits_holds_up_nobody() -> None:
    assert start(Outlook(16, wanted=[Wanted(17, 10)]), Outlook(16)) == (NOW, (0, 1))


def test_of_very_much_what_ends_at_about_the_same_time_is_taken_to_end_together() -> None:
    held = [Held(1, NOW + 100 + second) for second in range(10_000)]
    booked = [Booked(1, NOW + 20_000 + n, NOW + 20_100 + n) for n in range(5_000)]
    profile = profile_of_cluster(Outlook(10_000, held, booked), NOW)
    assert len(profile.times) < 1000 and profile.free[1] == [0]
    ends, _ = profile.earliest(Request((5_000,)), 600, NOW)
    assert NOW + 5_099 <= ends < NOW + 5_200  # a little later than it is, and never earlier


def test_what_a_job_has_planned_itself_is_given_back_to_it() -> None:
    own = Booked(8, NOW + 100, NOW + 900)
    profile = profile_of_cluster(Outlook(8, booked=[own]), NOW)
    without = give_back(profile, [own], NOW)
    assert profile.earliest(Request((8,)), 600, NOW)[0] == NOW + 900
    assert without.earliest(Request((8,)), 600, NOW)[0] == NOW
