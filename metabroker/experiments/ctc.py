"""The workloads of ER 3.2: extracts of the CTC's log, and a stand-in for the synthetic one.

Unless it is named, the log is looked for in the folder that METABROKER_SHARED names (without it:
../shared). It has
77,199 of the original's 77,222 jobs, so its extracts are a little shifted against the paper's. The
paper's synthetic workload is not public and its parameters are not told: `stand_in` is ours.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from metabroker.simulation.measure import JobOutcome
from metabroker.simulation.system import Run, System
from metabroker.simulation.workloads.replay import Replay
from metabroker.simulation.workloads.streams import Purpose, stream
from metabroker.traces.errors import TraceError
from metabroker.traces.swf import UNKNOWN, SwfJob, Trace, read

from .scale import Scale

FILE = "CTC-SP2-1996-3.1-cln.jobs.swf.gz"
EXTRACTS = {"10_20k": 10_001, "30_40k": 30_001, "60_70k": 60_001}
"""The first job of each; "30_40k: from job 10000" in ER Table 2 is a misprint."""
SYNTHETIC = "syn"
WIDEST = 64
"""The widest parts of the workloads called max64."""

PROCESSORS, LOAD, LONGEST = 512, 0.75, 64_800.0
"""The stand-in offers this load to that many processors, with jobs of at most 18 hours."""
SIZES = {
    1: 0.36, 2: 0.08, 3: 0.03, 4: 0.11, 6: 0.03, 8: 0.11, 12: 0.03, 16: 0.10, 24: 0.02, 32: 0.07,
    50: 0.01, 64: 0.03, 100: 0.005, 128: 0.01, 256: 0.004, 336: 0.001,
}  # fmt: skip
"""Many jobs of one processor, powers of two preferred, the widest as wide as the log's."""
MEDIAN, SIGMA = 2_000.0, 2.0
"""Run times are lognormal."""


def log(scale: Scale) -> Path:
    """The log that was named, or where it is looked for."""
    return scale.ctc_log or Path(os.environ.get("METABROKER_SHARED", "../shared")) / "traces" / FILE


def check(log: Path) -> None:
    """Raises TraceError: this is no log that the extracts can be cut from."""
    found = len(_log(str(log)).jobs)
    last = max(EXTRACTS.values())
    if found < last:
        message = f"it has {found} jobs, and the last extract begins at job {last}"
        raise TraceError(str(log), 0, message, f"the paper's is {FILE}")


@cache
def digest(path: str) -> str:
    """Of a file's content; empty if there is none."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest() if Path(path).is_file() else ""


@cache
def _log(path: str) -> Trace:
    return read(path)


@cache
def stand_in(count: int, seed: int) -> Trace:
    """A workload like the CTC's: Poisson arrivals; users estimate up to four times too long."""
    draws = stream(seed, 0, Purpose.SIZES)
    sizes = draws.choice(list(SIZES), size=count, p=np.array(list(SIZES.values())))
    times = np.minimum(np.exp(np.log(MEDIAN) + SIGMA * draws.standard_normal(count)), LONGEST)
    estimates = np.clip(times * draws.uniform(1.0, 4.0, count), times, LONGEST)
    gaps = draws.standard_exponential(count)
    span = float((sizes * times).sum()) / (PROCESSORS * LOAD)
    submits = np.cumsum(gaps) * span / float(gaps.sum())
    columns = (submits.tolist(), times.tolist(), estimates.tolist(), sizes.tolist())
    jobs = [
        _entry(number, submit, run, estimate, size)
        for number, (submit, run, estimate, size) in enumerate(zip(*columns, strict=True), 1)
    ]
    return Trace("a stand-in for the synthetic workload", jobs)


def _entry(number: int, submit: float, run: float, estimate: float, size: int) -> SwfJob:
    blank = SwfJob(*[UNKNOWN] * len(SwfJob._fields))
    known = blank._replace(number=number, submit=submit, run=run, requested_time=estimate)
    return known._replace(processors=size, used_processors=size)


@dataclass(frozen=True)
class Replayed:
    """A system under the first `count` jobs of a workload of ER Table 2. Nothing is drawn, except
    for the stand-in, so there is one replication. `log`: the file, where one is needed,
    and its `content`, as a digest. `shift`: so
    many jobs later the extract begins."""

    workload: str
    processors: tuple[int, ...]
    policy: str
    overhead: float
    count: int
    seed: int
    log: str
    content: str
    shift: int = 0

    def play(self, replication: int) -> JobOutcome:
        """The whole extract: there is no warm-up to cut in the paper."""
        name, _, kind = self.workload.rpartition("_")
        most = WIDEST if kind == "max64" else None
        if name == SYNTHETIC:
            trace, first = stand_in(self.count, self.seed), 1
        else:
            trace, first = _log(self.log), EXTRACTS[name] + self.shift
        last = first + self.count - 1
        workload = Replay(trace, len(self.processors), first, last, most)
        system = System(self.processors, self.policy, overhead=self.overhead)
        return Run(system, workload, self.count, warmup="none").play(replication)
