"""What a poll tells of the time to come: what runs until when, what waits for how long."""

from __future__ import annotations

import math
from dataclasses import replace

from metabroker.clusters.slurm import parsing
from metabroker.clusters.slurm.parsing import NodeLine, SlurmReservation, WaitingLine
from metabroker.clusters.slurm.snapshot import SlurmPoll, snapshot
from metabroker.policy.availability import Booked, Held, Wanted

NOW = 1_795_382_500.0
PREFIX = "mb-abcdef01-"
# As 22.05.8 printed them: two jobs, and one in a reservation, without a limit.
PRINTED = """\
2|PENDING|16|4294901758|Priority|3:00|1795382786|(null)|1795382400
1|RUNNING|32|4294901759|None|1-01:00:00|1795382606|(null)|1795382300
7|RUNNING|8|4294901757|None|UNLIMITED|NONE|mb-abcdef01-1-1-0|1795382300
"""


def printed() -> list[WaitingLine]:
    rows = (line.split("|") for line in PRINTED.splitlines())
    lines = ((i, c, q, r, t, limit, e, *rest) for i, t, c, q, r, limit, e, *rest in rows)
    return parsing.waiting("".join("\x1f".join(line) + "\n" for line in lines))


def node(name: str, allocated: int) -> NodeLine:
    return NodeLine(
        name, "mixed", allocated, 48 - allocated, 0, 48, "batch", default=True, up=True,
        processors_per_core=1,
    )  # fmt: skip


def reservation(name: str, start: float, end: float, nodes: str = "n1") -> SlurmReservation:
    return SlurmReservation(name, start, end, nodes, 1, 8, 8, "", "", "root", "batch")


def poll(*reservations: SlurmReservation, asked: bool = True) -> SlurmPoll:
    nodes = [node("n1", 40), node("n2", 0)]
    return SlurmPoll(NOW, nodes, [], reservations, waiting=printed(), asked=asked)


def test_what_runs_is_held_until_its_limit_and_in_a_reservation_until_that_ends() -> None:
    begun = reservation(f"{PREFIX}1-1-0", NOW - 10, NOW + 700)
    seen = snapshot(poll(begun), "batch", PREFIX)
    assert seen.held == (Held(32, 1795382606.0), Held(8, NOW + 700))
    alone = snapshot(poll(), "batch", PREFIX)
    assert alone.held == (Held(32, 1795382606.0), Held(8, math.inf))


def test_what_waits_is_told_with_its_limit_and_running_jobs_do_not_count_as_waiting() -> None:
    seen = snapshot(poll(), "batch", PREFIX)
    assert (seen.wanted, seen.waiting) == ((Wanted(16, 180, 1795382400.0),), 16)


def test_a_poll_that_has_not_asked_tells_nothing() -> None:
    assert snapshot(poll(asked=False), "batch", PREFIX).held is None


def test_a_reservation_of_ours_that_is_to_begin_later_holds_nothing_before() -> None:
    ours = reservation(f"{PREFIX}2-1-0", NOW + 600, NOW + 1200, "n2")
    seen = snapshot(poll(ours), "batch", PREFIX)
    assert (seen.busy, seen.ours) == (40, {})
    assert [(c.name, c.start, c.processors) for c in seen.coming] == [(ours.name, NOW + 600, 8)]
    assert seen.reservations.keys() == {ours.name}
    soon = reservation(f"{PREFIX}2-1-0", NOW + 30, NOW + 1200, "n2")
    assert snapshot(poll(soon), "batch", PREFIX).ours == {soon.name: 8}


def test_others_reservations_one_after_the_other_keep_the_same_nodes_each_time() -> None:
    nodes = "n[1-2]"
    ours = reservation(f"{PREFIX}2-1-0", NOW + 100, NOW + 900, "n2")
    course = replace(reservation("course", NOW + 300, NOW + 400), processors=48, core_count=48)
    cables = replace(reservation("cables", NOW + 500, NOW + 900, nodes), processors=96)
    soon = reservation("soon", NOW + 30, NOW + 90)
    seen = snapshot(poll(ours, cables, course, soon), "batch", PREFIX)
    assert seen.reserved == (Booked(48, NOW + 300, NOW + 400), Booked(96, NOW + 500, NOW + 900))
    begun = replace(cables, start_time=NOW - 9, flags="MAINT", state="ACTIVE")
    assert snapshot(poll(begun), "batch", PREFIX).reserved == (Booked(96, NOW - 9, NOW + 900),)


def test_limits_in_all_forms() -> None:
    forms = {"3:00": 180, "1:00:00": 3600, "2-00:00:01": 172801, "UNLIMITED": None, "x": None}
    assert {text: parsing._limit(text) for text in forms} == forms


def test_what_has_begun_is_asked_of_the_clusters_own_clock() -> None:
    ours = reservation(f"{PREFIX}2-1-0", NOW + 600, NOW + 1200, "n2")
    ahead = snapshot(replace(poll(ours), offset=580.0), "batch", PREFIX)
    assert (ahead.ours, ahead.coming) == ({ours.name: 8}, ())
    behind = snapshot(replace(poll(ours), taken_at=NOW + 5000, offset=-5000.0), "batch", PREFIX)
    assert [coming.name for coming in behind.coming] == [ours.name]
