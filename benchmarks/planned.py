"""20 co-allocated jobs of 8+8 processors on two clusters that their own users keep full.

    python -m benchmarks.planned [--jobs 20] [--seconds 30] [--share 1] [--window 480] [--openpbs P]

Both have 32 processors, and 8 jobs of 4 processors always wait. In turn: as many single jobs of 8
processors by `sbatch` (`qsub`) to each, and the co-allocated ones through the broker, which plans
them. Printed: when each was told a time and whether it started by then, the skew of its components,
its wait against that of the slower component's bare jobs, how long processors stood idle in
reservations, what local jobs have waited by either way, and what is left.
"""

from __future__ import annotations

import argparse
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from metabroker.submission.model import Processors

from .busy import Busy, busy
from .federation import Federation
from .own_users import OwnUsers

_SCRIPT = """#!/bin/sh
date +%s.%N > {folder}/{tag}.$METABROKER_COMPONENT.part
mv {folder}/{tag}.$METABROKER_COMPONENT.part {folder}/{tag}.$METABROKER_COMPONENT
sleep {seconds}
"""
_PATIENCE = 1800.0  # seconds


@dataclass
class Told:
    """What was said of one job, in Unix seconds: when a time was first told, the first and the last
    time that was; and when its components started."""

    submitted: float
    at: float | None = None
    first: float | None = None
    last: float | None = None
    starts: list[float] = field(default_factory=list)


def follow(federation: Federation, jobs: dict[int, Told], tags: dict[int, str]) -> None:
    """Until all have started: what `queue` tells of them, each half second."""
    deadline = time.monotonic() + _PATIENCE
    while any(not told.starts for told in jobs.values()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{sum(not t.starts for t in jobs.values())} have not started")
        now = time.time()
        for row in federation.client.get("jobs")["jobs"]:
            told, plan = jobs.get(row["job"]), row.get("plan")
            if told is not None and not told.starts and plan is not None:
                told.at = told.at or now
                told.first = told.first or plan["start"]
                told.last = plan["start"]
        for number, told in jobs.items():
            files = sorted(federation.folder.glob(f"{tags[number]}.[0-9]"))
            if not told.starts and len(files) == 2:
                told.starts = [float(file.read_text()) for file in files]
        time.sleep(0.5)


def planned(federation: Federation, jobs: int, seconds: int) -> dict[int, Told]:
    """The co-allocated jobs, through the broker."""
    found, tags = dict[int, Told](), dict[int, str]()
    for number in range(jobs):
        tag = f"planned{number}"
        script = _SCRIPT.format(folder=federation.folder, tag=tag, seconds=seconds)
        wire = federation.submission(
            script, Processors(components=(8, 8)), time_limit=60, output="/dev/null"
        )
        job = federation.client.submit(wire)["job"]
        found[job], tags[job] = Told(time.time()), tag
    follow(federation, found, tags)
    return found


def idle(federation: Federation, job: int) -> float:
    """Processor-seconds from when its reservations began until its script started, with what was
    reserved for a plan that was given up."""
    found, held, begins = 0.0, 0, 0.0
    for event in federation.client.get(f"jobs/{job}")["events"]:
        if event["event"] == "reserved":
            held += event["processors"]
        elif event["event"] == "planned":
            begins = max(event["start"], event["time"])
        elif event["event"] in ("opened", "rolled back"):
            found += held * max(0.0, event["time"] - begins) if begins else 0.0
            held, begins = 0, 0.0
    return found


def show(federation: Federation, jobs: dict[int, Told], bare: list[float], seconds: int) -> None:
    """The figures."""
    told = [t for t in jobs.values() if t.at is not None]
    within = [t for t in told if t.at is not None and t.at - t.submitted <= 30.0]
    late = sorted(max(t.starts) - (t.first or 0.0) for t in told)
    last = sorted(max(t.starts) - (t.last or 0.0) for t in told)
    skews = [max(t.starts) - min(t.starts) for t in jobs.values()]
    waits = [max(t.starts) - t.submitted for t in jobs.values()]
    print(f"told a time: {len(told)} of {len(jobs)}, within 30 s {len(within)}")
    for name, found in (("first", late), ("last", last)):
        if found:
            print(
                f"by the {name} time told: {sum(lateness <= 1.0 for lateness in found)} started, "
                f"median lateness {statistics.median(found):.1f} s, most {found[-1]:.1f} s"
            )
    print(f"skew: median {statistics.median(skews):.3f} s, most {max(skews):.3f} s")
    median, slower = statistics.median(waits), statistics.median(bare)
    print(f"wait: median {median:.1f} s, bare {slower:.1f} s, ratio {median / slower:.2f}")
    lost = sum(idle(federation, job) for job in jobs)
    print(f"idle in reservations: {100 * lost / (len(jobs) * 16 * seconds):.1f} % of the jobs' own")


def show_local(users: list[OwnUsers], began: list[float], window: float) -> None:
    """What local jobs have waited that started in so many seconds from when the bare jobs, and then
    the co-allocated ones, began to come: in each cluster, and in both."""
    for own in users:
        own.look_back()
    for name, some in [*((own.name, [own]) for own in users), ("both", users)]:
        means = []
        for way, since in zip(("sbatch", "metabroker"), began, strict=True):
            local = [w for own in some for at, w in own.waits if since <= at < since + window]
            means.append(statistics.fmean(local))
            print(f"{name}, {way}: {len(local)} local jobs waited {means[-1]:.2f} s (mean)")
        print(f"{name}: {100 * (means[1] / means[0] - 1):.1f} % more")


def race(it: Busy, given: Any) -> None:
    """Bare jobs to each cluster, then the co-allocated ones."""
    began = [time.time()]
    with ThreadPoolExecutor() as pool:
        play = partial(it.bare, jobs=given.jobs, processors=8, seconds=given.seconds)
        bare = list(pool.map(play, range(len(it.users))))
    time.sleep(max(10.0, began[0] + given.window - time.time()))
    began.append(time.time())
    jobs = planned(it.federation, given.jobs, given.seconds)
    it.federation.idle(given.seconds + 120.0)
    time.sleep(max(0.0, began[1] + given.window - time.time()))
    show(it.federation, jobs, max(bare, key=statistics.median), given.seconds)
    show_local(it.users, began, given.window)
    left = [f"{own.name}: {what}" for own in it.users for what in own.left()]
    print(f"left: {left or 'nothing'}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=30, help="how long each job runs")
    parser.add_argument("--share", type=float, default=1.0, help="what plans may have of a cluster")
    parser.add_argument("--window", type=float, default=480.0, help="seconds of local jobs")
    parser.add_argument("--openpbs", type=Path, help="a live server instead of one of the clusters")
    given = parser.parse_args()
    plan = {"ahead": "24h", "share": given.share}
    with busy(given.openpbs, {"leiden": 32, "lab": 32}, plan=plan) as it:
        race(it, given)


if __name__ == "__main__":
    main()
