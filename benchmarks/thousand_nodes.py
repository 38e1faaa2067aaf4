"""A federation of about 1,000 real Slurm nodes in one machine, with simulated clusters beside it.

    python -m benchmarks.thousand_nodes [--nodes 1000] [--jobs 2000] [--together 200] [--json]
                                        [--report FILE]

Two clusters of each release of Slurm (22.05, 24.11, 26.05), each node a real slurmd, and four
simulated clusters. The same jobs go by plain sbatch and through the broker, in turn, to the same
nodes. Printed: jobs a second and latencies of both with their ratios, what a look at a cluster
costs, and what a pass of the scheduler takes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metabroker.submission.model import Processors
from tests.testbed import ClusterSpec, SlurmCluster, Testbed
from tests.testbed.testbed import SYSTEM_PATH

from .federation import Federation, resident, serving
from .measures import Metrics, between, free_port, quantile, spent

Json = dict[str, Any]
RELEASES = {"22.05": "bookworm", "24.11": "trixie", "26.05": "forky"}
CORES = 8  # of a node
SIMULATED = {"sim1": 256, "sim2": 256, "sim3": 128, "sim4": 128}
_AT_ONCE = 8  # clients, of either way
_QUIET, _INTERVAL = 60.0, 5.0  # seconds: of polls of idle clusters, and between two of them
_PARTS = 4  # components of a co-allocated job
_SCRIPT = "#!/bin/sh\nsleep 1\n"
_STAMPED = "#!/bin/sh\ndate +%s.%N > {folder}/{name}.{part}\n"


@dataclass
class Place:
    """The clusters, the daemon over them, and the address of its metrics."""

    clusters: dict[str, SlurmCluster]
    federation: Federation
    metrics: str
    started: float  # seconds that the clusters took to start
    memory: float  # MB of their daemons

    def names(self) -> list[str]:
        return list(self.clusters)


@contextlib.contextmanager
def place(nodes: int) -> Iterator[Place]:
    """Start everything; stop it in the end."""
    each = round(nodes / (2 * len(RELEASES)))
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        clusters: dict[str, SlurmCluster] = {}
        for release, suite in RELEASES.items():
            specs = [
                ClusterSpec(f"s{release.replace('.', '')}{part}", each, CORES) for part in "ab"
            ]
            clusters |= stack.enter_context(Testbed(specs, suite=suite)).clusters
            say(f"Slurm {release}: {2 * each} nodes, {time.monotonic() - began:.0f} s")
        started, memory = time.monotonic() - began, _memory(clusters)
        metrics = f"127.0.0.1:{free_port()}"
        config = {
            "metrics": metrics,
            "policy": "GS",
            "discipline": "FPFS",
            "poll_interval": f"{_INTERVAL:g}s",
            "rates": {"requests": None, "submissions": None},
            "clusters": _configured(clusters),
        }
        federation = stack.enter_context(serving(config))
        yield Place(clusters, federation, metrics, started, memory)


def _configured(clusters: dict[str, SlurmCluster]) -> Json:
    real = {
        name: {
            "system": "slurm",
            "env": {**cluster.env(), "PATH": f"{cluster.bin}:{SYSTEM_PATH}"},
            "partition": "batch",
        }
        for name, cluster in clusters.items()
    }
    simulated = {
        name: {"system": "simulated", "processors": size, "run": True}
        for name, size in SIMULATED.items()
    }
    return {**real, **simulated}


def _memory(clusters: dict[str, SlurmCluster]) -> float:
    pids = [
        pid
        for cluster in clusters.values()
        for daemon in (cluster.controller, *cluster.nodes.values())
        if (pid := daemon.pid) is not None
    ]
    return sum(_own_memory(pid) for pid in pids)


def _own_memory(pid: int) -> float:
    """A process's memory without what it shares with others, in MB."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    kilobytes = [int(line.split()[1]) for line in text.splitlines() if line.startswith("Private_")]
    return sum(kilobytes) / 1000


def looks(where: Place, seconds: float) -> Json:
    """What looking at the clusters costs while nobody submits anything."""
    pid = where.federation.daemon.pid
    before, used, began = Metrics(where.metrics), spent(pid), time.monotonic()
    time.sleep(seconds)
    after, more = Metrics(where.metrics), spent(pid).since(used)
    passed = time.monotonic() - began
    number = passed / _INTERVAL
    per_cluster = {}
    for name in where.names():
        commands = between(before, after, "metabroker_command_seconds", {"cluster": name})
        per_cluster[name] = {
            "commands_a_look": commands.count / number,
            "seconds_a_look": commands.seconds / number,
            "seconds_a_command": commands.mean,
        }
    clusters = len(where.clusters) + len(SIMULATED)
    return {
        "daemon_cpu_a_look": more.own / number / clusters,
        "commands_cpu_a_look": more.children / number / len(where.clusters),
        "daemon_cpu_share": more.own / passed,
        "commands_cpu_share": more.children / passed,
        "clusters": per_cluster,
    }


def by_sbatch(where: Place, jobs: int) -> Json:
    """Single jobs, spread evenly over the clusters, without a broker."""
    names = where.names()

    def submit(number: int) -> float:
        began = time.monotonic()
        where.clusters[names[number % len(names)]].run(
            "sbatch", "-n1", "-t5", "-o/dev/null", stdin=_SCRIPT, check=True
        )
        return time.monotonic() - began

    began = time.monotonic()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        latencies = list(pool.map(submit, range(jobs)))
    acknowledged = time.monotonic() - began
    _until_empty(where)
    return _figures(jobs, latencies, acknowledged, time.monotonic() - began)


def by_broker(where: Place, jobs: int) -> Json:
    """The same jobs to the same clusters, through the broker."""
    names = where.names()
    wires = [
        where.federation.submission(
            _SCRIPT, Processors(single=1, cluster=name), time_limit=300, output="/dev/null"
        )
        for name in names
    ]

    def submit(number: int) -> float:
        began = time.monotonic()
        where.federation.client.submit(wires[number % len(wires)])
        return time.monotonic() - began

    before, used = Metrics(where.metrics), spent(where.federation.daemon.pid)
    began = time.monotonic()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        latencies = list(pool.map(submit, range(jobs)))
    acknowledged = time.monotonic() - began
    where.federation.idle(900.0)
    found = _figures(jobs, latencies, acknowledged, time.monotonic() - began)
    after, more = Metrics(where.metrics), spent(where.federation.daemon.pid).since(used)
    passes = between(before, after, "metabroker_scheduling_pass_seconds")
    commits = between(before, after, "metabroker_store_commit_seconds")
    return {
        **found,
        "daemon_cpu_a_job": more.own / jobs,
        "commands_cpu_a_job": more.children / jobs,
        "pass_mean": passes.mean,
        "pass_99_below": passes.below(0.99),
        "passes": passes.count,
        "commit_mean": commits.mean,
    }


def _figures(jobs: int, latencies: list[float], acknowledged: float, done: float) -> Json:
    return {
        "submit_median": statistics.median(latencies),
        "submit_p99": quantile(latencies, 0.99),
        "submitted_a_second": jobs / acknowledged,
        "seconds": done,
        "jobs_a_second": jobs / done,
    }


def _until_empty(where: Place) -> None:
    while any(cluster.run("squeue", "-h").stdout for cluster in where.clusters.values()):
        time.sleep(0.2)


def together(where: Place, jobs: int) -> Json:
    """Jobs of 4 components in 4 clusters, against as many sbatch jobs of the same sizes."""
    bare, through = [], []
    rollbacks = _rolled_back(where)
    at_once = {}
    for way, submit in (("sbatch", _four_bare), ("broker", _four_together)):
        began = time.monotonic()
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(lambda n, submit=submit: submit(where, f"many-{n}", n), range(jobs)))
        _settle(where)
        at_once[way] = time.monotonic() - began
    for number in range(20):  # one at a time, in turn
        bare.append(_last_start(where, f"bare-{number}", number, _four_bare))
        through.append(_last_start(where, f"job-{number}", number, _four_together))
    return {
        "jobs": jobs,
        "components": _PARTS,
        "all_by_sbatch": at_once["sbatch"],
        "all_by_broker": at_once["broker"],
        "alone_by_sbatch": statistics.median(bare),
        "alone_by_broker": statistics.median(through),
        "rolled_back": _rolled_back(where) - rollbacks,
    }


def _rolled_back(where: Place) -> float:
    name = "metabroker_coallocation_attempts_total"
    return Metrics(where.metrics).total(name, {"result": "rolled-back"})


def _four(where: Place, number: int) -> list[tuple[str, int]]:
    """Four clusters, another four each time, of all releases."""
    names = where.names()
    return [(names[(number + 2 * part + part // 3) % len(names)], 16) for part in range(_PARTS)]


def _four_bare(where: Place, name: str, number: int) -> None:
    for part, (cluster, processors) in enumerate(_four(where, number)):
        script = _STAMPED.format(folder=where.federation.folder, name=name, part=part)
        words = ("sbatch", f"-n{processors}", "-t5", "-o/dev/null")
        where.clusters[cluster].run(*words, stdin=script, check=True)


def _four_together(where: Place, name: str, number: int) -> None:
    script = _STAMPED.format(
        folder=where.federation.folder, name=name, part="$METABROKER_COMPONENT"
    )
    on = Processors(on=tuple(_four(where, number)))
    wire = where.federation.submission(script, on, time_limit=300, output="/dev/null")
    where.federation.client.submit(wire)


def _last_start(where: Place, name: str, number: int, submit: Any) -> float:
    began = time.time()
    submit(where, name, number)
    _settle(where)
    stamps = [float(f.read_text()) for f in where.federation.folder.glob(f"{name}.*")]
    if len(stamps) != _PARTS:
        raise AssertionError(f"{name}: {len(stamps)} of {_PARTS} components ran")
    return max(stamps) - began


def _settle(where: Place) -> None:
    where.federation.idle(900.0)
    _until_empty(where)


def measure(where: Place, jobs: int, co_allocated: int) -> Json:
    """All figures."""
    say("looking at idle clusters")
    quiet = looks(where, _QUIET)
    turns = []
    for number in range(2):
        say(f"{jobs} jobs by sbatch, and by the broker; turn {number + 1} of 2")
        turns.append((by_sbatch(where, jobs), by_broker(where, jobs)))
    say(f"{co_allocated} jobs of {_PARTS} components")
    parts = together(where, co_allocated)
    versions = {c["version"] for c in where.federation.client.get("clusters")["clusters"]}
    return {
        "nodes": sum(len(cluster.nodes) for cluster in where.clusters.values()),
        "clusters": len(where.clusters),
        "simulated": len(SIMULATED),
        "processors": sum(cluster.processors for cluster in where.clusters.values()),
        "versions": sorted(versions - {"simulated"}),
        "started_in": where.started,
        "slurm_memory": where.memory,
        "daemon_memory": resident(where.federation.daemon.pid),
        "looks": quiet,
        "jobs": jobs,
        "turns": [{"sbatch": bare, "broker": through} for bare, through in turns],
        "together": parts,
    }


def markdown(found: Json) -> str:
    """The report for `docs/`."""
    bare, through = (_mean(found["turns"], way) for way in ("sbatch", "broker"))
    quiet, parts = found["looks"], found["together"]
    slowest = max(turn["broker"]["pass_99_below"] for turn in found["turns"])
    lines = [
        f"{found['nodes']} real nodes (slurmd) in {found['clusters']} clusters of Slurm "
        f"{', '.join(found['versions'])}, {found['processors']} processors, and "
        f"{found['simulated']} simulated clusters: all nodes idle after "
        f"{found['started_in']:.0f} s; Slurm's daemons take {found['slurm_memory']:.0f} MB of "
        f"their own, metabroker's {found['daemon_memory']:.0f} MB.",
        "",
        "| a look, nobody submitting | commands | seconds | a command |",
        "|---|---|---|---|",
        *(
            f"| {name} | {one['commands_a_look']:.1f} | {one['seconds_a_look']:.3f} | "
            f"{one['seconds_a_command']:.3f} |"
            for name, one in quiet["clusters"].items()
        ),
        "",
        f"Processor time of one look at a cluster: {1000 * quiet['daemon_cpu_a_look']:.1f} ms of "
        f"the daemon, {1000 * quiet['commands_cpu_a_look']:.1f} ms of Slurm's commands; every "
        f"{_INTERVAL:g} s for all clusters that is {100 * quiet['daemon_cpu_share']:.1f} % and "
        f"{100 * quiet['commands_cpu_share']:.1f} % of one core.",
        "",
        f"| {found['jobs']} jobs, means of {len(found['turns'])} turns | sbatch | metabroker | "
        "ratio |",
        "|---|---|---|---|",
        *(_row(what, bare[key], through[key]) for what, key in _COMPARED),
        _row(
            f"{parts['jobs']} jobs of {parts['components']} components in as many clusters, all "
            "at once, until all have ended, s",
            parts["all_by_sbatch"],
            parts["all_by_broker"],
        ),
        _row(
            "one such job alone, until its last component starts (median of 20), s",
            parts["alone_by_sbatch"],
            parts["alone_by_broker"],
        ),
        "",
        f"A pass of the scheduler: {1e6 * through['pass_mean']:.0f} us on average over "
        f"{through['passes']:.0f} passes a turn, 99 of 100 below "
        f"{1e3 * slowest:g} ms; a transaction of the store "
        f"{1e3 * through['commit_mean']:.1f} ms. A job costs "
        f"{1e3 * through['daemon_cpu_a_job']:.1f} ms of the daemon's processor time and "
        f"{1e3 * through['commands_cpu_a_job']:.1f} ms of Slurm's commands. Of the co-allocated "
        f"jobs' attempts {parts['rolled_back']:.0f} were rolled back and made again.",
    ]
    return "\n".join(lines) + "\n"


def _mean(turns: list[Json], way: str) -> dict[str, float]:
    return {key: statistics.mean(turn[way][key] for turn in turns) for key in turns[0][way]}


_COMPARED = (
    ("until all have ended, s", "seconds"),
    ("jobs a second", "jobs_a_second"),
    ("submissions a second", "submitted_a_second"),
    ("one submission, median, s", "submit_median"),
    ("one submission, 99 of 100 below, s", "submit_p99"),
)


def _row(what: str, bare: float, through: float) -> str:
    return f"| {what} | {bare:.3g} | {through:.3g} | {through / bare:.2f} |"


def say(line: str) -> None:
    """Progress."""
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--together", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write the report (Markdown)")
    options = parser.parse_args()
    with place(options.nodes) as where:
        found = measure(where, options.jobs, options.together)
    told = markdown(found)
    if options.report:
        options.report.write_text(told)
    print(json.dumps(found, indent=1) if options.json else told)


if __name__ == "__main__":
    main()
