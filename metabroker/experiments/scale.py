"""How much is simulated: the same experiments, long or short."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Scale:
    """The size of an experiment's runs. Bars and claims are compared by many replications; a
    curve needs fewer, and a search for the maximal utilization plays each of its steps."""

    name: str
    jobs: int
    """Jobs in one replication of a bar or of a compared mean."""
    replications: int
    curve_jobs: int
    """Jobs in one replication of one point of a curve."""
    curve_replications: int
    points: int
    """Points of a curve."""
    search_jobs: int
    """Jobs in each step of a search for the maximal utilization."""
    search_replications: int
    resolution: float
    """A maximal utilization is found to +- this."""
    looks: int = 1
    """Looks at a comparison of means that is still open, each with twice the replications."""
    search_looks: int = 1
    """The same of maximal utilizations."""
    seed: int = 1
    ctc_log: Path | None = None
    """The CTC's log, an SWF file; None: it is looked for (see `ctc.log`)."""


FULL = Scale("full", 100_000, 10, 50_000, 5, 10, 100_000, 10, 0.002, looks=6, search_looks=4)
QUICK = Scale("quick", 8_000, 5, 2_500, 5, 6, 6_000, 4, 0.01)
TINY = Scale("tiny", 300, 2, 200, 2, 2, 200, 2, 0.2)
"""For tests: everything runs, nothing is shown."""
