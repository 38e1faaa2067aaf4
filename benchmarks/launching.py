"""How long until the first collective of one MPI program over two clusters?

    python -m benchmarks.launching [--runs 15] [--quick-cycles]

By metabroker: from `submit`, by the command line, to the end of the first MPI_Allreduce of 6 ranks
in two real Slurm clusters, reached over SSH, that share no files. By hand: the components by bare
`sbatch` at the same time, and as soon as both tell their hosts `mpiexec -launcher ssh` between
these. In turn, in one run, with MPICH. Printed: the median seconds of each, their ratio, the skew
between components, and where the time goes.

Slurm starts batch jobs at times only, by either way: with its own settings up to three seconds
after the last time (`batch_sched_delay`), with `--quick-cycles`, which the tests use, up to one.
Turns that follow each other at once would fall into step with that, and meet it at the same moment
again and again: so before each, of either way, there is a pause of a random length once the
clusters are idle.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.testbed import ClusterSpec, Testbed
from tests.testbed.openssh import install_openssh
from tests.testbed.sshd import Sshd
from tests.testbed.testbed import SYSTEM_PATH

from .federation import Federation, serving

_PLACES = {"delft": 4, "leiden": 2}
_RANKS = sum(_PLACES.values())
_CYCLE = 3.0  # seconds between two times at which Slurm starts batch jobs, at most
_AS_SLURM_COMES = {"SchedulerParameters": "batch_sched_delay=3,sched_min_interval=2,bf_interval=30"}
_SOURCE = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}
int main(int argc, char **argv) {
    double began = now(), joined;
    int rank, one, sum = 0;
    char name[4096];
    MPI_Init(&argc, &argv);
    joined = now();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    one = rank + 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "%s.rank.%d", argv[1], rank);
    FILE *file = fopen(name, "w");
    fprintf(file, "%.6f %.6f %.6f %d\n", began, joined, now(), sum);
    fclose(file);
    MPI_Finalize();
    return 0;
}
"""
_BROKERED = """#!/bin/sh
date +%s.%N > {tag}.start.$METABROKER_COMPONENT
metabroker-launch --with mpich {program} {tag}
"""
_BARE = """#!/bin/sh
date +%s.%N > {tag}.start.{index}
scontrol show hostnames "$SLURM_JOB_NODELIST" > {tag}.told.{index}
mv {tag}.told.{index} {tag}.hosts.{index}
until [ -e {tag}.end ]; do sleep 0.05; done
"""


@dataclass(frozen=True, slots=True)
class Site:
    """Two clusters apart, their login host, and a folder for what jobs write."""

    testbed: Testbed
    sshd: Sshd
    folder: Path
    program: Path
    ssh: Path

    def tag(self, name: str) -> str:
        """Where the files of one turn begin."""
        return str(self.folder / "jobs" / name)


@dataclass(frozen=True, slots=True)
class Turn:
    """Seconds since the start of one turn."""

    scripts: tuple[float, ...]  # when each component's script began
    began: float  # the last rank's main
    joined: float  # the last MPI_Init
    done: float  # the first MPI_Allreduce, in the last rank
    phases: Mapping[str, float] = field(default_factory=dict)  # of the job, since its submission

    @property
    def skew(self) -> float:
        return max(self.scripts) - min(self.scripts)


@contextlib.contextmanager
def site(more: Mapping[str, str]) -> Iterator[Site]:
    """All of it, started; `more` of the clusters' slurm.conf."""
    folder = Path(tempfile.mkdtemp(prefix="mb-launching-"))
    folder.chmod(0o755)
    sshd = Sshd(install_openssh(), folder / "sshd")
    for name in (*_PLACES, "jobs"):
        (folder / name).mkdir()
        (folder / name).chmod(0o777 if name == "jobs" else 0o755)
        if os.geteuid() == 0:
            os.chown(folder / name, sshd.account.uid, sshd.account.gid)
    (folder / "allreduce.c").write_text(_SOURCE)
    program = folder / "allreduce"
    subprocess.run(["mpicc.mpich", "-o", program, folder / "allreduce.c"], check=True)
    extra = {"SlurmUser": sshd.account.name, **more}
    specs = [ClusterSpec("delft", 2, 2, extra), ClusterSpec("leiden", 1, 2, extra)]
    try:
        sshd.start()
        with Testbed(specs) as testbed:
            yield Site(testbed, sshd, folder, program, _way(sshd, folder))
    finally:
        sshd.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _way(sshd: Sshd, folder: Path) -> Path:
    """An `ssh` that reaches all nodes of the clusters: they are one host."""
    config = folder / "ssh_config"
    lines = {
        "HostName": "127.0.0.1",
        "Port": sshd.port,
        "User": sshd.account.name,
        "IdentityFile": sshd.key,
        "IdentityAgent": "none",
        "StrictHostKeyChecking": "no",
        "UserKnownHostsFile": "/dev/null",
        "LogLevel": "ERROR",
    }
    text = "".join(f" {key} {value}\n" for key, value in lines.items())
    config.write_text(f"Host *\n{text}")
    script = folder / "ssh"
    script.write_text(f'#!/bin/sh\nexec {sshd.programs.bin}/ssh -F {config} "$@"\n')
    script.chmod(0o755)
    return script


def configuration(where: Site) -> dict[str, object]:
    """The daemon's, with the clusters over SSH."""
    clusters = {
        name: {
            "system": "slurm",
            "partition": "batch",
            "bin": str(where.testbed[name].bin),
            "env": {"SLURM_CONF": str(where.testbed[name].slurm_conf), "PATH": SYSTEM_PATH},
            "shared_dir": str(where.folder / name),
            "via": "ssh",
            **where.sshd.settings(),
        }
        for name in _PLACES
    }
    return {"clusters": clusters, "poll_interval": "2s"}


def _when(found: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 60
    while not found():
        if time.monotonic() > deadline:
            raise TimeoutError(what)
        time.sleep(0.005)


def _phases(federation: Federation, job: int) -> dict[str, float]:
    """Seconds from the submission to the last of each event."""
    shown = federation.client.get(f"jobs/{job}")
    return {event["event"]: event["time"] - shown["submit_time"] for event in shown["events"]}


def _turn(tag: str, began: float) -> Turn:
    files = [Path(f"{tag}.rank.{rank}") for rank in range(_RANKS)]
    _when(lambda: all(f.exists() and f.read_text().endswith("\n") for f in files), tag)
    ranks = [[float(word) for word in file.read_text().split()] for file in files]
    assert {rank[3] for rank in ranks} == {_RANKS * (_RANKS + 1) / 2}
    starts = [float(Path(f"{tag}.start.{n}").read_text()) - began for n in range(len(_PLACES))]
    first, joined, done = (max(rank[n] for rank in ranks) - began for n in range(3))
    return Turn(tuple(starts), first, joined, done)


def brokered(where: Site, federation: Federation, number: int) -> Turn:
    """By metabroker."""
    tag = where.tag(f"job{number}")
    script = where.folder / "script"
    script.write_text(_BROKERED.format(tag=tag, program=where.program))
    on = ",".join(f"{name}:{size}" for name, size in _PLACES.items())
    words = ["submit", "--socket", str(federation.folder / "metabroker.sock"), "--on", on]
    words += ["-t", "5", "-D", str(where.folder / "jobs"), "-o", f"{tag}.out.%c", str(script)]
    _out_of_step(federation, tag)
    began = time.time()
    done = subprocess.run(
        [sys.executable, "-m", "metabroker", *words], check=True, capture_output=True, text=True
    )
    submitted = time.time() - began
    turn = _turn(tag, began)
    federation.idle()
    return replace(turn, phases={"told": submitted, **_phases(federation, int(done.stdout))})


def _out_of_step(federation: Federation, tag: str) -> None:
    """Until the daemon sees that the clusters are idle, and a while of random length."""
    _when(lambda: _all_idle(federation), "the daemon sees that the clusters are idle")
    time.sleep(random.Random(tag).uniform(0.0, _CYCLE))


def _all_idle(federation: Federation) -> bool:
    clusters = federation.client.get("clusters")["clusters"]
    return all(cluster["idle"] == cluster["processors"] for cluster in clusters)


def by_hand(where: Site, federation: Federation, number: int) -> Turn:
    """By two `sbatch` and one `mpiexec`."""
    tag = where.tag(f"bare{number}")
    files = [Path(f"{tag}.hosts.{index}") for index in range(len(_PLACES))]

    def submit(index: int, name: str) -> None:
        script = _BARE.format(tag=tag, index=index)
        size = str(_PLACES[name])
        words = ("sbatch", "-n", size, "-t5", "-o/dev/null")
        where.testbed[name].run(*words, stdin=script, check=True)

    _out_of_step(federation, tag)
    began = time.time()
    with ThreadPoolExecutor(len(_PLACES)) as pool:
        list(pool.map(submit, range(len(_PLACES)), _PLACES))
    _when(lambda: all(file.exists() for file in files), "hosts")
    hosts = []
    for file, size in zip(files, _PLACES.values(), strict=True):
        names = file.read_text().split()
        hosts += [f"{name}:{size // len(names)}" for name in names]
    words = ["mpiexec.hydra", "-launcher", "ssh", "-launcher-exec", str(where.ssh)]
    words += ["-hosts", ",".join(hosts), "-n", str(_RANKS), str(where.program), tag]
    subprocess.run(words, check=True, cwd="/tmp")
    turn = _turn(tag, began)
    Path(f"{tag}.end").touch()
    # Nothing is asked of Slurm here that has it look for what can start: the next turn would wait.
    for cluster in where.testbed.clusters.values():
        cluster.wait_idle()
    return turn


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--quick-cycles", action="store_true")
    given = parser.parse_args()
    runs, more = given.runs, {} if given.quick_cycles else _AS_SLURM_COMES
    turns: dict[str, list[Turn]] = {"metabroker": [], "by hand": []}
    before = os.getloadavg()[0]
    with site(more) as where, serving(configuration(where)) as federation:
        brokered(where, federation, -1)
        by_hand(where, federation, -1)
        for number in range(runs):
            turns["metabroker"].append(brokered(where, federation, number))
            turns["by hand"].append(by_hand(where, federation, number))
    median = statistics.median
    middle = {}
    for way, found in turns.items():
        done = sorted(turn.done for turn in found)
        middle[way] = median(done)
        print(f"{way}: {median(done):.3f} s to the first collective", end="")
        print(f" (median of {runs}; {done[0]:.3f} to {done[-1]:.3f})")
        for what, at in (
            ("first script", median(min(turn.scripts) for turn in found)),
            ("last script", median(max(turn.scripts) for turn in found)),
            ("last rank's main", median(turn.began for turn in found)),
            ("last MPI_Init", median(turn.joined for turn in found)),
        ):
            print(f"  {what:<18} {at:.3f}")
        skews = [turn.skew for turn in found]
        print(f"  skew: median {median(skews):.3f} s, largest {max(skews):.3f} s")
        after = [turn.done - max(turn.scripts) for turn in found]
        print(f"  from the last script to the first collective: {median(after):.3f} s")
    for what in turns["metabroker"][0].phases:
        at = median(turn.phases.get(what, 0.0) for turn in turns["metabroker"])
        print(f"  {what:<18} {at:.3f}")
    print(f"ratio {middle['metabroker'] / middle['by hand']:.2f}")
    mean = {way: statistics.fmean(turn.done for turn in found) for way, found in turns.items()}
    print(f"ratio of the means {mean['metabroker'] / mean['by hand']:.2f}")
    print(f"load {before:.1f} before, {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
