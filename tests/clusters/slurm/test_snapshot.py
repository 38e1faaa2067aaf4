"""What the broker could get, worked out by hand for recorded situations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from metabroker.broker.observation import NativeState, NodeKind
from metabroker.broker.states import Cause
from metabroker.clusters.slurm import parsing
from metabroker.clusters.slurm.parsing import NodeLine, SlurmReservation, Use
from metabroker.clusters.slurm.snapshot import SlurmPoll, in_partition, native_job, snapshot

from . import recorded
from .drive import job
from .recorded import RELEASES

HOUR = 3600.0


def look(release: str, state: str, **others: str) -> SlurmPoll:
    """One look at a recorded state. `others`: where a query was not recorded in this state."""
    jobs, reservations = others.get("squeue"), others.get("reservation")
    shown = parsing.reservations(recorded.text(release, reservations or state, "reservation"))
    listed = parsing.jobs(recorded.squeue(release, jobs or state))
    return SlurmPoll(
        taken_at=shown[0].start_time if shown else 0.0,
        nodes=parsing.nodes(recorded.sinfo(release, state)),
        jobs=listed,
        reservations=shown,
    )


def idle(it: SlurmPoll, prefix: str = "mb-abcdef01-") -> int:
    seen = snapshot(it, None, prefix)
    return seen.usable - seen.busy


@pytest.mark.parametrize("release", RELEASES)
def test_cores_reserved_by_others(release: str) -> None:
    # 3 nodes of 48; reserved 10, 50 and 4 cores; nothing runs.
    it = look(release, "reserved-cores", squeue="drained-and-down")
    assert idle(replace(it, jobs=())) == 144 - 10 - 50 - 4


@pytest.mark.parametrize(
    ("release", "left"),
    [
        # 50 run in two-nodes; cores-only keeps 4, several-users 2, beside 39 cores of delft3.
        ("24.11", 144 - 50 - 4 - 2 - 39),
        ("26.05", 144 - 50 - 4 - 2 - 39),
        # 22.05 says 71 cores for the 39: all of delft3 is taken for kept.
        ("22.05", 144 - 50 - 4 - 2 - 48),
    ],
)
def test_cores_reserved_and_a_job_inside_counts_once(release: str, left: int) -> None:
    assert idle(look(release, "reserved-and-running")) == left


# What two-nodes keeps free if nobody is known to run in it: 50, as far as its nodes have idle ones
# (22.05: 23 and 23 idle, which cores are not told; later: 10 of its 38 and all of its 12).
EMPTY = {"22.05": 46, "24.11": 10 + 12, "26.05": 10 + 12}


@pytest.mark.parametrize("release", RELEASES)
def test_the_job_of_another_account_is_found_in_its_reservation(release: str) -> None:
    it = look(release, "reserved-and-running")
    uses = [Use(job.id, job.state, job.processors, job.reservation) for job in it.jobs]
    hidden = replace(it, jobs=(), inside=uses)
    assert idle(hidden) == idle(it)
    both = replace(it, inside=uses)
    assert idle(both) == idle(it), "listed twice, it is the same job"
    assert idle(replace(it, jobs=())) == idle(it) - EMPTY[release]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("state", ["reserved-nodes-fresh", "reserved-nodes"])
def test_whole_nodes_count_as_reserved_also_while_they_are_called_idle(
    release: str, state: str
) -> None:
    assert idle(look(release, state, squeue="reserved-nodes")) == 48


@pytest.mark.parametrize("release", RELEASES)
def test_a_reservation_of_later_is_told_apart_and_counts_once_it_begins(release: str) -> None:
    it = look(release, "reserved-and-running")
    later = next(r for r in it.reservations if r.name == "later")
    assert later.start_time > it.taken_at + HOUR
    beside = [r for r in it.reservations if r.name != "beside"]
    (coming,) = snapshot(replace(it, reservations=beside), None, "mb-").coming
    assert (coming.name, coming.start, coming.end) == ("later", later.start_time, later.end_time)
    assert (coming.processors, coming.idle, coming.maintenance) == (48, 48, False)
    soon = replace(it, taken_at=later.start_time - 1, reservations=beside)
    assert idle(soon) == 144 - 50 - 4 - 2 - 48
    # A job that holds its processors until then leaves them to it.
    (coming,) = snapshot(soon, None, "mb-").coming
    assert (coming.name, coming.processors, coming.idle) == ("later", 48, 0)
    begun = [replace(r, state="ACTIVE") for r in beside]
    assert snapshot(replace(soon, reservations=begun), None, "mb-").coming == ()


def test_of_reservations_on_one_node_none_counts_twice() -> None:
    def kept(name: str, start: float, **given: Any) -> SlurmReservation:
        plain: dict[str, Any] = {
            "nodes": "n[1-2]", "node_count": 2, "core_count": 96, "processors": 96,
            "state": "INACTIVE", "flags": "MAINT,SPEC_NODES", "users": "root", "partition": "",
        }  # fmt: skip
        return SlurmReservation(name=name, start_time=start, end_time=start + 60, **plain | given)

    course = kept("course", 900.0, nodes="n1", processors=8, core_count=8, cores={"n1": 8})
    course = replace(course, flags="SPEC_NODES,FLEX")
    nodes = [replace(node("n1"), allocated=20, idle=28), node("n2"), replace(node("n3"), idle=48)]
    seen = snapshot(SlurmPoll(0.0, nodes, [], [kept("all", 7200.0), course]), None, "mb-")
    told = [(each.name, each.processors, each.idle, each.maintenance) for each in seen.coming]
    assert told == [("course", 8, 8, False), ("all", 88, 68, True)]
    assert (seen.usable, seen.busy) == (144, 20)
    begun = SlurmPoll(7200.0, [node("n1"), node("n2")], [], [kept("all", 7200.0)])
    seen = snapshot(begun, None, "mb-")
    (coming,) = seen.coming
    assert (seen.busy, coming.processors, coming.idle) == (96, 96, 0), "maintenance is told on"


@pytest.mark.parametrize("release", RELEASES)
def test_nodes_that_take_no_jobs_count_for_nothing(release: str) -> None:
    it = look(release, "drained-and-down", reservation="idle")
    seen = snapshot(it, None, "mb-")
    assert (seen.processors, seen.usable, seen.busy) == (144, 0, 0)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("state", ["silent", "silent-down"])
def test_a_node_that_does_not_answer(release: str, state: str) -> None:
    it = look(release, state, squeue="drained-and-down", reservation="idle")
    assert idle(replace(it, jobs=())) == 96


@pytest.mark.parametrize("release", RELEASES)
def test_a_partition_that_is_down(release: str) -> None:
    it = look(release, "partition-down", squeue="drained-and-down", reservation="idle")
    assert idle(replace(it, jobs=())) == 0


@pytest.mark.parametrize("release", RELEASES)
def test_after_a_restart_absence_proves_nothing(release: str) -> None:
    it = look(release, "restarted", squeue="drained-and-down", reservation="idle")
    seen = snapshot(replace(it, jobs=()), None, "mb-")
    assert not seen.settled
    assert seen.usable == 0
    assert snapshot(look(release, "reserved-cores", squeue="running"), None, "mb-").settled


@pytest.mark.parametrize("release", RELEASES)
def test_our_own_reservation_and_job_are_told_apart(release: str) -> None:
    it = look(release, "reserved-and-running")
    token = "mb-abcdef01-1-1-0"
    mine = replace(
        it,
        jobs=[
            replace(j, name=token, reservation=token) if j.name == "mb.2.0" else j for j in it.jobs
        ],
        reservations=[
            replace(r, name=token) if r.name == "two-nodes" else r for r in it.reservations
        ],
    )
    seen = snapshot(mine, None, "mb-abcdef01-")
    assert seen.ours == {token: 50}
    assert seen.usable - seen.busy == idle(it), "whoever holds them, they are held"
    assert seen.reservations[token].processors == 50
    assert seen.jobs[token].state is NativeState.RUNNING
    # Before its job runs, the reservation alone holds them.
    before = snapshot(replace(mine, jobs=()), None, "mb-abcdef01-")
    assert before.ours[token] == EMPTY[release]


@pytest.mark.parametrize("release", RELEASES)
def test_ended_jobs_of_ours(release: str) -> None:
    it = look(release, "idle", squeue="ended", reservation="idle")
    named = {job.name: f"mb-abcdef01-{n}-1-0" for n, job in enumerate(it.jobs, 1)}
    seen = snapshot(
        replace(it, jobs=[replace(j, name=named[j.name]) for j in it.jobs]),
        None,
        "mb-abcdef01-",
    )
    said = {
        name: (seen.jobs[token].state, seen.jobs[token].exit_code, seen.jobs[token].cause)
        for name, token in named.items()
    }
    ended = NativeState.ENDED
    assert said["completed"] == (ended, 0, None)
    assert said["failed"] == (ended, None, Cause.EXIT)
    assert said["cancelled"] == (ended, None, Cause.KILLED)
    assert said["timeout"] == (ended, None, Cause.OVERTIME)
    assert said["deadline"] == (ended, None, Cause.OVERTIME)
    assert said["node-fail"] == (ended, None, Cause.NODE)
    assert said["waits-for-brief"] == (NativeState.PENDING, None, None)
    assert seen.jobs[named["waits-for-brief"]].reason == "Reservation brief was deleted"
    assert seen.jobs[named["completed"]].end_time is not None
    assert seen.jobs[named["completed"]].hosts == "leiden1"


def node(name: str, partition: str = "batch", **given: object) -> NodeLine:
    plain = NodeLine(
        name, "idle", 0, 48, 0, 48, partition, default=True, up=True, processors_per_core=1
    )
    return replace(plain, **given)  # type: ignore[arg-type]


def test_the_partition_or_the_default_one() -> None:
    nodes = [
        node("n1"),
        node("n1", "long", default=False),
        node("n2", "long", default=False),
    ]
    assert [n.name for n in in_partition(nodes, None)] == ["n1"]
    assert [n.name for n in in_partition(nodes, "long")] == ["n1", "n2"]
    assert in_partition(nodes, "nowhere") == []


def test_of_several_jobs_of_one_token_the_liveliest_is_shown() -> None:
    line = parsing.jobs(recorded.squeue("22.05", "running"))[0]
    token = "mb-abcdef01-1-1-0"
    states = ["CANCELLED", "WEIRD", "PENDING", "RUNNING", "FAILED"]
    jobs = [replace(line, id=str(n), name=token, state=s) for n, s in enumerate(states)]
    for count, expected in ((1, "0"), (2, "1"), (3, "2"), (5, "3")):
        it = SlurmPoll(0.0, [node("n1")], jobs[:count], [])
        assert snapshot(it, None, "mb-abcdef01-").jobs[token].native_id == expected


def test_of_twins_that_have_both_ended_the_one_that_ended_last_is_shown() -> None:
    """The other one could not pass the gate, or its controller said COMPLETED too soon."""
    line = parsing.jobs(recorded.squeue("22.05", "running"))[0]
    token = "mb-abcdef01-1-1-0"
    early = replace(line, id="7", name=token, state="COMPLETED", submit_time=100.0, end_time=130.0)
    late = replace(early, id="8", state="TIMEOUT", submit_time=110.0, end_time=200.0)
    for jobs in ([early, late], [late, early]):
        shown = snapshot(SlurmPoll(0.0, [node("n1")], jobs, []), None, "mb-abcdef01-").jobs[token]
        assert (shown.native_id, shown.word) == ("8", "TIMEOUT")


def test_the_kinds_of_nodes_those_that_are_down_too() -> None:
    nodes = [
        node("n1", memory=1000), node("n2", memory=1000, state="down*"),
        node("n3", memory=2000, gpus=4), node("n4", "other", default=False),
    ]  # fmt: skip
    seen = snapshot(SlurmPoll(0.0, nodes, [], []), None, "mb-abcdef01-")
    assert seen.nodes == (NodeKind(48, 1000, count=2), NodeKind(48, 2000, 4))


def test_two_threads_on_each_core() -> None:
    reservation = SlurmReservation(
        name="r", start_time=0.0, end_time=HOUR, nodes="n1", node_count=1, core_count=4,
        processors=8, state="ACTIVE", flags="", users="x", partition="", cores={"n1": 4},
    )  # fmt: skip
    it = SlurmPoll(0.0, [node("n1", processors_per_core=2)], [], [reservation])
    assert idle(it) == 48 - 8
    assert idle(replace(it, reservations=[replace(reservation, cores={})])) == 48 - 8


def test_a_suspended_job_and_one_that_a_sibling_of_its_federation_runs() -> None:
    (paused,) = parsing.jobs(job("SUSPENDED"))
    assert native_job(paused).suspended and native_job(paused).state is NativeState.RUNNING
    (away,) = parsing.jobs(job("REVOKED"))
    assert native_job(away).state is NativeState.UNKNOWN
    assert native_job(away).reason == "another cluster of its federation has started it"


def test_a_job_whose_nodes_are_woken_up_has_them_and_does_not_run_yet() -> None:
    for word, preparing in (("CONFIGURING", True), ("RUNNING", False), ("PENDING", False)):
        (line,) = parsing.jobs(job(word))
        assert native_job(line).preparing is preparing
