"""The daemon's own means run out: memory, open files, processes. It says so; no acknowledged job is
lost; and when there is enough again, or after a restart, all goes on.
"""

from __future__ import annotations

import contextlib
import os
import resource
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from metabroker.api.client import ClientError
from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site, eventually, recording
from tests.daemon.kinds import Kind, Simulated
from tests.faults.aftermath import PATIENT, UNTIL_END, send, whole

UNTIL = recording(UNTIL_END)
LARGE = 3_900_000  # bytes of a script: nearly the largest there may be
BURST = 10  # of them at once
SPARE = 48 << 20  # bytes of memory beyond what the daemon has: some of them fit
FILES = 64  # a daemon over three clusters has some 25 open, and as many more for its commands


def tried(
    site: Site, request: str, script: str, patience: float = 1.0, timeout: float = 20.0
) -> int | None:
    """Submit; None if that was not acknowledged."""
    try:
        return send(site, request, script, timeout, patience)
    except ClientError as error:
        assert error.message and error.advice
        return None


def data_size(pid: int) -> int:
    """Bytes of memory that count against RLIMIT_DATA."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"process {pid} has no VmData")


def unlimited(site: Site) -> None:
    """There is enough again; a daemon that has ended is started, as systemd does."""
    if not site.ended():
        with contextlib.suppress(ProcessLookupError):
            for what in (resource.RLIMIT_DATA, resource.RLIMIT_NPROC):
                resource.prlimit(site.pid, what, resource.getrlimit(what))

    def serves() -> bool:
        if site.ended():  # perhaps only now: it was about to
            assert site.died() == 1, "it ended by itself, and says so"
            site.start()
        return site.serves()

    eventually(serves, "the daemon serves")


def test_memory(make_site: MakeSite) -> None:
    """Many large scripts at once."""
    site = make_site(Simulated(), PATIENT)
    site.start_and_look()
    running = site.submit("--on delft:4,lab:4", UNTIL)
    site.wait_state(running, "RUNNING")
    limit = data_size(site.pid) + SPARE
    resource.prlimit(site.pid, resource.RLIMIT_DATA, (limit, resource.RLIM_INFINITY))
    large = recording("true") + "#" * LARGE
    requests = [f"large-{number}" for number in range(BURST)]
    with ThreadPoolExecutor(BURST) as pool:
        told = list(pool.map(lambda request: tried(site, request, large), requests))
    log = site.log.read_text()  # what is short may also be the next piece that is received
    short = "too little memory" in log or "MemoryError" in log
    assert short or site.ended(), "choose less memory"
    # Whether there is room for a small one now is the allocator's secret; an answer is a promise.
    told.append(tried(site, "small", recording()))
    requests.append("small")
    unlimited(site)
    (site.work / "end").touch()
    scripts = [large] * BURST + [recording()]
    jobs = [
        tried(site, request, script, patience=30.0)
        for request, script in zip(requests, scripts, strict=True)
    ]
    for acknowledged, job in zip(told, jobs, strict=True):
        assert job is not None and acknowledged in (None, job), (told, jobs)
    assert len(set(jobs)) == BURST + 1
    for job in (running, *jobs):
        assert job is not None
        assert site.wait_end(job, "COMPLETED", seconds=90)["attempts"] == 1
    assert len(site.runs()) == BURST + 3
    whole(site, traceback=True)


@contextlib.contextmanager
def idle_connections(site: Site) -> Iterator[None]:
    """As many as the daemon may have files; who is not root is not let in by all of them."""
    with contextlib.ExitStack() as stack:
        for _ in range(FILES):
            connection = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            connection.settimeout(10)
            connection.connect(str(site.socket))
        yield


@pytest.mark.parametrize("kind", [pytest.param("slurm", marks=pytest.mark.slurm)], indirect=True)
def test_open_files(kind: Kind, make_site: MakeSite) -> None:
    """All of them are taken by connections while jobs are on their way."""
    site = make_site(kind, PATIENT)
    site.prefix = ["prlimit", f"--nofile={FILES}:{FILES}"]
    site.start_and_look()
    running = site.submit("--on delft:4,lab:4", UNTIL)
    site.wait_state(running, "RUNNING")
    eventually(lambda: len(site.runs(running)) == 2, "both scripts start")
    told = {f"early-{n}": tried(site, f"early-{n}", recording()) for n in range(4)}
    with idle_connections(site):
        if os.geteuid() == 0:
            opened = Path(f"/proc/{site.pid}/fd")
            eventually(lambda: len(list(opened.iterdir())) >= FILES - 2, "all are taken")
        (site.work / "end").touch()
        eventually(lambda: len(site.component_processes()) == 0, "what runs goes on and ends")
        told["late"] = tried(site, "late", recording(), timeout=2.0)
    unlimited(site)
    jobs = {request: tried(site, request, recording(), patience=30.0) for request in told}
    for request, job in jobs.items():
        assert job is not None and told[request] in (None, job), (told, jobs)
    for job in (running, *jobs.values()):
        assert job is not None
        site.wait_end(job, "COMPLETED", seconds=90)
    whole(site, traceback=True)  # asyncio says in its own way that it can accept nobody


def threads_of(uid: int) -> int:
    """Processes and threads of a user: what RLIMIT_NPROC counts."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.stat().st_uid == uid:
                count += len(list((process / "task").iterdir()))
    return count


@pytest.mark.skipif(os.geteuid() == 0, reason="root may have as many processes as it likes")
def test_processes(make_site: MakeSite) -> None:
    """No process and no thread can be made while jobs come."""
    site = make_site(Simulated(), PATIENT)
    site.start_and_look()
    running = site.submit("--on delft:4,lab:4", UNTIL)
    site.wait_state(running, "RUNNING")
    eventually(lambda: len(site.runs(running)) == 2, "both scripts start")
    most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    resource.prlimit(site.pid, resource.RLIMIT_NPROC, (threads_of(os.geteuid()), most))
    told = {f"job-{n}": tried(site, f"job-{n}", recording()) for n in range(4)}
    (site.work / "end").touch()
    eventually(lambda: len(site.component_processes()) == 0, "what runs goes on and ends")
    unlimited(site)
    jobs = {request: tried(site, request, recording(), patience=30.0) for request in told}
    for request, job in jobs.items():
        assert job is not None and told[request] in (None, job), (told, jobs)
        site.wait_end(job, "COMPLETED", "FAILED", seconds=90)
    site.wait_end(running, "COMPLETED")
    whole(site, traceback=True)
