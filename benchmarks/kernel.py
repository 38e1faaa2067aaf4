"""The simulator's kernel against the readable engine and a C++ program of the same models.

`python -m benchmarks.kernel [--jobs N]`: GS and LS-DO on 4 x 32 processors (BE03, utilization 0.6),
FCFS and EASY on the CTC trace on 430 processors, the same jobs for all three, which must make the
same starts. reference.cpp is built by `c++ -O3`. Times of the kernel and the readable engine are
processor times, the C++ program's are its own (it does nothing else); the best of some runs,
without drawing or reading. The last line of each model is a whole run with both and with its
statistics, as `metabroker simulate` plays it.
"""

import argparse
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.simulation_speed import TRACE, read_trace
from metabroker.experiments.four_clusters import EVEN, run
from metabroker.simulation import Finished, SimJob, simulate
from metabroker.simulation.kernel.layout import Records
from metabroker.simulation.kernel.play import machine
from metabroker.simulation.measure import Measurements
from metabroker.simulation.system import PolicyRng, System
from metabroker.simulation.workloads.blocks import blocks_of, blocks_of_jobs

SOURCE = Path(__file__).with_name("reference.cpp")
WANTED = {"GS": 2_000_000, "LS-DO": 2_000_000, "FCFS": 3_000_000, "EASY": 1_200_000}
JOB = np.dtype(
    [("submit", "f8"), ("run", "f8"), ("estimate", "f8"), ("local", "i8"), ("parts", "i8")]
    + [(f"size{number}", "i8") for number in range(4)]
)


class Timed(NamedTuple):
    """The least seconds of some runs, and the start of each job."""

    seconds: float
    starts: list[float]


def by_cpp(program: Path, system: System, jobs: list[SimJob], repeats: int) -> Timed:
    """The C++ program's."""
    table = np.zeros(len(jobs), dtype=JOB)
    for name in ("submit", "local", "estimate"):
        table[name] = [getattr(job, name) for job in jobs]
    table["run"] = [job.run_time for job in jobs]
    table["parts"] = [len(job.request.sizes) for job in jobs]
    for number in range(4):
        table[f"size{number}"] = [(*job.request.decreasing, 0, 0, 0)[number] for job in jobs]
    words = [system.policy, str(system.processors[0]), str(len(system.processors)), str(repeats)]
    done = subprocess.run([program, *words], input=table.tobytes(), capture_output=True, check=True)
    return Timed(min(map(float, done.stderr.split())), np.frombuffer(done.stdout).tolist())


def timed(play: Callable[[], list[float]], repeats: int) -> Timed:
    """The least processor time of some runs; what they return are the starts."""
    best = float("inf")
    for _ in range(repeats):
        began = time.process_time()
        starts = play()
        best = min(best, time.process_time() - began)
    return Timed(best, starts)


def by_readable(system: System, jobs: list[SimJob], repeats: int) -> Timed:
    """The readable engine's."""

    def play() -> list[float]:
        starts = [0.0] * len(jobs)

        def sink(done: list[Finished]) -> None:
            for job in done:
                starts[job[2]] = job[6]

        simulate(system.scheduler(1, 0), jobs, system.processors, sink)
        return starts

    return timed(play, repeats)


def by_kernel(system: System, jobs: list[SimJob], repeats: int) -> Timed:
    """The kernel's; compiled, or loaded, before."""
    blocks = list(blocks_of_jobs(jobs))
    found: list[Records] = []

    def play() -> list[float]:
        found.clear()
        machine(system, PolicyRng(1, 0).many).play(blocks, lambda done: found.append(done.copy()))
        return []

    began = time.process_time()
    play()
    print(f"{system.policy}: first use {time.process_time() - began:.1f} s", flush=True)
    best = timed(play, repeats)
    starts = np.zeros(len(jobs))
    for done in found:
        starts[done.key] = done.start
    return best._replace(starts=starts.tolist())


def whole(system: System, blocks: Callable[[], object], repeats: int) -> float:
    """The seconds of a run with its statistics; `blocks` draws or reads its jobs."""

    def play() -> list[float]:
        measure = Measurements(sum(system.processors))
        machine(system, PolicyRng(1, 0).many).play(blocks(), measure.add_records)  # type: ignore[arg-type]
        measure.outcome()
        return []

    return timed(play, repeats).seconds


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=200_000, help="of the BE03 model")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        raise SystemExit("there is no C++ compiler; install g++")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "reference"
        command = [compiler, "-O3", "-march=native", "-std=c++17", "-o", str(program), str(SOURCE)]
        subprocess.run(command, check=True)
        workload = run(EVEN, "GS", 0.6, arguments.jobs, 1).workload
        drawn = list(workload.jobs(1, 0, arguments.jobs))
        for policy in ("GS", "LS-DO"):
            system = System((32,) * 4, policy)
            row(program, system, drawn, arguments.repeats)
            seconds = whole(
                system, lambda: blocks_of(workload, 1, 0, arguments.jobs), arguments.repeats
            )
            print(f"{'':6} with drawing and statistics {arguments.jobs / seconds:12,.0f} jobs/s")
        if not TRACE.exists():
            print(f"{TRACE} is not there (METABROKER_SHARED): the trace is left out")
            return
        trace = list(read_trace())
        for policy in ("FCFS", "EASY"):
            row(program, System((430,), policy), trace, arguments.repeats)


def row(program: Path, system: System, jobs: list[SimJob], repeats: int) -> None:
    """Print the speeds of all three; they must make the same starts."""
    kernel = by_kernel(system, jobs, repeats)
    readable = by_readable(system, jobs, min(2, repeats))
    cpp = by_cpp(program, system, jobs, repeats)
    assert kernel.starts == readable.starts == cpp.starts, "not the same schedule"
    speeds = [len(jobs) / each.seconds for each in (kernel, readable, cpp)]
    print(
        f"{system.policy:6} {len(jobs)} jobs: kernel {speeds[0]:,.0f} jobs/s (wanted: "
        f"{WANTED[system.policy]:,}), readable {speeds[1]:,.0f}: {speeds[0] / speeds[1]:.1f} "
        f"times, C++ {speeds[2]:,.0f}: a {speeds[2] / speeds[0]:.1f}th",
        flush=True,
    )


if __name__ == "__main__":
    main()
