"""The files that scenarios name, each read once however many runs of a sweep name it."""

from __future__ import annotations

from pathlib import Path

from metabroker.simulation.workloads import runtimes, tables
from metabroker.simulation.workloads.distributions import Discrete
from metabroker.traces import swf


class ScenarioFiles:
    """Logs and tables that were read. Raises TraceError and WorkloadError for broken ones."""

    def __init__(self) -> None:
        self._traces: dict[tuple[Path, bool], swf.Trace] = {}
        self._sizes: dict[Path, Discrete] = {}

    def trace(self, path: Path, strict: bool) -> swf.Trace:
        """A log in the Standard Workload Format."""
        known = self._traces.get((path, strict))
        if known is None:
            known = self._traces[path, strict] = swf.read(path, strict=strict)
        return known

    def sizes(self, path: Path) -> Discrete:
        """A distribution of total sizes."""
        known = self._sizes.get(path)
        if known is None:
            known = self._sizes[path] = tables.sizes(path)
        return known

    def runtimes(self, table: str) -> tuple[runtimes.Measured, ...]:
        """A table of run times, by its name or its file."""
        if table == "mix":
            return runtimes.STAND_INS["ensflow"] + runtimes.STAND_INS["poisson"]
        known = runtimes.STAND_INS.get(table)
        return runtimes.from_file(table) if known is None else known
