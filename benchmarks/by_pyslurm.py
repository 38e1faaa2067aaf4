"""What does a look at a cluster cost by pyslurm, against by the commands?

    METABROKER_TEST_PYSLURM=PYTHON python -m benchmarks.by_pyslurm [--runs 100] [--jobs 500]

PYTHON is an interpreter that has pyslurm (see `tests/testbed/pyslurm.py`); the cluster is a real
one of the release that it is for. Printed, in turn in one run: the median of a whole look, empty
and with many jobs waiting, and of each command in it; and the helper's memory.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

from benchmarks.over_ssh import megabytes
from metabroker.clusters.operation import carry_out
from metabroker.clusters.slurm import SlurmCluster, SlurmOptions, commands
from metabroker.clusters.slurm.by_pyslurm import PyslurmTransport
from metabroker.clusters.transports.base import Command, Transport
from metabroker.clusters.transports.local import LocalTransport
from tests.testbed import Testbed
from tests.testbed.fixtures import RELEASES
from tests.testbed.pyslurm import VARIABLE, release

OPTIONS = SlurmOptions("root", name="lab", instance="abcdef01", partition="batch")
Action = Callable[[], object]


def compare(what: str, actions: dict[str, Action], runs: int) -> None:
    """The medians of each, taken in turn."""
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(runs):
        for name, action in actions.items():
            began = time.perf_counter()
            action()
            times[name].append(1000 * (time.perf_counter() - began))
    found = {name: statistics.median(taken) for name, taken in times.items()}
    ratio = found["commands"] / found["pyslurm"]
    told = ", ".join(f"{name} {ms:.1f} ms" for name, ms in found.items())
    print(f"{what}: {told}; {ratio:.1f} times as fast by pyslurm")


def looking(transport: Transport) -> Action:
    """A whole look, as the daemon takes them."""
    cluster = SlurmCluster(OPTIONS, transport)
    return lambda: carry_out(cluster.observe(1.0), transport)


def asking(transport: Transport, command: Command) -> Action:
    """One command."""
    return lambda: transport.run(command)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=500)
    options = parser.parse_args()
    python = os.environ.get(VARIABLE)
    if python is None:
        parser.error(f"{VARIABLE} names no Python that has pyslurm")
    with Testbed(suite=RELEASES[release(python)]) as testbed:
        lab = testbed["lab"]
        local = LocalTransport(lab.env())
        helped = PyslurmTransport(local, lab.env(), name="lab", python=python, falls_back=False)
        both: dict[str, Transport] = {"commands": local, "pyslurm": helped}
        looks = {name: looking(transport) for name, transport in both.items()}
        print(f"Slurm {testbed.installation.version}, load {os.getloadavg()[0]:.1f}")
        compare("a look, no job", looks, options.runs)
        for name, command in (
            ("jobs", commands.list_jobs("root")),
            ("nodes", commands.list_nodes()),
            ("reservations", commands.list_reservations()),
        ):
            compare(name, {n: asking(t, command) for n, t in both.items()}, options.runs)
        for _ in range(options.jobs):
            lab.submit("-H", "-n", "1", "-J", "mb-abcdef01-1-1-0")
        listing = {n: asking(t, commands.list_jobs("root")) for n, t in both.items()}
        compare(f"{options.jobs} jobs", listing, options.runs)
        compare(f"a look, {options.jobs} jobs", looks, options.runs)
        assert helped.pid is not None
        print(f"the helper: {megabytes(helped.pid):.0f} MB")
        helped.close()


if __name__ == "__main__":
    main()
