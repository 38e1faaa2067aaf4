"""A backup of a daemon at work, which is lost later, comes back: nothing runs twice, nobody's job
is ended for it, and what the backup cannot know of is named."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from metabroker import accounts
from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Json, Site, eventually, recording, until
from tests.daemon.kinds import Simulated


def lose(site: Site) -> None:
    """The daemon dies, and its disk with it."""
    site.kill()
    for path in site.folder.glob("metabroker.db*"):
        path.unlink()


def leftovers(site: Site, *words: str) -> dict[int, Json]:
    """By the number of the job."""
    done = site.cli("leftovers", "--json", *words)
    assert done.returncode == 0, done.stderr
    return {left["job"]: left for left in json.loads(done.stdout)["leftovers"]}


def back_up(site: Site, *words: str) -> Path:
    target = site.folder / "backup.db"
    done = site.cli("backup", "--config", str(site.config), "--to", str(target), *words)
    assert done.returncode == 0, done.stderr
    return target


def come_back(site: Site, backup: Path, *words: str) -> Json:
    done = site.cli("restore", "--config", str(site.config), str(backup), "--json", *words)
    assert done.returncode == 0, done.stderr
    told: Json = json.loads(done.stdout)
    return told


def waiting_for(file: str) -> str:
    return recording(until(file))


@dataclass
class Jobs:
    """`together` and `ends` run when the backup is made, `starts` and `waits` wait then; `later`
    are submitted afterwards. `ends` ends, and `starts` starts, before all is lost."""

    together: int
    ends: int
    starts: int
    waits: int
    later: list[int] = field(default_factory=list)


@pytest.mark.slurm
def test_jobs_are_found_again_or_named_and_none_runs_twice(slurm_site: Site) -> None:
    site = slurm_site
    site.configure({"admins": [accounts.own().name]})
    jobs = begin(site)
    backup = back_up(site)
    assert backup.stat().st_mode & 0o777 == 0o600
    go_on(site, jobs)
    instance = site.instance
    lose(site)

    told = come_back(site, backup)
    assert (told["held"], told["under_way"], told["aside"]) == (2, 2, None)
    site.start()
    assert site.instance == instance
    see_what_is_known(site, jobs)
    remove_one_of_the_later(site, jobs)
    end_all(site, jobs)
    runs = [(run.job, run.component) for run in site.runs()]
    assert len(runs) == len(set(runs)) == 8, runs
    assert site.stop() == 0


@pytest.mark.slurm
def test_a_store_that_went_back_by_itself_ends_nothing_and_gives_no_name_twice(
    slurm_site: Site,
) -> None:
    site = slurm_site
    site.configure({"admins": [accounts.own().name]})
    site.start_and_look()
    known = site.submit("-n 4", waiting_for("end"))
    waits = site.submit("-n 4 --hold", waiting_for("end"))
    site.wait_state(known, "RUNNING")
    before = back_up(site)
    later = [site.submit("-n 4", waiting_for("end")) for _ in range(2)]
    assert site.cli("release", str(waits)).returncode == 0
    for job in (*later, waits):
        site.wait_state(job, "RUNNING")
    lose(site)
    shutil.copy(before, site.folder / "metabroker.db")

    site.start()
    eventually(lambda: site.client.get("status")["store_behind"], "it is noticed")
    for refused in (
        site.cli("submit", "-n", "4", str(site.folder / "script")),
        site.cli("cancel", str(known)),
    ):
        assert refused.returncode == 1, refused.stdout
        assert "the store is older than the clusters" in refused.stderr
        assert "metabroker restore --in-place" in refused.stderr
    site.look_at_clusters(anew=True)
    assert any("the store is older" in each["error"] for each in site.clusters().values())
    running = [token for cluster in site.kind.sizes for token in site.held(cluster).jobs]
    assert len(running) == 4, "nobody's job was ended"
    assert site.stop() == 0

    done = site.cli("restore", "--config", str(site.config), "--in-place")
    assert done.returncode == 0, done.stderr
    site.start()
    eventually(lambda: leftovers(site).keys() == set(later), "the later ones are named")
    site.wait_state(waits, "RUNNING")
    new = site.submit("-n 4", recording("exit 0"))
    assert new > max(later)
    (site.work / "end").touch()
    for job in (known, waits, new):
        site.wait_end(job, "COMPLETED")
    runs = [(run.job, run.component) for run in site.runs()]
    assert len(runs) == len(set(runs)) == 5, runs
    assert site.stop() == 0


def begin(site: Site) -> Jobs:
    site.start_and_look()
    jobs = Jobs(
        site.submit("--components 4,4,4", waiting_for("end")),
        site.submit("-n 4", waiting_for("end-soon")),
        site.submit("-n 4 --hold", waiting_for("end")),
        site.submit("-n 4 --hold", waiting_for("end")),
    )
    for job in (jobs.together, jobs.ends):
        site.wait_state(job, "RUNNING")
    return jobs


def go_on(site: Site, jobs: Jobs) -> None:
    """What the backup cannot know."""
    (site.work / "end-soon").touch()
    site.wait_end(jobs.ends, "COMPLETED")
    assert site.cli("release", str(jobs.starts)).returncode == 0
    jobs.later = [site.submit("-n 4", waiting_for("end")) for _ in range(2)]
    for job in (jobs.starts, *jobs.later):
        site.wait_state(job, "RUNNING")
    eventually(lambda: len(site.runs()) == 7, "all scripts have started")


def see_what_is_known(site: Site, jobs: Jobs) -> None:
    site.wait_state(jobs.starts, "RUNNING")
    assert site.job(jobs.together)["state"] == "RUNNING"
    assert site.job(jobs.waits)["state"] == "HELD"
    assert "restored from the backup of" in site.job(jobs.waits)["reason"]
    named = set(jobs.later)
    eventually(lambda: leftovers(site).keys() == named, "the later ones are named")
    for job in jobs.later:
        done = site.cli("show", str(job))
        assert done.returncode == 1 and "submitted after the backup of" in done.stderr
    new = site.submit("-n 4", recording("exit 0"))
    assert new > max(jobs.later) + 1000
    site.wait_end(new, "COMPLETED")
    ended = site.wait_state(jobs.ends, "HELD", "COMPLETED")
    # As long as its cluster remembers it, that tells how it ended.
    assert ended["state"] == "COMPLETED" or "may have run to its end" in ended["reason"]


def remove_one_of_the_later(site: Site, jobs: Jobs) -> None:
    gone, stays = (leftovers(site)[job]["name"] for job in jobs.later)
    assert leftovers(site, "--remove", gone)[jobs.later[0]]["removing"]

    def names() -> list[str]:
        return [left["name"] for left in leftovers(site).values()]

    eventually(lambda: names() == [stays], "it is gone")
    held = [site.held(cluster).jobs for cluster in site.kind.sizes]
    assert any(stays in jobs for jobs in held) and not any(gone in jobs for jobs in held)


def end_all(site: Site, jobs: Jobs) -> None:
    (site.work / "end").touch()
    site.wait_end(jobs.together, "COMPLETED")
    site.wait_end(jobs.starts, "COMPLETED")
    eventually(lambda: not leftovers(site), "all of the lost time has ended")
    for job in (jobs.waits, jobs.ends):
        site.cli("cancel", str(job))
    eventually(lambda: not site.client.get("jobs")["jobs"], "all has ended")
    # Of jobs that nobody remembers the folders are not known.
    folder = f"{site.work}/.metabroker-"
    theirs = tuple(f"gate {folder}mb-{site.instance}-{job}-" for job in jobs.later)

    def left() -> list[str]:
        return [x for x in site.left() if not x.startswith(theirs)]

    eventually(lambda: not left(), "nothing else is left")


def test_what_was_being_submitted_is_not_submitted_again(make_site: MakeSite) -> None:
    """The worst moment for a backup: it says that both are owed their submission. They have run
    since, their gates are gone, and their clusters have forgotten them."""
    site = make_site(Simulated())
    site.start_and_look("--pause", "before:submit")
    jobs = [site.submit("--on delft:4,leiden:4"), site.submit("-n 4")]
    site.wait_pause()
    for job in jobs:
        site.wait_state(job, "SUBMITTING")
    backup = back_up(site)
    site.go_on()
    for job in jobs:
        site.wait_end(job, "COMPLETED")
    site.wait_clean()
    lose(site)
    for path in site.folder.glob("*.simulated"):
        path.unlink()

    assert come_back(site, backup)["under_way"] == 2
    site.start()
    for job in jobs:
        found = site.wait_state(job, "HELD")
        assert found["attempts"] == 1 and "may have run to its end since" in found["reason"]
    assert len(site.runs()) == 3, "nobody has said that they may run again"
    assert site.cli("release", str(jobs[1])).returncode == 0
    site.wait_end(jobs[1], "COMPLETED")
    assert [run.attempt for run in site.runs(jobs[1])] == [1, 2]
    site.cli("cancel", str(jobs[0]))
    site.wait_end(jobs[0], "CANCELLED")
    site.wait_clean()
    assert site.stop() == 0
