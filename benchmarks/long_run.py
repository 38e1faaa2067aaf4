"""A run of 100 million jobs in constant memory: `python -m benchmarks.long_run [--jobs N]`.

What `metabroker simulate` does with a synthetic workload under GS (4 x 32 processors, utilization
0.6): jobs are drawn, played by the kernel and measured as they come. Prints the processor time and
the memory of each tenth of the run, and at the end the peak of resident memory.
"""

import argparse
import time
from pathlib import Path

from metabroker.simulation.kernel.layout import Records
from metabroker.simulation.kernel.play import play
from metabroker.simulation.measure import Measurements
from metabroker.simulation.scenario.loader import load
from metabroker.simulation.system import PolicyRng
from metabroker.simulation.workloads.blocks import blocks_of

SCENARIO = Path(__file__).parents[1] / "configs/simulate/four-clusters.yaml"


def memory(what: str) -> float:
    """Resident memory in MB: VmRSS is what it is now, VmHWM the peak."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 1024


class Tenths:
    """Prints a line whenever another tenth of the jobs has finished."""

    def __init__(self, jobs: int) -> None:
        self._part = jobs / 10
        self._done = 0
        self._tenths = 0
        self._begin = time.process_time()

    def __call__(self, done: int) -> None:
        self._done += done
        if self._done < (self._tenths + 1) * self._part:
            return
        self._tenths += 1
        now = time.process_time()
        speed = self._part / (now - self._begin)
        self._begin = now
        print(f"tenth {self._tenths:2}: {speed:9,.0f} jobs/s, {memory('VmRSS'):.0f} MB", flush=True)


def main() -> None:
    """Play one replication, as `Run.play` does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100_000_000)
    jobs = parser.parse_args().jobs
    settings = ("policy=GS", "workload.synthetic.utilization=0.6", f"jobs={jobs}")
    run = load(SCENARIO, settings)[0].run
    tenths, measure = Tenths(jobs), Measurements(sum(run.system.processors))

    def sink(done: Records) -> None:
        measure.add_records(done)
        tenths(len(done))

    blocks = blocks_of(run.workload, run.seed, 0, jobs)
    play(run.system, blocks, sink, PolicyRng(run.seed, 0).many)
    outcome = measure.outcome()
    print(f"{outcome.jobs:,} jobs, mean response time {outcome.response:.4f}")
    print(f"peak of memory: {memory('VmHWM'):.0f} MB")


if __name__ == "__main__":
    main()
