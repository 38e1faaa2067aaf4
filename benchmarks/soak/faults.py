"""What goes wrong: the daemon, controllers, node daemons and jobs' processes are killed or stopped,
each cluster and the daemon by a thread of its own and a stream of its own out of the seed. After
each fault that which it hit is started again, as its operator would.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.daemon.harness import Site
from tests.testbed import SlurmCluster, TestbedError
from tests.testbed.processes import job_processes, step_processes

ALL = {
    "slurmctld killed": 3,
    "slurmctld stopped": 3,
    "slurmd killed": 2,
    "slurmd stopped": 2,
    "a process of a job killed": 3,
    "a slurmstepd killed": 1,
}
"""What happens to a real cluster, and how often."""
MILD = {"slurmctld stopped": 2, "a process of a job killed": 1}
"""What leaves nothing behind that Slurm needs half a minute or more to notice."""
CLOCK = "database's clock"
"""It is stepped, and stays so: what brokers tell of times goes by it."""
_OUT_OF_SERVICE = ("down", "drain", "fail")
_TEND = 2.0  # seconds between two looks of a cluster's operator


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that went wrong, from when to when (Unix times)."""

    what: str
    where: str
    began: float
    ended: float


@dataclass
class Faults:
    """All that has gone wrong, and whether it shall go on."""

    seed: int
    pace: float  # seconds between two faults of one cluster, on average
    longest: float  # seconds that one lasts at most
    kinds: Mapping[str, int]  # of real clusters
    happened: list[Fault] = field(default_factory=list)
    accidents: list[str] = field(default_factory=list)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def run(self, work: Callable[[random.Random], None], name: str) -> None:
        """A thread that makes faults until `stop`."""

        def guarded() -> None:
            try:
                work(random.Random(f"faults {self.seed} {name}"))
            except Exception as error:
                self.accidents.append(f"the faults of {name} have ended: {error!r}")

        self._threads.append(threading.Thread(target=guarded, daemon=True))
        self._threads[-1].start()

    def stop(self) -> None:
        """No more; each has healed what it hit when this returns."""
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def pause(self, seconds: float) -> bool:
        """Sleep; False if there shall be no more faults."""
        return not self._stopped.wait(seconds)

    @contextmanager
    def told(self, what: str, where: str) -> Iterator[None]:
        """A fault, from its beginning until it is healed."""
        began = time.time()
        yield
        self.happened.append(Fault(what, where, began, time.time()))


def of_cluster(faults: Faults, cluster: SlurmCluster, draw: random.Random) -> None:
    """Faults of one real cluster, until they are stopped; then it is whole."""
    kinds = faults.kinds
    until = time.monotonic() + draw.expovariate(1 / faults.pace)
    while faults.pause(min(_TEND, max(0.0, until - time.monotonic()))):
        if time.monotonic() >= until:
            (what,) = draw.choices(tuple(kinds), tuple(kinds.values()))
            with faults.told(what, cluster.name):
                _hit(faults, cluster, what, draw)
            until = time.monotonic() + draw.expovariate(1 / faults.pace)
        _tend(cluster)
    _tend(cluster)


def _hit(faults: Faults, cluster: SlurmCluster, what: str, draw: random.Random) -> None:
    seconds = draw.uniform(0.0, faults.longest)
    node = draw.choice(sorted(cluster.nodes))
    if what == "slurmctld killed":
        cluster.kill_controller()
        faults.pause(seconds)
        cluster.start_controller(wait=False)
    elif what == "slurmctld stopped":
        cluster.freeze_controller()
        faults.pause(seconds)
        cluster.thaw_controller()
    elif what == "slurmd killed":
        cluster.kill_node(node)
        faults.pause(seconds)
        cluster.start_node(node)
    elif what == "slurmd stopped":
        cluster.freeze_node(node)
        faults.pause(seconds)
        cluster.thaw_node(node)
    else:
        scripts = set(job_processes(cluster.folder))
        steps = set(step_processes(cluster.folder)) - scripts
        found = sorted(steps if what == "a slurmstepd killed" else scripts)
        if found:
            _kill_tree(draw.choice(found))


def _kill_tree(pid: int) -> None:
    """Kill it and all that it has started, as where Slurm tracks processes by cgroups: by their
    ancestry alone, as here, it loses those whose ancestor is killed, and nobody ends them."""
    doomed = [pid]
    parents = dict(_parents())
    for one in doomed:
        doomed += [child for child, parent in parents.items() if parent == one]
    for one in doomed:
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


def _parents() -> Iterator[tuple[int, int]]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            yield int(path.parent.name), int(path.read_text().rpartition(")")[2].split()[1])


def of_simulated(faults: Faults, site: Site, cluster: str, draw: random.Random) -> None:
    """A simulated cluster lives and dies with the daemon: here only its jobs' processes die."""
    mark = f"\0METABROKER_CLUSTER={cluster}\0".encode()
    while faults.pause(draw.expovariate(1 / faults.pace)):
        pids = [int(line.split()[1].rstrip(":")) for line in site.component_processes()]
        found = [pid for pid in sorted(pids) if mark in _environment(pid)]
        if found:
            with faults.told("a process of a job killed", cluster):
                _kill_tree(draw.choice(found))


def _environment(pid: int) -> bytes:
    try:
        return b"\0" + Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def _tend(cluster: SlurmCluster) -> None:
    """What an operator does: start what does not run, take nodes into service again."""
    if not cluster.controller.running():
        cluster.start_controller(wait=False)
    for name in cluster.nodes:
        cluster.start_node(name)
    with suppress(TestbedError, OSError):
        states = cluster.node_states()
        out = [name for name, state in states.items() if state.startswith(_OUT_OF_SERVICE)]
        if out:
            cluster.run("scontrol", "update", f"nodename={','.join(out)}", "state=resume")


@dataclass
class Lives:
    """The daemon: it is killed, ended and stopped, and started again each time. Short lives and
    long ones take turns, the long ones so that memory can be told from the cost of a start."""

    site: Site
    long: float  # seconds of a long life
    longs: int  # how many of them
    short: float  # seconds of a short one, on average
    total: float  # seconds of them all
    name: str = "daemon"
    excused: Callable[[Site], bool] = lambda _site: False  # it may have ended by itself
    life: int = 0
    born: float = 0.0
    went_on: list[float] = field(default_factory=list)  # after it was stopped (Unix seconds)

    def start(self) -> None:
        self.site.start(wait=self.life == 0)
        self.life, self.born = self.life + 1, time.monotonic()

    def living(self) -> tuple[int, int, float] | None:
        """The life, its pid, and when it began; None between two lives."""
        process = self.site.process
        if process is None or process.poll() is not None:
            return None
        return self.life, process.pid, self.born

    def faults(self, faults: Faults, draw: random.Random) -> None:
        """Until they are stopped; then a daemon runs."""
        began = time.monotonic()
        had = 0
        while True:
            # Long lives begin at even distances over the whole time.
            due = self.total * (had + 0.5) / max(1, self.longs) - self.long / 2
            long = had < self.longs and time.monotonic() - began >= due
            had += long
            seconds = self.long if long else draw.expovariate(1 / self.short)
            if not self._live(faults, seconds, draw):
                return
            self._die(faults, draw)

    def _live(self, faults: Faults, seconds: float, draw: random.Random) -> bool:
        """One life, stopped for a while now and then; False if there shall be no more faults."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            rest = min(draw.expovariate(1 / (2 * faults.pace)), end - time.monotonic())
            if not faults.pause(rest):
                return False
            if self.living() is None:
                self._again(faults)
            elif time.monotonic() < end:
                with faults.told("daemon stopped", self.name):
                    self._stop(faults, draw.uniform(0.1, faults.longest))
        return True

    def _again(self, faults: Faults) -> None:
        """It has ended by itself: its operator starts it. That is right if it had to end."""
        if not self.excused(self.site):
            faults.accidents.append(f"{self.name} has ended by itself\n{self.site.story()}")
        self.start()

    def _stop(self, faults: Faults, seconds: float) -> None:
        assert self.site.process is not None
        self.site.process.send_signal(signal.SIGSTOP)
        faults.pause(seconds)
        self.went_on.append(time.time())
        self.site.process.send_signal(signal.SIGCONT)

    def _ended_well(self, code: int, young: bool) -> bool:
        return code == 0 or (code == -signal.SIGTERM and young) or self.excused(self.site)

    def _die(self, faults: Faults, draw: random.Random) -> None:
        killed = draw.random() < 0.7
        # One that does not serve yet may not know yet what to do at SIGTERM.
        young = not killed and not self.site.serves()
        with faults.told("daemon killed" if killed else "daemon ended by SIGTERM", self.name):
            if killed:
                self.site.kill()
            elif not self._ended_well(self.site.stop(), young):
                code = self.site.process and self.site.process.poll()
                faults.accidents.append(f"{self.name}: exit {code} at SIGTERM\n{self.site.story()}")
            faults.pause(draw.uniform(0.0, faults.longest / 2))
            self.start()
