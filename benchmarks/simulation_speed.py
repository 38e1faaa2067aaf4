"""Simulated jobs per second: `python -m benchmarks.simulation_speed [--jobs N] [--accasim N]`.

The models of BE03 (4 x 32 processors, D(0.9) on [1,8], utilization 0.6) and the CTC trace on 430
processors (METABROKER_SHARED, default ../shared), reading apart; side by side, in the same run,
with the same policies driven by SimPy, and with AccaSim's EASY on the first jobs of the same trace.
Both are optional: `pip install simpy accasim` in an environment of their own, and start this there
(the policies and the simulator need no other package). Times are processor times; the best of
several runs. `--memory POLICY` runs the trace, read job by job, and prints the peak of memory.
The kernel plays, too, where numba can be imported; benchmarks/kernel.py compares it with C++.
"""

import argparse
import collections
import collections.abc
import gzip
import json
import logging
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.policy_speed import jobs as be03_jobs
from metabroker.policy import PLANNERS, Planner, Request, Scheduler, make, make_planner
from metabroker.simulation import Finished, SimJob, simulate

SHARED = Path(os.environ.get("METABROKER_SHARED", "../shared")).resolve()
TRACE = SHARED / "traces/CTC-SP2-1996-3.1-cln.jobs.swf.gz"
TRACE_POLICIES = ("FCFS", "EASY")
POOL = [430]
GRID = [32] * 4
ROOT = Path(__file__).resolve().parents[1]
TURNS = 4


def new(policy: str, processors: list[int]) -> Scheduler | Planner:
    """A policy of either kind."""
    if policy in PLANNERS:
        return make_planner(policy, processors)
    return make(policy, len(processors))


def read_trace() -> Iterator[SimJob]:
    """The jobs of the CTC trace, one by one."""
    shapes: dict[int, Request] = {}
    with gzip.open(TRACE, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith(";"):
                continue
            field = line.split()
            size = int(field[7])
            if size not in shapes:
                shapes[size] = Request((size,))
            yield SimJob(float(field[1]), shapes[size], 0, float(field[3]), float(field[8]))


def seconds(run: Callable[[], object], repeats: int = 1) -> float:
    """The least processor time of several runs."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        run()
        times.append(time.process_time() - begin)
    return min(times)


def with_engine(policy: str, jobs: list[SimJob], processors: list[int]) -> float:
    """The mean wait."""
    waited = 0.0

    def sink(done: list[Finished]) -> None:
        nonlocal waited
        waited += sum(job.start - job.job.submit for job in done)

    simulate(new(policy, processors), jobs, processors, sink)
    return waited / len(jobs)


def with_simpy(policy: str, jobs: list[SimJob], processors: list[int]) -> float:
    """The same policy, with a SimPy process for each job; the mean wait.

    As in the engine there is one pass after all events of an instant (an event of low priority).
    """
    simpy: Any = import_module("simpy")
    env = simpy.Environment()
    system = new(policy, processors)
    idle = list(processors)
    starts: dict[int, Any] = {}
    due = [False]
    waited = 0.0

    def submissions() -> Iterator[object]:
        for key, job in enumerate(jobs):
            if job.submit > env.now:
                yield env.timeout(job.submit - env.now)
            env.process(life(key, job))

    def life(key: int, job: SimJob) -> Generator[Any, Any, None]:
        nonlocal waited
        request = job.request
        if isinstance(system, Planner):
            system.submit(key, request, job.local, job.estimate, env.now)
        else:
            system.arrive(key, request, system.queue_of(request, job.local), env.now)
        starts[key] = started = env.event()
        ask_for_a_pass()
        clusters = yield started
        waited += env.now - job.submit
        yield env.timeout(job.run_time)
        if isinstance(system, Planner):
            system.end(key, env.now)
        else:
            for cluster, size in zip(clusters, request.sizes, strict=True):
                idle[cluster] += size
            system.depart([clusters[component] for component in request.order])
        ask_for_a_pass()

    def ask_for_a_pass() -> None:
        if not due[0]:
            due[0] = True
            event = simpy.Event(env)
            event.callbacks.append(one_pass)
            event._ok, event._value = True, None
            env.schedule(event, priority=9)

    def one_pass(_: object) -> None:
        due[0] = False
        launches = system.run(env.now) if isinstance(system, Planner) else system.run(idle, env.now)
        for launch in launches:
            starts.pop(launch[0]).succeed(launch[1])

    env.process(submissions())
    env.run()
    return waited / len(jobs)


def with_accasim(jobs: list[SimJob]) -> float:
    """Seconds of AccaSim's EASY (First Fit) on 430 nodes of one core, its reading included."""
    collections.Mapping = collections.abc.Mapping  # type: ignore[attr-defined] # it is that old
    base: Any = import_module("accasim.base.simulator_class")
    easy: Any = import_module("accasim.base.scheduler_class").EASYBackfilling
    first_fit: Any = import_module("accasim.base.allocator_class").FirstFit
    logging.disable()
    with tempfile.TemporaryDirectory() as folder:
        workload, system = Path(folder, "ctc.swf"), Path(folder, "system.json")
        lines = []
        for key, job in enumerate(jobs, 1):
            size, run, wanted = job.request.total, int(job.run_time), int(job.estimate)
            lines.append(
                f"{key} {int(job.submit)} 0 {run} {size} -1 -1 {size} {wanted} -1 1 1 1 1 1 1 -1 -1"
            )
        workload.write_text("\n".join(lines) + "\n", encoding="utf-8")
        nodes = {"groups": {"g0": {"core": 1}}, "resources": {"g0": POOL[0]}}
        system.write_text(
            json.dumps({**nodes, "equivalence": {"processor": {"core": 1}}, "start_time": 0}),
            encoding="utf-8",
        )
        simulator = base.Simulator(
            str(workload),
            str(system),
            easy(first_fit()),
            RESULTS_FOLDER_NAME=folder,
            scheduling_output=False,
            statistics_output=False,
            show_statistics=False,
        )
        return seconds(simulator.start_simulation)


def memory(policy: str) -> None:
    """Run the trace, read job by job, and print the peak of resident memory."""
    number = simulate(new(policy, POOL), read_trace(), POOL, lambda done: None)
    # Not getrusage: its peak is that of the parent too, from before this program was loaded.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    print(f"{policy:6} {number} jobs of the trace: {peak / 1024:.0f} MB")


def by_kernel(policy: str, jobs: list[SimJob], processors: list[int], repeats: int) -> float:
    """The seconds of the kernel, compiled before; infinite without numba."""
    if find_spec("numba") is None:
        return math.inf
    from metabroker.simulation.kernel.play import machine
    from metabroker.simulation.system import PolicyRng, System
    from metabroker.simulation.workloads.blocks import blocks_of_jobs

    blocks, system = list(blocks_of_jobs(jobs)), System(tuple(processors), policy)
    return seconds(
        lambda: machine(system, PolicyRng(1, 0).many).play(blocks, lambda done: None), repeats + 1
    )


def row(policy: str, jobs: list[SimJob], processors: list[int], simpy: bool, repeats: int) -> None:
    """Print the speed of a policy by the readable engine and the kernel, and SimPy's."""
    own = len(jobs) / seconds(lambda: with_engine(policy, jobs, processors), repeats)
    text = f"{policy:6} {len(jobs):7} jobs on {processors}: {own:10,.0f} jobs/s"
    if simpy:
        means = [play(policy, jobs, processors) for play in (with_engine, with_simpy)]
        assert abs(means[0] - means[1]) < 1e-6 * means[0], f"not the same schedule: {means}"
        other = len(jobs) / seconds(lambda: with_simpy(policy, jobs, processors), repeats)
        text += f"; by SimPy {other:10,.0f}: {own / other:.1f} times"
        kernel = len(jobs) / by_kernel(policy, jobs, processors, repeats)
        text += f"; the kernel {kernel:10,.0f}: {kernel / other:.1f} times"
    print(text, flush=True)


def grid_jobs(number: int) -> list[SimJob]:
    """The jobs of the BE03 model."""
    return [
        SimJob(submit, request, local, service, service)
        for submit, request, local, service in be03_jobs(number, 0.6, 1)
    ]


def main() -> None:
    """Print all rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100_000, help="of the BE03 models")
    parser.add_argument("--accasim", type=int, default=5_000, help="first jobs of the trace")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--memory", metavar="POLICY")
    arguments = parser.parse_args()
    if arguments.memory:
        memory(arguments.memory)
    else:
        beside_others(arguments)


def beside_others(arguments: argparse.Namespace) -> None:
    """The rows with SimPy and AccaSim."""
    simpy = find_spec("simpy") is not None
    if not simpy:
        print("SimPy is not importable: left out")
    stream = grid_jobs(arguments.jobs)
    for policy in ("GS", "LS-DO"):
        row(policy, stream, GRID, simpy, arguments.repeats)
    if not TRACE.exists():
        print(f"{TRACE} is not there (METABROKER_SHARED): the trace is left out")
        return
    trace = list(read_trace())
    for policy in TRACE_POLICIES:
        row(policy, trace, POOL, simpy, arguments.repeats)
        command = [sys.executable, "-m", "benchmarks.simulation_speed", "--memory", policy]
        subprocess.run(command, check=True)
    if find_spec("accasim") is None:
        print("AccaSim is not importable: left out")
        return
    first = list(islice(trace, arguments.accasim))
    own = seconds(lambda: with_engine("EASY", first, POOL), arguments.repeats)
    other = with_accasim(first)
    print(f"EASY on the first {len(first)} jobs: {own:.3f} s; AccaSim {other:.2f} s", end="")
    kernel = by_kernel("EASY", first, POOL, arguments.repeats)
    print(f": {other / own:.0f} times; the kernel {kernel:.4f} s: {other / kernel:.0f} times")


if __name__ == "__main__":
    main()
