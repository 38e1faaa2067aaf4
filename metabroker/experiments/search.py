"""The maximal utilization as something to be played: a bisection for each replication.

So it has an interval, and two systems are compared on the same jobs. What it finds depends on the
length of its runs: a little above the limit a queue grows too slowly to be told from one that is
only long; so it is compared only with what runs of the same length have found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from metabroker.simulation.statistics.capacity import capacity
from metabroker.simulation.statistics.saturation import saturated
from metabroker.simulation.system import Run
from metabroker.simulation.workloads.runtimes import Runtimes
from metabroker.simulation.workloads.synthetic import Synthetic

LOW, HIGH = 0.2, 1.0
"""Utilizations between which limits are looked for; no system can do more than it has."""


def at(unit: Run, utilization: float) -> Run:
    """A run that is offered a gross utilization; `unit` is the same at a utilization of 1.

    Raises TypeError for a workload that has no arrival rate.
    """
    workload = unit.workload
    if not isinstance(workload, Synthetic | Runtimes):
        raise TypeError(f"{type(workload).__name__} has no arrival rate")
    rate = workload.arrival_rate * utilization
    return replace(unit, workload=replace(workload, arrival_rate=rate))


@dataclass(frozen=True)
class Search:
    """Finds the maximal gross utilization of a system to +- `resolution`.

    `unit` is a run of the length of one step, at a gross utilization of 1.
    """

    unit: Run
    resolution: float

    def play(self, replication: int) -> float:
        """The limit that one replication shows."""

        def stable(utilization: float) -> bool:
            if not LOW < utilization < HIGH:
                return utilization <= LOW
            return not saturated([at(self.unit, utilization).play(replication).growth])

        return capacity(stable, LOW, HIGH, self.resolution).middle
