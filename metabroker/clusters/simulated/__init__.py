"""Simulated clusters: a model of processors, reservations and jobs, behind the same interface.

`model` is pure (time is an argument); `controller` lets it live in real time, keeps its state in a
file, and either really runs scripts as local processes or only plays them; `cluster` is what the
broker sees.
"""

from .cluster import SimulatedCluster
from .controller import SimulatedOptions

__all__ = ["SimulatedCluster", "SimulatedOptions"]
