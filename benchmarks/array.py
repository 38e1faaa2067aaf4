"""An array of 10,000 tasks over three real Slurm clusters.

    python -m benchmarks.array [--tasks 10000] [--policy GS] [--seed 1] [--calm 20] [--json]

While other users have all processors: the array by one `sbatch`, and then as many single jobs.
Printed: how long that submission takes, and with either of them waiting a pass of the scheduler and
`squeue`, with the ratios. Then the processors become free, and the array runs while the daemon is
killed (`kill -9`) again and again, every CALM seconds on average. It ends with 1 if a task was lost
or ran twice.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metabroker.api.client import Client
from metabroker.broker.core import Broker
from metabroker.broker.events import SubmitJob
from metabroker.broker.job import NewJob
from metabroker.broker.settings import ClusterSettings, Settings
from metabroker.policy import Request, make
from metabroker.runtime.requests import spec_of
from metabroker.store import Accepted, Store, Transaction
from metabroker.store.rows import ClusterNames
from metabroker.submission.model import Processors, Submission
from tests.testbed import Testbed

from .federation import Federation, await_clusters, on_slurm, start
from .measures import Metrics, between, free_port

Json = dict[str, Any]
_PASSES = 100  # single jobs that come while the others wait: each makes a pass
_TIMES = 10  # that squeue is asked
_START = 600.0  # seconds until a daemon serves, on a machine that is very busy
_AT_MOST = 2.0  # seconds of a task, all of them one after the other: then something hangs
_SCRIPT = "#!/bin/sh\necho $SLURM_ARRAY_TASK_ID $METABROKER_CLUSTER >> {file}\n"


@dataclass
class Place:
    """A daemon over real clusters, and the commands that its users have."""

    federation: Federation
    testbed: Testbed
    metrics: str
    policy: str
    daemon: subprocess.Popen[bytes]

    def anew(self, singles: int = 0) -> None:
        """A daemon with an empty store, or one in which so many single jobs wait."""
        folder = self.federation.folder
        self.daemon.kill()
        self.daemon.wait()
        for file in folder.glob("metabroker.db*"):
            file.unlink()
        if singles:
            _fill(folder / "metabroker.db", self.testbed, self.policy, singles)
        self.start()

    def start(self) -> None:
        """Serve, and know all clusters."""
        folder = self.federation.folder
        self.daemon = start(folder / "metabroker.yaml", folder)
        await_clusters(self.client, _START)

    @property
    def client(self) -> Client:
        return Client(self.federation.folder / "metabroker.sock", timeout=600.0, patience=600.0)

    def command(self, name: str, *words: str, script: str = "") -> str:
        """What a front end prints."""
        code = f"from metabroker.frontends.main import main; main({name!r})"
        socket = str(self.federation.folder / "metabroker.sock")
        done = subprocess.run(
            [sys.executable, "-I", "-c", code, *words], input=script, text=True,
            capture_output=True, check=False, cwd=self.federation.folder,
            env={**os.environ, "METABROKER_SOCKET": socket},
        )  # fmt: skip
        if done.returncode != 0:
            raise AssertionError(f"{name}: {done.stderr}")
        return done.stdout

    def occupy(self) -> list[tuple[str, str]]:
        """Other users' jobs take all processors; their clusters and ids."""
        found = []
        for cluster in self.testbed.clusters.values():
            job = cluster.submit("-n", str(cluster.processors), "-t", "600", script="sleep 36000")
            cluster.wait_job(job, "RUNNING")
            found.append((cluster.name, job))
        self.see_full()
        return found

    def see_full(self) -> None:
        """Until the daemon knows that no processor is idle."""
        deadline = time.monotonic() + _START
        while any(each["idle"] for each in self.client.get("clusters")["clusters"]):
            if time.monotonic() > deadline:
                raise TimeoutError("the daemon does not see that the clusters are full")
            time.sleep(0.2)

    def submit_array(self, tasks: int, script: str) -> tuple[int, float]:
        """Its number, and how long `sbatch` took."""
        words = ("--parsable", "-n1", "-t5", "-o/dev/null", f"--array=0-{tasks - 1}")
        began = time.monotonic()
        job = int(self.command("sbatch", *words, script=script))
        return job, time.monotonic() - began

    def measured(self, mark: str) -> Json:
        """With what waits now."""
        one = Processors(single=1)
        before = Metrics(self.metrics)
        for n in range(_PASSES):
            self.client.submit(
                self.federation.submission(
                    "#!/bin/sh\ntrue\n", one, time_limit=300, request_id=f"{mark}-{n}"
                )
            )
        passes = between(before, Metrics(self.metrics), "metabroker_scheduling_pass_seconds")
        return {
            "waiting": self.client.get("status")["jobs"],
            "pass_ms": 1000 * passes.mean,
            "squeue_s": _median(lambda: self.command("squeue")),
            "squeue_r_s": _median(lambda: self.command("squeue", "-r")),
            "lines": len(self.command("squeue", "-h").splitlines()),
        }


def _median(ask: Callable[[], object]) -> float:
    seconds = []
    for _ in range(_TIMES):
        began = time.monotonic()
        ask()
        seconds.append(time.monotonic() - began)
    return statistics.median(seconds)


def _fill(path: Path, testbed: Testbed, policy: str, jobs: int) -> None:
    """A store in which so many single jobs of one processor wait."""
    store = Store(f"sqlite:///{path}")
    sizes = {cluster.name: cluster.processors for cluster in testbed.clusters.values()}
    settings = [ClusterSettings(name, processors=size) for name, size in sizes.items()]
    broker = Broker(Settings(store.instance, tuple(settings)), make(policy, len(sizes)))
    for number in range(jobs):
        broker.handle(SubmitJob(NewJob("u", "one", Request((1,)), 300)), 0.001 * number)
    ready = broker.take()
    submission = Submission(b"#!/bin/sh\ntrue\n", "one", Processors(single=1), "/tmp")
    spec = spec_of(submission)
    accepted = [Accepted(job.id, "u", None, submission.script, spec) for job in ready.jobs]
    store.commit(Transaction(ready, accepted), ClusterNames(list(sizes)))
    store.close()


def waiting(place: Place, tasks: int) -> Json:
    """The array, and as many single jobs, in the queue of full clusters."""
    taken = place.occupy()
    _job, seconds = place.submit_array(tasks, "#!/bin/sh\ntrue\n")
    array = place.measured("array")
    place.anew(tasks)
    place.see_full()
    single = place.measured("single")
    for name, native in taken:
        place.testbed[name].run("scancel", native, check=True)
    ratios = {key: array[key] / single[key] for key in ("pass_ms", "squeue_s", "squeue_r_s")}
    return {"submission_s": seconds, "array": array, "single": single, "ratios": ratios}


def killed(place: Place, tasks: int, rng: random.Random, calm: float) -> Json:
    """It runs; the daemon is killed and started, again and again."""
    file = place.federation.folder / "ran"
    kills, queues = 0, []
    began = time.monotonic()
    job, submitted = place.submit_array(tasks, _SCRIPT.format(file=file))
    while place.client.get("status")["jobs"]:
        if time.monotonic() - began > 120 + tasks * _AT_MOST:
            raise TimeoutError(f"{_ran(file).total()} scripts have run")
        time.sleep(rng.uniform(0, 2 * calm))
        asked = time.monotonic()
        place.command("squeue", "-t", "all")
        queues.append(time.monotonic() - asked)
        place.daemon.kill()
        place.daemon.wait()
        kills += 1
        time.sleep(rng.choice((0.0, rng.uniform(0, 3))))
        place.start()
        print(f"{len(_ran(file))} have run, {kills} kills", file=sys.stderr, flush=True)
    took = time.monotonic() - began
    told = place.command("sacct", "-XnP", "-o", "jobid,state", "-j", str(job)).splitlines()
    ran = _ran(file)
    states = Counter(line.partition("|")[2] for line in told)
    return {
        "tasks": tasks,
        "submission_s": submitted,
        "seconds": took,
        "kills": kills,
        "lost": tasks - len(ran),
        "doubled": sum(count - 1 for count in ran.values()),
        "states": dict(states),
        "clusters": dict(Counter(line.split()[1] for line in file.read_text().splitlines())),
        "squeue_median_s": statistics.median(queues),
        "squeue_longest_s": max(queues),
    }


def _ran(file: Path) -> Counter[str]:
    """How often the script of each task has run."""
    text = file.read_text() if file.exists() else ""
    return Counter(line.split()[0] for line in text.splitlines())


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--policy", default="GS")
    parser.add_argument("--seed", type=int, default=1, help="of when the daemon is killed")
    parser.add_argument("--calm", type=float, default=20.0, help="seconds between two kills")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    metrics = f"127.0.0.1:{free_port()}"
    free: Json = {"requests": None, "submissions": None}
    config: Json = {"metrics": metrics, "policy": given.policy, "rates": free}
    with on_slurm(poll_interval="2s", **config) as (federation, testbed):
        place = Place(federation, testbed, metrics, given.policy, federation.daemon)
        try:
            queued = waiting(place, given.tasks)
            print(json.dumps(queued), file=sys.stderr, flush=True)
            place.anew()
            run = killed(place, given.tasks, random.Random(given.seed), given.calm)
        finally:
            place.daemon.terminate()
            place.daemon.wait(60)
    found = {"waiting": queued, "killed": run}
    print(json.dumps(found, indent=1) if given.json else text(found))
    whole = run["states"] == {"COMPLETED": given.tasks}
    return 0 if whole and not run["lost"] and not run["doubled"] else 1


def text(found: Json) -> str:
    """The figures for people."""
    queued, run = found["waiting"], found["killed"]
    array, single, ratios = queued["array"], queued["single"], queued["ratios"]
    rows = (("a pass of the scheduler, ms", "pass_ms"), ("`squeue`, s", "squeue_s"),
            ("`squeue -r`, s", "squeue_r_s"))  # fmt: skip
    lines = [
        f"An array of {run['tasks']} tasks: submitted in {queued['submission_s']:.2f} s, "
        f"and in {run['submission_s']:.2f} s.",
        "",
        "| mean or median | the array waits | as many single jobs wait | ratio |",
        "|---|---|---|---|",
        *(f"| {what} | {array[k]:.3g} | {single[k]:.3g} | {ratios[k]:.2f} |" for what, k in rows),
        "",
        f"It ran in {run['seconds']:.0f} s, with the daemon killed {run['kills']} times: "
        f"{run['lost']} tasks lost, {run['doubled']} ran twice; states {run['states']}, in the "
        f"clusters {run['clusters']}. `squeue -t all` meanwhile took {run['squeue_median_s']:.2f} "
        f"s (median), {run['squeue_longest_s']:.2f} s at most.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
