"""A disk that is full: the store's, and the one on which components meet the broker.

What cannot be written is not acknowledged, what runs goes on, and once there is space all goes on
where it was.
"""

from __future__ import annotations

import pytest

from metabroker.api.client import ClientError
from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site, eventually, recording
from tests.daemon.kinds import Kind
from tests.faults.aftermath import PATIENT, UNTIL_END, send, whole
from tests.faults.conftest import MakeDisk
from tests.faults.disks import SmallDisk

SIZE = 4 << 20  # bytes; an empty store takes 0.2 MB
BIG = 100_000  # bytes of a script: soon they need space that is not there
MOST = 60  # of them
UNTIL = recording(f"{UNTIL_END}; exit 3")


def on_slurm(value: object) -> object:
    """A case over real clusters."""
    return pytest.param("slurm", value, marks=pytest.mark.slurm)


@pytest.fixture
def small(kind: Kind, make_site: MakeSite, make_disk: MakeDisk) -> tuple[Site, SmallDisk]:
    """A daemon with its store on a small disk."""
    site = make_site(kind)
    disk = make_disk(site.folder / "small", SIZE)
    store = f"sqlite:///{site.folder}/small/metabroker.db"
    # The audit log is elsewhere: else changes are refused for its sake, before the store is tried.
    site.configure({**PATIENT, "store": store, "audit": f"{site.folder}/audit.log"})
    site.prefix = disk.enter
    return site, disk


def send_big(site: Site, request: str) -> int:
    """Submit a big script, with little patience."""
    return send(site, request, recording("true") + "#" * BIG, timeout=30.0, patience=3.0)


def send_until_refused(site: Site) -> tuple[dict[str, int], str, ClientError]:
    """Acknowledged jobs by their requests; the request that was not, and what was said of it."""
    acknowledged: dict[str, int] = {}
    for number in range(MOST):
        request = f"big-{number}"
        try:
            acknowledged[request] = send_big(site, request)
        except ClientError as error:
            return acknowledged, request, error
    raise AssertionError("the disk was never full")


def is_full(site: Site) -> bool:
    """Whether the daemon says that its store cannot be written because the disk is full."""
    return "full" in site.client.get("status")["store"]


def numbers(site: Site) -> set[int]:
    """All jobs that there are."""
    jobs = [*site.client.get("jobs")["jobs"], *site.client.get("history")["jobs"]]
    return {job["job"] for job in jobs}


@pytest.mark.parametrize(
    ("kind", "killed"), [("simulated", False), on_slurm(True)], indirect=["kind"]
)
def test_the_stores_disk(killed: bool, small: tuple[Site, SmallDisk]) -> None:
    site, disk = small
    site.start_and_look()
    running = site.submit("--on delft:4,lab:4", UNTIL)
    site.wait_state(running, "RUNNING")
    eventually(lambda: len(site.runs(running)) == 2, "both scripts start")
    disk.fill()
    acknowledged, refused, error = send_until_refused(site)
    # Either the core has taken it over, and it is told how to repeat it; or it has not.
    assert "full" in error.message, str(error)
    left_open = f"--request-id {refused}" in error.advice
    assert left_open or "nothing was changed" in error.advice, str(error)
    eventually(lambda: is_full(site), "the daemon says that the disk is full")
    with pytest.raises(ClientError, match="full") as again:
        send_big(site, "another")
    assert again.value.status == 503 and "try again" in again.value.advice
    # What runs goes on, and may end; users may look.
    assert site.job(running)["state"] == "RUNNING"
    (site.work / "end").touch()
    eventually(lambda: not site.component_processes(), "the scripts end")
    if killed:
        site.kill()
        disk.fill()
        # It may serve and say so, or end and say so: as much as still can be read decides.
        site.start(wait=False)
        eventually(lambda: site.ended() or (site.serves() and is_full(site)), "it says so")
        assert not site.ended() or "full" in site.log.read_text().splitlines()[-1]
    disk.make_space()
    if killed and site.ended():
        site.start()
    eventually(lambda: site.client.get("status")["store"] == "ok", "the store is written again")
    if not left_open:
        assert numbers(site) == {running, *acknowledged.values()}, "that was not true"
    # Whether it was written or not: the same request is the same job.
    acknowledged[refused] = send_big(site, refused)
    acknowledged["another"] = send_big(site, "another")
    assert len(set(acknowledged.values())) == len(acknowledged)
    for job in acknowledged.values():
        assert site.wait_end(job, "COMPLETED")["attempts"] == 1
    found = site.wait_end(running, "FAILED")
    assert (found["attempts"], found["exit_code"]) == (1, 3), found
    assert {run.job for run in site.runs()} == {running, *acknowledged.values()}
    whole(site)


@pytest.mark.parametrize(
    ("kind", "moment"),
    [("simulated", "submit"), ("simulated", "arm"), on_slurm("open")],
    indirect=["kind"],
)
def test_the_disk_where_components_meet(
    moment: str, kind: Kind, make_site: MakeSite, make_disk: MakeDisk
) -> None:
    """Full before the gates are made; when the components are armed; when they are let go."""
    site = make_site(kind)
    disk = make_disk(site.folder / "small", 1 << 20)
    site.configure({**PATIENT, "clusters": {"lab": {"shared_dir": str(disk.path)}}})
    site.start_and_look("--pause", f"before:{moment}:lab")
    job = site.submit("--on delft:4,lab:4")
    site.wait_pause()
    disk.fill()
    site.go_on()
    if moment == "open":
        # All are armed: what is still to be done needs no space.
        assert site.wait_end(job, "COMPLETED", "FAILED")["attempts"] == 1
        eventually(lambda: len(site.runs(job)) == 2, "both scripts start")
    else:
        eventually(lambda: "No space left" in str(site.job(job)["events"]), "the reason is told")
        assert site.runs(job) == []
    disk.make_space()
    if moment != "open":
        site.wait_end(job, "COMPLETED")
    eventually(lambda: not list(disk.path.glob(".metabroker-*")), "its gates are removed")
    whole(site)
