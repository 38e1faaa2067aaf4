"""The files that scenarios name, each read once however many runs of a sweep name it."""

from __future__ import annotations

from functools import cache

from metabroker.simulation.workloads import runtimes, tables
from metabroker.traces import swf


class ScenarioFiles:
    """Logs and tables that were read. Raises TraceError and WorkloadError for broken ones."""

    def __init__(self) -> None:
        self.trace = cache(swf.read)
        """A log in the Standard Workload Format."""
        self.sizes = cache(tables.sizes)
        """A distribution of total sizes."""

    def runtimes(self, table: str) -> tuple[runtimes.Measured, ...]:
        """A table of run times, by its name or its file."""
        if table == "mix":
            return runtimes.STAND_INS["ensflow"] + runtimes.STAND_INS["poisson"]
        known = runtimes.STAND_INS.get(table)
        return runtimes.from_file(table) if known is None else known
