"""What reservations keep together over the time to come."""

from __future__ import annotations

import random

from metabroker.clusters.reserved import Reserved, steps
from metabroker.policy.availability import Booked

ROOM = {"n1": 8, "n2": 8}


def test_who_has_the_same_nodes_one_after_the_other_keeps_each_time_all_of_them() -> None:
    found = steps([Reserved(300, 400, {"n1": 8, "n2": 8}), Reserved(100, 200, {"n1": 8})], ROOM)
    assert found == (Booked(8, 100, 200), Booked(16, 300, 400))


def test_who_has_the_same_nodes_at_the_same_time_keeps_them_once() -> None:
    maintenance, course = Reserved(100, 300, {"n1": 8}), Reserved(200, 400, {"n1": 6, "n2": 2})
    found = steps([course, maintenance], ROOM)
    assert found == (Booked(8, 100, 200), Booked(10, 200, 300), Booked(8, 300, 400))


def test_nodes_that_are_out_of_service_and_no_time_at_all_keep_nothing() -> None:
    assert steps([Reserved(100, 100, {"n1": 8}), Reserved(100, 200, {"n9": 8})], ROOM) == ()
    assert steps([Reserved(0, 9, {"n1": 99})], ROOM) == (Booked(8, 0, 9),)


def test_it_is_what_each_moment_has_of_each_node() -> None:
    draw = random.Random(5)
    for _ in range(200):
        given = []
        for _ in range(draw.randint(0, 8)):
            start = draw.randint(0, 50)
            nodes = {name: draw.randint(0, 9) for name in draw.sample(["n1", "n2", "n3"], 2)}
            given.append(Reserved(start, start + draw.randint(1, 30), nodes))
        found = steps(given, ROOM)
        for moment in (m + 0.5 for m in range(90)):
            now = [r.nodes for r in given if r.start < moment < r.end]
            kept = sum(min(room, sum(n.get(name, 0) for n in now)) for name, room in ROOM.items())
            assert kept == sum(s.processors for s in found if s.start < moment < s.end)


def test_very_many_are_told_as_fewer_and_none_is_left_out() -> None:
    given = [Reserved(10 * n, 10 * n + 5, {"n1": 1 + n % 8}) for n in range(5000)]
    found = steps(given, ROOM)
    assert len(found) <= 100
    assert (found[0].start, found[-1].end) == (0, 49_995)
    assert {step.processors for step in found} == {8}
