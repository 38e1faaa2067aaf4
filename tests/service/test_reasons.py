"""Why a job waits, in words (promise P6)."""

from __future__ import annotations

from dataclasses import replace
from time import localtime, strftime, time

import pytest

from metabroker.broker.events import (
    Cleaned,
    ClusterUnreachable,
    Observed,
    Refused,
    Submitted,
    Unsure,
)
from metabroker.broker.job import NewJob
from metabroker.broker.observation import Coming, Snapshot
from metabroker.broker.states import Cause, Step
from metabroker.broker.tokens import Ref
from metabroker.policy import Request
from metabroker.runtime.asked import Item
from metabroker.runtime.engine import Engine
from metabroker.service import reasons, under_way
from metabroker.service.cluster_view import cluster_views
from metabroker.submission.model import Processors
from tests.daemon_units.making import Answers, Failing, ask, engine, looked

NOW = 1000.0


def waiting(
    *items: Item, at: float = NOW, policy: str = "GS"
) -> tuple[Engine, dict[int, reasons.Waiting]]:
    it = engine(Failing(), policy=policy)
    it.process(items, NOW)
    return it, reasons.of(it.broker.view, at, it.broker.view.jobs)


def want(processors: int, on: str | None = None) -> Item:
    wanted = Processors(single=processors, cluster=on)
    return ask(Answers().to("a"), processors=wanted)


BOTH = (looked(0, NOW), looked(1, NOW, 32))


def test_too_little_is_idle_and_how_old_that_is() -> None:
    _it, found = waiting(*BOTH, want(60), want(40), at=NOW + 4)
    assert found[2] == reasons.Waiting(
        0, "asks for 40 processors; idle: delft 4 (4 s ago), leiden 32 (4 s ago)"
    )


def test_what_is_idle_where_others_wait_is_not_told_as_if_the_job_had_overlooked_it() -> None:
    wanted = replace(looked(1, NOW, 32).snapshot, busy=16, waiting=20)
    delft = Observed(0, Snapshot(NOW, 64, 64, 60))
    _it, found = waiting(delft, Observed(1, wanted), want(8))
    assert found[1].reason == (
        "in line at leiden (being submitted); asks for 8 processors; idle: delft 4 (0 s ago), "
        "leiden 16 (0 s ago; others wait there, too: its own scheduler says who is next)"
    )


def test_two_components_may_have_what_is_idle_where_others_wait() -> None:
    wanted = replace(looked(1, NOW, 32).snapshot, busy=16, waiting=20)
    pair = ask(Answers().to("a"), processors=Processors(components=(8, 60)))
    _it, found = waiting(BOTH[0], Observed(1, wanted), want(40, on="delft"), pair)
    assert found[2].reason.startswith("asks for 8+60 processors; idle: ")
    assert "others wait" not in found[2].reason


def test_clusters_that_a_job_can_never_go_to_are_told_as_such() -> None:
    job = NewJob("anna", "job", Request((8,)), 600, closed=frozenset({1}))
    it, _found = waiting(Observed(0, Snapshot(NOW, 64, 64, 60)), BOTH[1])
    plan = it.broker.view.at(NOW).plan(job)
    assert reasons.preview(it.broker.view, job, plan, NOW) == (
        "asks for 8 processors; idle: delft 4 (0 s ago), leiden 32 (0 s ago; this job cannot run "
        "there)"
    )
    it.process([ClusterUnreachable(0, "no route"), ClusterUnreachable(1, "no route")], NOW)
    plan = it.broker.view.at(NOW).plan(job)
    told = reasons.preview(it.broker.view, job, plan, NOW)
    assert "delft" in told and "leiden" not in told


def test_what_was_refused_before_a_job_stood_in_line_is_no_matter_of_that_attempt() -> None:
    wanted = replace(looked(1, NOW, 32).snapshot, busy=32, waiting=20)
    it, _found = waiting(*BOTH, want(8, on="leiden"))
    (component,) = it.broker.view.jobs[1].components
    it.process([Refused(component.ref, Step.SUBMIT, Cause.BUSY, "nodes are busy")], NOW)
    it.process([Cleaned(component.ref), Observed(1, wanted)], NOW + 1)
    it.process([Observed(1, replace(wanted, taken_at=NOW + 60))], NOW + 60)
    assert it.broker.view.jobs[1].line
    told = reasons.of(it.broker.view, NOW + 60, [1])[1].reason
    assert told.startswith("in line at leiden ")
    assert told.endswith("(before: component 0 in leiden: nodes are busy)")


def test_behind_others() -> None:
    _it, found = waiting(*BOTH, want(60), want(40), want(40), want(40))
    assert (found[3].position, found[4].position) == (1, 2)
    assert found[4].reason.startswith("behind 2 in queue global; job 2 is first: asks for 40")


def told(it: Engine, processors: int, on: int | None = None) -> str:
    """What a dry run says why such a job would wait."""
    request = Request((processors,), None if on is None else (on,))
    new = NewJob("anna", "job", request, 600)
    return reasons.preview(it.broker.view, new, it.broker.view.at(NOW).plan(new), NOW)


def test_under_fpfs_each_job_has_a_reason_of_its_own() -> None:
    it, found = waiting(*BOTH, want(60), want(40), want(50), want(36, "leiden"), policy="FPFS")
    for job, processors in ((2, 40), (3, 50)):
        assert found[job].reason.startswith(f"asks for {processors} processors; idle: delft 4")
    assert "behind" not in told(it, 48)
    assert told(it, 48).startswith("asks for 48 processors; idle: delft 4 (0 s ago)")
    assert told(it, 3) == "starts at the next pass"


def test_under_fpfs_nobody_is_behind_however_many_wait() -> None:
    _it, found = waiting(*BOTH, want(60), *[want(40)] * 220, policy="FPFS")
    assert len(found) == 220
    assert all(w.reason.startswith("asks for 40 processors; idle:") for w in found.values())


def test_under_fcfs_a_dry_run_names_who_is_first() -> None:
    it, _found = waiting(*BOTH, want(60), want(40))
    assert told(it, 1) == "behind 1 in queue global; job 2 is first"


ONLY = "its queue may start jobs only while "


def test_a_rule_that_keeps_a_queue_back_is_told_by_a_dry_run_too() -> None:
    both = ask(Answers().to("b"), processors=Processors(components=(60, 30)))
    it, found = waiting(*BOTH, want(60), both, both, policy="GP")
    why = f"{ONLY}the global queue is empty"
    assert (told(it, 1), found[1].reason) == (why, why)
    assert found[3].reason.startswith("asks for 60+30 processors; idle: ")


def test_which_of_the_longest_queues_keeps_a_job_back() -> None:
    both = ask(Answers().to("b"), processors=Processors(components=(60, 30)))
    _it, found = waiting(*BOTH, want(60, "delft"), both, both, policy="LQ")
    assert found[3].reason == f"{ONLY}the global queue is longer than every local queue"
    _it, found = waiting(*BOTH, both, both, both, want(60, "delft"), policy="LQ")
    assert found[4].reason == f"{ONLY}the global queue is not longer than every local queue"


def test_a_user_at_a_limit_is_told_so_and_others_wait_for_nothing() -> None:
    it, _found = waiting(*BOTH, want(8, "delft"))
    said = "sbatch: error: AssocMaxSubmitJobLimit"
    it.process([Refused(Ref(1, 1, 0), Step.SUBMIT, Cause.LIMIT, said)], NOW + 1)
    assert reasons.of(it.broker.view, NOW + 2, it.broker.view.jobs)[1].reason.startswith(
        f"anna has as many jobs as may be in delft: {said} (asked again in 1 s)"
    )
    assert said in told(it, 8, on=0)
    it.process([ask(Answers().to("c"), "bert", processors=Processors(single=8))], NOW + 2)
    assert 2 not in reasons.of(it.broker.view, NOW + 2, it.broker.view.jobs)


@pytest.mark.parametrize(
    ("cause", "whose", "available"),
    [(Cause.DENIED, "submissions of anna", 24), (Cause.UNREACHABLE, "submissions", 0)],
)
def test_who_waits_for_a_suspended_cluster_is_told_why_since_when_and_until_when(
    cause: Cause, whose: str, available: int
) -> None:
    it, _found = waiting(*BOTH, want(40, "delft"))
    it.process([Refused(Ref(1, 1, 0), Step.SUBMIT, cause, "sbatch: no")], NOW + 1)
    said = f"sbatch: no ({whose} suspended for 1 s; asked again in 1 s)"
    assert reasons.of(it.broker.view, NOW + 2, it.broker.view.jobs)[1].reason.startswith(
        f"delft: {said}"
    )
    it.process([looked(0, NOW + 2)], NOW + 2)
    delft, _leiden = cluster_views(it.broker.view, NOW + 2)
    assert (delft["idle"], delft["available"]) == (24, available)
    reason = delft["avoided"] and delft["avoided"]["reason"]
    assert reason == (said if cause is Cause.UNREACHABLE else None)


def test_a_cluster_that_is_avoided_is_not_called_taken() -> None:
    it, _found = waiting(*BOTH, want(40, "delft"))
    it.process([Refused(Ref(1, 1, 0), Step.SUBMIT, Cause.BUSY, "nodes are busy")], NOW + 1)
    it.process([Cleaned(Ref(1, 1, 0))], NOW + 1)
    delft, leiden = cluster_views(it.broker.view, NOW + 2)
    assert (delft["idle"], delft["available"]) == (64, 39)
    assert delft["avoided"] == {
        "processors": 39, "seconds": 1.0, "reason": "it is full: nodes are busy"
    }  # fmt: skip
    assert (leiden["idle"], leiden["avoided"]) == (32, None)


def test_what_a_cluster_has_refused_is_not_called_taken() -> None:
    it, _found = waiting(*BOTH, want(40, "delft"))
    it.process([Refused(Ref(1, 1, 0), Step.SUBMIT, Cause.BUSY, "nodes are busy")], NOW + 1)
    reason = reasons.of(it.broker.view, NOW + 2, it.broker.view.jobs)[1].reason
    assert "delft 24 (2 s ago; it refused 40 processors, and is asked again in 1 s)" in reason


def test_only_those_that_are_asked_for() -> None:
    it, found = waiting(*BOTH, want(60), want(40), want(40), want(40))
    assert set(found) == {2, 3, 4}
    for some in ({2}, {4}, {5}, {3, 4}, set[int]()):
        expected = {key: told for key, told in found.items() if key in some}
        assert reasons.of(it.broker.view, NOW, some) == expected


@pytest.mark.parametrize("policy", ["GS", "FPFS", "LS-OR", "GP"])
def test_a_moment_tells_the_same_of_all_jobs_without_the_core(policy: str) -> None:
    local = [want(size, "delft") for size in (40, 30, 64, 32)]
    jobs = [want(60), *local, *[want(40)] * 205, want(64, "leiden")]
    it, found = waiting(*BOTH, *jobs, policy=policy)
    view = it.broker.view
    moment = reasons.Moment(view, NOW)
    told = {job.id: moment.waiting(job) for job in view.jobs.values()}
    known = {number: waits for number, waits in told.items() if waits is not None}
    assert known == {number: found[number] for number in known}
    # All but those in no queue, and the first of a queue whose jobs have reasons of their own.
    assert len(known) >= len(found) - (201 if policy == "FPFS" else 1)


def test_what_has_joined_again_since_a_moment_is_not_told_by_it() -> None:
    it, _found = waiting(*BOTH, want(60), want(40), want(41), want(42))
    moment = reasons.Moment(it.broker.view, NOW)
    job = it.broker.view.jobs[3]
    assert moment.waiting(job) is not None
    it.broker._queues.withdraw(job)
    it.broker._queues.requeue(job, NOW)
    assert moment.waiting(job) is None


def test_nothing_is_known_of_a_cluster() -> None:
    _it, found = waiting(
        looked(1, NOW, 32), ClusterUnreachable(0, "connect failure"), want(8, "delft")
    )
    assert "needs a cluster that does not answer: delft (connect failure)" in found[1].reason
    assert "delft:8" in found[1].reason


def test_nodes_that_take_no_jobs() -> None:
    it = engine(Failing())
    drained = looked(0, NOW)
    small = type(drained.snapshot)(NOW, 64, 8, 0)
    it.process([type(drained)(0, small), looked(1, NOW, 32), want(40)], NOW)
    reason = reasons.of(it.broker.view, NOW, it.broker.view.jobs)[1].reason
    assert reason == "asks for 40: more than the nodes that accept jobs now have"


def test_what_happened_to_the_last_attempt_is_told_too() -> None:
    it, _found = waiting(*BOTH, want(64))
    it.process([Refused(Ref(1, 1, 0), Step.SUBMIT, Cause.BUSY, "nodes are busy")], NOW + 1)
    assert "(attempt 1: component 0 in delft: nodes are busy)" in (
        reasons.of(it.broker.view, NOW + 1, it.broker.view.jobs)[1].reason
    )


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ([("delft", "placed", "reserve", "")], "waits for delft: reserve"),
        ([("delft", "submitted", "", "PENDING: Priority")], "waits for delft: PENDING: Priority"),
        (
            [("delft", "arrived", "", ""), ("leiden", "submitted", "", "")],
            "waits for leiden: submitted",
        ),
        ([("delft", "armed", "open", ""), ("leiden", "started", "", "")], ""),
    ],
)
def test_why_a_placed_job_does_not_run(parts: list[tuple[str, str, str, str]], reason: str) -> None:
    same = {"attempt": 1, "processors": 1, "planned": None, "reservation": True}
    row = {
        "reason": "",
        "attempt": 1,
        "state": "SUBMITTING",
        "components": [
            {"cluster": c, "phase": p, "step": s, "detail": d, **same} for c, p, s, d in parts
        ],
    }
    assert under_way.why_not_yet(row) == reason
    assert under_way.why_not_yet(row | {"reason": "cancelled by anna"}) == "cancelled by anna"


def kept(cluster: int, later: float, name: str = "cables", *, maintenance: bool = True) -> Item:
    """A look at an idle cluster that is reserved for others, whole, from `later` seconds on."""
    start, size = NOW + later, (64, 32)[cluster]
    coming = (Coming(name, start, start + 3600, size, size, maintenance),)
    return Observed(cluster, Snapshot(NOW, size, size, 0, coming=coming))


IN_DELFT = (
    "maintenance (reservation cables) in delft begins in 0:05:00, before this job's 0:10:00 would "
    "end"
)


def test_a_reservation_before_a_jobs_end_is_told_where_it_keeps_the_job_away() -> None:
    it, found = waiting(kept(0, 300), kept(1, 400, "course", maintenance=False), want(8))
    delft, _leiden = cluster_views(it.broker.view, NOW)
    assert delft["coming"] == [
        {"name": "cables", "start": NOW + 300, "end": NOW + 3900, "processors": 64}
        | {"maintenance": True}
    ]
    course = "reservation course in leiden begins in 0:06:40, before this job's 0:10:00 would end"
    assert found[1] == reasons.Waiting(None, f"{IN_DELFT}; {course}")
    assert told(it, 8) == f"{IN_DELFT}; {course}"
    assert told(it, 8, on=0) == IN_DELFT


def test_a_dry_run_names_the_cluster_that_has_the_time_for_the_job() -> None:
    it, _found = waiting(kept(0, 300), looked(1, NOW, 32))
    plan = it.broker.view.at(NOW).plan(NewJob("anna", "job", Request((8,)), 600))
    assert plan.start == (1,)
    plan = it.broker.view.at(NOW).plan(NewJob("anna", "job", Request((8,)), 120))
    assert plan.start == (0,)
    assert told(it, 40).endswith(f"; and {IN_DELFT}") or told(it, 40) == IN_DELFT


def test_a_job_that_waits_in_a_queue_is_told_what_it_may_not_use() -> None:
    _it, found = waiting(kept(0, 300), looked(1, NOW, 32), want(32), want(8))
    assert found[2].reason == (
        "asks for 8 processors; idle: delft 64 (0 s ago), leiden 0 (0 s ago); and " + IN_DELFT
    )


def test_of_maintenance_that_has_begun_its_end_is_told() -> None:
    begun = Coming("cables", NOW - 600, NOW + 3000, 64, 0, maintenance=True)
    look = Observed(0, Snapshot(NOW, 64, 64, 64, coming=(begun,)))
    it, found = waiting(look, looked(1, NOW, 4), want(8), policy="LP-GF")
    assert found[1].reason.endswith("maintenance (reservation cables) in delft ends in 0:50:00")
    assert told(it, 8, on=0).endswith("maintenance (reservation cables) in delft ends in 0:50:00")


def test_a_dry_run_looks_at_what_is_left_for_so_long() -> None:
    start = NOW + 300
    coming = (Coming("course", start, start + 3600, 60, 60),)
    half = Observed(0, Snapshot(NOW, 64, 64, 0, coming=coming))
    it, _found = waiting(half, looked(1, NOW, 3))
    plan = it.broker.view.at(NOW).plan(NewJob("anna", "job", Request((4,)), 600))
    assert plan.start == (0,)
    it.process([want(4)], NOW)
    plan = it.broker.view.at(NOW).plan(NewJob("anna", "job", Request((4,)), 600))
    assert plan.start is None
    assert it.broker.view.at(NOW).plan(NewJob("anna", "job", Request((4,)), 60)).start == (0,)


def test_a_planned_job_says_when_and_where_it_starts() -> None:
    tomorrow = time() + 86400
    parts = [
        {"attempt": 2, "processors": 8, "planned": tomorrow, "cluster": c, "reservation": held}
        for c, held in (("delft", True), ("leiden", False))
    ]
    row = {"reason": "", "attempt": 2, "state": "RESERVING", "components": parts}
    at = strftime("%Y-%m-%d %H:%M:%S", localtime(tomorrow))
    assert under_way.why_not_yet(row) == f"is to start {at} in delft and leiden"
    parts[1]["reservation"] = True
    assert under_way.why_not_yet(row) == f"starts {at} in delft and leiden"


def test_a_step_is_unanswered_until_its_answer_has_come() -> None:
    it, _found = waiting(*BOTH, want(8))
    told = Unsure(Ref(1, 1, 0), Step.SUBMIT, "no answer in time")
    it.process([told], NOW + 1)
    assert [view["unanswered"] for view in cluster_views(it.broker.view, NOW + 1)] == [1, 0]
    it.process([Submitted(Ref(1, 1, 0), "7", NOW + 2)], NOW + 2)
    assert [view["unanswered"] for view in cluster_views(it.broker.view, NOW + 2)] == [0, 0]


def test_a_cluster_that_is_too_small_anyway_is_not_said_to_be_needed() -> None:
    few = replace(looked(0, NOW).snapshot, usable=30)
    away = ClusterUnreachable(1, "no route to host")
    _it, found = waiting(Observed(0, few), away, want(40))
    assert found[1].reason == "asks for 40: more than the nodes that accept jobs now have"
    _it, found = waiting(Observed(0, few), away, want(31))
    assert found[1].reason.startswith("asks for 31; needs a cluster that does not answer: leiden (")


def test_a_cluster_of_which_nobody_knows_the_size_may_be_needed() -> None:
    it = engine(Failing(), {"delft": 64, "leiden": 0})
    few = replace(looked(0, NOW).snapshot, usable=30)
    it.process([Observed(0, few), ClusterUnreachable(1, "no route to host"), want(40)], NOW)
    found = reasons.of(it.broker.view, NOW, it.broker.view.jobs)
    assert found[1].reason.startswith("asks for 40; needs a cluster that does not answer: leiden (")
