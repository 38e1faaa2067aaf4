"""A slurmctld that is stopped and goes on, is killed and restarted, or is down all the time.

What a cluster's controller does delays only the jobs that need it (P5); nothing runs twice (P2),
starts in part (P3), or is left behind (P4); and the reason says what is waited for (P6).
"""

from __future__ import annotations

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site, eventually, recording, until
from tests.daemon.kinds import Slurm
from tests.testbed import SlurmCluster

pytestmark = pytest.mark.slurm
Clusters = dict[str, SlurmCluster]
SHORT = {"timeouts": {"command": "4s"}}  # a controller that is down takes longer to answer


@pytest.fixture
def paused_site(clusters: Clusters, make_site: MakeSite) -> Site:
    return make_site(Slurm(clusters), SHORT)


def detail(site: Site, job: int) -> str:
    """What the job's component in lab waits for."""
    (part,) = (part for part in site.job(job)["components"] if part["cluster"] == "lab")
    text: str = part["detail"]
    return text


def finish(site: Site, *jobs: int) -> None:
    """All jobs complete, each component of an attempt once, all or none of them."""
    for job in jobs:
        found = site.wait_end(job, "COMPLETED")
        runs = site.runs(job)
        parts = len(found["components"])
        assert len({(run.attempt, run.component) for run in runs}) == len(runs) == parts, runs
    site.wait_clean()
    assert "Traceback" not in site.log.read_text()


@pytest.mark.parametrize("point", ["before:reserve:lab", "before:submit:lab", "before:clean:lab"])
def test_frozen_in_the_middle(point: str, clusters: Clusters, paused_site: Site) -> None:
    site = paused_site
    site.start_and_look("--pause", point)
    job = site.submit("--on delft:4,leiden:4,lab:4")
    site.wait_pause()
    clusters["lab"].freeze_controller()
    site.go_on()
    other = site.submit("--on delft:4,leiden:4")
    site.wait_end(other, "COMPLETED")  # nobody else is kept waiting
    eventually(lambda: not site.clusters()["lab"]["reachable"], "no look is answered")
    if point.startswith("before:reserve"):
        # A vote that does not come is a refusal: the others are rolled back, and do not wait.
        assert "lab" in site.wait_state(job, "QUEUED")["reason"]
        for name in ("delft", "leiden"):
            eventually(lambda name=name: not site.held(name).reservations, name)  # type: ignore[misc]
        assert site.clusters()["lab"]["idle"] in (None, 0)
    elif point.startswith("before:submit"):
        eventually(lambda: "no answer" in detail(site, job), "sbatch is not answered")
    clusters["lab"].thaw_controller()
    finish(site, job, other)


def test_killed_and_restarted(clusters: Clusters, paused_site: Site) -> None:
    """It forgets what is younger than its last saved state, and issues job numbers again, while
    nobody has heard that it had reserved (for the moments after that: `faults/test_lost_state`)."""
    site, lab = paused_site, clusters["lab"]
    lab.save_state()
    site.start_and_look("--pause", "after:reserve:lab")
    job = site.submit("--on delft:4,lab:4")
    site.wait_pause()
    lab.kill_controller()
    lab.start_controller()
    somebody = lab.submit("-n", "1", "-t", "10", "-J", "somebody", script="sleep 600")
    site.go_on()
    finish(site, job)
    found = lab.job(somebody)
    assert found is not None and found.active, "the broker has ended somebody else's job"


def test_down_all_the_time(clusters: Clusters, paused_site: Site) -> None:
    site, lab = paused_site, clusters["lab"]
    lab.save_state()
    lab.kill_controller()
    site.start()
    eventually(
        lambda: all(site.clusters()[name]["reachable"] for name in ("delft", "leiden")),
        "the other clusters are seen",
    )
    needs_it = [site.submit("--on delft:4,lab:4"), site.submit("-n 4 --cluster lab")]
    others = [site.submit("--components 4,4"), site.submit("-n 4")]
    for job in others:
        site.wait_end(job, "COMPLETED")
    for job in needs_it:
        found = site.job(job)
        assert found["state"] == "QUEUED", found
        assert "lab" in found["reason"] and "not answer" in found["reason"], found
    shown = site.clusters()["lab"]
    assert (shown["reachable"], shown["idle"]) == (False, None)
    assert shown["error"]
    lab.start_controller()
    finish(site, *needs_it)


def test_down_after_all_was_submitted(clusters: Clusters, paused_site: Site) -> None:
    """The gates need no controller: the job runs, and its end is cleaned up when that is back."""
    site, lab = paused_site, clusters["lab"]
    lab.save_state()
    site.start_and_look("--pause", "before:arm")
    job = site.submit("--on delft:4,lab:4", recording(until("end")))
    site.wait_pause()
    lab.kill_controller()
    site.go_on()
    site.wait_state(job, "RUNNING")
    eventually(lambda: len(site.runs(job)) == 2, "both scripts start")
    (site.work / "end").touch()
    lab.start_controller()
    found = site.wait_end(job, "COMPLETED", "FAILED")
    assert found["attempts"] == 1
    assert len(site.runs(job)) == 2
    site.wait_clean()
