"""Queues and the server, as the operands of `qstat` name them: `queue`, `queue@server`, `@server`.

There is one server, which is metabroker itself; its queues are what jobs name by `qsub -q`.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from metabroker import __version__
from metabroker.api.client import Client
from metabroker.frontends import pbs
from metabroker.frontends.records import Record, in_a_partition, records

UNKNOWN_QUEUE, NO_SERVER = 170, 255
"""qstat's exit codes."""
_HEAD = (
    "Server             Max   Tot   Que   Run   Hld   Wat   Trn   Ext Status",
    "---------------- ----- ----- ----- ----- ----- ----- ----- ----- -----------",
)


@dataclass(frozen=True)
class Destination:
    """A queue of a server; with no name all of its queues."""

    queue: str
    server: str = ""

    @classmethod
    def of(cls, word: str) -> Destination | None:
        """What a word names; None: it is a job's id, which begins with a digit as no queue does."""
        if word[:1].isdigit():
            return None
        queue, _, server = word.partition("@")
        return cls(queue, server)

    def means(self, job: Record) -> bool:
        """Whether a job is in it."""
        here = not self.server or _is_ours(self.server)
        return here and (not self.queue or in_a_partition(job, self.queue))

    def missing(self, way: Client, jobs: Iterable[Record]) -> int:
        """The exit code where there is no such queue, or server, which is told on stderr; 0: there
        is. `jobs`: some that are known. Raises `ClientError`."""
        if self.server and not _is_ours(self.server):
            return no_server(self.server)
        if any(map(self.means, jobs)) or not self.queue:
            return 0
        # Where a site takes any name, jobs alone tell which there are.
        if any(each["name"] == self.queue for each in way.get("names")["partitions"]):
            return 0
        if any(map(self.means, records(way, since=time.time() - pbs.KEPT))):
            return 0
        name = ascii(self.queue)[1:-1]
        print(f"qstat: Unknown queue destination {name:.60}", file=sys.stderr)
        return UNKNOWN_QUEUE


def _is_ours(server: str) -> bool:
    return server == pbs.SERVER or server.startswith(f"{pbs.SERVER}.")


def no_server(name: str) -> int:
    """Tells that it is not there; the exit code."""
    told = f"qstat: cannot connect to server {ascii(name)[1:-1]:.60} (errno=15008)"
    print(f"Unknown Host.\n{told}", file=sys.stderr)
    return NO_SERVER


def servers(way: Client, named: list[str], form: str | None) -> int:
    """`qstat -B`: the server, if it is `named`, or none is. `form`: that of `-f`; None: as a table.
    The exit code. Raises `ClientError`."""
    others = [name for name in named if not _is_ours(name.removeprefix("@"))]
    if len(others) < len(named) or not named:
        jobs = pbs.begun(records(way, since=time.time()))
        alone = [job for job in jobs if not job.ended and job.json.get("array_job") is None]
        _print(Counter(map(pbs.state, alone)), len(alone), form)
    for name in others:
        no_server(name)
    return NO_SERVER if others else 0


def _print(states: Counter[str], total: int, form: str | None) -> None:
    if form is None:
        counts = (0, total, states["Q"], states["R"], states["H"], 0, 0, 0)
        cells = " ".join(f"{number:>5}" for number in counts)
        print(*_HEAD, f"{pbs.SERVER:<16} {cells} {'Active':<11}", sep="\n")
        return
    told: dict[str, Any] = {
        "server_state": "Active",
        "server_host": pbs.SERVER,
        "scheduling": "True",
        "total_jobs": total,
        "state_count": f"Transit:0 Queued:{states['Q']} Held:{states['H']} Waiting:0 "
        f"Running:{states['R']} Exiting:0 Begun:{states['B']} ",
        "pbs_version": f"metabroker-{__version__}",
    }
    if form == "json":
        print(pbs.written({**pbs.head(), "Server": {pbs.SERVER: told}}))
    else:
        lines = [f"    {name} = {value}" for name, value in told.items()]
        print(f"Server: {pbs.SERVER}", *lines, "", sep="\n")
