"""What a poll tells of the time to come: what runs until when, what waits for how long."""

from __future__ import annotations

import math

import pytest

from metabroker.clusters.command_errors import Garbled
from metabroker.clusters.openpbs import parsing
from metabroker.clusters.openpbs.commands import PbsIdentity
from metabroker.clusters.openpbs.parsing import PbsNode, PbsReservation, QueueLine
from metabroker.clusters.openpbs.queue_lines import QueueLines
from metabroker.clusters.openpbs.snapshot import PbsPoll, snapshot
from metabroker.policy.availability import Booked, Held, Wanted

NOW = 1_795_382_500.0
WHO = PbsIdentity("mbsvc", queue="workq")


# As 23.06.06 printed them.
PRINTED = """
pbsa: 
                                                            Req'd  Req'd   Elap
Job ID          Username Queue    Jobname    SessID NDS TSK Memory Time  S Time
--------------- -------- -------- ---------- ------ --- --- ------ ----- - -----
3.pbsa          pbsal    workq    held          --    1   1    --    --  H   -- 
11.pbsa         pbsal    workq    toobig        --    1  64    --    --  Q   -- 
14.pbsa         pbsal    stopped  stoppedq      --    1   1    --    --  Q   -- 
37.pbsa         pbsal    workq    mb-run        844   2   4  200mb 00:10 R 00:00
38.pbsa         pbsal    workq    mb-queued     --    3  12    --  00:10 Q   -- 
43[].pbsa       pbsal    workq    mb-arr        --    1   1    --  00:10 B   -- 
45.pbsa         pbsal    workq    mb-susp       872   1   1    --  00:10 S 00:00
46.pbsa         pbsal    workq    badstage      --    1   1    --    --  R   -- 
"""  # noqa: W291


def node(name: str, assigned: int) -> PbsNode:
    return PbsNode(name, ("free",), 16, assigned, None, {"ncpus": "16"})


def test_each_line_is_read_from_its_end() -> None:
    found = parsing.queue_lines(PRINTED)
    assert len(found) == 8
    assert QueueLine("workq", 4, "R", 600, 0, "37.pbsa") in found
    assert QueueLine("workq", 12, "Q", 600, None, "38.pbsa") in found
    assert QueueLine("workq", 64, "Q", None, None, "11.pbsa") in found
    assert parsing.queue_lines("") == []
    with pytest.raises(Garbled):
        parsing.queue_lines("qstat: what?\n")
    forged = "- -----\n1.s u q  1 16 -- 9999:00 Q --  -- 1 4 -- 00:10 R 00:00\n"
    for name in ("1", "a\x0bb", "a\x85b", "a\u2028b"):
        named = forged.replace("q  1", f"q  {name}")
        assert parsing.queue_lines(named) == [QueueLine("q", 4, "R", 600, 0, "1.s")]


@pytest.mark.parametrize(
    ("tasks", "limit", "elapsed", "found"),
    [
        ("4", "168:0", "100:3", (4, (168 * 60 + 9) * 60, (100 * 60 + 30) * 60)),
        ("4", "1000:", "10000", (4, (1000 * 60 + 59) * 60, 10000 * 3600)),
        ("--", "00:10", "--", (0, 600, None)),
        ("10*", "--", "00:00", (10999, None, 0)),
    ],
)
def test_what_is_cut_to_its_column_is_read_as_far_as_it_is_told(
    tasks: str, limit: str, elapsed: str, found: tuple[int, int | None, int | None]
) -> None:
    text = f"- -----\n1.s u gpu_nor* a 5 1 {tasks} 2gb {limit} R {elapsed}\n"
    (line,) = parsing.queue_lines(text)
    assert (line.processors, line.limit, line.elapsed) == found
    assert parsing.is_queue(line.queue, "gpu_normal") and not parsing.is_queue(
        line.queue, "gpu_big"
    )


def test_one_job_s_line_that_cannot_be_read_hides_no_others() -> None:
    (line,) = parsing.queue_lines("- -----\nwhat is this\n1.s u q a 5 1 4 2gb 00:10 R 00:00\n")
    assert line.id == "1.s"
    with pytest.raises(Garbled):
        parsing.queue_lines("- -----\nwhat is this\n")


def test_what_runs_is_held_until_its_walltime_and_no_more_than_is_busy() -> None:
    shown = (
        QueueLine("workq", 8, "R", 600, 300),
        QueueLine("other", 8, "R", 60, 0),
        QueueLine("workq", 8, "R", None, 60),
        QueueLine("R7", 4, "R", 60, 0),
        QueueLine("workq", 4, "Q", 120, None),
        QueueLine("workq", 4, "H", 120, None),
        QueueLine("other", 4, "Q", 120, None),
    )
    begun = PbsReservation(
        "R7.s", "theirs", "eve", "RESV_RUNNING", 5, NOW - 9, NOW + 999, None, "R7", 6, {"n1": 6}
    )
    poll = PbsPoll(NOW, [node("n1", 16), node("n2", 6)], [], [begun], lines=shown)
    seen = snapshot(poll, WHO, "mb-")
    held = (Held(8, math.inf), Held(6, NOW + 999), Held(8, NOW + 360))
    assert (seen.busy, seen.held, seen.wanted) == (22, held, (Wanted(4, 180),))


def test_who_was_not_there_at_the_look_before_has_come_after_it() -> None:
    lines = QueueLines(15.0)
    early, late = (QueueLine("workq", 4, "Q", 60, None, job) for job in ("1.s", "2.s"))
    assert [line.since for line in lines.with_since([early], NOW)] == [0.0]
    assert [line.since for line in lines.with_since([early, late], NOW + 15)] == [0.0, NOW]
    assert [line.since for line in lines.with_since([late], NOW + 30)] == [NOW]


def test_a_poll_that_has_not_asked_tells_nothing() -> None:
    assert snapshot(PbsPoll(NOW, [node("n1", 0)], [], []), WHO, "mb-").held is None


def test_what_has_begun_and_until_when_jobs_run_is_by_the_servers_clock() -> None:
    later = PbsReservation(
        "R7.s", "theirs", "eve", "RESV_CONFIRMED", 2, NOW + 600, NOW + 999, None, "R7", 6, {"n1": 6}
    )
    lines = (QueueLine("workq", 8, "R", 600, 300),)
    poll = PbsPoll(NOW + 5000, [node("n1", 8)], [], [later], lines=lines, offset=-5000.0)
    seen = snapshot(poll, WHO, "mb-")
    assert seen.held == (Held(8, NOW + 360),)
    assert [coming.start for coming in seen.coming] == [NOW + 600]


def test_others_reservations_one_after_the_other_keep_the_same_nodes_each_time() -> None:
    def reservation(name: str, user: str, start: float, end: float, **nodes: int) -> PbsReservation:
        queue, much = f"R{name}", sum(nodes.values())
        return PbsReservation(
            f"R{name}.s", name, user, "RESV_CONFIRMED", 2, start, end, None, queue, much, nodes
        )

    course = reservation("1", "eve", NOW + 300, NOW + 400, n1=16)
    cables = reservation("2", "root", NOW + 500, NOW + 900, n1=16, n2=16, n9=16)
    soon = reservation("3", "eve", NOW + 30, NOW + 90, n2=4)
    ours = reservation("mb-abcdef01-2-1-0", WHO.user, NOW + 100, NOW + 900, n2=8)
    shown = [ours, cables, course, soon]
    seen = snapshot(PbsPoll(NOW, [node("n1", 0), node("n2", 0)], [], shown), WHO, "mb-abcdef01-")
    assert seen.reserved == (Booked(16, NOW + 300, NOW + 400), Booked(32, NOW + 500, NOW + 900))
