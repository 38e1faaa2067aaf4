"""kill -9 of the daemon at every point where an effect is owed, about to be carried out, or
carried out and not yet recorded: all jobs end as they should, nothing runs twice, nothing stays.

Each case is a life of its own: daemons of several points run side by side over the same clusters.
"""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site, recording
from tests.daemon.kinds import Kind

TOGETHER, ALONE = 1, 2  # the numbers of the two jobs of a life

# WHEN:STEP:NTH:JOB, see `killing`; a co-allocated job has each step for three components.
POINTS = {
    step: [f"owed:{step}:1:1", f"before:{step}:2:1", f"after:{step}:1:1"]
    for step in ("reserve", "submit", "arm", "open", "clean", "discard")
}
POINTS["submit"] += ["owed:submit:1:2", "before:submit:1:2", "after:submit:1:2"]
POINTS["discard"] += ["owed:discard:1:2", "before:discard:1:2", "after:discard:1:2"]


@pytest.mark.parametrize("step", POINTS)
def test_jobs_survive(step: str, kind: Kind, make_site: MakeSite) -> None:
    points = POINTS[step]
    sites = [make_site(kind) for _ in points]
    with ThreadPoolExecutor(len(points)) as pool:
        list(pool.map(die_and_live_on, sites, points))


def die_and_live_on(site: Site, point: str) -> None:
    site.start_and_look("--kill", point)
    jobs = ["--components 4,4,4"]
    if point.endswith(f":{ALONE}"):
        assert site.submit(jobs[0]) == TOGETHER
        # Reserved by now: one that is on its way when the daemon dies would cost it an attempt.
        site.wait_state(TOGETHER, "SUBMITTING", "WAITING", "RUNNING", "COMPLETED")
        jobs.append("-n 4")
    with ThreadPoolExecutor(1) as user:
        # Whoever submits while the daemon dies waits until it is back: nothing comes twice.
        submitted = user.submit(site.submit, jobs[-1])
        assert site.died() == -signal.SIGKILL, f"{point} was not reached\n{site.story()}"
        site.start()
        assert submitted.result() == len(jobs)
    for job in range(1, len(jobs) + 1):
        found = site.wait_end(job, "COMPLETED")
        # A reservation is not asked for twice under one name.
        assert found["attempts"] == (2 if ":reserve:" in point else 1), found
        assert found["exit_code"] == 0
    runs = site.runs()
    assert len({(run.job, run.component) for run in runs}) == len(runs), f"{point}: twice: {runs}"
    assert len(site.runs(TOGETHER)) == 3
    site.wait_clean()
    assert site.stop() == 0


def test_cancelled_jobs_survive(kind: Kind, make_site: MakeSite) -> None:
    points = [
        (options, f"{when}:clean")
        for options in ("--components 4,4,4", "-n 4")
        for when in ("owed", "before", "after")
    ]
    sites = [make_site(kind) for _ in points]
    with ThreadPoolExecutor(len(points)) as pool:
        list(pool.map(cancel_and_die, sites, points))


def test_jobs_cancelled_at_the_barrier_survive(kind: Kind, make_site: MakeSite) -> None:
    points = ["owed:clean:1", "before:clean:2", "after:clean:1", "owed:discard:2"]
    sites = [make_site(kind) for _ in points]
    with ThreadPoolExecutor(len(points)) as pool:
        list(pool.map(roll_back_and_die, sites, points))


def roll_back_and_die(site: Site, point: str) -> None:
    site.start("--kill", point, "--pause", "before:arm:lab")
    job = site.submit("--on delft:4,leiden:4,lab:4")
    site.wait_state(job, "WAITING")
    site.wait_pause()
    site.cli("cancel", str(job))
    assert site.died() == -signal.SIGKILL, f"{point} was not reached\n{site.story()}"
    site.start()
    site.wait_end(job, "CANCELLED")
    site.wait_clean()
    assert site.runs(job) == []
    assert site.stop() == 0


def cancel_and_die(site: Site, life: tuple[str, str]) -> None:
    options, point = life
    site.start("--kill", point)
    job = site.submit(options, recording("exec sleep 600"))
    site.wait_state(job, "RUNNING")
    site.cli("cancel", str(job))
    assert site.died() == -signal.SIGKILL
    site.start()
    assert site.wait_end(job, "CANCELLED")["attempts"] == 1
    site.wait_clean()
    assert site.stop() == 0


def test_one_job_survives_a_death_at_every_point_of_its_life(site: Site) -> None:
    points = [f"{when}:{step}" for step in POINTS for when in ("owed", "before", "after")]
    site.start("--kill", points[0])
    with ThreadPoolExecutor(1) as user:
        submitted = user.submit(site.submit_in_the_end, "--components 4,4,4")
        for point in points[1:]:
            assert site.died() == -signal.SIGKILL, site.story()
            site.start("--kill", point, wait=False)
        assert site.died() == -signal.SIGKILL
        site.start()
        job = submitted.result()
    # A reservation that a death has left unanswered is asked for under a new name.
    assert site.wait_end(job, "COMPLETED")["attempts"] == 2
    assert len(site.runs(job)) == 3
    site.wait_clean()
    assert site.stop() == 0
