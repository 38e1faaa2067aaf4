"""500 single-component jobs through the broker, against the same by sbatch.

    python -m benchmarks.throughput [--jobs 500]

Printed: the seconds until all are done, and acknowledged submissions a second, of each, with the
ratios; and how many commands one look at a cluster takes with no job and with all of them.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor

from metabroker.submission.model import Processors
from tests.testbed import Testbed

from .federation import Federation, on_slurm

_SCRIPT = "#!/bin/sh\ntrue\n"
_AT_ONCE = 4


def through_broker(federation: Federation, jobs: int) -> tuple[float, float, int]:
    """Seconds until all are acknowledged, until all are done; most commands of one look."""
    wire = federation.submission(_SCRIPT, Processors(single=1), time_limit=300, output="/dev/null")
    commands = 0
    began = time.monotonic()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(lambda _n: federation.client.submit(wire), range(jobs)))
    acknowledged = time.monotonic() - began
    while federation.client.get("status")["jobs"]:
        for cluster in federation.client.get("clusters")["clusters"]:
            commands = max(commands, cluster["commands_per_look"] or 0)
        time.sleep(0.1)
    return acknowledged, time.monotonic() - began, commands


def by_sbatch(testbed: Testbed, jobs: int) -> tuple[float, float]:
    """The same without a broker, spread over the clusters by their sizes."""
    sizes = {cluster.name: cluster.processors for cluster in testbed.clusters.values()}
    names = [name for name, size in sizes.items() for _ in range(size // 16)]

    def submit(number: int) -> None:
        testbed[names[number % len(names)]].run(
            "sbatch", "--parsable", "-n1", "-t5", "-o/dev/null", stdin=_SCRIPT, check=True
        )

    began = time.monotonic()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(submit, range(jobs)))
    acknowledged = time.monotonic() - began
    while any(cluster.run("squeue", "-h").stdout for cluster in testbed.clusters.values()):
        time.sleep(0.1)
    return acknowledged, time.monotonic() - began


def acknowledged_alone(federation: Federation, testbed: Testbed, jobs: int) -> tuple[float, float]:
    """Submissions a second while nothing starts: held jobs, by sbatch and by metabroker."""
    wire = federation.submission(_SCRIPT, Processors(single=1), output="/dev/null", hold=True)

    def sbatch(_number: int) -> None:
        testbed["delft"].run("sbatch", "-H", "-n1", "-t5", "-o/dev/null", stdin=_SCRIPT, check=True)

    rates = []
    for submit in (sbatch, lambda _number: federation.client.submit(wire)):
        began = time.monotonic()
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(submit, range(jobs)))
        rates.append(jobs / (time.monotonic() - began))
    testbed.reset()
    for job in federation.client.get("jobs")["jobs"]:
        federation.client.change(job["job"], "cancel")
    return rates[0], rates[1]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=500)
    jobs = parser.parse_args().jobs
    with on_slurm() as (federation, testbed):
        idle = [c["commands_per_look"] for c in federation.client.get("clusters")["clusters"]]
        # The daemon sees the bare jobs come, too: none of them is kept waiting, so the broker's own
        # do not stand in line after them.
        direct_acknowledged, direct = by_sbatch(testbed, jobs)
        testbed.reset()
        acknowledged, done, commands = through_broker(federation, jobs)
        testbed.reset()
        direct_rate, rate = acknowledged_alone(federation, testbed, jobs)
    for way, total, taken in (
        ("sbatch", direct, direct_acknowledged),
        ("metabroker", done, acknowledged),
    ):
        each = jobs / taken
        print(f"{jobs} jobs by {way}: all done in {total:.1f} s, {each:.0f} submitted a second")
    print(
        f"ratio of the times: {done / direct:.2f}; of the rates: "
        f"{direct_acknowledged / acknowledged:.2f}"
    )
    print(
        f"held jobs, nothing starts: {direct_rate:.0f} submitted a second by sbatch, {rate:.0f} "
        f"acknowledged (durable) by metabroker: ratio {rate / direct_rate:.2f}"
    )
    print(f"commands of one look at a cluster: {max(idle)} with no job, {commands} with all")


if __name__ == "__main__":
    main()
