"""A cluster's controller is killed and comes back with its state, without it, or with an old copy
of it: jobs and reservations are forgotten, job ids are issued again, and forgotten jobs may still
run on the nodes. All of this at once for jobs at every critical moment of a co-allocation.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site, eventually, recording
from tests.daemon.kinds import Slurm
from tests.faults.aftermath import PATIENT, UNTIL_END, whole
from tests.testbed import SlurmCluster

pytestmark = pytest.mark.slurm
Clusters = dict[str, SlurmCluster]

RESERVED, SUBMITTED, AT_THE_BARRIER, ENDED, RUNNING, ALONE = (
    1,
    2,
    3,
    4,
    5,
    6,
)  # jobs, by their moments
HOLDS = {
    RESERVED: "before:submit:lab",
    SUBMITTED: "after:submit:lab",
    AT_THE_BARRIER: "before:arm:lab",
    ENDED: "before:clean:lab",
}
RUN = {RUNNING: 2, ALONE: 1}  # with so many scripts
STATES = ("kept", "emptied", "put back")
STRANGERS = 8  # other people's jobs that take the forgotten ones' ids


@pytest.fixture
def held(clusters: Clusters, make_site: MakeSite) -> Site:
    """A daemon with a job at each moment, and two that run until the file `end` is there."""
    # Held-up jobs hold up workers: there must be more of them.
    site = make_site(Slurm(clusters), {**PATIENT, "clusters": {"lab": {"commands_at_once": 8}}})
    site.module = "tests.faults.pausing"
    return site


def begin(site: Site) -> None:
    holds = [word for job, point in HOLDS.items() for word in ("--hold", f"{point}:{job}")]
    site.start_and_look(*holds)
    for job in sorted(HOLDS):
        assert site.submit("--on delft:2,lab:2") == job
    assert site.submit("--on delft:2,lab:2", recording(UNTIL_END)) == RUNNING
    assert site.submit("-n 2 --cluster lab", recording(UNTIL_END)) == ALONE
    for job in HOLDS:
        eventually((site.folder / f"held-{job}").exists, f"job {job} is at its moment")
    for job, scripts in RUN.items():
        site.wait_state(job, "RUNNING")
        eventually(lambda: len(site.runs(job)) == scripts, "its scripts have started")  # noqa: B023


@pytest.mark.parametrize("state", STATES)
def test_at_every_moment(state: str, clusters: Clusters, held: Site, tmp_path: Path) -> None:
    lab = clusters["lab"]
    older = None
    if state == "put back":
        older = lab.save_state(copy=tmp_path / "older")
    elif state == "emptied":  # it counts from 1, before and after
        lab.stop_controller()
        lab.lose_state()
        lab.start_controller()
    else:
        lab.save_state()
    begin(held)
    ids = {job.id for job in lab.jobs() if job.name.startswith("mb-")}
    lab.kill_controller()
    if state != "kept":
        lab.lose_state(older)
    lab.start_controller()
    strangers = [lab.submit("-n", "1", "-t", "10", user="daemon") for _ in range(STRANGERS)]
    if state != "kept":
        assert ids & set(strangers), f"no id was issued again: {ids}, {strangers}"
    for job in HOLDS:
        (held.folder / f"go-{job}").touch()
    for job in (RESERVED, SUBMITTED, AT_THE_BARRIER):
        held.wait_end(job, "COMPLETED", seconds=90)
    # It had ended: whatever its cluster has forgotten, its own record counts.
    assert held.wait_end(ENDED, "COMPLETED")["attempts"] == 1
    (held.work / "end").touch()
    for job, scripts in RUN.items():
        assert held.wait_end(job, "COMPLETED", "FAILED")["attempts"] == 1
        assert len(held.runs(job)) == scripts
    # (A node may refuse to start a job whose number it knows from before: Slurm calls that FAILED.)
    found = [job for job in map(lab.job, strangers) if job is not None]
    assert len(found) == STRANGERS
    assert not [job for job in found if job.state == "CANCELLED"], "somebody else's job was ended"
    whole(held)
