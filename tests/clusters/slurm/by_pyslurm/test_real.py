"""pyslurm and the commands side by side on a real cluster: they must report the same.

Run where METABROKER_TEST_PYSLURM names a Python with pyslurm (see `tests/testbed/pyslurm.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from metabroker.broker.observation import Snapshot
from metabroker.broker.states import Cause
from metabroker.clusters.operation import carry_out
from metabroker.clusters.port import CleanRequest, ReserveRequest, UnknownOutcome
from metabroker.clusters.slurm import SlurmCluster, SlurmOptions, commands
from metabroker.clusters.slurm.by_pyslurm import PyslurmTransport
from metabroker.clusters.transports.base import Command, Completed, Unreached
from metabroker.clusters.transports.local import LocalTransport
from tests.clusters.refusals import refused
from tests.daemon.harness import eventually
from tests.daemon.kinds import somebody
from tests.testbed import SlurmCluster as Real
from tests.testbed.fixtures import RELEASES, Releases
from tests.testbed.pyslurm import interpreter, release

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(600), pytest.mark.xdist_group("pyslurm")]
OURS = "mb-abcdef01-"
OPTIONS = SlurmOptions("root", name="delft", instance="abcdef01", partition="batch")


class Both:
    """One cluster, by pyslurm and by its commands."""

    def __init__(self, real: Real, python: str) -> None:
        self.real = real
        env = real.env()
        self.local = LocalTransport(env)
        self.pyslurm = PyslurmTransport(
            LocalTransport(env), env, name=real.name, python=python, falls_back=False
        )

    def cluster(self, *, by_pyslurm: bool) -> SlurmCluster:
        return SlurmCluster(OPTIONS, self.pyslurm if by_pyslurm else self.local)

    def snapshots(self) -> tuple[Snapshot, Snapshot]:
        """By each, of one moment: nothing has changed between two looks by the commands."""
        for _ in range(50):
            before = look(self.cluster(by_pyslurm=False))
            asked = look(self.cluster(by_pyslurm=True))
            if before == look(self.cluster(by_pyslurm=False)):
                return asked, before
        raise AssertionError("the cluster is never at rest")

    def answers(self, command: Command) -> tuple[Completed, Completed]:
        """By each, as with `snapshots`."""
        for _ in range(50):
            before = self.local.run(command)
            asked = self.pyslurm.run(command)
            if before == self.local.run(command):
                return asked, before
        raise AssertionError("the cluster is never at rest")


def look(cluster: SlurmCluster) -> Snapshot:
    return replace(carry_out(cluster.observe(1.0), cluster.transport), taken_at=0.0)


@pytest.fixture
def both(request: pytest.FixtureRequest) -> Iterator[Both]:
    python = interpreter()
    found = release(python)
    releases: Releases = request.getfixturevalue("releases")
    bed = releases.testbed(found)
    bed.reset()
    it = Both(bed["delft"], python)
    yield it
    it.pyslurm.close()
    bed.reset()


def make_busy(real: Real) -> None:
    """Jobs of ours and of others in all states that can be had at once; reservations of both."""
    reserve = ("scontrol", "create", "reservation", "StartTime=now", "Duration=60")
    for name, cores in ((f"{OURS}9-1-0", 6), ("theirs", 7)):
        words = (f"ReservationName={name}", f"CoreCnt={cores}", "PartitionName=batch")
        real.run(*reserve, *words, f"Users={somebody() or 'root'},root", check=True)
    real.run(
        *("scontrol", "create", "reservation", "ReservationName=later", "StartTime=now+30minutes"),
        *("Duration=60", "Users=root", "NodeCnt=1", "PartitionName=batch"),
        check=True,
    )
    ended = real.submit("-n", "2", "-J", f"{OURS}1-1-0", script="true")
    failed = real.submit("-n", "2", "-J", f"{OURS}1-2-0", script="exit 3")
    real.submit("-n", "4", "-J", f"{OURS}2-1-0", "-t", "30")
    real.submit("-n", "4", "-J", f"{OURS}2-1-0", "-t", "30")  # its twin
    suspended = real.submit("-n", "3", "-J", f"{OURS}3-1-0")
    cancelled = real.submit("-n", "3", "-J", f"{OURS}4-1-0")
    real.submit("-n", "2", "-J", f"{OURS}9-1-0", f"--reservation={OURS}9-1-0")
    real.submit("-n", "5", "--reservation=theirs", user=somebody())
    real.submit("-n", "100", "-J", "array", "--array=0-2", user=somebody())
    real.submit("-n", "100", "-J", f"{OURS}5-1-0", "-t", "30")
    real.submit("-n", "1", "-J", f"{OURS}6-1-0", "--hold")
    real.submit("-n", "1", "-J", f"{OURS}7-1-0", "--begin=now+1hour")
    real.submit("-n", "1", "-J", "a name with spaces: é, =, \" and '")
    real.wait_job(suspended, "RUNNING")
    real.run("scontrol", "suspend", suspended, check=True)
    real.wait_job(cancelled, "RUNNING")
    real.run("scancel", cancelled, check=True)
    for job in (ended, failed, cancelled):
        real.wait_job(job)


def test_a_busy_cluster_is_the_same_by_both(both: Both) -> None:
    make_busy(both.real)
    asked, told = both.snapshots()
    assert asked == told
    words = {job.word for job in told.jobs.values()}
    assert {"PENDING", "RUNNING", "SUSPENDED", "COMPLETED", "FAILED", "CANCELLED"} <= words
    assert told.reservations and told.ours
    who = somebody() or "root"
    for command in (
        commands.list_jobs("root"),
        commands.list_jobs(who),
        commands.find_jobs("root", f"{OURS}2-1-0"),
        commands.find_jobs("root", f"{OURS}8-1-0"),
        commands.list_jobs_in(["theirs", "later"]),
        commands.list_nodes(),
        commands.list_reservations(),
        commands.show_reservation("theirs"),
    ):
        by_pyslurm, by_command = both.answers(command)
        assert lines(by_pyslurm) == lines(by_command), command.argv
        assert by_pyslurm.exit_status == by_command.exit_status == 0


def lines(done: Completed) -> list[str]:
    """In no order; pending tasks of an array are one line for pyslurm (and none is ours)."""
    printed = done.stdout.splitlines()
    return sorted(line for line in printed if "\x1farray\x1fPENDING" not in line)


@pytest.mark.parametrize("state", ["down", "drain", "fail"])
def test_nodes_out_of_service_are_the_same_by_both(both: Both, state: str) -> None:
    real = both.real
    token = f"{OURS}{['down', 'drain', 'fail'].index(state)}-8-0"
    job = real.submit("-n", "4", "-w", "delft1", "-J", token, "--no-requeue")
    real.wait_job(job, "RUNNING")
    for node in ("delft1", "delft2"):
        real.run("scontrol", "update", f"nodename={node}", f"state={state}", "reason=x", check=True)
    asked, told = both.snapshots()
    assert asked == told
    if state == "down":  # until their next word to the controller
        assert told.jobs[token].cause is Cause.NODE
    else:
        assert told.usable < told.processors


def test_a_partition_that_is_down_and_nodes_that_do_not_answer_yet(both: Both) -> None:
    real = both.real
    real.run("scontrol", "update", "partitionname=batch", "state=down", check=True)
    asked, told = both.snapshots()
    assert asked == told
    assert told.usable == 0
    real.run("scontrol", "update", "partitionname=batch", "state=up", check=True)
    real.stop_controller()
    real.start_controller(wait=False)
    eventually(lambda: real.run("sinfo", "-h").returncode == 0, "the controller answers")
    asked, told = both.snapshots()
    assert asked == told


def test_reserving_cancelling_and_deleting_do_the_same(both: Both) -> None:
    it = both.cluster(by_pyslurm=True)
    token = f"{OURS}1-9-0"
    look(it)
    for _ in range(2):  # the second finds what the first has made
        carry_out(it.reserve(ReserveRequest(token, 50, 600)), it.transport)
    assert [r.processors for r in both.real.reservations() if r.name == token] == [50]
    with refused(Cause.BUSY):
        carry_out(it.reserve(ReserveRequest(f"{OURS}2-9-0", 100, 600)), it.transport)
    other = both.real.submit("-n", "2", "-J", "somebody's")
    job = both.real.submit("-n", "2", "-J", token, f"--reservation={token}")
    both.real.wait_job(job, "RUNNING")
    both.real.wait_job(other, "RUNNING")
    carry_out(it.clean(CleanRequest(token)), it.transport)
    assert both.real.reservations() == []
    left = both.real.job(job)
    assert left is not None and left.state == "CANCELLED"
    assert [found.id for found in both.real.active_jobs()] == [other]
    carry_out(it.clean(CleanRequest(token)), it.transport)  # and once more


def test_a_controller_that_is_down_or_does_not_answer_is_told_in_the_same_words(
    both: Both,
) -> None:
    look(both.cluster(by_pyslurm=True))
    both.real.stop_controller()
    for by_pyslurm in (True, False):
        with refused(Cause.UNREACHABLE, "connect failure"):
            look(both.cluster(by_pyslurm=by_pyslurm))
    both.real.start_controller()
    look(both.cluster(by_pyslurm=True))
    both.real.freeze_controller()
    for by_pyslurm in (True, False):
        with pytest.raises(UnknownOutcome, match=r"timed out|connection failure|Unable to contact"):
            look(both.cluster(by_pyslurm=by_pyslurm))
    both.real.thaw_controller()
    look(both.cluster(by_pyslurm=True))


def test_a_cluster_of_another_release_is_refused_with_both_releases(
    both: Both, request: pytest.FixtureRequest
) -> None:
    python = interpreter()
    mine = release(python)
    theirs = next(other for other in RELEASES if other != mine)
    env = request.getfixturevalue("releases").testbed(theirs)["lab"].env()
    it = PyslurmTransport(LocalTransport(env), env, name="lab", python=python, falls_back=False)
    with pytest.raises(Unreached, match=rf"is for Slurm {mine}, and .* {theirs}"):
        it.run(commands.list_nodes())
    it.close()
    falls = PyslurmTransport(LocalTransport(env), env, name="lab", python=python, falls_back=True)
    assert "batch*" in falls.run(commands.list_nodes()).stdout
    falls.close()
