"""The OpenPBS cluster behind the port: looks, ends without history, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from metabroker.broker.observation import NativeState, NodeKind, Snapshot
from metabroker.broker.states import Cause
from metabroker.clusters.openpbs import OpenPBSCluster, OpenPBSOptions
from metabroker.clusters.port import CleanRequest, ClusterRefusal, UnknownOutcome
from metabroker.clusters.transports.base import CommandLost, CommandMissing, Completed
from metabroker.clusters.transports.local import LocalTransport
from tests.clusters.refusals import refused
from tests.clusters.slurm.drive import TOKEN, Answer, Told, drive, said

from .recorded import case
from .test_reserving import shown
from .test_submitting import NO_HISTORY

NOW = 1795236224.0  # Sat Nov 21 04:43:44 2026
CONF = said("PBS_SERVER=pbsa\n")
VERSION = said("pbs_version = 23.06.06\n")
FREE = case("53/21").completed
PREFIX = "mb-abcdef01-"


def cluster(**given: object) -> OpenPBSCluster:
    options = OpenPBSOptions("mbsvc", name="leiden", instance="abcdef01")
    return OpenPBSCluster(replace(options, **given), LocalTransport({}))  # type: ignore[arg-type]


def job(state: str = "R", vnodes: str = "(n01:ncpus=2)+(n02:ncpus=2)", more: str = "") -> Completed:
    return said(
        f"Job Id: 37.pbsa|Job_Name={TOKEN}|Job_Owner=mbsvc@h|job_state={state}|substate=42|"
        f"Resource_List.ncpus=4|exec_vnode={vnodes}|exec_host=n01/0*2+n02/0*2{more}\n"
    )


def look(answers: list[Answer], it: OpenPBSCluster | None = None) -> Snapshot:
    return drive((it or cluster()).observe(NOW), [CONF, VERSION, *answers], Told())


def test_an_idle_cluster() -> None:
    found = look([said(), said(), said(), FREE])
    assert (found.processors, found.usable, found.busy) == (12, 12, 0)
    assert (found.version, found.settled, found.taken_at) == ("23.06.06", True, NOW)
    assert not found.jobs and not found.reservations and not found.ours


def test_the_number_of_commands_does_not_grow_with_jobs() -> None:
    it = cluster()
    ids = "".join(f"{n}.pbsa\n" for n in range(500))
    told = Told()
    answers: list[Answer] = [CONF, VERSION, said(ids), said(ids), job(), said(), FREE]
    first = drive(it.observe(NOW), answers, told)
    assert first.commands == 6
    assert [line.split()[0] for line in told.lines] == [
        "sh", "qstat", "qselect", "qselect", "qstat", "pbs_rstat", "pbsnodes",
    ]  # fmt: skip
    assert told.lines[3] == "qselect -x -u mbsvc -t m.gt.202611210438.44"
    again = Told()
    # These may have ended just now; all that have are asked for once a minute.
    answers = [said(), job("F"), said(), FREE]
    assert drive(it.observe(NOW), answers, again).commands == 4
    assert " -x " in again.lines[1] and len(again.commands[1].argv) == 506
    answers = [said(), said(), job("F"), said(), FREE]
    assert drive(it.observe(NOW + 60), answers, again).commands == 5
    assert again.lines[-4].startswith("qselect -x")
    assert drive(it.observe(NOW + 301), [said(), said(), said(), FREE], again).commands == 4
    assert all(("TZ", "UTC") in c.env and ("LC_ALL", "C") in c.env for c in told.commands[1:])


def test_our_running_job_without_a_reservation() -> None:
    busy = said(
        FREE.stdout.replace('"resources_assigned":\t{\n', '"resources_assigned":\t{\n"ncpus":2', 2)
    )
    found = look([said("37.pbsa\n"), said(), job(), said(), busy])
    assert (found.busy, found.ours) == (4, {TOKEN: 4})
    native = found.jobs[TOKEN]
    assert (native.native_id, native.state, native.hosts) == (
        "37.pbsa", NativeState.RUNNING, "n01 n02",
    )  # fmt: skip


def test_a_reservation_that_has_begun_is_assigned_already() -> None:
    nodes = case("50/08").completed
    running = shown("RESV_RUNNING", 5)
    # With its job in it and without: both are the same four processors.
    for listed, jobs in ((said("37.pbsa\n"), [job()]), (said(), [])):
        found = look([listed, said(), *jobs, running, nodes])
        assert (found.usable, found.busy, found.ours) == (12, 4, {TOKEN: 4})
    assert found.reservations[TOKEN].processors == 4
    assert found.reservations[TOKEN].hosts == "n01 n02"


def test_a_reservation_that_will_begin_soon_counts_though_nothing_is_assigned() -> None:
    found = look([said(), said(), shown(), FREE])
    assert (found.busy, found.ours, found.coming) == (4, {TOKEN: 4}, ())
    found = look([said(), said(), shown(owner="mallory"), FREE])
    (coming,) = found.coming  # a job that holds its processors until then leaves them to it
    assert (found.busy, coming.processors, coming.idle) == (4, 4, 0)
    far = shown(owner="mallory").stdout.replace("04:43:44 2026", "06:43:44 2026")
    found = look([said(), said(), said(far), FREE])
    assert found.busy == 0
    (coming,) = found.coming
    assert (coming.processors, coming.idle, coming.maintenance) == (4, 4, False)
    assert coming.name.startswith("R") and "mallory" not in coming.name
    (coming,) = look([said(), said(), said(far.replace("Resv ID: R", "Resv ID: M")), FREE]).coming
    assert coming.maintenance


def test_a_reservation_of_others_that_a_listing_leaves_out_is_asked_for() -> None:
    it, theirs = cluster(), shown(owner="mallory")
    drive(it.observe(NOW), [CONF, VERSION, said(), said(), theirs, FREE], Told())
    told = Told()
    with pytest.raises(UnknownOutcome, match="leaves out"):
        drive(it.observe(NOW + 1), [said(), said(), FREE, theirs], told)
    assert told.lines[-1].startswith("pbs_rstat -F R")
    gone = Completed(0, "", "pbs_rstat: Unknown Reservation Id\n")
    assert drive(it.observe(NOW + 2), [said(), said(), FREE, gone], Told()).commands == 4
    assert drive(it.observe(NOW + 3), [said(), said(), FREE], Told()).commands == 3


def test_a_reservation_of_others_that_nobody_can_read_any_more_is_there() -> None:
    """Who makes it so takes no look from the broker."""
    it, theirs = cluster(), shown(owner="mallory")
    drive(it.observe(NOW), [CONF, VERSION, said(), said(), theirs, FREE], Told())
    twice = said(theirs.stdout.replace("Reserve_Name = ", "Reserve_Name = x\nReserve_Name = "))
    for later in (1, 2):
        drive(it.observe(NOW + later), [said(), twice, FREE], Told())


def test_a_reservation_of_others_that_is_over_is_not_asked_for() -> None:
    it, theirs = cluster(), shown(owner="mallory")
    drive(it.observe(NOW), [CONF, VERSION, said(), said(), theirs, FREE], Told())
    answers = [said(), said(), said(), FREE]
    assert drive(it.observe(NOW + 86400), answers, Told()).commands == 4


def test_a_foreign_one_that_begins_during_the_look_is_not_idle() -> None:
    """It is not assigned yet when nodes are asked for before it, and has begun when it is."""
    told = Told()
    drive(
        cluster().observe(NOW), [CONF, VERSION, said(), said(), shown(owner="mallory"), FREE], told
    )
    assert [line.split()[0] for line in told.lines[-2:]] == ["pbs_rstat", "pbsnodes"]
    # Confirmed, then begun: never more is idle than there is.
    begun = case("50/08").completed
    for state in ("RESV_CONFIRMED", "RESV_RUNNING"):
        found = look([said(), said(), shown(state, owner="mallory"), begun])
        assert found.usable - found.busy <= 8


@pytest.mark.parametrize(("state", "substate"), [("RESV_RUNNING", 10), ("RESV_CONFIRMED", 12)])
def test_one_that_has_lost_a_node_is_known_to_be_degraded(state: str, substate: int) -> None:
    found = look([said(), said(), shown(state, substate), FREE])
    assert found.reservations[TOKEN].degraded
    assert not look([said(), said(), shown(state, 5), FREE]).reservations[TOKEN].degraded


def test_one_that_is_not_confirmed_holds_nothing_and_is_known() -> None:
    found = look([said(), said(), shown("RESV_UNCONFIRMED", 1), FREE])
    assert (found.busy, list(found.reservations)) == (0, [TOKEN])


def test_what_others_call_by_our_names_is_not_ours() -> None:
    theirs = said(job().stdout.replace("mbsvc@", "mallory@"))
    found = look([said("37.pbsa\n"), said(), theirs, shown(owner="mallory"), FREE])
    assert found.busy == 4 and not found.ours and not found.jobs and not found.reservations


def test_a_job_that_was_not_asked_for_is_not_believed() -> None:
    assert not look([said("36.pbsa\n"), said(), job(), said(), FREE]).jobs


def test_an_ended_job_is_shown_where_there_is_history() -> None:
    ended = said(job("F").stdout.replace("substate=42", "substate=93|Exit_status=-29"))
    found = look([said(), said("37.pbsa\n"), ended, said(), FREE])
    assert found.jobs[TOKEN].cause is Cause.OVERTIME and not found.ours


def test_without_history_ended_jobs_are_not_asked_for() -> None:
    told = Told()
    answers: list[Answer] = [CONF, VERSION, said("37.pbsa\n"), NO_HISTORY, job(), said(), FREE]
    drive(cluster().observe(NOW), answers, told)
    assert told.lines[4] == "qstat -E -f -F dsv 37.pbsa"


def test_jobs_that_vanish_while_they_are_asked_for() -> None:
    gone = Completed(153, job().stdout, "qstat: Unknown Job Id 36.pbsa\n")
    found = look([said("36.pbsa\n37.pbsa\n"), said(), gone, said(), FREE])
    assert list(found.jobs) == [TOKEN]


def test_nodes_whose_json_is_invalid_are_asked_for_in_the_other_form() -> None:
    poisoned = said(FREE.stdout.replace('"license":\t"l"', '"comment":\tnan', 1))
    dsv = said("Name=n01|state=free|resources_available.ncpus=4|resources_assigned.ncpus=1\n")
    told = Told()
    found = drive(
        cluster().observe(NOW), [CONF, VERSION, said(), said(), said(), poisoned, dsv], told
    )
    assert (found.usable, found.busy, found.commands) == (4, 1, 6)
    assert told.lines[6] == "pbsnodes -a -v -F dsv"


def test_nodes_that_are_off_are_not_idle() -> None:
    found = look([said(), said(), said(), case("53/06").completed])
    assert (found.processors, found.usable, found.busy) == (12, 8, 0)
    # All of the other server's vnodes are.
    found = look([said(), said(), said(), case("53/14").completed])
    assert (found.processors, found.usable, found.busy) == (32, 0, 0)


def test_where_nodes_are_given_whole_one_with_anything_on_it_is_not_idle() -> None:
    partly = said(
        FREE.stdout.replace('"resources_assigned":\t{\n', '"resources_assigned":\t{\n"ncpus":1', 1)
    )
    assert look([said(), said(), said(), partly]).busy == 1
    assert look([said(), said(), said(), partly], cluster(unit=4)).busy == 4
    # Nor is one that a reservation will begin on soon, however little of it that is.
    small = said(shown().stdout.replace("ncpus=2", "ncpus=1"))
    assert look([said(), said(), small, FREE]).busy == 2
    assert look([said(), said(), small, FREE], cluster(unit=4)).busy == 8


def test_a_node_that_is_taken_whole_has_no_idle_processors() -> None:
    whole = said(FREE.stdout.replace('"state":\t"free"', '"state":\t"job-exclusive"', 1))
    found = look([said("37.pbsa\n"), said(), job(vnodes="(n01:ncpus=1)"), said(), whole])
    assert (found.busy, found.ours) == (4, {TOKEN: 4})


def test_of_a_node_that_several_jobs_fill_each_holds_its_own_part() -> None:
    full = said(FREE.stdout.replace('"state":\t"free"', '"state":\t"job-busy"', 1))
    found = look([said("37.pbsa\n"), said(), job(vnodes="(n01:ncpus=1)"), said(), full])
    assert (found.busy, found.ours) == (4, {TOKEN: 1})


def test_a_server_that_has_heard_of_no_node_yet_is_not_settled() -> None:
    unknown = said(FREE.stdout.replace('"free"', '"state-unknown,down"'))
    assert not look([said(), said(), said(), unknown]).settled
    one_up = said(FREE.stdout.replace('"free"', '"state-unknown,down"', 2))
    assert look([said(), said(), said(), one_up]).settled


def test_the_kinds_of_hosts_by_their_vnodes() -> None:
    nodes = said(
        "Name=a|state=free|resources_available.ncpus=8|resources_available.mem=16777216kb|"
        "resources_available.ngpus=2\n"
        "Name=b[0]|state=free|resources_available.ncpus=4|resources_available.mem=8gb|"
        "resources_available.host=b\n"
        "Name=b[1]|state=down|resources_available.ncpus=4|resources_available.mem=8gb|"
        "resources_available.host=b|resources_available.ngpus=2\n"
        "Name=c|state=free|resources_available.ncpus=2|resources_available.ngpus=some\n"
        "Name=d|state=down\n"
    )
    found = look([said(), said(), said(), nodes]).nodes
    assert found == (
        NodeKind(2, None, chunked=True),
        NodeKind(8, 16384, 2, count=2, chunked=True),
    )
    assert not look([said(), said(), said(), nodes], cluster(unit=8)).nodes[0].chunked
    assert {node.processors for node in look([said(), said(), said(), FREE]).nodes} == {4}


def test_nodes_of_a_queue_and_nodes_with_what_chunks_ask_for() -> None:
    nodes = said(
        "Name=a|state=free|queue=fast|resources_available.ncpus=8\n"
        "Name=b|state=free|resources_available.ncpus=4|resources_available.Qlist=x, y\n"
        "Name=c|state=free|resources_available.ncpus=2\n"
    )
    for given, processors in (
        ({"queue": "fast"}, 8),
        ({"queue": "workq"}, 6),
        ({}, 6),
        ({"chunk": "mem=2gb:Qlist=y"}, 4),
    ):
        assert look([said(), said(), said(), nodes], cluster(**given)).processors == processors
    with pytest.raises(ClusterRefusal, match="no node serves this queue"):
        look([said(), said(), said(), nodes], cluster(chunk="Qlist=z"))


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (Completed(1, "", "Unknown option: version\nUsage:\n    qstat [-f] [-a|-i|-r]\n"), "slurm"),
        (Completed(0, "", "Version: 6.1.2\nCommit: 661e092552de43a785c15d39a3634a541d86898e\n"),
         "TORQUE"),
        (Completed(127, "", "what?\n"), "not OpenPBS"),
        (Completed(0, "slurm 22.05.8\n", ""), "slurm"),
    ],
)  # fmt: skip
def test_other_systems_that_have_a_qstat_are_refused(answer: Completed, word: str) -> None:
    with refused(Cause.INVALID, word):
        drive(cluster().observe(NOW), [CONF, answer], Told())


@pytest.mark.parametrize("name", ["70/10", "70/11", "70/13", "70/20", "70/22", "70/25", "70/35"])
def test_a_look_at_a_server_that_is_down(name: str) -> None:
    answers: list[Answer] = [said(), said(), said(), FREE]
    program = case(name).argv[0]
    place = {"qselect": 0, "pbs_rstat": 2, "pbsnodes": 3}[program]
    with refused(Cause.UNREACHABLE):
        look([*answers[:place], case(name).completed])


def test_a_lost_a_missing_and_a_garbled_command() -> None:
    with pytest.raises(UnknownOutcome, match="no answer"):
        look([CommandLost("qselect: no answer within 30 s")])
    with pytest.raises(ClusterRefusal, match="set `bin` or PATH"):
        drive(cluster().observe(NOW), [CONF, CommandMissing("qstat: not found")], Told())
    with pytest.raises(UnknownOutcome, match="qselect"):
        look([said("what\n")])
    with pytest.raises(UnknownOutcome, match="pbs_rstat"):
        look([said(), said(), said("what\n\n")])


def test_a_job_that_was_told_to_end_is_not_told_again_at_once() -> None:
    """Each time PBS would give it as long again before it is killed."""
    it, order, told = cluster(), CleanRequest(TOKEN, None, reservation=False), Told()
    running: list[Answer] = [said("37.pbsa\n"), job("R")]
    with pytest.raises(UnknownOutcome, match="not gone yet"):
        drive(it.clean(order), [*running, said(), *running * 8], told)
    with pytest.raises(UnknownOutcome, match="not gone yet"):
        drive(it.clean(order), running * 9, told)
    assert [line for line in told.lines if line.startswith("qdel")] == ["qdel 37.pbsa"]
