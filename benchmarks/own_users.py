"""Clusters whose own users keep them full: real Slurm, and a live OpenPBS server."""

from __future__ import annotations

import calendar
import json
import random
import threading
import time
from abc import ABC, abstractmethod

from tests.daemon.pbs import PbsServer
from tests.testbed.cluster import SlurmCluster

_WAITING = 8  # of their jobs, always
_PROCESSORS = 4


class OwnUsers(ABC):
    """The users of one cluster. `waits`: when jobs of theirs started, Unix seconds, and the seconds
    that these had waited: all of them once `look_back` was called."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.waits: list[tuple[float, float]] = []
        self._rng = random.Random(seed)
        self._known: set[str] = set()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._feed, daemon=True)

    def start(self) -> None:
        """From now on."""
        self._thread.start()

    def end(self) -> None:
        """No more."""
        self._end.set()
        self._thread.join()

    @abstractmethod
    def submit(self, script: str, processors: int, name: str = "bare") -> None:
        """A job of a minute at most, by the cluster's own command."""

    @abstractmethod
    def left(self) -> list[str]:
        """What of the broker's is still there."""

    @abstractmethod
    def look_back(self) -> None:
        """Read of the jobs that have started, where this is not done all the time."""

    @abstractmethod
    def _look(self) -> int:
        """How many of theirs wait; `waits` grows."""

    def _feed(self) -> None:
        while not self._end.wait(0.5):
            for _ in range(_WAITING - self._look()):
                seconds = self._rng.randint(8, 16)
                self.submit(f"#!/bin/sh\nsleep {seconds}\n", _PROCESSORS, "local")


class OfSlurm(OwnUsers):
    """Of a Slurm cluster."""

    def __init__(self, cluster: SlurmCluster, seed: int) -> None:
        super().__init__(cluster.name, seed)
        self._cluster = cluster

    def submit(self, script: str, processors: int, name: str = "bare") -> None:
        """See `OwnUsers`."""
        words = (f"-n{processors}", "-t1", "-J", name, "-o/dev/null")
        self._cluster.run("sbatch", *words, stdin=script, check=True)

    def left(self) -> list[str]:
        """See `OwnUsers`."""
        told = self._cluster.run("squeue", "-h", "-o", "%j").stdout
        told += self._cluster.run("scontrol", "-o", "show", "reservation").stdout
        return [line for line in told.splitlines() if "mb-" in line]

    def look_back(self) -> None:
        """See `OwnUsers`."""

    def _look(self) -> int:
        told = self._cluster.run("squeue", "-h", "-n", "local", "-o", "%i %t %V %S").stdout
        waiting = 0
        for line in told.splitlines():
            number, state, submitted, started = line.split()
            waiting += state == "PD"
            if state != "PD" and number not in self._known and started != "N/A":
                self._known.add(number)
                self.waits.append((float(started), float(started) - float(submitted)))
        return waiting


class OfOpenPBS(OwnUsers):
    """Of a live OpenPBS server that keeps its jobs' history, and on which nothing may be lost."""

    def __init__(self, name: str, server: PbsServer, seed: int) -> None:
        super().__init__(name, seed)
        self._server = server
        server.reset()

    def submit(self, script: str, processors: int, name: str = "bare") -> None:
        """See `OwnUsers`."""
        what = ("-l", f"select={processors}:ncpus=1", "-l", "walltime=60", "-N", name)
        self._server.run("qsub", *what, "-o", "/dev/null", "-e", "/dev/null", stdin=script)

    def left(self) -> list[str]:
        """See `OwnUsers`."""
        names = (*self._server.jobs(), *self._server.reservations())
        return [name for name in names if name.startswith("mb-")]

    def look_back(self) -> None:
        """See `OwnUsers`."""
        told = json.loads(self._server.run("qstat", "-x", "-f", "-F", "json"))
        jobs = [job for job in told["Jobs"].values() if job["Job_Name"] == "local"]
        times = [(_seconds(job["stime"]), _seconds(job["ctime"])) for job in jobs if "stime" in job]
        self.waits = [(started, started - made) for started, made in times]

    def _look(self) -> int:
        return len(self._server.run("qselect", "-s", "Q", "-N", "local").split())


def _seconds(told: str) -> float:
    """Unix seconds of a time as OpenPBS tells it to a client in UTC."""
    return float(calendar.timegm(time.strptime(told, "%a %b %d %H:%M:%S %Y")))
